"""`python -m ligen_py.plan`: what it tells of a small campaign, and of a bad one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py import parse, plan
from ligen_py.campaign import Workplan
from ligen_py.store.campaign.manifest import Manifest

DHFR = "package:posebusters/datasets/pdb/1s3v/1s3v_"
LIBRARY = "CCO ethanol\nCC(N)=O acetamide\nthis is no molecule\nOCC ethanol again\nC[Al](C)C odd\n"
CONFIG: dict[str, Any] = {
    "effort": "draft",
    "targets": {
        "dhfr": {
            "receptor": f"{DHFR}protein_one_lig_removed.pdb",
            "site": {"center": [-2.7, 27.8, 3.4]},
        }
    },
    "libraries": {"drugs": {"file": "lib.smi", "chunks": 2}},
    "dock": {"num_restart": 8, "num_iterations": 1},
    "refine": {"rounds": 1, "evaluations": 5, "finalists": 2},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib.smi").write_text(LIBRARY)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(CONFIG))
    return tmp_path


def run(folder: Path, *words: str) -> int:
    arguments = [str(folder / "c.yaml"), "--directory", str(folder), "--device", "intel"]
    return plan.main([*arguments, *words])


def test_what_a_campaign_costs_and_leaves_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder) == 0
    printed = capsys.readouterr().out
    assert "sound, effort draft" in printed
    assert "num_restart 8" in printed
    row = next(line.split() for line in printed.splitlines() if line.startswith("  drugs "))
    assert row[1:5] == ["5", "2", "5", "2"]  # records, parts, seen, ligands
    for reason in ("1 unparsable", "1 duplicate of", "1 unsupported element"):
        assert reason in printed
    chunk_jobs = next(line for line in printed.splitlines() if "chunk jobs" in line)
    assert chunk_jobs.split()[-1] == "2"
    speed = [line.split() for line in printed.splitlines() if line.split()[:1] == ["refine"]]
    assert any(float(row[1]) > 0 for row in speed if len(row) == 2 and "." in row[1])
    assert "output files have to be generated" in printed
    assert sorted(path.name for path in folder.iterdir() if path.name[0] != ".") == [
        "c.yaml",
        "lib.smi",
    ]


def test_a_stale_list_of_parts_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Workplan.of(CONFIG, "c.yaml", folder).manifest()
    table = folder / "results" / "manifest.tsv"
    table.parent.mkdir()
    table.write_text(found.text())
    described = Workplan.of(CONFIG, "c.yaml", folder)
    assert list(plan._stale_list(described, folder)) == []
    table.write_text(Manifest(found.parts[:1]).text())
    assert run(folder, "--sample", "1") == 0
    printed = capsys.readouterr().out.split("A run now")[1]
    assert f"{table} is stale: it lacks the part dhfr/drugs/2-of-2; a run makes it again" in printed


def test_a_library_parsed_before_is_counted_and_timed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = folder / "old"
    for part in ("1-of-2", "2-of-2"):
        words = ["--input", str(folder / "lib.smi"), "--part", part, "--quiet", "--jobs", "1"]
        assert parse.main([*words, "--output", str(parsed / f"{part}.h5")]) == 0
    (folder / "c.yaml").write_text(
        yaml.safe_dump(CONFIG | {"libraries": {"drugs": {"parsed": "old"}}})
    )
    assert run(folder, "--sample", "2") == 0
    printed = capsys.readouterr().out
    row = next(line.split() for line in printed.splitlines() if line.startswith("  drugs "))
    assert row[1:3] == ["5", "2"]
    assert "parsed before" in printed


def test_a_bad_key_ends_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"dock": {"restarts": 3}}))
    assert run(folder) == 1
    assert "unknown key 'dock.restarts'" in capsys.readouterr().err


def test_a_receptor_that_cannot_be_used_ends_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far = {"dhfr": {**CONFIG["targets"]["dhfr"], "site": {"center": [900, 0, 0]}}}
    (folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"targets": far}))
    assert run(folder) == 1
    assert "key 'targets.dhfr': " in (printed := capsys.readouterr().err)
    assert "no receptor atom lies in the box around (900.00, 0.00, 0.00)" in printed
