"""`python -m ligen_py.plan`: what it tells of a small campaign, and of a bad one."""

import base64
import copy
import os
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import yaml

from ligen_py import parse, plan
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import FILES
from ligen_py.errors import InputError
from ligen_py.planning import cost, next_run
from ligen_py.planning.sample import Sample, look, require_use
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, Audit
from ligen_py.store.campaign.manifest import Manifest, read_manifest
from ligen_py.store.files.read import read
from tests.mini import DHFR as COMPLEX
from tests.mini import Mini
from tests.workflow import forked

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


MINI: dict[str, Any] = {
    "targets": {
        "dhfr": {
            "receptor": str(COMPLEX / "1ia1_protein_one_lig_removed.pdb"),
            "chains": ["B"],
            "site": {"ligand": str(COMPLEX / "1ia1_ligand.sdf")},
        }
    },
    "libraries": {"lib": {"file": "lib.smi"}},
    "pocket": {"radius": 8},
    "dock": {"num_restart": 12, "num_iterations": 1, "n_angles": 8},
    "filter": {"max_num_poses": 4},
    "refine": {"rounds": 1, "evaluations": 8, "max_num_poses": 3},
}
"""What `Mini` does, as a config."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib.smi").write_text(LIBRARY)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(CONFIG))
    return tmp_path


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake starts soon."""
    monkeypatch.setattr(sys, "executable", forked.python())


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
    # Records, parts, seen, of how many files, ligands.
    assert row[1:8] == ["5", "2", "5", "1", "of", "1", "2"]
    for reason in ("1 unparsable", "1 duplicate of", "1 unsupported element"):
        assert reason in printed
    chunk_jobs = next(line for line in printed.splitlines() if "chunk jobs" in line)
    assert chunk_jobs.split()[-1] == "2"
    speed = [line.split() for line in printed.splitlines() if line.split()[:1] == ["refine"]]
    assert any(float(row[1]) > 0 for row in speed if len(row) == 2 and "." in row[1])
    assert "output files have to be generated" in printed
    assert "Advice" not in printed  # nothing makes five molecules take minutes
    assert sorted(path.name for path in folder.iterdir() if path.name[0] != ".") == [
        "c.yaml",
        "lib.smi",
    ]


