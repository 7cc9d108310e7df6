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
    """The network of some tensors; UnknownNetworkError names what is missing or of wrong shape."""
    try:
        found = _dense(tensors) if "data_enc_init_conv.weight" in tensors else _plain(tensors)
    except KeyError as error:
        raise UnknownNetworkError(f"it has no tensor {error.args[0]}") from error
    _check(found)
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
    for unit in range(1, 6):
        if unit % 2:
            steps.append(Pool("average"))
        name = f"unit{unit}_conv"
        steps.append(_convolution(tensors[f"{name}.weight"], tensors[f"{name}.bias"]))
    return Network(tuple(steps), *_end(tensors), is_global=False)


def _dense(tensors: Mapping[str, np.ndarray]) -> Network:
    first = _convolution(tensors["data_enc_init_conv.weight"], tensors["data_enc_init_conv.bias"])
    steps: list[Step] = [Pool("max"), first]
    for level in range(3):
        for layer in range(4):
            room = f"dense_block_{level}.data_enc_level{level}"
            norm, name = f"{room}_batchnorm_conv{layer}", f"{room}_conv{layer}"
            scale = tensors[f"{norm}.weight"] / np.sqrt(tensors[f"{norm}.running_var"] + EPSILON)
            shift = tensors[f"{norm}.bias"] - tensors[f"{norm}.running_mean"] * scale
            weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            steps.append(_convolution(weight, bias, scale, shift))
        if level < 2:
            name = f"data_enc_level{level}_bottleneck"
            steps.append(_convolution(tensors[f"{name}.weight"], tensors[f"{name}.bias"]))
            steps.append(Pool("max"))
    return Network(tuple(steps), *_end(tensors), is_global=True)


def _end(tensors: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    names = ("pose_output", "affinity_output")
    weight = np.concatenate([tensors[f"{name}.weight"] for name in names])
    return weight, np.concatenate([tensors[f"{name}.bias"] for name in names])


def _convolution(
    weight: np.ndarray,
    bias: np.ndarray,
    scale: np.ndarray | None = None,
    shift: np.ndarray | None = None,
) -> Convolution:
    """From PyTorch's weight (outputs, inputs, side, side, side); inputs are scaled and shifted."""
    if weight.ndim != 5 or weight.shape[2:] not in ((3, 3, 3), (1, 1, 1)):
        raise UnknownNetworkError(f"a convolution has weights of shape {weight.shape}")
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


def _check(found: Network) -> None:
    """Every step fits to the one before."""
    for step, before in zip(found.steps, channels(found), strict=False):
        if isinstance(step, Convolution) and step.weight.shape[3] != before:
            raise UnknownNetworkError(
                f"a convolution takes {step.weight.shape[3]} channels, not {before}"
            )
    values = channels(found)[-1] * (1 if found.is_global else sides(found)[-1] ** 3)
    if found.weight.shape != (len(OUTPUTS), values) or found.bias.shape != (len(OUTPUTS),):
        raise UnknownNetworkError(f"its end has weights of shape {found.weight.shape}")
