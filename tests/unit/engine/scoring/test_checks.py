import pytest

from ligen_py.engine.scoring.checks import alarms, table, too_many
from ligen_py.records.scores import Check


def test_a_table_has_a_row_a_check_and_alarms_from_twenty_ligands_on() -> None:
    found = table([
        (Check.ZERO, 3, 19, 0.9, "a"), (Check.ZERO, 3, 20, 0.9, "b"), (Check.ZERO, 0, 20, 0.0, "c"),
        (Check.SENTINEL, 1, 2, 0.5, "d"), (Check.DRIFT, 0, 50, 0.5, "e"),
        (Check.DRIFT, 0, 50, 0.51, "f"),
    ])  # fmt: skip
    kinds = [Check.ZERO] * 3 + [Check.SENTINEL] + [Check.DRIFT] * 2
    assert found.check.tolist() == kinds
    assert found.suspect.tolist() == [3, 3, 0, 1, 0, 0]
    assert found.seen.tolist() == [19, 20, 20, 2, 50, 50]
    assert found.measure.tolist() == pytest.approx([0.9, 0.9, 0.0, 0.5, 0.5, 0.51])
    assert found.alarm.tolist() == [0, 1, 0, 1, 0, 1]
    assert found.detail.tolist() == list("abcdef")


@pytest.mark.parametrize(
    ("check", "most"),
    [
        (Check.ZERO, 0.05), (Check.POSITIVE, 0.05), (Check.SENTINEL, 0.0), (Check.FROZEN, 0.2),
        (Check.OUTSIDE, 0.05), (Check.TWIN, 0.1), (Check.DRIFT, 0.5),
    ],
)  # fmt: skip
def test_each_check_has_a_limit(check: Check, most: float) -> None:
    found = table([(check, 0, 50, most, "at it"), (check, 0, 50, most + 1e-3, "beyond it")])
    assert found.alarm.tolist() == [0, 1]


def test_thresholds_fail_only_what_is_an_alarm() -> None:
    few = table([(Check.ZERO, 3, 3, 1.0, "3 of 3 scores of exactly 0")])
    many = table([(Check.ZERO, 30, 50, 0.6, "30 of 50 scores of exactly 0")])
    assert not too_many(few, 0.5)
    assert too_many(many, 0.5)
    assert not too_many(many, 0.7)
    assert list(alarms(many)) == ["zero: 30 of 50 scores of exactly 0"]
