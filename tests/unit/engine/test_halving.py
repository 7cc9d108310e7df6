"""Batches that do not fit are cut until they do."""

import numpy as np
import pytest

from ligen_py.engine.halving import by_halves
from ligen_py.opencl.buffers import OutOfMemoryError


def test_halves_come_in_order_and_hold_every_member() -> None:
    tried = []

    def work(members: np.ndarray) -> int:
        tried.append(len(members))
        if len(members) > 3:
            raise OutOfMemoryError("no room")
        return int(members.sum())

    found = list(by_halves(work, np.arange(10)))
    assert np.concatenate([members for members, _ in found]).tolist() == list(range(10))
    assert [total for _, total in found] == [members.sum() for members, _ in found]
    assert tried == [10, 5, 3, 2, 5, 3, 2]


def test_a_single_ligand_without_room_is_an_error() -> None:
    def work(members: np.ndarray) -> None:
        raise OutOfMemoryError("no room")

    with pytest.raises(OutOfMemoryError, match="no room"):
        list(by_halves(work, np.arange(4)))
