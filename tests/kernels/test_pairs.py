"""The pairs of atoms that a device finds in ligands against their NumPy twin."""

import numpy as np
import pyopencl as cl
import pytest

from ligen_py.engine.internal_pairs import internal_pairs
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.engine.scoring.pairs import find_pairs
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.opencl.device import Device
from ligen_py.records.limits import MAX_ATOMS

SMALL = [(9, 2), (40, 6), (14, 0), (33, 31)]
LARGE = [(70, 9), (MAX_ATOMS, 64), (20, 4)]


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("hydrogens", [False, True])
def test_pairs_equal_twin(device: Device, sizes: list[tuple[int, int]], hydrogens: bool) -> None:
    if device.is_simulator and sizes is LARGE:
        pytest.skip("large ligands take a simulator too long")
    ligands = make_ligands(sizes)
    chosen = np.ones(len(ligands.element), bool) if hydrogens else ligands.element > 1
    poses = make_poses(ligands, 1)
    for first, last in ((0, len(sizes)), (1, 3)):
        atoms = slice(ligands.first_atom[first], ligands.first_atom[last])
        expected, counts = internal_pairs(ligands, first, last, chosen[atoms])
        found = find_pairs(PoseBatch(device, ligands, poses, first, last), chosen[atoms])
        assert np.array_equal(_array(device, found.counts, np.int32), counts)
        assert counts.any()
        rows = _array(device, found.pairs, np.int16).reshape(-1, 2)
        pairs = [rows[n : n + count] for n, count in zip(found.first, counts, strict=True)]
        assert np.array_equal(np.concatenate(pairs), expected)


def _array(device: Device, buffer: cl.Buffer, kind: type) -> np.ndarray:
    array = np.empty(buffer.size // np.dtype(kind).itemsize, kind)
    cl.enqueue_copy(device.queue, array, buffer)
    return array
