"""Dock libraries into pockets and keep every term of the poses: what formulas are chosen on.

    python benchmarks/terms.py OUTPUT [--screens TARGET ...] [--complexes FOLDER] [--effort E]
                               [--jobs N] [--cache FOLDER] [--networks]

Into each target of --screens (folders laid out as for enrich.py) its actives and decoys are docked,
into each pocket of --complexes (laid out as for redock.py) the ligands of all of them.
OUTPUT.screens.zip and OUTPUT.cross.zip get a file POCKET/LIBRARY.npz for each pocket and library as
soon as it is done; what they have already is not docked again. Other settings are refused, and so
are other molecules, proteins or ligands of a site under the same names. What fails is said, left
out, and tried again by the next run; the exit status is then 1.
benchmarks/order.py compares formulas with them. With --networks gnina's networks judge all poses;
energies alone still choose which are kept.
"""

import argparse
import hashlib
import io
import os
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rdkit import RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.crossdock import library_of
from benchmarks.docking import (
    Clock,
    Docked,
    LigandsInMemory,
    Settings,
    Target,
    add_settings,
    device_for,
    digest_of,
    dock,
    parsed,
    pinned,
    pocket_of,
    settings_from,
)
from benchmarks.leaving import in_words
from benchmarks.redock import FAILURES, box_radius, find
from ligen_py.errors import InputError
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.records.properties import PROPERTY_NAMES, Properties
from ligen_py.store.files.read import read

FUNCTIONS = "score.functions=[vina, ad4, xscore, vinardo]"
WITH_NETWORKS = (
    "score.functions=[vina, ad4, xscore, vinardo, gnina]",
    'score.pose_weights={"vina": 1.0, "ad4": 0.5, "gnina": 0.0}',
)

GROUPS = ("actives", "decoys")

PART = 1000
"""Records that are docked together."""

MOST = {"screens": 64, "cross": 9}
"""Poses of a ligand that are kept, best first, by the kind of task."""


@dataclass(frozen=True)
class Task:
    """A library to dock into a pocket."""

    kind: str
    pocket: str
    folder: Path
    """Of the pocket's protein and ligand."""
    name: str
    """Of the library."""
    ligands: Path
    given: bytes
    """Digest of the molecules, the protein and the ligand of its site."""

    @property
    def member(self) -> str:
        """Its file in the archive."""
        return f"{self.pocket}/{self.name}.npz"


def pocket_file(folder: Path, cache: Path, settings: Settings) -> Path:
    """The pocket around a folder's ligand."""
    protein = find(folder, "protein.pdb", "protein.pdb.gz")
    ligand = find(folder, "crystal_ligand.sdf", "ligand.sdf")
    return pocket_of(protein, ligand, box_radius(ligand), cache / folder.name, settings.pocket)


def prepare(folder: Path, cache: Path, settings: Settings) -> str:
    """Make a pocket; what went wrong, or nothing."""
    RDLogger.DisableLog("rdApp.*")
    try:
        pocket_file(folder, cache, settings)
    except FAILURES as error:
        return str(error)
    return ""


def kept(
    docked: Docked, entries: Entries, properties: Properties, most: int
) -> dict[str, np.ndarray]:
    """What is known of records, of ligands, and of the poses of lowest energy."""
    ligands, poses = docked.ligands, docked.poses
    counts = np.diff(poses.first_pose)
    owner = np.repeat(np.arange(len(counts)), counts)
    energy = np.nan_to_num(docked.columns["choice"], nan=np.inf)
    order = np.lexsort((energy, owner))
    rank = np.arange(len(owner)) - np.repeat(poses.first_pose[:-1], counts)
    rows = order[rank < most]
    intra = np.full(len(counts), np.inf, np.float32)
    np.fmin.at(intra, owner, docked.columns["vina.intra"])
    return {
        "name": entries.name.astype(str),
        **{name: getattr(properties, name) for name in PROPERTY_NAMES},
        "entry": ligands.entry,
        "conformer": ligands.conformer,
        "isomers": ligands.isomers,
        "state_cost": ligands.state_cost,
        "strain": ligands.strain,
        "atoms": ligands.heavy,
        "torsions": np.diff(ligands.first_torsion),
        "lowest_intra": intra,
        "owner": owner[rows],
        "terms": np.array(list(docked.columns)),
        "values": np.stack(list(docked.columns.values()))[:, rows].astype(np.float32),
    }


def work(
    task: Task, cache: Path, settings: Settings, device: str | None
) -> tuple[Task, bytes, float]:
    """A file of one task, empty where it fails, and its seconds."""
    RDLogger.DisableLog("rdApp.*")
    started = time.perf_counter()
    try:
        target = Target.of(pocket_file(task.folder, cache, settings))
        entries: Entries = read(task.ligands, LIGANDS, Entries)
        library = LigandsInMemory.of(task.ligands)
        docked = dock(device_for(device), library, target, settings, Clock())
        properties: Properties = read(task.ligands, LIGANDS, Properties)
        columns = kept(docked, entries, properties, MOST[task.kind])
    except FAILURES as error:
        print(f"{task.pocket}, {task.name}: {error}", flush=True)
        return task, b"", time.perf_counter() - started
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **columns)
    return task, file.getvalue(), time.perf_counter() - started


