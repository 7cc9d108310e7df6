"""Dock with AutoDock's genetic algorithm, from AutoDock's files to AutoDock's files.

Takes AutoGrid's maps or a receptor, ligands as PDBQT, and AutoDock-GPU's main flags. For each
ligand it writes a docking log (.dlg), which Meeko and Ringtail read, and the poses as PDBQT:
a.dlg and a_out.pdbqt beside a.pdbqt, or where --resnam says.

  ligen lga --ffile receptor.maps.fld --lfile ligand.pdbqt --nrun 20 --resnam out
  ligen lga --receptor rec.pdbqt --center 10 36.5 -18 --lfile ligands/*.pdbqt --resnam poses/
"""

import argparse
import logging
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError, OutputError, UsageError
from ligen_py.settings.check import check
from ligen_py.settings.lga import LgaSettings

if TYPE_CHECKING:
    from ligen_py.engine.functions.ad4.field import Ad4Field
    from ligen_py.molecules.autogrid import Autogrid
    from ligen_py.molecules.pdbqt_input import PdbqtLigand
    from ligen_py.opencl.device import Device
    from ligen_py.records.functions.ad4 import Ad4Ligands

log = logging.getLogger("ligen_py")

SEARCHES = {"bfgs": "bfgs", "ad": "adadelta", "sw": "solis_wets"}
"""Local searches; the last two by AutoDock-GPU's names."""

PER_CORE, AT_ONCE = 4, 1000
"""Ligands whose files are written together, on a processor and on a GPU: enough to keep it busy,
and few enough that a stop loses minutes."""

ABSURD = 1000.0
"""kcal/mol; a higher energy is that of atoms in one another, or outside the box."""

SIDES = (22.5, 22.5, 22.5)
"""Of a box, Angstrom."""

EVALUATIONS = 2_500_000
"""Of a run without the heuristic, AutoDock-GPU's."""

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
    "--filelist": "lists of files are not read; give the maps to --ffile, and all ligands "
    "to one --lfile, as in: --lfile $(grep pdbqt LIST)",
    "-B": "lists of files are not read; give the maps to --ffile, and all ligands "
    "to one --lfile, as in: --lfile $(grep pdbqt LIST)",
    "--xml2dlg": "XML files are neither read nor written",
    "-X": "XML files are neither read nor written",
    "--xmloutput": "XML files are neither read nor written",
    "-x": "XML files are neither read nor written",
    "--loadxml": "XML files are neither read nor written",
    "--devnum": "AutoDock-GPU counts devices from 1; its second is --device gpu:1 here",
    "-D": "AutoDock-GPU counts devices from 1; its second is --device gpu:1 here",
    "--initswgens": "the local search is the same in all generations",
    "--lsmet-mixed": "the local search is the same in all generations",
    "--contact_analysis": "Ringtail finds contacts from the poses (.pdbqt) and the receptor: "
    "rt_process_vs write --docking_mode vina --add_interactions --receptor_file ...",
    "-C": "Ringtail finds contacts from the poses (.pdbqt) and the receptor: "
    "rt_process_vs write --docking_mode vina --add_interactions --receptor_file ...",
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


def main(argv: Sequence[str] | None = None) -> int:
    """Dock from a command line; returns the exit code."""
    return cli.run(_parser(), _two_dashes(sys.argv[1:] if argv is None else argv), _dock)


