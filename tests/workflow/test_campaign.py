"""A small campaign from library to report, in a checkout of its own, and what is planned after."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ligen_py.chain import SCREEN
from tests.workflow import forked
from tests.workflow.test_plan import DHFR, ROOT, jobs, snakemake

LIBRARY = """\
CC(=O)Oc1ccccc1C(=O)O aspirin
this is no molecule
Cn1cnc2c1c(=O)n(C)c(=O)n2C caffeine
COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim
"""
CAMPAIGN = {
    "targets": {
        "dhfr": {
            "receptor": f"{DHFR}protein_one_lig_removed.pdb",
            "site": {"ligand": f"{DHFR}ligand.sdf"},
        }
    },
    "libraries": {"drugs": {"file": "drugs.smi", "chunks": 2}},
    "dock": {"num_restart": 8, "num_iterations": 1, "n_angles": 8},
    "filter": {"max_num_poses": 4},
    "report": {"top": 2, "groups": {"antifolates": ["trimethoprim"]}},
}
RANKED = {"aggregate": 1, "export": 1, "report": 1, "all": 1}
"""What follows from new scores of a library."""

LAST = {"controls": 1, "accept": 1, **RANKED}
"""What follows from all new scores: the redocking is judged again, too."""

SCREENED = {"screen": 3, **LAST}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign: folder `run` beside a copy of the project in folder `project`."""
    folder = tmp_path_factory.mktemp("campaign")
    for name in ("ligen_py", "kernels", "workflow", "envs"):
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / "project" / name, ignore=without)
    shutil.copy(ROOT / "Snakefile", folder / "project")
    (folder / "run").mkdir()
    (folder / "run" / "drugs.smi").write_text(LIBRARY)
    (folder / "run" / "c.yaml").write_text(yaml.safe_dump(CAMPAIGN))
    result = run(folder, "--cores", "2", "--show-failed-logs")
    assert result.returncode == 0, result.stdout
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return snakemake(folder / "run", *words, root=folder / "project")


def planned(folder: Path, *words: str) -> dict[str, int]:
    result = run(folder, "--dry-run", *words)
    assert result.returncode == 0, result.stdout
    return jobs(result.stdout)


def appended(path: Path, text: str) -> bytes:
    before = path.read_bytes()
    path.write_bytes(before + text.encode())
    return before


def test_the_campaign_tells_what_came_out(finished: Path) -> None:
    results = finished / "run" / "results"
    table = (results / "report.txt").read_text(encoding="utf-8")
    assert "dhfr" in table
    assert "antifolates" in table
    assert (results / "report.html").stat().st_size > 1000
    written = {path.suffix for path in (results / "export").rglob("[!.]*") if path.is_file()}
    assert written == {".csv", ".parquet", ".sdf", ".pdb", ".pml", ".cxc"}


def test_snakemakes_report_has_page_tables_and_files_with_captions(finished: Path) -> None:
    result = run(finished, "--report", "snakemake.html")
    assert result.returncode == 0, result.stdout
    page = (finished / "run" / "snakemake.html").read_text(encoding="utf-8")
    for name in ("report.html", "report.txt", "dhfr.sdf", "dhfr.csv", "controls.txt"):
        assert f"Adding {name}" in result.stdout
        assert name in page
    for caption in (ROOT / "workflow/report").glob("*.rst"):
        if caption.stem not in ("campaign", "panel"):  # the first page; only of a search
            first = caption.read_text(encoding="utf-8").split("\n")[0]
            assert first in page.replace("\\n", "\n"), caption.name


def test_every_stage_left_its_log_and_its_figures(finished: Path) -> None:
    for stage in ("parse", "pocket", "screen", "aggregate", "export", "report"):
        for folder in ("logs", "benchmarks"):
            assert list((finished / "run" / folder).glob(f"{stage}*")), f"{folder}/{stage}"


def test_a_finished_campaign_plans_nothing_twice(finished: Path) -> None:
    assert planned(finished) == {}
    assert planned(finished) == {}


def test_rerunning_one_stage_reruns_it_and_what_follows(finished: Path) -> None:
    assert planned(finished, "-R", "score") == {"score": 1, **SCREENED}
    assert planned(finished, "-R", "report") == {"report": 1, "all": 1}


