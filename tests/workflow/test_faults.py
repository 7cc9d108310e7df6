"""Campaigns through faults on one computer: each comes to the bytes of an undisturbed one.

`make test` kills stages at a few moments, `make test-faults` at twenty, or at as many as KILLS=1000
says, and prints how many there were. Faults that need a cluster are in test_slurm.py.
"""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ligen_py.errors import InputError
from ligen_py.records.kept import KEPT, Chosen
from ligen_py.records.kinds import KINDS
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read
from ligen_py.store.files.terms import read_terms
from tests.workflow.small import (
    LOCAL,
    ask_fault,
    command,
    contents,
    happened,
    mounted,
    run,
    run_local,
    wait_until,
    working_in,
    write_campaign,
)

MOMENTS = int(os.environ.get("LIGEN_TEST_MOMENTS", "5"))
MINUTES = 0.05
"""How long a stage waits for a device that hangs; no other stage of the test has a limit."""
RETRIES = 3 if MOMENTS > 5 else 2
"""How often a job may be killed and started again."""
CHUNKS = 2
PARTS = [f"{number}-of-{CHUNKS}" for number in range(1, CHUNKS + 1)]
STAGES = [
    *((stage, part) for stage in ("parse", "screen") for part in PARTS),
    *(("pocket", "dhfr"), ("aggregate", "campaign"), ("export", "export"), ("report", "report")),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed campaign; no process of it has the hashes of another one."""
    folder = write_campaign(tmp_path_factory.mktemp("undisturbed") / "run", CHUNKS)
    subprocess.run(command(*LOCAL), cwd=folder, check=True)
    return folder


def interrupted(finished: Path, folder: Path) -> Path:
    """A copy of the campaign that was stopped before its poses were refined."""
    shutil.copytree(finished, folder)
    for name in ("refined", "scores", "export"):
        shutil.rmtree(folder / "results" / name)
    for name in ("campaign.h5", "report.html", "report.txt"):
        (folder / "results" / name).unlink()
    return folder


def assert_comes_through(folder: Path, finished: Path) -> None:
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    found, expected = contents(folder), contents(finished)
    assert {name: digest for name, digest in found.items() if name in expected} == expected
    assert len(found) == len(expected)


def test_stages_killed_at_random_moments(
    tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(MOMENTS)

    def killed() -> int:
        return len(list(tmp_path.glob("faults*/*.killed")))

    for number in range(6 + MOMENTS // 4):
        folder = write_campaign(tmp_path / f"run{number}", CHUNKS)
        faults = tmp_path / f"faults{number}"
        for stage, part in STAGES:
            # Some moments come after the stage's end and do nothing.
            kinds = chance.choices(["die", "late"], k=RETRIES)
            for kind in sorted(set(kinds)):
                whens = [
                    chance.randint(1, 9) if kind == "die" else chance.uniform(0, 2)
                    for _ in range(kinds.count(kind))
                ]
                extra = ask_fault(faults, stage, part, kind, "\n".join(map(str, whens)))
        done = run_local(folder, "--retries", str(RETRIES), extra=extra)
        assert done.returncode == 0, done.stdout
        assert contents(folder) == contents(finished)
        shutil.rmtree(folder)
        if killed() >= MOMENTS:
            break
    assert killed() >= MOMENTS
    with capsys.disabled():
        print(f"\n{killed()} kills in {number + 1} campaigns; each came to the same bytes")


def test_snakemake_killed_and_started_anew_with_other_settings(
    tmp_path: Path, finished: Path
) -> None:
    """A stage that outlived it replaced its successor's scores, which the next run ranked."""
    folder, faults = write_campaign(tmp_path / "run", CHUNKS), tmp_path / "faults"
    extra = ask_fault(faults, "screen", PARTS[0], "hold", "go on")
    config = yaml.safe_load((folder / "c.yaml").read_text())
    config["dock"]["num_restart"] -= 2
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    first = subprocess.Popen(
        command(*LOCAL),
        cwd=folder,
        env={**os.environ, **extra},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: happened(faults, "screen", PARTS[0], "hold"))
        # The second campaign in the folder of a running one.
        second = run_local(folder)
        assert second.returncode != 0
        assert "--unlock" in second.stdout
        assert "Traceback" not in second.stdout
    finally:
        first.kill()
        first.wait()
    third = run_local(folder)
    assert third.returncode != 0
    assert "--unlock" in third.stdout
    assert run(folder, "--unlock").returncode == 0
    # The killed one's stage, which holds what it is about to write, ends by itself.
    wait_until(lambda: not list(working_in(folder)))
    shutil.copy(finished / "c.yaml", folder)
    assert_comes_through(folder, finished)


def test_a_device_that_hangs_or_runs_out_of_resources(tmp_path: Path, finished: Path) -> None:
    folder, faults = write_campaign(tmp_path / "run", CHUNKS), tmp_path / "faults"
    ask_fault(faults, "screen", PARTS[1], "hang", MINUTES)
    extra = ask_fault(faults, "screen", PARTS[0], "refuse", 2)
    done = run_local(folder, "--retries", "1", extra=extra)
    assert done.returncode == 0, done.stdout
    assert contents(folder) == contents(finished)
    assert f"the device has not answered for {MINUTES} minutes" in done.stdout
    assert "Traceback" not in done.stdout
    assert happened(faults, "screen", PARTS[0], "refuse")


def test_files_that_snakemake_puts_back_are_not_taken_for_new_ones(
    tmp_path: Path, finished: Path
) -> None:
    """A job that fails after a change leaves the files of before, with the time of the failure."""
    folder, faults = tmp_path / "run", tmp_path / "faults"
    shutil.copytree(finished, folder)
    config = yaml.safe_load((folder / "c.yaml").read_text())
    config["targets"]["dhfr"]["site"]["radius"] = 9
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    extra = ask_fault(faults, "screen", PARTS[0], "die", 1)
    ranked = "results/campaign.h5"  # with all that it is made from
    failed = run_local(folder, "--keep-going", ranked, extra=extra)
    assert failed.returncode != 0
    assert "Restored previous version" in failed.stdout
    done = run_local(folder, ranked)
    assert done.returncode == 0, done.stdout
    fresh = write_campaign(tmp_path / "fresh", CHUNKS)
    (fresh / "c.yaml").write_text(yaml.safe_dump(config))
    assert run_local(fresh, ranked).returncode == 0
    found, expected = contents(folder), contents(fresh)
    assert expected != {name: contents(finished)[name] for name in expected}
    assert {name: found[name] for name in expected} == expected


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    with mounted(tmp_path / "disk", "40m") as folder:
        yield folder


def test_a_full_disk_a_read_only_folder_and_a_stale_file(disk: Path, finished: Path) -> None:
    folder = interrupted(finished, disk / "run")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    refused = run_local(folder)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert refused.returncode != 0
    assert "Read-only file system" in refused.stdout

    filler = disk / "filler"
    with filler.open("wb") as stream:
        stream.write(b"x" * (shutil.disk_usage(disk).free - 60_000))
    full = run_local(folder)
    assert full.returncode != 0
    assert "No space left on device" in full.stdout
    filler.unlink()
    # In one run with this: a file that an older campaign left, older than what it is made from.
    stale = folder / "results/kept/dhfr/drugs/1-of-2.h5"
    shutil.copy(stale.with_name("2-of-2.h5"), stale)
    os.utime(stale, (1e9, 1e9))
    assert_comes_through(folder, finished)


def test_damaged_files_are_named_and_made_again(tmp_path: Path, finished: Path) -> None:
    folder = interrupted(finished, tmp_path / "run")
    short, flipped = (folder / "results/kept/dhfr/drugs" / f"{part}.h5" for part in PARTS)
    times = {path: path.stat() for path in (short, flipped)}
    short.write_bytes(short.read_bytes()[: short.stat().st_size // 2])
    data = bytearray(flipped.read_bytes())
    data[data.index(read(flipped, KEPT, Chosen).number.tobytes())] ^= 1
    flipped.write_bytes(data)
    for path, before in times.items():
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert_comes_through(folder, finished)
    cure = "delete it and make it again, with 'ligen run CONFIG' where it is of a campaign"
    for path, fault in ((short, "not a complete HDF5 file"), (flipped, "damaged")):
        name = path.relative_to(folder)
        said = (folder / "logs/screen/dhfr/drugs" / f"{path.stem}.log").read_text()
        assert re.search(f"{re.escape(str(name))}: {fault}.*{cure}", said), said


def columns(record: Any) -> str:
    return str([np.asarray(getattr(record, item.name)).tolist() for item in fields(record)])


def everything(path: Path, kind: str) -> list[str]:
    """All that readers take from a file."""
    if kind == "campaign":
        with open_campaign(path) as campaign:
            target = campaign.target(campaign.targets[0])
            best = target.best(target.stored)
            terms = [values.tolist() for values in (best.rank, *best.terms.values())]
            return [str(terms), *map(columns, [best.scored, *target.poses(target.stored)])]
    found = [columns(read(path, KINDS[kind], record)) for record in KINDS[kind].groups.values()]
    terms = read_terms(path).values() if kind == "scores" else ()
    return [*found, *(str([values.tolist() for values in term.values()]) for term in terms)]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("ligands", "ligands/drugs/1-of-2.h5"),
        ("pocket", "pockets/dhfr.h5"),
        *((kind, f"{kind}/dhfr/drugs/1-of-2.h5") for kind in ("poses", "kept", "refined")),
        ("scores", "scores/dhfr/drugs/1-of-2.h5"),
        ("campaign", "campaign.h5"),
    ],
)
def test_no_flipped_byte_changes_what_is_read(
    finished: Path, tmp_path: Path, kind: str, name: str
) -> None:
    original = finished / "results" / name
    expected, data = everything(original, kind), bytearray(original.read_bytes())
    chance, path, refused = random.Random(kind), tmp_path / original.name, 0
    for place in chance.sample(range(len(data)), 100):
        data[place] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        data = bytearray(original.read_bytes())
        try:
            assert everything(path, kind) == expected, f"byte {place}"
        except InputError:
            refused += 1
    assert refused
