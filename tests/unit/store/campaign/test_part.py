"""The best of a molecule in several conformations of its target."""

from pathlib import Path

import pytest

from ligen_py.errors import InputError
from ligen_py.store.campaign.part import read_best
from tests.edited import edited
from tests.stages.factory import Molecule, write_part

SMILES = "CCO", "CCN", "CCC", "CCOC"


def test_each_molecule_is_taken_where_it_scores_best(tmp_path: Path) -> None:
    """Of equal scores the first conformation's; a molecule may have a score in one of them only."""
    scores = (3.0, 5.0, 2.0, None), (9.0, 1.0, 2.0, 4.0)
    members = [
        write_part(
            tmp_path / str(number), "t", "lib", "1-of-1",
            [Molecule(f"m{i}", *given) for i, given in enumerate(zip(SMILES, one, strict=True))],
        )
        for number, one in enumerate(scores)
    ]  # fmt: skip
    for one in members:  # the first pose of all may be the best
        with edited(one.scores) as file:
            file["scores/best"][0] = 0
    found = read_best(members)
    assert found.score.tolist() == [9, 5, 2, 4]
    assert found.member.tolist() == [1, 0, 0, 1]
    assert len(set(found.status.tolist())) == 1
    alone = read_best(members[:1])
    assert alone.score[:3].tolist() == [3, 5, 2]
    with edited(members[1].scores) as file:
        (function,) = file["terms"]
        del file[f"terms/{function}/total"]
    with pytest.raises(InputError, match="have different score terms"):
        read_best(members)