@pytest.mark.parametrize(
    ("section", "value", "expected"),
    [
        ("report", {"top": 3}, {"report": 1, "all": 1}),
        ("export", {"count": 3}, {"export": 1, "all": 1}),
        ("filter", {"max_num_poses": 3}, SCREENED),
        ("refine", {"rounds": 2}, SCREENED),
        ("score", {"functions": ["xscore"]}, SCREENED),
        ("dock", {"num_restart": 9}, SCREENED),
        ("pocket", {"spacing": 0.6}, {"pocket": 1, **SCREENED}),
        ("parse", {"seed": 2}, {"parse": 3, **SCREENED}),
    ],
)
def test_a_changed_setting_reruns_what_depends_on_it(
    finished: Path, section: str, value: dict[str, float], expected: dict[str, int]
) -> None:
    change = f"{section}={json.dumps(value)}"
    # The config with all settings is written again, too.
    assert planned(finished, "--config", change) == expected | {"config": 1}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("kernels/batched/dock.cl", SCREENED),
        ("kernels/batched/xscore.cl", SCREENED),
        ("ligen_py/export.py", {"export": 1, "all": 1}),
        ("ligen_py/pocket.py", {"pocket": 1, **SCREENED}),
    ],
)
def test_changed_code_reruns_what_depends_on_it(
    finished: Path, source: str, expected: dict[str, int]
) -> None:
    path = finished / "project" / source
    before = appended(path, "\n// changed\n" if path.suffix == ".cl" else "\n# changed\n")
    try:
        assert planned(finished) == expected
    finally:
        path.write_bytes(before)


def inodes(folder: Path) -> dict[str, list[int]]:
    """Of the files of each stage of all parts: a file that is written again has another."""
    found: dict[str, list[int]] = {}
    for stage in SCREEN:
        files = sorted((folder / "run/results" / stage.kind).rglob("*.h5"))
        found[stage.name] = [path.stat().st_ino for path in files]
    return found


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (["-R", "filter"], ["filter", "refine", "score"]),
        (["--config", 'refine={"rounds": 3}'], ["refine", "score"]),
    ],
    ids=lambda value: value[-1],
)
def test_finished_chunks_run_what_is_stale_and_nothing_before_it(
    finished: Path, tmp_path: Path, words: list[str], stages: list[str]
) -> None:
    shutil.copytree(finished, tmp_path / "copy", symlinks=True)
    before = inodes(tmp_path / "copy")
    result = run(tmp_path / "copy", "--cores", "2", *words)
    assert result.returncode == 0, result.stdout
    after = inodes(tmp_path / "copy")
    # A number may be given away again; of three files one at least has a new one.
    assert [name for name in after if after[name] != before[name]] == stages
    assert planned(tmp_path / "copy", *words[2:], *(words if words[0] != "-R" else [])) == {}


def test_plan_says_what_a_changed_setting_reruns_and_why(finished: Path) -> None:
    changed = CAMPAIGN | {"filter": {"max_num_poses": 3}}
    (finished / "run" / "changed.yaml").write_text(yaml.safe_dump(changed))
    command = [forked.python(), "-m", "ligen_py.plan", "changed.yaml", "--sample", "1"]
    environment = os.environ | {"PYTHONPATH": str(finished / "project")}
    folder = finished / "run"
    made = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    printed = made.stdout.split("A run now")[1]
    counts = dict(line.split() for line in printed.splitlines() if len(line.split()) == 2)
    assert counts["screen"] == "3"
    assert "parse" not in counts
    reasons = printed.split("Reasons:")[1]
    because = next(line for line in reasons.splitlines() if "have changed" in line)
    assert "params" in because
    assert reasons.split(because)[1].splitlines()[1].split() == ["config,", "screen"]


def test_a_longer_library_is_parsed_and_docked_again(finished: Path) -> None:
    path = finished / "run" / "drugs.smi"
    times = path.stat()
    before = appended(path, "CCO ethanol\n")
    try:
        # The control does not come from this file.
        expected = {"parse": 2, "screen": 2, **RANKED}
        assert planned(finished) == expected
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
