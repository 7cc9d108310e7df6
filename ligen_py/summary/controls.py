"""What controls show: how early known actives are in rankings, and which ranking to choose."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ligen_py.summary.early import log_auc, log_auc_by_chance, mean_rank, measure
from ligen_py.summary.nulls import NULLS, null_of
from ligen_py.summary.table import cut, table

OURS = "score"
"""The ranking score of the campaign."""

POSES, RANKING = "poses", "ranking"
"""What a limit is about."""

MEAN_RANK = "mean rank"
"""The mean of the ranks by all functions."""

FOLDS, REPEATS = 5, 20
"""Of the cross-validation behind a choice."""

LEAST_ACTIVES = 5
"""With fewer actives nothing is chosen."""


@dataclass(frozen=True)
class Docked:
    """Actives and decoys docked into one form of a pocket; columns have one value a molecule."""

    pocket: str
    is_active: np.ndarray
    score: dict[str, np.ndarray]
    """By the ranking score (`OURS`) and each function, larger is better; -inf where there is none.
    """
    properties: dict[str, np.ndarray]


@dataclass(frozen=True)
class Bar:
    """A limit and what was measured."""

    words: str
    passed: bool
    about: str = ""
    """POSES or RANKING; nothing in files from before it was stored."""


@dataclass(frozen=True)
class Redocked:
    """The reference ligand in one form of a pocket. Angstrom; None where not measured."""

    pocket: str
    name: str
    problem: str
    rmsd: float | None
    nearest: float | None
    poses: int

    def __str__(self) -> str:
        return self._told(f"{self.rmsd:.2f}" if self.rmsd is not None else "")

    def bar(self, limit: float) -> Bar:
        """Whether its RMSD is at most a limit (Angstrom)."""
        if self.rmsd is None:
            return Bar(f"redocking of {self}", False, POSES)
        words = f"redocking of {self._told(beside(self.rmsd, limit))}; at most {limit:g} Å wanted"
        return Bar(words, self.rmsd <= limit, POSES)

    def _told(self, rmsd: str) -> str:
        if self.rmsd is None or self.nearest is None:
            return f"{cut(self.name)}: not measured, {self.problem}"
        return (
            f"{cut(self.name)}: best-scored pose {rmsd} Å from the crystal pose, nearest "
            f"of {self.poses} kept poses {self.nearest:.2f} Å"
        )


@dataclass(frozen=True)
class Row:
    """Figures of one ranking: measure -> value and the ends of its interval of 95 %."""

    pocket: str
    by: str
    is_null: bool
    figures: dict[str, tuple[float, float, float]]

    def bar(self, limit: float) -> Bar:
        """Whether its ROC AUC is at least a limit."""
        value, low, high = self.figures["ROC AUC"]
        measured = f"ROC AUC by {self.by} {beside(value, limit)} ({low:.2f} to {high:.2f})"
        return Bar(f"{measured}, at least {limit:g} wanted", value >= limit, RANKING)


@dataclass(frozen=True)
class Choice:
    """The ranking that finds actives earliest (logAUC), chosen by cross-validation."""

    pocket: str
    by: str
    value: float
    """logAUC on all molecules, which is too high for a chosen ranking."""
    validated: float
    """`value` less what the choice adds: what it is worth on molecules with no part in it."""
    agreement: float
    """Share of the choices that were this ranking."""
    candidates: int


@dataclass(frozen=True)
class Verdict:
    """Everything that the controls of a target show."""

    target: str
    redocked: list[Redocked] = field(default_factory=list)
    actives: int = 0
    decoys: int = 0
    origin: str = ""
    """Where the decoys come from, in words."""
    rows: list[Row] = field(default_factory=list)
    choice: Choice | None = None
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no limit is missed; also where nothing was measured."""
        return all(bar.passed for bar in self.bars)

    def missed(self, about: str) -> bool:
        """Whether a limit of `about` (POSES, RANKING) is missed."""
        return any(bar.about == about and not bar.passed for bar in self.bars)

    @property
    def chance(self) -> str:
        """The figures of a random order, in words."""
        return f"ROC AUC 0.5, logAUC {log_auc_by_chance(self.decoys):.3f}, EF 1"

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        failed = [bar.words for bar in self.bars if not bar.passed]
        if failed:
            return f"controls of {self.target} failed: {'; '.join(failed)}"
        if not self.bars:
            return f"{self.target} has no control"
        return f"controls of {self.target} passed: {'; '.join(bar.words for bar in self.bars)}"


