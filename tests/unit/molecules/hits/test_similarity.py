"""Scaffolds, clusters and a pick, on molecules whose answer is known."""

from itertools import combinations

import pytest
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdMolDescriptors

from ligen_py.molecules.hits.similarity import clusters, fingerprints, nearest, pick, scaffold

PHENETHYLAMINES = ["NCCc1ccccc1", "CNCCc1ccccc1", "CC(N)Cc1ccccc1"]
OTHERS = ["CCCCCCCC", "OC(=O)C1CCNCC1", "c1ccc2ncccc2c1"]


def test_scaffolds_are_rings_and_what_links_them() -> None:
    assert {scaffold(smiles) for smiles in PHENETHYLAMINES} == {"c1ccccc1"}
    assert scaffold("CCCC") == ""
    assert scaffold("O=C(Nc1ccccc1)c1ccccc1") == "O=C(Nc1ccccc1)c1ccccc1"
    assert scaffold("C[C@H]1CCCN1") == scaffold("C[C@@H]1CCCN1") == "C1CCNC1"


def test_clusters_are_led_by_their_best() -> None:
    smiles = [OTHERS[0], PHENETHYLAMINES[0], OTHERS[1], PHENETHYLAMINES[1], OTHERS[0]]
    found = clusters(fingerprints(smiles), 0.4)
    assert found == [0, 1, 2, 1, 0]
    assert clusters(fingerprints(smiles), 1.0) == [0, 1, 2, 3, 0]
    assert clusters([]) == []


@pytest.mark.parametrize(("common", "alike"), [(50, True), (49, False)])
def test_molecules_of_half_their_bits_are_one_cluster(common: int, alike: bool) -> None:
    """Of a hundred bits that one of two molecules has, the other one has some."""
    prints = [DataStructs.ExplicitBitVect(2048) for _ in range(2)]
    prints[0].SetBitsFromList(list(range(100)))
    prints[1].SetBitsFromList(list(range(common)))
    assert clusters(prints) == [0, 0 if alike else 1]


def test_fingerprints_are_ecfp4_of_2048_bits() -> None:
    """RDKit's older function of the same fingerprint."""
    with rdBase.BlockLogs():
        for smiles, found in zip(OTHERS, fingerprints(OTHERS), strict=True):
            mol = Chem.MolFromSmiles(smiles)
            known = rdMolDescriptors.GetMorganFingerprintAsBitVect(mol, 2, nBits=2048)
            assert found.ToBitString() == known.ToBitString()


def test_the_nearest_is_the_most_similar() -> None:
    (own,) = fingerprints(["CNCCc1ccccc1"])
    number, value = nearest(own, fingerprints([*OTHERS, PHENETHYLAMINES[0]]))
    assert number == 3
    assert 0.4 < value < 1
    assert nearest(own, []) == (-1, 0.0)


def test_a_pick_keeps_to_its_limits_and_to_the_ranking() -> None:
    smiles = [*PHENETHYLAMINES, *OTHERS]
    assert pick(smiles, 4, 1, 1.0) == [0, 3, 4, 5]
    assert pick(smiles, 4, 2, 1.0) == [0, 1, 3, 4]
    assert pick(smiles, 2, 9, 1.0) == [0, 1]
    chosen = pick(smiles, 9, 9, 0.3)
    prints = fingerprints(smiles[row] for row in chosen)
    assert chosen == sorted(chosen)
    assert all(DataStructs.TanimotoSimilarity(*pair) <= 0.3 for pair in combinations(prints, 2))
    left = set(range(len(smiles))) - set(chosen)
    for row in left:  # each that is left out is too similar to a better one
        (own,) = fingerprints([smiles[row]])
        better = [mine for place, mine in zip(chosen, prints, strict=True) if place < row]
        assert nearest(own, better)[1] > 0.3
