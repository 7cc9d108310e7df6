"""Dock every ligand of some complexes in every pocket: does its own rank first?

    python benchmarks/crossdock.py FOLDER [--effort E] [--device SELECTOR] [--jobs N] [--json FILE]

FOLDER is laid out as for redock.py. In each pocket its own ligand is the active and the others are
decoys. This shows how molecules of different size and kind compare, which redocking does not. Every
ligand is an active once and a decoy in all other pockets, so a preference for large ligands gains
nothing: ranking by the number of heavy atoms is chance. Prints the mean ROC AUC and the fraction of
pockets whose own ligand is among the best 5 %, with bootstrap and Wilson intervals over pockets:
for each scoring function and for the energy that chooses the pose, divided by powers of the number
of heavy atoms, and that energy also by (1 + weight * rotatable bonds). Ligands that cannot be
docked rank last. FILE gets a line of JSON for each pocket as it comes, and a run that was stopped
goes on where FILE ends.
"""

import argparse
import os
import sys
import tempfile
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem, RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import (
    Clock,
    LigandsInMemory,
    Settings,
    Target,
    about,
    add_settings,
    cores_for,
    device_for,
    digest_of,
    dock,
    parsed,
    pinned,
    pocket_of,
    settings_from,
)
from benchmarks.figures import append, resumed, writable
from benchmarks.intervals import interval, wilson
from benchmarks.leaving import in_words
from benchmarks.redock import CRYSTAL, FAILURES, PROTEIN, box_radius, find
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.store.files.read import read

SCORE = "score"
"""The ranking of a campaign, whatever its settings make of it."""

POWERS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""Powers of the number of heavy atoms that scores are divided by."""

WEIGHTS = (0.01, 0.02, 0.03, 0.04, 0.0585)
"""What a rotatable bond may take off an energy, as a share; the last is Vina's."""

EARLY = 0.05
"""Share of a ranking that counts as its best part."""


@dataclass(frozen=True)
class Work:
    """One pocket, and what is docked in it."""

    folder: Path
    cache: Path
    ligands: Path
    records: int
    settings: Settings
    device: str | None


@dataclass(frozen=True)
class Screened:
    """All ligands, each once, in all pockets."""

    ligands: list[str]
    heavy: np.ndarray
    """Heavy atoms (ligands,)."""
    own: np.ndarray
    """Column of each pocket's own ligand (pockets,)."""
    scores: dict[str, np.ndarray]
    """By ranking (pockets, ligands), larger is better; -inf without a pose."""


def library_of(folders: list[Path], file: Path) -> None:
    """Write the ligands of complexes as SMILES, by the names of their folders."""
    lines = []
    for folder in folders:
        start = find(folder, "ligand_start.sdf", "ligand.smi")
        if start.suffix == ".sdf":
            molecule = next(iter(Chem.SDMolSupplier(str(start))), None)
            if molecule is None:
                raise SystemExit(f"{start}: RDKit cannot read this molecule")
            smiles = Chem.MolToSmiles(molecule)
        else:
            smiles = start.read_text().split()[0]
        lines.append(f"{smiles} {folder.name}\n")
    file.write_text("".join(lines))


def screen(work: Work) -> dict[str, np.ndarray]:
    """Scores of all records in a pocket by ranking (records,), larger is better; empty: it failed.

    A record counts with the state in which it is best by that ranking; without a pose it has -inf.
    """
    RDLogger.DisableLog("rdApp.*")
    try:
        crystal = find(work.folder, *CRYSTAL)
        protein = find(work.folder, *PROTEIN)
        cache = work.cache / work.folder.name
        pocket = pocket_of(protein, crystal, box_radius(crystal), cache, work.settings.pocket)
        molecules = LigandsInMemory.of(work.ligands)
        ligands = molecules.ligands
        target = Target.of(pocket)
        docked = dock(device_for(work.device), molecules, target, work.settings, Clock())
    except FAILURES as error:
        print(f"{work.folder.name}: failed: {error}", flush=True)
        return {}
    turns = np.diff(ligands.first_torsion)
    torsions = np.repeat(turns, np.diff(docked.poses.first_pose))
    energy = -docked.columns["choice"]
    columns: dict[str, np.ndarray] = {
        name: docked.columns[f"{name}.total"] for name in work.settings.score.functions
    }
    columns |= {"energy": energy}
    columns |= {f"energy {w:g}": over(energy, 1 + w * torsions) for w in WEIGHTS}
    columns |= {SCORE: docked.columns["score"]}
    return {name: docked.by_record(values, work.records) for name, values in columns.items()}


