"""Poses and receptors as PDBQT, the format of AutoDock, Vina and Meeko.

Ligands carry the remarks from which Meeko restores bond orders and hydrogens on carbon.
"""

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence

import gemmi
import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.ligands.rotatable_bonds import Pieces, neighbours_of, rigid_pieces
from ligen_py.molecules.stored import molecule_of
from ligen_py.molecules.typing.ad4 import ligand_types
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.molecules.typing.vina import active_torsions
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.pocket import Receptor

REMARK_PAIRS = 10
"""Pairs of numbers on one line of a remark, which must not be longer than 80 characters."""

LIGAND = gemmi.SeqId(1, " ")

LINE = 79
"""Characters of a line, but for the SMILES."""

SHOWN = ("name", "score", "restart", "pose", "energy")
"""Items that a ligand's remarks give."""

ROUNDED = 3
"""Decimal places of coordinates and charges."""


def ligand_pdbqt(molecule: np.ndarray, xyz: np.ndarray, items: Mapping[str, str]) -> str:
    """A pose as PDBQT: hydrogens on carbon merged, torsions as Meeko chooses them.

    Args:
        molecule: as stored, u1.
        xyz: positions (atoms, 3) in the molecule's order, Angstrom.
        items: what is known of the pose; remarks give its name, scores and, where it has one,
            Vina's affinity as Vina itself writes it.
    """
    mol = molecule_of(molecule)
    graph = Graph.of(mol)
    types, charges = ligand_types(graph, gasteiger(mol))
    pieces, kept = _pieces(graph, types)
    atoms = [kept[old] for old in pieces.order]
    number = {atom: place for place, atom in enumerate(atoms, start=1)}
    lines = []
    if "vina.affinity" in items:
        affinity = float(items["vina.affinity"])
        lines.append(f"REMARK VINA RESULT: {affinity:9.3f}      0.000      0.000")
    lines += [f"REMARK  {key} = {_printable(items[key])}"[:LINE] for key in SHOWN if key in items]
    lines += _smiles_remarks(mol, graph, number)
    written = [
        _atom(place, _name(mol, atom), "UNL", "", LIGAND, xyz[atom], charges[atom], types[atom])
        for place, atom in enumerate(atoms, start=1)
    ]
    lines += _tree(written, pieces)
    return "\n".join([*lines, f"TORSDOF {len(pieces.torsions)}"]) + "\n"


def _printable(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)


def _pieces(graph: Graph, types: np.ndarray) -> tuple[Pieces, list[int]]:
    """The rigid pieces of the atoms that are written, and those atoms in the molecule's order."""
    kept = np.flatnonzero(types != Ad4Type.NONE).tolist()
    place = {atom: i for i, atom in enumerate(kept)}
    around = neighbours_of(graph)
    near = [[place[other] for other in around[atom] if other in place] for atom in kept]
    cuts = [(place[a], place[b]) for a, b in graph.bond[active_torsions(graph)].tolist()]
    return rigid_pieces(near, cuts), kept


def _tree(atoms: Sequence[str], pieces: Pieces) -> Iterator[str]:
    """The lines of the atoms between those that open and close the root and its branches."""
    yield "ROOT"
    inside: list[tuple[int, str]] = []
    first = pieces.torsions[0].first if pieces.torsions else len(atoms)
    yield from (*atoms[:first], "ENDROOT")
    starts = [torsion.first for torsion in pieces.torsions[1:]] + [len(atoms)]
    for torsion, following in zip(pieces.torsions, starts, strict=False):
        while inside and torsion.first >= inside[-1][0]:
            yield f"END{inside.pop()[1]}"
        branch = f"BRANCH{torsion.near + 1:4d}{torsion.far + 1:4d}"
        inside.append((torsion.last, branch))
        yield from (branch, *atoms[torsion.first : following])
    yield from (f"END{branch}" for _, branch in reversed(inside))


