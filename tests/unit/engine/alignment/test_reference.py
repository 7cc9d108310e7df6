"""The NumPy twin against the definition, and against parasail where it is installed."""

import re

import numpy as np
import pytest

from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.hits import count
from ligen_py.engine.alignment.ranking import best, merged
from ligen_py.engine.alignment.reference import Alignment, align, scores
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.errors import InputError
from ligen_py.sequences.alphabets import decode
from ligen_py.sequences.substitution import MATRICES, read_matrix
from tests.alignment_input import letters

BLOSUM62 = Scoring(read_matrix("BLOSUM62"))


def by_cells(query: np.ndarray, target: np.ndarray, scoring: Scoring) -> int:
    """Every gap of every length, from the definition of a local alignment."""
    h = np.zeros((len(query) + 1, len(target) + 1), int)
    cost = [0] + [scoring.gap_first + k * scoring.gap_next for k in range(max(h.shape))]
    for i in range(1, h.shape[0]):
        for j in range(1, h.shape[1]):
            pair = h[i - 1, j - 1] + int(scoring.matrix[query[i - 1], target[j - 1]])
            across = max(h[i, j - k] - cost[k] for k in range(1, j + 1))
            down = max(h[i - k, j] - cost[k] for k in range(1, i + 1))
            h[i, j] = max(0, pair, across, down)
    return int(h.max())


def score_of(
    found: Alignment, query: np.ndarray, target: np.ndarray, scoring: Scoring
) -> tuple[int, int, int]:
    """Score of an alignment by its own columns, and where it ends."""
    i, j, total = found.query_start, found.target_start, 0
    for length, step in re.findall(r"(\d+)([MID])", found.cigar):
        run = int(length)
        if step == "M":
            total += int(scoring.matrix[query[i : i + run], target[j : j + run]].sum(dtype=int))
        else:
            total -= scoring.gap_first + (run - 1) * scoring.gap_next
        i, j = i + run * (step != "D"), j + run * (step != "I")
    return total, i, j


def pairs(number: int, longest: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    found = []
    for k in range(number):
        query, target = (
            rng.integers(0, 24, rng.integers(1, longest)).astype("u1") for _ in range(2)
        )
        if k % 2:
            cut = rng.integers(0, len(query) + 1)
            target = np.concatenate([query[cut:], target[:7], query[:cut]])
        found.append((query, target))
    return found


def test_a_worked_example() -> None:
    # Five W (11 each) and five C (9 each); the gap of four between them costs 10 + 3 * 2 = 16.
    query, target = letters("WWWWWCCCCC"), letters("PWWWWWVVVVCCCCCP")
    (found,) = align(query, [target], BLOSUM62)
    assert found == Alignment(5 * 11 + 5 * 9 - 16, 0, 10, 1, 15, "5M4D5M")
    assert count(query, target, found, BLOSUM62, [0, 9]) == (14, 10, 10, 1, 4, 2)
    assert scores(query, [target, target[:0], letters("P")], BLOSUM62).tolist() == [84, 0, 0]
    assert align(query, [letters("P")], BLOSUM62) == [Alignment(0, 0, 0, 0, 0, "")]


@pytest.mark.parametrize("gaps", [(10, 2), (3, 3), (1, 0), (30, 1)], ids=str)
def test_scores_and_alignments_follow_the_definition(gaps: tuple[int, int]) -> None:
    for number, (query, target) in enumerate(pairs(40, 30, 1)):
        scoring = Scoring(read_matrix(MATRICES[number % len(MATRICES)]), *gaps)
        expected = by_cells(query, target, scoring)
        assert scores(query, [target], scoring).tolist() == [expected]
        (found,) = align(query, [target], scoring)
        ends = found.query_end, found.target_end
        assert (found.score, *score_of(found, query, target, scoring)) == (
            expected,
            expected,
            *ends,
        )


def test_pieces_of_a_matrix_change_no_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    some = pairs(20, 60, 2)
    query = some[1][0]
    targets = [target for _, target in some]
    whole = align(query, targets, BLOSUM62)
    monkeypatch.setattr(reference, "_CELLS", 100)
    assert align(query, targets, BLOSUM62) == whole


def test_ten_thousand_pairs_score_as_with_parasail() -> None:
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    for number, (query, target) in enumerate(pairs(10_000, 80, 3)):
        name = MATRICES[number % len(MATRICES)]
        first = 1 + number % 20
        scoring = Scoring(read_matrix(name), first, number % (first + 1))
        matrix = getattr(parasail, name.lower())
        costs = scoring.gap_first, scoring.gap_next
        expected = parasail.sw_striped_32(decode(query), decode(target), *costs, matrix).score
        assert scores(query, [target], scoring).tolist() == [max(expected, 0)]


def test_gap_costs_must_make_sense() -> None:
    for gaps in ((0, 0), (2, 3), (101, 1), (5, -1)):
        with pytest.raises(InputError, match="gap costs"):
            Scoring(BLOSUM62.matrix, *gaps)


def test_ties_stand_in_the_order_of_the_database() -> None:
    record, score = np.array([7, 3, 9, 1, 4]), np.array([5, 8, 5, 0, 5], "i4")
    assert best(record, score, 3).record.tolist() == [3, 4, 7]
    assert best(record, score, 99).record.tolist() == [3, 4, 7, 9]
    parts = [best(record[:2], score[:2], 3), best(record[2:], score[2:], 3)]
    assert merged(parts, 3).record.tolist() == [3, 4, 7]
    assert merged([], 3).record.tolist() == []
    rng = np.random.default_rng(1)
    many = rng.integers(0, 40, 5000).astype("i4")
    order = np.lexsort((np.arange(5000), -many))[:20]
    assert best(np.arange(5000), many, 20).record.tolist() == order.tolist()
