"""Check a finished campaign: its files, what was made from what, its ledger; and make it again.

Hashes every file again, follows the run records from the campaign back to ligands and pockets,
merges all parts anew, ranks the molecules again from the terms of their poses, scores the poses
again, prepares the pockets again, and writes the exported molecules and the report again. Where
networks judged poses, it chooses these again, and has the networks judge a sample again. It reads
all names again from the libraries. The best molecules and a sample of the others are parsed and
docked again, bit for bit; what passed a limit of `parse` is docked only. It compares the campaign
with the config that the run kept beside it, or with the one that --config names: parts, targets,
settings and effort. Prints each fault on a line of its own, also where many files have it; exit
code 1 if there is one. What is made from faulty files is not looked at.
"""

import argparse
import logging
import secrets
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import gettempdir

from ligen_py import cli
from ligen_py.campaign.workplan import Workplan
from ligen_py.errors import InputError, OutputError
from ligen_py.opencl.device import select
from ligen_py.paths import NETWORKS_HINT
from ligen_py.settings.campaign import NETWORKS
from ligen_py.settings.document import read_document
from ligen_py.settings.export import ExportSettings
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.campaign.scored import functions_before
from ligen_py.store.files.read import files_kept_open
from ligen_py.summary.table import counted
from ligen_py.verification import made_again
from ligen_py.verification.causes import by_cause
from ligen_py.verification.config import config_faults
from ligen_py.verification.controls import source_faults, unlisted_parts, verdict_faults
from ligen_py.verification.files import missing_chunks, part_faults
from ligen_py.verification.judged import SAMPLE as JUDGED
from ligen_py.verification.judged import judged_faults
from ligen_py.verification.redocked import choose, redocking_faults

log = logging.getLogger("ligen_py")

SAMPLE = 20
"""Molecules beside the exported ones that are parsed and docked again."""


def main(argv: Sequence[str] | None = None) -> int:
    """Verify a campaign from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.verify", __doc__)
    parser.add_argument("campaign", type=cli.input_file, help="campaign file of `aggregate`")
    parser.add_argument(
        "--manifest", type=cli.input_file, help="its manifest (default: manifest.tsv beside it)"
    )
    parser.add_argument(
        "--config",
        type=cli.input_file,
        help="config file to compare it with (default: the config.yaml beside it, which the run "
        "has kept)",
    )
    parser.add_argument(
        "--hits",
        type=cli.at_least(0),
        metavar="N",
        help="molecules of each target to dock again, the best ones (default: as many as were "
        "exported)",
    )
    parser.add_argument(
        "--sample",
        type=float,
        default=SAMPLE,
        metavar="X",
        help="other molecules to parse and dock again: their number, or a share below 1 of all "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=cli.at_least(0),
        metavar="N",
        help="seed of the samples (default: another one each time, printed)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="name every file of a fault, not the first one and their number",
    )
    cli.add_device(parser)
    return cli.run(parser, argv, _verify)


def _verify(options: argparse.Namespace) -> None:
    if not (0 <= options.sample <= 1 or (options.sample > 1 and options.sample % 1 == 0)):
        raise InputError(f"--sample {options.sample}: give a share below 1, or a whole number")
    path = options.manifest or options.campaign.with_name("manifest.tsv")
    if not path.exists():
        with open_campaign(options.campaign):  # what is no campaign has no manifest either
            pass
        raise InputError(f"{path}: does not exist; name the campaign's manifest by --manifest")
    if options.manifest is not None:
        read_manifest(path)  # what is none is no fault of the results, which are to be deleted
    plan = _plan(options)
    if options.seed is None:
        options.seed = secrets.randbelow(1 << 31)
        log.info("--seed %d chooses the samples", options.seed)
    faults = 0
    try:
        for fault in _faults(options, path, plan):
            print(f"FAULT {fault}", flush=True)
            faults += 1
    except OutputError as error:  # nothing is written but temporary files
        why = getattr(error.__cause__, "strerror", None) or error
        raise OutputError(
            f"{gettempdir()}: what is made again to be compared cannot be written there ({why}); "
            "make room there, or set TMPDIR to another folder"
        ) from error
    if faults:
        every = "" if options.all else " (with --all every one is named)"
        raise InputError(
            f"{options.campaign}: {faults} fault{'s' * (faults > 1)}; delete the results that they "
            f"name{every}, and 'ligen run CONFIG' makes them again"
        )
    print(f"{options.campaign}: no fault")


def _faults(options: argparse.Namespace, path: Path, plan: Workplan | None) -> Iterator[str]:
    try:
        manifest = read_manifest(path).found_from(path)
        with open_campaign(options.campaign) as campaign:
            attributes, known = campaign.attributes, KnownFiles(campaign).digests
    except InputError as error:
        yield str(error)
        return
    broken = []
    if manifest.digest() not in attributes["inputs"]:
        broken = [f"{options.campaign}: was not made from {path} as it is now"]
    yield from broken
    yield from missing_chunks(manifest)
    if plan is not None:
        log.info("comparing with %s", plan.config.name)
        faults = config_faults(plan, options.campaign, path, manifest, attributes)
        yield from by_cause(faults, options.all)
        yield from source_faults(plan, options.campaign.parent)
    controls = unlisted_parts(plan, options.campaign.parent) if plan else []
    parts = len(manifest.parts)
    log.info("files and run records of %s", counted(parts + len(controls), "part"))
    ranked = None if broken else known
    faulty = list(by_cause(_files_faults(manifest, controls, ranked), options.all))
    yield from faulty
    if broken or faulty:
        log.info("nothing is made again, since it would be made from these files")
        return
    log.info("merging %s again", counted(parts, "part"))
    yield from made_again.merge_faults(options.campaign, path, manifest, attributes)
    yield from _made_again(plan, options, manifest)


def _files_faults(
    manifest: Manifest, controls: list[PartFiles], known: dict[tuple[str, ...], str] | None
) -> Iterator[str]:
    """Faults of the parts' files; `known` are digests in the campaign, None if it has others."""
    digests: dict[Path, str] = {}
    unsound: set[Path] = set()
    for number, part in enumerate((*manifest.parts, *controls)):
        ranked = known if number < len(manifest.parts) else None
        with files_kept_open():
            found = list(part_faults(part, ranked, digests, unsound))
        yield from found


