"""Run gnina's networks on a device (kernels/batched/gnina.cl)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.constants import CHANNELS
from ligen_py.engine.functions.gnina.networks import (
    OUTPUTS,
    SIDE,
    Convolution,
    Network,
    Pool,
    Step,
    channels,
    sides,
)
from ligen_py.engine.functions.gnina.reference import origin
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build

GROUP = 16
"""Output channels of a vector, and pooled voxels of a mask, as in the kernels."""

POOLED = SIDE // 2

KINDS = ("average", "max")
"""First pools of networks, in the order of the kernel's arguments."""

REGISTERS = 24
"""Vectors of sums that a work-item keeps: voxels of a strip times vectors of output channels."""

WORK_GROUP = 128
"""Work-items of a work-group on a GPU."""

LANES = {"gpu": 1}
"""Channels that a work-item computes side by side, by kind of device; else GROUP."""

BATCH = {"gpu": 256}
"""Poses of a launch by kind of device; else two a core."""

MOST_VALUES = 2**31 - 1
"""Values of one grid for all poses of a launch: kernels number them by int."""


@dataclass(frozen=True)
class _Grid:
    """Values of some channels on a grid with a rim of zeros, for every pose of a batch."""

    side: int
    room: int
    buffer: Any


@dataclass(frozen=True)
class _Launch:
    """A kernel of a network with all its arguments but the number of poses."""

    kernel: Any
    items: int
    """Vectors of work for one pose."""
    arguments: tuple[Any, ...]


