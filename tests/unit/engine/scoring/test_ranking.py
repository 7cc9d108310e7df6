import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ligen_py.engine.scoring.ranking import consensus, duplicates, hash_keys, ranking


def test_larger_is_better_and_ties_go_by_library_then_line() -> None:
    scores = np.array([5, 7, 7, 7, 9], "f4")
    libraries = np.array([0, 1, 0, 0, 1], "u2")
    lines = np.array([1, 1, 8, 3, 2], "i8")
    order = ranking(scores, libraries, lines, np.zeros(5, "u1"))
    assert order.tolist() == [4, 3, 2, 1, 0]
    assert ranking(scores, libraries, lines, np.array([0, 0, 0, 1, 1], "u1")).tolist() == [2, 1, 0]


def test_consensus_by_hand() -> None:
    vina, xscore = np.array([9, 8, 8, 7, 10], "f4"), np.array([5, 7, 4, 6, 9], "f4")
    out = np.array([0, 0, 0, 0, 1], "u1")
    # Ranks by vina 1, 2, 2, 4 and by xscore 3, 1, 4, 2; the row that is out would lead in both.
    assert consensus([vina, xscore], out).tolist() == [-2, -1.5, -3, -3, -1]
    assert consensus([vina], out).tolist() == [-1, -2, -2, -4, -1]
    assert consensus([], out).tolist() == [0] * 5
    assert consensus([vina[:0]], out[:0]).tolist() == []


def test_equal_keys_hash_equal_and_the_hash_never_changes() -> None:
    keys = np.array(["a", "b", "a"], dtype=object)
    first, second, third = hash_keys(keys)
    assert first == third != second
    assert int(first) == 0x2F42665B399EF840


def test_the_first_in_file_order_stays_whatever_the_order_of_rows() -> None:
    keys = hash_keys(np.array(["x", "y", "x", "z", "x"], dtype=object))
    lines = np.array([30, 4, 10, 7, 20], "i8")
    later, first = duplicates(keys, np.zeros(5, "u2"), lines)
    assert later.tolist() == [0, 4]
    assert first.tolist() == [2, 2]
    later, first = duplicates(keys, np.array([0, 0, 1, 0, 1], "u2"), lines)
    assert later.tolist() == [2, 4]
    assert first.tolist() == [0, 0]


@given(st.lists(st.integers(0, 5), max_size=40), st.randoms())
def test_duplicates_agree_with_a_dictionary(values: list[int], random: object) -> None:
    lines = list(range(1, len(values) + 1))
    random.shuffle(lines)  # type: ignore[attr-defined]
    alone = np.zeros(len(values), "u2")
    later, first = duplicates(np.array(values, "u8"), alone, np.array(lines, "i8"))
    earliest: dict[int, int] = {}
    for row in sorted(range(len(values)), key=lines.__getitem__):
        earliest.setdefault(values[row], row)
    expected = {row: earliest[v] for row, v in enumerate(values) if earliest[v] != row}
    assert dict(zip(later.tolist(), first.tolist(), strict=True)) == expected
