"""A report as plain text, for a terminal."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ligen_py.store.campaign.judged import Judgement
from ligen_py.store.campaign.layout import ELSEWHERE
from ligen_py.summary.facts import Balance, Group, Networks, Target
from ligen_py.summary.glossary import TRAINED
from ligen_py.summary.table import counted, cut, table


def text_of(targets: Sequence[Target], files: Mapping[str, str], effort: str = "") -> str:
    """The report: per target the best molecules, the control, the groups and the ledger; files."""
    lines = [line for target in targets for line in _target(target)]
    if effort:
        lines += ["Settings", f"  effort {effort}; every value stands in the report as a page", ""]
    lines += ["Files", *table([[f"{what}:", path] for what, path in files.items()], "<<")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _target(target: Target) -> Iterator[str]:
    records = sum(balance.records for balance in target.ledger)
    ranked = counted(target.size, "molecule")
    title = f"{target.name}: {ranked} ranked of {counted(records, 'input record')}"
    yield from (title, "=" * len(title), "")
    yield from (
        ranked_words(target),
        *device_words(target.devices),
        *receptor_words(target.warnings),
        "",
    )
    yield from (*(_best(target) if target.size else [nothing_words(target)]), "")
    if target.networks:
        yield from (*(f"  {line}" for line in network_words(target.networks, NETWORK_HEADS)), "")
    yield from ("Redocking control", f"  {control_words(target)}")
    if target.networks and target.networks.crystal:
        yield f"  {crystal_words(target.networks.crystal, target.networks.weight)}"
    yield ""
    for group in target.groups:
        yield from (*_group(group), "")
    limits = (f"  {line}" for line in limit_words(target.simpler))
    yield from ("Ledger", *_ledger(target.ledger), *limits, "")
    alarms = (f"  ALARM {alarm}" for alarm in target.watch.alarms)
    yield from ("Watch", f"  {target.watch.summary}", *alarms, "", "")


def _best(target: Target) -> list[str]:
    heads = [*target.functions, *(NETWORK_HEADS if target.networks else ())]
    rows = [["rank", "score", *heads, "name", "states", "library"]]
    for h in target.best:
        totals = [f"{h.terms[f'{name}/total']:.2f}" for name in target.functions]
        totals += _judged(h.judgement) if target.networks else []
        rows.append([str(h.rank), f"{h.score:.2f}", *totals, cut(h.name), str(h.states), h.library])
    return list(table(rows, ">>" + ">" * len(heads) + "<><"))


def nothing_words(target: Target) -> str:
    """Why no molecule of a target is ranked: what became of the records, most frequent first."""
    counts = Counter[str]()
    for loss in (loss for balance in target.ledger for loss in balance.losses):
        counts[f"{loss.status} in {loss.stage} ({loss.reason})"] += loss.records
    ends = ", ".join(f"{count} {end}" for end, count in counts.most_common())
    records = sum(balance.records for balance in target.ledger)
    of = counted(records, "input record")
    return f"No molecule was scored, of {of}: {ends or 'there are none'}."


NETWORK_HEADS = ("score+CNN", "CNN", "CNN pK", "apart")


def _judged(found: Judgement | None) -> list[str]:
    """Cells under `NETWORK_HEADS`."""
    if found is None:
        return ["-"] * len(NETWORK_HEADS)
    apart = "-" if found.is_same else f"{found.moved:.1f}"
    return [f"{found.score:.2f}", f"{found.pose:.2f}", f"{found.affinity:.2f}", apart]


def network_words(found: Networks, heads: Sequence[str]) -> list[str]:
    """What is physics and what is network, in sentences; `heads` are the networks' columns."""
    count = len(found.molecules)
    judged = "the best molecule" if count == 1 else f"the best {count} molecules"
    chosen = (
        f"They choose the pose of lowest energy - {found.weight:g} logit. Of "
        f"{counted(found.others, 'molecule')} that is not the pose that the energies choose; "
        f"of {found.far} it lies more than {ELSEWHERE:g} Å from it."
    )
    return [
        f"network: {', '.join(heads)}: gnina's networks judged the kept poses of {judged}.",
        chosen if found.weight else "They choose nothing: networks.weight is 0.",
        "physics: all else, the order included.",
        TRAINED,
    ]


def crystal_words(found: Judgement, weight: float) -> str:
    """What networks make of the crystal ligand, docked again; with the weight 0 energies choose."""
    chosen = f"the pose that {'networks' if weight else 'energies'} choose"
    if not math.isfinite(found.crystal):
        return f"network: CNN {found.pose:.2f} for {chosen}"
    return (
        f"network: {chosen} is {found.crystal:.2f} Å from the crystal pose (CNN {found.pose:.2f})"
    )