def libraries(
    folder: Path, cache: Path, settings: Settings, jobs: int
) -> dict[str, tuple[Path, Path]]:
    """A target's actives and decoys by name: the library, and its ligands file."""
    made = {}
    for group in GROUPS:
        library = find(folder, f"{group}.smi")
        count = -(-sum(1 for _ in library.open()) // PART)
        for part in range(1, count + 1):
            text = f"{part}-of-{count}"
            file = parsed(library, cache / folder.name, settings.parse, jobs, text)
            made[f"{group}-{part}"] = library, file
    return made


def given(folder: Path, library: Path) -> bytes:
    """Digest of the files that a library is docked from into the pocket of a folder."""
    protein = find(folder, "protein.pdb", "protein.pdb.gz")
    ligand = find(folder, "crystal_ligand.sdf", "ligand.sdf")
    return digest_of(protein, ligand, library).encode()


def tasks_of(options: argparse.Namespace, cache: Path, settings: Settings) -> list[Task]:
    """Everything that is to be docked and is not yet; parses the libraries."""
    jobs = len(os.sched_getaffinity(0))
    tasks = [
        Task("screens", folder.name, folder, name, ligands, given(folder, library))
        for folder in options.screens
        for name, (library, ligands) in libraries(folder, cache, settings, jobs).items()
    ]
    if options.complexes:
        complexes = sorted(path for path in options.complexes.iterdir() if path.is_dir())
        library = cache / "ligands.smi"
        library_of(complexes, library)
        ligands = parsed(library, cache, settings.parse, jobs)
        tasks += [
            Task("cross", path.name, path, "ligands", ligands, given(path, library))
            for path in complexes
        ]
    return missing(tasks, options.output, settings)


def missing(tasks: Sequence[Task], output: str, settings: Settings) -> list[Task]:
    """What the archives do not have; InputError where they have it of other files."""
    there = {kind: present(output, kind, settings) for kind in MOST}
    for task in tasks:
        known = there[task.kind].get(task.member)  # empty in an archive of an earlier version
        if known and known != task.given:
            raise InputError(
                f"{output}.{task.kind}.zip: {task.member} was made of another library, protein or "
                "ligand; give another OUTPUT"
            )
    return [task for task in tasks if task.member not in there[task.kind]]


def present(output: str, kind: str, settings: Settings) -> dict[str, bytes]:
    """What an archive has, and of which files; InputError where other settings made it."""
    archive = Path(f"{output}.{kind}.zip")
    if not archive.exists():
        return {}
    with zipfile.ZipFile(archive) as file:
        if file.comment != mark(settings):
            raise InputError(f"{archive}: was made with other settings; give another OUTPUT")
        return {one.filename: one.comment for one in file.infolist()}


def mark(settings: Settings) -> bytes:
    """What an archive says of the settings that it was made with."""
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest().encode()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    result.add_argument("output", help="beginning of the names of the files")
    result.add_argument(
        "--screens", nargs="+", type=Path, default=[], metavar="TARGET", help="folders of targets"
    )
    result.add_argument("--complexes", type=Path, metavar="FOLDER", help="folder of complexes")
    result.add_argument("--jobs", type=int, default=1, metavar="N")
    result.add_argument("--cache", type=Path, help="keep parsed molecules and pockets here")
    result.add_argument("--networks", action="store_true", help="judge the poses by networks, too")
    add_settings(result)
    return result


def main() -> int:
    """Dock everything, and write what comes as it comes."""
    arguments = parser()
    options = arguments.parse_args()
    if not (options.screens or options.complexes):
        arguments.error("give --screens, --complexes or both")
    options.set.extend(WITH_NETWORKS if options.networks else [FUNCTIONS])
    settings = settings_from(options)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch, pinned(options.jobs) as pool:
        cache = options.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        tasks = tasks_of(options, cache, settings)
        folders = sorted({task.folder for task in tasks})
        print(f"{len(tasks)} libraries in pockets, {time.perf_counter() - started:.0f} s")
        made = pool.map(prepare, folders, [cache] * len(folders), [settings] * len(folders))
        for folder, error in zip(folders, made, strict=True):
            if error:
                print(f"{folder.name}: {error}")
        print(f"{len(folders)} pockets, {time.perf_counter() - started:.0f} s", flush=True)
        running = [pool.submit(work, task, cache, settings, options.device) for task in tasks]
        left = Counter(task.kind for task in tasks)
        failed = 0
        for done in as_completed(running):
            task, data, _ = done.result()
            failed += not data
            if data:
                with zipfile.ZipFile(f"{options.output}.{task.kind}.zip", "a") as archive:
                    archive.comment = mark(settings)
                    member = zipfile.ZipInfo(task.member)
                    member.comment, member.external_attr = task.given, 0o644 << 16
                    archive.writestr(member, data)
            left[task.kind] -= 1
            if not left[task.kind]:
                print(f"{task.kind}: {time.perf_counter() - started:.0f} s", flush=True)
    if failed:
        print(f"failed: {failed} of {len(tasks)}; the same command tries them again")
    return int(failed > 0)


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
