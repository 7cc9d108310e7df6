"""The checksum line behind a file's contents."""

import hashlib
from pathlib import Path

import pytest

from ligen_py.store.files import seal as sealing
from ligen_py.store.files.seal import LENGTH, MAGIC, has_line, is_broken, seal


def sealed(path: Path, size: int) -> Path:
    path.write_bytes(b"x" * size)
    seal(path)
    return path


def test_a_sealed_file_is_whole_and_a_changed_one_is_not(tmp_path: Path) -> None:
    path = sealed(tmp_path / "a", 1000)
    assert path.stat().st_size == 1000 + LENGTH
    assert has_line(path)
    assert not is_broken(path)
    data = bytearray(path.read_bytes())
    data[500] ^= 1
    path.write_bytes(data)
    assert is_broken(path)
    path.write_bytes(data[:1000])
    assert not has_line(path)
    assert not is_broken(path)


@pytest.mark.parametrize("size", [0, 1, LENGTH - 1, LENGTH])
def test_a_file_too_short_for_a_line_has_none(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a"
    path.write_bytes((MAGIC * 9)[:size])
    assert not has_line(path)
    assert not is_broken(path)


def test_files_above_the_limit_are_not_read_when_they_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit, expected in (("a", 1000 + LENGTH, True), ("b", 999 + LENGTH, False)):
        path = sealed(tmp_path / name, 1000)
        path.write_bytes(b"y" + path.read_bytes()[1:])
        monkeypatch.setattr(sealing, "LARGEST", limit)
        assert is_broken(path) is expected


def test_the_line_is_the_hash_of_the_hashes_of_blocks_of_16_mebibytes(tmp_path: Path) -> None:
    """As docs/format.md says."""
    most = 16 * 1024 * 1024
    path = sealed(tmp_path / "a", most + 5)
    parts = [hashlib.sha256(b"x" * size).digest() for size in (most, 5)]
    digest = hashlib.sha256(b"".join(parts)).hexdigest()
    assert path.read_bytes()[most + 5 :].decode() == f"{MAGIC.decode()}{digest}\n"


def test_blocks_are_hashed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sealed(tmp_path / "a", 1000).read_bytes()[1000:]
    monkeypatch.setattr(sealing, "BLOCK", 100)
    pieces = sealed(tmp_path / "b", 1000).read_bytes()[1000:]
    assert pieces != whole
    data = bytearray((tmp_path / "b").read_bytes())
    data[0:100], data[100:200] = b"z" * 100, b"x" * 100
    (tmp_path / "b").write_bytes(data)
    assert is_broken(tmp_path / "b")
