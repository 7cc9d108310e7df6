"""Small campaigns made by hand: real molecules, invented poses and scores."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import aggregate
from ligen_py.chain import FILES
from ligen_py.engine.scoring.checks import table
from ligen_py.molecules.library.parsing import Library, assemble
from ligen_py.molecules.library.reading import Record as Read
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.provenance import Input, Run
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.functions.xscore import Interaction, XScoreReceptor
from ligen_py.records.kept import Verdicts
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.pocket import POCKET, Audit, GeometricField, Receptor, Whole
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.scores import SCORES, Checks, Scores
from ligen_py.settings.parse import AS_GIVEN, ParseSettings
from ligen_py.settings.pocket import PocketSettings
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.manifest import COLUMNS, PartFiles
from ligen_py.store.files.write import new_file, write, write_record
from tests.goldens import rows

POSES = 3
"""Kept poses of every ligand; the second one is the best."""

STRUCTURE = Input("protein.pdb", "0" * 64)

BOX = "the box around (1.00, 2.00, 3.00) with half side 15 A, given as a point"

WARNINGS = {"beta": ["A/X/1 lies in the box", "A/X/1 lies in the box", "is it in its frame?"]}
"""Of the preparation of a target's receptor."""

NO_CHECKS = table([])

ROLES = {
    "C": Interaction.HYDROPHOBIC, "A": Interaction.HYDROPHOBIC, "N": Interaction.DONOR,
    "NA": Interaction.ACCEPTOR, "OA": Interaction.ACCEPTOR, "SA": Interaction.HYDROPHOBIC,
    "S": Interaction.HYDROPHOBIC, "HD": Interaction.NONE,
}  # fmt: skip
ELEMENTS = {"C": 6, "A": 6, "N": 7, "NA": 7, "OA": 8, "S": 16, "SA": 16}
"""By AutoDock4's type."""

SETTINGS = ParseSettings(**AS_GIVEN)
"""Molecules as drawn, one state each."""


@dataclass(frozen=True)
class Molecule:
    """One input record; a molecule without a score fails in the score stage.

    `states` are further states, SMILES and score each.
    """

    name: str
    smiles: str
    score: float | None
    states: tuple[tuple[str, float | None], ...] = ()
    extra: str = ""

    @property
    def scores(self) -> list[float | None]:
        """Scores of all states."""
        return [self.score, *(score for _, score in self.states)]

    @property
    def prepared(self) -> Prepared:
        """What `parse` makes of it."""
        first = prepared(self.smiles)
        others = [prepared(smiles).states[0] for smiles, _ in self.states]
        return replace(first, states=(*first.states, *others))


@cache
def prepared(smiles: str) -> Prepared:
    return prepare(Read(1, "", smiles), SETTINGS)


def library_of(
    molecules: Sequence[Molecule], first_line: int = 1, known: Sequence[str] = ()
) -> Library:
    """What `parse` makes of some SMILES, one a line, after those that are `known`."""
    keys = {Molecule("", smiles, None).prepared.key: "an earlier part" for smiles in known}
    return assemble(
        (
            (
                Read(first_line + i, molecule.name, molecule.smiles, extra=molecule.extra),
                molecule.prepared,
            )
            for i, molecule in enumerate(molecules)
        ),
        keys.get,
    )


def field(*origin: float) -> GeometricField:
    """An empty box of 10 A from an origin on, by default around 0."""
    return GeometricField(
        origin=np.array(origin or (-5.0, -5.0, -5.0)),
        spacing=np.array([5.0]),
        value=np.zeros((3, 3, 3), "i1"),
        anchor=np.zeros((1, 3), "f4"),
    )


