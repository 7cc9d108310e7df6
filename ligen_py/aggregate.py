"""Put all parts of a campaign together: rankings, best poses, ledger, redocking controls.

Reads the manifest, a table with one row per target, library and chunk, and goes through the parts
one by one. For every target all input records must be accounted for, as scored, rejected, failed
or duplicate; a campaign that breaks this law is not written.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.engine.geometry import rebuild
from ligen_py.engine.ranking import consensus, duplicates, hash_keys, ranking
from ligen_py.errors import InputError
from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.provenance import Input, Run
from ligen_py.records import Status
from ligen_py.settings import AggregateSettings
from ligen_py.store.campaign import Control, Pose
from ligen_py.store.campaign_writer import CampaignWriter, TargetWriter, control_of, new_campaign
from ligen_py.store.lineage import Lineage
from ligen_py.store.manifest import PartFiles, read_manifest
from ligen_py.store.part import Poses, read_part

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.aggregate", __doc__, AggregateSettings)
    parser.add_argument("--manifest", type=cli.input_file, required=True, help="table of all parts")
    parser.add_argument("--output", type=Path, required=True, help="campaign file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: AggregateSettings = cli.settings_from(AggregateSettings, options)
    manifest = read_manifest(options.manifest)
    lineage = Lineage()
    numbers = {file: number for number, file in enumerate(manifest.files)}
    names = [name for _, name in numbers]
    run = Run("aggregate", settings, (Input(options.manifest.name, manifest.digest()),))
    with new_campaign(options.output, run) as campaign:
        for target in manifest.targets:
            writer = campaign.target(target)
            starts: dict[int, PartFiles] = {}
            hashes = [np.empty(0, dtype="u8")]
            for number, library in enumerate(manifest.libraries):
                for files in manifest.chunks(target, library):
                    part = read_part(files)
                    campaign.append_parts(lineage.add(files, len(part.status)))
                    scored = part.entry[part.scored()]
                    if len(scored):
                        starts[writer.rows] = files
                    file = numbers[library, files.file]
                    writer.append(part, number, file, files.label)
                    hashes.append(hash_keys(part.key[scored]))
            source = writer.column("file"), writer.column("line")
            later, first = duplicates(np.concatenate(hashes), *source)
            writer.take_out_duplicates(later, first, manifest.libraries, names)
            out = writer.column("duplicate")
            if settings.rank_by == "consensus":
                writer.replace_scores(consensus(writer.totals(), out))
            order = ranking(writer.column("score"), *source, out)
            _store_poses(writer, np.sort(order[: settings.top_poses]), starts)
            writer.finish(order, _control(campaign, lineage, manifest.control(target)))
            log.info("%s: ranked %d molecules of %d parts", target, len(order), len(starts))
        campaign.finish(manifest.libraries, names, lineage.runs())


def _store_poses(writer: TargetWriter, rows: np.ndarray, starts: dict[int, PartFiles]) -> None:
    """Rebuild the best poses of some scored rows (ascending), one part after the other."""
    first = np.array(list(starts), dtype="i8")
    owner = np.searchsorted(first, rows, side="right") - 1
    for number in np.unique(owner):
        files, mine = starts[int(first[number])], rows[owner == number]
        part = read_part(files)
        found: list[Pose] = []
        with Poses(files) as poses:
            for ligand in part.scored()[mine - first[number]]:
                best = range(part.best[ligand], part.best[ligand] + 1)
                xyz = rebuild(*poses.genotypes(ligand, best))[0]
                entry = part.entry[ligand]
                texts = poses.parent(entry), poses.state(ligand), poses.extra(entry)
                found.append(Pose(*texts, xyz, poses.molecule(ligand)))
        writer.append_poses(mine, found)


def _control(campaign: CampaignWriter, lineage: Lineage, files: PartFiles | None) -> Control:
    """Redock a target's reference ligand: the first record of the control's ligands file."""
    if files is None or files.crystal is None:
        return control_of(None)
    part = read_part(files)
    campaign.append_parts(lineage.add(files, len(part.status)))
    if not len(part.status):
        raise InputError(f"{files.ligands}: holds no reference ligand; check {files.crystal}")
    if part.status[0] != Status.SCORED:
        return control_of(part)
    best = int(part.scored()[0])
    rmsds: dict[int, np.ndarray | None] = {}
    with Poses(files) as poses:
        for ligand in np.flatnonzero((part.entry == 0) & (part.poses > 0)).tolist():
            kept = poses.kept(ligand)
            xyz = rebuild(*poses.genotypes(ligand, kept))
            rmsds[ligand] = symmetric_rmsd(poses.molecule(ligand), xyz, files.crystal)
        place = part.best[best] - poses.kept(best).start
    of_best, found = rmsds[best], [rmsd for rmsd in rmsds.values() if rmsd is not None]
    if of_best is None:
        return control_of(part, problem=f"{files.crystal.name} holds another molecule")
    return control_of(part, rmsd=(of_best[place], min(rmsd.min() for rmsd in found)))


if __name__ == "__main__":
    sys.exit(main())
