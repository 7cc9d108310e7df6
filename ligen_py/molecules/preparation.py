"""One input record to one ligand: parent, hydrogens, conformer, torsions, atom types.

What goes wrong with a molecule is a result (`Prepared.reason`), never an exception. The conformer
follows from the parent molecule and the seed alone, so a molecule has the same one wherever it
stands in a library and however the library is cut.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdDistGeom, rdMolDescriptors

from ligen_py.molecules import ad4, vina
from ligen_py.molecules.graph import Graph, matches
from ligen_py.molecules.pieces import neighbours_of, pair_mask, rigid_pieces, rotatable_bonds
from ligen_py.molecules.reading import Record
from ligen_py.molecules.xscore import SUPPORTED, ligand_types
from ligen_py.records import Reason, Status

RULES = frozenset((Reason.TOO_MANY_ATOMS, Reason.TOO_MANY_TORSIONS))
"""Reasons by which a sound molecule is turned away; all others are failures."""

BOND_LENGTHS = (0.5, 3.5)
"""Angstrom; coordinates with a bond outside these are no conformer."""
FLAT = 0.01
"""Angstrom; coordinates whose z vary less are a drawing."""
ATTEMPTS = 20
"""Attempts of the conformer generator, from distances and again from random coordinates. What
succeeds at all takes a few; stereocentres that exclude each other would go on until the time limit.
"""
DETAIL_LENGTH = 200
"""Most characters of a message that go into the ledger."""

UNSUPPORTED = "[" + ";".join(f"!#{number}" for number in sorted(SUPPORTED)) + "]"
NO_PROPERTIES = int(Chem.PropertyPickleOptions.NoProps)


class Rules(NamedTuple):
    """How records become ligands; fields as in the section `parse` of the settings."""

    max_atoms: int
    max_torsions: int
    embed: str
    seed: int
    time_limit: float


@dataclass(frozen=True)
class State:
    """One row of `records.Ligands`: a form of a molecule with a start conformer."""

    graph: Graph
    """Atoms in docking order."""
    partial: np.ndarray
    """f8 (atoms,): Gasteiger charges."""
    shape: dict[str, np.ndarray]
    """Its rows of those columns of `records.Ligands` that do not follow from the graph."""

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Its rows of all columns of `records.Ligands`, offsets and entry apart."""
        return columns_of([self])


@dataclass(frozen=True)
class Prepared:
    """What became of one record."""

    smiles: str = ""
    key: str = ""
    reason: Reason = Reason.NONE
    detail: str = ""
    note: str = ""
    states: tuple[State, ...] = ()
    """Of a ready record."""

    @property
    def status(self) -> Status:
        """READY, REJECTED by a rule or FAILED."""
        if self.reason == Reason.NONE:
            return Status.READY
        return Status.REJECTED if self.reason in RULES else Status.FAILED


