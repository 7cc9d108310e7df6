"""What a running campaign shows: bars, lines and a file to tail."""

import io
import logging
import time
from collections import Counter
from pathlib import Path

import pytest

from ligen_py.follow import Bars, Running, _Follower, follow
from ligen_py.progress import State
from tests.stages.factory import Molecule, write_manifest, write_part

GOOD = [Molecule("butane", "CCCC", 6.0), Molecule("cut", "C(", None)]
BAD = [Molecule("amine", "CCN", None), Molecule("ether", "CCOCC", 4.0)]


def test_a_file_that_vanishes_while_it_is_read_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", GOOD)
    table = write_manifest(tmp_path / "m.tsv", [part])
    part.ligands.unlink()
    looks, said = [], []

    def exists(path: Path) -> bool:
        looks.append(path)
        if len(looks) > 20:
            raise SystemExit
        return True

    monkeypatch.setattr(Path, "exists", exists)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    follower = _Follower(Running(table), tmp_path / "p.log", said.append, 60, None)
    with pytest.raises(SystemExit):
        follower.run()
    assert said == []


def test_bars_show_parts_records_and_losses() -> None:
    from rich.console import Console

    screen, log = io.StringIO(), logging.StreamHandler(io.StringIO())
    before = log.stream
    bars = Bars([log], Console(file=screen, force_terminal=True, width=120))
    assert log.stream is not before
    lost = Counter({"unparsable": 2})
    bars.show(State(3, 8, 300, 800.0, False, 12.5, 40.0, lost, "best score so far 6.00 x"))
    bars.stop()
    assert log.stream is before
    assert "3 of 8; 12.5 records/s, 1 min left" in screen.getvalue()
    assert "300 of about 800; 2 unparsable; best score so far 6.00 x" in screen.getvalue()


def test_a_follower_writes_a_file_to_tail_and_survives_damage(tmp_path: Path) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", GOOD)
    shown: list[str] = []
    manifest, log = tmp_path / "m.tsv", tmp_path / "logs/progress.log"
    follow(Running(manifest), log, shown.append, pause=0.01)
    write_manifest(manifest, [part])
    wait_for(lambda: log.exists() and "1 of 1 parts, 2 of 2 records done" in log.read_text())
    wait_for(lambda: shown)  # a moment after the file
    assert any(line.startswith("1 of 1 parts") for line in shown)
    other = write_part(tmp_path, "t", "lib", "2-of-2", BAD, first_line=9)
    manifest.unlink()
    write_manifest(manifest, [part, other])
    wait_for(lambda: "2 of 2 parts, 4 of 4 records done" in log.read_text())
    broken = tmp_path / "broken.tsv"
    broken.write_text("nonsense")
    follow(Running(broken), log, shown.append, pause=0.01)
    wait_for(lambda: any("the first line must contain" in line for line in shown))


def test_parts_of_searches_are_counted_without_a_manifest(tmp_path: Path) -> None:
    from rich.console import Console

    files, log = [tmp_path / "a.h5", tmp_path / "b.h5"], tmp_path / "logs/progress.log"
    shown: list[str] = []
    files[0].touch()
    follow(Running(tmp_path / "none.tsv", files), log, shown.append, pause=0.01)
    wait_for(lambda: "1 of 2 parts of searches" in shown)
    files[1].touch()
    wait_for(lambda: "2 of 2 parts of searches" in log.read_text())
    screen = io.StringIO()
    bars = Bars([], Console(file=screen, force_terminal=True, width=120))
    bars.show_searches(1, 2)
    bars.stop()
    assert "searches" in screen.getvalue()
    assert "1 of 2 parts" in screen.getvalue()
    assert "records" not in screen.getvalue()


def wait_for(true: object) -> None:
    while not true():  # type: ignore[operator]
        time.sleep(0.01)  # the limit of every test ends it
