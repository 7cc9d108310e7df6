"""The receptor's atoms near a site, with what scoring functions type them by."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from rdkit import Chem

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS
from ligen_py.molecules.receptor import protonation
from ligen_py.molecules.receptor.charges import Charged, charge
from ligen_py.molecules.receptor.heavy import Heavy
from ligen_py.molecules.receptor.hydrogens import reach
from ligen_py.molecules.receptor.perception import perceive
from ligen_py.molecules.receptor.selection import LINKS, Selection, linked
from ligen_py.molecules.receptor.states import RING_NITROGENS
from ligen_py.molecules.receptor.templates import Template, as_given, cofactor, of_molecule
from ligen_py.molecules.residues import BACKBONE, SAME_AS
from ligen_py.molecules.typing.input import ReceptorAtoms
from ligen_py.molecules.typing.xscore_cofactors import cofactor_types, with_hydrogens
from ligen_py.molecules.typing.xscore_residues import (
    ReceptorType,
    is_standard,
    receptor_type,
    with_role,
)
from ligen_py.records.column import STRING
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.pocket import Receptor


def receptor_atoms(
    selection: Selection,
    kept: np.ndarray,
    near: np.ndarray,
    hydrogens: protonation.Protonated,
    cofactors: Mapping[str, str],
) -> tuple[ReceptorAtoms, Charged, dict[int, str]]:
    """The atoms in `near` with what they are typed by; neighbours may be any of the kept atoms.

    `hydrogens` take the place of the file's in their residues. `cofactors` are SMILES by name. Also
    the SMILES that were perceived, by number of the residue.
    """
    atoms, index = selection.atoms, np.flatnonzero(near)
    bonds = _bonds(selection, selection.pairs[kept[selection.pairs].all(axis=1)])
    root, rooted = _roots(selection.xyz, bonds)
    bonded: dict[int, list[int]] = {}
    for one, two in bonds.tolist():
        bonded.setdefault(one, []).append(two)
        bonded.setdefault(two, []).append(one)
    types: dict[int, ReceptorType] = {}
    perceived: dict[int, Template] = {}
    smiles: dict[int, str] = {}
    for number, residue in selection.residues(near):
        held = {} if number in hydrogens.residues else _held(selection, residue)
        known = dict(_cofactor(selection, residue, bonded, cofactors, held))
        if not known:
            mol, known = _perceived(selection, residue, bonded, held)
            perceived |= known
            if mol:
                smiles[number] = Chem.MolToSmiles(mol)
        types |= _types(selection, residue, bonded, known)
    typed = [types[atom] for atom in index.tolist()]
    common = Receptor(
        xyz=selection.xyz[index].astype("f4"),
        element=atoms.element[index],
        residue=np.unique(selection.residue[index], return_inverse=True)[1].astype("i4"),
        label=labels(selection, index),
    )
    charged = _charged(selection, index, bonded, typed, hydrogens, cofactors, perceived)
    # A residue is in one state for every function.
    for row, role in charged.roles.items():
        typed[row] = with_role(typed[row], role)
    found = ReceptorAtoms(
        common,
        _roles(selection, index, typed),
        [atoms.element[bonded.get(atom, [])] for atom in index.tolist()],
        typed,
        root[index],
        rooted[index],
        charged.receptor,
    )
    return found, charged, smiles


def _charged(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    typed: list[ReceptorType],
    hydrogens: protonation.Protonated,
    cofactors: Mapping[str, str],
    perceived: Mapping[int, Template],
) -> Charged:
    """The heavy atoms `index` with the polar hydrogens of their residues, and charges."""
    atoms, row = selection.atoms, {atom: place for place, atom in enumerate(index.tolist())}
    names = [atoms.place[atom].residue for atom in row]
    heavy = Heavy(
        xyz=selection.xyz[index],
        symbol=atoms.symbol[index].tolist(),
        name=atoms.name[index].tolist(),
        residue=selection.residue[index],
        # The state that PDB2PQR chose is not that of the file's name.
        residue_name=[
            SAME_AS.get(name, name) if number in hydrogens.residues else name
            for name, number in zip(names, selection.residue[index].tolist(), strict=True)
        ],
        role=_roles(selection, index, typed),
        bonded=[[row[other] for other in bonded.get(atom, ()) if other in row] for atom in row],
        free=frozenset(free_acids(selection)),
    )
    of_file = np.flatnonzero(selection.open & ~selection.heavy)
    of_file = of_file[~np.isin(selection.residue[of_file], list(hydrogens.residues))]
    known = np.concatenate([hydrogens.xyz, selection.xyz[of_file]])
    templates = {row[atom]: template for atom, template in perceived.items()}
    charged = charge(heavy, known, cofactors, templates, hydrogens.residues)
    mine = charged.given >= len(hydrogens.xyz)
    given = of_file[charged.given[mine] - len(hydrogens.xyz)]
    return replace(charged, given=given, added=int((~mine).sum()))


def _bonds(selection: Selection, pairs: np.ndarray) -> np.ndarray:
    """Pairs that are covalent bonds in a residue or of a hetero group, or links of a chain."""
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in selection.atoms.symbol])
    first, second = pairs.T
    delta = selection.xyz[first] - selection.xyz[second]
    bonded = np.sqrt((delta**2).sum(axis=1)) < radius[first] + radius[second] + BOND_TOLERANCE
    one, two = selection.residue[pairs].T
    tied = ~(selection.polymer[one] & selection.polymer[two])
    tied &= ~(selection.water[one] | selection.water[two])
    return pairs[(bonded & ((one == two) | tied)) | linked(selection, pairs, LINKS)]


def _roots(xyz: np.ndarray, bonds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean position (atoms, 3) of each atom's bonded neighbours, and whether it has any."""
    total, count = np.zeros((len(xyz), 3)), np.zeros(len(xyz), np.int64)
    for one, two in ((bonds[:, 0], bonds[:, 1]), (bonds[:, 1], bonds[:, 0])):
        np.add.at(total, one, xyz[two])
        np.add.at(count, one, 1)
    return total / np.maximum(count, 1)[:, None], count > 0