def _two_dashes(argv: Sequence[str]) -> list[str]:
    """The words with two dashes before long flags, which AutoDock-GPU also takes with one.

    Its -2 is no flag of the parser, which would then take all negative numbers for flags.

    >>> _two_dashes(["-nrun", "20", "-n", "5", "-2", "1", "--center", "1", "-2", "-18"])
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


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("ligen_py.lga_command", __doc__)
    parser.add_argument(
        "--lfile", "-L", metavar="LIGAND", nargs="+", action="extend", type=cli.input_file,
        required=True, help="ligands: PDBQT files",
    )  # fmt: skip
    parser.add_argument(
        "--resnam", "-N", metavar="NAME",
        help="name of the results: NAME.dlg and NAME.pdbqt; of several ligands, or with a / behind "
        "it, a folder (default: beside each ligand, LIGAND.dlg and LIGAND_out.pdbqt)",
    )  # fmt: skip
    box = parser.add_argument_group("the receptor, in one of these ways")
    box.add_argument(
        "--ffile", "-M", metavar="FLD", type=cli.input_file, help="AutoGrid's NAME.maps.fld"
    )
    box.add_argument("--receptor", metavar="PDBQT", type=cli.input_file, help="rigid receptor")
    box.add_argument(
        "--center", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help="of the box for --receptor, in Angstrom (default: the first ligand's)",
    )  # fmt: skip
    box.add_argument(
        "--size", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help=f"of the box for --receptor, in Angstrom, not in points; its maps have one every "
        f"{LgaSettings().spacing} A (default: {' '.join(map(str, SIDES))})",
    )  # fmt: skip
    box.add_argument(
        "--write-maps", metavar="NAME", help="also write the maps as AutoGrid's NAME.maps.fld ..."
    )
    how = parser.add_argument_group("the search, by AutoDock-GPU's flags")
    for names, field, words in FLAGS:
        default = LgaSettings.model_fields[field].default
        kind = type(default) if default is not True else int
        how.add_argument(
            *names, dest=field, type=_seed if field == "seed" else kind, default=argparse.SUPPRESS,
            metavar="X" if kind is float else "N",
            help=f"{words} (default: {1 if default is True else default})",
        )  # fmt: skip
    how.add_argument(
        "--lsmet", "-l", choices=SEARCHES, default="bfgs",
        help="local search: bfgs, or AutoDock-GPU's ad or sw with its defaults: --psize 150 --lsit "
        "300 --crat 80 --asfreq 5 (default: bfgs)",
    )  # fmt: skip
    how.add_argument(
        "--nev", "-e", type=cli.at_least(1), metavar="N",
        help="evaluations of a run (default: by the heuristic)",
    )  # fmt: skip
    how.add_argument(
        "--heuristics", "-H", type=int, choices=(0, 1), default=1, metavar="0|1",
        help=f"1: evaluations without --nev by the torsions; 0: {EVALUATIONS} (default: 1)",
    )  # fmt: skip
    how.add_argument(
        "--rlige", type=int, nargs="?", choices=(0, 1), const=1, default=0, metavar="0|1",
        help="print the energies of the given poses",
    )  # fmt: skip
    parser.add_argument(
        "--dlgoutput", "-d", type=_log_or_none, default=1, metavar="0|1",
        help="write the docking log (default: 1)",
    )  # fmt: skip
    for flag in dict.fromkeys(NOT_TAKEN):
        parser.add_argument(flag, nargs="*", action=_Refused, help=argparse.SUPPRESS)
    cli.add_device(parser)
    return parser


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


def _log_or_none(text: str) -> int:
    """Type of --dlgoutput, whose short form is also taken for that of --device."""
    if text not in ("0", "1"):
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither 0 (no docking log) nor 1; a device is chosen by --device, such "
            "as gpu:0 for the first GPU"
        )
    return int(text)


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
    (("--rmstol",), "cluster_rmsd", "runs nearer than this are one cluster, in Angstrom"),
    (("--seed", "-s"), "seed", "of the random numbers"),
)
"""Flags of AutoDock-GPU, and the setting that each one is."""


class _Refused(argparse.Action):
    """A flag of AutoDock-GPU that is not taken, unless it asks for what is done anyway."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        try:
            (number,) = map(float, values)
        except ValueError:  # none, several, or no number
            number = None
        if number is None or number != SAME.get(str(option)):
            parser.error(f"{option} is not taken: {NOT_TAKEN[str(option)]}")


def _settings(options: argparse.Namespace) -> LgaSettings:
    given = {field: getattr(options, field) for _, field, _ in FLAGS if hasattr(options, field)}
    names = {field: flags[0] for flags, field, _ in FLAGS} | {"evaluations": "--nev"}
    given["stop"] = bool(given.get("stop", True))
    given["local_search"] = SEARCHES[options.lsmet]
    if options.nev is not None or not options.heuristics:
        given["evaluations"] = EVALUATIONS if options.nev is None else options.nev
    return check(LgaSettings, given, "command line", name=lambda path: names.get(path, f"--{path}"))


