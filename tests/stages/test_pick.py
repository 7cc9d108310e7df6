"""Picking molecules to buy: the ranking, less what is too much alike, in three formats."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rdkit import Chem

from ligen_py import pick
from tests.stages.factory import Molecule, merged, write_part

VENDOR = json.dumps({"price": "12", "=cmd": "=1+1"})
MOLECULES = [
    Molecule("phenyl1", "NCCc1ccccc1", 9.0, extra=VENDOR),
    Molecule("phenyl2", "CNCCc1ccccc1", 8.0),
    Molecule("phenyl3", "OCCc1ccccc1", 7.0),
    Molecule("chain1", "CCCCCCO", 6.0),
    Molecule("=evil()", "CCCCCN", 5.0),
    Molecule("pyridyl", "NCCc1ccccn1", 4.0),
]


pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pick")
    parts = [write_part(folder, name, "lib", "1-of-1", MOLECULES) for name in ("one", "two")]
    return merged(folder, parts)


def run(campaign: Path, *flags: str) -> int:
    return pick.main([str(campaign), "--target", "one", *flags])


def test_the_best_of_each_scaffold_go_to_the_terminal(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(campaign, "--count", "4", "--max-per-scaffold", "1") == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [row["name"] for row in rows] == ["phenyl1", "chain1", "pyridyl"]
    assert [row["rank"] for row in rows] == ["1", "4", "6"]
    assert [row["scaffold"] for row in rows] == ["c1ccccc1", "", "c1ccncc1"]
    assert rows[0]["price"] == "12"
    assert "picked 3, not 4, of the 6 molecules" in said.err
    # Every molecule has a stored pose already.
    assert said.err.endswith("; loosen --max-per-scaffold 1\n")
    flags = ["--count", "40", "--max-per-scaffold", "6"]
    assert run(campaign, *flags, "--max-similarity", "0.3") == 0
    assert capsys.readouterr().err.endswith("; loosen --max-similarity 0.3\n")
    assert run(campaign, *flags) == 0
    assert capsys.readouterr().err == "picked 6 of 6 molecules\n"


def test_the_ending_chooses_the_format(campaign: Path, tmp_path: Path) -> None:
    for ending in ("csv", "sdf", "smi"):
        output = tmp_path / f"order.{ending}"
        assert run(campaign, "--count", "5", "--output", str(output)) == 0
    names = [molecule.name for molecule in MOLECULES[:5]]
    rows = list(csv.DictReader((tmp_path / "order.csv").open(encoding="utf-8")))
    assert [row["name"].removeprefix("'") for row in rows] == names
    assert "'=evil()" in (tmp_path / "order.csv").read_text()
    supplier = Chem.SDMolSupplier(str(tmp_path / "order.sdf"), removeHs=False)
    poses = list(supplier)
    assert [mol.GetProp("_Name") for mol in poses] == names
    assert poses[0].GetProp("scaffold") == "c1ccccc1"
    assert all(mol.GetConformer().Is3D() for mol in poses)
    lines = (tmp_path / "order.smi").read_text().splitlines()
    assert [line.split("\t")[1] for line in lines] == names
    assert lines[0].split("\t")[0] == Chem.CanonSmiles(MOLECULES[0].smiles)


def test_like_molecules_and_doubted_ones_are_left_out(campaign: Path, tmp_path: Path) -> None:
    def names(*flags: str) -> list[str]:
        output = tmp_path / "picked.smi"
        assert run(campaign, "--output", str(output), *flags) == 0
        return [line.split("\t")[1] for line in output.read_text().splitlines()]

    every = [molecule.name for molecule in MOLECULES]
    assert names("--max-per-scaffold", "9") == every
    alike = names("--max-similarity", "0.4")
    assert alike[0] == "phenyl1"
    assert "phenyl2" not in alike
    # All are lighter than 150 g/mol.
    assert names("--undoubted") == []


@pytest.mark.parametrize(("doubted", "looked"), [((), [2]), ((1, 2), [2, 6]), ((1, 3), [2])])
def test_no_more_molecules_are_looked_at_than_needed(
    campaign: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    doubted: tuple[int, ...],
    looked: list[int],
) -> None:
    asked = []

    def dossier(campaign: Any, about: Any, count: int, *_: Any) -> SimpleNamespace:
        asked.append(count)
        ranks = range(1, count + 1)
        doubts = [["doubt"] if rank in doubted else [] for rank in ranks]
        rows = zip(ranks, doubts, strict=True)
        return SimpleNamespace(hits=[SimpleNamespace(rank=r, doubts=d) for r, d in rows])

    monkeypatch.setattr(pick, "dossier_of", dossier)
    output = tmp_path / "picked.smi"
    assert run(campaign, "--undoubted", "--count", "1", "--output", str(output)) == 0
    assert asked == looked
    best = next(rank for rank in range(1, 7) if rank not in doubted)
    assert output.read_text().split("\t")[1].strip() == MOLECULES[best - 1].name


@pytest.mark.parametrize(
    ("flags", "sentence", "code"),
    [
        (["--target", "three"], "contains no target three; it has one, two", 1),
        (["--output", "order.xlsx"], "end the name with one of .csv, .sdf, .smi", 2),
        (["--max-similarity", "0"], "--max-similarity 0: give more than 0, up to 1", 2),
    ],
)
def test_wrong_flags_are_sentences(
    campaign: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str, code: int
) -> None:
    assert run(campaign, *flags) == code
    assert sentence in capsys.readouterr().err


def test_several_targets_need_a_name(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pick.main([str(campaign)]) == 2
    assert "give --target, one of: one, two" in capsys.readouterr().err
