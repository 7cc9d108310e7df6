"""Which bonds turn, and the atom order in which their far sides are ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.ligands.rotatable_bonds import (
    heavy_first,
    pair_mask,
    pair_masks,
    pair_words,
    rigid_pieces,
    rotatable_bonds,
)
from ligen_py.molecules.lists import Lists


def turning(smiles: str) -> set[tuple[int, int]]:
    arrays = Arrays([Lists(Chem.AddHs(Chem.MolFromSmiles(smiles)))])
    found = rotatable_bonds(arrays)
    ends = np.sort(np.stack([arrays.near, arrays.far], axis=1)[found], axis=1)
    return {(first, second) for first, second in ends.tolist()}


@pytest.mark.parametrize(
    ("smiles", "bonds"),
    [
        ("CCC", set()),
        ("CCCC", {(1, 2)}),
        ("CCO", set()),
        ("CCOC", {(1, 2)}),
        ("C1CCCCC1", set()),
        ("CCC=CCC", {(1, 2), (3, 4)}),
        ("c1ccccc1-c1ccccc1", {(5, 6)}),
        ("CCC(=O)NCC", {(1, 2), (4, 5)}),  # amide
        ("CCC(=O)N(C)CC", {(1, 2), (4, 6)}),  # tertiary amide
        ("CCC(=S)NCC", {(1, 2), (4, 5)}),  # thioamide
        ("CCC(=N)NCC", {(1, 2), (4, 5)}),  # amidine
        ("CCC(N)=[NH+]CCC", {(1, 2), (4, 5), (5, 6)}),  # amidinium
        ("CCC(=O)[N-]S(=O)(=O)CC", {(1, 2), (4, 5), (5, 8)}),  # the anion keeps its amide
        ("CCC(=O)OCC", {(1, 2), (2, 4), (4, 5)}),  # ester
        ("CCS(=O)(=O)NCC", {(1, 2), (2, 5), (5, 6)}),  # sulfonamide
        ("CCC(=O)O", {(1, 2)}),
        ("CCC(F)(F)F", set()),
        ("CCC(F)(F)Cl", {(1, 2)}),
        ("CCC(C)(C)C", set()),
        ("CCC(C)(C)O", {(1, 2)}),
        ("CCS(=O)(=O)O", set()),
        ("CCP(=O)([O-])[O-]", set()),
        ("CC[N+](C)(C)C", set()),
        ("CC[N+](=O)[O-]", {(1, 2)}),
        ("CCC#N", set()),
        ("CCC#C", set()),
        ("CCC#CCC", {(1, 2), (3, 4)}),
        ("CCN=[N+]=[N-]", {(1, 2)}),
    ],
)
def test_rotatable_bonds(smiles: str, bonds: set[tuple[int, int]]) -> None:
    assert turning(smiles) == bonds


def far_atoms(neighbours: list[list[int]], near: int, far: int) -> set[int]:
    found, waiting = {near, far}, [far]
    while waiting:
        new = [j for j in neighbours[waiting.pop()] if j not in found]
        found.update(new)
        waiting += new
    return found - {near}


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """A random tree of atoms and some of its bonds as cuts."""
    count = draw(st.integers(1, 40))
    bonds = [(draw(st.integers(0, i - 1)), i) for i in range(1, count)]
    names = draw(st.permutations(range(count)))
    bonds = [(names[a], names[b]) for a, b in bonds]
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in bonds:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours, [bond for bond in bonds if draw(st.booleans())]


def bonds_and_cuts(
    neighbours: list[list[int]], cuts: list[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Atoms of each bond (bonds, 2), and which bonds are cut."""
    bonds = [(a, b) for a, others in enumerate(neighbours) for b in others if a < b]
    chosen = set(map(frozenset, cuts))
    return np.array(bonds, int).reshape(-1, 2), np.array([{*b} in chosen for b in bonds], bool)


@settings(max_examples=200)
@given(trees())
def test_far_sides_are_ranges_and_the_root_is_in_the_middle(
    tree: tuple[list[list[int]], list[tuple[int, int]]],
) -> None:
    neighbours, cuts = tree
    count = len(neighbours)
    pieces = rigid_pieces(neighbours, cuts)
    order = pieces.order
    assert sorted(order) == list(range(count))
    assert {frozenset((order[t.near], order[t.far])) for t in pieces.torsions} == {
        frozenset(cut) for cut in cuts
    }
    for torsion in pieces.torsions:
        moved = {order[i] for i in range(torsion.first, torsion.last)}
        assert moved == far_atoms(neighbours, order[torsion.near], order[torsion.far])
        assert order[0] not in moved
    starts = [torsion.first for torsion in pieces.torsions]
    assert starts == sorted(starts)

    largest = max((t.last - t.first for t in pieces.torsions), default=0)
    for atom in range(count):  # no other atom's piece has a smaller largest branch
        away = [
            far_atoms(neighbours, a, b) if atom not in far_atoms(neighbours, a, b) else
            far_atoms(neighbours, b, a)
            for a, b in cuts
        ]  # fmt: skip
        worst = max(map(len, away), default=0)
        assert worst >= largest
        if worst == largest:
            assert set(order[: starts[0] if starts else count]) & set(range(atom + 1))


