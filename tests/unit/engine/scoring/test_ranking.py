import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ligen_py.engine.scoring.ranking import KEYED, VALUED, hash_keys, ranks, with_first

Row = tuple[int, int, int, int, int, int]


def pieces(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def stand_for(rows: list[Row], size: int = 100) -> dict[tuple[int, int], int]:
    """(left, row) -> the scored row that stands for it."""
    found = with_first(pieces(np.array(sorted(rows), KEYED), size))
    return {
        (int(row["left"]), int(row["row"])): int(one)
        for piece, first in found
        for row, one in zip(piece, first, strict=True)
    }


def test_equal_keys_hash_equal_and_the_hash_never_changes() -> None:
    keys = np.array(["a", "b", "a"], dtype=object)
    first, second, third = hash_keys(keys)
    assert first == third != second
    assert (int(first["high"]), int(first["low"])) == (0x7F8773936E5EC327, 0x7E49464E4662E529)


def test_the_first_in_file_order_stays_whatever_the_order_of_rows() -> None:
    keys = hash_keys(np.array(["x", "y", "x", "z", "x"], dtype=object)).tolist()
    lines = [30, 4, 10, 7, 20]
    rows = [
        (*key, 0, 0, line, row) for row, (key, line) in enumerate(zip(keys, lines, strict=True))
    ]
    of = {row: first for (_, row), first in stand_for(rows).items()}
    assert of == {0: 2, 1: 1, 2: 2, 3: 3, 4: 2}
    files = [0, 0, 1, 0, 1]
    rows = [(*row[:3], file, *row[4:]) for row, file in zip(rows, files, strict=True)]
    of = {row: first for (_, row), first in stand_for(rows).items()}
    assert of == {0: 0, 1: 1, 2: 0, 3: 3, 4: 0}


def test_a_record_that_was_left_out_never_stands_for_others() -> None:
    left, scored, alone = (5, 4, 1, 0, 1, 7), (5, 4, 0, 3, 9, 2), (5, 6, 1, 0, 2, 8)
    assert stand_for([left, scored, alone]) == {(0, 2): 2, (1, 7): 2, (1, 8): -1}
    assert stand_for([alone]) == {(1, 8): -1}
    assert stand_for([]) == {}


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 2)), max_size=40),
    st.integers(1, 9),
)
def test_the_first_agrees_with_a_dictionary(values: list[tuple[int, int, int]], size: int) -> None:
    # Either half of a hash may be equal alone.
    rows = [(key // 2, key % 2, left, file, 0, row) for row, (key, left, file) in enumerate(values)]
    earliest: dict[int, int] = {}
    for row in sorted(range(len(values)), key=lambda row: (values[row][2], row)):
        if not values[row][1]:
            earliest.setdefault(values[row][0], row)
    expected = {(left, row): earliest.get(key, -1) for row, (key, left, _) in enumerate(values)}
    assert stand_for(rows, size) == expected


def ranks_of(scores: list[float], out: list[int], size: int = 100) -> list[int]:
    rows = np.empty(len(scores), VALUED)
    rows["negative"], rows["row"], rows["out"] = -np.array(scores, "f4"), range(len(scores)), out
    result = [0] * len(scores)
    for found in ranks(pieces(np.sort(rows), size)):
        for row, rank in found.tolist():
            result[row] = rank
    return result


def test_ranks_by_hand() -> None:
    # The row that is out would lead.
    assert ranks_of([9, 8, 8, 7, 10], [0, 0, 0, 0, 1]) == [1, 2, 2, 4, 1]
    assert ranks_of([5, 7, 4, 6, 9], [0, 0, 0, 0, 1]) == [3, 1, 4, 2, 1]
    assert ranks_of([], []) == []


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), max_size=40), st.integers(1, 9))
def test_a_rank_is_one_more_than_the_counted_that_are_better(
    values: list[tuple[int, int]], size: int
) -> None:
    scores, out = [float(score) for score, _ in values], [out for _, out in values]
    expected = [1 + sum(one > score and not gone for one, gone in values) for score in scores]
    assert ranks_of(scores, out, size) == expected
