"""Some molecules of a library file: how many, from where, and what is read for them."""

import gzip
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from ligen_py.formats import library_files, parts_of
from ligen_py.molecules.library import sampling
from ligen_py.molecules.library.reading import GUESSED
from ligen_py.molecules.library.sampling import some_records

COUNT = 20_000


def sample(path: Path, share: int) -> list[int]:
    """Numbers of the molecules that are looked at, in turn."""
    (file,) = library_files(path)
    return [int(one.name[1:]) for one in some_records(file, GUESSED, parts_of(file, 1), share)]


@pytest.fixture(scope="module")
def text() -> str:
    return "".join(f"{'C' * 50} m{n:07d}\n" for n in range(COUNT))


def test_a_small_file_is_looked_at_whole(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.smi").write_text(text)
    assert sample(tmp_path / "a.smi", COUNT) == list(range(COUNT))


def test_places_spread_over_a_plain_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.smi").write_text(text)
    (tmp_path / "b.smi").write_text(text)
    found = sample(tmp_path / "a.smi", 2000)
    assert 1900 < len(found) == len(set(found)) < 2200
    stretches = {number * 8 // COUNT for number in found}
    assert stretches == set(range(8))
    assert sample(tmp_path / "a.smi", 2000) == found
    assert sample(tmp_path / "b.smi", 2000) != found
    assert len(sample(tmp_path / "a.smi", 5)) in range(4, 8)


def test_of_a_huge_file_the_beginning_is_read(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "REACH", len(text) // 4)
    (tmp_path / "a.smi").write_text(text)
    found = sample(tmp_path / "a.smi", 2000)
    assert 1900 < len(found) < 2200
    assert max(found) < COUNT // 4 + 10
    rows = [line.split() for line in text.splitlines()]
    table = {"smiles": [row[0] for row in rows], "name": [row[1] for row in rows]}
    parquet.write_table(pyarrow.table(table), tmp_path / "a.parquet", compression="none")
    assert max(sample(tmp_path / "a.parquet", 2000)) > COUNT // 2  # is entered anywhere


def test_a_compressed_file_is_read_no_further_than_needed(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.smi.gz").write_bytes(gzip.compress(text.encode(), 0)[:-100_000])
    found = sample(tmp_path / "a.smi.gz", 1000)  # its end is cut off, which nobody notices
    assert found == [8 * number for number in range(1000)]
