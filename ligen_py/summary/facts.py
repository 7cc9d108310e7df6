"""The facts of a report, taken from a campaign file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.records.devices import device_class
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import SIMPLER
from ligen_py.records.scores import Check
from ligen_py.store.campaign.judged import (
    CRYSTAL,
    Judgement,
    Judgements,
    read_judgements,
    weight_of,
)
from ligen_py.store.campaign.layout import ELSEWHERE, Control, Counts, Runs, Watched
from ligen_py.store.campaign.reader import CampaignReader, Ranked, TargetReader
from ligen_py.summary.controls import Verdict, from_document
from ligen_py.summary.enrichment import Enrichment, enrichment
from ligen_py.summary.glossary import NETWORKS
from ligen_py.summary.nulls import NULLS, null_of
from ligen_py.summary.table import counted, readable

DIFFERING = ("refined", "scores")
"""Kinds of files that classes of devices compute with other last bits."""

BINS = 48
"""Bars of a score histogram."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked molecule."""

    rank: int
    name: str
    score: float
    states: int
    library: str
    terms: dict[str, float]
    """By 'function/term', the totals first."""
    judgement: Judgement | None = None
    """What networks say of it, where they judged it."""


@dataclass(frozen=True, slots=True)
class Networks:
    """What networks say of the best molecules of a target."""

    weight: float
    """kcal/mol that a unit of their logit takes off a pose's energy when they choose."""
    judgements: Judgements

    @property
    def molecules(self) -> list[Judgement]:
        """Of all molecules that they judged, without the crystal ligand."""
        return [found for row, found in self.judgements.items() if row != CRYSTAL]

    @property
    def crystal(self) -> Judgement | None:
        """Of the crystal ligand, docked again."""
        return self.judgements.get(CRYSTAL)

    @property
    def others(self) -> int:
        """Molecules of which they choose another pose than the energies do."""
        return sum(not found.is_same for found in self.molecules)

    @property
    def far(self) -> int:
        """Molecules of which they choose a pose more than `ELSEWHERE` away."""
        return sum(found.moved > ELSEWHERE for found in self.molecules)


@dataclass(frozen=True, slots=True)
class Member:
    """A name of a group, and a molecule that has it: where it ranks, or why it does not.

    Two molecules may have one name, and one molecule that of its duplicate, too.
    """

    name: str
    rank: int | None
    score: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group of molecules in the ranking of a target."""

    name: str
    members: list[Member]
    enrichment: Enrichment | None

    @property
    def ranked(self) -> list[Member]:
        """Members that have a rank, best first."""
        return [member for member in self.members if member.rank is not None]

    @property
    def missing(self) -> list[Member]:
        """Members without a rank."""
        return [member for member in self.members if member.rank is None]

    @property
    def molecules(self) -> int:
        """Molecules that have a rank."""
        return len({member.rank for member in self.ranked})

    @property
    def names(self) -> tuple[int, int]:
        """Names under which a molecule ranks, and all names."""
        ranked, every = ({member.name for member in some} for some in (self.ranked, self.members))
        return len(ranked), len(every)


@dataclass(frozen=True, slots=True)
class Redocking:
    """The redocking control of a target; values that could not be measured are None."""

    name: str
    status: str
    detail: str
    score: float | None
    poses: int | None
    rmsd: float | None
    rmsd_kept: float | None


@dataclass(frozen=True, slots=True)
class Loss:
    """Records excluded for one reason."""

    status: str
    stage: str
    reason: str
    records: int


@dataclass(frozen=True, slots=True)
class Balance:
    """The ledger of one library: input records = scored + rejected + failed + duplicates."""

    library: str
    records: int
    by_status: dict[str, int]
    losses: list[Loss]


@dataclass(frozen=True, slots=True)
class Watch:
    """How believable the scores of a target are."""

    chunks: int
    sampled: int
    """Best poses that were scored again by the NumPy twin."""
    alarms: list[str]

    @property
    def summary(self) -> str:
        """The watch in one line."""
        found = counted(len(self.alarms), "alarm") if self.alarms else "no alarm"
        poses = f"{counted(self.sampled, 'best pose')} {'was' if self.sampled == 1 else 'were'}"
        return f"{found} in {counted(self.chunks, 'chunk')}; {poses} scored again by plain NumPy"


@dataclass(frozen=True, slots=True)
class Target:
    """Everything reported of one target."""

    name: str
    size: int
    rank_by: str
    """What ranks: energy, first or consensus, as in the settings of `score` and `aggregate`."""
    functions: list[str]
    """Scoring functions, the first of the campaign first."""
    best: list[Hit]
    control: Redocking | None
    judged: Verdict | None
    """What the controls showed before the libraries were docked."""
    ledger: list[Balance]
    watch: Watch
    groups: list[Group]
    bars: list[int]
    """Molecules by score, from `lowest` to `highest` in equal steps."""
    lowest: float
    highest: float
    networks: Networks | None = None
    """None where no networks judged its best molecules."""
    devices: tuple[str, ...] = ()
    """One device of each class whose refined poses and scores the campaign contains."""
    warnings: tuple[str, ...] = ()
    """What the preparation of its receptor warned of."""
    simpler: int = 0
    """Scored molecules in one state and conformer, since all of them passed a limit of `parse`."""


def networks_of(path: Path, campaign: Path) -> dict[str, Networks]:
    """What networks say of each target's best molecules; InputError as `read_judgements`."""
    weight = weight_of(path)
    return {
        name: Networks(weight, found) for name, found in read_judgements(path, campaign).items()
    }


