"""AutoDock-GPU's flags: which `ligen lga` takes, as which setting, and why it takes no other."""

import argparse
import math
import re
from collections.abc import Sequence
from typing import Any

from ligen_py import cli
from ligen_py.settings.check import check
from ligen_py.settings.lga import LgaSettings

SEARCHES = {"bfgs": "bfgs", "ad": "adadelta", "sw": "solis_wets"}
"""Local searches; the last two by AutoDock-GPU's names."""

EVALUATIONS = 2_500_000
"""Of a run without the heuristic, AutoDock-GPU's."""

CONTACTS = (
    "Ringtail finds contacts from the poses (.pdbqt) and the receptor: dock with --resnam FOLDER/, "
    "where no other .pdbqt is, then rt_process_vs write --docking_mode vina --add_interactions "
    "--receptor_file RECEPTOR.pdbqt --file_path FOLDER"
)
"""In the folder of the ligands Ringtail, whatever its --file_pattern, also reads these."""

NOT_TAKEN = {
    "--flexres": "flexible-residue docking is not supported",
    "-F": "flexible-residue docking is not supported",
    "--import_dpf": "parameter files (.dpf) are not read; give their values as flags",
    "-I": "parameter files (.dpf) are not read; give their values as flags",
    "--derivtype": "reactive docking is not supported",
    "-T": "reactive docking is not supported",
    "--modpair": "reactive docking is not supported",
    "-P": "reactive docking is not supported",
    "--ubmod": "other models of the unbound ligand than 'same as bound' are not supported",
    "-u": "other models of the unbound ligand than 'same as bound' are not supported",
    "--smooth": "the smoothing is 0.5 A, as in AutoDock4",
    "--elecmindist": "the least distance of charges is 0.5 A, as in AutoDock4 and AutoDock-GPU "
    "with a .dpf; without one AutoDock-GPU's is 0.01 A",
    "--modqp": "changed charges are not supported",
    "--xml2dlg": "XML files are neither read nor written",
    "-X": "XML files are neither read nor written",
    "--xmloutput": "XML files are neither read nor written",
    "-x": "XML files are neither read nor written",
    "--loadxml": "XML files are neither read nor written",
    "--devnum": "AutoDock-GPU counts devices from 1; its second is --device gpu:1 here",
    "-D": "AutoDock-GPU counts devices from 1; its second is --device gpu:1 here",
    "--initswgens": "the local search is the same in all generations",
    "--lsmet-mixed": "the local search is the same in all generations",
    "--contact_analysis": CONTACTS,
    "-C": CONTACTS,
    "--cgmaps": "docking of broken macrocycles is not supported",
    "--dmov": "the largest mutation is 6 A and 90 degrees",
    "--dang": "the largest mutation is 6 A and 90 degrees",
    "--rholb": "the local search ends at steps of 0.01 of the first",
    "--lsmov": "the first random step is at most 2 sqrt(3) A",
    "--lsang": "the first random step is at most 75 sqrt(3) degrees",
    "--cslim": "four successes or failures in a row change the steps",
    "--xraylfile": "the RMSD in the log is to the pose in --lfile",
    "-R": "the RMSD in the log is to the pose in --lfile",
    "--dlg2stdout": "the log goes into a file, NAME.dlg",
    "--gfpop": "populations are not written",
    "--npdb": "populations are not written",
    "--gbest": "the poses' PDBQT has that of every run, the best one first",
    "--output-cluster-poses": "the poses' PDBQT has that of every run, the best one first",
    "--clustering": "the runs are always clustered, at --rmstol",
    "--hsym": "symmetric poses always count as one",
    "-c": "XML files are neither read nor written",
}
"""Flags of AutoDock-GPU that are not taken, and why."""

SAME = {
    "--ubmod": 0, "-u": 0, "--smooth": 0.5, "--elecmindist": 0.5, "--modqp": 0, "--xmloutput": 0,
    "-x": 0, "--devnum": 1, "-D": 1, "--initswgens": 0, "--contact_analysis": 0, "-C": 0,
    "--cgmaps": 0, "--dmov": 6, "--dang": 90, "--rholb": 0.01, "--lsmov": 2, "--lsang": 75,
    "--cslim": 4, "--dlg2stdout": 0, "--gfpop": 0, "--npdb": 0, "--gbest": 0,
    "--output-cluster-poses": 0, "--clustering": 1, "--hsym": 1,
}  # fmt: skip
"""Of these, the values that ask for what is done anyway: they are taken, and change nothing."""

FLAGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("--nrun", "-n"), "runs", "independent runs"),
    (("--psize", "-p"), "population", "individuals of a run"),
    (("--ngen", "-g"), "generations", "most generations"),
    (
        ("--heurmax", "-E"),
        "heuristic_limit",
        "the most that evaluations by the heuristic come near to",
    ),
    (("--lsit", "-i"), "iterations", "most iterations of a local search"),
    (("--lsrat",), "searched", "individuals that are improved, in percent"),
    (("--trat",), "tournament", "how often the better of two becomes a parent, in percent"),
    (("--crat",), "crossover", "individuals with genes of two parents, in percent"),
    (("--mrat",), "mutation", "genes that are changed, in percent"),
    (("--autostop", "-A"), "stop", "1: end runs whose population no longer improves"),
    (("--asfreq", "-a"), "stop_every", "generations between two looks of that; 0: by the torsions"),
    (("--stopstd",), "stop_deviation", "deviation at which it ends a run, in kcal/mol"),
    (("--seed", "-s"), "seed", "of the random numbers"),
)
"""Flags of AutoDock-GPU, and the setting that each one is."""


