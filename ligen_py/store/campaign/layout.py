"""The campaign file: every score, the rankings, the best poses, the ledger and the provenance.

The records below declare its layout; `docs/format.md` states it in words. `writer` makes the file
part by part, `reader` reads it.
"""

import json
import math
from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.molecule import checked
from ligen_py.records.properties import Properties
from ligen_py.records.scores import Check
from ligen_py.records.site import Site

CAMPAIGN = Kind("campaign", 7, {})
CONFIG = "config.yaml"
"""The config that a run keeps beside the campaign file, all settings written out."""

ELSEWHERE = 2.0
"""A pose farther than this from the best one lies elsewhere: no two poses of one cluster do. RMSD
in Angstrom; 2 A is what counts as the same pose in redocking."""

BLOCK = 1 << 20
"""Rows of a column in memory while a whole column is read or written piece by piece."""


@dataclass(frozen=True, slots=True)
class Scored(Record):
    """One row per scored input record of a target, part by part."""

    library: np.ndarray = column("u2", "row", doc="row of `libraries`")
    file: np.ndarray = column("u4", "row", doc="row of `files`")
    line: np.ndarray = column("i8", "row", doc="first line of the record in its file, from 1")
    name: np.ndarray = column(STRING, "row", doc="name as given in the input, or record number")
    key: np.ndarray = column(STRING, "row", doc="content key of the molecule")
    smiles: np.ndarray = column(
        STRING,
        "row",
        doc="canonical isomeric SMILES of the parent, with ChemAxon's extension where its "
        "centres are relative or racemic",
    )
    note: np.ndarray = column(STRING, "row", doc="what was removed, chosen or excluded, in words")
    score: np.ndarray = column(
        "f4",
        "row",
        doc="ranking score, larger is better: score of the best pose of the best state, or minus "
        "the mean of the ranks by all functions (`rank_by` of `aggregate`: consensus)",
    )
    states: np.ndarray = column(
        "i4", "row", doc="ligands of the molecule that were docked: states, each in its ring shapes"
    )
    poses: np.ndarray = column("i4", "row", doc="poses kept of the best state")
    restart: np.ndarray = column("i4", "row", doc="restart that made the best pose")
    heavy: np.ndarray = column("i4", "row", doc="heavy atoms of the best state")
    duplicate: np.ndarray = column(
        "u1", "row", doc="1 where an earlier record is the same molecule: not ranked"
    )


@dataclass(frozen=True, slots=True)
class Left(Record):
    """One row per input record that is not ranked: its status and reason."""

    library: np.ndarray = column("u2", "row", doc="row of `libraries`")
    file: np.ndarray = column("u4", "row", doc="row of `files`")
    line: np.ndarray = column("i8", "row", doc="first line of the record in its file, from 1")
    name: np.ndarray = column(STRING, "row", doc="name as given in the input, or record number")
    status: np.ndarray = column("u1", "row", enum=Status, doc="status of the record")
    reason: np.ndarray = column("u1", "row", enum=Reason, doc="why it is not ranked")
    detail: np.ndarray = column(STRING, "row", doc="the reason in words, with the values")
    same_as: np.ndarray = column(
        "i8",
        "row",
        doc="of a duplicate: row of `scored` that is ranked for it; else -1",
    )


@dataclass(frozen=True, slots=True)
class Counts(Record):
    """Counts of the ledger; they sum to the number of input records of each library."""

    library: np.ndarray = column("u2", "row", doc="row of `libraries`")
    status: np.ndarray = column("u1", "row", enum=Status, doc="status of the records")
    stage: np.ndarray = column(STRING, "row", doc="stage that excluded them; empty if scored")
    reason: np.ndarray = column("u1", "row", enum=Reason, doc="why they are not ranked")
    records: np.ndarray = column("i8", "row", doc="input records")


