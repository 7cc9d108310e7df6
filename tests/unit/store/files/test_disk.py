"""What a disk that refuses leaves behind: one sentence, and no file."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.column import Kind
from ligen_py.records.ledger import Ledger
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files import disk
from ligen_py.store.files.growing import growing
from ligen_py.store.files.read import open_file
from ligen_py.store.files.table import extend, growing_column
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.write import TEXT, new_file, write_column

KIND = Kind("odd", 1, {"ledger": Ledger})
RUN = Run("dock", DockSettings())


def write_all(path: Path) -> None:
    """A file with all that HDF5 keeps in places of its own: numbers, texts, growing columns."""
    with new_file(path, KIND, RUN) as file:
        group = file.create_group("a")
        write_column(group, "numbers", np.arange(200_000, dtype="f4"))
        write_column(group, "texts", np.array([f"name {i}" for i in range(3000)], object), TEXT)
        growing_column(group, "growing", "f4", 5000, (3,), doc="grows")
        for _ in range(20):
            extend(group["growing"], np.ones((5000, 3), "f4"))


def fill(monkeypatch: pytest.MonkeyPatch, room: int, number: int = errno.ENOSPC) -> None:
    """Let a disk take so many bytes more, then refuse with an error's number."""
    left, pwrite = [room], os.pwrite

    def limited(handle: int, data: memoryview, place: int) -> int:
        if left[0] <= 0:
            raise OSError(number, os.strerror(number))
        done = pwrite(handle, data[: left[0]], place)
        left[0] -= done
        return done

    monkeypatch.setattr(disk.os, "pwrite", limited)


def test_a_disk_that_fills_at_any_moment_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.h5"
    write_all(path)
    size = path.stat().st_size
    path.unlink()
    for room in [0, 1, 100, *range(1000, size - 1000, size // 40)]:
        with monkeypatch.context() as patch:
            fill(patch, room)
            with pytest.raises(InputError) as caught:
                write_all(path)
        assert str(caught.value) == (
            f"{path}: cannot be written (No space left on device); make room there"
        )
        assert list(tmp_path.iterdir()) == []
    write_all(path)
    with h5py.File(path) as file:
        assert file["a/numbers"][-1] == 199_999
        assert len(file["a/growing"]) == 100_000


@pytest.mark.parametrize("name", ["EIO", "EROFS", "EDQUOT", "EPIPE", "EFBIG", "ESTALE"])
def test_whatever_the_disk_says_is_in_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    number, path = getattr(errno, name), tmp_path / "x.h5"
    for room in (0, 50_000):
        with monkeypatch.context() as patch:
            fill(patch, room, number)
            with pytest.raises(InputError) as caught:
                write_all(path)
        cure = "make room there" if name == "EDQUOT" else "name another place, or change its per"
        sentence = f"{path}: cannot be written ({os.strerror(number)}); {cure}"
        assert str(caught.value).startswith(sentence)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["ftruncate", "fdatasync", "pread"])
def test_each_call_to_the_disk_may_fail_and_the_first_error_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path, numbers = tmp_path / "x", iter([errno.EIO, errno.ENOSPC])
    path.write_bytes(b"12")

    def refused(*_: object) -> None:
        number = next(numbers)
        raise OSError(number, os.strerror(number))

    file = disk.Disk(path, path)
    action = {
        "ftruncate": lambda: file.truncate(1),
        "fdatasync": file.flush_data,
        "pread": lambda: file.readinto(bytearray(2)),
    }[call]
    monkeypatch.setattr(disk.os, call, refused)
    for _ in range(2):
        action()
        with pytest.raises(OSError, match="Input/output error"):
            file.require()
    with pytest.raises(InputError, match="Input/output error"):
        file.__exit__(None, None, None)


def test_what_the_making_of_a_text_raises_is_passed_on(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "begun"
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "input.h5")

    with pytest.raises(FileNotFoundError, match=r"input\.h5"):
        write_texts(tmp_path, {"a.txt": pieces()})
    assert list(tmp_path.iterdir()) == []


def test_texts_longer_than_a_block_are_whole(tmp_path: Path) -> None:
    pieces = [f"{number} å\n" for number in range(300_000)]
    write_texts(tmp_path, {"a.txt": pieces, "b.txt": []})
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "".join(pieces)
    assert (tmp_path / "b.txt").read_bytes() == b""


def test_a_stage_stops_soon_after_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def piece() -> Ledger:
        made.append(1)
        full = np.full(50_000, 1, "u1")
        return Ledger(status=full, reason=full * 0, detail=np.array([""] * 50_000, object))

    def stage() -> None:
        with growing(tmp_path / "x.h5", KIND, RUN) as file:
            for _ in range(1000):
                file.append("ledger", piece)

    fill(monkeypatch, 50_000)
    with pytest.raises(InputError, match="No space left on device"):
        stage()
    assert len(made) < 1000


def test_an_output_that_cannot_be_written_is_not_called_damaged(tmp_path: Path) -> None:
    source, output = tmp_path / "in.h5", tmp_path / "file" / "out.h5"
    write_all(source)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError) as caught, open_file(source, KIND):
        write_all(output)
    assert str(caught.value).startswith(f"{output}: cannot be written (")
    assert "damaged" not in str(caught.value)

    with pytest.raises(PermissionError), open_file(source, KIND):
        raise PermissionError(errno.EACCES, "Permission denied", str(output))


