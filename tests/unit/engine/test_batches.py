"""Batches that do not fit are cut until they do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ligen_py.engine.batches import LIGANDS_PER_CORE, by_batches, by_halves
from ligen_py.opencl.buffers import OutOfMemoryError

DEVICE: Any = SimpleNamespace(finish=lambda: None)


def test_halves_come_in_order_and_hold_every_member() -> None:
    tried = []

    def work(members: np.ndarray) -> int:
        tried.append(len(members))
        if len(members) > 3:
            raise OutOfMemoryError("no room")
        return int(members.sum())

    found = list(by_halves(DEVICE, work, np.arange(10)))
    assert np.concatenate([members for members, _ in found]).tolist() == list(range(10))
    assert [total for _, total in found] == [members.sum() for members, _ in found]
    assert tried == [10, 5, 3, 2, 5, 3, 2]


def test_a_single_ligand_without_room_is_an_error() -> None:
    def work(members: np.ndarray) -> None:
        raise OutOfMemoryError("no room")

    with pytest.raises(OutOfMemoryError, match="no room"):
        list(by_halves(DEVICE, work, np.arange(4)))


@pytest.mark.parametrize(("kind", "batches"), [("cpu", [64, 64, 22]), ("gpu", [150])])
def test_a_processor_is_given_a_little_at_a_time(kind: str, batches: list[int]) -> None:
    device: Any = SimpleNamespace(kind=kind, handle=SimpleNamespace(max_compute_units=2))
    assert LIGANDS_PER_CORE == 32
    found = [members for members, _ in by_batches(device, len, np.arange(150))]
    assert [len(members) for members in found] == batches
    assert np.concatenate(found).tolist() == list(range(150))
    assert not list(by_batches(device, len, np.arange(0)))


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("room", [5, 20, 64, 10**12])
def test_a_batch_takes_no_more_memory_than_there_is_room(kind: str, room: int) -> None:
    device: Any = SimpleNamespace(kind=kind, handle=SimpleNamespace(max_compute_units=2))
    sizes = np.random.default_rng(3).integers(1, 30, 150)
    found = [some for some, _ in by_batches(device, len, np.arange(150), sizes, room)]
    assert np.concatenate(found).tolist() == list(range(150))
    for some, following in zip(found, [*found[1:], None], strict=True):
        assert len(some) == 1 or sizes[some].sum() <= room
        if following is not None and len(some) < 64:  # one more is too many
            assert sizes[some].sum() + sizes[following[0]] > room
