"""Hits from Python: a sequence, files and a data frame that say the same."""

import csv
from pathlib import Path

import pyarrow.parquet
import pytest
from rdkit import Chem

from ligen_py.api import Hits


def test_hits_are_a_sequence(library_hits: Hits) -> None:
    assert len(library_hits) == 5
    assert [hit.rank for hit in library_hits] == [1, 2, 3, 4, 5]
    assert library_hits[-1] is list(library_hits)[4]
    assert [hit.rank for hit in library_hits[1:3]] == [2, 3]
    first = library_hits[0]
    assert set(first.terms) >= {"vina.total", "vina.affinity", "ad4.total", "xscore.total"}
    assert first.terms["vina.total"] == -first.terms["vina.affinity"]
    assert library_hits.functions == ["vina", "ad4", "xscore"]


def test_poses_are_ordered_and_the_first_is_the_best(library_hits: Hits) -> None:
    for hit in library_hits:
        energies = [float(pose.GetProp("energy")) for pose in hit.poses]
        assert energies == sorted(energies)
        assert 1 <= len(energies) <= 3
        assert hit.pose is hit.poses[0]


def test_files_and_frame_say_the_same(library_hits: Hits, tmp_path: Path) -> None:
    library_hits.to_sdf(tmp_path / "hits.sdf")
    library_hits.to_csv(tmp_path / "hits.csv")
    library_hits.to_parquet(tmp_path / "hits.parquet")
    mols = list(Chem.SDMolSupplier(str(tmp_path / "hits.sdf"), removeHs=False))
    assert len(mols) == sum(len(hit.poses) for hit in library_hits)
    with (tmp_path / "hits.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    table = pyarrow.parquet.read_table(tmp_path / "hits.parquet").to_pylist()
    best = [mol for mol in mols if mol.GetProp("pose") == "1"]
    for hit, row, other, mol in zip(library_hits, rows, table, best, strict=True):
        assert float(row["score"]) == other["score"] == hit.score == float(mol.GetProp("score"))
        assert row["name"] == other["name"] == hit.name == mol.GetProp("_Name")
        assert float(row["vina.total"]) == hit.terms["vina.total"] == other["vina.total"]
    pandas = pytest.importorskip("pandas")
    frame = library_hits.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [*rows[0], "pose"]
    assert frame["rank"].tolist() == [1, 2, 3, 4, 5]
    assert frame["score"].tolist() == [hit.score for hit in library_hits]
    assert frame["pose"][0].GetNumConformers() == 1


def test_a_frame_needs_pandas(library_hits: Hits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        library_hits.frame()


def test_hits_are_printed_as_a_table(library_hits: Hits) -> None:
    text = repr(library_hits)
    assert text.startswith("<Hits: 5 molecules, 2 failures>")
    assert all(hit.name in text for hit in library_hits)
    assert "more" not in text
    assert len(library_hits.table(2).splitlines()) == 3
