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


def test_thresholds_fail_only_what_is_an_alarm() -> None:
    few = table([(Check.ZERO, 3, 3, 1.0, "3 of 3 scores of exactly 0")])
    many = table([(Check.ZERO, 30, 50, 0.6, "30 of 50 scores of exactly 0")])
    assert not too_many(few, 0.5)
    assert too_many(many, 0.5)
    assert not too_many(many, 0.7)
    assert list(alarms(many)) == ["zero: 30 of 50 scores of exactly 0"]
