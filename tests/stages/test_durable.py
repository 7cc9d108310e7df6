"""Every file of a campaign is on disk before it has its name; a power failure leaves all or none.

`traced` plays a disk that loses what was not synced.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from ligen_py import export, report
from ligen_py.api import Pocket
from ligen_py.dock_command import main as dock
from ligen_py.sequences.genome import finish_keeping, read_genome
from ligen_py.store.files.text import write_texts
from tests.api.conftest import PROTEIN, REFERENCE
from tests.durable import traced
from tests.mini import Mini


def test_every_stage_writes_what_a_power_failure_leaves(tmp_path: Path) -> None:
    mini = Mini(tmp_path, chunks=2, control=True)
    with traced(tmp_path / "results") as trace:
        mini.run()
        output = tmp_path / "results/export"
        assert export.main(["--campaign", str(mini.campaign), "--output", str(output)]) == 0
        page = tmp_path / "results/report.html"
        assert report.main(["--campaign", str(mini.campaign), "--output", str(page)]) == 0
    lost = [line for line in trace.lost() if str(mini.manifest) not in line]  # the test's own
    assert lost == []
    named = {path.relative_to(tmp_path / "results").as_posix() for path in trace.named}
    files = {
        path.relative_to(tmp_path / "results").as_posix()
        for path in (tmp_path / "results").rglob("*")
        if path.is_file() and path != mini.manifest
    }
    assert named == files
    assert {"campaign.h5", "report.html", "export/dhfr.sdf", "pockets/dhfr.h5"} <= files
    for kind in ("poses", "kept", "refined", "scores"):
        assert f"{kind}/dhfr/lib/2-of-2.h5" in files


def test_the_one_line_writes_what_a_power_failure_leaves(tmp_path: Path) -> None:
    """Stages hand on their records in memory here, and write behind."""
    words = [str(PROTEIN), "CCO ethanol", "--site", str(REFERENCE), "--chains", "B"]
    with traced(tmp_path / "out") as trace:
        assert dock([*words, "--effort", "draft", "-o", str(tmp_path / "out")]) == 0
    assert trace.lost() == []
    names = {path.name for path in trace.named}
    assert {"campaign.h5", "manifest.tsv", "hits.sdf", "hits.csv", "report.html"} <= names


def test_caches_and_single_files_too(tmp_path: Path) -> None:
    (tmp_path / "genome.fa").write_text(">one\nACGTNACGT\n")
    with traced(tmp_path / "kept") as trace:
        read_genome(tmp_path / "genome.fa", cache=tmp_path / "kept/genomes")
        finish_keeping()
        pocket = Pocket.from_pdb(PROTEIN, site=REFERENCE, chains="B", radius=8)
        pocket.to_pdb(tmp_path / "kept/pocket.pdb")
    assert trace.lost() == []
    assert {path.name for path in trace.named} >= {"pocket.pdb"}
    assert len(trace.named) > 1


def careless(folder: Path) -> None:
    (folder / ".a").write_text("a")
    (folder / ".a").rename(folder / "a")


def too_early(folder: Path) -> None:
    write_texts(folder, {"a": ["a"]})
    with (folder / "a").open("a") as stream:
        stream.write("b")


@pytest.mark.parametrize(
    ("write", "lost"),
    [
        (careless, ["gets its name before .a is on disk", "its names are not", "its contents are"]),
        (too_early, ["its contents are not on disk"]),
    ],
)
def test_what_would_be_lost_is_seen(
    tmp_path: Path, write: Callable[[Path], None], lost: list[str]
) -> None:
    with traced(tmp_path) as trace:
        write(tmp_path)
    assert len(trace.lost()) == len(lost)
    assert all(words in line for words, line in zip(lost, trace.lost(), strict=True))