@dataclass(frozen=True, slots=True)
class Watched(Record):
    """Checks whether the scores of each chunk are plausible: one row a chunk and check."""

    library: np.ndarray = column("u2", "row", doc="row of `libraries`")
    chunk: np.ndarray = column(STRING, "row", doc="chunk of the library")
    check: np.ndarray = column("u1", "row", enum=Check, doc="kind of check")
    suspect: np.ndarray = column("i8", "row", doc="suspect ligands; 0 for drift")
    seen: np.ndarray = column("i8", "row", doc="ligands checked")
    measure: np.ndarray = column(
        "f4", "row", doc="fraction of suspect ligands; for drift a distance"
    )
    alarm: np.ndarray = column("u1", "row", doc="1 where the measure is above its limit")
    detail: np.ndarray = column(STRING, "row", doc="what was found, in words")


@dataclass(frozen=True, slots=True)
class Top(Record):
    """Best poses of the best ligands of a target, in the order of their rows."""

    row: np.ndarray = column("i8", "ligand", doc="row of `scored`, ascending")
    smiles: np.ndarray = column(
        STRING,
        "ligand",
        doc="canonical isomeric SMILES of the parent, with ChemAxon's extension where its "
        "centres are relative or racemic",
    )
    state: np.ndarray = column(STRING, "ligand", doc="canonical isomeric SMILES of the best state")
    conformation: np.ndarray = column(
        STRING, "ligand", doc="conformation of the target around the best pose; empty if it has one"
    )
    gap: np.ndarray = column(
        "f4",
        "ligand",
        units="kcal/mol",
        doc="how much worse the best other pose of the state is by the energy that chooses; other "
        "ones lie more than 2 Angstrom away (heavy atoms, symmetry in mind); NaN where there is "
        "none",
    )
    clusters: np.ndarray = column(
        STRING,
        "ligand",
        doc="of `search: lga`: clusters of all runs of the start conformer that ranks, by the "
        "filter's `cluster_rmsd` and `symmetry`, the best first, a JSON list of lowest and mean "
        "energy of the search (kcal/mol) and number of runs; else empty",
    )
    first_atom: np.ndarray = column("i8", "ligand+1", into="atom", doc="offsets of atoms")
    first_byte: np.ndarray = column("i8", "ligand+1", into="byte", doc="offsets of molecules")
    extra: np.ndarray = column(
        STRING, "ligand", doc="further columns of the input: a JSON object of texts, or empty"
    )
    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position in the best pose")
    molecule: np.ndarray = column(
        "u1", "byte", doc="atoms, bonds and stereo (see Molecules), atoms in this order"
    )


@dataclass(frozen=True, slots=True)
class Control(Record):
    """Redocking of a target's reference ligand. A value that could not be measured has no row."""

    name: np.ndarray = column(STRING, "control", doc="name of the reference ligand")
    status: np.ndarray = column("u1", "control", enum=Status, doc="status of the record")
    reason: np.ndarray = column("u1", "control", enum=Reason, doc="why it is not ranked")
    detail: np.ndarray = column(STRING, "control", doc="what went wrong, in words")
    score: np.ndarray = column("f4", "scored", doc="score of the best pose")
    poses: np.ndarray = column("i4", "scored", doc="poses kept")
    rmsd: np.ndarray = column(
        "f4", "measured", units="angstrom", doc="best-scored pose to crystal: symmetry-corrected, "
        "heavy atoms, no alignment"
    )  # fmt: skip
    rmsd_kept: np.ndarray = column(
        "f4", "measured", units="angstrom", doc="least RMSD to crystal of all kept poses"
    )