def test_a_text_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        write_texts(tmp_path / "file" / "folder", {"a.txt": ["b"]})


@pytest.mark.parametrize("call", [1, 3, 10, 40])
def test_ctrl_c_while_hdf5_writes_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """HDF5 threw the exception away, and the file was published without what was lost."""
    count, pwrite = [0], os.pwrite

    def interrupted(handle: int, data: memoryview, place: int) -> int:
        count[0] += 1
        if count[0] == call:
            signal.raise_signal(signal.SIGINT)
        return pwrite(handle, data, place)

    monkeypatch.setattr(disk.os, "pwrite", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored behind an '&'
    try:
        with pytest.raises(KeyboardInterrupt):
            write_all(tmp_path / "x.h5")
    finally:
        signal.signal(signal.SIGINT, before)
    assert count[0] >= call
    assert list(tmp_path.iterdir()) == []


SIGNALLED = """
import os, signal, sys, weakref
from pathlib import Path
from ligen_py.ending import Ended, ending_as_ctrl_c
from ligen_py.store.files import disk
from tests.unit.store.files.test_disk import write_all

where, call, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for one in (signal.SIGTERM, signal.SIGHUP):  # one may be ignored, as under nohup
    signal.signal(one, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
count, tell = [0], disk.Disk.tell

def told(name):
    own = getattr(disk.os, name)
    def call_of(*given):
        count[0] += 1
        if count[0] == call:
            signal.raise_signal(number)
        return own(*given)
    setattr(disk.os, name, call_of)

class Thing:
    pass

def of_weakref(_):
    signal.raise_signal(number)

told("pwrite")
try:
    with ending_as_ctrl_c():
        if where == "weakref":
            held = weakref.WeakValueDictionary()
            thing = Thing()
            reference = weakref.ref(thing, of_weakref)
            del thing
        while True:
            write_all(Path("x.h5"))
except KeyboardInterrupt as ended:
    print(type(ended).__name__, count[0] >= call or where == "weakref")
"""


@pytest.mark.parametrize(
    ("where", "call", "number", "what"),
    [
        ("disk", 1, signal.SIGTERM, "Ended"),
        ("disk", 5, signal.SIGINT, "KeyboardInterrupt"),
        ("disk", 60, signal.SIGHUP, "Ended"),
        ("weakref", 0, signal.SIGTERM, "Ended"),
    ],
)
def test_a_signal_where_an_exception_is_lost_comes_again(
    tmp_path: Path, where: str, call: int, number: int, what: str
) -> None:
    """In a callback of HDF5, and in one of a weak reference."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, where, str(call), str(int(number))],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == [what, "True"]
    assert done.stderr == ""
    if (tmp_path / "x.h5").exists():
        with open_file(tmp_path / "x.h5", KIND) as file:
            assert len(file["a/growing"]) == 100_000
    # The signal may also come before a temporary file is one of a block's.
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".part"} <= {"x.h5"}
