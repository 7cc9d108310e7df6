from ligen_py.engine.scoring.checks import alarms, table, too_many
from ligen_py.records.scores import Check


def test_thresholds_fail_only_what_is_an_alarm() -> None:
    few = table([(Check.ZERO, 3, 3, 1.0, "3 of 3 scores of exactly 0")])
    many = table([(Check.ZERO, 30, 50, 0.6, "30 of 50 scores of exactly 0")])
    assert not too_many(few, 0.5)
    assert too_many(many, 0.5)
    assert not too_many(many, 0.7)
    assert list(alarms(many)) == ["zero: 30 of 50 scores of exactly 0"]
