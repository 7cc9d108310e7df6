"""Stored molecules: what comes back is what was stored, and no damage is taken for a molecule."""

import numpy as np
import pytest
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.stored import molecule_of, stored, stored_arrays
from ligen_py.records.molecule import Bond, Parts, Side, agree, joined, parts_of
from tests.placed import started
from tests.stages.factory import prepared

SMILES = [
    "C[C@@H](N)C(=O)[O-]",
    "C/C(F)=C(\\Cl)C/C=C/C",
    "CCn1/c(=N/C(C)=O)sc2ccccc21",
    "CC(=NO)c1ccc2[nH]ccc2c1",
    "C[N+](=O)[O-]",
    "[13CH3]OC#N",
    "CS(=O)(=O)N[C@H]1CCCC[C@@H]1O",
    "c1ccc(cc1)N(CCCl)CCCl",
    "O=c1[nH]cnc2[nH]cnc12",
    "CP(=O)([O-])OC[Si](C)(C)C",
]
ATOM = (
    *("GetAtomicNum", "GetFormalCharge", "GetIsotope", "GetNumExplicitHs", "GetTotalNumHs"),
    *("GetNumRadicalElectrons", "GetChiralTag", "GetIsAromatic", "GetNoImplicit"),
    *("GetHybridization", "IsInRing"),
)
BOND = (
    *("GetBeginAtomIdx", "GetEndAtomIdx", "GetBondType", "GetStereo", "GetIsAromatic"),
    *("GetIsConjugated", "GetBondDir", "IsInRing"),
)


def facts(mol: Chem.Mol) -> list[object]:
    """All that a stored molecule has, as RDKit says it."""
    bonds = list(mol.GetBonds())
    return [
        *([getattr(atom, name)() for name in ATOM] for atom in mol.GetAtoms()),
        *([getattr(bond, name)() for name in BOND] for bond in bonds),
        *(list(bond.GetStereoAtoms()) for bond in bonds),
        [list(ring) for ring in mol.GetRingInfo().AtomRings()],
        Chem.MolToSmiles(mol),
        Chem.MolToSmiles(Chem.RemoveHs(mol)),
    ]


@pytest.mark.parametrize("smiles", SMILES)
def test_a_molecule_comes_back_as_rdkits_own_bytes_bring_it_back(smiles: str) -> None:
    for mol in (Chem.MolFromSmiles(smiles), Chem.AddHs(Chem.MolFromSmiles(smiles))):
        again = Chem.Mol(mol.ToBinary(int(Chem.PropertyPickleOptions.NoProps)))
        assert facts(molecule_of(stored(mol))) == facts(again)


@pytest.mark.parametrize("smiles", SMILES)
def test_bytes_in_another_order_are_those_of_the_renumbered_molecule(smiles: str) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    order = np.random.default_rng(1).permutation(mol.GetNumAtoms())
    expected = stored(Chem.RenumberAtoms(mol, order.tolist()))
    (found,) = stored_arrays(Arrays([Lists(mol)]), order)
    assert found.tobytes() == expected.tobytes()


def test_radicals_and_unnamed_double_bonds() -> None:
    mol = Chem.MolFromSmiles("C[CH]C=CC")
    mol.GetBondBetweenAtoms(2, 3).SetStereo(Chem.BondStereo.STEREOANY)
    again = molecule_of(stored(mol))
    assert again.GetAtomWithIdx(1).GetNumRadicalElectrons() == 1
    assert again.GetBondBetweenAtoms(2, 3).GetStereo() == Chem.BondStereo.STEREOANY


def test_a_prepared_state_has_the_block_of_its_columns() -> None:
    (state,) = prepared("C/C=C/[C@H](N)C(=O)O").states
    block = Chem.MolToMolBlock(started(state.shape))
    read = Chem.RemoveHs(Chem.MolFromMolBlock(block, removeHs=False))
    assert Chem.MolToSmiles(read) == state.shape["smiles"][0]


