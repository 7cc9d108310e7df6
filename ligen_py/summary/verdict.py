"""The page's first words: what of a target's results to trust."""

import math
from collections.abc import Sequence

from ligen_py.summary.controls import POSES, RANKING, Row, Verdict
from ligen_py.summary.enrichment import LEAST_FOR_INTERVAL, Enrichment
from ligen_py.summary.facts import Networks, Target
from ligen_py.summary.glossary import TRAINED
from ligen_py.summary.table import counted, cut
from ligen_py.summary.text import device_words, limit_words, nothing_words, receptor_words

FOUND = 2.0
"""A redocked pose up to this far (Angstrom) from the crystal pose counts as found."""

ACTIVES = "actives"
"""The group of known binders; any other may hold inactives, or binders of another target."""


def verdict(target: Target) -> list[tuple[str, str]]:
    """Sentences, each with `good`, `fair` or `bad`: on poses, ranking, and what else there is."""
    judged = target.networks
    networks = [_networks(judged)] if judged and judged.weight else []
    machine = (
        *receptor_words(target.warnings),
        *device_words(target.devices),
        *limit_words(target.simpler),
    )
    return [_poses(target), _ranking(target), *(("fair", words) for words in machine), *networks]


def _networks(found: Networks) -> tuple[str, str]:
    """Never `good`: they may know the complex from their training."""
    crystal = found.crystal
    if crystal is None or not math.isfinite(crystal.crystal):
        words = "Networks: they judged no pose whose crystal pose is known."
        return "fair", f"{words} {TRAINED}"
    near = crystal.crystal <= FOUND
    where = f"{crystal.crystal:.2f} Å from where the crystal has it"
    words = f"Networks: of the redocked ligand they choose a pose {where}"
    if not near:
        return "bad", f"{words}, so do not trust their choices without other evidence."
    return "fair", f"{words}. {TRAINED}"


def _poses(target: Target) -> tuple[str, str]:
    control = target.control
    if control is None:
        return "fair", "Poses: nothing was redocked, so nothing shows whether they are right."
    name = cut(control.name)
    if control.rmsd is None or control.rmsd_kept is None:
        return "bad", f"Poses: the control failed ({name}: {control.detail}), so check each by eye."
    near, kept = f"{control.rmsd:.2f} Å", f"{control.rmsd_kept:.2f} Å"
    if control.rmsd <= FOUND:
        words = f"Poses: {name} came back to {near} from where the crystal has it"
        if target.judged and target.judged.missed(POSES):
            return "fair", f"{words}, which is beyond the limit that was set for its control."
        return "good", f"{words}, so trust them as a start."
    if control.rmsd_kept <= FOUND:
        return "fair", (
            f"Poses: the search found {name}'s crystal pose ({kept}), but another scores better "
            f"({near} away), so look at the gap and at the contacts before trusting one."
        )
    return "bad", (
        f"Poses: {name} did not come back (best-scored pose {near} away, nearest kept {kept}), so "
        "trust none without other evidence."
    )


def _ranking(target: Target) -> tuple[str, str]:
    if not target.size:
        return "bad", nothing_words(target)
    if target.judged and target.judged.rows:
        return _of_actives(target.judged, target.rank_by)
    groups = {group.name: group.enrichment for group in target.groups}
    why = "no known actives were given"
    if ACTIVES in groups:
        if found := groups.pop(ACTIVES):
            return _of_group(found)
        why = f"of {ACTIVES} no member is ranked, or nothing else is"
    told = "; ".join(_figures(name, found) for name, found in groups.items() if found)
    return "fair", (
        f"Ranking: {why}, so nothing shows whether it prefers them; choose by contacts and "
        f"chemistry, and by rank last.{told and f' Groups: {told}.'}"
    )


def _figures(name: str, found: Enrichment) -> str:
    """Where a group ranks, without a judgement: nothing says where it should."""
    if found.interval is None:
        return f"{name} ROC AUC {found.auc:.2f} ({counted(found.members, 'member')})"
    low, high = found.interval
    return f"{name} ROC AUC {found.auc:.2f} (95 % interval {low:.2f} to {high:.2f})"


def _of_actives(judged: Verdict, rank_by: str) -> tuple[str, str]:
    """By what ranks the campaign; a null ranking that is as good takes its worth."""
    value, low, high = _own(judged.rows, rank_by).figures["ROC AUC"]
    measured = f"ROC AUC {value:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    actives, decoys = counted(judged.actives, "known active"), counted(judged.decoys, "decoy")
    among = f"{actives} among {decoys}"
    if min(judged.actives, judged.decoys) < LEAST_FOR_INTERVAL:
        # Resampled, one active is always itself: its interval has no width.
        return "fair", (
            f"Ranking: {among} are too few to say whether it prefers them (ROC AUC {value:.2f})."
        )
    if low > 0.5:
        nulls = [(row.by, row.figures["ROC AUC"][0]) for row in judged.rows if row.is_null]
        prefers = f"Ranking: it prefers {among} ({measured})"
        if alone := _alone(nulls, value, low):
            return "fair", f"{prefers}, {alone}."
        if judged.missed(RANKING):
            return "fair", f"{prefers}, but its controls missed the limit that was set."
        return "good", f"{prefers}, so the order means something."
    if high < 0.5:
        return "bad", f"Ranking: it places {among} last ({measured}): ignore it."
    return "fair", (
        f"Ranking: it does not separate {among} ({measured}), so choose by contacts and chemistry, "
        "not by rank."
    )


def _alone(nulls: Sequence[tuple[str, float]], value: float, low: float) -> str:
    """What a property alone takes of a ranking's worth, where it is not clearly worse."""
    by, best = max(nulls, key=lambda null: null[1], default=("", 0.0))
    if best < low:
        return ""
    how = "does as well" if best >= value else "is within this interval"
    return f"but {by} alone {how} ({best:.2f}), so the order may show no more than that"


def _own(rows: Sequence[Row], rank_by: str) -> Row:
    """The row of the campaign's own ranking: its score's, or that of the mean rank, the last one.

    Of a single function the mean rank is the function's own.
    """
    own = [row for row in rows if not row.is_null and row.pocket == rows[0].pocket]
    return own[-1] if rank_by == "consensus" else own[0]


def _of_group(found: Enrichment) -> tuple[str, str]:
    if found.interval is None:
        count = counted(found.members, "member")
        return "fair", (
            f"Ranking: {ACTIVES} has {count}, too few to say whether it prefers them "
            f"(ROC AUC {found.auc:.2f})."
        )
    low, high = found.interval
    measured = f"ROC AUC {found.auc:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    if low > 0.5:
        prefers = f"Ranking: it prefers {ACTIVES} ({measured})"
        if alone := _alone(found.nulls, found.auc, low):
            return "fair", f"{prefers}, {alone}; controls with decoys of like properties show more."
        return "good", f"{prefers}, so the order means something."
    if high < 0.5:
        return "bad", f"Ranking: it places {ACTIVES} behind the others ({measured}): ignore it."
    return "fair", (
        f"Ranking: it does not separate {ACTIVES} from the others ({measured}), so choose by "
        "contacts and chemistry, not by rank."
    )