def _dock(options: argparse.Namespace) -> None:
    if (options.ffile is None) == (options.receptor is None):
        raise UsageError("give either --ffile with maps, or --receptor with a box")
    if options.ffile is not None and (options.center or options.size):
        raise UsageError("--center and --size: the box is that of the maps; leave them out")
    settings = _settings(options)
    # What takes a second to import comes after what is wrong with the command line.
    from ligen_py.engine.genetic.batched import Lga
    from ligen_py.engine.genetic.poses import map_values
    from ligen_py.opencl.device import select
    from ligen_py.pace import Pace
    from ligen_py.records.rows import concatenated

    ligands = _ligands(options)
    outputs = _outputs(options, ligands)
    together = concatenated([ligand.ligands for ligand in ligands])
    device = select(options.device)
    field, maps = _field(options, device, together, ligands[0].center)
    fitting = _fitting(ligands, together, maps)
    ligands, outputs = [ligands[n] for n in fitting], [outputs[n] for n in fitting]
    values = map_values(device, field)
    if options.write_maps:
        _write_maps(Path(options.write_maps), maps, values, field)
    if options.rlige:
        for ligand in ligands:
            _print_given(ligand, field, values)
    search, pace = Lga(device, field), Pace("ligands docked", len(ligands))
    poseless = 0
    for first in range(0, len(ligands), AT_ONCE):
        some = ligands[first : first + AT_ONCE]
        together = concatenated([ligand.ligands for ligand in some])
        for rows, found in search.search(together, settings, per_core=PER_CORE):
            turn = 0
            for place, row in enumerate(rows.tolist()):
                poses = range(place * settings.runs, (place + 1) * settings.runs)
                runs, turn = _runs(some[row], field, values, found, poses, turn)
                output = outputs[first + row]
                poseless += not _write(options, settings, some[row], runs, maps, output)
            pace.add(len(rows))
    took = f"{search.kernel_seconds:.2f} s on {device.label}"
    log.info("docked %d ligands, %d runs each, in %s", len(ligands), settings.runs, took)
    left_out = len(options.lfile) - len(ligands)
    failed = [f"{left_out} of {len(options.lfile)} ligands were left out"] if left_out else []
    if poseless:
        failed.append(f"{poseless} of {len(options.lfile)} ligands have no usable pose")
    if failed:
        raise InputError(f"{' and '.join(failed)}, for the reasons above")


def _ligands(options: argparse.Namespace) -> "list[PdbqtLigand]":
    """The ligands that can be docked; what is wrong with the others is said.

    InputError where none can, and where the box would be around another ligand than the first.
    """
    from ligen_py.molecules.autogrid import read_field, require
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.molecules.pdbqt_input import read_ligand

    there = None
    if options.ffile is not None:
        there = read_field(options.ffile)[1]
        require(options.ffile, there, [])
    ligands: list[PdbqtLigand] = []
    for path in options.lfile:
        try:
            ligand = read_ligand(path)
            if there is not None:
                types = [type_name(kind) for kind in np.unique(ligand.ligands.type).tolist()]
                try:
                    require(options.ffile, there, types)
                except InputError as error:
                    raise InputError(f"{path}: {error}") from None
        except InputError as error:
            around = path == options.lfile[0] and options.receptor and not options.center
            if len(options.lfile) == 1 or around:
                raise
            log.warning("left out: %s", error)
        else:
            elements = ligand.ligands.element
            _warn_uncharged(path, ligand.ligands.partial_charge, bool((elements > 6).any()))
            ligands.append(ligand)
    if not ligands:
        raise InputError("no ligand can be docked, for the reasons above")
    return ligands


def _warn_uncharged(path: Path, charges: np.ndarray, polar: bool) -> None:
    """Say so where a file prepared for another program has no charges, which AutoDock4 needs."""
    if polar and not charges.any():
        log.warning(
            "%s: all partial charges are 0, so electrostatics are left out; prepare the file for "
            "AutoDock4 where that is not meant", path,
        )  # fmt: skip


