"""Decoys are near the actives in properties, unlike them in structure, and taken in turns."""

import numpy as np
import pytest
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import Descriptors, rdMolDescriptors

from ligen_py.molecules.decoys import candidates_of, draw
from ligen_py.molecules.library.reading import Record

ACTIVES = [("a", "COc1ccc(CC2CCNCC2)cc1"), ("b", "CCCCCCCC(=O)O")]
LIBRARY = [
    ("analogue", "COc1ccc(CC2CCNCC2)cc1C"),
    ("amine", "Cc1ccsc1C(O)CCN(C)C1CC1"),
    ("acid", "O=C(O)CC1CCCC1C"),
    ("tiny", "CO"),
    ("large", "c1ccc(cc1)C(c1ccccc1)(c1ccccc1)c1ccccc1"),
    ("broken", "C("),
    ("amine again", "C1CC1N(C)CCC(O)c1sccc1C"),
    ("salt", "O=C(O)CCC1CC1CCC.[Na+]"),
]


def test_candidates_are_read_once_and_without_salt() -> None:
    found = candidates_of([*LIBRARY, Record(1, "empty", "")])
    assert found.name == ["analogue", "amine", "acid", "tiny", "large", "salt"]
    assert "Na" not in found.smiles[-1]
    mol = Chem.MolFromSmiles(found.smiles[1])
    assert found.place[1, 0] * 25 == pytest.approx(Descriptors.ExactMolWt(mol))
    for smiles, own in zip(found.smiles, found.prints, strict=True):
        with rdBase.BlockLogs():  # RDKit's older function of ECFP4
            mol = Chem.MolFromSmiles(smiles)
            known = rdMolDescriptors.GetMorganFingerprintAsBitVect(mol, 2, nBits=2048)
        assert own.ToBitString() == known.ToBitString()
    assert candidates_of([]).place.shape == (0, 6)


def test_the_nearest_unlike_molecules_are_drawn() -> None:
    actives, library = candidates_of(ACTIVES), candidates_of(LIBRARY)
    names = [library.name[row] for row in draw(actives, library, 1, 0.35)]
    assert names[0] == "amine"
    assert names[1] == "acid"
    every = [library.name[row] for row in draw(actives, library, 9, 0.35)]
    assert sorted(every) == ["acid", "amine", "large", "tiny"]
    assert len(draw(actives, library, 9, 1.0)) == 6


@pytest.mark.parametrize(
    "smiles",
    ["CC[Sn](C)(CC)CCN(C)C1CC1", "[Ti]CCC(O)CN(C)C1CC1", "c1cc[cH-]c1.c1cc[cH-]c1.[Fe+2]"],
)
def test_what_cannot_be_docked_is_no_decoy(smiles: str) -> None:
    actives, library = candidates_of(ACTIVES), candidates_of([("metal", smiles), *LIBRARY])
    assert library.name[0] == "metal"
    assert 0 not in draw(actives, library, 9, 1.0)


def test_properties_match_better_than_a_random_choice() -> None:
    rng = np.random.default_rng(0)
    pieces = ["CC", "c1ccccc1", "C(=O)N", "N1CCCC1", "OCC", "C(F)(F)F", "c1ccncc1", "S(=O)(=O)C"]
    smiles = ["C".join(rng.choice(pieces, rng.integers(1, 6))) for _ in range(1500)]
    library = candidates_of((str(i), text) for i, text in enumerate(smiles))
    actives = candidates_of([("x", "CC(=O)Nc1ccc(O)cc1"), ("y", "OCCOc1ccc(CCN)cc1C(=O)NCC1CC1")])
    rows = draw(actives, library, 20, 0.35)
    assert len(rows) == len(set(rows)) == 40
    for active in range(2):
        mine = library.place[rows[active::2]]
        gap = np.linalg.norm(mine - actives.place[active], axis=1).mean()
        others = np.linalg.norm(library.place - actives.place[active], axis=1).mean()
        assert gap < others / 2
    for row in rows:
        assert max(DataStructs.BulkTanimotoSimilarity(library.prints[row], actives.prints)) <= 0.35


def test_properties_are_those_of_what_is_docked() -> None:
    """A salt's counter-ion may be larger than its drug, and most libraries draw ions neutral."""
    pamoate = "OC(=O)c1cc2ccccc2c(Cc2c(O)c(C(=O)O)cc3ccccc23)c1O"
    drawn = [
        ("salt", f"CN1CCCN=C1C=Cc1cccs1.{pamoate}"),
        ("base", "CN1CCCN=C1C=Cc1cccs1"),
        ("anion", "[O-]C(=O)CCc1ccccc1"),
        ("acid", "OC(=O)CCc1ccccc1"),
        ("ester", "COC(=O)Cc1ccccc1"),
    ]
    found = candidates_of(drawn)
    assert found.name == ["salt", "anion", "ester"]
    assert found.smiles[:2] == ["CN1CCCN=C1C=Cc1cccs1", "O=C(O)CCc1ccccc1"]
    assert found.drawn[0].count(".") == 1
    assert found.drawn[1] == "O=C([O-])CCc1ccccc1"
    assert (found.place[:, -1] * 0.5).tolist() == [1, -1, 0]
