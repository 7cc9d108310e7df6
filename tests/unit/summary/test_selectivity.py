"""Molecules in several targets: each with its own scores, whatever the order of the records."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ligen_py import aggregate, best
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read
from ligen_py.summary.dossier import dossier_of
from ligen_py.summary.facts import targets_of
from ligen_py.summary.selectivity import Selectivity, selectivity
from tests.stages.factory import Molecule, write_manifest, write_part

Scores = Mapping[str, Sequence[float | None]]
"""Target -> scores of the molecules `late`, `second`, `early` and `last`."""


def merged(folder: Path, targets: Scores) -> Path:
    """A campaign whose second part has the earlier lines, as those of a compressed file have."""
    parts = []
    for target, (late, second, early, last) in targets.items():
        one = [Molecule("late", "CCO", late), Molecule("second", "CCCC", second)]
        two = [Molecule("early", "CCOCC", early), Molecule("last", "CCCCO", last)]
        parts.append(write_part(folder, target, "lib", "1-of-2", one, first_line=11))
        parts.append(write_part(folder, target, "lib", "2-of-2", two, first_line=1))
    manifest, campaign = write_manifest(folder / "m.tsv", parts), folder / "campaign.h5"
    words = ["--manifest", str(manifest), "--output", str(campaign), "--quiet"]
    assert aggregate.main(words) == 0
    return campaign


def compared(campaign: Path) -> Selectivity | None:
    with open_campaign(campaign) as opened:
        dossiers = [dossier_of(opened, one, 10, {}, 1) for one in targets_of(opened, 10, {})]
        return selectivity(dossiers)


def test_equal_scores_take_the_ranks_of_the_ranking(tmp_path: Path) -> None:
    scores = {"human": (5.0, 6.0, 5.0, 1.0), "yeast": (2.0, 3.0, 9.0, 1.0)}
    found = compared(merged(tmp_path, scores))
    assert found is not None
    assert {one.name: (list(one.scores), list(one.ranks)) for one in found.molecules} == {
        "second": ([6.0, 3.0], [1, 2]),
        "early": ([5.0, 9.0], [2, 1]),
        "late": ([5.0, 2.0], [3, 3]),
        "last": ([1.0, 1.0], [4, 4]),
    }


def test_a_target_without_scores_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = (None, None, None, None)
    scores = {"one": (5.0, 6.0, 4.0, 1.0), "none": nothing, "two": (2.0, 3.0, 9.0, 1.0)}
    campaign = merged(tmp_path, scores)
    found = compared(campaign)
    assert found is not None
    assert list(found.targets) == ["one", "two"]
    # Nor does it stop what docks the best molecules elsewhere.
    words = [
        "--campaign",
        str(campaign),
        "--manifest",
        str(tmp_path / "m.tsv"),
        "--targets",
        "none",
    ]
    assert best.main([*words, "--output", str(tmp_path / "best.h5")]) == 0
    assert not len(read(tmp_path / "best.h5", LIGANDS, Entries).line)


def test_the_best_of_either_target_can_be_told_apart(tmp_path: Path) -> None:
    found = compared(merged(tmp_path, {"one": (5.0, 6.0, 4.0, 1.0), "two": (2.0, 3.0, 9.0, 1.0)}))
    assert found is not None
    (figure,) = found.figures
    assert [mark.kind for mark in figure.marks] == ["hit"] * 4 + ["other"] * 4


def test_one_target_alone_is_compared_with_nothing(tmp_path: Path) -> None:
    assert compared(merged(tmp_path, {"one": (5.0, 6.0, 4.0, 1.0)})) is None
