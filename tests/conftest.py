"""Fixtures shared by all tests, and what a run says at its end."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Cases that take long on a busy machine are no failures; the limit of every test ends a hang.
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

NOT_TESTED = "NOT TESTED"
"""What the reason of a skip starts with where somebody asked for the test."""

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real complexes and libraries beside the project; tests skip without it."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared/data with real complexes and libraries is not here")
    return SHARED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were left out and why, most first; xdist's workers report to here too."""
    # Of a skipped test `longrepr` is file, line and "Skipped: " with the reason.
    skipped = (report.longrepr for report in terminalreporter.stats.get("skipped", []))
    reasons = Counter(str(place[2]).removeprefix("Skipped: ") for place in skipped)
    if reasons:
        terminalreporter.section(f"left out: {reasons.total()}")
    for reason, count in reasons.most_common():
        loud = {"red": True, "bold": True} if reason.startswith(NOT_TESTED) else {}
        terminalreporter.write_line(f"left out: {count} test{'s' * (count > 1)}: {reason}", **loud)
