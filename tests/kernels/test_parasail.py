"""The alignment kernels against scores of parasail (tests/data/parasail.json), on every device."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ligen_py.engine.alignment.packing import pack_all
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.opencl.device import Device
from ligen_py.sequences.proteins import read_proteins
from ligen_py.sequences.substitution import MATRICES, read_matrix
from tests.alignment_input import FAMILIES, by_record, families, long_proteins, summed
from tests.runtimes import leave_to_the_first

GOLDENS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "parasail.json").read_text()
)


@pytest.fixture(autouse=True)
def not_simulated(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("too many cells for a simulator")


def found(searcher: Searcher, query: np.ndarray, targets: list[np.ndarray]) -> np.ndarray:
    blocks = pack_all(targets)
    (scores,) = searcher.scores([query], blocks)
    return by_record(blocks, scores, len(targets))


@pytest.mark.parametrize("matrix", MATRICES)
def test_ten_thousand_random_pairs(device: Device, matrix: str) -> None:
    if matrix != MATRICES[0]:
        leave_to_the_first(device)
    searcher = Searcher(device, Scoring(read_matrix(matrix)))
    numbers = range(MATRICES.index(matrix), FAMILIES, len(MATRICES))
    scores = np.concatenate([found(searcher, *families(number)) for number in numbers])
    assert summed(scores) == GOLDENS["pairs"][matrix]


def test_long_proteins_and_scores_beyond_16_bits(device: Device) -> None:
    searcher = Searcher(device, Scoring(read_matrix("BLOSUM62")))
    scores = found(searcher, *long_proteins()).tolist()
    assert scores == GOLDENS["long"]
    assert max(scores) > 1 << 15


@pytest.mark.parametrize("number", GOLDENS["bacterium"])
def test_the_proteins_of_a_bacterium(device: Device, number: str, shared_data: Path) -> None:
    if number != next(iter(GOLDENS["bacterium"])):
        leave_to_the_first(device)
    proteins = read_proteins(shared_data / "sequences" / "proteins_2100_HG003687.faa")
    searcher = Searcher(device, Scoring(read_matrix("BLOSUM62")))
    scores = found(searcher, proteins.letters[int(number)], proteins.letters)
    assert summed(scores) == GOLDENS["bacterium"][number]