class _UnusableError(Exception):
    """Ends the preparation of a molecule."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def prepare(record: Record, rules: Rules) -> Prepared:
    """Make a ligand of a record, or say why it cannot be one."""
    smiles = key = ""
    with _rdkit_messages() as messages:
        try:
            parent = parent_of(_molecule(record, messages))
            _require_supported(parent)
            smiles = canonical_smiles(parent)
            key = content_key(smiles)
            return Prepared(smiles, key, states=(_state(parent, smiles, key, rules),))
        except _UnusableError as error:
            return Prepared(smiles, key, error.reason, _short(str(error)))
        except Exception as error:  # RDKit raises many kinds; none may cost a neighbour
            detail = f"RDKit: {type(error).__name__}: {error}"
            return Prepared(smiles, key, Reason.UNPARSABLE, _short(detail))


def lost(record: Record, timed_out: bool, exit_code: int, rules: Rules) -> Prepared:
    """The result for a record on which a worker process was lost."""
    if timed_out:
        detail = f"not finished in {rules.time_limit:g} s of processor time"
        return Prepared(reason=Reason.TIMED_OUT, detail=detail)
    detail = f"RDKit crashed on the record at line {record.line} (exit code {exit_code})"
    return Prepared(reason=Reason.UNPARSABLE, detail=detail)


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__()
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _rdkit_messages() -> Iterator[list[str]]:
    """Collect what RDKit would print to stderr."""
    messages: list[str] = []
    handler = _Collector(messages)
    logger = _rdkit_logger()
    logger.addHandler(handler)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)


@cache
def _rdkit_logger() -> logging.Logger:
    rdBase.LogToPythonLogger()
    logger = logging.getLogger("rdkit")
    logger.propagate = False
    logger.handlers.clear()
    return logger


def _short(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= DETAIL_LENGTH else line[: DETAIL_LENGTH - 3] + "..."


def _molecule(record: Record, messages: list[str]) -> Chem.Mol:
    if record.reason != Reason.NONE:
        raise _UnusableError(record.reason, record.text)
    if record.kind == "mol":
        if "\nM  END" not in record.text:
            raise _UnusableError(Reason.UNPARSABLE, "no 'M  END' line; the record is cut short")
        mol = Chem.MolFromMolBlock(record.text, removeHs=False)
    elif record.kind == "mol2":
        mol = Chem.MolFromMol2Block(record.text, removeHs=False)
    else:
        if not (record.text.isascii() and record.text.isprintable()):
            raise _UnusableError(Reason.UNPARSABLE, f"not a SMILES: {record.text!r}")
        mol = Chem.MolFromSmiles(record.text, _smiles_rules())
    if mol is None:
        said = messages[0].partition("] ")[2] if messages else "RDKit cannot read the record"
        raise _UnusableError(Reason.UNPARSABLE, said)
    return mol


@cache
def _smiles_rules() -> Chem.SmilesParserParams:
    """A faulty extension behind a SMILES costs the extension, not the molecule."""
    result = Chem.SmilesParserParams()
    result.parseName = False
    result.strictCXSMILES = False
    return result


def parent_of(mol: Chem.Mol) -> Chem.Mol:
    """The molecule without its salts and solvents.

    Of several fragments the one with carbon, then with the most heavy atoms, then the heaviest,
    then the first by SMILES.
    """
    if len(Chem.GetMolFrags(mol)) < 2:
        return mol
    return min(Chem.GetMolFrags(mol, asMols=True), key=_rank)


def _rank(fragment: Chem.Mol) -> tuple[bool, int, float, str]:
    carbon = any(atom.GetAtomicNum() == 6 for atom in fragment.GetAtoms())
    weight = round(rdMolDescriptors.CalcExactMolWt(fragment), 3)
    return not carbon, -fragment.GetNumHeavyAtoms(), -weight, canonical_smiles(fragment)


def canonical_smiles(mol: Chem.Mol) -> str:
    """Canonical isomeric SMILES, hydrogens implicit."""
    return str(Chem.MolToSmiles(Chem.RemoveHs(mol, sanitize=False)))


def content_key(smiles: str) -> str:
    """16 hexadecimal digits that stand for a parent molecule."""
    return hashlib.sha256(smiles.encode()).hexdigest()[:16]


def _require_supported(mol: Chem.Mol) -> None:
    strange = {mol.GetAtomWithIdx(i).GetSymbol() for (i,) in matches(mol, UNSUPPORTED)}
    if strange:
        names = ", ".join(sorted("a dummy atom" if name == "*" else name for name in strange))
        raise _UnusableError(Reason.UNSUPPORTED_ELEMENT, f"no atom type for {names}")
    if not mol.GetNumHeavyAtoms():
        raise _UnusableError(Reason.NO_ATOMS, "the record has no heavy atom")


def _state(parent: Chem.Mol, smiles: str, key: str, rules: Rules) -> State:
    placed = rules.embed == "missing" and has_conformer(parent)
    mol = parent if placed else (Chem.MolFromSmiles(smiles) or parent)
    if Chem.NeedsHs(mol):
        mol = Chem.AddHs(mol, addCoords=placed)
    if mol.GetNumAtoms() > rules.max_atoms:
        detail = f"{mol.GetNumAtoms()} atoms with hydrogens, at most {rules.max_atoms}"
        raise _UnusableError(Reason.TOO_MANY_ATOMS, detail)
    graph = Graph.of(mol)
    rotatable = rotatable_bonds(mol, graph)
    if len(rotatable) > rules.max_torsions:
        detail = f"{len(rotatable)} rotatable bonds, at most {rules.max_torsions}"
        raise _UnusableError(Reason.TOO_MANY_TORSIONS, detail)
    if not placed:
        _embed(mol, rules.seed, key)
    return _docking_order(mol, graph, rotatable, smiles)


def has_conformer(mol: Chem.Mol) -> bool:
    """Whether a molecule has 3-D coordinates, no flat drawing, with bonds of possible lengths."""
    if not mol.GetNumConformers() or not mol.GetConformer().Is3D():
        return False
    xyz = mol.GetConformer().GetPositions()
    z = xyz[:, 2]
    if len(z) > 1 and z.max() - z.min() < FLAT:
        return False
    first, second = Chem.GetAdjacencyMatrix(mol).nonzero()
    along = xyz[first] - xyz[second]
    squares = np.einsum("ij,ij->i", along, along)
    shortest, longest = BOND_LENGTHS
    fine = (squares > shortest**2) & (squares < longest**2)
    return bool(fine.all() and np.isfinite(xyz).all())


def _embed(mol: Chem.Mol, seed: int, key: str) -> None:
    """Give a molecule an ETKDGv3 conformer; from random coordinates where that fails."""
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    seed_of_molecule = int.from_bytes(digest[:4], "little") >> 1
    for random in (False, True):
        parameters = rdDistGeom.ETKDGv3()
        options = {
            "randomSeed": seed_of_molecule,
            "maxIterations": ATTEMPTS,
            "trackFailures": True,
            "useRandomCoords": random,
            "ignoreSmoothingFailures": random,
        }
        for name, value in options.items():
            setattr(parameters, name, value)
        if rdDistGeom.EmbedMolecule(mol, parameters) == 0:
            return
    counts = list(parameters.GetFailureCounts())
    cause = rdDistGeom.EmbedFailureCauses.values[counts.index(max(counts))]
    detail = f"no conformer in 2 x {ATTEMPTS} attempts, most often for {cause.name.lower()}"
    raise _UnusableError(Reason.EMBEDDING_FAILED, detail)


def _docking_order(
    mol: Chem.Mol, graph: Graph, rotatable: list[tuple[int, int]], smiles: str
) -> State:
    """Renumber a molecule with hydrogens and a conformer, and take its columns."""
    pieces = rigid_pieces(neighbours_of(graph), rotatable)
    order, axes, far_sides = pieces.heavy_first(graph.element > 1)
    heavy = int(np.count_nonzero(graph.element > 1))
    mol = Chem.RenumberAtoms(mol, order)
    graph = graph.renumbered(np.array(order))
    shape = {
        "smiles": np.array([smiles], object),
        "conformer": np.array([0], "u2"),
        "heavy": np.array([heavy], "i4"),
        "xyz": _centre(mol, heavy),
        "torsion_axis": axes.astype("i2"),
        "torsion_range": far_sides.astype("i2"),
        "pair_mask": pair_mask(graph.bond, far_sides, heavy),
        "molecule": np.frombuffer(mol.ToBinary(NO_PROPERTIES), "u1"),
    }
    return State(graph, ad4.gasteiger(mol), shape)


def columns_of(states: Sequence[State]) -> dict[str, np.ndarray]:
    """The columns of `records.Ligands` of some states (at least one), offsets and entry apart."""
    shapes = [state.shape for state in states]
    return {name: np.concatenate([shape[name] for shape in shapes]) for name in shapes[0]} | _typed(
        states
    )


def _typed(states: Sequence[State]) -> dict[str, np.ndarray]:
    """The columns that follow from the graphs, for all states at once."""
    graph = Graph.joined([state.graph for state in states])
    atoms = [len(state.partial) for state in states]
    first_atom = np.cumsum([0, *atoms[:-1]])
    owner = np.repeat(np.arange(len(states)), atoms)
    types = ligand_types(graph)
    ad4_type, ad4_charge = ad4.ligand_types(
        graph, np.concatenate([state.partial for state in states])
    )
    active = vina.active_torsions(graph)
    turning = owner[graph.bond[active, 0]]

    def sums(ligand: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(ligand, values, len(states)).astype("f4")

    return {
        "rotors": sums(owner, types.rotors),
        "vina_rotors": sums(turning, vina.rotors(graph, active)),
        "ad4_torsions": sums(turning),
        "element": graph.element,
        "charge": graph.charge,
        "radius": types.radius,
        "interaction": types.interaction,
        "donor": types.donor,
        "acceptor": types.acceptor,
        "hydrogens": types.hydrogens,
        "vina_type": vina.ligand_types(graph),
        "ad4_type": ad4_type,
        "ad4_charge": ad4_charge,
        "bond": (graph.bond - first_atom[owner[graph.bond]]).astype("u1"),
        "bond_order": graph.order,
    }


def _centre(mol: Chem.Mol, heavy: int) -> np.ndarray:
    """Move the conformer's heavy-atom centroid to 0; returns the coordinates as float32."""
    conformer = mol.GetConformer()
    xyz: np.ndarray = conformer.GetPositions()
    xyz = (xyz - xyz[:heavy].mean(axis=0)).astype("f4")
    conformer.SetPositions(xyz.astype("f8"))
    return xyz
