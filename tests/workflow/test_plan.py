"""What Snakemake plans, from a campaign file alone; nothing is computed."""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake.api  # before snakemake.workflow, which imports it in a circle
import yaml
from snakemake import workflow
from snakemake.parser import parse
from snakemake.sourcecache import LocalSourceFile

from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.workplan import Workplan
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.files.read import read
from tests.workflow import forked

ROOT = Path(__file__).parents[2]
DHFR = "package:posebusters/datasets/pdb/1s3v/1s3v_"


def snakemake(folder: Path, *words: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a folder of its own on the campaign `folder`/c.yaml."""
    given = ["--snakefile", str(root / "Snakefile"), "--configfile", "c.yaml", *words]
    return forked.snakemake(folder, given)


def jobs(output: str) -> dict[str, int]:
    """Planned jobs by rule, from the first table of a run."""
    table = re.search(r"^job +count\n-+ +-+\n(.*?)\n\n", output, re.MULTILINE | re.DOTALL)
    rows = [line.split() for line in table.group(1).splitlines()] if table else []
    return {name: int(count) for name, count in rows if name != "total"}


@pytest.fixture
def campaign(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "my drugs.smi").write_text("CCO ethanol\n")
    return {
        "targets": {
            "one": {
                "receptor": f"{DHFR}protein_one_lig_removed.pdb",
                "site": {"ligand": f"{DHFR}ligand.sdf"},
                "chains": ["A"],
            },
            "two": {
                "receptor": f"{DHFR}protein_one_lig_removed.pdb",
                "site": {"center": [-2.7, 27.8, 3.4]},
            },
        },
        "libraries": {"drugs": {"file": "my drugs.smi", "chunks": 3}},
        "report": {"groups": {"simple": ["ethanol", "it's"]}},
    }


def plan(folder: Path, campaign: dict[str, Any], *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign))
    return snakemake(folder, "--dry-run", *words)


def test_one_job_for_each_part(tmp_path: Path, campaign: dict[str, Any]) -> None:
    result = plan(tmp_path, campaign)
    assert result.returncode == 0, result.stdout
    assert jobs(result.stdout) == {
        "config": 1,
        "manifest": 1,
        "parse": 3 + 1,
        "pocket": 2,
        "screen": 2 * 3 + 1,
        "controls": 2,
        "accept": 2,
        "aggregate": 1,
        "export": 1,
        "report": 1,
        "all": 1,
    }


def test_a_module_asks_for_the_verdicts_and_refuses_what_the_workflow_does(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    """Snakemake runs neither the rule `all` of a module nor its `onstart`."""
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"screening": campaign}))
    page = (ROOT / "docs" / "cluster.md").read_text()
    (shown,) = re.findall(r"^module screening:.*?screening_\*$", page, re.MULTILINE | re.DOTALL)
    given = "rules.screening_aggregate.output, rules.screening_manifest.output"
    text = f"{shown}\nrule final:\n    input: {given}\n".replace("/path/to/ligen_py", str(ROOT))
    (tmp_path / "Snakefile").write_text(text)
    result = snakemake(tmp_path, "--dry-run", "final", root=tmp_path)
    assert result.returncode == 0, result.stdout
    found = jobs(result.stdout)
    assert (found["screening_accept"], found["screening_aggregate"]) == (2, 1)
    for asked in ("final", "screening_validate"):
        result = snakemake(tmp_path, "--dry-run", asked, "--keep-incomplete", root=tmp_path)
        assert result.returncode == 1
        assert "keep-incomplete takes half-written files for complete" in result.stdout


def test_braces_in_names_of_users_are_no_wildcards(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    campaign["report"] = {"groups": {"known": ["2-{methyl}phenol"]}}
    campaign["parse"] = {"exclude": {"{mine}": "[r{9-11}]"}}
    result = plan(tmp_path, campaign, "--printshellcmds")
    assert result.returncode == 0, result.stdout
    assert '["2-{methyl}phenol"]' in result.stdout


def test_networks_are_a_job_where_they_are_asked_for(
    tmp_path: Path, campaign: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    for best, count in ((0, None), (2, 1)):
        result = plan(tmp_path, campaign | {"networks": {"best": best}}, "--printshellcmds")
        assert result.returncode == 0, result.stdout
        assert jobs(result.stdout).get("networks") == count
        readers = re.findall(
            r"python -m ligen_py\.(\w+) .*--networks results/networks\.h5", result.stdout
        )
        assert sorted(readers) == (["export", "report"] if best else [])


def test_searches_beside_a_screen_and_alone(tmp_path: Path, campaign: dict[str, Any]) -> None:
    for name in ("q.fa", "db.fa"):
        (tmp_path / name).write_text(">p\nMKV\n")
    search = {"database": "db.fa", "chunks": 2}
    searches = {"one": {"query": "q.fa", **search}, "two": {"target": "two", **search}}
    result = plan(tmp_path, campaign | {"homologs": searches})
    assert result.returncode == 0, result.stdout
    found = jobs(result.stdout)
    assert {"database": 2, "homologs": 4, "panel": 2, "screen": 7}.items() <= found.items()
    result = plan(tmp_path, {"homologs": {"one": searches["one"]}})
    assert result.returncode == 0, result.stdout
    assert jobs(result.stdout) == {
        **{"config": 1, "database": 1, "homologs": 2, "panel": 1, "report": 1, "all": 1}
    }


def test_searches_of_genomes(tmp_path: Path) -> None:
    result = plan(tmp_path, genome_searches(tmp_path))
    assert result.returncode == 0, result.stdout
    assert jobs(result.stdout) == {
        **{"genome": 1, "offtargets": 3, "sites": 1, "guide_sites": 2, "guides": 1},
        **{"config": 1, "report": 1, "all": 1},
    }


def genome_searches(folder: Path) -> dict[str, Any]:
    """A campaign of a search for off-targets and a design of guides in one genome."""
    for name in ("genome.fa", "cds.fa"):
        (folder / name).write_text(">chr1\n" + "ACGGTTGACCTGCAGGCATGCAAGG" * 4 + "\n")
    (folder / "in.txt").write_text("genome.fa\nNNNNNNRG\nACGTGGNN 3\n")
    design = {"genome": "genome.fa", "cds": "cds.fa", "chunks": 2}
    return {
        "offtargets": {"one": {"input": "in.txt", "chunks": 3}},
        "guides": {"two": design},
    }


def test_stages_know_every_flag_that_the_rules_give(
    tmp_path: Path,
    campaign: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    campaign["networks"] = {"best": 2}
    campaign["controls"] = {"one": {"actives": "my drugs.smi", "waters": ["near"]}}
    search = {"query": "db.fa", "database": "db.fa"}
    (tmp_path / "db.fa").write_text(">p\nMKV\n")
    whole = campaign | {"homologs": {"h": search}} | genome_searches(tmp_path)
    output = plan(tmp_path, whole, "--printshellcmds").stdout
    commands = re.findall(r"python -m (ligen_py\.\w+) (.*)", output)
    given: dict[str, set[str]] = {}
    for module, line in commands:
        for word in shlex.split(line):
            outer, _, inner = word.partition("=")
            if inner.startswith("--"):  # flags of a stage that `screen` runs, or those of reading
                stage = f"ligen_py.{outer.removeprefix('--')}".replace("reading", "parse")
                given.setdefault(stage, set()).update(re.findall(r"(?<!\S)(--[a-z-]+)", inner))
            if outer.startswith("--"):
                given.setdefault(module, set()).add(outer)
    assert len(given) == 11 + 6 + 3
    for module, flags in given.items():
        capsys.readouterr()
        with pytest.raises(SystemExit, match=r"^0$"):
            import_module(module).main(["--help"])
        assert flags <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out)), module


def test_paths_are_relative_to_the_config_not_to_the_working_directory(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    result = plan(tmp_path, campaign, "--directory", "elsewhere", "--printshellcmds")
    assert result.returncode == 0, result.stdout
    assert "--input '../my drugs.smi'" in result.stdout


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dok": {}}, "c.yaml: line 1: unknown key 'dok'; did you mean 'dock'?"),
        ({"dock": {"n_angles": 3}}, "c.yaml: line 2: key 'dock.n_angles': give 4 or more"),
        ({"libraries": {"l": {"file": "no.smi"}}}, "key 'libraries.l.file': no.smi does not exist"),
    ],
)
def test_a_bad_campaign_ends_with_one_sentence(
    tmp_path: Path, campaign: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    result = plan(tmp_path, {**campaign, **changes})
    assert result.returncode == 1
    assert sentence in result.stdout
    assert "Traceback" not in result.stdout
    assert not (tmp_path / "results").exists()


def test_another_campaign_is_not_mixed_with_the_example(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("targets: {other: {}}\n")
    assert plan(tmp_path, campaign).returncode == 0


@pytest.mark.parametrize("profile", ["local", "slurm"])
def test_profiles_are_understood(tmp_path: Path, campaign: dict[str, Any], profile: str) -> None:
    folder = str(ROOT / "workflow" / "profiles" / profile)
    result = plan(tmp_path, campaign, "--workflow-profile", folder, "--cores", "2")
    assert result.returncode == 0, result.stdout
    assert jobs(result.stdout)["screen"] == 7


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--keep-incomplete"], "half-written files for complete"),
        (["--executor", "slurm", "--slurm-array-jobs", "all"], "loses finished files"),
    ],
    ids=["keep-incomplete", "array-jobs"],
)
def test_options_that_falsify_results_are_refused(
    tmp_path: Path, campaign: dict[str, Any], words: list[str], reason: str
) -> None:
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(campaign))
    result = snakemake(tmp_path, "--jobs", "1", *words)
    assert result.returncode == 1
    assert reason in result.stdout
    assert not (tmp_path / "results").exists()


def test_new_files_of_a_library_are_all_that_is_parsed_and_another_campaign_parses_nothing(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for name, text in (("a.smi", "CCO ethanol\n"), ("b.smi", "CCN ethylamine\n")):
        (library / name).write_text(text)
    campaign["libraries"] = {"drugs": {"file": "library", "chunks": 1}}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(campaign))
    made = snakemake(tmp_path, "--cores", "1", "--until", "parse", "--set-threads", "parse=1")
    assert made.returncode == 0, made.stdout
    assert jobs(made.stdout)["parse"] == 2 + 1

    (library / "c.smi").write_text("CCC propane\n")
    again = snakemake(tmp_path, "--dry-run", "--until", "parse")
    assert jobs(again.stdout) == {"parse": 1}, again.stdout

    other = tmp_path / "other"
    other.mkdir()
    campaign["libraries"] = {"old": {"parsed": "../results/ligands/drugs"}}
    campaign["targets"].pop("one")
    result = plan(other, campaign)
    assert result.returncode == 0, result.stdout
    planned = jobs(result.stdout)
    assert "parse" not in planned
    assert (planned["reuse"], planned["screen"]) == (2, 2)
    chunks = ("a.smi.1-of-1.h5", "b.smi.1-of-1.h5")
    theirs = [tmp_path / "results" / "ligands" / "drugs" / chunk for chunk in chunks]
    times = [path.stat().st_mtime_ns for path in theirs]
    done = snakemake(other, "--cores", "1", "--until", "reuse")
    assert done.returncode == 0, done.stdout
    for path in theirs:
        taken = other / "results" / "ligands" / "old" / path.name
        assert taken.read_bytes() == path.read_bytes()
    # Else that campaign's scores would be older than its ligands, and made again.
    assert [path.stat().st_mtime_ns for path in theirs] == times
    assert jobs(snakemake(other, "--dry-run", "--until", "reuse").stdout) == {}


def test_a_molecule_is_docked_once_in_a_campaign_whatever_part_it_stands_in(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    (tmp_path / "my drugs.smi").write_text("CCO ethanol\nCCN ethylamine\nCCO spirit\n")
    campaign["duplicates"] = "campaign"
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(campaign))
    words = ("--set-threads", "parse=1", "--cores", "2")
    parts = [f"results/ligands/drugs/{part}-of-3.h5" for part in (1, 2, 3)]
    made = snakemake(tmp_path, *words, parts[-1])
    assert made.returncode == 0, made.stdout
    assert jobs(made.stdout) == {"parse": 3}
    reasons = [reason for part in parts for reason in read(tmp_path / part, LIGANDS, Ledger).reason]
    assert reasons == [Reason.NONE, Reason.NONE, Reason.DUPLICATE_OF]


def finished(folder: Path, campaign: dict[str, Any]) -> Workplan:
    """Empty files, of one age, in place of all that a run makes."""
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign))
    described = Workplan.of(campaign, "c.yaml", folder)
    results = folder / "results"
    (results / "export").mkdir(parents=True)
    (results / "report.html").touch()
    # Where there is any record, the files without one count by their age.
    (folder / ".snakemake" / "metadata").mkdir(parents=True)
    (folder / ".snakemake" / "metadata" / "eA==").write_text("{}")
    others = [Path(name) for name in (*described.final(str(results)), results / "manifest.tsv")]
    others += [results / f".parts-{described.digest[:16]}", results / "export/.exported"]
    others += [results / "controls" / name / "accepted.txt" for name in described.ranked]
    for path in (*EarlierRun(described, folder).missing(), *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in [results, *results.rglob("*")]:
        os.utime(path, (2e9, 2e9))
    return described


def test_a_finished_campaign_makes_what_it_has_lost(
    tmp_path: Path, campaign: dict[str, Any]
) -> None:
    described = finished(tmp_path, campaign)
    results = tmp_path / "results"
    assert jobs(snakemake(tmp_path, "--dry-run").stdout) == {}
    first, second = described.manifest(str(results)).parts[:2]
    follow = {"aggregate": 1, "export": 1, "report": 1, "all": 1}
    for lost, wanted in (
        ((first.scores,), {"screen": 1, **follow}),
        ((first.poses, second.kept), {"screen": 2, **follow}),
        ((first.ligands,), {"parse": 1, "screen": 2, **follow}),
        ((results / "campaign.h5",), follow),
        ((results / "manifest.tsv",), {"manifest": 1, **follow}),
    ):
        for path in lost:
            path.unlink()
        result = snakemake(tmp_path, "--dry-run")
        assert jobs(result.stdout) == wanted, result.stdout
        if first.poses in lost:
            batch = snakemake(tmp_path, "--dry-run", "--batch", "aggregate=1/2")
            assert jobs(batch.stdout) == {}, batch.stdout
        for path in lost:
            path.touch()
            os.utime(path, (2e9, 2e9))


def test_what_searches_are_made_from_is_made_again_where_it_is_lost(tmp_path: Path) -> None:
    (tmp_path / "p.fa").write_text(">a\nMKVLAAGIV\n")
    (tmp_path / "g.fa").write_text(f">chr1\n{'ACGTTGCAAG' * 20}\n")
    (tmp_path / "guides.txt").write_text("ACGTTGCAAGACGTTGCAAG\n")
    searches = {
        "homologs": {"p": {"query": "p.fa", "database": "p.fa"}},
        "offtargets": {"g": {"genome": "g.fa", "guides": "guides.txt"}},
    }
    described = finished(tmp_path, searches)
    results = tmp_path / "results"
    assert EarlierRun(described, tmp_path).lost() == []
    database, planes = results / "homologs/p/database.h5", results / "genomes/g"
    database.unlink()
    planes.unlink()
    (results / "manifest.tsv").unlink()
    assert EarlierRun(described, tmp_path).lost() == [
        (database, "is missing"),
        (planes, "is missing"),
    ]
    wanted = jobs(snakemake(tmp_path, "--dry-run").stdout)
    assert wanted["database"] == wanted["genome"] == 1


def test_every_name_in_the_rules_is_defined(tmp_path: Path) -> None:
    """Functions of rules run only for some campaigns, so that a slip of the pen may wait long."""
    sources = SimpleNamespace(
        open=lambda file: StringIO(Path(file.get_path_or_uri(False)).read_text())
    )
    start = ROOT / "Snakefile"
    included = re.findall(r'^include: "(.+)"$', start.read_text(), re.MULTILINE)
    files = [*(ROOT / name for name in included), start]  # in order: a later name is not known yet
    assert {file.parent for file in files[:-1]} == {ROOT / "workflow" / "rules"}
    assert len(included) == len(list((ROOT / "workflow" / "rules").glob("*.smk")))
    compiled = [
        parse(LocalSourceFile(str(file)), SimpleNamespace(sourcecache=sources), {})[0]
        for file in files
    ]
    text = "\n".join(compiled)
    assert undefined(tmp_path, text) == set()
    assert undefined(tmp_path, text + "\nf = lambda: fmade('ligands')") == {"fmade"}


def undefined(folder: Path, text: str) -> set[str]:
    """Names that compiled rules use, and neither they nor Snakemake define."""
    (folder / "rules.py").write_text(text)
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821"]
    ruff += ["--output-format", "json", str(folder / "rules.py")]
    found = json.loads(subprocess.run(ruff, capture_output=True, text=True).stdout)
    names = {re.findall(r"`(\w+)`", one["message"])[0] for one in found}
    return names - {"workflow", "config", "shell", "update", *vars(workflow)}
