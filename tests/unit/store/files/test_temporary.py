"""The order in which a file becomes durable, so that a power failure leaves the old or the new."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ligen_py.errors import InputError
from ligen_py.store.files.temporary import publish, temporary_for


def test_contents_come_before_names_and_names_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that loses what was not synced has, at each moment, no file or all of it."""
    calls: list[tuple[str, str]] = []
    fsync, replace = os.fsync, Path.replace

    def traced_fsync(handle: int) -> None:
        calls.append(("fsync", str(Path(f"/proc/self/fd/{handle}").readlink())))
        fsync(handle)

    def traced_replace(self: Path, target: Any) -> Path:
        calls.append(("rename", f"{self} -> {target}"))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", traced_fsync)
    monkeypatch.setattr(Path, "replace", traced_replace)
    pairs = []
    for name in ("a", "b"):
        temporary = temporary_for(tmp_path / name)
        temporary.write_text(name)
        pairs.append((temporary, tmp_path / name))
    publish(pairs)
    assert calls == [
        *(("fsync", str(temporary)) for temporary, _ in pairs),
        *(("rename", f"{temporary} -> {path}") for temporary, path in pairs),
        ("fsync", str(tmp_path)),
    ]
    assert [path.read_text() for _, path in pairs] == ["a", "b"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = Path(os.devnull) if kind == "device" else tmp_path / "out.h5"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    before = path.stat()
    with pytest.raises(InputError, match=rf"^{path}: cannot be written \(no regular file\)"):
        temporary_for(path)
    assert path.stat().st_ino == before.st_ino
    assert list(tmp_path.iterdir()) == ([] if kind == "device" else [path])


def test_threads_that_write_at_once_leave_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    umask = os.umask

    def slow(mask: int) -> int:
        found = umask(mask)
        time.sleep(0.01)
        return found

    before = umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", slow)
        paths = [tmp_path / str(number) for number in range(4)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda path: publish([(temporary_for(path), path)]), paths))
        left = umask(0o027)
    finally:
        umask(before)
    assert left == 0o027
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o640}
