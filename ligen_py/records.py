"""Arrays that pass between packages and, unchanged, into files.

Every record is a frozen dataclass of NumPy arrays. Each column states its type, its dimensions
by name, its unit and its meaning once, here; `ligen_py.store` derives the HDF5 layout from that.
Ragged data are CSR: a column of dimension ``ligand+1`` holds offsets into the dimension that it
names with `into`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any

import numpy as np

STRING = np.dtype(object)
"""Type of a text column: an object array of `str`."""


class Status(IntEnum):
    """Where an input record stands. At the end of a campaign none is READY."""

    READY = 0
    SCORED = 1
    REJECTED = 2
    FAILED = 3
    DUPLICATE = 4


class Reason(IntEnum):
    """Why a record left the race; each reason belongs to one stage (`REASON_STAGE`)."""

    NONE = 0
    UNPARSABLE = 1
    NO_ATOMS = 2
    TOO_MANY_ATOMS = 3
    TOO_MANY_TORSIONS = 4
    UNSUPPORTED_ELEMENT = 5
    EMBEDDING_FAILED = 6
    TIMED_OUT = 7
    DUPLICATE_OF = 8
    LARGER_THAN_BOX = 9
    NO_FINITE_SCORE = 10
    NO_STRUCTURE = 20
    RECORD_TOO_LARGE = 21
    NO_COORDINATES = 30
    OUT_OF_MEMORY = 31
    MIXTURE = 32
    PROPERTY_OUT_OF_RANGE = 33
    STRUCTURAL_ALERT = 34
    EXCLUDED_PATTERN = 35


REASON_STAGE = {
    Reason.UNPARSABLE: "parse",
    Reason.NO_ATOMS: "parse",
    Reason.TOO_MANY_ATOMS: "parse",
    Reason.TOO_MANY_TORSIONS: "parse",
    Reason.UNSUPPORTED_ELEMENT: "parse",
    Reason.EMBEDDING_FAILED: "parse",
    Reason.TIMED_OUT: "parse",
    Reason.DUPLICATE_OF: "parse",
    Reason.LARGER_THAN_BOX: "dock",
    Reason.NO_FINITE_SCORE: "score",
    Reason.NO_STRUCTURE: "parse",
    Reason.RECORD_TOO_LARGE: "parse",
    Reason.NO_COORDINATES: "parse",
    Reason.OUT_OF_MEMORY: "parse",
    Reason.MIXTURE: "parse",
    Reason.PROPERTY_OUT_OF_RANGE: "parse",
    Reason.STRUCTURAL_ALERT: "parse",
    Reason.EXCLUDED_PATTERN: "parse",
}


class Interaction(IntEnum):
    """X-Score's atom classes (Wang, Lai, Wang 2002)."""

    NONE = 0
    HYDROPHOBIC = 1
    POLAR = 2
    DONOR = 3
    ACCEPTOR = 4
    DONOR_ACCEPTOR = 5
    METAL = 6


class VinaType(IntEnum):
    """Vina's atom types (XS): element, then hydrophobic, donor, acceptor, both, or plain polar."""

    NONE = 0
    C_H = 1
    C_P = 2
    N_P = 3
    N_D = 4
    N_A = 5
    N_DA = 6
    O_P = 7
    O_D = 8
    O_A = 9
    O_DA = 10
    S_P = 11
    P_P = 12
    F_H = 13
    CL_H = 14
    BR_H = 15
    I_H = 16
    SI = 17
    AT = 18
    MET_D = 19


class Ad4Type(IntEnum):
    """AutoDock4's atom types; NONE: hydrogens on carbon, which are merged into it."""

    NONE = 0
    HD = 1
    C = 2
    A = 3
    N = 4
    NA = 5
    OA = 6
    S = 7
    SA = 8
    P = 9
    F = 10
    CL = 11
    BR = 12
    I = 13  # noqa: E741  (iodine)
    SI = 14
    MG = 15
    CA = 16
    MN = 17
    FE = 18
    ZN = 19


class Check(IntEnum):
    """What the scores of a chunk are watched for."""

    ZERO = 0
    POSITIVE = 1
    SENTINEL = 2
    FROZEN = 3
    OUTSIDE = 4
    TWIN = 5
    DRIFT = 6


class Verdict(IntEnum):
    """What the filter says of a pose; also its place in the order."""

    REPRESENTATIVE = 0
    BUMP_FREE = 1
    BUMPED = 2


def column(
    dtype: Any,
    *dims: str | int,
    units: str = "",
    doc: str,
    into: str = "",
    enum: type[IntEnum] | None = None,
) -> Any:
    """Declare one array of a record: element type, dimensions, unit, meaning."""
    return field(
        metadata={
            "dtype": np.dtype(dtype),
            "dims": dims,
            "units": units,
            "doc": doc,
            "into": into,
            "enum": enum,
        }
    )


