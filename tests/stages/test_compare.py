"""Two campaigns compared from the command line."""

import json
from pathlib import Path

import pytest

from ligen_py import aggregate, compare
from ligen_py.summary.queries import comparison
from tests.stages.factory import Molecule, write_manifest, write_part

BEFORE = [
    Molecule("ethanol", "CCO", 9.0),
    Molecule("butane", "CCCC", 8.0),
    Molecule("amine", "CCN", 7.0),
    Molecule("ether", "CCOCC", 6.0),
    Molecule("gone", "CCCCCC", 5.0),
]
AFTER = [
    Molecule("amine", "CCN", 9.5),
    Molecule("ethanol", "CCO", 9.0),
    Molecule("diethyl", "CCOCC", 6.0),
    Molecule("new", "CCCCC", 5.5),
    Molecule("butane", "CCCCO", 1.0),
]


def campaign(folder: Path, **targets: list[Molecule]) -> Path:
    folder.mkdir()
    parts = [
        write_part(folder, name, f"lib-{name}" if len(targets) == 1 else "lib", "1-of-1", molecules)
        for name, molecules in targets.items()
    ]
    manifest, output = write_manifest(folder / "m.tsv", parts), folder / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    return output


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    return str(campaign(tmp_path / "one", a=BEFORE)), str(campaign(tmp_path / "two", b=AFTER))


def test_what_came_and_what_went(two: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([*two, "--best", "2"]) == 0
    said, table = capsys.readouterr().out.split("\n\n")
    assert "In both: 4; 3 matched by name, 1 by canonical structure" in said
    assert "Of those matched by name 1 have another structure in B" in said
    assert "Only in A: 1; only in B: 1" in said
    # Ranks among the four: A 1 2 3 4 (ethanol, butane, amine, ether), B 2 4 1 3.
    assert "Rank correlation (Spearman) 0.000, 95 % interval -0.961 to 0.961" in said
    assert "Best 2: 1 are in both" in said
    assert "came into the best of B: 1 (amine)" in said
    assert "left the best of A: 1 (butane)" in said
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][:5] == ["name", "name_b", "rank_a", "rank_b", "shift"]
    assert [row[:5] for row in rows[1:3]] == [
        ["ethanol", "ethanol", "1", "2", "-1"],
        ["amine", "amine", "3", "1", "2"],
    ]


def test_the_pieces_of_names_do_not_matter(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for size in (comparison.PIECE, 2):
        monkeypatch.setattr(comparison, "PIECE", size)
        assert compare.main([*two]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("sort", "first"),
    [("rise", "amine"), ("fall", "butane"), ("selectivity", "butane"), ("anti", "amine")],
)
def test_sorts(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str], sort: str, first: str
) -> None:
    assert compare.main([*two, "--sort", sort, "--limit", "1", "--format", "jsonl"]) == 0
    printed = capsys.readouterr()
    (row,) = map(json.loads, printed.out.splitlines())
    assert row["name"] == first
    assert row["shift"] == row["rank_a"] - row["rank_b"]
    assert row["difference"] == row["score_b"] - row["score_a"]
    assert "Rank correlation" in printed.err


def test_a_table_that_is_cut_says_so(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of twenty molecules looked like one of all."""
    monkeypatch.setattr(compare, "LIMIT", 2)
    for words, count, expected in (
        ([], 2, "the first 2 of 4 molecules; --limit 0 gives all\n"),
        (["--limit", "3"], 3, ""),
        (["--limit", "0"], 4, ""),
    ):
        assert compare.main([*two, *words]) == 0
        printed = capsys.readouterr()
        assert printed.err == expected
        assert len(printed.out.split("\n\n")[1].splitlines()) == 1 + count


def test_scores_of_another_meaning_are_said(
    two: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main([*two]) == 0
    assert "compare ranks, not scores" not in capsys.readouterr().out
    folder = tmp_path / "three"
    folder.mkdir()
    manifest = write_manifest(folder / "m.tsv", [write_part(folder, "a", "lib", "1-of-1", BEFORE)])
    words = ["--manifest", str(manifest), "--rank-by", "consensus", "--quiet"]
    assert aggregate.main([*words, "--output", str(folder / "c.h5")]) == 0
    assert compare.main([two[0], str(folder / "c.h5")]) == 0
    assert "Scores differ in rank_by: compare ranks, not scores" in capsys.readouterr().out


def test_two_targets_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = campaign(tmp_path / "one", a=BEFORE, b=BEFORE)
    output = tmp_path / "x.csv"
    words = [f"{path}:a", f"{path}:b", "--output", str(output), "--limit", "0"]
    assert compare.main(words) == 0
    assert "Rank correlation (Spearman) 1.000" in capsys.readouterr().out
    assert len(output.read_text().splitlines()) == 6
    assert compare.main([str(path), f"{path}:b"]) == 2
    said = capsys.readouterr().err
    assert f"A: {path} has several targets; choose one as {path}:a (there are: a, b)" in said


def test_a_campaign_is_not_replaced_by_its_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = campaign(tmp_path / "one", a=BEFORE, b=BEFORE)
    before = Path(path).read_bytes()
    words = [f"{path}:a", f"{path}:b", "--format", "csv", "--output", str(path)]
    assert compare.main(words) == 1
    assert f"{path}: is an input, and would be replaced" in capsys.readouterr().err
    assert Path(path).read_bytes() == before


def test_wrong_arguments_are_sentences(
    two: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main([two[0], "nowhere.h5"]) == 2
    assert "B: nowhere.h5 does not exist" in capsys.readouterr().err
    assert compare.main([str(tmp_path), two[0]]) == 2
    assert f"A: {tmp_path} is no file; give a campaign file" in capsys.readouterr().err
    assert compare.main([f"{two[0]}:x", two[1]]) == 1
    assert "contains no target x; it has a" in capsys.readouterr().err
    assert compare.main([*two, "--output", "x.sdf"]) == 2
    assert "a comparison has no poses" in capsys.readouterr().err
    other = campaign(tmp_path / "three", c=[Molecule("z", "CCCCCCC", 1.0)])
    assert compare.main([two[0], str(other)]) == 1
    assert "no molecule is ranked in both" in capsys.readouterr().err
