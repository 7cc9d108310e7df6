"""How far a campaign is: by hand-made parts that appear one after the other."""

import os
from pathlib import Path

import pytest

from ligen_py import progress
from ligen_py.errors import InputError
from ligen_py.progress import Progress
from ligen_py.store.campaign.expected import Expected
from ligen_py.store.campaign.manifest import PartFiles, read_manifest
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
    tracker = Progress(manifest, clock=lambda: now[0])
    assert str(tracker.look()) == "0 of 3 parts, 0 of about 6 records done; none lost"
    hidden[0].rename(parts[0].scores)
    now[0] += 0.02
    assert str(tracker.look()) == (
        "1 of 3 parts, 2 of about 6 records done; 100 records/s, 0 min left; 1 unparsable; "
        "best score so far 6.00 butane"
    )
    hidden[1].rename(parts[1].scores)
    now[0] += 4 * 3600
    said = str(tracker.look())
    assert said.startswith(
        "2 of 3 parts, 4 of about 6 records done; 0.000278 records/s, 2 h 00 min left"
    )
    assert said.endswith("1 unparsable, 1 no finite score; best score so far 6.00 butane")


def test_a_part_that_is_made_again_counts_when_it_is_there(tmp_path: Path) -> None:
    best = [Molecule("best", "CCCCC", 9.0)]
    parts = [
        write_part(tmp_path, "t", "lib", f"{number}-of-2", molecules, first_line=10 * number)
        for number, molecules in ((1, GOOD), (2, best))
    ]
    now = [0.0]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    tracker = Progress(manifest, clock=lambda: now[0])
    done = "2 of 2 parts, 3 of 3 records done; 1 unparsable; best score so far 9.00 best"
    assert str(tracker.look()) == done
    now[0] += progress.MINUTE
    assert str(tracker.look()) == done
    hidden = parts[1].scores.rename(parts[1].scores.with_suffix(".later"))
    now[0] += progress.MINUTE
    assert str(tracker.look()) == (
        "1 of 2 parts, 2 of 3 records done; 1 unparsable; best score so far 6.00 butane"
    )
    hidden.rename(parts[1].scores)
    now[0] += progress.MINUTE
    assert str(tracker.look()).startswith("2 of 2 parts, 3 of 3 records done; ")
    assert str(tracker.look()).endswith("best score so far 9.00 best")


def test_a_library_that_grew_counts_as_it_is_now(tmp_path: Path) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", GOOD)
    now = [0.0]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", [part]))
    tracker = Progress(manifest, clock=lambda: now[0])
    assert str(tracker.look()).startswith("1 of 1 parts, 2 of 2 records done")
    for path in (part.ligands, part.scores):
        path.unlink()
    write_part(tmp_path, "t", "lib", "1-of-1", [*GOOD, Molecule("more", "CCCCC", 5.0)])
    for path in (part.ligands, part.scores):
        made(path, 7)
    assert str(tracker.look(at_end=True)).startswith("1 of 1 parts, 3 of 3 records done")


def test_time_left_counts_down_without_jumps(tmp_path: Path) -> None:
    """Parts of a minute each, looked at every ten seconds: no look expects a later end."""
    parts = [
        write_part(tmp_path, "t", "lib", f"{number}-of-6", GOOD, first_line=10 * number)
        for number in range(1, 7)
    ]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    hidden = [part.scores.rename(part.scores.with_suffix(".later")) for part in parts]
    now = [0.0]
    tracker = Progress(manifest, clock=lambda: now[0])
    assert tracker.look().left is None
    left = []
    for second in range(10, 361, 10):
        now[0] = float(second)
        if second % 60 == 0:
            hidden[second // 60 - 1].rename(parts[second // 60 - 1].scores)
        left.append(tracker.look().left)
    assert left[:5] == [None] * 5  # nothing is finished yet
    assert left[5:] == [pytest.approx(360 - second) for second in range(60, 361, 10)]


def test_plan_says_how_long_it_takes_before_a_part_is_finished(tmp_path: Path) -> None:
    parts = [write_part(tmp_path, "t", "lib", f"{n}-of-2", GOOD, first_line=n) for n in (1, 2)]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    hidden = [part.scores.rename(part.scores.with_suffix(".later")) for part in parts]
    Expected(900.0).write(tmp_path)
    now = [0.0]
    tracker = Progress(manifest, lambda: now[0], Expected.read(tmp_path))
    assert str(tracker.look()) == (
        "0 of 2 parts, 0 of 4 records done; 1 h 00 min expected by plan; none lost"
    )
    hidden[0].rename(parts[0].scores)
    now[0] = 60.0
    assert "; 0.0333 records/s, 1 min left; " in str(tracker.look())
    for damaged in ("", "{}", '{"seconds": "x"}', '{"seconds": -1}', "[1]"):
        (tmp_path / ".snakemake/ligen_expected.json").write_text(damaged)
        assert Expected.read(tmp_path) is None


def test_time_of_the_controls_is_not_that_of_the_libraries(tmp_path: Path) -> None:
    parts = [write_part(tmp_path, "t", "lib", f"{n}-of-2", GOOD, first_line=n) for n in (1, 2)]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    hidden = [part.scores.rename(part.scores.with_suffix(".later")) for part in parts]
    now = [0.0]
    tracker = Progress(manifest, lambda: now[0])
    tracker.look()
    now[0] = 1000.0
    accepted = tmp_path / "controls/t/accepted.txt"
    accepted.parent.mkdir(parents=True)
    accepted.touch()
    tracker.look()
    now[0] = 1060.0
    hidden[0].rename(parts[0].scores)
    assert tracker.look().rate == pytest.approx(2 / 60)


def test_the_best_so_far_of_each_target(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "a", "lib", "1-of-1", GOOD),
        write_part(tmp_path, "b", "lib", "1-of-1", GOOD),
        write_part(tmp_path, "a", "lib2", "1-of-1", [Molecule("top", "CCCO", 9.0)]),
        write_part(tmp_path, "b", "lib2", "1-of-1", BAD),
        write_part(tmp_path, "a", "control-a", "1-of-1", [Molecule("x", "CO", 99.0)],
                   crystal=tmp_path / "c.sdf"),
    ]  # fmt: skip
    (tmp_path / "c.sdf").write_text("")
    state = Progress(read_manifest(write_manifest(tmp_path / "m.tsv", parts))).look()
    assert state.best == "best score so far 9.00 top in a, 6.00 butane in b"