@cache
def receptor() -> tuple[Receptor, Whole, XScoreReceptor, Ad4Receptor]:
    """Atoms of dihydrofolate reductase, with what lies around its site moved to the origin."""
    found = [row for row in rows("pocket_1ia1.tsv") if row["type"] in ROLES]
    xyz = np.array([[float(row[axis]) for axis in "xyz"] for row in found])
    xyz = (xyz - xyz.mean(axis=0)).astype("f4")
    heavy = np.array([row["type"] != "HD" for row in found])
    hydrogens = xyz[~heavy]
    atoms = [row for row in found if row["type"] != "HD"]
    places = [(row["chain"], row["residue"], row["number"]) for row in atoms]
    gives = [np.linalg.norm(hydrogens - place, axis=1).min() < 1.2 for place in xyz[heavy]]
    role = [ROLES[row["type"]] for row in atoms]
    role = [
        Interaction.DONOR_ACCEPTOR if one == Interaction.ACCEPTOR and gives[i] else one
        for i, one in enumerate(role)
    ]
    common = Receptor(
        xyz=xyz[heavy],
        element=np.array([ELEMENTS[row["type"]] for row in atoms], "u1"),
        residue=np.array([list(dict.fromkeys(places)).index(place) for place in places], "i4"),
        label=np.array(
            ["/".join((*where, row["atom"])) for where, row in zip(places, atoms, strict=True)],
            object,
        ),
    )
    count, none = len(atoms), np.zeros(len(atoms), "u1")
    scored = extended(
        common,
        XScoreReceptor,
        radius=np.full(count, 1.7, "f4"),
        interaction=np.array(role, "u1"),
        logp=np.zeros(count, "f4"),
        donor=none,
        acceptor=none,
        root=np.zeros((count, 3), "f4"),
        rooted=none,
    )
    order = [*np.flatnonzero(heavy), *np.flatnonzero(~heavy)]
    every = len(order)
    charged = Ad4Receptor(
        xyz=xyz[order],
        type=np.array([Ad4Type[found[i]["type"].upper()] for i in order], "u1"),
        partial_charge=np.array([float(found[i]["charge"]) for i in order], "f4"),
        axis=np.zeros((every, 3), "f4"),
        normal=np.zeros((every, 3), "f4"),
        exponent=np.zeros(every, "u1"),
    )
    whole = Whole(
        xyz=common.xyz,
        element=common.element,
        label=common.label,
        hetero=np.zeros(len(common.xyz), "u1"),
    )
    return common, whole, scored, charged


