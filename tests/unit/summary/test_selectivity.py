"""Molecules in several targets: each with its own scores, whatever the order of the records."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ligen_py import aggregate, best
from ligen_py import selectivity as comparison
from ligen_py.provenance import Run
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.records.scores import SCORES
from ligen_py.records.scores import Scores as Scored
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read
from ligen_py.store.files.write import write
from ligen_py.summary.antitargets import Row as Antitargets
from ligen_py.summary.antitargets import higher, table
from ligen_py.summary.dossier import dossier_of
from ligen_py.summary.facts import targets_of
from ligen_py.summary.selectivity import Selectivity, selectivity
from tests.stages.factory import NO_CHECKS, Molecule, write_manifest, write_part

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


@pytest.fixture
def docked(tmp_path: Path) -> dict[str, Path]:
    """A campaign of two targets, the best two of each, and scores of those of `one` elsewhere."""
    campaign = merged(tmp_path, {"one": (5.0, 6.0, 4.0, 1.0), "two": (2.0, 3.0, 9.0, 1.0)})
    found = {"campaign": campaign, "panel": tmp_path / "panel.tsv", "scores": tmp_path / "s.h5"}
    found["panel"].write_text("query\taccession\nq\tP1\n")
    for target in ("one", "two"):
        found[target] = tmp_path / f"best-{target}.h5"
        words = ["--campaign", str(campaign), "--manifest", str(tmp_path / "m.tsv"), "--quiet"]
        words += ["--targets", target, "--best", "2", "--output", str(found[target])]
        assert best.main(words) == 0
    records = {
        "ledger": read(found["one"], LIGANDS, Ledger),
        "scores": Scored(
            first_pose=np.arange(3),
            restart=np.zeros(2, "i4"),
            energy=np.zeros(2, "f4"),
            best=np.arange(2),
            score=np.array([7.0, 2.0], "f4"),
        ),
        "checks": NO_CHECKS,
    }
    write(found["scores"], SCORES, Run("score", ScoreSettings(), (found["one"],)), records)
    return found


def compare(docked: dict[str, Path], ligands: str, target: str, *names: str) -> int:
    words = [f"--{name}={docked[name]}" for name in ("campaign", "panel")]
    words += [f"--ligands={docked[ligands]}", "--targets", target, "--names", *names]
    words += ["--scores", *[str(docked["scores"])] * len(names), "--best", "2"]
    return comparison.main([*words, "--output", str(docked["panel"].with_name("out.tsv"))])


def test_scores_are_compared_with_those_of_the_same_molecules(
    docked: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of as many other molecules they got into the table."""
    output = docked["panel"].with_name("out.tsv")
    assert compare(docked, "one", "one", "P1") == 0
    rows = [line.split("\t") for line in output.read_text().splitlines()[1:]]
    assert [(row[2], row[4], row[6]) for row in rows] == [
        ("second", "6.0000", "7.0000"),
        ("late", "5.0000", "2.0000"),
    ]
    output.unlink()
    capsys.readouterr()
    assert compare(docked, "one", "two", "P1") == 1
    assert "its molecules are not the best 2 of two; give the file" in capsys.readouterr().err
    assert compare(docked, "two", "two", "P1") == 1
    assert "s.h5: was not made from" in capsys.readouterr().err
    docked["campaign"] = merged(docked["campaign"].parent / "other", {"one": (5.0, 6.0, 4.0, 1.5)})
    assert compare(docked, "one", "one", "P1") == 1
    assert "best-one.h5: was not made from" in capsys.readouterr().err
    assert not output.exists()


def test_how_far_below_zero_a_clash_scores_says_nothing() -> None:
    """The order by difference was the order of the clashes."""
    scores = {"a": (2.5, -1139.2, -81.5), "b": (3.0, -404.3, 1.0), "c": (-2.0, -0.5, -300.0)}
    rows = [
        Antitargets("t", rank, name, "lib", own, {"P1": one, "P2": two})
        for rank, (name, (own, one, two)) in enumerate(scores.items(), 1)
    ]
    assert [row.difference for row in rows] == [2.5, 2.0, 0.0]
    first = list(table(rows, ["P1", "P2"]))[1]
    assert first == "t\t1\ta\tlib\t2.5000\tP2\t-81.5000\t2.5000\t-1139.2000\t-81.5000\n"
    assert list(higher(rows)) == ["0 of the 3 best molecules of t score higher in an anti-target"]
    nowhere = Antitargets("t", 1, "d", "lib", 2.0, {"P1": math.nan})
    assert math.isnan(nowhere.difference)


def test_a_comparison_is_refused_before_it_writes_a_table(
    docked: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(docked, "one", "one", "P1", "P1") == 1
    assert "--names has P1 twice" in capsys.readouterr().err
    for text in ("", "one column\n", "query\taccession\nq\n"):
        docked["panel"].write_text(text)
        assert compare(docked, "one", "one", "P1") == 1
        assert "panel.tsv: is no panel.tsv of `panel`" in capsys.readouterr().err
    assert not docked["panel"].with_name("out.tsv").exists()
