"""Questions to a campaign of seven records, and to one large enough to be read in pieces."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from ligen_py import aggregate, query
from ligen_py.store.files import table
from ligen_py.store.files.table import some_rows
from ligen_py.store.files.write import TEXT, write_column
from tests.stages.factory import Molecule, write_manifest, write_part

MOLECULES = [
    Molecule("ethanol", "CCO", 5.0),
    Molecule("cut\x1b[31m", "C(", None),
    Molecule("butane", "CCCC", 6.5),
    Molecule("amine", "CCN", 6.5),
    Molecule("ether", "CCOCC", 7.25),
    Molecule("ethanol", "OCC", 9.0),
    Molecule("acid", "CC(=O)O", -2.0),
]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    parts = [write_part(tmp_path, target, "lib", "1-of-1", MOLECULES) for target in ("a", "b")]
    manifest = write_manifest(tmp_path / "manifest.tsv", parts)
    output = tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    return output


def ask(campaign: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    assert query.main([str(campaign), *words]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_the_best_of_every_target(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *rows = ask(campaign, capsys, "--top", "2")
    assert header == [
        *("target", "rank", "name", "score", "xscore/half", "xscore/total"),
        *("library", "file", "line", "status"),
    ]
    best = ["1", "ether", "7.2500", "3.6250", "7.2500", "lib", "lib.smi", "5", "scored"]
    second = ["2", "butane", "6.5000", "3.2500", "6.5000", "lib", "lib.smi", "3", "scored"]
    assert rows == [[target, *row] for target in "ab" for row in (best, second)]
    assert len(ask(campaign, capsys, "--target", "b", "--top", "99")) == 1 + 5


def test_by_name_ranked_or_not(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(campaign, capsys, "--target", "a", "--name", "ethanol", "cut\x1b[31m")
    assert [(row[1], row[2], row[-1].partition(":")[0]) for row in rows[1:]] == [
        ("4", "ethanol", "scored"),
        ("-", "cut [31m", "failed"),
        ("-", "ethanol", "duplicate"),
    ]
    assert query.main([str(campaign), "--name", "ethanol", "nobody"]) == 1
    printed = capsys.readouterr()
    assert "\tethanol\t" in printed.out
    assert printed.err.endswith("campaign.h5: contains no record named nobody\n")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("6.5", "6.5", ["butane", "amine"]),
        ("-10", "5", ["ethanol", "acid"]),
        ("6.6", "99", ["ether"]),
        ("-1000", "1000", ["ether", "butane", "amine", "ethanol", "acid"]),
        ("8", "9", []),
    ],
)
def test_by_score(
    campaign: Path, capsys: pytest.CaptureFixture[str], low: str, high: str, expected: list[str]
) -> None:
    rows = ask(campaign, capsys, "--target", "a", "--score", low, high)
    assert [row[2] for row in rows[1:]] == expected


def test_bad_questions_are_sentences(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert query.main([str(campaign), "--target", "c"]) == 1
    assert "contains no target c; it has a, b" in capsys.readouterr().err
    assert query.main([str(campaign), "--score", "9", "5"]) == 2
    assert capsys.readouterr().err.endswith("--score 9 5: give the lower score first\n")
    with pytest.raises(SystemExit) as stop:
        query.main([str(campaign), "--top", "-1"])
    assert stop.value.code == 2
    assert "-1: give a whole number, 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("count", [0, 1, 40, 3000, 10_000])
def test_rows_are_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(table, "PIECE", 1000)
    rows = np.sort(np.random.default_rng(1).choice(10_000, count, replace=False))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        numbers = file.create_dataset("n", data=np.arange(10_000), chunks=(777,))
        words = write_column(file, "t", np.array([f"n{i}" for i in range(10_000)], object), TEXT)
        assert np.array_equal(some_rows(numbers, rows), rows)
        assert some_rows(words, rows).tolist() == [f"n{i}" for i in rows]