def _outputs(
    options: argparse.Namespace, ligands: "Sequence[PdbqtLigand]"
) -> list[tuple[Path, Path]]:
    """Where the poses and the docking log of each ligand go.

    InputError where they would replace what is read or another prepared molecule, or cannot be
    written, before hours of search.
    """
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, read_field
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.store.files.temporary import temporary_for

    place = options.resnam
    if not place:  # AutoDock-GPU's name of the log; the poses' must not be the ligand's
        names = [ligand.path.with_name(ligand.name) for ligand in ligands]
    elif len(options.lfile) > 1 or place.endswith("/"):
        names = [Path(place) / ligand.name for ligand in ligands]
    else:
        names = [Path(place)]
    places = Counter(name.resolve() for name in names)
    twice = next((name for name in names if places[name.resolve()] > 1), None)
    if twice:
        raise InputError(
            f"{twice}.dlg: two ligands would have this log; rename one, or give it once"
        )
    poses = ".pdbqt" if place else "_out.pdbqt"
    outputs = [(Path(f"{name}{poses}"), Path(f"{name}.dlg")) for name in names]
    written = {path: "--resnam" for both in outputs for path in both[: 1 + options.dlgoutput]}
    if options.write_maps:
        kinds = {type_name(kind) for ligand in ligands for kind in ligand.ligands.type.tolist()}
        ends = [f"{name}.map" for name in (*sorted(kinds), CHARGE, SOLVATION)]
        for end in ("maps.fld", "maps.xyz", *ends):
            written[Path(f"{options.write_maps}.{end}")] = "--write-maps"
    inputs = [*options.lfile, *filter(None, (options.ffile, options.receptor))]
    if options.ffile:
        inputs += read_field(options.ffile)[1].values()
    read = {path.resolve() for path in inputs}
    for path, flag in written.items():
        if path.resolve() in read:
            raise InputError(f"{path}: is an input, and would be replaced; name another by {flag}")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no regular file; name another by {flag}")
        if path.suffix == ".pdbqt" and _is_prepared(path):
            raise InputError(
                f"{path}: is a prepared molecule, and would be replaced; name another by {flag}"
            )
    for path in {path.parent: path for path in reversed(written)}.values():
        try:
            temporary_for(path).unlink()
        except OutputError as error:
            raise InputError(f"{error}; {written[path]} names another place") from error
    return outputs


def _is_prepared(path: Path) -> bool:
    """Whether a PDBQT file is there that is no result of docking: its atoms are in no MODEL."""
    if not path.exists():
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        words = (line for line in lines if line.startswith(("MODEL", "ROOT", "ATOM", "HETATM")))
        return not next(words, "MODEL").startswith("MODEL")


def _fitting(
    ligands: "Sequence[PdbqtLigand]", together: "Ad4Ligands", maps: "Autogrid"
) -> list[int]:
    """The ligands that the box can hold, by their numbers; what is wrong with the others is said.

    InputError where there are none.
    """
    from ligen_py.engine.docking.oversized import longer_than

    diagonal = float(np.linalg.norm(maps.spacing * (np.array(maps.shape) - 1)))
    extents = longer_than(together, diagonal)
    for number, extent in extents.items():
        words = (
            f"{ligands[number].path}: a rigid part is {extent:.1f} A long, the box's diagonal "
            f"{diagonal:.1f} A; give a larger box"
        )
        if len(ligands) == 1:
            raise InputError(words)
        log.warning("left out: %s", words)
    if len(extents) == len(ligands):
        raise InputError("no ligand can be docked, for the reasons above")
    return [number for number in range(len(ligands)) if number not in extents]


