"""Every long stage tells how far it is while it works."""

import logging
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from ligen_py import offtargets, pace
from ligen_py.opencl.device import select
from tests.mini import Mini


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is reported where more than a minute passes between any two looks at the clock."""
    times, reports = count(0, 61), list[str]()
    monkeypatch.setattr(pace, "clock", lambda: float(next(times)))

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            reports.append(record.getMessage())

    # At the logger itself: each stage takes away what listens at the root.
    logger, listener = logging.getLogger("ligen_py"), Listener()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(listener)
    yield reports
    logger.removeHandler(listener)
    logger.setLevel(level)


def test_every_stage_tells_how_far_it_is(tmp_path: Path, lines: list[str]) -> None:
    Mini(tmp_path).run()
    for line in (
        r"7 records read, 1 failed; \S+ a second",
        r"6 of 6 ligands docked, 0 failed; \S+ a second, 0 min left",
        r"6 of 6 ligands filtered, 0 failed; .*",
        r"6 of 6 ligands refined \(rounds: 1\), 0 failed; .*",
        r"6 of 6 ligands scored, 0 failed; .*",
    ):
        assert any(re.fullmatch(line, reports) for reports in lines), (line, lines)


def test_devices_that_work_beside_each_other_are_counted_once(
    tmp_path: Path, lines: list[str]
) -> None:
    one = Mini(tmp_path / "one").run()
    lines.clear()
    name = select().handle.platform.name.split()[0].lower()
    two = Mini(tmp_path / "two", flags={"dock": ("--device", f"{name}:0,0")}).run()
    assert any(line.startswith("6 of 6 ligands docked, 0 failed") for line in lines), lines
    assert two.parts()[0].poses.read_bytes() == one.parts()[0].poses.read_bytes()


def test_letters_of_a_genome_are_counted_and_no_gaps(tmp_path: Path, lines: list[str]) -> None:
    """Between short records there are more gaps than bases: the count went beyond its total."""
    genome, guides = tmp_path / "genome.fa", tmp_path / "guides.tsv"
    genome.write_text("".join(f">{n}\n{'ACGTTGCA' * 5}\n" for n in range(30)))
    guides.write_text("a\tACGTTGCAACGTTGCAACGT\n")
    flags = ["--genome", genome, "--guides", guides, "--cache", tmp_path, "--quiet"]
    found = []
    for part in ("1-of-1", "1-of-2", "2-of-2"):
        lines.clear()
        words = [*flags, "--part", part, "--output", tmp_path / "o.h5"]
        assert offtargets.main([str(word) for word in words]) == 0
        (line,) = (line for line in lines if "bases searched" in line)
        counts = re.fullmatch(r"(\d+) of (\d+) bases searched, .*, 0 min left", line)
        assert counts, line
        assert counts[1] == counts[2]
        found.append(int(counts[1]))
    assert found[0] == found[1] + found[2] == 30 * 40
