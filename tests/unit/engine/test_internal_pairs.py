"""The pairs within a ligand, against what turning its torsions changes."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.geometry import rebuild
from ligen_py.engine.internal_pairs import internal_pairs
from ligen_py.engine.random_input import make_ligands


@pytest.mark.parametrize("seed", range(4))
def test_internal_pairs_are_those_whose_distance_depends_on_a_torsion(seed: int) -> None:
    ligands = make_ligands([(40, 6), (20, 2)], seed)
    start = int(ligands.first_atom[1])
    turns = np.random.default_rng(seed).uniform(30, 330, 8).astype("f4")
    for number, rows in enumerate((slice(0, start), slice(start, None))):
        torsions = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
        moved = rebuild(
            ligands.xyz[rows],
            ligands.torsion_axis[torsions],
            ligands.torsion_range[torsions],
            turns[torsions],
            np.array([1, 0, 0, 0], "f4"),
            np.zeros(3, "f4"),
        )
        change = np.abs(distances(moved) - distances(ligands.xyz[rows]))
        bonds = ligands.bond[ligands.first_bond[number] : ligands.first_bond[number + 1]]
        far = separation(bonds.astype(int), len(moved)) > 3
        for chosen in (np.ones(len(moved), bool), ligands.element[rows] > 1):
            both = np.outer(chosen, chosen)
            expected = np.argwhere(np.triu((change > 1e-4) & far & both))
            assert len(expected) > 5
            pairs, (count,) = internal_pairs(ligands, number, number + 1, chosen)
            assert count == len(pairs)
            assert np.array_equal(pairs, expected)


def test_a_bond_may_be_written_from_either_end() -> None:
    ligands = make_ligands([(40, 6), (20, 2)], seed=3)
    heavy = ligands.element > 1
    pairs, counts = internal_pairs(ligands, 0, 2, heavy)
    turned = replace(ligands, bond=ligands.bond[:, ::-1])
    again, same = internal_pairs(turned, 0, 2, heavy)
    assert len(pairs)
    assert np.array_equal(pairs, again)
    assert np.array_equal(counts, same)


def distances(xyz: np.ndarray) -> np.ndarray:
    return np.linalg.norm(xyz[:, None].astype(float) - xyz, axis=2)


def separation(bonds: np.ndarray, count: int) -> np.ndarray:
    """Bonds between each two atoms."""
    result = np.full((count, count), 99)
    np.fill_diagonal(result, 0)
    result[bonds[:, 0], bonds[:, 1]] = result[bonds[:, 1], bonds[:, 0]] = 1
    for middle in range(count):
        result = np.minimum(result, result[:, [middle]] + result[middle])
    return result