def beside(value: float, limit: float) -> str:
    """A value with two decimals, or as many as show on which side of a limit it is."""
    for decimals in range(2, 7):
        text = f"{value:.{decimals}f}"
        if np.sign(float(text) - limit) == np.sign(value - limit):
            break
    return text


def rankings(docked: Docked) -> dict[str, np.ndarray]:
    """Every ranking of some molecules that uses a score, by name; larger is better."""
    functions = [scores for name, scores in docked.score.items() if name != OURS]
    found = dict(docked.score)
    if len(functions) > 1:
        found[MEAN_RANK] = mean_rank(functions)
    return found


def figures_of(every: Sequence[Docked]) -> list[Row]:
    """Figures of all rankings in all pockets, and of the null rankings once."""
    rows = [
        Row(docked.pocket, by, False, measure(scores, docked.is_active))
        for docked in every
        for by, scores in rankings(docked).items()
    ]
    labels = every[0].is_active
    for name in NULLS:
        null = null_of(name, every[0].properties[name], labels)
        rows.append(Row("", null.words, True, measure(null.scores, labels)))
    return rows


def choose(every: Sequence[Docked], rows: Sequence[Row]) -> Choice | None:
    """The ranking of the largest logAUC in `rows`, and its worth on molecules it was not chosen on.

    Repeated stratified cross-validation: on each fifth of the molecules the ranking that is best on
    the other four is compared with the one that is best on all. The mean difference is what the
    choice adds, since logAUC itself is larger among few decoys. Rankings that order all molecules
    alike count once. None for fewer than `LEAST_ACTIVES` actives or decoys, or a single ranking.
    """
    labels = every[0].is_active
    least = min(np.count_nonzero(labels), np.count_nonzero(~labels))
    value = {(row.pocket, row.by): row.figures["logAUC"][0] for row in rows if not row.is_null}
    candidates: dict[bytes, tuple[tuple[str, str], np.ndarray]] = {}
    for docked in every:
        for by, scores in rankings(docked).items():
            ranks = np.unique(-scores, return_inverse=True)[1]
            candidates.setdefault(ranks.tobytes(), ((docked.pocket, by), ranks))
    if least < LEAST_ACTIVES or len(candidates) < 2:
        return None
    rng = np.random.default_rng(0)
    names = [name for name, _ in candidates.values()]
    ranks = np.stack([ranks for _, ranks in candidates.values()])
    best = int(np.argmax([value[name] for name in names]))
    chosen, added = [], []
    for _ in range(REPEATS):
        fold = _folds(labels, rng)
        for number in range(FOLDS):
            test = fold == number
            chosen.append(int(np.argmax(_log_auc(ranks[:, ~test], labels[~test], rng))))
            of_best, of_chosen = _log_auc(ranks[[best, chosen[-1]]][:, test], labels[test], rng)
            added.append(of_best - of_chosen)
    return Choice(
        *names[best],
        value=value[names[best]],
        validated=value[names[best]] - float(np.mean(added)),
        agreement=chosen.count(best) / len(chosen),
        candidates=len(names),
    )


def alike(results: Mapping[str, Hashable]) -> Iterator[str]:
    """A note on each pocket whose results are, to the last bit, those of an earlier one."""
    first: dict[Hashable, str] = {}
    for pocket, result in results.items():
        before = first.setdefault(result, pocket)
        if before != pocket:
            yield (
                f"All results in the pockets {before} and {pocket} are equal, as where both keep "
                "the same waters or none."
            )