class Record:
    """Base of all records: checks shapes and types against the declarations."""

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for column_field in fields(self):  # type: ignore[arg-type]
            self._check(column_field.name, column_field.metadata, sizes)
        for column_field in fields(self):  # type: ignore[arg-type]
            into = column_field.metadata["into"]
            if into:
                self._check_offsets(column_field.name, into, sizes)

    def _check(self, name: str, spec: Any, sizes: dict[str, int]) -> None:
        array = getattr(self, name)
        where = f"{type(self).__name__}.{name}"
        if not isinstance(array, np.ndarray) or array.dtype != spec["dtype"]:
            found = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"{where} must be an array of {spec['dtype']}, not {found}")
        if array.ndim != len(spec["dims"]):
            raise ValueError(
                f"{where} must have dimensions {spec['dims']}, not shape {array.shape}"
            )
        for dim, size in zip(spec["dims"], array.shape, strict=True):
            plus = isinstance(dim, str) and dim.endswith("+1")
            key = str(dim).removesuffix("+1")
            expected = dim if isinstance(dim, int) else sizes.setdefault(key, size - plus) + plus
            if size != expected:
                raise ValueError(f"{where} has shape {array.shape}; {dim} should be {expected}")

    def _check_offsets(self, name: str, into: str, sizes: dict[str, int]) -> None:
        offsets = getattr(self, name)
        where = f"{type(self).__name__}.{name}"
        if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"{where} must start at 0 and never decrease")
        if offsets[-1] != sizes.get(into, offsets[-1]):
            raise ValueError(
                f"{where} ends at {offsets[-1]}, but there are {sizes[into]} {into} rows"
            )


@dataclass(frozen=True, slots=True)
class Entries(Record):
    """One row per input record, in input order: who it is and where it came from."""

    name: np.ndarray = column(STRING, "entry", doc="name as given in the input, or its line")
    line: np.ndarray = column("i8", "entry", doc="first line of the record in its file, from 1")
    smiles: np.ndarray = column(STRING, "entry", doc="canonical isomeric SMILES of the parent")
    key: np.ndarray = column(STRING, "entry", doc="content key: equal parents have equal keys")
    note: np.ndarray = column(
        STRING, "entry", doc="what was taken off, chosen or left out, in words"
    )
    extra: np.ndarray = column(
        STRING, "entry", doc="further columns of the input: a JSON object of texts, or empty"
    )


@dataclass(frozen=True, slots=True)
class Ledger(Record):
    """One row per input record: what became of it. Every stage file carries one."""

    status: np.ndarray = column("u1", "entry", enum=Status, doc="where the record stands")
    reason: np.ndarray = column("u1", "entry", enum=Reason, doc="why it left the race")
    detail: np.ndarray = column(STRING, "entry", doc="the reason in words, with the values")

    def marked(
        self, entries: np.ndarray, status: Status, reason: Reason, details: Sequence[str]
    ) -> "Ledger":
        """A new ledger in which some entries have another status, reason and detail."""
        columns = [array.copy() for array in (self.status, self.reason, self.detail)]
        for array, value in zip(columns, (status, reason, details), strict=True):
            array[entries] = value
        return Ledger(*columns)