def ranked_words(target: Target) -> str:
    """What the score is that ranks."""
    if target.rank_by == "first":
        return f"The score is {target.functions[0]}'s."
    if target.rank_by == "energy":
        return "The score: the pose's energy less the free ligand's, over torsions and size."
    if target.rank_by == "networks":
        return (
            "The score: the pose's energy less the free ligand's, over torsions and size, and what "
            "gnina's networks say of the pose (network)."
        )
    names = ", ".join(target.functions)
    return f"The score is minus the mean of the ranks by {names}."


def score_name(target: Target) -> str:
    """What a control's score is called, which no rank has a part in."""
    return "score by energy" if target.rank_by == "consensus" else "score"


def device_words(devices: Sequence[str]) -> list[str]:
    """A warning where devices of several classes scored one ranking; else nothing."""
    if len(devices) < 2:
        return []
    return [
        f"Devices: {len(devices)} that compute other last bits scored parts of this ranking "
        f"({'; '.join(devices)}). The affinity of one molecule can differ between them by some "
        "tenths of kcal/mol; run all parts on one of them where that matters."
    ]


def receptor_words(warnings: Sequence[str]) -> list[str]:
    """What the preparation of the receptor warned of, a sentence each."""
    return [f"Receptor: {words}{'' if words.endswith('?') else '.'}" for words in warnings]


def limit_words(count: int) -> list[str]:
    """What a limit of `parse` has decided of the scored molecules; nothing where it has not."""
    if not count:
        return []
    were = "was" if count == 1 else "were"
    return [
        f"Limits: {counted(count, 'molecule')} {were} scored in one state and conformer, as all of "
        "them passed parse.time_limit or parse.memory_limit, or crashed. This depends on the "
        "machine; raise the limit to dock all states."
    ]


def control_words(target: Target) -> str:
    """A target's redocking control in one sentence."""
    control = target.control
    if control is None:
        return "none: the campaign contains no control of this target"
    if control.score is None:
        return f"{cut(control.name)}: {control.status}, {control.detail}"
    words = f"{cut(control.name)}: {score_name(target)} {control.score:.2f}; "
    if control.rmsd is None or control.rmsd_kept is None:
        return f"{words}no RMSD, because {control.detail}"
    return (
        f"{words}best-scored pose {control.rmsd:.2f} Å from the crystal pose, "
        f"nearest of {counted(control.poses or 0, 'kept pose')} {control.rmsd_kept:.2f} Å"
    )


def null_words(nulls: Sequence[tuple[str, float]]) -> str:
    """ROC AUCs of rankings by one property, in words."""
    return ", ".join(f"{words} {value:.2f}" for words, value in nulls)


def caution(group: Group) -> str:
    """What a reader should know before trusting the statistics of a small group."""
    if group.enrichment is None or group.enrichment.members >= 20:
        return ""
    members = counted(group.enrichment.members, "member")
    return f"With {members} one molecule more or less changes these figures."


def _group(group: Group) -> Iterator[str]:
    named, names = group.names
    ranked = f"{named} of {names} members ranked"
    if not named == group.molecules == len(group.ranked):
        ranked = f"{counted(group.molecules, 'molecule')} ranked ({named} of {names} names)"
    yield f"Group {group.name}: {ranked}"
    yield from (f"  {line}" for line in _statistics(group))
    rows = [[str(m.rank), f"{m.score:.2f}", cut(m.name)] for m in group.ranked]
    rows += [["-", "-", f"{cut(m.name)} ({m.note})"] for m in group.missing]
    yield from table([["rank", "score", "member"], *rows], ">><")


def _statistics(group: Group) -> Iterator[str]:
    found = group.enrichment
    if found is None:
        yield "nothing to compare: no member is ranked, or nothing else is"
        return
    yield f"median rank {found.median_rank:g} of {found.size}"
    interval = "too few members for an interval"
    if found.interval is not None:
        interval = "95 % bootstrap interval {:.2f} to {:.2f}".format(*found.interval)
    yield f"ROC AUC {found.auc:.2f} ({interval}; chance is 0.5)"
    if found.nulls:
        yield f"by one property alone: {null_words(found.nulls)}"
    for factor in found.factors:
        yield (
            f"best {100 * factor.fraction:.0f} %: {factor.hits} of {factor.top} are members, "
            f"enrichment {factor.value:.1f} (at most {factor.highest:.1f}; chance is 1)"
        )
    if caution(group):
        yield caution(group)


def _ledger(ledger: Sequence[Balance]) -> Iterator[str]:
    states = list(ledger[0].by_status) if ledger else []
    rows = [["library", "records", *states]]
    for balance in ledger:
        counts = [str(balance.by_status[state]) for state in states]
        rows.append([balance.library, str(balance.records), *counts])
    yield from table(rows, "<" + ">" * (len(states) + 1))
    losses = [
        [balance.library, str(loss.records), f"{loss.status} in {loss.stage}: {loss.reason}"]
        for balance in ledger
        for loss in balance.losses
    ]
    if losses:
        yield from ("", *table(losses, "<><"))
