"""Files without their rows: they stand for what they were."""

import hashlib
import resource
from pathlib import Path

import h5py
import pytest

from ligen_py.errors import InputError, OutputError
from ligen_py.provenance import Input, Run, file_digest
from ligen_py.records.poses import POSES
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files.dropped import drop_rows, is_dropped
from ligen_py.store.files.fresh import is_fresh
from ligen_py.store.files.read import groups_in, open_file, run_record
from ligen_py.store.files.seal import is_broken
from ligen_py.store.files.write import new_file

RUN = Run("dock", DockSettings(), (Input("ligands.h5", "0" * 64),), "a device")


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    path = tmp_path / "poses.h5"
    with new_file(path, POSES, RUN) as file:
        file["poses/score"] = list(range(10_000))
    return path


def test_all_but_the_rows_stays(poses: Path) -> None:
    digest, record, size = file_digest(poses), run_record(poses, POSES), poses.stat().st_size
    assert not is_dropped(poses)
    drop_rows(poses, POSES)
    assert is_dropped(poses)
    assert poses.stat().st_size < size / 5
    assert file_digest(poses) == digest == Input.of(poses).sha256
    assert {**run_record(poses, POSES), "dropped": ""} == {**record, "dropped": ""}
    assert is_fresh(poses, POSES, RUN)
    content = poses.read_bytes()
    drop_rows(poses, POSES)
    assert poses.read_bytes() == content
    assert [path.name for path in poses.parent.iterdir()] == ["poses.h5"]


def test_rows_that_were_dropped_cannot_be_read(poses: Path) -> None:
    drop_rows(poses, POSES)
    with pytest.raises(InputError, match="its rows were dropped"):
        groups_in(poses, POSES)
    with pytest.raises(InputError, match="its rows were dropped"), open_file(poses, POSES):
        pass


def test_a_wrong_byte_is_noticed(poses: Path) -> None:
    drop_rows(poses, POSES)
    content = bytearray(poses.read_bytes())
    content[content.index(b"stands for ") + 20] ^= 1
    poses.write_bytes(content)
    assert is_broken(poses)
    with pytest.raises(InputError, match="its checksum differs"):
        run_record(poses, POSES)


@pytest.mark.parametrize("most", [300, 1000, 3000])
def test_on_a_full_disk_the_file_stays_whole(poses: Path, most: int) -> None:
    content, limits = poses.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"poses\.h5: cannot be written") as caught:
            drop_rows(poses, POSES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "\n" not in str(caught.value)
    assert poses.read_bytes() == content
    assert [path.name for path in poses.parent.iterdir()] == ["poses.h5"]


def test_a_text_stands_for_itself(tmp_path: Path) -> None:
    text = tmp_path / "library.smi"
    text.write_text(f"CCO ethanol\nligen_py stands for {'0' * 64}\n")
    assert file_digest(text) == hashlib.sha256(text.read_bytes()).hexdigest()
    assert not is_dropped(text)


def test_what_is_no_such_file_was_not_dropped(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    assert not is_dropped(empty)
    empty.touch()
    assert not is_dropped(empty)
    with h5py.File(tmp_path / "foreign.h5", "w"):
        pass
    assert not is_dropped(tmp_path / "foreign.h5")
    with pytest.raises(InputError, match="does not exist"):
        drop_rows(tmp_path / "none.h5", POSES)