def test_as_many_ligands_are_timed_as_take_some_seconds(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "".join(f"{'C' * n}O alcohol{n}\n" for n in range(2, 12))
    (folder / "lib.smi").write_text(names)

    def seconds(_: object, sample: Sample, *__: object) -> dict[str, float]:
        """As of a device that takes four seconds for a ligand; and which ligands there are."""
        timed.append(sample.states)
        return {"dock": 3.0 * sample.states, "score": 1.0 * sample.states}

    monkeypatch.setattr(cost, "_seconds", seconds)
    monkeypatch.setattr(cost, "_sum", lambda *_: iter([("of", "all")]))
    for most, ligands in (
        (40, [3, 10, 10]),
        (39.9, [3, 3, 9, 9]),
        (20, [3, 3, 5, 5]),
        (14, [3, 3]),
    ):
        timed: list[int] = []
        monkeypatch.setattr(cost, "TIMED", most)
        assert run(folder) == 0
        assert timed == ligands
        printed = capsys.readouterr().out
        assert f"Speed, {ligands[-1]} ligands into dhfr" in printed
        assert ["dock", "0.3"] in [line.split() for line in printed.splitlines()]


def test_a_flexible_molecule_is_not_timed_but_counts(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the genetic algorithm, whose runs take thousands of times longer with 29 torsions."""
    names = "".join(f"{'C' * n}O alcohol{n}\n" for n in range(2, 6))
    (folder / "lib.smi").write_text(f"{'C' * 32} wax\n{names}")
    (folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"search": "lga"}))
    timed: list[list[int]] = []

    def seconds(described: Workplan, sample: Sample, *__: object) -> dict[str, float]:
        ligands: Ligands = read(sample.ligands, LIGANDS, Ligands)
        timed.append(np.diff(ligands.first_torsion).tolist())
        work = cost._expected_work(described, ligands).sum()
        return {"lga": work * 1e-5, "score": 1.0 * sample.states}

    monkeypatch.setattr(cost, "_seconds", seconds)
    monkeypatch.setattr(cost, "_sum", lambda *_: iter([("of", "all")]))
    assert run(folder) == 0
    assert max(map(max, timed)) < 6
    assert len(timed[-1]) == 4
    printed = capsys.readouterr().out
    assert "1 of 5 records would take longer than 20 s each, and are not timed" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert ["lga", "0.003"] in rows  # the time is that of the wax
    assert ["score", "1.0"] in rows


def test_room_that_files_keep_for_more_rows_counts_once_a_part(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "lib.smi").write_text("CCO ethanol\nCCN ethylamine\n" * 10_000)
    assert run(folder, "--sample", "2") == 0
    printed = capsys.readouterr().out.splitlines()
    row = next(line for line in printed if "disk, GB" in line)
    assert 0.1 < float(row.split()[-1]) < 2  # 20,000 ligands, and mostly the headers of the files
    saved = printed[printed.index(row) + 1]
    assert "of it docked poses, which 'docked_poses: drop' saves" in saved
    assert 0 < float(saved.split()[-1]) < float(row.split()[-1])
    assert printed[printed.index(row) + 2].split()[-3:] == ["requests,", "GB", "8.0"]


def test_a_stale_list_of_parts_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Workplan.of(CONFIG, "c.yaml", folder).manifest()
    table = folder / "results" / "manifest.tsv"
    table.parent.mkdir()
    table.write_text(found.text())
    described = Workplan.of(CONFIG, "c.yaml", folder)
    assert list(next_run._stale_list(described, folder)) == []
    table.write_text(Manifest(found.parts[:1]).text())
    assert run(folder, "--sample", "1") == 0
    printed = capsys.readouterr().out.split("A run now")[1]
    assert f"{table} is stale: it lacks the part dhfr/drugs/2-of-2; a run makes it again" in printed


def test_reference_ligands_of_the_list_are_those_of_the_campaigns_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From any working folder, and also where one was renamed since; files behind a link, too."""
    (folder / "l.sdf").write_text("x")
    given = copy.deepcopy(CONFIG)
    given["targets"]["dhfr"]["site"] = {"ligand": "l.sdf"}
    (folder / "scratch" / "deep").mkdir(parents=True)
    table = folder / "results" / "manifest.tsv"
    table.parent.symlink_to("scratch/deep")
    monkeypatch.chdir(folder)
    found = Workplan.of(given, "c.yaml", Path()).manifest()
    table.write_text(found.text())
    found.parts[0].ligands.parent.mkdir(parents=True)
    found.parts[0].ligands.touch()
    monkeypatch.chdir("/")
    described = Workplan.of(given, "c.yaml", folder)
    assert list(next_run._stale_list(described, folder)) == []
    assert read_manifest(table).found_from(table).digest() == found.moved(folder).digest()
    (folder / "l.sdf").rename(folder / "m.sdf")
    given["targets"]["dhfr"]["site"] = {"ligand": "m.sdf"}
    (stale,) = next_run._stale_list(Workplan.of(given, "c.yaml", folder), folder)
    assert "another reference ligand" in stale


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


def test_searches_of_sequences_alone_have_no_effort(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some.fa").write_text(">a\nMKTAYIAKQR\n")
    search = {"homologs": {"like": {"query": "some.fa", "database": "some.fa"}}}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(search))
    assert plan.main([str(tmp_path / "c.yaml")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'c.yaml'}: sound\n\nA run now\n")


def test_a_bad_key_ends_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"dock": {"restarts": 3}}))
    assert run(folder) == 1
    assert "unknown key 'dock.restarts'" in capsys.readouterr().err


def test_a_receptor_that_cannot_be_used_ends_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for site, words in (
        ({"center": [900, 0, 0]}, "no receptor atom lies in the box around (900.00, 0.00, 0.00)"),
        ({"cavity": 99}, "has no cavity of rank 99; there are"),
    ):
        target = {"dhfr": {**CONFIG["targets"]["dhfr"], "site": site}}
        (folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"targets": target}))
        assert run(folder) == 1
        assert "key 'targets.dhfr': " in (printed := capsys.readouterr().err)
        assert words in printed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\n", "lib.smi: contains no molecules; give a file with one or more records"),
        (
            "no molecule\nnor this\n",
            "lib.smi: no record can be docked, of 2 looked at (2 unparsable); correct the file",
        ),
    ],
)
def test_a_library_that_gives_nothing_ends_it(
    folder: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "lib.smi").write_text(text)
    assert run(folder) == 1
    printed = capsys.readouterr()
    assert f"key 'libraries.drugs': {said}" in printed.err.splitlines()[-1]
    assert "A run now" not in printed.out


def test_a_file_of_several_may_give_nothing(folder: Path) -> None:
    (folder / "many").mkdir()
    for name in ("a.smi", "b.smi", "c.smi"):
        (folder / "many" / name).write_text("no molecule\n")
    config = CONFIG | {"libraries": {"drugs": {"file": "many"}}}
    described = Workplan.of(config, "c.yaml", folder)
    sample = Sample(3, True, 3, folder / "s.h5", seen=3)
    sample.reasons["unparsable"] = 3
    require_use(described, "drugs", sample)
    alone = Workplan.of(CONFIG, "c.yaml", folder)
    with pytest.raises(InputError, match="no record can be docked, of 3 looked at"):
        require_use(alone, "drugs", sample)


