"""The geometric field on a device, stored in one of three ways (kernels/include/field.clh)."""

from typing import Any

import numpy as np

from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device

BRICK = (4, 4, 8)
"""Points of a brick along x, y and z: 128 bytes, a line of a GPU's cache."""


def bricks(cube: np.ndarray) -> np.ndarray:
    """The field (side, side, side) brick by brick, the side filled up to a multiple of 8."""
    side = cube.shape[0]
    rest = -side % max(BRICK)
    filled = np.pad(cube, (0, rest), mode="edge")
    x, y, z = ((side + rest) // length for length in BRICK)
    parts = filled.reshape(x, BRICK[0], y, BRICK[1], z, BRICK[2])
    return np.ascontiguousarray(parts.transpose(0, 2, 4, 1, 3, 5))


class FieldOnDevice:
    """The field of a plan; each way of storing it is made when it is first needed."""

    def __init__(self, device: Device, cube: np.ndarray) -> None:
        """`cube` is `Plan.field`."""
        self._device, self._cube = device, cube
        self._stored: dict[str, Any] = {}

    def stored(self, look_up: str) -> Any:
        """The argument FIELD of kernels that are built with this LOOK_UP: a buffer or an image."""
        if look_up not in self._stored:
            if look_up == "image":
                self._stored[look_up] = buffers.image(self._device, self._cube)
            else:
                array = bricks(self._cube) if look_up == "bricks" else self._cube
                self._stored[look_up] = buffers.upload(self._device, array)
        return self._stored[look_up]