def targets_of(
    campaign: CampaignReader,
    top: int,
    groups: Mapping[str, Sequence[str]],
    networks: Mapping[str, Networks] | None = None,
) -> list[Target]:
    """The facts of every target: its `top` best molecules and how the `groups` of names rank.

    `networks`: what these say of the molecules of each target.
    """
    runs = campaign.runs()
    settings, devices = _score_settings(runs), _devices(runs)
    judged = networks or {}
    return [
        replace(_target(campaign, name, top, groups, settings, judged.get(name)), devices=devices)
        for name in campaign.targets
    ]


def effort_of(campaign: CampaignReader) -> str:
    """The effort of the campaign's config; empty where the campaign does not say it."""
    return readable(campaign.attributes.get("effort", ""))


def by_networks(targets: Sequence[Target]) -> bool:
    """Whether networks judged poses of any target."""
    return any(one.networks or NETWORKS & {*one.functions} for one in targets)


def _target(
    campaign: CampaignReader,
    name: str,
    top: int,
    groups: Mapping[str, Sequence[str]],
    settings: dict[str, Any],
    networks: Networks | None,
) -> Target:
    target = campaign.target(name)
    scores, functions = target.scores(), _functions(target, settings)
    bars, edges = _histogram(scores)
    return Target(
        name=name,
        size=target.size,
        rank_by=_rank_by(campaign, settings),
        functions=functions,
        best=_hits(target.best(top), campaign.libraries, functions, networks),
        control=_redocking(target.control()),
        judged=_judged(campaign, name),
        ledger=_ledger(target.counts(), campaign.libraries),
        watch=_watch(target.watched(), target.counts(), campaign.libraries),
        groups=[_group(target, scores, group, names) for group, names in groups.items()],
        bars=bars.tolist() if len(scores) else [],
        lowest=float(edges[0]),
        highest=float(edges[-1]),
        networks=networks,
        warnings=tuple(readable(words) for words in target.site().warning),
        simpler=target.noted(SIMPLER),
    )


def _devices(runs: Runs) -> tuple[str, ...]:
    """One device of each class, of the runs whose results differ from class to class."""
    found: dict[str, str] = {}
    for kind, device in zip(runs.kind, runs.device, strict=True):
        if kind in DIFFERING and device:
            found.setdefault(device_class(str(device)), str(device))
    return tuple(sorted(found.values()))