def test_a_part_that_takes_longer_slows_the_rate(tmp_path: Path) -> None:
    parts = [write_part(tmp_path, "t", "lib", f"{n}-of-2", GOOD, first_line=n) for n in (1, 2)]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    hidden = [part.scores.rename(part.scores.with_suffix(".later")) for part in parts]
    now = [0.0]
    tracker = Progress(manifest, clock=lambda: now[0])
    tracker.look()
    now[0] = 60.0
    hidden[0].rename(parts[0].scores)
    rates = []
    for now[0] in (60.0, 90.0, 120.0, 180.0, 600.0):
        rates.append(tracker.look().rate)
    assert rates == [pytest.approx(2 / s) for s in (60, 60, 60, 120, 540)]


def test_a_file_that_is_not_parsed_counts_as_the_others_of_its_library(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "t", "large", "1-of-2", GOOD + BAD),
        write_part(tmp_path, "t", "large", "2-of-2", GOOD + BAD, first_line=9),
        write_part(tmp_path, "t", "small", "1-of-1", GOOD),
        write_part(tmp_path, "t", "control-t", "1-of-1", GOOD[:1], crystal=tmp_path / "c.sdf"),
    ]
    for part in (parts[1], parts[3]):
        part.ligands.unlink()
        part.scores.unlink()
    state = Progress(read_manifest(write_manifest(tmp_path / "m.tsv", parts))).look()
    assert (state.records, state.all_records, state.exact) == (6, 4 + 4 + 2, False)


def test_a_redocked_ligand_is_no_record(tmp_path: Path) -> None:
    """It was one, so that a finished campaign had a record more than ledger and report."""
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-1", GOOD),
        write_part(tmp_path, "t", "control-t", "1-of-1", GOOD[1:], crystal=tmp_path / "c.sdf"),
    ]
    said = str(Progress(read_manifest(write_manifest(tmp_path / "m.tsv", parts))).look())
    assert said.startswith("2 of 2 parts, 2 of 2 records done; 1 unparsable; best")


def test_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [write_part(tmp_path, "t", "lib", "1-of-1", GOOD)]
    assert progress.main([str(write_manifest(tmp_path / "m.tsv", parts))]) == 0
    assert capsys.readouterr().out.startswith("1 of 1 parts, 2 of 2 records done; 1 unparsable")


def test_parts_of_an_earlier_run_do_not_count_before_they_are_made_again(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "t", "lib", f"{number}-of-4", GOOD, first_line=10 * number)
        for number in range(1, 5)
    ]
    manifest = read_manifest(write_manifest(tmp_path / "m.tsv", parts))
    mark = tmp_path / "refine"
    for path in (mark, *(file for part in parts for file in (part.ligands, part.pocket))):
        path.touch()
        made(path, 1)
    for part, second in zip(parts, (3, 2, 3, 2), strict=True):  # two of a run that was stopped
        made(part.scores, second)
    asked: list[str] = []

    def is_old(part: PartFiles) -> bool:
        asked.append(part.label)
        if part is manifest.parts[3]:
            raise InputError("damaged")
        return part.scores.stat().st_mtime < 3

    now = [0.0]
    tracker = Progress(manifest, clock=lambda: now[0], is_old=is_old, marks=[mark])
    assert str(tracker.look()).startswith("3 of 4 parts, 6 of 8 records done")
    now[0] += progress.MINUTE
    assert str(tracker.look()).startswith("3 of 4 parts, 6 of 8 records done")
    assert asked == [f"t/lib/{number}-of-4" for number in range(1, 5)]  # each once
    made(parts[1].scores, 4)  # counts before the minute is over
    assert str(tracker.look()).startswith("4 of 4 parts, 8 of 8 records done")
    made(mark, 5)
    now[0] += progress.MINUTE
    assert str(tracker.look()).startswith("0 of 4 parts, 0 of 8 records done")
    made(parts[2].scores, 6)
    assert str(tracker.look(at_end=True)).startswith("1 of 4 parts, 2 of 8 records done")


def made(path: Path, second: int) -> None:
    """Let a file be of a time, in seconds."""
    os.utime(path, (second, second))
