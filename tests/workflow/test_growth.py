"""A campaign that grows or shrinks: what is ranked afterwards is what the config describes."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.api import ConfigSettings, ResourceSettings, SnakemakeApi

from ligen_py import verify
from ligen_py.store.campaign.contents import KEPT
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.reader import open_campaign
from tests.workflow.forked import python, snakemake
from tests.workflow.small import ROOT, campaign, run_local
from tests.workflow.test_plan import jobs

FILES = {"a.smi": "CC(N)=O acetamide\n", "b.smi": "CCOCC ether\nOC(=O)Cc1ccccc1 acid\n"}
BEFORE = {"acetamide", "ether", "acid"}


def settings() -> dict[str, Any]:
    return campaign(1) | {
        "libraries": {"drugs": {"file": "library", "chunks": 1}},
        "refine": {"rounds": 0},
        "score": {"functions": ["vina"], "pose_weights": {"vina": 1.0}},
    }


def write(folder: Path, config: dict[str, Any], files: dict[str, str] = FILES) -> None:
    shutil.rmtree(folder / "library", ignore_errors=True)
    (folder / "library").mkdir(parents=True)
    for name, text in files.items():
        (folder / "library" / name).write_text(text)
    (folder / "c.yaml").write_text(yaml.safe_dump(config))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("growth") / "first"
    write(folder, settings())
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    assert ranked(folder) == {"dhfr": BEFORE}
    assert verified(folder) == (0, "")
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished campaign, with the times of its files and Snakemake's records."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def ligen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; all that it prints is in stdout."""
    return subprocess.run(
        [python(), "-m", "ligen_py", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def ranked(folder: Path) -> dict[str, set[str]]:
    with open_campaign(folder / "results/campaign.h5") as found:
        return {name: set(found.target(name).best(100).scored.name) for name in found.targets}


def effort(folder: Path) -> str:
    with open_campaign(folder / "results/campaign.h5") as found:
        return found.attributes["effort"]


Grown = Callable[[Path], None]


def with_a_file(folder: Path) -> None:
    (folder / "library" / "c.smi").write_text("CC(=O)Nc1ccc(O)cc1 paracetamol\n")


def without_a_file(folder: Path) -> None:
    (folder / "library" / "a.smi").unlink()


def with_a_target(folder: Path) -> None:
    config = settings()
    site = {"center": [-2.7, 27.8, 4.4], "radius": 8}
    config["targets"]["other"] = config["targets"]["dhfr"] | {"site": site}
    (folder / "c.yaml").write_text(yaml.safe_dump(config))


def in_more_chunks(folder: Path) -> None:
    config = settings()
    config["libraries"]["drugs"]["chunks"] = 2
    (folder / "c.yaml").write_text(yaml.safe_dump(config))


def with_another_effort(folder: Path) -> None:
    (folder / "c.yaml").write_text(yaml.safe_dump(settings() | {"effort": "draft"}))


@pytest.mark.parametrize(
    ("grow", "expected", "parts"),
    [
        (with_a_file, BEFORE | {"paracetamol"}, 3),
        (in_more_chunks, BEFORE, 4),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_ranked_is_what_the_config_describes(
    folder: Path, grow: Grown, expected: set[str], parts: int
) -> None:
    """As also where a file or a target is taken away, or the effort is another, below."""
    grow(folder)
    assert_makes(folder, {"dhfr": expected}, parts)


def assert_makes(folder: Path, expected: dict[str, set[str]], parts: int) -> None:
    """A run after a change of the campaign gives what the config describes, and all of it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verify, "_made_again", lambda *_: ())  # that takes the most time
        code, faults = verified(folder)
    assert code == 1
    assert "FAULT" in faults
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    assert ranked(folder) == expected
    assert len(read_manifest(folder / "results/manifest.tsv").parts) == parts
    assert verified(folder) == (0, "")


def verified(folder: Path) -> tuple[int, str]:
    """Exit code and faults of `verify --config`, in the campaign's folder; nothing is docked."""
    words = ["results/campaign.h5", "--config", "c.yaml", "--hits", "0", "--sample", "0", "--quiet"]
    with chdir(folder), redirect_stdout(StringIO()) as printed:
        code = verify.main(words)
    faults = [line for line in printed.getvalue().splitlines() if line.startswith("FAULT")]
    return code, "\n".join(faults)


def test_a_stale_list_is_never_merged(folder: Path) -> None:
    """Also where Snakemake compares nothing but times, and no file is newer."""
    without_a_file(folder)
    done = run_local(folder, "--rerun-triggers", "mtime")
    assert done.returncode == 0, done.stdout
    assert ranked(folder) == {"dhfr": BEFORE - {"acetamide"}}


def test_by_a_link_to_its_folder_it_is_the_same_campaign(folder: Path, tmp_path: Path) -> None:
    """Paths would be others, so all would be parsed again."""
    (tmp_path / "link").symlink_to(folder)
    for name in ("link/c.yaml", str(tmp_path / "link" / "c.yaml")):
        planned = ligen(tmp_path, "plan", name, "--sample", "1").stdout
        assert "would do nothing: every result is up to date" in planned, planned


def test_a_campaign_goes_back_to_earlier_parts(folder: Path) -> None:
    """A run that finds the mark of earlier parts beside the list of others would keep that list."""
    without_a_file(folder)
    assert_makes(folder, {"dhfr": BEFORE - {"acetamide"}}, 1)
    (mark,) = (folder / "results").glob(".parts-*")
    write(folder, settings())
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    assert ranked(folder) == {"dhfr": BEFORE}
    assert not mark.exists()


def test_a_larger_workflow_uses_it_as_a_module(folder: Path) -> None:
    """As docs/cluster.md has it; Snakemake calls no start handler of a module."""
    shutil.rmtree(folder / "results")
    shutil.rmtree(folder / ".snakemake")
    (folder / "my").mkdir()
    shutil.move(folder / "library", folder / "my" / "library")
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(configfile:.*?)^```", text, re.M | re.S)
    taken = sorted(set(re.findall(r"rules\.\w+\.output", text)))
    rule = f"rule mine:\n    input: {', '.join(taken)}\n    output: touch('mine')\n"
    rule += "    default_target: True\n"
    (folder / "Snakefile").write_text(snippet.replace("/path/to/ligen_py", str(ROOT)) + rule)
    for chunks in (1, 2):
        config = settings()
        config["libraries"]["drugs"]["chunks"] = chunks
        (folder / "my" / "config.yaml").write_text(yaml.safe_dump({"screening": config}))
        done = snakemake(folder, ["--cores", "2"])
        assert done.returncode == 0, done.stdout
        assert ranked(folder) == {"dhfr": BEFORE}


A_JOB = """\
configfile: "c.yaml"

module screening:
    snakefile: "{root}/Snakefile"
    config: config

use rule * from screening as screening_*

rule job:
    default_target: True
    output: "said"
    shell: "echo '{more}' >> c.yaml; {job} > {{output}} 2>&1 || true"
"""
"""A rule that changes the config, then does what the job of a rule does on a cluster."""


@pytest.mark.parametrize(("more", "goes"), [("# more", True), ("effort: draft", False)])
def test_a_job_goes_by_the_config_with_which_the_run_began(
    tmp_path: Path, more: str, goes: bool
) -> None:
    """It is another Snakemake, which reads it again: it docked by other settings, unnoticed."""
    write(tmp_path, settings())
    job = "python -m snakemake --mode remote --target-jobs screening_config: --cores 1 --nolock"
    (tmp_path / "Snakefile").write_text(A_JOB.format(root=ROOT, more=more, job=job))
    done = snakemake(tmp_path, ["--cores", "1"])
    assert done.returncode == 0, done.stdout
    said = (tmp_path / "said").read_text()
    assert ("c.yaml: was changed while the campaign runs; put it back, or stop " in said) != goes
    assert (tmp_path / "results/config.yaml").exists() == goes, said


def test_results_without_records_of_them_are_not_taken_for_up_to_date(folder: Path) -> None:
    """Snakemake alone would do nothing, and show the table of the old config."""
    shutil.rmtree(folder / ".snakemake")
    with_another_effort(folder)
    assert "would stop: results: " in ligen(folder, "plan", "c.yaml", "--sample", "1").stdout
    assert "records of how these files were made" in run_local(folder).stdout
    for words in ((), ("--", "-n")):
        refused = ligen(folder, "run", "c.yaml", "--cores", "2", *words)
        assert refused.returncode == 1
        last = refused.stdout.splitlines()[-1]
        assert last.startswith("ligen run: error: results: Snakemake's records of how")
        assert "'-- --forceall' behind" in last
    done = ligen(folder, "run", "c.yaml", "--cores", "2", "--", "--forceall")
    assert done.returncode == 0, done.stdout
    assert effort(folder) == "draft"
    assert jobs(run_local(folder, "--dry-run").stdout) == {}


OLD = 1_000_000_000
"""A time of change before every file of a campaign, as copies that keep times have it."""


def replaced(path: Path, text: str) -> None:
    """Replace a file by one that is older than what was made from it."""
    path.write_text(text)
    os.utime(path, (OLD, OLD))


def test_a_library_replaced_by_an_older_file_is_noticed(folder: Path) -> None:
    replaced(folder / "library/a.smi", "CCC(N)=O propionamide\n")
    planned = ligen(folder, "plan", "c.yaml", "--sample", "1")
    assert re.search(r"library/a\.smi has changed: .*'drugs', are stale", planned.stdout)
    assert "b.smi has changed" not in planned.stdout
    assert run_local(folder).returncode == 0
    assert ranked(folder) == {"dhfr": BEFORE - {"acetamide"} | {"propionamide"}}
    assert "has changed" not in ligen(folder, "plan", "c.yaml", "--sample", "1").stdout


def test_a_new_time_alone_makes_nothing_again(folder: Path) -> None:
    """Nor where a file is larger than Snakemake compares, as copies and receptors of proteins."""
    assert run_local(folder).returncode == 0  # remembers where this copy's files lie
    (folder / "library/a.smi").touch()
    planned = run_local(folder, "--dry-run", "--max-checksum-file-size", "0")
    assert planned.returncode == 0, planned.stdout
    assert jobs(planned.stdout) == {}, planned.stdout
    # Where nothing but times count, they count.
    words = ("--rerun-triggers", "mtime", "--max-checksum-file-size", "0")
    assert jobs(run_local(folder, "--dry-run", *words).stdout)["parse"] == 1


def test_equal_size_and_time_are_noticed(folder: Path) -> None:
    """By the time of change, and by --deep on a file system that keeps none."""
    path, note = folder / "library/a.smi", folder / KEPT
    assert run_local(folder).returncode == 0  # remembers where this copy's files lie
    times = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("acetamide", "acetamine"))
    os.utime(path, ns=(times, times))
    planned = ligen(folder, "plan", "c.yaml", "--sample", "1")
    assert "a.smi has changed" in planned.stdout
    known = json.loads(note.read_text())
    known[str(path)][2] = path.stat().st_ctime_ns
    note.write_text(json.dumps(known))
    assert "has changed" not in ligen(folder, "plan", "c.yaml", "--sample", "1").stdout
    planned = ligen(folder, "plan", "c.yaml", "--sample", "1", "--deep")
    assert "a.smi has changed" in planned.stdout
    done = ligen(folder, "run", "c.yaml", "--deep", "--cores", "2")
    assert done.returncode == 0, done.stdout
    assert ranked(folder) == {"dhfr": BEFORE - {"acetamide"} | {"acetamine"}}


def test_exported_files_that_are_lost_are_made_again(folder: Path) -> None:
    """As often as it happens, and also after a run that was only planned."""
    table, structures = (folder / f"results/export/dhfr.{suffix}" for suffix in ("csv", "sdf"))
    kept = table.read_bytes(), structures.read_bytes()

    def spoil() -> None:
        table.unlink(missing_ok=True)
        structures.write_text("mine\n")

    spoil()
    planned = ligen(folder, "plan", "c.yaml", "--sample", "1").stdout
    assert "dhfr.csv is missing" in planned
    assert "dhfr.sdf is newer than the run that wrote it, as an edited file or a copy" in planned
    for _ in range(2):
        spoil()
        done = ligen(folder, "run", "c.yaml", "--cores", "2")
        assert done.returncode == 0, done.stdout
        assert "dhfr.csv is missing; it is made again" in done.stdout
        assert "dhfr.sdf is newer than the run that wrote it, as an edited file" in done.stdout
        assert (table.read_bytes(), structures.read_bytes()) == kept
        again = run_local(folder, "--dry-run")
        assert jobs(again.stdout) == {}, again.stdout


def test_files_of_the_user_beside_exported_ones_stay(folder: Path) -> None:
    """Those of a target that is no more go, and a table that someone left half-written is made."""
    export = folder / "results/export"
    with_a_target(folder)
    (export / "session.pse").write_text("mine")
    assert_makes(folder, {"dhfr": BEFORE, "other": BEFORE}, 4)
    assert {"dhfr.csv", "other.csv", "other-receptor.pdb", "session.pse"} <= names_in(export)
    write(folder, settings())
    assert run_local(folder).returncode == 0
    assert not {name for name in names_in(export) if name.startswith("other")}
    assert {"dhfr.csv", "dhfr.sdf", "session.pse"} <= names_in(export)
    assert (export / "session.pse").read_text() == "mine"


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_stage_that_was_asked_for_again_is_not_forgotten(folder: Path) -> None:
    """Where the run that asked ends before the chunks do, and not for the first time."""
    assert run_local(folder, "-R", "score").returncode == 0
    asked = run_local(folder, "results/.again/score", "-R", "score")
    assert asked.returncode == 0, asked.stdout
    assert jobs(run_local(folder, "--dry-run").stdout)["screen"] == 2


def test_a_stage_of_a_chunk_is_no_job_to_end_with(folder: Path) -> None:
    """It would be forgotten now, and every chunk would be docked again by the next run."""
    for words in (["--until", "dock"], ["-Udock"], ["-O", "pocket", "dock"], ["dock"]):
        refused = ligen(folder, "run", "c.yaml", "--cores", "2", "--", *words)
        assert refused.returncode == 2
        assert "dock: it is a part of the job screen; name that" in refused.stdout.splitlines()[-1]
    assert not (folder / "results/.again/dock").exists()


def test_a_damaged_list_of_parts_is_said_before_anything_is_docked(folder: Path) -> None:
    table = folder / "results/manifest.tsv"
    table.write_text("junk\n")
    refused = ligen(folder, "run", "c.yaml", "--cores", "2")
    assert refused.returncode == 1
    assert "manifest.tsv: not the manifest of a campaign" in refused.stdout.splitlines()[-1]
    assert refused.stdout.rstrip().endswith("; delete it and type the same command again")
    planned = ligen(folder, "plan", "c.yaml", "--sample", "1")
    assert "; delete it, and a run makes it again" in planned.stdout
    assert planned.returncode == 0, planned.stdout
    table.unlink()
    assert run_local(folder).returncode == 0


def test_params_of_every_rule_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake records no params that follow from output, input, threads or resources."""
    write(tmp_path, settings())
    monkeypatch.chdir(tmp_path)
    for name in ("PATH", "PYTHONPATH"):  # the rules set them for their stages
        monkeypatch.setenv(name, os.environ.get(name, ""))
    with SnakemakeApi() as api:
        loaded = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[tmp_path / "c.yaml"]),
            snakefile=ROOT / "Snakefile",
            workdir=tmp_path,
        )._workflow
        rules = list(loaded.rules)
    seen = 0
    for rule in rules:
        for item in rule.params:
            seen += 1
            assert not rule._is_deriving_function(item), rule.name
            if callable(item):
                assert item.__code__.co_varnames[: item.__code__.co_argcount] == ("wildcards",)
    assert len(rules) >= 11
    assert seen > 15