def _made_again(
    plan: Workplan | None, options: argparse.Namespace, manifest: Manifest
) -> Iterator[str]:
    exported = plan.settings.export if plan else ExportSettings()
    hits = exported.count if options.hits is None else options.hits
    chosen = choose(options.campaign, manifest, hits, options.sample, options.seed)
    judged = _judged(options, plan)
    scored = made_again.has_weights(options.campaign, manifest)
    log.info("ranking and scoring again" if scored else "ranking again")
    yield from by_cause(_ranking_faults(manifest), options.all)
    if scored:
        label = select(options.device).origin
        scoring = made_again.scoring_faults(manifest, options.seed, options.device, label)
        yield from by_cause(scoring, options.all)
    if plan is not None:
        pockets = counted(len(plan.pockets), "pocket")
        log.info("preparing %s and the chosen molecules again", pockets)
        yield from by_cause(made_again.pocket_faults(plan, manifest), options.all)
        yield from by_cause(made_again.library_faults(plan, manifest, chosen), options.all)
        verdicts = made_again.verdicts_of(options.campaign)
        yield from by_cause(verdict_faults(plan, verdicts), options.all)
    if judged is not None:
        log.info("judging poses of the best molecules again, of %d by --seed", JUDGED)
        yield from judged_faults(
            judged, options.campaign, manifest, plan, options.seed, options.device
        )
    if plan is not None:
        log.info("writing the exported molecules and the report again")
        written = made_again.written_faults(options.campaign, plan, manifest)
        yield from by_cause(written, options.all)
    log.info("docking the chosen molecules again")
    redocked = redocking_faults(manifest, chosen, options.device, scored)
    yield from by_cause(redocked, options.all)


def _ranking_faults(manifest: Manifest) -> Iterator[str]:
    for part in manifest.parts:
        with files_kept_open():
            found = list(made_again.ranking_faults(part))
        yield from found


def _judged(options: argparse.Namespace, plan: Workplan | None) -> Path | None:
    """The file of what networks say, where the campaign has one."""
    path: Path = options.campaign.with_name("networks.h5")
    if plan is None:
        return path if path.exists() else None
    if plan.settings.networks.best:
        return path
    if path.exists():
        log.warning(
            "%s: of an earlier run, as the config has no networks.best; not looked at", path
        )
    return None


def _plan(options: argparse.Namespace) -> Workplan | None:
    """The campaign that a config file describes; None where there is none.

    InputError where the config that --config names, or a file that it names, cannot be used.
    """
    kept = options.campaign.with_name(CONFIG)
    path = options.config or kept
    if options.config is None and not kept.exists():
        log.info("%s: not compared with a config; give it by --config", options.campaign)
        return None
    try:
        document = read_document(path)
        plan = Workplan.of(document.values, document.source, path.parent)
        if plan.lacks_networks and NETWORKS in functions_before(options.campaign.parent):
            left_out = ", or leave --config out" if options.config else ""
            raise InputError(
                f"{path}: its effort has gnina's networks, as these results do, but they are not "
                f"installed; {NETWORKS_HINT}{left_out}"
            )
        return plan
    except InputError as error:
        if options.config is not None:
            raise
        log.warning("%s: not compared with its config: %s", options.campaign, error)
        return None


if __name__ == "__main__":
    sys.exit(main())
