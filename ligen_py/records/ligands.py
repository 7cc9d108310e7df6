"""Input records and the ligands made from them: the file of `parse`."""

from dataclasses import dataclass

import numpy as np

from ligen_py.functions import typed_records
from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.molecule import agree
from ligen_py.records.properties import Properties

SIMPLER = "in one state and conformer: all of them passed a limit, or crashed their worker"
"""Begins the note of a molecule of which all states and conformers cost a worker its life."""

CRASHED = "RDKit crashed"
"""Begins the detail of a record of which one state and conformer crashed the worker, too."""


@dataclass(frozen=True, slots=True)
class Entries(Record):
    """One row per input record, in input order: its name, origin and parent."""

    name: np.ndarray = column(STRING, "entry", doc="name as given in the input, or its line")
    line: np.ndarray = column("i8", "entry", doc="first line of the record in its file, from 1")
    smiles: np.ndarray = column(
        STRING,
        "entry",
        doc="canonical isomeric SMILES of the parent, with ChemAxon's extension where its "
        "centres are relative or racemic",
    )
    key: np.ndarray = column(STRING, "entry", doc="content key: equal parents have equal keys")
    note: np.ndarray = column(STRING, "entry", doc="what was removed, chosen or excluded, in words")
    extra: np.ndarray = column(
        STRING, "entry", doc="further columns of the input: a JSON object of texts, or empty"
    )


def past_limits(entries: Entries, ledger: Ledger) -> np.ndarray:
    """Of which records a limit of time or memory, or a crash, has decided: bool (entry,).

    On another machine, or with other shapes known, they may come out otherwise.
    """
    return (
        np.array([note.startswith(SIMPLER) for note in entries.note], bool)
        | np.array([detail.startswith(CRASHED) for detail in ledger.detail], bool)
        | np.isin(ledger.reason, (Reason.TIMED_OUT, Reason.OUT_OF_MEMORY))
    )


@dataclass(frozen=True, slots=True)
class Ligands(Record):
    """The molecules to dock, hydrogens included: the states of every READY entry, one row each.

    A state is a form in which the parent may bind: a protonation state, tautomer or stereoisomer
    (see `smiles`) with one shape of its rings (`conformer`). The rows of one entry stand
    together, entries in ascending order.

    Heavy atoms come first, then hydrogens; both are numbered depth-first over the rigid pieces, so
    that the atoms beyond a rotatable bond are two contiguous ranges, one of heavy atoms and one of
    hydrogens (`torsion_range`, numbers local to the ligand). They are the moved-atom mask of the
    far side's fragment; all other atoms, the root among them, are that of the near side's.

    What a scoring function knows of the atoms beside, such as their types, is a group of its own
    (`ligen_py.records.functions`).
    """

    entry: np.ndarray = column("i8", "ligand", doc="row of the input record in `entries`")
    smiles: np.ndarray = column(STRING, "ligand", doc="canonical isomeric SMILES of the state")
    conformer: np.ndarray = column(
        "u2", "ligand", doc="number of the start conformer among those of equal `smiles`, from 0"
    )
    state_cost: np.ndarray = column(
        "f4",
        "ligand",
        units="kcal/mol",
        doc="free energy of the protonation state and tautomer above the dominant one's in water",
    )
    strain: np.ndarray = column(
        "f4",
        "ligand",
        units="kcal/mol",
        doc="energy of the start conformer's rigid pieces above that of their lowest shapes; 0 "
        "where it was given or made whole",
    )
    isomers: np.ndarray = column(
        "u2", "ligand", doc="stereoisomers that are docked of this protonation state and tautomer"
    )
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
    molecule: np.ndarray = column(
        "u1", "byte", doc="atoms, bonds and stereo (see Molecules), atoms in this order"
    )

    def bounds(self) -> Bounds:
        """Atoms, torsions and types as kernels rely on them."""
        atoms, torsions = np.diff(self.first_atom), np.diff(self.first_torsion)
        heavy = self.heavy
        yield "entry", (self.entry >= 0) & (np.diff(self.entry, prepend=0) >= 0)
        yield "heavy", (heavy >= 1) & (heavy <= atoms)
        yield "xyz", np.isfinite(self.xyz)
        for name, each in (("bond", np.diff(self.first_bond)), ("torsion_axis", torsions)):
            ends = getattr(self, name)
            yield name, (ends >= 0) & (ends < np.repeat(atoms, each)[:, None])
        yield "torsion_axis", self.torsion_axis < np.repeat(heavy, torsions)[:, None]
        first, last, hydrogen, end = self.torsion_range.T
        border, full = np.repeat(heavy, torsions), np.repeat(atoms, torsions)
        yield "torsion_range", (first >= 0) & (first <= last) & (last <= border)
        yield "torsion_range", (hydrogen >= border) & (hydrogen <= end) & (end <= full)
        yield "molecule", agree(self.molecule, self.first_byte, self.first_atom, self.element)
        yield "pair_mask", np.diff(self.first_pair) == heavy * -(-heavy // 32)


def heavy_atoms(ligands: Ligands) -> np.ndarray:
    """Which atoms are heavy: bool (atoms,)."""
    owner = np.repeat(np.arange(len(ligands.heavy)), np.diff(ligands.first_atom))
    number = np.arange(len(ligands.xyz)) - ligands.first_atom[:-1][owner]
    return number < ligands.heavy[owner]


LIGANDS = Kind(
    "ligands",
    6,
    {"entries": Entries, "ledger": Ledger, "ligands": Ligands},
    lambda: {"properties": Properties, **typed_records("LIGANDS")},
)
