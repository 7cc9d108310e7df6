"""Screen actives among decoys: how early in a ranking are the actives?

    python benchmarks/enrich.py FOLDER [--effort E] [--peer vina] [--json FILE] [--plots FOLDER]

FOLDER is that of a target (protein.pdb, crystal_ligand.sdf for the site, actives.smi and
decoys.smi), or contains such folders. For the score of a campaign, for each scoring function, and
for the mean of the functions' ranks where there are several: ROC AUC, logAUC from a false-positive
rate of 0.001 (chance 0.145), enrichment in the best 1 and 5 %, BEDROC with alpha 20, each with a
bootstrap interval of 95 %. The rows 'heavy atoms', 'logP', 'rings' and 'rows' rank by one number
alone, the last by that of the states, stereoisomers and conformers that a molecule is docked in: a
docking score that is not better has no chemical content. 'one row' is the score of each molecule's
first row, the dominant state in one conformer, without the cost of rows; 'physics', where networks
help to rank, is the score without them, of the poses that energies choose. A molecule that cannot
be docked ranks last; of one that is drawn twice the second is left out. Below the table stand the
rows a molecule of actives and decoys, and the correlation of score and rows among decoys, which is
that of 'one row' where more draws do not win.

With --peer vina AutoDock Vina (exhaustiveness 8) docks the same molecules, from the first of our
conformers, or the sample that --peer-sample names, in the same box; our figures are then printed
for that sample too, and what they have over Vina's on the same molecules, as a mean over the
targets. With --peer-states 1 it docks the dominant state of a molecule alone, as 'one row' does.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from rdkit import RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import (
    Clock,
    Docked,
    LigandsInMemory,
    Settings,
    Target,
    add_settings,
    by_energies,
    cores_for,
    device_for,
    dock,
    parsed,
    pinned,
    pocket_of,
    settings_from,
)
from benchmarks.figures import append, lines, save, writable
from benchmarks.leaving import in_words
from benchmarks.redock import FAILURES, PROTEIN, box_radius, check_peer, find
from ligen_py.cli import at_least
from ligen_py.engine.scoring.scores import pose_scores
from ligen_py.errors import InputError
from ligen_py.molecules.library.reading import records
from ligen_py.opencl.device import Device
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.properties import Properties
from ligen_py.store.files.read import read
from ligen_py.summary.early import DRAWS, MEASURES, mean_rank, measure, ranked, resampled

GROUPS = ("actives", "decoys")

CRYSTAL = "crystal_ligand.sdf"

PART = 1000
"""Records of a library that are docked together."""

OURS = "score"
"""The ranking of a campaign."""

PHYSICS = "physics"
"""The ranking by energies alone, of the poses that these choose, where networks help to rank."""

ONE_ROW = "one row"
"""The score of each molecule's first row, without the cost of rows."""

PEER = "peer vina"
"""The ranking by the affinities of Vina's program."""

NULLS = {"heavy atoms": "heavy", "logP": "logp", "rings": "rings", "rows": "rows"}
"""Rankings by what a molecule is, not by how it docks: name -> column, larger is better."""

Key = tuple[str, int, int]
"""Group of a record, its line in the group's library, and number of a state."""


@dataclass(frozen=True)
class Molecules:
    """Every record of a target's two libraries; columns have one value a record."""

    group: np.ndarray
    name: np.ndarray
    """As in the library, where several may have the same."""
    line: np.ndarray
    """First line of the record in the group's library, which with the group tells it apart."""
    heavy: np.ndarray
    """Heavy atoms; 0 where the record could not be read."""
    logp: np.ndarray
    rings: np.ndarray
    rows: np.ndarray
    """Ligands that the record is docked as."""
    one_row: np.ndarray
    """The score of the first of these; -inf where there is none."""
    score: dict[str, np.ndarray]
    """By the score and by each function, larger is better; -inf where there is none."""

    def some(self, chosen: np.ndarray) -> "Molecules":
        """Some records."""
        columns = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return Molecules(**columns, score={k: v[chosen] for k, v in self.score.items()})


