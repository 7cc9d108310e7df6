"""Rows sorted on disk: as one sort in memory gives them, whatever the runs, with bounded memory."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ligen_py.errors import InputError
from ligen_py.store.files.runs import Runs, Spool

ROOT = Path(__file__).parents[4]
DTYPE = np.dtype([("a", "f4"), ("b", "u1"), ("c", "i8")])
ROWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(-3, 3)), max_size=60)


@given(ROWS, st.integers(1, 12), st.integers(1, 9))
def test_rows_come_back_sorted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]], memory: int, piece: int
) -> None:
    runs = Runs(tmp_path_factory.getbasetemp() / "out", DTYPE, memory)
    for start in range(0, len(rows), piece):
        runs.add(np.array(rows[start : start + piece], DTYPE))
    pieces = list(runs)
    assert all(len(found) for found in pieces)
    assert [row for found in pieces for row in found.tolist()] == sorted(rows)


def test_nothing_is_left_beside_the_output(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "out", DTYPE, 2)
    for row in range(5):
        runs.add(np.array([(-row, 0, row)], DTYPE))
    assert list(tmp_path.iterdir()) == []
    assert [row for found in runs for row in found["c"].tolist()] == [4, 3, 2, 1, 0]
    assert list(tmp_path.iterdir()) == []


def test_spooled_rows_are_found_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "out", DTYPE)
    rows = np.array([(row / 4, row % 3, row) for row in range(100)], DTYPE)
    spool.add(rows[:40])
    assert spool.rows(np.array([39, 3])).tolist() == rows[[39, 3]].tolist()
    spool.add(rows[40:40])
    spool.add(rows[40:])
    assert spool.count == 100
    assert spool.between(38, 42).tolist() == rows[38:42].tolist()
    assert len(spool.rows(np.empty(0, "i8"))) == 0


def test_a_spool_that_is_dropped_closes_its_file(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Spool(tmp_path / "out", DTYPE).add(np.zeros(2, DTYPE))
    assert not said


def test_a_full_disk_names_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    runs = Runs(tmp_path / "out.h5", DTYPE, 2)
    monkeypatch.setattr("os.write", full)
    with pytest.raises(InputError, match=r"out\.h5: cannot be written \(No space left"):
        runs.add(np.zeros(2, DTYPE))


MANY = """
import re, sys
from pathlib import Path
import numpy as np
from ligen_py.store.files.runs import Runs
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
dtype, generator = np.dtype([("key", "u8"), ("row", "i8")]), np.random.default_rng(0)
runs = Runs(Path("out"), dtype, 100_000)
for start in range(0, 4_000_000, 50_000):
    rows = np.empty(50_000, dtype)
    rows["key"] = generator.integers(0, 1 << 40, 50_000)
    rows["row"] = np.arange(start, start + 50_000)
    runs.add(rows)
    if not start:
        before = peak()
last, count = np.zeros(1, dtype)[0], 0
for piece in runs:
    keys = np.concatenate([[last["key"]], piece["key"]])
    assert (np.diff(keys.astype("i8")) >= 0).all()
    last, count = piece[-1], count + len(piece)
assert count == 4_000_000
print(peak() - before)
"""


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) < 30  # megabytes; all rows are 64
