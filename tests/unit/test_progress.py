"""How far a campaign is: by hand-made parts that appear one after the other."""

import time
from pathlib import Path

import pytest

from ligen_py import progress
from ligen_py.progress import Progress, follow
from ligen_py.store.campaign.manifest import read_manifest
from tests.stages.factory import Molecule, write_manifest, write_part

GOOD = [Molecule("butane", "CCCC", 6.0), Molecule("cut", "C(", None)]
BAD = [Molecule("amine", "CCN", None), Molecule("ether", "CCOCC", 4.0)]


def test_records_rate_time_left_and_losses(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "t", "lib", f"{number}-of-3", molecules, first_line=10 * number)
        for number, molecules in ((1, GOOD), (2, BAD), (3, GOOD))
    ]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    hidden = [part.scores.rename(part.scores.with_suffix(".later")) for part in parts]
    parts[2].ligands.unlink()
    now = [100.0]
    told = Progress(manifest, clock=lambda: now[0])
    assert told.line() == "0 of 3 parts, 0 of about 6 records done; none lost"
    hidden[0].rename(parts[0].scores)
    now[0] += 0.02
    assert told.line() == (
        "1 of 3 parts, 2 of about 6 records done; 100 records/s, 0 min left; 1 unparsable"
    )
    hidden[1].rename(parts[1].scores)
    now[0] += 4 * 3600
    said = told.line()
    assert said.startswith(
        "2 of 3 parts, 4 of about 6 records done; 0.000278 records/s, 2 h 00 min left"
    )
    assert said.endswith("1 unparsable, 1 no finite score")


def test_a_follower_writes_a_file_to_tail_and_survives_damage(tmp_path: Path) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", GOOD)
    told: list[str] = []
    manifest, log = tmp_path / "m.tsv", tmp_path / "logs/progress.log"
    follow(manifest, log, told.append, pause=0.01)
    write_manifest(manifest, [part])
    wait_for(lambda: log.exists() and "1 of 1 parts, 2 of 2 records done" in log.read_text())
    assert any(line.startswith("1 of 1 parts") for line in told)
    broken = tmp_path / "broken.tsv"
    broken.write_text("nonsense")
    follow(broken, log, told.append, pause=0.01)
    wait_for(lambda: any("the first line must hold" in line for line in told))


def wait_for(true: object) -> None:
    while not true():  # type: ignore[operator]
        time.sleep(0.01)  # the limit of every test ends it


def test_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [write_part(tmp_path, "t", "lib", "1-of-1", GOOD)]
    assert progress.main([str(write_manifest(tmp_path / "m.tsv", parts))]) == 0
    assert capsys.readouterr().out.startswith("1 of 1 parts, 2 of 2 records done; 1 unparsable")