def parts() -> Parts:
    """Fluorochloroethene: three heavy neighbours, one named double bond."""
    return parts_of(stored(Chem.AddHs(Chem.MolFromSmiles("F/C=C/Cl"))))


def with_atom(**change: int) -> Parts:
    found = parts()
    return found._replace(atoms=[found.atoms[0]._replace(**change), *found.atoms[1:]])


def with_bond(number: int = 0, **change: int) -> Parts:
    bonds = parts().bonds
    bonds[number] = bonds[number]._replace(**change)
    return parts()._replace(bonds=bonds)


CROWDED = Parts([parts().atoms[0]] * 18, [Bond(0, number, 1, 0, 0) for number in range(1, 18)], [])


@pytest.mark.parametrize(
    ("spoilt", "lacking"),
    [
        (Parts([], [], []), "atoms"),
        (with_atom(element=0), "known elements"),
        (with_atom(element=119), "known elements"),
        (with_atom(chirality=3), "known chirality"),
        (with_atom(hydrogens=9), "a possible number of hydrogens"),
        (with_atom(radicals=9), "a possible number of radicals"),
        (with_atom(flags=4 * 9), "known hybridisation"),
        (with_bond(near=6), "bonds between its atoms"),
        (with_bond(far=6), "bonds between its atoms"),
        (with_bond(near=1, far=1), "bonds between its atoms"),
        (with_bond(near=1, far=2), "one bond between two atoms"),
        (with_bond(order=22), "known kinds of bonds"),
        (with_bond(1, stereo=6), "known kinds of bonds"),
        (with_bond(flags=2 * 7), "known directions of bonds"),
        (with_bond(stereo=2), "sides of its double bonds"),
        (with_bond(1, stereo=1), "sides of its double bonds"),
        (parts()._replace(sides=[Side(0, 0)]), "bonded sides"),
        (parts()._replace(sides=[Side(3, 3)]), "bonded sides"),
        (parts()._replace(sides=[Side(2, 3)]), "bonded sides"),
        (CROWDED, "at most 16 bonds of an atom"),
    ],
)
def test_what_describes_no_molecule_is_refused(spoilt: Parts, lacking: str) -> None:
    with pytest.raises(ValueError, match=f"a molecule without {lacking}"):
        parts_of(joined(spoilt))


def test_the_largest_codes_are_taken() -> None:
    edge = with_atom(element=118, chirality=2, hydrogens=8, radicals=8, flags=4 * 8 + 3)
    assert parts_of(joined(edge)) == edge
    edge = with_bond(order=21, flags=2 * 6 + 1)
    assert parts_of(joined(edge)) == edge
    edge = CROWDED._replace(atoms=CROWDED.atoms[:-1], bonds=CROWDED.bonds[:-1])
    assert parts_of(joined(edge)) == edge
    assert Chem.Mol(molecule_of(joined(edge))).GetNumAtoms() == 17


@pytest.mark.parametrize("cut", [0, 5, 6, 20, -1])
def test_bytes_that_were_cut_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="a molecule without"):
        parts_of(joined(parts())[:cut])


def test_molecules_agree_with_their_columns_or_not() -> None:
    one, other = stored(Chem.MolFromSmiles("CCO")), stored(Chem.MolFromSmiles("F/C=C/Cl"))
    octets, element = np.concatenate([one, other]), np.array([6, 6, 8, 9, 6, 6, 17], "u1")
    first, atoms = np.array([0, len(one), len(octets)]), np.array([0, 3, 7])
    moved = np.array([0, 1, 0])
    assert agree(octets, first, atoms, element)
    assert agree(octets[:0], first[:1], atoms[:1], element[:0])
    assert not agree(octets, first + moved, atoms, element)
    assert not agree(octets, first, atoms + moved, element)
    assert not agree(octets, first, atoms, element[::-1])
    assert not agree(octets, np.array([0, 5, len(octets)]), atoms, element)
    assert not agree(octets[:-1], np.minimum(first, len(octets) - 1), atoms, element)
