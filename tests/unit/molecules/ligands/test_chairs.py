"""Saturated rings of six atoms are docked as chairs, too."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdMolTransforms

from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.chairs import chair_bounds, chair_rings, kinds_of_chairs
from ligen_py.molecules.ligands.conformers import embed_piece
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.settings.parse import ParseSettings


def torsions(mol: Chem.Mol, ring: tuple[int, ...], conformer: int) -> np.ndarray:
    found = mol.GetConformer(conformer)
    chains = [np.roll(ring, -first)[:4].tolist() for first in range(len(ring))]
    return np.array([rdMolTransforms.GetDihedralDeg(found, *chain) for chain in chains])


def is_chair(turns: np.ndarray) -> bool:
    return bool((turns * np.roll(turns, 1) < 0).all() and np.abs(turns).min() > 25)


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(C)(C)C1CCCCC1",
        "CN1CCOCC1",
        "O=S(=O)(c1ccccc1)N1CCOCC1",
        "CS(=O)(=O)N1CCCCC1",
        "CC(=O)N1CCN(C(C)=O)CC1",
        "O=C1CCN(C)CC1",
        "CN1CCSCC1",
        "OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O",
        "C1CC[C@H]2CCCC[C@H]2C1",
        "C1CC[C@H]2CCCC[C@@H]2C1",
        "C1CCC2(CC1)CCNCC2",
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_rings_are_chairs_in_the_shape_of_lowest_energy(smiles: str, seed: int) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), seed, smiles, 4)
    assert made is not None
    mol, energies = made
    assert energies == sorted(energies)
    rings = chair_rings(Chem.MolFromSmiles(smiles))
    assert rings
    assert all(is_chair(torsions(mol, ring, 0)) for ring in rings)


@pytest.mark.parametrize(
    ("smiles", "lowest"),
    [
        ("O=c1cccc2n1C[C@@H]1CNC[C@H]2C1", 28.7),  # cytisine; with a boat 36.4
        ("CN1C[C@H]2CCC[C@@H](C1)C2=O", 22.4),  # two chairs; with boats from 28.5 on
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rings_with_a_bridge_of_one_atom_are_chairs(smiles: str, lowest: float, seed: int) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), seed, smiles, 4)
    assert made is not None
    assert made[1][0] == pytest.approx(lowest, abs=0.1)


def angle_of_the_group(mol: Chem.Mol, ring: tuple[int, ...], conformer: int) -> float:
    """Degrees of the torsion from a ring's only group to the ring's atoms: 65 axial, 175 not."""
    (place,) = [i for i, atom in enumerate(ring) if mol.GetAtomWithIdx(atom).GetDegree() == 3]
    around = np.roll(ring, -place)[:3].tolist()
    (end,) = [
        atom.GetIdx()
        for atom in mol.GetAtomWithIdx(around[0]).GetNeighbors()
        if atom.GetIdx() not in ring
    ]
    found = mol.GetConformer(conformer)
    return abs(rdMolTransforms.GetDihedralDeg(found, end, *around))


@pytest.mark.parametrize("smiles", ["CN1CCCCC1", "C[NH+]1CCCCC1", "CC1CCNCC1", "CC1CCCCC1"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_ring_has_both_its_chairs_the_group_equatorial_in_the_lower_one(
    smiles: str, seed: int
) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), seed, smiles, 4)
    assert made is not None
    mol = Chem.RemoveHs(made[0])
    (ring,) = chair_rings(mol)
    chairs = [
        number for number in range(mol.GetNumConformers()) if is_chair(torsions(mol, ring, number))
    ]
    angles = [angle_of_the_group(mol, ring, number) for number in chairs[:2]]
    assert angles[0] > 150
    assert angles[1] < 90


@pytest.mark.parametrize("smiles", ["NC1(C)CCCCC1", "[NH3+]CC1(CC(=O)[O-])CCCCC1"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_of_two_groups_at_an_atom_is_axial_in_a_chair(smiles: str, seed: int) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), seed, smiles, 4)
    assert made is not None
    mol = Chem.RemoveHs(made[0])
    (ring,) = chair_rings(mol)
    (place,) = [i for i, atom in enumerate(ring) if mol.GetAtomWithIdx(atom).GetDegree() == 4]
    around = np.roll(ring, -place)[:3].tolist()
    nearest = mol.GetAtomWithIdx(around[0]).GetNeighbors()
    ends = [atom.GetIdx() for atom in nearest if atom.GetIdx() not in ring]
    axial = {
        min(
            ends,
            key=lambda end: abs(
                rdMolTransforms.GetDihedralDeg(mol.GetConformer(number), end, *around)
            ),
        )
        for number in range(mol.GetNumConformers())
        if is_chair(torsions(mol, ring, number))
    }
    assert axial == set(ends)


@pytest.mark.parametrize(
    ("smiles", "kinds"),
    [
        ("C1CCCCC1", [None]),
        ("CC1CCCCC1", [True, None]),
        ("CC1(N)CCCCC1", [True, False, None]),
        ("C1CCC2(CC1)CCNCC2", [True, False, None]),
        ("C1CC[C@H]2CCCC[C@H]2C1", [None]),
        ("CN1CCOCC1", [True, None]),
        ("CC(=O)N1CCOCC1", [None]),
        ("C[C@H]1CCCCN1", [True, False, None]),
        ("CN1CCN(C)CC1", [True, None]),
    ],
)
def test_both_chairs_are_asked_for(smiles: str, kinds: list[bool | None]) -> None:
    mol = Chem.MolFromSmiles(smiles)
    assert kinds_of_chairs(mol, chair_rings(mol)) == kinds


@pytest.mark.parametrize("smiles", ["NCC1(CC(=O)O)CCCCC1", "CC1(CO)CCCCC1", "CC1(CN)CCNCC1"])
def test_a_molecule_is_docked_with_each_of_two_groups_axial(smiles: str) -> None:
    """Both of gabapentin's begin with a carbon."""
    found = prepare(Record(1, "x", smiles), ParseSettings())
    assert len(found.states) > 1
    assert float(found.states[1].shape["strain"][0]) < 3


