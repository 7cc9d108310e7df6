"""Work on several molecules in turn, step by step.

The code of a step stays in the processor's caches for all of them, and arrays of all molecules cost
little more than those of one.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

T = TypeVar("T")


class Alone:
    """What a step asks for that must not stand between others."""


ALONE = Alone()
"""Yielded before what may take long, or cost the process its life."""

Wanted = tuple[Callable[[list[Any]], list[Any]], list[Any]]
Steps = Generator[Wanted | Alone | None, Any, T]
"""Work with a pause after each step, where the other molecules have their turn.

A step may ask for what is done for all molecules at once: it yields a function of a list, and the
items that it has for it; it is sent the results for these. Or it asks to go on `ALONE`.
"""


def at_once(steps: Steps[T]) -> T:
    """The result of some steps, from where they stand, without other molecules between them."""
    result: T | Steps[T] = steps
    while isinstance(result, Generator):
        (result,) = in_turn([result])
    return result


def in_turn(every: Sequence[Steps[T]]) -> list[T | Steps[T]]:
    """The results of the steps of some molecules, which go on in turn.

    What they ask for is done when all of them have asked or are at their end. Steps that are to go
    on alone are given back, for `at_once`.
    """
    results: dict[int, T | Steps[T]] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(every)))
    asked: dict[Callable[[list[Any]], list[Any]], dict[int, list[Any]]] = defaultdict(dict)
    while answers:
        going, answers = answers, {}
        for number, answer in going.items():
            steps = every[number]
            try:
                failed = isinstance(answer, Exception)
                wanted = steps.throw(answer) if failed else steps.send(answer)
            except StopIteration as end:
                results[number] = end.value
                continue
            if isinstance(wanted, Alone):
                results[number] = steps
            elif wanted:
                function, items = wanted
                asked[function][number] = items
            else:
                answers[number] = None
        if not answers:
            for function, all_items in asked.items():
                answers |= _made(function, all_items)
            asked.clear()
    return [results[number] for number in range(len(every))]


def _made(
    function: Callable[[list[Any]], list[Any]], items: dict[int, list[Any]]
) -> dict[int, list[Any] | Exception]:
    """What a function makes of the items of some molecules, of all at once.

    Where that fails, of each molecule's alone, so that an error is that of the one it is about.
    """
    try:
        made = iter(function(list(chain.from_iterable(items.values()))))
        return {number: list(islice(made, len(own))) for number, own in items.items()}
    except MemoryError:
        raise
    except Exception as error:
        if len(items) == 1:
            return dict.fromkeys(items, error)
        alone = (_made(function, {number: own}) for number, own in items.items())
        return dict(chain.from_iterable(one.items() for one in alone))
