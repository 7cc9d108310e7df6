"""What is reported of a ranked molecule, as text: items of its SDF record, cells of its line."""

from collections.abc import Container, Iterator, Mapping, Sequence

from ligen_py.records.properties import COUNTS, PROPERTY_NAMES
from ligen_py.store.campaign.judged import ITEMS, Judgement, Judgements
from ligen_py.store.campaign.layout import Pose, columns_of
from ligen_py.store.campaign.reader import CampaignReader, Ranked, TargetReader
from ligen_py.summary.table import readable

HIDDEN = ("target", "key", "restart", "chosen_by")
"""Items that the table leaves out."""

SOMETIMES = (*HIDDEN, *ITEMS, "scaffold", "pose", "energy")
"""Names of ours that some rows and files have: none has a column of the input under them."""

MOST_COLUMNS = 256
"""Most columns of the input in the table; the SDF holds all of each molecule."""

PIECE = 1000
"""Molecules read at a time."""

BRACKETS = str.maketrans("<>", "()")
"""What would end the name of an item."""


CHOSEN_BY = "chosen_by"
"""Item that says what chose a pose, where networks judged some: physics, or network."""


def ranked(
    campaign: CampaignReader,
    target: TargetReader,
    count: int,
    others: Mapping[int, Sequence[str]],
    judgements: Judgements | None = None,
) -> Iterator[tuple[dict[str, str], Pose]]:
    """Everything of the best `count` molecules of a target, and the best pose of each.

    `others` are their other names by row: asked for at once, since each time reads all duplicates.
    """
    for start in range(0, min(count, target.size), PIECE):
        best = target.ranked(start, min(start + PIECE, count))
        for i, pose in enumerate(target.poses(start + len(best.rank), start)):
            names = others.get(int(best.row[i]), [])
            row = facts(target.name, campaign, best, i, pose, names, judgements)
            yield row, pose


def facts(
    target: str,
    campaign: CampaignReader,
    best: Ranked,
    i: int,
    pose: Pose,
    others: Sequence[str],
    judgements: Judgements | None = None,
) -> dict[str, str]:
    """Everything of the molecule in row `i` of some ranked ones; `others` are its other names.

    With `judgements` of networks the pose is said to be that of the energies. Columns of the input
    come last.
    """
    scored = best.scored
    row = {
        "target": target,
        "rank": str(best.rank[i]),
        "name": str(scored.name[i]),
        "score": str(scored.score[i]),
        **{name.replace("/", "."): str(values[i]) for name, values in best.terms.items()},
        **({} if judgements is None else _judged(judgements.get(int(best.row[i])))),
        **{name: _property(best, name, i) for name in PROPERTY_NAMES},
        "smiles": pose.smiles,
        "state": pose.state,
        "states": str(scored.states[i]),
        "conformation": pose.conformation,
        "other_names": "; ".join(others),
        "note": scored.note[i],
        "library": campaign.libraries[scored.library[i]],
        "file": campaign.files[scored.file[i]],
        "line": str(scored.line[i]),
        "key": str(scored.key[i]),
        "restart": str(scored.restart[i]),
    }
    own = {*row, *SOMETIMES}
    return row | {_apart(name, own): text for name, text in columns_of(pose.extra).items()}


def _property(best: Ranked, name: str, i: int) -> str:
    """A property of the molecule in row `i`."""
    value = getattr(best.properties, name)[i]
    return str(int(value)) if name in COUNTS else f"{round(float(value), 2) + 0.0:.2f}"


def _judged(found: Judgement | None) -> dict[str, str]:
    """What networks say of a molecule, and who chose the pose beside it."""
    if found is None:
        return {CHOSEN_BY: "physics"}
    return {CHOSEN_BY: "physics, network" if found.is_same else "physics", **found.items()}


def _apart(name: str, own: Container[str]) -> str:
    """A column of the input under a name that is none of ours and fit for an SDF.

    One that has the prefix already, as of an exported table, gets another: `score` gets the first.
    """
    plain = bare = readable(name).translate(BRACKETS)
    while bare.startswith("input."):
        bare = bare.removeprefix("input.")
    return f"input.{plain}" if bare in own else plain


def columns(terms: Sequence[str], given: Sequence[str], networks: bool = False) -> list[str]:
    """Columns of the table, for score terms 'function/term' and `given` columns of the input.

    `networks`: whether there are columns of what these say.
    """
    first, last = ("rank", "name", "score"), ("library", "file", "line", "other_names", "note")
    scores = (name.replace("/", ".") for name in terms)
    judged = ITEMS if networks else ()
    own = [*first, *scores, *judged, *PROPERTY_NAMES, "smiles", "state", "states", "conformation"]
    own += last
    return [*own, *(_apart(name, {*own, *SOMETIMES}) for name in given)]


def kind_of(column: str, terms: Sequence[str]) -> type:
    """The type of a column of the table: numbers are `int` or `float`, all else text."""
    if column in ("rank", "states", "line", ITEMS[-1], *COUNTS):
        return int
    if column in ITEMS or column in PROPERTY_NAMES:
        return float
    numbers = {"score", *(name.replace("/", ".") for name in terms)}
    return float if column in numbers else str
