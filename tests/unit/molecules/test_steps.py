"""Steps in turn: who goes when, and what is done for all at once."""

from ligen_py.molecules.steps import ALONE, Steps, at_once, in_turn


def doubled(numbers: list[int]) -> list[int]:
    calls.append(list(numbers))
    return [2 * number if number < 9 else 1 // 0 for number in numbers]


calls: list[list[int]] = []


def test_a_function_is_called_once_when_all_have_asked() -> None:
    calls.clear()
    order = []

    def steps(name: str, pauses: int, number: int) -> Steps[int]:
        for _ in range(pauses):
            order.append(name)
            yield None
        found: list[int] = yield doubled, [number, number + 1]
        return sum(found)

    assert in_turn([steps("a", 1, 1), steps("b", 3, 3), steps("c", 2, 5)]) == [6, 14, 22]
    assert "".join(order) == "abcbcb"
    assert sorted(calls[0]) == [1, 2, 3, 4, 5, 6]
    assert len(calls) == 1


def test_an_error_is_that_of_the_one_it_is_about() -> None:
    def steps(number: int) -> Steps[int]:
        try:
            (found,) = yield doubled, [number]
        except ZeroDivisionError:
            return -1
        return int(found)

    assert in_turn([steps(1), steps(9), steps(2)]) == [2, -1, 4]
    assert at_once(steps(4)) == 8


def test_what_goes_on_alone_is_given_back_where_it_stands() -> None:
    reached = []

    def steps(number: int) -> Steps[int]:
        if number:
            reached.append(number)
            yield ALONE
            reached.append(-number)
            yield ALONE
        (found,) = yield doubled, [number]
        return int(found)

    assert in_turn([]) == []
    first, second, third = in_turn([steps(1), steps(0), steps(2)])
    assert second == 0
    assert reached == [1, 2]
    assert not isinstance(first, int)
    assert not isinstance(third, int)
    assert (at_once(third), at_once(first)) == (4, 2)
    assert reached == [1, 2, -2, -1]


def test_work_may_pause_very_often() -> None:
    def steps() -> Steps[str]:
        for _ in range(5000):
            yield ALONE
        return "done"

    assert at_once(steps()) == "done"