def _field(
    options: argparse.Namespace, device: "Device", together: "Ad4Ligands", middle: np.ndarray
) -> "tuple[Ad4Field, Autogrid]":
    """The field of the receptor for all ligands, and the box and types of its maps.

    The box is around the `middle` of the first ligand where none is given.
    """
    from ligen_py.engine.functions.ad4.constants import CUTOFF
    from ligen_py.engine.functions.ad4.field import Ad4Field
    from ligen_py.engine.genetic.given_field import GivenField
    from ligen_py.engine.refinement.maps import MOST_POINTS, Grid
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, Autogrid, read_maps
    from ligen_py.molecules.dlg import shown
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.molecules.pdbqt_input import read_receptor
    from ligen_py.records.functions.ad4 import Ad4Type

    types = [Ad4Type(kind) for kind in np.unique(together.type)]
    names = {kind: type_name(kind) for kind in types}
    if options.ffile is not None:
        maps = read_maps(options.ffile, list(names.values()))
        by_name = {name.upper(): value for name, value in maps.values.items()}
        grid = Grid(maps.origin.astype(np.float32), maps.spacing, maps.shape)
        given = {kind: by_name[kind.name] for kind in types}
        common = by_name[CHARGE.upper()], by_name[SOLVATION.upper()]
        return GivenField(device, grid, *common, given), maps
    receptor = read_receptor(options.receptor)
    _warn_uncharged(options.receptor, receptor.partial_charge, polar=True)
    center = np.array(options.center if options.center else middle)
    spacing = LgaSettings().spacing
    sides = np.array(options.size or SIDES)
    if not ((spacing <= sides) & np.isfinite(sides)).all():
        raise UsageError(f"--size: give three sides of {spacing} A or more")
    beyond = np.maximum(np.abs(receptor.xyz - center) - sides / 2, 0)
    # Also where the centre is no number. All energies would be 0, and so would those of a crash.
    if not (np.linalg.norm(beyond, axis=1) < CUTOFF).any():
        raise InputError(
            f"{options.receptor}: no atom within {CUTOFF:g} A of the box around "
            f"{' '.join(f'{value:g}' for value in center)}; give the site by --center"
        )
    shape = tuple(2 * round(side / spacing / 2) + 1 for side in sides)
    if math.prod(shape) * (2 + len(types)) > MOST_POINTS:
        raise UsageError(
            f"--size: {2 + len(types)} maps of {' x '.join(map(str, shape))} points are too large; "
            "give smaller sides, in Angstrom"
        )
    box = Autogrid(shown(options.receptor.name), center, spacing, shape, {})
    grid = Grid(box.origin.astype(np.float32), spacing, shape)
    field = Ad4Field(device, receptor, grid, together)
    return field, Autogrid(box.receptor, center, spacing, box.shape, dict.fromkeys(
        [CHARGE, SOLVATION, *names.values()], np.zeros(0)
    ))  # fmt: skip


def _write_maps(name: Path, maps: "Autogrid", values: np.ndarray, field: "Ad4Field") -> None:
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, Autogrid, map_files
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.store.files.text import write_texts

    types = np.flatnonzero(field.slot >= 0)
    named = {CHARGE: values[0], SOLVATION: values[1]}
    named |= {type_name(int(kind)): values[field.slot[kind]] for kind in types}
    whole = Autogrid(maps.receptor, maps.center, maps.spacing, maps.shape, named)
    write_texts(name.parent, map_files(name.name, whole))


def _runs(
    ligand: "PdbqtLigand",
    field: "Ad4Field",
    values: np.ndarray,
    found: Any,
    poses: range,
    turn: int,
) -> tuple[list[Any], int]:
    """The runs of one ligand with coordinates and energies; and the next torsion's row."""
    from ligen_py.engine.genetic.poses import Poser
    from ligen_py.engine.refinement.reference import Genotype
    from ligen_py.molecules.dlg import DockedRun

    torsions = len(ligand.ligands.torsion_axis)
    poser = Poser(field, values, ligand.ligands, 0)
    runs = []
    for pose in poses:
        genotype = Genotype(
            found.translation[pose].astype(float),
            found.quaternion[pose].astype(float),
            found.torsion[turn : turn + torsions].astype(float),
        )
        turn += torsions
        terms = poser.terms(genotype)
        runs.append(
            DockedRun(
                poser.places(genotype), terms.vdw, terms.electrostatic, terms.internal,
                terms.torsional, int(found.evaluations[pose]), int(found.generations[pose]),
            )
        )  # fmt: skip
    return runs, turn