def poses_of(library: Library, seed: int) -> Poses:
    """Random genotypes, `POSES` a ligand."""
    rng = np.random.default_rng(seed)
    torsions = np.repeat(np.diff(library.ligands.first_torsion), POSES)
    count = len(torsions)
    quaternion = rng.standard_normal((count, 4))
    return Poses(
        first_pose=np.arange(0, count + 1, POSES, dtype="i8"),
        first_torsion=np.concatenate([[0], np.cumsum(torsions)]).astype("i8"),
        restart=np.tile(np.array([10, 20, 30], "i4"), count // POSES),
        translation=rng.uniform(-5, 5, (count, 3)).astype("f4"),
        quaternion=(quaternion / np.linalg.norm(quaternion, axis=1)[:, None]).astype("f4"),
        torsion=rng.uniform(-180, 180, int(torsions.sum())).astype("f4"),
        score=np.zeros(count, "i4"),
        internal_bumps=np.zeros(count, "i4"),
        pocket_bumps=np.zeros(count, "i4"),
        outside=np.zeros(count, "i4"),
    )


def scores_of(
    library: Library, poses: Poses, molecules: Sequence[Molecule]
) -> tuple[Ledger, Scores, dict[str, np.ndarray]]:
    """Ledger, scores and terms of poses: `total` is the score, best at the second pose."""
    given = [s for entry in np.unique(library.ligands.entry) for s in molecules[entry].scores]
    fine = np.array([score is not None for score in given], dtype=bool)
    score = np.array([0 if value is None else value for value in given], "f4")
    best = np.where(fine, np.arange(len(given)) * POSES + 1, -1).astype("i8")
    total = np.repeat(score, POSES) - np.tile(np.array([2, 0, 1], "f4"), len(given))
    entry = library.ligands.entry
    lost, scored = np.unique(entry), np.unique(entry[fine])
    words = ["no pose has a finite score"] * len(lost)
    ledger = library.ledger.marked(lost, Status.FAILED, Reason.NO_FINITE_SCORE, words)
    ledger = ledger.marked(scored, Status.SCORED, Reason.NONE, [""] * len(scored))
    scores = Scores(
        first_pose=poses.first_pose,
        restart=poses.restart,
        energy=-total.astype("f4"),
        best=best,
        score=score,
    )
    return ledger, scores, {"half": total / 2, "total": total}


def write_part(
    folder: Path,
    target: str,
    library: str,
    chunk: str,
    molecules: Sequence[Molecule],
    first_line: int = 1,
    crystal: Path | None = None,
    checks: Checks = NO_CHECKS,
    known: Sequence[str] = (),
) -> PartFiles:
    """Write the files of one part; a part with a crystal is a control."""
    files: dict[str, Any] = {
        stage: folder / stage / target / library / f"{chunk}.h5"
        for stage in ("poses", "kept", "refined", "scores")
    }
    part = PartFiles(
        target=target,
        library=library,
        pocket=folder / "pockets" / f"{target}.h5",
        ligands=folder / "ligands" / library / f"{chunk}.h5",
        **files,
        control=crystal is not None,
        crystal=crystal,
        file=f"{library}.smi",
    )
    parsed = library_of(molecules, first_line, known)
    if not part.pocket.exists():
        with new_file(part.pocket, POCKET, Run("pocket", PocketSettings(), (STRUCTURE,))) as file:
            file.attrs["target"] = target
            for record in receptor():
                group = file.create_group(POCKET.group_of(type(record)))
                write_record(group, record, type(record))
            write_record(file.create_group("field"), field())
            audit = Audit(
                part=np.array(["site"], object),
                action=np.array(["chosen"], object),
                atoms=np.zeros(1, "i4"),
                reason=np.array([BOX], object),
            )
            write_record(file.create_group("audit"), audit.warned(WARNINGS.get(target, [])))
    if not part.ligands.exists():
        write(part.ligands, LIGANDS, Run("parse", ParseSettings()), parsed.groups)
    poses = poses_of(parsed, first_line)
    count = len(poses.restart)
    run = Run("refine", RefineSettings(), (part.ligands, part.pocket))
    records = {
        "ledger": parsed.ledger,
        "poses": poses,
        "verdicts": Verdicts(verdict=np.zeros(count, "u1"), cluster=np.zeros(count, "i4")),
        "refinement": Refinement(before=np.zeros(count, "f4"), after=np.zeros(count, "f4")),
    }
    write(part.refined, REFINED, run, records)
    ledger, scores, terms = scores_of(parsed, poses, molecules)
    run = Run("score", ScoreSettings(), (part.ligands, part.pocket, part.refined), "a device")
    write(
        part.scores,
        SCORES,
        run,
        {"ledger": ledger, "scores": scores, "checks": checks},
        {"xscore": terms},
    )
    return part


def merged(folder: Path, parts: Sequence[PartFiles]) -> Path:
    """The campaign file of some parts in their folder, beside the list of them."""
    manifest, output = write_manifest(folder / "manifest.tsv", parts), folder / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    return output


def copied(parts: Sequence[PartFiles], source: Path, folder: Path) -> list[PartFiles]:
    """The parts in a copy of their folder, with all else that lies there."""
    shutil.copytree(source, folder, dirs_exist_ok=True)

    def there(path: Path) -> Path:
        return folder / path.relative_to(source)

    found = []
    for part in parts:
        files: dict[str, Any] = {name: there(getattr(part, name)) for name in FILES}
        found.append(replace(part, **files, crystal=part.crystal and there(part.crystal)))
    return found


def write_manifest(path: Path, parts: Sequence[PartFiles]) -> Path:
    """Write the manifest of some parts."""
    rows = [COLUMNS] + [
        (
            *(part.target, part.library, part.file),
            *(str(getattr(part, name)) for name in FILES),
            str(int(part.control)),
            str(part.crystal or ""),
            part.conformation,
        )
        for part in parts
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path
