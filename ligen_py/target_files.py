"""The hits of one target as molecules with all that is known of them, and as files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from ligen_py.engine.geometry import rebuild
from ligen_py.errors import InputError
from ligen_py.molecules.export import one_line, sdf_record
from ligen_py.molecules.pdbqt import ligand_pdbqt, receptor_pdbqt
from ligen_py.molecules.receptor.structure import read_text
from ligen_py.molecules.receptor.writing import receptor_pdb
from ligen_py.records.functions.ad4 import Ad4Receptor
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.pocket import POCKET, Receptor, Whole
from ligen_py.store.campaign.best import origins
from ligen_py.store.campaign.judged import Judgement, Judgements
from ligen_py.store.campaign.kept_poses import KeptPoses
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.layout import Pose
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.reader import CampaignReader, TargetReader
from ligen_py.store.files.parquet import parquet_bytes
from ligen_py.store.files.read import content_of, read
from ligen_py.store.files.text import csv_line, harmless, write_texts
from ligen_py.summary.molecule import CHOSEN_BY, MOST_COLUMNS, columns, kind_of, ranked
from ligen_py.summary.scripts import Scene, chimerax, pymol

NAME_LENGTH = 40
"""Characters of a molecule's name in the name of its PDBQT file."""

OF_POSE = ("target", "rank", "name", "smiles", "state", "conformation", "library", "file", "line")
"""Items of a molecule that hold whatever its pose."""

Files = dict[str, Iterable[str] | bytes]
"""Name of a file -> its content."""


@dataclass(frozen=True)
class Posed:
    """One pose of a hit."""

    molecule: np.ndarray
    """As stored, u1."""
    xyz: np.ndarray
    """(atoms, 3) in the molecule's order, Angstrom."""
    items: dict[str, str]
    """Everything known of it, by the names that SDF and CSV give it."""


class PoseTexts(NamedTuple):
    """One pose as text."""

    sdf: str
    pdbqt: str
    """Empty where it was not asked for."""

    @classmethod
    def of(cls, pose: Posed, pdbqt: bool) -> Self:
        """The texts of a pose, which a molecule without PDBQT has, too, where none is asked for."""
        record = sdf_record(pose.molecule, pose.xyz, pose.items["name"], pose.items)
        return cls(record, ligand_pdbqt(pose.molecule, pose.xyz, pose.items) if pdbqt else "")


