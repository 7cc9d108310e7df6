"""Searches of sequences in a campaign: beside a screen, with anti-targets, and in the report."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py.campaign.workplan import Workplan
from ligen_py.molecules.receptor.chains import protein_chains
from tests.workflow import forked
from tests.workflow.small import LIBRARY, campaign, contents, run_local
from tests.workflow.test_plan import ROOT

SITE = {"center": [-2.7, 27.8, 3.4], "radius": 8}
CDS = "ATGGCTGGACCTGACTTCAGGCATCGTACGGTTGACCTGCAGGCATGCAAGCTTGGCACTGGCCGTCGTTTTACAACGTCGTGACTGGGAA"


def config(folder: Path) -> dict[str, Any]:
    """The small campaign, whose target is its own anti-target; off-targets, and guides."""
    settings = campaign(2)
    receptor = settings["targets"]["dhfr"]["receptor"]
    sequence = protein_chains(Workplan.of(settings, "c.yaml", folder).receptor("dhfr"))[0].sequence
    like = sequence[:30] + "AAAA" + sequence[34:]
    (folder / "db.fa").write_text(f">SELF\n{sequence}\n>sp|P00001|LIKE like it\n{like}\n")
    (folder / "genome.fa").write_text(f">chr1\n{CDS * 2}{CDS[:40]}\n>chr2\n{CDS[::-1]}\n")
    (folder / "cds.fa").write_text(f">GENE\n{CDS[:60]}\n")
    (folder / "in.txt").write_text(f"genome.fa\n{'N' * 21}RG\n{CDS[:20]}NNN 4 one\n")
    anti = {"receptor": receptor, "site": SITE}
    search = {"target": "dhfr", "database": "db.fa", "best": 3, "structures": {"P00001": anti}}
    settings["homologs"] = {"like": search}
    settings["offtargets"] = {"cas": {"input": "in.txt", "chunks": 3}}
    settings["guides"] = {"gene": {"cds": "cds.fa", "genome": "genome.fa", "chunks": 2,
                                   "controls": 2}}  # fmt: skip
    return settings


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("searches")
    (folder / "drugs.smi").write_text(LIBRARY)
    (folder / "c.yaml").write_text(yaml.safe_dump(config(folder)))
    result = run_local(folder)
    assert result.returncode == 0, result.stdout
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line.split("\t") for line in path.read_text().splitlines() if line[0] != "#"]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_equal_structures_give_equal_scores(finished: Path) -> None:
    results = finished / "results"
    found = rows(results / "homologs" / "like" / "selectivity.tsv")
    assert [row["rank"] for row in found] == ["1", "2", "3"]
    for row in found:
        assert row["antitarget_score"] == row["score"] == row["P00001"]
        assert (row["best_antitarget"], float(row["difference"])) == ("P00001", 0)
    (anti,) = rows(results / "homologs" / "like" / "found" / "panel.tsv")
    assert anti["accession"] == "P00001"
    assert "anti-" not in (results / "manifest.tsv").read_text()


def test_the_report_has_a_section_each(finished: Path) -> None:
    for name in ("report.html", "report.txt"):
        text = (finished / "results" / name).read_text()
        for what in ("Homologs", "Selectivity", "Off-targets", "Guides"):
            assert what in text, (name, what)
        assert "GENE_0001" in text
        assert "control_001" in text


def test_tables_of_the_searches(finished: Path) -> None:
    results = finished / "results"
    guides = rows(results / "guides" / "gene" / "found" / "guides.tsv")
    assert {row["role"] for row in guides} == {"gene", "control"}
    counts = rows(results / "offtargets" / "cas" / "found" / "counts.tsv")
    assert [row["guide_id"] for row in counts] == ["one"]
    assert len(list((results / "genomes").iterdir())) == 1


def ligen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [forked.python(), "-m", "ligen_py", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def planned_jobs(printed: str) -> set[str]:
    """Rules that Snakemake would run."""
    rows = [line.split() for line in printed.splitlines()]
    return {row[0] for row in rows if len(row) == 2 and row[1].isdigit()} - {"total", "all"}


def test_a_source_replaced_by_an_older_file_is_noticed(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, symlinks=True)
    changes = {
        "db.fa": ("like it", "alike", "homologs/like/database.h5", "like"),
        "cds.fa": ("GENE", "GENX", "guides/gene/1-of-2.h5", "gene"),
        "genome.fa": ("chr2", "chrX", "offtargets/cas/1-of-3.h5", "cas"),
    }
    for name, (old, new, _, _) in changes.items():
        path = folder / name
        path.write_text(path.read_text().replace(old, new))
        os.utime(path, (1_000_000_000, 1_000_000_000))
    printed = ligen(folder, "plan", "c.yaml", "--sample", "1").stdout.split("A run now")[1]
    for name, (_, _, file, search) in changes.items():
        assert re.search(rf"{name} has changed: results/{file}, .* search '{search}', are", printed)
    assert "in.txt has changed" not in printed
    rules = {"database", "homologs", "genome", "offtargets", "guide_sites", "guides"}
    assert rules <= planned_jobs(printed)
    assert not planned_jobs(printed) & {"screen", "aggregate"}
    words = ("--config", "c.yaml", "--hits", "0", "--sample", "0", "--all")
    verified = ligen(folder, "verify", "results/campaign.h5", *words).stdout
    for file in ("homologs/like/database.h5", "offtargets/cas/2-of-3.h5", "guides/gene/2-of-2.h5"):
        assert f"FAULT results/{file}: was not made from" in verified, verified


def test_other_parts_give_the_same_tables(finished: Path, tmp_path: Path) -> None:
    settings = yaml.safe_load((finished / "c.yaml").read_text())
    settings = {name: settings[name] for name in ("offtargets", "guides")}
    settings["offtargets"]["cas"]["chunks"], settings["guides"]["gene"]["chunks"] = 1, 4
    for name in ("genome.fa", "cds.fa", "in.txt"):
        shutil.copy(finished / name, tmp_path)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(settings))
    result: subprocess.CompletedProcess[str] = run_local(tmp_path)
    assert result.returncode == 0, result.stdout
    before, after = contents(finished), contents(tmp_path)
    tables = [name for name in after if "/found/" in name and not name.endswith(".h5")]
    assert len(tables) >= 6
    assert {name: after[name] for name in tables} == {name: before[name] for name in tables}
    assert (tmp_path / "results" / "report.html").stat().st_size > 1000