COLUMNS = ("group", "name", "line", "heavy", "logp", "rings", "rows", "one_row")


def library_of(folder: Path, group: str, is_full: bool) -> Path:
    """The file of a target's actives or decoys."""
    return find(folder, f"{group}_full.smi" if is_full else f"{group}.smi")


@dataclass(frozen=True)
class Work:
    """One target: files, and where prepared ones are kept."""

    folder: Path
    cache: Path
    settings: Settings
    is_full: bool

    @property
    def pocket(self) -> Path:
        """The pocket file."""
        protein, ligand = find(self.folder, *PROTEIN), find(self.folder, CRYSTAL)
        cache = self.cache / self.folder.name
        return pocket_of(protein, ligand, box_radius(ligand), cache, self.settings.pocket)

    def parts(self, group: str) -> list[Path]:
        """Ligands files of a group."""
        library = library_of(self.folder, group, self.is_full)
        count = -(-sum(1 for _ in library.open()) // PART)
        cache, cores = self.cache / self.folder.name, len(os.sched_getaffinity(0))
        return [
            parsed(library, cache, self.settings.parse, cores, f"{part}-of-{count}")
            for part in range(1, count + 1)
        ]


def screen(device: Device, work: Work, clock: Clock) -> Molecules:
    """Dock all molecules of a target, each once, as a campaign's controls count them."""
    target = Target.of(work.pocket)
    parts: list[Molecules] = []
    again, seen = 0, set[str]()
    for group in GROUPS:
        for file in work.parts(group):
            entries: Entries = read(file, LIGANDS, Entries)
            properties: Properties = read(file, LIGANDS, Properties)
            library = LigandsInMemory.of(file)
            ligands = library.ligands
            docked = dock(device, library, target, work.settings, clock)
            count = len(entries.name)
            heavy = np.zeros(count, np.int64)
            heavy[ligands.entry] = ligands.heavy
            rows = np.bincount(ligands.entry, minlength=count)
            single = np.full(count, -np.inf)
            entry, first = np.unique(ligands.entry, return_index=True)
            best = docked.scores.best[first]
            single[entry[best >= 0]] = without_row_cost(docked, work.settings)[best[best >= 0]]
            score = {OURS: docked.by_record(docked.columns["score"], count)}
            if work.settings.score.rank_by == "networks":
                alone = by_energies(docked, work.settings.score)
                score[PHYSICS] = alone.by_record(alone.columns["score"], count)
            for function in work.settings.score.functions:
                score[function] = docked.by_record(docked.columns[f"{function}.total"], count)
            groups = np.full(count, group)
            known = (heavy, properties.logp, properties.rings, rows)
            ledger: Ledger = read(file, LIGANDS, Ledger)
            keys: list[str] = entries.key.tolist()
            is_first = ledger.status != Status.DUPLICATE
            is_first &= np.array([not key or key not in seen for key in keys], bool)
            seen.update(keys)
            again += int(np.count_nonzero(~is_first))
            named = groups, entries.name, entries.line
            parts.append(Molecules(*named, *known, single, score).some(is_first))
    if again:
        print(f"{work.folder.name}: duplicates left out: {again}", flush=True)
    found = _together(parts)
    if GROUPS[1] not in found.group:
        raise InputError(f"{work.folder}: each decoy is one of the actives; give other decoys")
    return found


def without_row_cost(docked: Docked, settings: Settings) -> np.ndarray:
    """Scores (poses,) that do not know how many rows a molecule has."""
    free = settings.score.model_copy(update={"row_cost": 0.0})
    terms = docked.terms(settings.score.functions)
    return pose_scores(docked.ligands, docked.poses, terms, free)[0]


def _together(parts: list[Molecules]) -> Molecules:
    columns = {n: np.concatenate([getattr(part, n) for part in parts]) for n in COLUMNS}
    score = {n: np.concatenate([part.score[n] for part in parts]) for n in parts[0].score}
    return Molecules(**columns, score=score)


def peer_scores(
    work: Work,
    chosen: Molecules,
    jobs: int,
    file: Path | None,
    most: int | None = None,
) -> np.ndarray:
    """Affinities (records,) by Vina, kcal/mol, the best of each record's first `most` states.

    Infinite where Vina can dock none. States that are in `file` are not run again, if the peer
    would be given the same.
    """
    row_of = {record: row for row, record in enumerate(records_of(chosen))}
    places = {
        (*record, place.number): place
        for record, own in states(work).items()
        for place in own[:most]
        if record in row_of
    }
    known = known_scores(work.folder.name, file, places)
    with (
        tempfile.TemporaryDirectory() as scratch,
        pinned(jobs, begin_peer, work, Path(scratch)) as pool,
    ):
        running = {
            pool.submit(run_peer, place): key for key, place in places.items() if key not in known
        }
        for done in as_completed(running):
            key = running[done]
            known[key], seconds = done.result()
            note(work, file, key, places[key], known[key], seconds)
    result = np.full(len(row_of), np.inf)
    for (group, line, _), affinity in known.items():
        row = row_of[group, line]
        result[row] = min(result[row], affinity)
    return result


def records_of(found: Molecules) -> list[tuple[str, int]]:
    """Group and line of each record."""
    return list(zip(found.group.tolist(), found.line.tolist(), strict=True))


@dataclass(frozen=True)
class Place:
    """Where a state of a record stands."""

    file: Path
    row: int
    number: int
    """Among the states of the record."""
    given: str
    """Digest of what the peer is given: the state in its conformer, receptor and box."""


def states(work: Work) -> dict[tuple[str, int], list[Place]]:
    """The states of every record, in their first conformers, by the record's group and line."""
    from benchmarks.vina_peer import digest, receptor_digest

    around = receptor_digest(Target.of(work.pocket))
    result: dict[tuple[str, int], list[Place]] = {}
    for group in GROUPS:
        for file in work.parts(group):
            entries: Entries = read(file, LIGANDS, Entries)
            ligands: Ligands = read(file, LIGANDS, Ligands)
            for row in np.flatnonzero(ligands.conformer == 0).tolist():
                entry = ligands.entry[row]
                places = result.setdefault((group, int(entries.line[entry])), [])
                places.append(Place(file, row, len(places), digest(around, ligands, row)))
    return result


def known_scores(target: str, file: Path | None, places: Mapping[Key, Place]) -> dict[Key, float]:
    """What an earlier run left of these states in a file of one JSON object a line, a state each.

    Where that run gave the peer something else, as with other settings, it is not known.
    """
    found = {
        row["given"]: np.inf if row["affinity"] is None else row["affinity"]
        for row in lines(file)
        if row["target"] == target and "given" in row
    }
    return {key: found[place.given] for key, place in places.items() if place.given in found}


_peer: list[Any] = []
"""In a process of the peer: what docks a state at a place."""


def begin_peer(work: Work, scratch: Path) -> None:
    """Make a process ready to give states to the peer."""
    from benchmarks.vina_peer import VinaPeer  # only who asks for the peer needs its packages

    RDLogger.DisableLog("rdApp.*")
    own = scratch / str(os.getpid())
    own.mkdir()
    _peer.append(VinaPeer(Target.of(work.pocket), own, len(os.sched_getaffinity(0))))


def run_peer(place: Place) -> tuple[float, float]:
    """Vina's best affinity of a state, infinite where it cannot dock it, and its seconds."""
    started = time.perf_counter()
    affinity = np.inf
    with suppress(*FAILURES):
        ligands: Ligands = read(place.file, LIGANDS, Ligands)
        affinity = float(_peer[0].dock(ligands, place.row).affinity[0])
    return affinity, time.perf_counter() - started


def note(
    work: Work, file: Path | None, key: Key, place: Place, value: float, seconds: float
) -> None:
    """Keep one result for later runs."""
    row = {
        "target": work.folder.name,
        **dict(zip(("group", "line", "state"), key, strict=True)),
        "given": place.given,
        "affinity": None if np.isinf(value) else round(value, 4),
        "seconds": round(seconds, 2),
    }
    append(file, row)


def sample_of(found: Molecules, sizes: Sequence[int | None] | None) -> np.ndarray:
    """Rows of a seeded sample of so many actives and decoys; all where no sizes are given."""
    rows = []
    for group, size in zip(GROUPS, sizes or (None,) * len(GROUPS), strict=True):
        own = np.flatnonzero(found.group == group)
        if size is not None and size < len(own):
            own = np.sort(np.random.default_rng(0).permutation(own)[:size])
        rows.append(own)
    return np.concatenate(rows)


def rankings(found: Molecules, peer: np.ndarray | None) -> dict[str, np.ndarray]:
    """Every ranking of some molecules by name: scores, larger is better."""
    result = dict(found.score)
    functions = [scores for name, scores in result.items() if name not in (OURS, PHYSICS)]
    if len(functions) > 1:
        result["mean rank"] = mean_rank(functions)
    if peer is not None:
        result[PEER] = -peer
    result[ONE_ROW] = found.one_row
    nulls = {name: getattr(found, column).astype(float) for name, column in NULLS.items()}
    return result | {name: np.nan_to_num(values, nan=-np.inf) for name, values in nulls.items()}


def draws(found: Molecules) -> dict[str, float]:
    """Rows a molecule of actives and decoys, and how score and rows go together among decoys.

    Pearson's correlation, for the score and for the first row's, which has no choice.
    """
    docked = found.rows > 0
    result = {
        f"rows a molecule, {group}": float(found.rows[docked & (found.group == group)].mean())
        for group in GROUPS
    }
    for name, score in ((OURS, found.score[OURS]), (ONE_ROW, found.one_row)):
        chosen = (found.group == GROUPS[1]) & np.isfinite(score)
        varied = len(np.unique(found.rows[chosen])) > 1
        r = np.corrcoef(score[chosen], found.rows[chosen])[0, 1] if varied else 0.0
        result[f"r of {name} and rows, decoys"] = float(r)
    return result


def table(found: Molecules, peer: np.ndarray | None) -> dict[str, dict[str, Any]]:
    """Figures of every ranking."""
    labels = found.group == "actives"
    result: dict[str, dict[str, Any]] = {}
    for name, scores in rankings(found, peer).items():
        figures = measure(scores, labels)
        result[name] = {
            key: {"value": round(v, 4), "interval_95": [round(low, 4), round(high, 4)]}
            for key, (v, low, high) in figures.items()
        }
    return result


def over_peer(found: Molecules, peer: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """What our rankings have over the peer's: of all molecules, then resampled (1 + DRAWS,).

    Both rank the same molecules in each draw, actives and decoys drawn apart.
    """
    rng = np.random.default_rng(0)
    labels = found.group == GROUPS[0]
    rows = resampled(labels, DRAWS, rng)
    orders = {
        name: (ranked(scores[None], labels[None], rng), ranked(scores[rows], labels[rows], rng))
        for name, scores in rankings(found, peer).items()
        if name in (OURS, ONE_ROW, PEER)
    }
    figures = {
        name: {key: np.concatenate([of(each) for each in both]) for key, of in MEASURES.items()}
        for name, both in orders.items()
    }
    peers = figures.pop(PEER)
    return {name: {key: row[key] - peers[key] for key in MEASURES} for name, row in figures.items()}


def print_over_peer(targets: Sequence[dict[str, dict[str, np.ndarray]]]) -> None:
    """Means over the targets with bootstrap intervals of 95 %."""
    print(f"\nover Vina's ranking, mean of {len(targets)} targets")
    for name in targets[0]:
        cells = []
        for key in MEASURES:
            value, *drawn = np.mean([target[name][key] for target in targets], axis=0)
            low, high = np.percentile(drawn, [2.5, 97.5])
            cells.append(f"{key} {value:+.3f} ({low:+.3f} to {high:+.3f})")
        print(f"  {name:12} " + ", ".join(cells), flush=True)


def print_table(title: str, figures: dict[str, dict[str, Any]]) -> None:
    """One target's figures, a line a ranking."""
    print(f"{title}\n  {'ranked by':12} " + " ".join(f"{name:>20}" for name in MEASURES))
    for name, row in figures.items():
        cells = []
        for cell in row.values():
            low, high = cell["interval_95"]
            cells.append(f"{cell['value']:.3f} ({low:.2f} to {high:.2f})")
        print(f"  {name:12} " + " ".join(f"{cell:>20}" for cell in cells), flush=True)


def curve(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of decoys and actives found, from 0 to 1; molecules of equal score come together."""
    _, place = np.unique(-scores, return_inverse=True)
    counts = (np.bincount(place, weights) for weights in (~labels, labels))
    false, true = (np.append(0, np.cumsum(count) / count.sum()) for count in counts)
    return false, true


def plot(found: Molecules, peer: np.ndarray | None, title: str, file: Path) -> None:
    """ROC curves of every ranking, linear and over the logarithm, as SVG."""
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "enrich"  # equal figures, equal bytes
    from matplotlib import pyplot

    labels = found.group == "actives"
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    for name, scores in rankings(found, peer).items():
        false, true = curve(scores, labels)
        style = "--" if name in NULLS else "-"
        for axis in axes:
            axis.plot(false, true, style, label=name, color="grey" if name in NULLS else None)
    chance = np.linspace(0, 1, 1001)
    for axis in axes:
        axis.plot(chance, chance, ":", color="black", label="chance")
        axis.set(xlabel="decoys found", ylabel="actives found", ylim=(0, 1))
    axes[0].set(xlim=(0, 1), title=title)
    axes[1].set(xscale="log", xlim=(1e-3, 1), title="early part")
    axes[0].legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def targets_in(folder: Path) -> list[Path]:
    """The folder itself, or those in it that have actives; names the others."""
    names = [f"{GROUPS[0]}.smi", f"{GROUPS[0]}_full.smi"]
    inside = [folder, *sorted(folder.glob("*/"))]
    found = [path for path in inside if any((path / name).exists() for name in names)]
    if folder in found:
        return [folder]
    others = [path.name for path in inside[1:] if path not in found]
    if found and others:
        print(f"left out, without {' or '.join(names)}: {', '.join(others)}")
    return found


def check_files(folders: Sequence[Path], is_full: bool) -> None:
    """Miss now what a target lacks; the others would be screened before it is missed."""
    for folder in folders:
        find(folder, *PROTEIN)
        find(folder, CRYSTAL)
    for library in [library_of(folder, group, is_full) for folder in folders for group in GROUPS]:
        if next(records(library), None) is None:
            raise InputError(f"{library}: has no molecule; give some")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    result.add_argument("folder", type=Path, help="folder of a target, or of targets")
    add_settings(result)
    result.add_argument(
        "--full", action="store_true", help="read actives_full.smi and decoys_full.smi"
    )
    result.add_argument("--peer", choices=["vina"], help="program to run beside ours")
    result.add_argument(
        "--peer-sample",
        type=at_least(1),
        nargs=2,
        metavar=("ACTIVES", "DECOYS"),
        help="the peer docks a seeded sample of this many; our figures are printed for it too",
    )
    result.add_argument(
        "--peer-states",
        type=at_least(1),
        metavar="N",
        help="the peer docks at most N states of a molecule, the dominant first (default: all)",
    )
    result.add_argument(
        "--peer-scores",
        type=writable,
        metavar="FILE",
        help="the peer's scores go here, and those of the same states in the same pocket that\n"
        "stand here are not run again",
    )
    result.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes of the peer (default: 1)"
    )
    result.add_argument("--json", type=writable, help="also write all figures and scores here")
    result.add_argument("--plots", type=Path, help="write TARGET.svg into this folder")
    result.add_argument(
        "--cache", type=Path, help="keep parsed molecules and pockets here for later runs"
    )
    return result


def main() -> int:
    """Screen every target and print its table."""
    arguments = parser()
    options = arguments.parse_args()
    settings = settings_from(options)
    cores_for(options.jobs)
    if not options.peer and (options.peer_sample or options.peer_states or options.peer_scores):
        arguments.error("--peer-sample, --peer-states and --peer-scores need --peer")
    check_peer(arguments, options.peer)
    if any("affinity" not in row for row in lines(options.peer_scores)):
        arguments.error(f"--peer-scores {options.peer_scores}: contains something else")
    folders = targets_in(options.folder)
    if not folders:
        arguments.error(f"{options.folder} has no actives.smi, nor folders with one")
    check_files(folders, options.full)
    device = device_for(options.device)
    cores = len(os.sched_getaffinity(0))
    print(f"{device.label}; {cores} cores")
    print(f"effort {settings.effort}{''.join(f', {item}' for item in options.set)}")
    document: dict[str, Any] = {"device": device.label, "cores": cores}
    document |= {"settings": settings.model_dump(mode="json"), "targets": {}}
    with tempfile.TemporaryDirectory() as scratch:
        gains = []
        for folder in folders:
            work = Work(folder, options.cache or Path(scratch), settings, options.full)
            document["targets"][folder.name], over = one_target(device, work, options)
            gains += [over] if over else []
            save(options.json, document)
        if gains:
            print_over_peer(gains)
    return 0


def one_target(
    device: Device, work: Work, options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray]]]:
    """Screen a target, print its tables, draw its curves.

    Returns what goes into the JSON file, and what ours has over the peer, if that was run.
    """
    name, clock = work.folder.name, Clock()
    found = screen(device, work, clock)
    actives = int(np.count_nonzero(found.group == "actives"))
    failed = int(np.count_nonzero(np.isinf(found.score[OURS])))
    seconds = sum(clock.wall.values())
    title = (
        f"{name}: {actives} actives, {len(found.name) - actives} decoys, {failed} without a pose; "
        f"{len(found.name) / seconds:.1f} ligands/s from dock to score"
    )
    figures = {"all": table(found, None)}
    print_table(title, figures["all"])
    chance = {key: round(value, 3) for key, value in draws(found).items()}
    print("  " + "; ".join(f"{key} {value:.2f}" for key, value in chance.items()), flush=True)
    result: dict[str, Any] = {"seconds": seconds, "figures": figures, "rows": chance}
    shown, peer, over = found, None, {}
    if options.peer:
        sample = sample_of(found, options.peer_sample)
        limits = options.jobs, options.peer_scores, options.peer_states
        shown = found.some(sample)
        peer = peer_scores(work, shown, *limits)
        figures["with the peer"], over = table(shown, peer), over_peer(shown, peer)
        actives = int(np.count_nonzero(shown.group == "actives"))
        kept = f", scores kept in {options.peer_scores}" if options.peer_scores else ""
        title = f"{name}, {actives} actives and {len(shown.name) - actives} decoys{kept}"
        print_table(title, figures["with the peer"])
        affinities = [None if np.isinf(value) else value for value in peer.tolist()]
        rows = zip(records_of(shown), shown.name.tolist(), affinities, strict=True)
        result["peer"] = [[*record, name, affinity] for record, name, affinity in rows]
    if options.plots:
        plot(shown, peer, name, options.plots / f"{name}.svg")
    columns = {n: getattr(found, n) for n in ("group", "name", "line", "heavy", "rows")}
    known = {ONE_ROW: found.one_row} | found.score
    scores = {k: [None if np.isinf(v) else float(v) for v in c] for k, c in known.items()}
    return result | {"molecules": {k: c.tolist() for k, c in columns.items()} | scores}, over


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