def _types(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    known: Mapping[int, Template],
) -> dict[int, ReceptorType]:
    """X-Score types of one residue: from its table, or from its geometry where it has none.

    The geometry includes the atoms of other residues that are bound to it. In a modified amino acid
    the backbone is typed as in any other, or as in proline. Hydrogens, where they are known, say
    which nitrogens and oxygens give and take.
    """
    atoms, place = selection.atoms, selection.atoms.place[index[0]]
    inside = index.tolist()
    outside = sorted({other for i in inside for other in bonded.get(i, ())} - set(inside))
    if is_standard(place.residue):
        standard = {i: receptor_type(place.residue, atoms.name[i], atoms.symbol[i]) for i in inside}
        # A hydroxyl that is bound to a ligand is an ester or ether.
        tied = [i for i in inside if atoms.symbol[i] == "O" and {*bonded.get(i, ())} & {*outside}]
        return standard | {i: with_role(standard[i], Interaction.ACCEPTOR) for i in tied}
    everyone = inside + outside
    found = cofactor_types(atoms.symbol[everyone].tolist(), selection.xyz[everyone])
    types = dict(zip(inside, found, strict=False))
    for i, template in known.items():
        bonds = len(bonded.get(i, ()))
        takes = template.kind == Ad4Type.NA
        types[i] = with_hydrogens(types[i], atoms.symbol[i], bonds, template.hydrogens, takes)
    if selection.polymer[selection.residue[index[0]]]:
        for i in inside:
            if atoms.name[i] in (*BACKBONE, "OXT") and atoms.symbol[i] in ("C", "N", "O"):
                # A nitrogen with three bonds, as in hydroxyproline, has no hydrogen to give.
                is_tertiary = atoms.name[i] == "N" and len(bonded.get(i, ())) > 2
                like = "PRO" if is_tertiary else "ALA"
                types[i] = receptor_type(like, atoms.name[i], atoms.symbol[i])
    return types