def leads(scores: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How a pocket's own ligand ranks: ROC AUC, and whether it is in the best part.

    Args:
        scores: of ligands in pockets (pockets, ligands), larger is better.
        own: column of each pocket's own ligand (pockets,).

    Returns:
        Float and bool (pockets,). Of equal scores half are taken to be better.
    """
    mine = np.take_along_axis(scores, own[:, None], axis=1)
    others = scores.shape[1] - 1
    below = (scores < mine).sum(axis=1) + ((scores == mine).sum(axis=1) - 1) / 2
    found = np.isfinite(mine[:, 0])
    area = np.where(found, below / others, 0)
    return area, found & (others - below < np.ceil(EARLY * scores.shape[1]))


def over(scores: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Scores over what size adds to them; as in a campaign, those below 0 gain nothing by size."""
    return np.where(scores > 0, scores / scale, scores)


def figures(scores: np.ndarray, heavy: np.ndarray, own: np.ndarray) -> dict[str, Any]:
    """By power: both shares of one ranking, with intervals."""
    result = {}
    for power in POWERS:
        area, early = leads(over(scores, np.maximum(heavy, 1) ** power), own)
        cells = {
            "ROC AUC": (area, interval(area)),
            "best 5 %": (early, wilson(int(early.sum()), len(early))),
        }
        result[f"{power:g}"] = {
            name: {
                "value": round(float(values.mean()), 4),
                "interval_95": [round(end, 4) for end in ends],
            }
            for name, (values, ends) in cells.items()
        }
    return result


def print_table(found: dict[str, dict[str, Any]]) -> None:
    """A line a ranking and a column a power, once for each figure."""
    for figure in ("ROC AUC", "best 5 %"):
        print(f"{figure}, over the number of heavy atoms to the power of")
        print(f"  {'':13} " + " ".join(f"{power:>6g}" for power in POWERS))
        for name, row in found.items():
            print(
                f"  {name:13} " + " ".join(f"{cell[figure]['value']:6.3f}" for cell in row.values())
            )
    print("as they are, with intervals of 95 %")
    for name, row in found.items():
        cells = []
        for figure, cell in row["0"].items():
            value, (low, high) = cell.values()
            cells.append(f"{figure} {value:.3f} ({low:.2f} to {high:.2f})")
        print(f"  {name:13} " + "; ".join(cells), flush=True)


def screen_all(
    folders: list[Path],
    cache: Path,
    settings: Settings,
    device: str | None,
    jobs: int,
    file: Path | None,
    earlier: list[dict[str, Any]],
) -> Screened:
    """Dock the ligands of some complexes in all their pockets.

    `file` gets each pocket as it comes; what an `earlier` run has made of the same files is taken.
    """
    library = cache / "ligands.smi"
    library_of(folders, library)
    made = parsed(library, cache, settings.parse, len(os.sched_getaffinity(0)))
    entries: Entries = read(made, LIGANDS, Entries)
    ligands: Ligands = read(made, LIGANDS, Ligands)
    names, keys = entries.name.tolist(), entries.key.tolist()
    works = [Work(folder, cache, made, len(names), settings, device) for folder in folders]
    given = {
        folder.name: digest_of(library, *(find(folder, *names) for names in (PROTEIN, CRYSTAL)))
        for folder in folders
    }
    by_pocket = {
        row["pocket"]: {key: unlisted(values) for key, values in row["scores"].items()}
        for row in earlier
        if "pocket" in row and row["given"] == given.get(row["pocket"])
    }
    with pinned(jobs) as pool:
        running = {
            pool.submit(screen, work): work.folder.name
            for work in works
            if work.folder.name not in by_pocket
        }
        for done in as_completed(running):
            name = running[done]
            by_pocket[name] = found = done.result()
            columns = {key: listed(values) for key, values in found.items()}
            append(
                file, {"pocket": name, "given": given[name], "ligands": names, "scores": columns}
            )
    pockets = [by_pocket[folder.name] for folder in folders]
    # A molecule that stands in several complexes is one: its first record, their common ligand.
    first = [keys.index(keys[names.index(folder.name)]) for folder in folders]
    chosen, own = np.unique(first, return_inverse=True)
    heavy = np.zeros(len(names), np.int64)
    heavy[ligands.entry] = ligands.heavy
    nothing = np.full(len(names), -np.inf)
    scores = {
        ranking: np.stack([pocket.get(ranking, nothing) for pocket in pockets])[:, chosen]
        for ranking in dict.fromkeys(name for pocket in pockets for name in pocket)
    }
    if not scores:
        raise SystemExit("no pocket could be docked into")
    by_size = np.broadcast_to(heavy[chosen].astype(np.float64), scores[SCORE].shape)
    names = [names[column] for column in chosen]
    return Screened(names, heavy[chosen], own, scores | {"heavy atoms": by_size})


def listed(scores: np.ndarray) -> list[float | None]:
    """Scores as JSON has them."""
    return [None if np.isinf(value) else float(value) for value in scores]


def unlisted(scores: list[float | None]) -> np.ndarray:
    """Scores that JSON has had."""
    return np.array([-np.inf if value is None else value for value in scores])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    result.add_argument("folder", type=Path, help="folder of complexes")
    add_settings(result)
    result.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="pockets at a time (default: 1)"
    )
    result.add_argument(
        "--json", type=writable, help="also write all scores, as they come, and figures here"
    )
    result.add_argument("--cache", type=Path, help="keep parsed ligands and pockets here")
    return result


def main() -> int:
    """Screen the ligands of a folder's complexes in every pocket."""
    arguments = parser()
    options = arguments.parse_args()
    settings = settings_from(options)
    if not options.folder.is_dir():
        arguments.error(f"{options.folder} is not a folder")
    folders = sorted(path for path in options.folder.iterdir() if path.is_dir())
    if len(folders) < 2:
        arguments.error("give a folder of two complexes or more")
    cores_for(options.jobs)  # too many are refused now
    device = device_for(options.device).label
    print(f"{device}; {len(folders)} pockets and their ligands; effort {settings.effort}")
    earlier = resumed(options.json, about(device, settings))
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        asked = settings, options.device, options.jobs
        docked = screen_all(folders, cache, *asked, options.json, earlier)
    found = {
        key: figures(scores, docked.heavy, docked.own) for key, scores in docked.scores.items()
    }
    heavy = dict(zip(docked.ligands, docked.heavy.tolist(), strict=True))
    append(options.json, {"figures": found, "heavy": heavy})
    print_table(found)
    first = settings.score.functions[0]
    ours, theirs = (leads(docked.scores[key], docked.own)[0] for key in (SCORE, first))
    low, high = interval(ours - theirs)
    gain = float((ours - theirs).mean())
    print(f"{SCORE} minus {first}: {gain:+.3f} ({low:+.2f} to {high:+.2f})")
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
