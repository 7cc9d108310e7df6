"""What is told of a ranked molecule, as text: items of its SDF record, cells of its line."""

from collections.abc import Sequence

from ligen_py.store.campaign import Pose
from ligen_py.store.campaign_reader import Ranked

FREE = ("name", "other_names")
"""Columns whose text comes from outside."""


def told(
    target: str, libraries: Sequence[str], best: Ranked, i: int, pose: Pose, others: Sequence[str]
) -> dict[str, str]:
    """Everything of the molecule in row `i` of some ranked ones; `others` are its other names."""
    scored = best.scored
    return {
        "target": target,
        "rank": str(best.rank[i]),
        "name": str(scored.name[i]),
        "score": str(scored.score[i]),
        **{name.replace("/", "."): str(values[i]) for name, values in best.terms.items()},
        "smiles": pose.smiles,
        "state": pose.state,
        "states": str(scored.states[i]),
        "other_names": "; ".join(others),
        "note": scored.note[i],
        "library": libraries[scored.library[i]],
        "line": str(scored.line[i]),
        "key": str(scored.key[i]),
        "restart": str(scored.restart[i]),
    }


def columns(terms: Sequence[str]) -> list[str]:
    """Columns of the table, for score terms 'function/term'."""
    first, last = ("rank", "name", "score"), ("library", "line", "other_names", "note")
    scores = (name.replace("/", ".") for name in terms)
    return [*first, *scores, "smiles", "state", "states", *last]