def _print_given(ligand: "PdbqtLigand", field: "Ad4Field", values: np.ndarray) -> None:
    from ligen_py.engine.genetic.poses import Poser
    from ligen_py.engine.refinement.reference import Genotype
    from ligen_py.molecules.dlg import DockedRun, energy_lines, shown

    still = np.zeros(len(ligand.ligands.torsion_axis))
    genotype = Genotype(ligand.center, np.array([1.0, 0, 0, 0]), still)
    poser = Poser(field, values, ligand.ligands, 0)
    terms = poser.terms(genotype)
    run = DockedRun(
        poser.places(genotype), terms.vdw, terms.electrostatic, terms.internal, terms.torsional,
        0, 0,
    )  # fmt: skip
    print(f"Input ligand energies of {shown(ligand.name)}:")
    for line in energy_lines(run):
        print(f"    {line}")


def _write(
    options: argparse.Namespace,
    settings: LgaSettings,
    ligand: "PdbqtLigand",
    runs: list[Any],
    maps: "Autogrid",
    output: tuple[Path, Path],
) -> bool:
    """Write poses and log of one ligand, and print its best pose; whether this one is of use."""
    from ligen_py.molecules import clusters as grouping
    from ligen_py.molecules.dlg import dlg, poses_pdbqt, shown
    from ligen_py.store.files.text import write_texts

    one = ligand.ligands
    heavy = int(one.heavy[0])
    ways = grouping.symmetries(one.element, ligand.bond)
    places = [run.xyz[:heavy] for run in runs]
    energies = np.array([run.binding for run in runs])
    groups = grouping.clusters(places, energies, settings.cluster_rmsd, ways)
    given = one.xyz[:heavy].astype(float) + ligand.center
    reference = [grouping.rmsd(given, place, ways) for place in places]
    texts = {output[0].name: poses_pdbqt(ligand, runs)}
    if options.dlgoutput:
        name = maps.receptor.removesuffix(".pdbqt") or "receptor"
        grid = (name, maps.shape, maps.spacing, maps.center)
        words = _words(settings)
        texts[output[1].name] = dlg(ligand, runs, groups, reference, grid, words)
    write_texts(output[0].parent, texts)
    best = groups[0][0].pose
    beyond = np.abs(runs[best].xyz - maps.center) - maps.spacing * (np.array(maps.shape) - 1) / 2
    outside = bool((beyond > 0.01).any())  # 10,000 kcal/mol: no rounding at a wall
    absurd = not energies[best] <= ABSURD  # nor a number
    if outside:
        log.warning(
            "%s: the best pose is partly outside the box, where an energy has no meaning; give a "
            "larger box", shown(ligand.path),
        )  # fmt: skip
    elif absurd:
        log.warning(
            "%s: the best energy is %.4g kcal/mol, so atoms lie in one another in each run; give "
            "another box, or a larger one", shown(ligand.path), energies[best],
        )  # fmt: skip
    print(
        f"{shown(ligand.name)}: {energies[best]:.2f} kcal/mol in run {best + 1}, "
        f"{len(groups[0])} of {len(runs)} runs in its cluster, {len(groups)} clusters"
    )
    return not (outside or absurd)


def _words(settings: LgaSettings) -> Mapping[str, object]:
    return {
        "Number of runs": settings.runs,
        "Number of energy evaluations": settings.evaluations or "by torsions",
        "Number of generations": settings.generations,
        "Size of population": settings.population,
        "Rate of crossover": f"{settings.crossover:f}%",
        "Tournament selection probability limit": f"{settings.tournament:f}%",
        "Rate of mutation": f"{settings.mutation:f}%",
        "Rate of local search": f"{settings.searched:f}%",
        "Local search": settings.local_search,
        "Maximal number of local search iterations": settings.iterations,
        "Automatic stop": "on" if settings.stop else "off",
        "Handle symmetry during clustering": "YES",
        "RMSD tolerance": f"{settings.cluster_rmsd:f}A",
        "Random seed": settings.seed,
    }


if __name__ == "__main__":
    sys.exit(main())