def _smiles_remarks(mol: Chem.Mol, graph: Graph, number: dict[int, int]) -> Iterator[str]:
    """From which Meeko makes the whole molecule: SMILES, atoms in its order, polar hydrogens."""
    marked = Chem.Mol(mol)
    for atom in marked.GetAtoms():
        atom.SetIntProp("number", atom.GetIdx())
    bare = Chem.RemoveHs(marked)
    smiles = Chem.MolToSmiles(bare)
    order = list(bare.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])
    origin = [bare.GetAtomWithIdx(i).GetIntProp("number") for i in order]
    place = {atom: i for i, atom in enumerate(origin, start=1)}
    yield f"REMARK SMILES {smiles}"
    pairs = [(i, number[atom]) for atom, i in place.items() if atom in number]
    yield from _pair_lines("SMILES IDX", pairs)
    hydrogens = [
        (place[int(graph.far[graph.near == atom][0])], i)
        for atom, i in number.items()
        if graph.element[atom] == 1 and atom not in place
    ]
    yield from _pair_lines("H PARENT", hydrogens)


def _pair_lines(name: str, pairs: Sequence[tuple[int, int]]) -> Iterator[str]:
    for start in range(0, len(pairs), REMARK_PAIRS):
        some = pairs[start : start + REMARK_PAIRS]
        yield f"REMARK {name} " + " ".join(f"{one} {two}" for one, two in some)


def _name(mol: Chem.Mol, atom: int) -> str:
    return str(mol.GetAtomWithIdx(atom).GetSymbol())


def receptor_pdbqt(receptor: Receptor, charged: Ad4Receptor) -> str:
    """A rigid receptor as PDBQT, each heavy atom followed by its polar hydrogens.

    Args:
        receptor: heavy atoms near the site.
        charged: the same atoms, then hydrogens, with AutoDock4's types and charges.
    """
    heavy = len(receptor.xyz)
    own: dict[int, list[int]] = {}
    for hydrogen, parent in parents(charged.xyz[heavy:], receptor.xyz):
        own.setdefault(parent, []).append(heavy + hydrogen)
    lines: list[str] = []
    for i, label in enumerate(receptor.label):
        chain, residue, number, name = str(label).split("/")
        place = seqid(number)
        for atom, written in [(i, name), *((atom, "H") for atom in own.get(i, []))]:
            serial = len(lines) % 99_999 + 1
            values = charged.xyz[atom], charged.partial_charge[atom], charged.type[atom]
            lines.append(_atom(serial, written, residue[:3], chain[-1:], place, *values))
    return "\n".join(lines) + "\n"


def seqid(number: str) -> gemmi.SeqId:
    """The number of a residue and its insertion code, which gemmi's own reader makes small.

    >>> seqid("-52A")
    <gemmi.SeqId -52A>
    """
    digits = number.rstrip(string.ascii_letters)
    return gemmi.SeqId(int(digits), number[len(digits) :] or " ")


def parents(hydrogens: np.ndarray, heavy: np.ndarray) -> Iterable[tuple[int, int]]:
    """Number of each hydrogen (hydrogens, 3) and of the nearest heavy atom (atoms, 3)."""
    for number, xyz in enumerate(hydrogens):
        yield number, int(np.linalg.norm(heavy - xyz, axis=1).argmin())


def _atom(
    number: int,
    name: str,
    residue: str,
    chain: str,
    place: gemmi.SeqId,
    xyz: np.ndarray,
    charge: float,
    kind: int,
) -> str:
    x, y, z = (round(float(value), ROUNDED) + 0.0 for value in xyz)
    padded = name if len(name) > 3 else f" {name}"
    # Beyond four columns of PDBQT only the last digits are left.
    short = place.num if -1000 < place.num < 10_000 else place.num % 10_000
    return (
        f"ATOM  {number:5d} {padded:4.4s} {residue:3s} {chain:1s}{short:4d}{place.icode}   "
        f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00    {charge:+6.3f} {type_name(kind)}"
    )


def type_name(kind: int) -> str:
    """An atom type as PDBQT spells it.

    >>> type_name(Ad4Type.CL), type_name(Ad4Type.OA)
    ('Cl', 'OA')
    """
    name = Ad4Type(kind).name
    return name if name in ("HD", "NA", "OA", "SA") else name.capitalize()
