"""Checks of scores: how many ligands are suspect, and from which share on that is an alarm."""

from collections.abc import Iterator

import numpy as np

from ligen_py.records.scores import Check, Checks

ALARM = {
    Check.ZERO: 0.05,
    Check.POSITIVE: 0.05,
    Check.SENTINEL: 0.0,
    Check.FROZEN: 0.2,
    Check.OUTSIDE: 0.05,
    Check.TWIN: 0.1,
    Check.DRIFT: 0.5,
}
"""A larger share of suspect ligands is an alarm; for drift a larger distance."""

ENOUGH = 20
"""Ligands without which a share says nothing, and the smallest sample for the twin."""

Row = tuple[Check, int, int, float, str]


def table(rows: list[Row]) -> Checks:
    """Checks from (check, suspect ligands, ligands looked at, measure, words)."""
    alarms = [
        measure > ALARM[check] and (seen >= ENOUGH or check == Check.SENTINEL)
        for check, _, seen, measure, _ in rows
    ]
    return Checks(
        check=np.array([row[0] for row in rows], "u1"),
        suspect=np.array([row[1] for row in rows], "i8"),
        seen=np.array([row[2] for row in rows], "i8"),
        measure=np.array([row[3] for row in rows], "f4"),
        alarm=np.array(alarms, "u1"),
        detail=np.array([row[4] for row in rows], object),
    )


def alarms(checks: Checks) -> Iterator[str]:
    """Each alarm in words."""
    for row in np.flatnonzero(checks.alarm):
        yield f"{Check(checks.check[row]).name.lower()}: {checks.detail[row]}"


def too_many(checks: Checks, limit: float) -> bool:
    """Whether an alarm's suspect ligands are a larger share than `limit`."""
    return bool(((checks.measure > limit) & (checks.alarm > 0)).any())