def two_dashes(argv: Sequence[str]) -> list[str]:
    """The words with two dashes before long flags, which AutoDock-GPU also takes with one.

    Its -2 is no flag of the parser, which would then take all negative numbers for flags.

    >>> two_dashes(["-nrun", "20", "-n", "5", "-2", "1", "--center", "1", "-2", "-18"])
    ['--nrun', '20', '-n', '5', '--dlg2stdout', '1', '--center', '1', '-2', '-18']
    """
    words: list[str] = []
    for word in argv:
        if re.match("-[a-z]{2}", word):
            word = f"-{word}"
        elif word == "-2" and not {"--center", "--size"} & set(words[-3:]):
            word = "--dlg2stdout"
        words.append(word)
    return words


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the search, and those that are refused."""
    how = parser.add_argument_group("the search, by AutoDock-GPU's flags")
    for names, field, words in FLAGS:
        default = LgaSettings.model_fields[field].default
        kind = type(default) if default is not True else int
        how.add_argument(
            *names, dest=field, type=_seed if field == "seed" else kind, default=argparse.SUPPRESS,
            choices=(0, 1) if default is True else None,
            metavar="0|1" if default is True else "X" if kind is float else "N",
            help=f"{words} (default: {1 if default is True else default})",
        )  # fmt: skip
    how.add_argument(
        "--lsmet", "-l", choices=SEARCHES, default="bfgs",
        help="local search: bfgs, or AutoDock-GPU's ad or sw with its defaults: --psize 150 --lsit "
        "300 --crat 80 --asfreq 5 (default: bfgs)",
    )  # fmt: skip
    how.add_argument(
        "--rmstol", type=cli.parsed(_tolerance), default=2.0, metavar="X",
        help="runs nearer than this are one cluster, in Angstrom (default: 2.0)",
    )  # fmt: skip
    how.add_argument(
        "--nev", "-e", type=cli.at_least(1), metavar="N",
        help="evaluations of a run (default: by the heuristic)",
    )  # fmt: skip
    how.add_argument(
        "--heuristics", "-H", type=int, choices=(0, 1), default=1, metavar="0|1",
        help=f"1: evaluations without --nev by the torsions; 0: {EVALUATIONS} (default: 1)",
    )  # fmt: skip
    for flag in dict.fromkeys(NOT_TAKEN):
        parser.add_argument(flag, nargs="*", action=_Refused, help=argparse.SUPPRESS)


def settings_of(options: argparse.Namespace) -> LgaSettings:
    """The settings that a command line asks for; UsageError names the flag of a wrong one."""
    given = {field: getattr(options, field) for _, field, _ in FLAGS if hasattr(options, field)}
    names = {field: flags[0] for flags, field, _ in FLAGS} | {"evaluations": "--nev"}
    given["stop"] = bool(given.get("stop", True))
    given["local_search"] = SEARCHES[options.lsmet]
    if options.nev is not None or not options.heuristics:
        given["evaluations"] = EVALUATIONS if options.nev is None else options.nev
    return check(LgaSettings, given, "command line", name=lambda path: names.get(path, f"--{path}"))


def _tolerance(text: str) -> float:
    """What --rmstol says; ValueError where it is no radius."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(f"{text}: give a number above 0, in Angstrom")
    return value


def _seed(text: str) -> int:
    """Type of --seed, for which AutoDock-GPU takes up to three numbers."""
    try:
        return int(text)
    except ValueError:
        first = text.split(",")[0]
        example = f", such as --seed {first}" if first.isdecimal() else ""
        raise argparse.ArgumentTypeError(
            f"'{text}' is not one whole number; one seeds all runs here, so give one{example}"
        ) from None


def file_name(text: str) -> str:
    """Type of a flag that names files."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; give a name, or leave the flag out")
    return text


def maps_name(text: str) -> str:
    """Type of --write-maps: a name, or that of the field file."""
    return file_name(text.removesuffix(".maps.fld"))


def log_or_none(text: str) -> int:
    """Type of --dlgoutput, whose short form is also taken for that of --device."""
    if text not in ("0", "1"):
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither 0 (no docking log) nor 1; a device is chosen by --device, such "
            "as gpu:0 for the first GPU"
        )
    return int(text)


class _Refused(argparse.Action):
    """A flag of AutoDock-GPU that is not taken, unless it asks for what is done anyway."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        try:
            (number,) = map(float, values)
        except ValueError:  # none, several, or no number
            number = None
        if number is None or number != SAME.get(str(option)):
            parser.error(f"{option} is not taken: {NOT_TAKEN[str(option)]}")