class Ensemble:
    """Networks on a device, with the memory of one batch of poses."""

    def __init__(self, device: Device, networks: Sequence[Network]) -> None:
        """Build the kernels and copy the weights; DeviceError where there is no room for them."""
        self.device = device
        self.lanes = LANES.get(device.kind, GROUP)
        self.batch = _batch(device, networks)
        self._grids: dict[tuple[Any, ...], _Grid] = {}
        self._masks = buffers.empty(device, self.batch * POOLED**3 // GROUP, np.uint32)
        kinds = {found.steps[0].kind for found in networks if isinstance(found.steps[0], Pool)}
        means, maxima = (int(kind in kinds) for kind in KINDS)
        unused = _Grid(POOLED, CHANNELS, buffers.empty(device, 1, np.float32))
        self._pooled = {
            kind: self._grid(kind, POOLED, CHANNELS) if kind in kinds else unused for kind in KINDS
        }
        self._densities = self._program(MEANS=means, MAXIMA=maxima)
        self._networks = [self._launches(found) for found in networks]

    def outputs(self, receptor: Atoms, ligands: Sequence[Atoms]) -> np.ndarray:
        """OUTPUTS of every network for poses of ligands: (networks, poses, OUTPUTS), float32."""
        found = np.zeros((len(self._networks), len(ligands), len(OUTPUTS)), np.float32)
        around = self._near(receptor, ligands)
        fixed = (
            buffers.upload(self.device, around.rows()),
            buffers.upload(self.device, around.channel),
        )
        for start in range(0, len(ligands), self.batch):
            some = ligands[start : start + self.batch]
            found[:, start : start + len(some)] = self._batch(len(around.xyz), fixed, some)
        return found

    def _near(self, receptor: Atoms, ligands: Sequence[Atoms]) -> Atoms:
        """The receptor's atoms that a grid around one of the poses may hold."""
        if not len(ligands):
            return receptor
        centers = np.array([ligand.center() for ligand in ligands])
        far = origin(np.zeros(3)) - 3.5  # more than the largest density reaches
        inside = (receptor.xyz > centers.min(axis=0) + far) & (
            receptor.xyz < centers.max(axis=0) - far
        )
        rows = np.flatnonzero(inside.all(axis=1))
        return Atoms(receptor.xyz[rows], receptor.channel[rows], receptor.radius[rows])

    def _batch(
        self, receptor_count: int, receptor: tuple[Any, Any], ligands: Sequence[Atoms]
    ) -> np.ndarray:
        device, count = self.device, len(ligands)
        first = np.cumsum([0, *(len(ligand.xyz) for ligand in ligands)], dtype=np.int32)
        origins = np.zeros((count, 4), np.float32)
        origins[:, :3] = [origin(ligand.center()) for ligand in ligands]
        rows = buffers.upload(device, np.concatenate([ligand.rows() for ligand in ligands]))
        kinds = buffers.upload(device, np.concatenate([ligand.channel for ligand in ligands]))
        offsets, places = buffers.upload(device, first), buffers.upload(device, origins)
        most = receptor_count + int(np.diff(first).max(initial=1))
        lists = buffers.empty(device, count * POOLED * most, np.int32)
        lengths = buffers.empty(device, count * POOLED, np.int32)
        sizes = np.int32(count), np.int32(receptor_count), np.int32(most)
        if self.lanes == 1:
            buffers.zero(device, self._masks)
        self._densities.kernel("list_atoms")(
            device.queue, (count * POOLED,), None,
            *sizes, receptor[0], rows, offsets, places, lists, lengths,
        )  # fmt: skip
        self._enqueue(
            self._densities.kernel("densities"), count * POOLED**3 // GROUP,
            *sizes, *receptor, rows, kinds, offsets, places, lists, lengths,
            *(grid.buffer for grid in self._pooled.values()), self._masks,
        )  # fmt: skip
        for launches, _, _ in self._networks:
            for launch in launches:
                self._enqueue(launch.kernel, launch.items * count, sizes[0], *launch.arguments)
        results = []
        for _, end, bias in self._networks:
            parts = buffers.download(device, end, (count, len(OUTPUTS), GROUP), np.float32)
            results.append(parts.sum(axis=-1, dtype=np.float64) + bias)
        return np.stack(results)

    def _enqueue(self, kernel: Any, vectors: int, *arguments: Any) -> Any:
        """Launch a kernel for so many vectors of work; returns its event."""
        items, group = vectors * GROUP // self.lanes, 1 if self.lanes == GROUP else WORK_GROUP
        with buffers.memory_named(self.device):
            return kernel(self.device.queue, (-(-items // group) * group,), (group,), *arguments)

    def _program(self, **definitions: int) -> Program:
        return build(self.device, "batched/gnina.cl", {"LANES": self.lanes, **definitions})

    def _grid(self, name: object, side: int, room: int) -> _Grid:
        """A grid of that name and size; all networks share it."""
        key = (name, side, room)
        if key not in self._grids:
            buffer = buffers.empty(self.device, self.batch * (side + 2) ** 3 * room, np.float32)
            buffers.zero(self.device, buffer)
            self._grids[key] = _Grid(side, room, buffer)
        return self._grids[key]

    def _launches(self, found: Network) -> tuple[list[_Launch], Any, np.ndarray]:
        """The kernels of a network in turn, the partial sums that they end in, and their bias."""
        first, *steps = found.steps
        assert isinstance(first, Pool)
        grid, count, launches = self._pooled[first.kind], CHANNELS, []
        for number, step in enumerate(steps):
            if isinstance(step, Pool):
                half = self._grid(number, grid.side // 2, _room(steps[number + 1 :], count))
                launches.append(self._halve(grid, half, count, step))
                grid = half
                continue
            outputs = step.weight.shape[-1]
            to, behind = grid, count
            if not step.appends:
                to, behind = self._grid(number, grid.side, _room(steps[number + 1 :], outputs)), 0
            launches.append(self._convolve(grid, to, count, behind, step, is_first=number == 0))
            grid, count = to, behind + outputs
        end = buffers.empty(self.device, self.batch * len(OUTPUTS) * GROUP, np.float32)
        launches.append(self._finish(found, grid, count, end))
        return launches, end, found.bias

    def _convolve(
        self, grid: _Grid, to: _Grid, inputs: int, behind: int, step: Convolution, is_first: bool
    ) -> _Launch:
        width, outputs = step.weight.shape[0], step.weight.shape[-1]
        strip = min(grid.side, REGISTERS // min(outputs // GROUP, 2))
        vectors = min(outputs // GROUP, REGISTERS // strip)
        program = self._program(
            SIDE=grid.side, WIDTH=width, INPUTS=inputs, IN_ROOM=grid.room, OUTPUTS=outputs,
            OUT_ROOM=to.room, OUT_FIRST=behind, STRIP=strip, VECTORS=vectors, SPARSE=int(is_first),
        )  # fmt: skip
        weights = buffers.upload(self.device, step.weight.transpose(0, 1, 3, 2, 4))
        biases = buffers.upload(self.device, step.bias)
        strips = grid.side**3 // strip * (outputs // (vectors * GROUP))
        arguments = (grid.buffer, self._masks, weights, biases, to.buffer)
        items = grid.side if self.lanes == GROUP else strips
        return _Launch(program.new_kernel("convolve"), items, arguments)

    def _halve(self, grid: _Grid, half: _Grid, count: int, step: Pool) -> _Launch:
        program = self._program(
            SIDE=grid.side, INPUTS=count, IN_ROOM=grid.room, OUT_ROOM=half.room,
            MAXIMUM=int(step.kind == "max"),
        )  # fmt: skip
        items = half.side**3 * count // GROUP
        return _Launch(program.new_kernel("halve"), items, (grid.buffer, half.buffer))

    def _finish(self, found: Network, grid: _Grid, count: int, end: Any) -> _Launch:
        weight = found.weight
        if not found.is_global:  # from channel, x, y, z
            by_channel = weight.reshape(len(OUTPUTS), count, -1)
            weight = by_channel.transpose(0, 2, 1)
        program = self._program(
            SIDE=grid.side, INPUTS=count, IN_ROOM=grid.room, MAXIMUM=int(found.is_global)
        )
        arguments = grid.buffer, buffers.upload(self.device, weight), end
        return _Launch(program.new_kernel("finish"), 1, arguments)


def _batch(device: Device, networks: Sequence[Network]) -> int:
    """Poses of a launch, as many as there is memory for."""
    most = max(count for found in networks for count in channels(found))
    pose_bytes = 4 * (POOLED + 2) ** 3 * (CHANNELS + 3 * most)  # about, of all grids
    wanted = BATCH.get(device.kind, 2 * int(device.handle.max_compute_units))
    values = max(
        (side + 2) ** 3 * count
        for found in networks
        for side, count in zip(sides(found)[1:], channels(found)[1:], strict=True)
    )
    return max(1, min(wanted, buffers.budget(device) // pose_bytes, MOST_VALUES // values))


def _room(steps: Sequence[Step], count: int) -> int:
    """Channels of a grid with `count` of them, and those that the next steps append."""
    for step in steps:
        if not isinstance(step, Convolution) or not step.appends:
            break
        count += step.weight.shape[-1]
    return count