@settings(max_examples=100)
@given(trees(), st.data())
def test_hydrogens_move_behind_heavy_atoms(
    tree: tuple[list[list[int]], list[tuple[int, int]]], data: st.DataObject
) -> None:
    neighbours, cuts = tree
    count = len(neighbours)
    is_heavy = [
        len(near) > 1 or data.draw(st.booleans()) or any(i in cut for cut in cuts)
        for i, near in enumerate(neighbours)
    ]
    order, axes, far_sides, _ = heavy_first(
        np.array(is_heavy), *bonds_and_cuts(neighbours, cuts), np.array([0, count])
    )
    heavy = sum(is_heavy)
    assert sorted(order) == list(range(count))
    assert all(is_heavy[old] == (new < heavy) for new, old in enumerate(order))
    for (near, far), (first, last, h_first, h_last) in zip(axes, far_sides, strict=True):
        moved = {order[i] for i in (*range(first, last), *range(h_first, h_last))}
        assert last <= heavy <= h_first
        assert moved == far_atoms(neighbours, order[near], order[far])


@settings(max_examples=50)
@given(st.lists(trees(), min_size=1, max_size=5))
def test_molecules_side_by_side_are_cut_as_each_alone(
    several: list[tuple[list[list[int]], list[tuple[int, int]]]],
) -> None:
    bonds, cuts, alone = [], [], []
    first = np.cumsum([0, *(len(neighbours) for neighbours, _ in several)])
    is_heavy = np.array(
        [i == 0 or i % 3 > 0 for neighbours, _ in several for i in range(len(neighbours))]
    )
    for (neighbours, own_cuts), start, end in zip(several, first, first[1:], strict=False):
        bond, cut = bonds_and_cuts(neighbours, own_cuts)
        alone.append(heavy_first(is_heavy[start:end], bond, cut, np.array([0, end - start])))
        bonds.append(bond + start)
        cuts.append(cut)
    found = heavy_first(is_heavy, np.concatenate(bonds), np.concatenate(cuts), first)
    for number, one in enumerate(alone):
        own = slice(*found.first_torsion[number : number + 2])
        assert np.array_equal(found.axes[own], one.axes)
        assert np.array_equal(found.far_sides[own], one.far_sides)
        places = slice(*first[number : number + 2])
        assert np.array_equal(found.order[places] - first[number], one.order)
    assert found.first_torsion[-1] == len(found.axes)


def test_pair_mask_of_a_chain() -> None:
    """0-1-2-3-4-5 cut between 2 and 3: only 0-4, 0-5 and 1-5 are four bonds apart."""
    bonds = np.array([(i, i + 1) for i in range(5)])
    words = pair_mask(bonds, np.array([[3, 6, 6, 6]]), 6)
    assert words.dtype == np.uint32
    assert words.tolist() == [0b110000, 0b100000, 0, 0, 0b000001, 0b000011]


def test_pair_mask_crosses_words() -> None:
    bonds = np.array([(i, i + 1) for i in range(39)])
    words = pair_mask(bonds, np.array([[20, 40, 40, 40]]), 40).reshape(40, 2)
    bits = np.unpackbits(words.view("u1"), axis=1, bitorder="little")[:, :40].astype(bool)
    i, j = np.mgrid[:40, :40]
    assert (bits == (((i < 20) != (j < 20)) & (abs(i - j) > 3))).all()
    assert not words[:, 1].any() >> 8


def test_pair_masks_of_molecules_side_by_side_are_those_of_each() -> None:
    """Chains of one to 70 atoms, with no torsion, one, and torsions within another's far side."""
    sizes, cuts = [6, 1, 40, 70, 33], [[3], [], [20, 30], [5, 9, 64], [32]]
    bonds = [np.array([(i, i + 1) for i in range(n - 1)], int).reshape(-1, 2) for n in sizes]
    sides = [
        np.array([(cut, n, n, n) for cut in places], int).reshape(-1, 4)
        for n, places in zip(sizes, cuts, strict=True)
    ]
    alone = [pair_mask(*each) for each in zip(bonds, sides, sizes, strict=True)]
    first = np.cumsum([0, *sizes[:-1]])
    together = pair_masks(
        np.concatenate([bond + start for bond, start in zip(bonds, first, strict=True)]),
        np.concatenate(sides),
        np.array(sizes),
        np.array([len(places) for places in cuts]),
    )
    assert np.array_equal(together, np.concatenate(alone))
    assert [len(mask) for mask in alone] == [pair_words(n) for n in sizes]
