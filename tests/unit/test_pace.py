"""How far a stage is: lines that come once a minute at most, by a clock of the test's own."""

import logging

import pytest

from ligen_py import pace
from ligen_py.pace import Pace


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> list[float]:
    """The time, to be moved on."""
    time = [1000.0]
    monkeypatch.setattr(pace, "clock", lambda: time[0])
    caplog.set_level(logging.INFO, "ligen_py")
    return time


def test_the_first_line_comes_after_a_minute(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    counted = Pace("ligands docked", 1000)
    for _ in range(59):
        now[0] += 1
        counted.add(2)
    assert not caplog.messages
    now[0] += 1
    counted.add(2, failed=3)
    assert caplog.messages == ["120 of 1000 ligands docked, 3 failed; 2 a second, 7 min left"]


def test_there_is_a_line_a_minute_and_no_more(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    counted = Pace("records read")
    for _ in range(190):
        now[0] += 1
        counted.add(10)
    assert caplog.messages == [
        f"{count} records read, 0 failed; 10 a second" for count in (600, 1200, 1800)
    ]


def test_what_was_counted_is_not_counted_again(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    counted = Pace("ligands docked", 40)
    counted.add(30, failed=1)
    counted.reach(20, failed=1)
    now[0] += 60
    counted.reach(36, failed=2)
    assert caplog.messages == ["36 of 40 ligands docked, 2 failed; 0.6 a second, 0 min left"]
    assert counted.rate == pytest.approx(0.6)


def test_no_time_left_is_negative(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    counted = Pace("records read", 10)
    now[0] += 60
    counted.add(600)
    assert caplog.messages == ["600 of 10 records read, 0 failed; 10 a second, 0 min left"]
