"""Receptor audits for people: as lines of a log, as a table, and two compared."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from ligen_py.records.pocket import WARNED, Audit, FoundCavity
from ligen_py.summary.table import table as columns

Row = tuple[str, str, int, str]
"""Action, part, atoms, reason."""

MEANING = {
    WARNED: "warned",
    "chosen": "chosen",
    "changed": "changed",
    "added": "added",
    "noted": "noted",
    "kept": "kept",
    "dropped": "removed",
}


def rows(audit: Audit) -> list[Row]:
    """The audit's rows, in its order."""
    columns = (audit.action.tolist(), audit.part.tolist(), audit.atoms.tolist(), audit.reason)
    return [
        (action, part, int(atoms), str(reason))
        for action, part, atoms, reason in zip(*columns, strict=True)
    ]


def log_lines(audit: Audit) -> list[str]:
    """One line an action and reason (up to its colon), with the first parts it concerns."""
    parts: dict[tuple[str, str], list[str]] = {}
    atoms: Counter[tuple[str, str]] = Counter()
    for action, part, count, reason in rows(audit):
        if action == WARNED:
            continue  # the log has it already
        key = (action, reason if action == "chosen" else reason.partition(":")[0])
        parts.setdefault(key, []).append(part)
        atoms[key] += count
    lines = []
    for (action, reason), names in parts.items():
        more = f" and {len(names) - 2} more" if len(names) > 3 else ""
        shown = ", ".join(names[:2] if more else names) + more
        lines.append(f"{action:<8} {atoms[action, reason] or '':>5}  {shown}: {reason}")
    return lines


def table(audit: Audit) -> str:
    """The whole audit, one block an action."""
    blocks = []
    for action, group in groupby(rows(audit), key=lambda row: row[0]):
        members = list(group)
        total = sum(row[2] for row in members)
        title = MEANING.get(action, action) + (f": {total} atoms" if total else "")
        cells = [[part, str(atoms or ""), reason] for _, part, atoms, reason in members]
        blocks.append("\n".join([title, *columns(cells, "<><")]))
    return "\n\n".join(blocks)


def difference(one: Audit, other: Audit) -> str:
    """Rows that stand in one audit only, by part: - in the first, + in the second."""
    first, second = Counter(rows(one)), Counter(rows(other))
    entries = [("-", row) for row in (first - second).elements()]
    entries += [("+", row) for row in (second - first).elements()]
    entries.sort(key=lambda entry: (entry[1][1], entry[0] == "+"))
    cells = [
        [sign, part, MEANING.get(action, action), str(atoms or ""), reason]
        for sign, (action, part, atoms, reason) in entries
    ]
    return "\n".join(columns(cells, "<<<><")) if cells else "no difference"


def cavity_table(cavities: Sequence[tuple[FoundCavity, str]]) -> str:
    """Cavities by rank with what lies there."""
    cells = [["rank", "score", "x", "y", "z", "about it", "there"]]
    cells += [
        [str(one.rank), f"{one.score:.4g}", *(f"{x:.2f}" for x in one.center), one.facts, there]
        for one, there in cavities
    ]
    return "\n".join(columns(cells, ">>>>><<"))