def _folds(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A fold for each molecule, with equal shares of actives and of decoys."""
    fold = np.empty(len(labels), "i8")
    for kind in (True, False):
        rows = rng.permutation(np.flatnonzero(labels == kind))
        fold[rows] = np.arange(len(rows)) % FOLDS
    return fold


def _log_auc(ranks: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The logAUC of rankings (rankings, molecules); equal ranks in the same random order in all."""
    chance = np.broadcast_to(rng.random(len(labels)), ranks.shape)
    order = np.lexsort((chance, ranks), axis=-1)
    return np.asarray(log_auc(labels[order]))


def texts_of(verdict: Verdict) -> tuple[bytes, bytes]:
    """The verdict as the two files that are written of it: JSON, and the text."""
    values = json.dumps(document(verdict), indent=1, ensure_ascii=False)
    return f"{values}\n".encode(), text_of(verdict).encode()


def text_of(verdict: Verdict) -> str:
    """The verdict for a terminal."""
    return "".join(f"{line}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    title = f"Controls of {verdict.target}: {_outcome(verdict)}"
    yield from (title, "=" * len(title), "")
    for bar in verdict.bars:
        yield f"  {'passed' if bar.passed else 'FAILED'}  {bar.words}"
    if verdict.bars:
        yield ""
    if len(verdict.redocked) > 1:
        yield "Redocking"
        yield from (f"  {one.pocket}: {one}" for one in verdict.redocked)
        yield ""
    if verdict.rows:
        yield f"{verdict.actives} actives among {verdict.decoys} decoys, {verdict.origin}"
        yield from table(list(_cells(verdict.rows)), "<<" + ">" * len(verdict.rows[0].figures))
        yield f"  in brackets: 95 % bootstrap interval; chance: {verdict.chance}"
        yield ""
    if verdict.choice:
        yield from _choice(verdict.choice)
    yield from verdict.notes


def _outcome(verdict: Verdict) -> str:
    if not verdict.bars:
        return "none"
    return "passed" if verdict.passed else "FAILED"


def _cells(rows: Sequence[Row]) -> Iterator[list[str]]:
    several = len({row.pocket for row in rows if not row.is_null}) > 1
    yield ["ranked by", "pocket" if several else "", *rows[0].figures]
    for row in rows:
        pocket = row.pocket if several else ""
        if row.is_null:
            pocket = "(null)"
        figures = (f"{v:.2f} ({low:.2f} to {high:.2f})" for v, low, high in row.figures.values())
        yield [row.by, pocket, *figures]


def _choice(choice: Choice) -> Iterator[str]:
    yield (
        f"Chosen of {choice.candidates} rankings: {choice.by} in {choice.pocket}, logAUC "
        f"{choice.value:.2f}; the value on molecules"
    )
    yield (
        f"that had no part in the choice is about {choice.validated:.2f} (cross-validation; "
        f"{100 * choice.agreement:.0f} % of the choices agree)."
    )
    yield "The campaign ranks by its settings, not by this choice."
    yield ""


def document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON values."""
    return {
        "target": verdict.target,
        "passed": verdict.passed,
        "sentence": verdict.sentence,
        "bars": [_plain(bar.__dict__) for bar in verdict.bars],
        "redocking": [_plain(one.__dict__) for one in verdict.redocked],
        "actives": verdict.actives,
        "decoys": verdict.decoys,
        "origin": verdict.origin,
        "rankings": [
            {
                "pocket": row.pocket,
                "by": row.by,
                "null": row.is_null,
                "figures": {
                    name: dict(zip(("value", "low", "high"), values, strict=True))
                    for name, values in row.figures.items()
                },
            }
            for row in verdict.rows
        ],
        "choice": _plain(verdict.choice.__dict__) if verdict.choice else None,
        "notes": verdict.notes,
    }


def from_document(found: Mapping[str, Any]) -> Verdict:
    """The verdict of JSON values; KeyError, TypeError or ValueError where they are none."""
    rows = [
        Row(
            str(row["pocket"]),
            str(row["by"]),
            bool(row["null"]),
            {
                str(name): (float(f["value"]), float(f["low"]), float(f["high"]))
                for name, f in row["figures"].items()
            },
        )
        for row in found["rankings"]
    ]
    return Verdict(
        target=str(found["target"]),
        redocked=[Redocked(**one) for one in found["redocking"]],
        actives=int(found["actives"]),
        decoys=int(found["decoys"]),
        origin=str(found["origin"]),
        rows=rows,
        choice=Choice(**found["choice"]) if found["choice"] else None,
        bars=[
            Bar(str(bar["words"]), bool(bar["passed"]), str(bar.get("about", "")))
            for bar in found["bars"]
        ],
        notes=[str(note) for note in found["notes"]],
    )


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(values)