@dataclass(frozen=True, slots=True)
class Ligands(Record):
    """The molecules to dock, hydrogens included: the states of every READY entry, one row each.

    A state is a form in which the parent may bind: a protonation state, tautomer or stereoisomer
    (told by `smiles`) with one shape of its rings (`conformer`). The rows of one entry stand
    together, entries in ascending order.

    Heavy atoms come first, then hydrogens; both are numbered depth-first over the rigid pieces, so
    that the atoms beyond a rotatable bond are two contiguous ranges, one of heavy atoms and one of
    hydrogens (`torsion_range`, numbers local to the ligand). They are the moved-atom mask of the
    far side's fragment; all other atoms, the root among them, are that of the near side's.
    """

    entry: np.ndarray = column("i8", "ligand", doc="row of the input record in `entries`")
    smiles: np.ndarray = column(STRING, "ligand", doc="canonical isomeric SMILES of the state")
    conformer: np.ndarray = column(
        "u2", "ligand", doc="number of the start conformer among those of equal `smiles`, from 0"
    )
    rotors: np.ndarray = column("f4", "ligand", doc="X-Score's RT: rotor sum of the ligand")
    vina_rotors: np.ndarray = column("f4", "ligand", doc="Vina's N_rot: active torsions")
    ad4_torsions: np.ndarray = column("f4", "ligand", doc="AutoDock4's count of active torsions")
    heavy: np.ndarray = column("i4", "ligand", doc="heavy atoms; they come before the hydrogens")
    first_atom: np.ndarray = column("i8", "ligand+1", into="atom", doc="offsets of atoms")
    first_bond: np.ndarray = column("i8", "ligand+1", into="bond", doc="offsets of bonds")
    first_torsion: np.ndarray = column("i8", "ligand+1", into="torsion", doc="offsets of torsions")
    first_pair: np.ndarray = column("i8", "ligand+1", into="pair", doc="offsets of pair words")
    first_byte: np.ndarray = column("i8", "ligand+1", into="byte", doc="offsets of molecules")
    xyz: np.ndarray = column(
        "f4", "atom", 3, units="angstrom", doc="start conformer, heavy-atom centroid at 0"
    )
    element: np.ndarray = column("u1", "atom", doc="atomic number")
    charge: np.ndarray = column("i1", "atom", units="e", doc="formal charge")
    radius: np.ndarray = column("f4", "atom", units="angstrom", doc="X-Score radius (H: 0)")
    interaction: np.ndarray = column("u1", "atom", enum=Interaction, doc="X-Score class")
    donor: np.ndarray = column(
        "u1", "atom", doc="X-Score donor geometry: 1 straight, 2 angled, 0 none"
    )
    acceptor: np.ndarray = column("u1", "atom", doc="X-Score acceptor geometry: 1, 2, or 0 none")
    logp: np.ndarray = column(
        "f4", "atom", doc="X-Score atomic logP contribution; 0 unless hydrophobic"
    )
    hydrogens: np.ndarray = column("u1", "atom", doc="hydrogens bonded to the atom")
    vina_type: np.ndarray = column("u1", "atom", enum=VinaType, doc="Vina's atom type")
    ad4_type: np.ndarray = column("u1", "atom", enum=Ad4Type, doc="AutoDock4's atom type")
    ad4_charge: np.ndarray = column(
        "f4", "atom", units="e", doc="Gasteiger charge, that of hydrogens on carbon added to it"
    )
    bond: np.ndarray = column("u1", "bond", 2, doc="the two atoms, numbers local to the ligand")
    bond_order: np.ndarray = column("u1", "bond", doc="1, 2, 3; 4 is aromatic")
    torsion_axis: np.ndarray = column(
        "i2", "torsion", 2, doc="atoms of the rotatable bond: near (root) side, far side"
    )
    torsion_range: np.ndarray = column(
        "i2", "torsion", 4, doc="far side: first and one past the last heavy atom, then hydrogen"
    )
    pair_mask: np.ndarray = column(
        "u4",
        "pair",
        doc="bit j of word i * ceil(heavy / 32) + j // 32: heavy atoms i and j are tested for "
        "bumps (different rigid pieces, four or more bonds apart)",
    )
    molecule: np.ndarray = column("u1", "byte", doc="RDKit binary molecule, atoms in this order")


@dataclass(frozen=True, slots=True)
class Receptor(Record):
    """Receptor heavy atoms close enough to the box to be scored."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    element: np.ndarray = column("u1", "atom", doc="atomic number")
    radius: np.ndarray = column("f4", "atom", units="angstrom", doc="X-Score radius")
    interaction: np.ndarray = column("u1", "atom", enum=Interaction, doc="X-Score class")
    logp: np.ndarray = column("f4", "atom", doc="X-Score atomic logP contribution")
    donor: np.ndarray = column(
        "u1", "atom", doc="X-Score donor geometry: 1 straight, 2 angled, 0 none"
    )
    acceptor: np.ndarray = column("u1", "atom", doc="X-Score acceptor geometry: 1, 2, or 0 none")
    root: np.ndarray = column(
        "f4", "atom", 3, units="angstrom", doc="mean position of heavy, non-metal neighbours"
    )
    rooted: np.ndarray = column("u1", "atom", doc="1 where the atom has a root")
    vina_type: np.ndarray = column("u1", "atom", enum=VinaType, doc="Vina's atom type")
    residue: np.ndarray = column("i4", "atom", doc="index of the residue: equal within one residue")
    label: np.ndarray = column(STRING, "atom", doc="chain/residue name/number/atom name")


@dataclass(frozen=True, slots=True)
class ChargedReceptor(Record):
    """Receptor atoms as AutoDock4 sees them: heavy atoms and polar hydrogens, with charges."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    ad4_type: np.ndarray = column("u1", "atom", enum=Ad4Type, doc="AutoDock4's atom type")
    ad4_charge: np.ndarray = column("f4", "atom", units="e", doc="partial charge")
    axis: np.ndarray = column(
        "f4", "atom", 3, doc="unit vector along a donor's bond or between an acceptor's lone pairs"
    )
    normal: np.ndarray = column("f4", "atom", 3, doc="unit normal of an acceptor's lone-pair plane")
    exponent: np.ndarray = column("u1", "atom", doc="power of a donor's angle: 2 on N, 4 on O or S")