def test_records_of_several_files_are_looked_at(folder: Path, tmp_path: Path) -> None:
    """A file that cannot be read, in the middle, told of the whole library."""
    (folder / "several").mkdir()
    for name in ("a", "b", "c", "d", "e", "f", "g"):
        lines = "bad\n" * 20 if name == "d" else "CCO\nCCN\n" * 10
        (folder / f"several/{name}.smi").write_text(lines)
    described = Workplan.of({**CONFIG, "libraries": {"drugs": {"file": "several"}}}, "c", folder)
    for most, seen, files, unparsable in ((10, 10, 5, 2), (1000, 140, 7, 20)):
        sample = look(described, "drugs", most, tmp_path)
        assert (sample.records, sample.exact, sample.parts) == (140, True, 7)
        assert (sample.seen, sample.files) == (seen, files)
        assert sample.reasons["unparsable"] == unparsable
        assert sample.states == 2 * (files - 1)  # others are duplicates


def test_a_small_sample_of_a_library_proves_nothing(folder: Path) -> None:
    described = Workplan.of(CONFIG, "c.yaml", folder)
    for seen, records in ((0, 5), (1, 5), (49, 500)):
        sample = Sample(records, True, 2, folder / "s.h5", seen=seen)
        sample.reasons["unparsable"] = seen
        require_use(described, "drugs", sample)
    sample = Sample(500, True, 2, folder / "s.h5", seen=50)
    sample.reasons["unparsable"] = 50
    with pytest.raises(InputError, match="no record can be docked, of 50 looked at"):
        require_use(described, "drugs", sample)


def advice(folder: Path, library: dict[str, Any], records: int, parts: int) -> list[str]:
    """What is advised where a ligand takes a second, and each record gives one."""
    described = Workplan.of(CONFIG | {"libraries": {"drugs": library}}, "c.yaml", folder)
    sample = Sample(records, True, parts, folder / "s.h5", states=10, seen=10)
    return list(cost._advice(described, {"drugs": sample}, {"dock": 1.0}))


def test_advice_can_be_followed(folder: Path) -> None:
    library = {"file": "lib.smi"}
    assert advice(folder, library, 6000, 10) == []
    assert advice(folder, library, 60_000, 10) == [
        "Advice: a chunk of drugs takes 100.0 minutes; "
        "'libraries.drugs.chunk_size: 1000' makes it about 20"
    ]
    assert advice(folder, library, 6000, 100)[0].endswith("makes it about 20")
    assert advice(folder, library, 600, 100)[0].endswith("makes it about 10")
    assert advice(folder, library, 12, 2) == []
    assert advice(folder, library | {"chunks": 10}, 60_000, 10)[0].endswith(
        "take 'libraries.drugs.chunks' away, and 'libraries.drugs.chunk_size: 1000' "
        "makes it about 20"
    )


def test_advice_for_many_files_that_are_small_and_for_parts_of_another_campaign(
    folder: Path,
) -> None:
    for number in range(20):
        (folder / f"m{number}.smi").write_text("CCO ethanol\n")
    assert advice(folder, {"file": "m*.smi"}, 600, 20) == []


def test_removed_atoms_are_counted(folder: Path) -> None:
    described = Workplan.of(CONFIG, "c.yaml", folder)
    names, values = cost._pockets(described, folder)
    shown = dict(zip(names, values, strict=True))
    audit = read(folder / "pockets" / "dhfr.h5", POCKET, Audit)
    kept = int(audit.atoms[audit.action == "kept"].sum())
    assert shown["atoms in and around the box"] == str(kept)
    removed = audit.atoms[audit.action == "dropped"]
    assert shown["atoms removed"] == str(removed.sum())
    assert removed.sum() > len(removed)


def test_what_snakemake_advises_is_left_out() -> None:
    lines = [
        *("job       count", "------  -------", "screen        3", ""),
        *("Reasons:", "    (check individual jobs above for details)"),
        *("    params have changed since last execution:", "        screen"),
        "Some jobs were triggered by provenance information, see 'reason' section",
        "If you prefer that only modification time is used, '--rerun-triggers mtime'",
        "If you are sure that ..., 'snakemake --cleanup-metadata <outfile>'. ",
        *("Rules with provenance triggered jobs: screen", "", "This was a dry-run (flag -n)."),
    ]
    shown = list(next_run._table_and_reasons(lines))
    assert shown == [*lines[:3], "Reasons:", *lines[6:8]]