@dataclass(frozen=True)
class TargetFiles:
    """The best molecules of a target."""

    campaign: CampaignReader
    target: TargetReader
    count: int
    """Molecules."""
    poses: int = 1
    """Poses of each."""
    manifest: Manifest | None = None
    """Where the campaign's files are: needed for more than one pose, receptor and scripts."""
    judgements: Judgements | None = None
    """What networks say of the best molecules; None where none judged any."""

    def hits(self) -> Iterator[list[Posed]]:
        """The poses of each molecule, best first; molecules in the order of their ranks."""
        if self.poses == 1:
            for row, pose in self._ranked():
                yield [Posed(pose.molecule, pose.xyz, row)]
            return
        for (row, pose), kept in zip(self._ranked(), self._kept.best(self.poses), strict=True):
            with content_of(kept[0].source, LIGANDS):
                xyz = [pose.xyz, *(rebuild(*other.genotype)[0] for other in kept[1:])]
            items = [
                row
                | {name.replace("/", "."): str(np.float32(v)) for name, v in one.terms.items()}
                | {"restart": str(one.restart), "pose": str(number), "energy": f"{one.energy:.4f}"}
                | self._chosen_by(row, number == 1, one.restart)
                for number, one in enumerate(kept, start=1)
            ]
            yield [Posed(pose.molecule, *each) for each in zip(xyz, items, strict=True)]

    def _chosen_by(self, row: Mapping[str, str], is_best: bool, restart: int) -> dict[str, str]:
        """Who chose a kept pose, as an item, where networks judged some."""
        if self.judgements is None:
            return {}
        by_network = row.get("network.restart") == str(restart)
        words = [word for word, chose in (("physics", is_best), ("network", by_network)) if chose]
        return {CHOSEN_BY: ", ".join(words) or "nobody"}

    @cached_property
    def _known(self) -> KnownFiles:
        return KnownFiles(self.campaign)

    @cached_property
    def _kept(self) -> KeptPoses:
        if self.manifest is None:
            raise ValueError("kept poses are found by the manifest")
        wanted = origins(self.campaign, self.target.name, self.count)
        return KeptPoses(self.manifest, self.target.name, self._known, wanted)

    def _ranked(self) -> Iterator[tuple[dict[str, str], Pose]]:
        return ranked(self.campaign, self.target, self.count, self.others, self.judgements)

    @cached_property
    def others(self) -> dict[int, list[str]]:
        """The other names of the molecules, by row."""
        return self.target.others(self.target.order()[: self.count])

    @property
    def columns(self) -> list[str]:
        """Columns of the tables."""
        given = self.target.input_columns(self.count, MOST_COLUMNS)
        return columns(self.target.terms, given, self.judgements is not None)

    def sdf(self) -> Iterator[str]:
        """An SDF record for each pose."""
        for poses in self.hits():
            for pose in poses:
                yield sdf_record(pose.molecule, pose.xyz, pose.items["name"], pose.items)

    def network_sdf(self) -> Iterator[str]:
        """An SDF record for each molecule that networks judged, in the pose of their choice."""
        best = self.target.best(self.count)
        for row, (items, pose) in zip(best.row.tolist(), self._ranked(), strict=True):
            found = (self.judgements or {}).get(row)
            if found is not None:
                shown = {name: items[name] for name in OF_POSE} | _network_items(found)
                yield sdf_record(pose.molecule, found.xyz, items["name"], shown)

    def csv(self) -> Iterator[str]:
        """A line for each molecule, in which no cell is a formula."""
        header = self.columns
        yield csv_line(map(harmless, header))
        for row in self.rows():
            yield csv_line(harmless(one_line(row.get(key, ""))) for key in header)

    def rows(self) -> Iterator[dict[str, str]]:
        """What is known of each molecule."""
        for row, _ in self._ranked():
            yield row

    def parquet(self) -> bytes:
        """The table of `csv` as Parquet: numbers as numbers, texts as they are."""
        kinds = {name: kind_of(name, self.target.terms) for name in self.columns}
        return parquet_bytes(kinds, self.rows())

    def files(self, stem: str, reference: Path | None = None, pdbqt: bool = False) -> Files:
        """All files of the target, named after `stem`."""
        found: Files = {
            f"{stem}.sdf": self.sdf(),
            f"{stem}.csv": self.csv(),
            f"{stem}.parquet": self.parquet(),
        }
        if self.judgements is not None:
            found[f"{stem}-network.sdf"] = self.network_sdf()
        if self.manifest is None:
            return found
        pockets = {part.place: part for part in self._parts()}
        for part in pockets.values():
            self._known.require(part, ("pocket",))
        receptors = self._receptors(stem, pockets)
        scene = Scene(
            title=f"{self.target.name}: prepared receptor and hits",
            receptors=list(receptors),
            hits=f"{stem}.sdf",
            records=min(self.count, self.target.size) * self.poses,
            networks=f"{stem}-network.sdf" if self.judgements is not None else None,
        )
        shown = reference or next((p.crystal for p in self._parts() if p.crystal), None)
        if shown is not None and shown.is_file():
            kind = Path(shown.name.lower().removesuffix(".gz")).suffix
            scene = scene.with_reference(f"{stem}-reference{kind}")
            found[str(scene.reference)] = [read_text(shown)]
        scripts = {f"{stem}.pml": [pymol(scene)], f"{stem}.cxc": [chimerax(scene)]}
        return found | receptors | scripts | (self._pdbqt(stem, pockets) if pdbqt else {})

    def _parts(self) -> list[PartFiles]:
        parts = self.manifest.parts if self.manifest else ()
        return [part for part in parts if part.target == self.target.name]

    @staticmethod
    def _receptors(stem: str, pockets: Mapping[str, PartFiles]) -> Files:
        return {
            f"{stem}-receptor{_dash(part)}.pdb": [receptor_of(part.pocket)]
            for part in pockets.values()
        }

    def _pdbqt(self, stem: str, pockets: Mapping[str, PartFiles]) -> Files:
        """The receptor as far as it is scored, and each pose as a file of its own."""
        found: Files = {}
        for part in pockets.values():
            seen = read(part.pocket, POCKET, Receptor), read(part.pocket, POCKET, Ad4Receptor)
            found[f"{stem}-receptor{_dash(part)}.pdbqt"] = [receptor_pdbqt(*seen)]
        digits = len(str(min(self.count, self.target.size)))
        for poses in self.hits():
            for pose in poses:
                name = f"{int(pose.items['rank']):0{digits}}-{_plain(pose.items['name'])}"
                number = f"-{pose.items['pose']}" if self.poses > 1 else ""
                text = ligand_pdbqt(pose.molecule, pose.xyz, pose.items)
                found[f"{stem}-pdbqt/{name}{number}.pdbqt"] = [text]
        return found


def pose_files(stem: str, poses: Sequence[PoseTexts]) -> Files:
    """Files of poses that were asked for by name: one SDF and, if wanted, a PDBQT of each."""
    found: Files = {f"{stem}-pose.sdf": [pose.sdf for pose in poses]}
    for number, pose in enumerate(poses, start=1):
        last = f"-{number}" if len(poses) > 1 else ""
        if pose.pdbqt:
            found[f"{stem}-pose{last}.pdbqt"] = [pose.pdbqt]
    return found


def write_apart(folder: Path, files: Files, manifest: Manifest | None) -> None:
    """Write files of targets into a folder; InputError where one would replace a crystal pose.

    A target and the file of its reference ligand are often called alike.
    """
    crystals = manifest.crystals if manifest else ()
    for name in files:
        if (folder / name).resolve() in crystals:
            raise InputError(
                f"{folder / name}: is a reference ligand of the campaign, and would be replaced; "
                "name another folder with --output"
            )
    write_texts(folder, files)


def receptor_of(pocket: Path) -> str:
    """The receptor of a pocket file as PDB."""
    return receptor_pdb(read(pocket, POCKET, Whole), read(pocket, POCKET, Ad4Receptor))


def _network_items(found: Judgement) -> dict[str, str]:
    chosen = "physics, network" if found.is_same else "network"
    return {CHOSEN_BY: chosen, "energy": f"{found.energy:.4f}", **found.items()}


def _dash(part: PartFiles) -> str:
    return f"-{part.conformation}" if part.conformation else ""


def _plain(name: str) -> str:
    """A molecule's name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:NAME_LENGTH].strip("._-") or "ligand"