def _cofactor(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    cofactors: Mapping[str, str],
    held: Mapping[int, int],
) -> Iterator[tuple[int, Template]]:
    """Atoms of a residue whose SMILES is known, and what they are."""
    inside = index.tolist()
    name = selection.atoms.place[inside[0]].residue
    if not is_standard(name):
        symbols = [selection.atoms.symbol[i] for i in inside]
        around, others = _around(inside, bonded), {*inside}
        ties = {
            row: selection.atoms.symbol[other]
            for row, i in enumerate(inside)
            for other in reversed(bonded.get(i, ()))
            if other not in others
        }
        given = [held.get(i, 0) for i in inside] if held else []
        for own, template in cofactor(name, symbols, around, ties, cofactors, given).items():
            yield inside[own], template


def _held(selection: Selection, index: np.ndarray) -> dict[int, int]:
    """Polar hydrogens of the file on the atoms of a residue that has one; else nothing."""
    polar = index[np.isin(selection.atoms.symbol[index], ("N", "O", "S"))]
    own = selection.open & ~selection.heavy & (selection.residue == selection.residue[index[0]])
    count = dict.fromkeys(polar.tolist(), 0)
    for place in selection.xyz[own]:
        distance = np.linalg.norm(selection.xyz[index] - place, axis=1)
        nearest = int(index[distance.argmin()])
        if nearest in count and distance.min() < reach(selection.atoms.symbol[nearest]):
            count[nearest] += 1
    return count if any(count.values()) else {}


def _perceived(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    held: Mapping[int, int],
) -> tuple[Chem.Mol | None, dict[int, Template]]:
    """The molecule of a residue of unknown bonds, and what its atoms are; None where not sure.

    Residues of its chain count up to the second bond, which makes amides of a peptide's ends; up to
    the third where it is bound to the ring of a histidine, which would be an amine without.
    """
    atoms, inside = selection.atoms, index.tolist()
    if is_standard(atoms.place[inside[0]].residue):
        return None, {}
    everyone = dict.fromkeys(inside)
    beside = [other for i in inside for other in bonded.get(i, ()) if other not in everyone]
    named = {(atoms.place[i].residue, atoms.name[i]) for i in beside}
    on_ring = any(
        name in RING_NITROGENS and SAME_AS.get(residue, residue) == "HIS" for residue, name in named
    )
    for _ in range(3 if on_ring else 2):
        everyone |= dict.fromkeys(other for i in [*everyone] for other in bonded.get(i, ()))
    rows = list(everyone)
    mol = perceive([atoms.symbol[i] for i in rows], selection.xyz[rows], _around(rows, bonded))
    if mol:
        mol = as_given(mol, {row: held[i] for row, i in enumerate(inside) if i in held})
    templates = of_molecule(Chem.AddHs(mol)) if mol else []
    return mol, dict(zip(inside, templates, strict=False))


def _around(index: list[int], bonded: dict[int, list[int]]) -> list[list[int]]:
    """Neighbours of atoms among themselves, by their place in the list."""
    row = {atom: place for place, atom in enumerate(index)}
    return [[row[other] for other in bonded.get(atom, ()) if other in row] for atom in index]


def _roles(selection: Selection, index: np.ndarray, typed: list[ReceptorType]) -> list[Interaction]:
    """X-Score's classes, but for waters, which X-Score leaves out: they give and take."""
    wet = selection.water[selection.residue[index]]
    return [
        Interaction.DONOR_ACCEPTOR if water else kind.interaction
        for water, kind in zip(wet, typed, strict=True)
    ]


def free_acids(selection: Selection) -> list[int]:
    """Numbers of the residues that are amino acids outside the chains."""
    numbers = np.flatnonzero(~(selection.polymer | selection.water)).tolist()
    return [number for number in numbers if is_standard(selection.places[number].residue)]


def labels(selection: Selection, index: np.ndarray) -> np.ndarray:
    """Chain, residue and name of atoms, as text."""
    atoms = selection.atoms
    return np.array([f"{atoms.place[atom]}/{atoms.name[atom]}" for atom in index], STRING)