def pending(folder: Path) -> list[str]:
    return list(next_run._pending(folder / "c.yaml", folder, deep=False))


def test_what_would_run_is_said_beside_a_run_and_after_one_that_was_killed(folder: Path) -> None:
    """Snakemake alone lists nothing then, unless it is asked to."""
    half = folder / "results/ligands/drugs/1-of-2.h5"
    mark = base64.b64encode(b"results/ligands/drugs/1-of-2.h5").decode()
    for path in (half, folder / ".snakemake/incomplete" / mark):
        path.parent.mkdir(parents=True)
        path.touch()
    lines = pending(folder)
    assert lines[0].split() == ["job", "count"]
    assert ["parse", "2"] in [line.split() for line in lines]


def test_what_snakemake_refuses_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "lib.smi").unlink()
    (line,) = pending(folder)
    assert line.startswith("what it would do is not known: ")
    assert line.endswith("lib.smi does not exist; correct the path")
    monkeypatch.setattr(next_run, "find_spec", lambda name: None)
    (line,) = pending(folder)
    assert line.endswith("Snakemake is not installed here")


def test_a_folder_that_cannot_be_written_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".snakemake").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != ".snakemake")
    (line,) = pending(folder)
    assert f"{folder / '.snakemake'} cannot be written" in line
    assert "--directory" in line


def test_a_part_of_an_earlier_run_is_old_whatever_of_it_changes(tmp_path: Path) -> None:
    part = Mini(tmp_path).run().parts()[0]

    def is_old(**changes: dict[str, Any]) -> bool:
        plan = Workplan.of(MINI | changes, "c.yaml", tmp_path)
        return EarlierRun(plan, tmp_path).is_old(part)

    assert not is_old()
    assert is_old(dock={"num_iterations": 7})
    assert is_old(refine={"seed": 5})
    assert is_old(score={"state_cost": False})
    os.utime(part.pocket)  # newer, and of equal content
    assert not is_old()
    with h5py.File(part.pocket, "a") as file:
        file.attrs["more"] = "x"
    assert is_old()


def test_what_a_chunk_keeps_is_said(tmp_path: Path) -> None:
    part = Mini(tmp_path).run().parts()[0]
    table = ["job       count", "screen        1", "total         1"]

    def said(*pending: str, **changes: dict[str, Any]) -> list[str]:
        described = Workplan.of(MINI | changes, "c.yaml", tmp_path)
        return list(next_run._files_kept(described, tmp_path, pending))

    assert said(*table) == []  # another part is screened
    line = "Of dhfr/lib/1-of-1 the files of {} are kept; those of {} are made again"
    assert said(*table, score={"state_cost": False}) == [
        line.format("dock, filter, refine", "score")
    ]
    assert said(*table, filter={"max_num_poses": 3}) == [
        line.format("dock", "filter, refine, score")
    ]
    assert said(*table, "parse 1", filter={"max_num_poses": 3}) == []
    part.scores.unlink()
    assert said(*table) == [line.format("dock, filter, refine", "score")]
    part.poses.unlink()
    assert said(*table) == []


def test_lost_files_are_named_with_the_command(folder: Path) -> None:
    described = Workplan.of(CONFIG, "c.yaml", folder)
    results = folder / "results"
    parts = described.manifest(str(results)).parts
    for path in (getattr(part, kind) for part in parts for kind in FILES):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (results / "controls" / "dhfr").mkdir(parents=True)
    for name in ("campaign.h5", "controls/dhfr/controls.json", "controls/dhfr/controls.txt"):
        (results / name).touch()
    (results / "manifest.tsv").write_text(described.manifest().text())
    assert list(next_run._lost(described, folder, "ligen run c.yaml")) == []
    parts[1].scores.unlink()
    assert list(next_run._lost(described, folder, "ligen run c.yaml")) == [
        f"{parts[1].scores} is missing; 'ligen run c.yaml' makes it again"
    ]
    (results / "manifest.tsv").write_text(Manifest(described.manifest().parts[:1]).text())
    assert list(next_run._lost(described, folder, "")) == []  # a part that is new


def test_files_that_would_stop_the_ranking_are_named(tmp_path: Path) -> None:
    scores = Mini(tmp_path).run().parts()[0].scores
    described = Workplan.of(MINI, "c.yaml", tmp_path)
    assert list(next_run._damaged(described, tmp_path)) == []
    scores.write_bytes(scores.read_bytes()[:-100])
    (said,) = next_run._damaged(described, tmp_path)
    assert said.startswith(f"{scores}: not a complete HDF5 file; delete it and make it again, ")