@pytest.mark.parametrize("smiles", ["O=P1([O-])OCCCO1", "O=P1([O-])CCCCC1"])
def test_oxygens_of_a_phosphate_make_no_shapes_of_their_own(smiles: str) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), 1, smiles, 4)
    assert made is not None
    assert len([energy for energy in made[1] if energy < made[1][0] + 0.5]) == 1


@pytest.mark.parametrize("smiles", ["O=S1CCCCC1", "CP1CCCCC1"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_a_group_at_sulfur_or_phosphorus_has_both_chairs(smiles: str, seed: int) -> None:
    made = embed_piece(Chem.MolFromSmiles(smiles), seed, smiles, 4)
    assert made is not None
    (ring,) = chair_rings(made[0])
    chairs = [number for number in range(len(made[1])) if is_chair(torsions(made[0], ring, number))]
    assert len(chairs) == 2


def test_more_conformers_are_made_where_more_may_stay() -> None:
    smiles = "C1CCC2C(C1)CCC1CCCCC12"
    few, many = (embed_piece(Chem.MolFromSmiles(smiles), 1, smiles, limit) for limit in (4, 16))
    assert few is not None
    assert many is not None
    assert len(many[1]) > len(few[1])


def test_bounds_place_the_group_of_a_stereocentre() -> None:
    """From the group to the ring's atoms three bonds away: 2.9 to 3.2 A axial, 3.8 equatorial."""
    mol = Chem.MolFromSmiles("C[C@H]1CCCCN1")
    (ring,) = chair_rings(mol)
    place = ring.index(1)
    far = [ring[(place + step) % 6] for step in (2, -2)]
    free, equatorial, axial = (chair_bounds(mol, [ring], kind) for kind in (None, True, False))
    for atom in far:  # the group is atom 0, so upper bounds stand in its row
        assert equatorial[atom, 0] > free[atom, 0]
        assert 3.6 < equatorial[atom, 0] < equatorial[0, atom]
        assert axial[0, atom] < free[0, atom]
        assert axial[atom, 0] < axial[0, atom] < 3.3


def test_a_single_conformer_is_a_chair() -> None:
    made = embed_piece(Chem.MolFromSmiles("CC(C)(C)C1CCCCC1"), 1, "key", 1)
    assert made is not None
    (ring,) = chair_rings(made[0])
    assert made[0].GetNumConformers() == 1
    assert is_chair(torsions(made[0], ring, 0))


@pytest.mark.parametrize(
    "smiles",
    ["c1ccccc1", "C1CCC=CC1", "O=C1NC(=O)C=CN1", "O=C1CNC(=O)CN1", "C1CC2CCC1C2", "C1CCCC1"],
)
def test_flat_bridged_and_other_rings_are_no_chairs(smiles: str) -> None:
    assert chair_rings(Chem.MolFromSmiles(smiles)) == []


def test_bounds_of_cyclohexane() -> None:
    """Across the ring a chair has 2.95 A; the bounds demand somewhat more."""
    mol = Chem.MolFromSmiles("C1CCCCC1")
    (ring,) = chair_rings(mol)
    bounds = chair_bounds(mol, [ring])
    across = [sorted((ring[i], ring[i + 3])) for i in range(3)]
    for low, high in across:
        assert 2.9 < bounds[high, low] < bounds[low, high] < 3.3
    assert (np.triu(bounds) >= np.tril(bounds).T - 1e-9).all()


def test_the_strain_of_a_boat_is_told() -> None:
    found = prepare(Record(1, "x", "CS(=O)(=O)N1CCCCC1"), ParseSettings(max_strain=20))
    strains = [float(state.shape["strain"][0]) for state in found.states]
    assert len(strains) > 2
    assert strains[0] == 0
    assert strains[1] < 1
    assert all(value > 3 for value in strains[2:])  # behind two chairs
