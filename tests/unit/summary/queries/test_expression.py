"""Conditions on columns, compared with the same condition in plain Python, and what is refused."""

import math

import numpy as np
import pytest

from ligen_py.errors import UsageError
from ligen_py.summary.queries.expression import Column, Expression, Texts

ROWS = [
    {"score": 5.0, "mw": 300.0, "charge": 0.0, "name": "a", "library": "x"},
    {"score": 3.0, "mw": 200.0, "charge": 1.0, "name": "b", "library": "y"},
    {"score": -1.0, "mw": 600.0, "charge": -1.0, "name": "it's", "library": "x"},
    {"score": 7.5, "mw": math.nan, "charge": 2.0, "name": "", "library": "z"},
]


def column(name: str) -> Column:
    if name == "library":
        return Texts(np.array([0, 1, 0, 2]), ["x", "y", "z"])
    if name == "name":
        return Texts(np.array([row["name"] for row in ROWS], object))
    return np.array([row[name] for row in ROWS], "f4")


@pytest.mark.parametrize(
    "text",
    [
        "score > 4 and mw < 450",
        "not score > 4 or mw == 200",
        "200 <= mw <= 300 and charge != 0",
        "score / mw * 100 >= 1.5",
        "abs(charge) == 1",
        "-score + 2 < 0",
        "charge in (0, 2)",
        "charge not in [0, 2]",
        "library == 'x'",
        "'x' != library",
        "library in ('x', 'z') and name not in ('a',)",
        'name == "it\'s"',
        "score > 4 and (mw < 250 or charge == 0)",
        "sqrt(mw) > 15",
        "log10(mw) > 2.4",
        "score > 1e3 or score < 1e-3",
        "score > 4 and 1 < 2",
        "charge <= 0 < 3 or not 2 in (2, 3)",
    ],
)
def test_a_condition_is_what_python_makes_of_it(text: str) -> None:
    def log10(x: float) -> float:
        return math.nan if math.isnan(x) else math.log10(x)

    names = {"abs": abs, "sqrt": math.sqrt, "log10": log10}
    expected = [bool(eval(text, names, row)) for row in ROWS]
    found = Expression.parse(text, "--where").condition(column)
    assert found.dtype == bool
    assert found.tolist() == expected


@pytest.mark.parametrize("text", ["library in ('x')", "charge in (-1)", "name not in ('a')"])
def test_one_value_in_brackets_is_a_list_as_in_sql(text: str) -> None:
    expected = Expression.parse(text.replace(")", ",)"), "--where").condition(column)
    assert Expression.parse(text, "--where").condition(column).tolist() == expected.tolist()
    assert expected.any() != expected.all()


def test_a_value_in_brackets_is_compared_as_a_single_one(recwarn: pytest.WarningsRecorder) -> None:
    values = np.array([2.5396059, 3.0], "f4")
    for text in ("score == 2.5396059", "score in (2.5396059, 9)", "score not in (3, 1e300)"):
        found = Expression.parse(text, "--where").condition(lambda name: values)
        assert found.tolist() == [True, False]
    assert not recwarn.list


def test_numbers_and_names() -> None:
    expression = Expression.parse("score / vina.total + abs(score)", "--sort")
    assert expression.names == ["score", "vina.total"]
    values = expression.numbers(lambda name: np.array([2.0, 4.0]))
    assert values.tolist() == [3.0, 5.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("score = 4", "write == to compare"),
        ("score > 4 && mw < 3", "write 'and' and 'or'"),
        ("score >", "cannot be read"),
        ("", "cannot be read"),
        ("score", "is no condition"),
        ("score and mw", "score is no condition"),
        ("name > 'a'", "it has no order"),
        ("name == 3", "name is text"),
        ("score == 'a'", "'a' is no number"),
        ("name + 1 > 2", "name is no number"),
        ("score in ('a', 'b')", "'in' needs numbers"),
        ("__import__('os').system('true')", "the functions are"),
        ("score.__class__.__name__ == 'x'", "is not allowed"),
        ("[x for x in score]", "is not allowed"),
        ("(lambda: 1)() > 0", "the functions are"),
        ("score ** 9 > 1", "is not allowed"),
        ("f'{score}' == 'x'", "is not allowed"),
        ("score[0] > 1", "is not allowed"),
        ("score if mw else 1", "is not allowed"),
        ("(y := score) > 1", "is not allowed"),
        ("abs(score, mw) > 1", "of one number"),
        ("1 / 0 > score", "divides by zero"),
        (f"score > {'9' * 400}", "too large"),
        ("True and score > 1", "is not allowed"),
        ("(" * 900 + "score" + ")" * 900 + " > 1", "cannot be read"),
        ("score > 1" + " " * 3000 + "and mw > 1", "longer than 2000"),
    ],
)
def test_what_is_refused_is_a_sentence_that_names_the_flag(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        Expression.parse(text, "--where").condition(column)
    assert str(error.value).startswith("--where")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
