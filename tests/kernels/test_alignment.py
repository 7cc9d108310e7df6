"""The alignment kernels against their NumPy twin, on every OpenCL device found."""

import numpy as np
import pytest

from ligen_py.engine.alignment import reference, tracing
from ligen_py.engine.alignment.methods import InterSequence, Shape, Wavefront
from ligen_py.engine.alignment.packing import pack_all
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.opencl.device import Device
from ligen_py.sequences.substitution import MATRICES, read_matrix
from tests.alignment_input import by_record, letters, relatives
from tests.runtimes import leave_to_the_first

SHAPES = (Shape(8, 4), Shape(16, 13), Shape(32, 8), Shape(8, 32), Shape(8, 40))
"""A lane reads its scores with a letter 8 or 16 bytes at a time, once or several times."""
METHODS = ("inter-sequence", *SHAPES)


@pytest.fixture(params=METHODS, ids=str)
def method(request: pytest.FixtureRequest) -> str | Shape:
    return request.param


def searcher(device: Device, method: str | Shape, scoring: Scoring) -> Searcher:
    if isinstance(method, Shape):
        if device.kind == "cpu" and method.rows >= 32:
            pytest.skip("takes a compiler a minute; the simulator and cards run it")
        return Searcher(device, scoring, Wavefront(device, scoring, method))
    return Searcher(device, scoring, InterSequence(device, scoring))


@pytest.mark.lanes_64("Oclgrind")
def test_scores_equal_the_twin(device: Device, method: str | Shape) -> None:
    rng = np.random.default_rng(7)
    small = device.is_simulator
    if method in SHAPES[1:] and method != Shape(32, 8):
        leave_to_the_first(device)
    if device.sub_group_size == 64 and small and method in SHAPES[1:] and method != Shape(32, 8):
        pytest.skip("so many lanes are shared as by the smallest shape and the widest")
    scoring = Scoring(read_matrix("BLOSUM62"))
    # A simulator runs all lanes, so larger shapes get none and a part of a lane there.
    few = 40 if method in (METHODS[0], SHAPES[0]) else 18
    whole = rng.integers(0, 24, few if small else 150).astype("u1")
    # More than one pass of the smallest shape, one row, none at all, a part of a lane.
    queries = [whole, whole[:1], whole[:0], whole[3:17]]
    # Several passes again, where those of another query have left their edges.
    queries += [] if small else [whole[::-1].copy()]
    if small and few < 40:
        queries = queries[2:]
    targets = relatives(whole, 5 if small else 70, 10 if small else 120, 1)
    blocks = pack_all(targets)
    found = searcher(device, method, scoring).scores(queries, blocks)
    for query, scores in zip(queries, found, strict=True):
        expected = reference.scores(query, targets, scoring)
        assert by_record(blocks, scores, len(targets)).tolist() == expected.tolist()


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("gaps", [(10, 2), (11, 11), (1, 0)], ids=str)
def test_every_matrix_and_gap(device: Device, matrix: str, gaps: tuple[int, int]) -> None:
    if device.is_simulator:
        pytest.skip("other numbers take the same way; once is enough for a simulator")
    if (matrix, gaps) != (MATRICES[0], (10, 2)):
        leave_to_the_first(device)
    scoring = Scoring(read_matrix(matrix), *gaps)
    query = np.random.default_rng(2).integers(0, 24, 60).astype("u1")
    targets = relatives(query, 40, 60, 3)
    blocks = pack_all(targets)
    expected = reference.scores(query, targets, scoring).tolist()
    for method in ("inter-sequence", SHAPES[0]):
        (found,) = searcher(device, method, scoring).scores([query], blocks)
        assert by_record(blocks, found, len(targets)).tolist() == expected, method


@pytest.mark.parametrize("length", [20, 21, 22, 23, 24, 2978, 2979, 2980, 5958])
def test_scores_beyond_8_and_16_bits(device: Device, length: int) -> None:
    """W scores 11 with itself: 8 bits hold 241 (21 W), 16 signed bits 32,757 (2978 W)."""
    if device.is_simulator and length != 22:
        pytest.skip("too long for a simulator, or the same ways once more")
    scoring = Scoring(read_matrix("BLOSUM62"))
    query = letters("W" * length)
    targets = [letters("W" * length), letters("W" * 20 + "P" + "W" * 5), letters("AC")]
    blocks = pack_all(targets)
    expected = [11 * length, *reference.scores(query, targets[1:], scoring).tolist()]
    shape = SHAPES[0] if device.is_simulator else Shape(32, 8)
    for method in ("inter-sequence", shape):
        (found,) = searcher(device, method, scoring).scores([query], blocks)
        assert by_record(blocks, found, 3).tolist() == expected, method


def test_the_longest_protein(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("too long for a simulator")
    scoring = Scoring(read_matrix("BLOSUM62"))
    rng = np.random.default_rng(4)
    titin = rng.integers(0, 20, 35_213).astype("u1")
    query = titin[35_213 - 40 :]
    targets = [titin, *relatives(query, 40, 50, 5)]
    blocks = pack_all(targets)
    expected = reference.scores(query, targets, scoring).tolist()
    for method in ("inter-sequence", SHAPES[0]):
        (found,) = searcher(device, method, scoring).scores([query], blocks)
        assert by_record(blocks, found, len(targets)).tolist() == expected, method


def test_alignments_equal_the_twin(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    small = device.is_simulator
    rng = np.random.default_rng(6)
    for number in range(2 if small else 30):
        matrix, first = MATRICES[number % len(MATRICES)], 1 + number % 12
        scoring = Scoring(read_matrix(matrix), first, number % (first + 1))
        query = rng.integers(0, 24, 12 if small else 90).astype("u1")
        targets = relatives(query, 6 if small else 20, 15 if small else 90, number)
        expected = reference.align(query, targets, scoring)
        for items in (0, 1, 8):  # rows of a strip: the device's own, each alone, several strips
            assert tracing.tracer(device, scoring, items)(query, targets) == expected
    # With little memory some go one by one, and the largest to the twin.
    monkeypatch.setattr(tracing, "MOST", len(query) * 20)
    assert tracing.tracer(device, scoring)(query, targets) == expected


def test_pieces_change_nothing(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("one piece is enough for a simulator")
    scoring = Scoring(read_matrix("BLOSUM62"))
    query = np.random.default_rng(8).integers(0, 20, 50).astype("u1")
    targets = relatives(query, 150, 90, 9)
    blocks = pack_all(targets)
    (whole,) = Searcher(device, scoring).search([query], blocks, 12)
    (pieces,) = Searcher(device, scoring).search([query], blocks, 12, most=1)
    assert whole.record.tolist() == pieces.record.tolist()
    assert whole.score.tolist() == pieces.score.tolist()
    expected = reference.scores(query, targets, scoring)
    order = sorted(range(len(targets)), key=lambda number: (-expected[number], number))
    assert whole.record.tolist() == order[:12]