@dataclass(frozen=True, slots=True)
class Field(Record):
    """The geometric field on the pocket's grid (point i, j, k at origin + spacing * (i, j, k))."""

    origin: np.ndarray = column("f8", 3, units="angstrom", doc="position of point 0, 0, 0")
    spacing: np.ndarray = column("f8", 1, units="angstrom", doc="distance between points")
    value: np.ndarray = column(
        "i1", 2, "x", "y", "z", doc="plane 0 for heavy atoms, plane 1 for hydrogens; -12 is a bump"
    )
    anchor: np.ndarray = column("f4", "anchor", 3, units="angstrom", doc="where ligands start")


@dataclass(frozen=True, slots=True)
class Audit(Record):
    """What happened to each part of the receptor file: nothing is lost without a row."""

    part: np.ndarray = column(STRING, "row", doc="chain/residue name/number, or a count of them")
    action: np.ndarray = column(STRING, "row", doc="chosen, changed, added, noted, kept, dropped")
    atoms: np.ndarray = column(
        "i4", "row", doc="atoms concerned; kept and dropped ones add up to the file's and to copies"
    )
    reason: np.ndarray = column(STRING, "row", doc="why")


@dataclass(frozen=True, slots=True)
class Poses(Record):
    """Genotypes: x = R(quaternion) * conformer(torsion) + translation (see docs/method.md)."""

    first_pose: np.ndarray = column("i8", "ligand+1", into="pose", doc="offsets of poses")
    first_torsion: np.ndarray = column("i8", "pose+1", into="torsion", doc="offsets of torsions")
    restart: np.ndarray = column("i4", "pose", doc="restart that made the pose")
    translation: np.ndarray = column("f4", "pose", 3, units="angstrom", doc="image of the centroid")
    quaternion: np.ndarray = column("f4", "pose", 4, doc="rotation of the root piece: w, x, y, z")
    torsion: np.ndarray = column(
        "f4", "torsion", units="degree", doc="rotation of the far side, from the start conformer"
    )
    score: np.ndarray = column("i4", "pose", doc="geometric score, larger is better")
    internal_bumps: np.ndarray = column("i4", "pose", doc="bumped pairs within the ligand")
    pocket_bumps: np.ndarray = column("i4", "pose", doc="atoms in receptor cores")
    outside: np.ndarray = column("i4", "pose", doc="atoms outside the box")


@dataclass(frozen=True, slots=True)
class Verdicts(Record):
    """The filter's word on each kept pose, in the same order as the kept poses."""

    verdict: np.ndarray = column("u1", "pose", enum=Verdict, doc="class of the pose")
    cluster: np.ndarray = column("i4", "pose", doc="cluster within the ligand, -1 for bumped poses")


@dataclass(frozen=True, slots=True)
class Refinement(Record):
    """Energies of refined poses in the field that refined them: with the receptor and within."""

    before: np.ndarray = column("f4", "pose", units="kcal/mol", doc="energy of the kept pose")
    after: np.ndarray = column("f4", "pose", units="kcal/mol", doc="lowest energy found from there")


@dataclass(frozen=True, slots=True)
class Scores(Record):
    """Best pose and score per ligand; larger is better. Terms are columns beside this record."""

    first_pose: np.ndarray = column("i8", "ligand+1", into="pose", doc="offsets of scored poses")
    restart: np.ndarray = column("i4", "pose", doc="restart that made the pose")
    best: np.ndarray = column("i8", "ligand", doc="row of the best pose, -1 where none")
    score: np.ndarray = column("f4", "ligand", doc="score of the best pose; failed: see the ledger")


@dataclass(frozen=True, slots=True)
class FoundCavity:
    """A place for ligands that a search of the receptor found; it is not stored."""

    rank: int
    """1 is the best."""
    center: tuple[float, float, float]
    """Angstrom."""
    score: float
    """In the scale of the program that found it; larger is better."""
    facts: str
    """What else is known of it, in words."""


@dataclass(frozen=True, slots=True)
class Checks(Record):
    """Whether the scores of a chunk are believable: one row a check (`engine.watch`)."""

    check: np.ndarray = column("u1", "row", enum=Check, doc="what was looked for")
    suspect: np.ndarray = column("i8", "row", doc="suspect ligands; 0 for drift")
    seen: np.ndarray = column("i8", "row", doc="ligands looked at")
    measure: np.ndarray = column("f4", "row", doc="share of suspect ligands; for drift a distance")
    alarm: np.ndarray = column("u1", "row", doc="1 where the measure is larger than it should be")
    detail: np.ndarray = column(STRING, "row", doc="what was found, in words")
