"""gnina's networks as steps: convolutions, pools and a linear end, from tables of tensors.

Two architectures, found by the names of their tensors: `default2018` (Francoeur et al., J. Chem.
Inf. Model. 2020, 60, 4200) and `dense` (the same; Huang et al., CVPR 2017). Arrays of values are
(poses, x, y, z, channels) everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ligen_py.engine.functions.gnina.constants import CHANNELS

SIDE = 48
"""Voxels along a side of the grid of densities."""

EPSILON = 1e-5
"""Added to variances by PyTorch's batch normalisation."""

OUTPUTS = ("bad", "good", "affinity")
"""Of a network: two numbers whose softmax is the probability of a good pose, and a pK."""


UNITS = ((32, 3), (32, 1), (64, 3), (64, 1), (128, 3))
"""Of default2018: output channels and side of each convolution."""


class UnknownNetworkError(ValueError):
    """The tensors are not those of a network that is known here."""


@dataclass(frozen=True)
class Convolution:
    """A convolution with zeros around the grid, followed by max(0, x)."""

    weight: np.ndarray
    """(side, side, side, inputs, outputs), float32; the side is 3 or 1."""
    bias: np.ndarray
    """(3, 3, 3, outputs): of voxels in the first, any inner and the last plane along x, y and z.
    They differ where a batch normalisation goes before: outside the grid, its shift is absent."""
    appends: bool = False
    """Whether its outputs are further channels behind its inputs, or take their place."""


@dataclass(frozen=True)
class Pool:
    """Halves each side of the grid."""

    kind: Literal["average", "max"]


Step = Convolution | Pool


@dataclass(frozen=True)
class Network:
    """One network, ready to run."""

    steps: tuple[Step, ...]
    """The first is the pool of the densities."""
    weight: np.ndarray
    """(OUTPUTS, values): of the linear end."""
    bias: np.ndarray
    """(OUTPUTS,)"""
    is_global: bool
    """The linear end takes the largest value of each channel, or else all values."""


def network(tensors: Mapping[str, np.ndarray]) -> Network:
    """The network of some tensors; UnknownNetworkError names the first that is not gnina's."""
    with np.errstate(all="ignore"):  # what comes out is looked at
        found = _dense(tensors) if "data_enc_init_conv.weight" in tensors else _plain(tensors)
    parts: list[Network | Convolution] = [found]
    parts += [step for step in found.steps if isinstance(step, Convolution)]
    for part in parts:
        if not np.isfinite(part.weight).all() or not np.isfinite(part.bias).all():
            raise UnknownNetworkError("its weights are not all finite numbers")
    return found


def sides(found: Network) -> list[int]:
    """Voxels along a side before each step, and behind the last one."""
    lengths = [SIDE]
    for step in found.steps:
        lengths.append(lengths[-1] // 2 if isinstance(step, Pool) else lengths[-1])
    return lengths


def channels(found: Network) -> list[int]:
    """Channels before each step, and behind the last one."""
    counts = [CHANNELS]
    for step in found.steps:
        if isinstance(step, Convolution):
            before = counts[-1] if step.appends else 0
            counts.append(before + step.weight.shape[-1])
        else:
            counts.append(counts[-1])
    return counts


def multiplications(found: Network) -> int:
    """Multiplications of one pose in all steps, those with zero included."""
    count = found.weight.size
    for step, side in zip(found.steps, sides(found), strict=False):
        if isinstance(step, Convolution):
            count += side**3 * step.weight.size
    return count


def _plain(tensors: Mapping[str, np.ndarray]) -> Network:
    steps: list[Step] = []
    inputs = CHANNELS
    for unit, (outputs, side) in enumerate(UNITS, 1):
        if unit % 2:
            steps.append(Pool("average"))
        steps.append(_convolution(tensors, f"unit{unit}_conv", outputs, inputs, side))
        inputs = outputs
    return Network(tuple(steps), *_end(tensors, inputs * 6**3), is_global=False)


def _dense(tensors: Mapping[str, np.ndarray]) -> Network:
    count = 32
    first = _convolution(tensors, "data_enc_init_conv", count, CHANNELS, 3)
    steps: list[Step] = [Pool("max"), first]
    for level in range(3):
        for layer in range(4):
            room = f"dense_block_{level}.data_enc_level{level}"
            norm, name = f"{room}_batchnorm_conv{layer}", f"{room}_conv{layer}"
            scale = _tensor(tensors, f"{norm}.weight", count) / np.sqrt(
                _tensor(tensors, f"{norm}.running_var", count) + EPSILON
            )
            shift = _tensor(tensors, f"{norm}.bias", count)
            shift = shift - _tensor(tensors, f"{norm}.running_mean", count) * scale
            steps.append(_convolution(tensors, name, 16, count, 3, scale, shift))
            count += 16
        if level < 2:
            name = f"data_enc_level{level}_bottleneck"
            steps += [_convolution(tensors, name, count, count, 1), Pool("max")]
    return Network(tuple(steps), *_end(tensors, count), is_global=True)


def _end(tensors: Mapping[str, np.ndarray], values: int) -> tuple[np.ndarray, np.ndarray]:
    ends = (("pose_output", 2), ("affinity_output", 1))
    weights = [_tensor(tensors, f"{name}.weight", rows, values) for name, rows in ends]
    biases = [_tensor(tensors, f"{name}.bias", rows) for name, rows in ends]
    return np.concatenate(weights), np.concatenate(biases)


def _tensor(tensors: Mapping[str, np.ndarray], name: str, *shape: int) -> np.ndarray:
    """A tensor of the shape that it has in gnina's networks: kernels are made for no other."""
    if name not in tensors:
        raise UnknownNetworkError(f"it has no tensor {name}")
    if tensors[name].shape != shape:
        raise UnknownNetworkError(f"{name} has the shape {tensors[name].shape}, not {shape}")
    return tensors[name].astype(np.float32)


def _convolution(
    tensors: Mapping[str, np.ndarray],
    name: str,
    outputs: int,
    inputs: int,
    side: int,
    scale: np.ndarray | None = None,
    shift: np.ndarray | None = None,
) -> Convolution:
    """From PyTorch's weight (outputs, inputs, side, side, side); inputs are scaled and shifted."""
    weight = _tensor(tensors, f"{name}.weight", outputs, inputs, side, side, side)
    bias = _tensor(tensors, f"{name}.bias", outputs)
    turned = weight.transpose(2, 3, 4, 1, 0).astype(np.float64)
    table = np.broadcast_to(bias.astype(np.float64), (3, 3, 3, len(bias))).copy()
    if scale is not None and shift is not None:
        by_tap = np.einsum("xyzio,i->xyzo", turned, shift.astype(np.float64))
        inside = (slice(1, 3), slice(0, 3), slice(0, 2))  # taps of the first, inner and last plane
        for x, y, z in np.ndindex(3, 3, 3):
            table[x, y, z] += by_tap[inside[x], inside[y], inside[z]].sum(axis=(0, 1, 2))
        turned = turned * scale.astype(np.float64)[:, None]
    return Convolution(
        np.ascontiguousarray(turned, np.float32), table.astype(np.float32), scale is not None
    )