def _histogram(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts by score and the edges between; the first bar holds what lies far below the others."""
    low, mark, high = np.quantile(scores, [0, 0.02, 1]) if len(scores) else (0.0, 0.0, 1.0)
    lowest = max(low, mark - (high - mark))
    return np.histogram(np.maximum(scores, lowest), bins=BINS)


def _functions(target: TargetReader, settings: dict[str, Any]) -> list[str]:
    """Scoring functions in the order of the score stage's settings, or by name."""
    known = [name.removesuffix("/total") for name in target.terms if name.endswith("/total")]
    order = settings.get("functions", known)
    return sorted(known, key=lambda name: order.index(name) if name in order else len(order))


DEFINING = ("functions", "pose_weights", "state_cost", "strain_cost", "row_cost")
"""Settings of the score stage that say what a score means, beside `rank_by`."""


def score_definition(campaign: CampaignReader) -> dict[str, Any]:
    """What a score of a campaign means, by setting; scores that mean the same can be compared."""
    settings = _score_settings(campaign.runs())
    return {"rank_by": _rank_by(campaign, settings)} | {
        name: settings.get(name) for name in DEFINING
    }


def _rank_by(campaign: CampaignReader, settings: dict[str, Any]) -> str:
    if settings_of(campaign.attributes.get("settings", "")).get("rank_by") == "consensus":
        return "consensus"
    return str(settings.get("rank_by", "first"))


def _score_settings(runs: Runs) -> dict[str, Any]:
    """Settings of the score stage, the same in all parts; none where there is no such run."""
    rows = np.flatnonzero(runs.kind == "scores")
    return settings_of(str(runs.settings[rows[0]])) if len(rows) else {}


def settings_of(text: str) -> dict[str, Any]:
    """Settings as they were stored; none where the text is no JSON object."""
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _hits(
    best: Ranked,
    libraries: Sequence[str],
    functions: Sequence[str],
    networks: Networks | None,
) -> list[Hit]:
    scored = best.scored
    names = list(dict.fromkeys([*(f"{name}/total" for name in functions), *best.terms]))
    return [
        Hit(
            rank=int(best.rank[i]),
            name=readable(scored.name[i]),
            score=float(scored.score[i]),
            states=int(scored.states[i]),
            library=libraries[scored.library[i]],
            terms={name: float(best.terms[name][i]) for name in names},
            judgement=networks.judgements.get(int(best.row[i])) if networks else None,
        )
        for i in range(len(best.rank))
    ]


def _judged(campaign: CampaignReader, name: str) -> Verdict | None:
    """The verdict on a target; none where it had no control, or where nobody can read it."""
    verdicts = campaign.verdicts()
    for row in np.flatnonzero(verdicts.target == name):
        try:
            found = from_document(json.loads(str(verdicts.document[row])))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        return found if found.bars else None
    return None


def _redocking(control: Control) -> Redocking | None:
    if not len(control.name):
        return None
    return Redocking(
        name=readable(control.name[0]),
        status=Status(control.status[0]).name.lower(),
        detail=readable(control.detail[0]),
        score=float(control.score[0]) if len(control.score) else None,
        poses=int(control.poses[0]) if len(control.poses) else None,
        rmsd=float(control.rmsd[0]) if len(control.rmsd) else None,
        rmsd_kept=float(control.rmsd_kept[0]) if len(control.rmsd_kept) else None,
    )


def _ledger(counts: Counts, libraries: Sequence[str]) -> list[Balance]:
    result = []
    for number in np.unique(counts.library):
        rows = np.flatnonzero(counts.library == number)
        by_status = {
            status.name.lower(): int(counts.records[rows][counts.status[rows] == status].sum())
            for status in Status
            if status != Status.READY
        }
        losses = [
            Loss(
                status=Status(counts.status[row]).name.lower(),
                stage=str(counts.stage[row]),
                reason=_words(Reason(counts.reason[row])),
                records=int(counts.records[row]),
            )
            for row in rows
            if counts.status[row] != Status.SCORED
        ]
        total = int(counts.records[rows].sum())
        result.append(Balance(libraries[number], total, by_status, losses))
    return result


UNREADABLE = 0.5
"""Share of a library's records that cannot be read, from which on it is an alarm."""


def _unreadable(counts: Counts, libraries: Sequence[str]) -> Iterator[str]:
    """Libraries of which little can be read: most likely they are not what their names say."""
    for number in np.unique(counts.library):
        mine = counts.library == number
        total = int(counts.records[mine].sum())
        lost = int(counts.records[mine & (counts.reason == Reason.UNPARSABLE)].sum())
        if lost > UNREADABLE * total:
            yield (
                f"{libraries[number]}: {lost} of {total} records cannot be read; is the format of "
                "its files what their names say?"
            )


def _watch(watched: Watched, counts: Counts, libraries: Sequence[str]) -> Watch:
    places = [
        f"{libraries[library]}/{readable(chunk)}"
        for library, chunk in zip(watched.library, watched.chunk, strict=True)
    ]
    alarms = [
        f"{places[row]}: {Check(watched.check[row]).name.lower()}: {readable(watched.detail[row])}"
        for row in np.flatnonzero(watched.alarm)
    ]
    sampled = int(watched.seen[watched.check == Check.TWIN].sum())
    return Watch(len(set(places)), sampled, [*_unreadable(counts, libraries), *alarms])


def _words(reason: Reason) -> str:
    if reason == Reason.DUPLICATE_OF:
        return "the same molecule as an earlier record"
    return reason.name.lower().replace("_", " ")


def _group(target: TargetReader, scores: np.ndarray, group: str, names: Sequence[str]) -> Group:
    wanted = frozenset(names)
    found = target.named(wanted)
    left = target.left_named(wanted)
    place = {int(row): i for i, row in enumerate(found.row)}
    named = {(str(name), i) for i, name in enumerate(found.scored.name) if name in wanted}
    named |= {  # a duplicate ranks where the molecule does that stands for it
        (str(name), place[int(row)])
        for name, row in zip(left.name, left.same_as, strict=True)
        if int(row) in place
    }
    members = [
        Member(readable(name), int(found.rank[i]), float(found.scored.score[i]), "")
        for name, i in sorted(named, key=lambda pair: (pair[1], pair[0]))
    ]
    missing = wanted - {name for name, _ in named}
    meant = target.other_cases(missing.difference(map(str, left.name)))
    for name in sorted(missing):
        notes = [
            f"{Status(status).name.lower()}: {readable(detail)}"
            for status, detail, other in zip(left.status, left.detail, left.name, strict=True)
            if other == name
        ]
        note = notes[0] if notes else "not in a library"
        if name in meant:
            note += f" under this name; did you mean {readable(meant[name])}?"
        members.append(Member(readable(name), None, None, note))
    measured = enrichment(scores, found.scored.score, found.rank)
    if measured is not None:
        measured = replace(measured, nulls=_nulls(target, found.row))
    return Group(group, members, measured)


def _nulls(target: TargetReader, rows: np.ndarray) -> tuple[tuple[str, float], ...]:
    """How some scored rows rank among all ranked molecules by one property alone."""
    ranked = np.flatnonzero(target.column("duplicate") == 0)
    is_member = np.isin(ranked, rows)
    found = [null_of(name, target.column(name)[ranked], is_member) for name in NULLS]
    return tuple(sorted(((null.words, null.auc) for null in found), key=lambda pair: -pair[1]))