@dataclass(frozen=True, slots=True)
class Reference(Record):
    """Poses of a target's reference ligand: as the crystal has it, and as it was docked again."""

    origin: np.ndarray = column(STRING, "pose", doc="`crystal`, or `docked`: its best-scored pose")
    name: np.ndarray = column(STRING, "pose", doc="name of the reference ligand")
    state: np.ndarray = column(STRING, "pose", doc="canonical isomeric SMILES")
    terms: np.ndarray = column(
        STRING, "pose", doc="score terms, a JSON object 'function/term' -> value; empty for crystal"
    )
    conformation: np.ndarray = column(
        STRING, "pose", doc="conformation of the target around the pose; empty if it has one"
    )
    gap: np.ndarray = column("f4", "pose", units="kcal/mol", doc="as in `top`; NaN for crystal")
    first_atom: np.ndarray = column("i8", "pose+1", into="atom", doc="offsets of atoms")
    first_byte: np.ndarray = column("i8", "pose+1", into="byte", doc="offsets of molecules")
    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    molecule: np.ndarray = column(
        "u1", "byte", doc="atoms, bonds and stereo (see Molecules), atoms in this order"
    )

    def bounds(self) -> Bounds:
        """Molecules as they are drawn and written."""
        yield "xyz", np.isfinite(self.xyz)
        sizes, starts = np.diff(self.first_atom).tolist(), self.first_byte
        for i, atoms in enumerate(sizes):
            checked(self.molecule[starts[i] : starts[i + 1]], atoms)


@dataclass(frozen=True, slots=True)
class Runs(Record):
    """The distinct run records of all parts."""

    kind: np.ndarray = column(STRING, "run", doc="kind of file")
    stage_digest: np.ndarray = column(STRING, "run", doc="hash over the sources of the stage")
    created_by: np.ndarray = column(STRING, "run", doc="program and version")
    settings: np.ndarray = column(STRING, "run", doc="settings of the stage, JSON")
    device: np.ndarray = column(STRING, "run", doc="OpenCL device, empty where none was used")


@dataclass(frozen=True, slots=True)
class Provenance(Record):
    """One row per file of each part: the run that made it and its number of records."""

    target: np.ndarray = column(
        STRING, "row", doc="name of the target, with `.` and a conformation's where it has several"
    )
    library: np.ndarray = column(STRING, "row", doc="name of the library")
    chunk: np.ndarray = column(STRING, "row", doc="chunk of the library")
    run: np.ndarray = column("i8", "row", doc="row of `runs`")
    sha256: np.ndarray = column(STRING, "row", doc="SHA-256 of the file")
    records: np.ndarray = column("i8", "row", doc="input records of the part")


@dataclass(frozen=True, slots=True)
class Verdicts(Record):
    """What the controls of each target showed before the libraries were docked."""

    target: np.ndarray = column(STRING, "row", doc="name of the target")
    passed: np.ndarray = column("u1", "row", doc="1 where no limit was missed")
    sentence: np.ndarray = column(STRING, "row", doc="the verdict in one sentence")
    document: np.ndarray = column(
        STRING, "row", doc="all figures, as in `controls.json`: a JSON object"
    )


TARGET_GROUPS: dict[str, type[Record]] = {
    "scored": Scored, "properties": Properties, "left": Left, "counts": Counts,
    "watched": Watched, "top": Top, "control": Control, "site": Site, "reference": Reference
}  # fmt: skip
"""Records in each group `targets/{target}`; beside them `ranking` and `terms/{function}/{term}`."""

ROOT_GROUPS: dict[str, type[Record]] = {"runs": Runs, "parts": Provenance, "verdicts": Verdicts}
"""Records at the root; beside them the texts `libraries` and `files`."""


@dataclass(frozen=True, slots=True)
class Pose:
    """The best pose of a molecule: coordinates (atoms, 3) in Angstrom, and its best state."""

    smiles: str
    state: str
    extra: str
    xyz: np.ndarray
    molecule: np.ndarray
    conformation: str = ""
    gap: float = math.nan
    """As in `Top`, likewise `clusters`."""
    clusters: str = ""


def columns_of(extra: str) -> dict[str, str]:
    """Further columns of an input record, by name; ValueError if the text is no JSON object.

    >>> columns_of('{"price": "12"}')
    {'price': '12'}
    """
    columns = json.loads(extra or "{}")
    if not isinstance(columns, dict):
        raise ValueError("further columns are no JSON object")
    return {str(name): str(value) for name, value in columns.items()}
