"""What is known of files' contents from one run to the next."""

import json
import os
import time
from pathlib import Path

import pytest

from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.store.campaign import contents
from ligen_py.store.campaign.contents import KEPT, Contents, require_past, require_records

TIME = 10**18


def written(path: Path, text: str, time: int = TIME) -> Path:
    path.write_text(text)
    os.utime(path, ns=(time, time))
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are read."""
    names: list[str] = []

    def noted(path: Path) -> str:
        names.append(path.name)
        return file_digest(path)

    monkeypatch.setattr(contents, "file_digest", noted)
    return names


def test_a_file_is_read_once_until_its_size_or_time_differs(
    tmp_path: Path, read: list[str]
) -> None:
    path = written(tmp_path / "a", "one")
    for _ in range(2):
        known = Contents(tmp_path)
        assert known.digests([path, path]) == [file_digest(path)] * 2
        known.keep()
    assert read == ["a"]
    written(path, "two", TIME - 1)
    known = Contents(tmp_path)
    assert known.digest(path) == file_digest(path)
    known.keep()
    written(path, "longer", TIME - 1)
    assert Contents(tmp_path).digest(path) == file_digest(path)
    assert read == ["a"] * 3


def test_a_correction_of_equal_size_and_time_is_seen(tmp_path: Path) -> None:
    """As `rsync -a` and `touch -r` leave it; the time of change is not theirs to set."""
    path = written(tmp_path / "a", "one")
    known = Contents(tmp_path)
    known.digest(path)
    known.keep()
    changed = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == changed:  # the system's clock has steps
        written(path, "two")
    assert Contents(tmp_path).digest(path) == file_digest(path)


def test_all_is_read_when_deep(tmp_path: Path, read: list[str]) -> None:
    path = written(tmp_path / "a", "one")
    for deep in (False, False, True):
        known = Contents(tmp_path, deep)
        known.digest(path)
        known.keep()
    assert read == ["a"] * 2


def test_a_note_without_times_of_change_is_as_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a", "one")
    (tmp_path / KEPT).parent.mkdir()
    (tmp_path / KEPT).write_text(json.dumps({str(path): [3, TIME, "of another file"]}))
    assert Contents(tmp_path).digest(path) == file_digest(path)


def test_what_one_run_does_not_look_at_stays_known(tmp_path: Path, read: list[str]) -> None:
    first, second = written(tmp_path / "a", "one"), written(tmp_path / "b", "two")
    for path in (first, second):
        known = Contents(tmp_path)
        known.digest(path)
        known.keep()
    Contents(tmp_path).digests([first, second])
    assert read == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"/a": 1}', '{"/a": [1, 2]}', "[" * 9999, "\x00", "null"]
)
def test_a_damaged_note_is_as_none(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "a", "one")
    (tmp_path / KEPT).parent.mkdir()
    (tmp_path / KEPT).write_text(text)
    assert Contents(tmp_path).digest(path) == file_digest(path)


def test_where_nothing_can_be_noted_files_are_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "a", "one")
    (tmp_path / KEPT.parts[0]).write_text("a file where the folder should be")
    known = Contents(tmp_path)
    known.digest(path)
    known.keep()
    assert Contents(tmp_path).digest(path) == file_digest(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: cannot be read"):
        Contents(tmp_path).digest(tmp_path / "gone")


def test_any_result_without_records_is_refused(tmp_path: Path) -> None:
    """A campaign that was ended early has no table, but files that would count as up to date."""
    require_records(tmp_path)
    (tmp_path / "results" / "pockets").mkdir(parents=True)
    for name in (".gitkeep", "notes.txt", "pockets/.dhfr.h5.node-1-2.x.part"):
        (tmp_path / "results" / name).write_text("no result")
    require_records(tmp_path)
    (tmp_path / "results" / "pockets" / "dhfr.h5").write_text("made with other settings")
    with pytest.raises(InputError, match="Snakemake's records of how these files were made"):
        require_records(tmp_path)
    records = tmp_path / ".snakemake" / "metadata"
    records.mkdir(parents=True)
    (records / "one").write_text("{}")
    require_records(tmp_path)


def test_results_of_a_clock_that_is_ahead_end_the_run(tmp_path: Path) -> None:
    """Snakemake deleted what was made from them, and said nothing of clocks at the end."""
    part = tmp_path / "results" / "pockets" / "dhfr.h5"
    part.parent.mkdir(parents=True)
    part.touch()
    os.utime(part.parent, (time.time() + 3600,) * 2)  # no file
    (part.parent / "gone").symlink_to(tmp_path / "nowhere")
    require_past(tmp_path)
    os.utime(part, (time.time() + 2,) * 2)
    require_past(tmp_path)
    os.utime(part, (time.time() + 3600,) * 2)
    with pytest.raises(InputError, match=f"{part}: is 3,[56]00 s newer.*; set the clocks, then "):
        require_past(tmp_path)
