"""What lanes of a sub-group find together, through each of the back ends that a device can run."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build

GROUPS = 12
"""Sub-groups of a launch."""

WHOLE = ["lane", "index", "item", "max", "sum", "any", "together", "wanted", "before"]
FLOATS = ["sum", "scan", "max", "sum0", "sum1", "sum2", "scan0", "scan1"]

SOURCE = """
#include "subgroup.clh"
KERNEL void everything(__global const int *values, __global int *whole, __global float *floats) {
  SG_SETUP(sg);
  const int at = get_global_id(0), all = get_global_size(0), value = values[at];
  const float number = (float)value;
  const int found[9] = {sg.lane, sg.index, sg.item, sg_max(sg, value), sg_sum(sg, value),
                        sg_any(sg, value > 900), sg_any_together(sg, value > 900),
                        sg_wanted(sg, value > 900), sg_sum(sg, sg.lane < 3 ? value : 0)};
  float sums[3] = {number, 2.0f * number, number - 7.0f};
  float scans[2] = {number, 3.0f * number};
  const float own[3] = {sg_sum_float(sg, number), sg_scan_float(sg, number),
                        sg_max_float(sg, fabs(number))};
  sg_sum_floats(sg, sums, 3);
  sg_scan_floats(sg, scans, 2);
  for (int n = 0; n < 9; n++) whole[n * all + at] = found[n];
  for (int n = 0; n < 3; n++) floats[n * all + at] = own[n];
  for (int n = 0; n < 3; n++) floats[(3 + n) * all + at] = sums[n];
  for (int n = 0; n < 2; n++) floats[(6 + n) * all + at] = scans[n];
}
"""


def of_local_memory(device: Device, lanes: int) -> Device:
    """The device with sub-groups in local memory, which any runtime can run."""
    result = Device(device.handle, lanes)
    vars(result)["back_end"] = "local"
    return result


@pytest.mark.parametrize("back_end", ["own", "local"])
@pytest.mark.parametrize("lanes", [8, 16, 32, 64])
@pytest.mark.parametrize("team", [1, 3])
def test_every_function(
    device: Device, back_end: str, lanes: int, team: int, tmp_path: Path
) -> None:
    """Numbers are whole, so that sums of floats are exact in every order."""
    if back_end == "local":
        device = of_local_memory(device, lanes)
    elif device.back_end == "ptx" and lanes == 64:
        pytest.skip("a warp has 32 lanes")
    if device.back_end == "local" and device.is_simulator and (lanes, team) != (16, 3):
        pytest.skip("other numbers take the same way; once is enough for a simulator")
    path = tmp_path / "everything.cl"
    path.write_text(SOURCE)
    macros: dict[str, object] = {"SG_SIZE": lanes, "WG_SUB_GROUPS": team}
    macros |= {"TEAM": team} if device.back_end == "local" else {}
    program = build(device, str(path), macros)
    values = np.random.default_rng(lanes).integers(-1000, 950, (GROUPS, lanes)).astype(np.int32)
    values[0] = np.minimum(values[0], 900)
    values[1, -1], values[2] = 949, -np.abs(values[2]) - 1
    ints = buffers.exchange(device, np.zeros(len(WHOLE) * values.size, np.int32))
    floats = buffers.exchange(device, np.zeros(len(FLOATS) * values.size, np.float32))
    # On NVIDIA's sub-groups of fewer than 32 lanes are parts of a warp.
    group = max(32, lanes) * team if device.back_end == "ptx" else lanes * team
    program.kernel("everything")(
        device.queue, (values.size,), (group,), buffers.upload(device, values), ints, floats
    )
    shape = (-1, GROUPS, lanes)
    whole = buffers.download(device, ints, len(WHOLE) * values.size, np.int32).reshape(shape)
    found = dict(zip(WHOLE, whole, strict=True))
    item, lane = np.indices(values.shape)
    wanted = (values > 900).any(axis=1, keepdims=True)
    parts = max(1, 32 // lanes) if device.back_end == "ptx" else 1
    together = wanted.reshape(-1, parts).any(axis=1).repeat(parts)[:, None]
    expected = {
        "lane": lane,
        "index": item % (group // lanes),
        "item": item,
        "max": values.max(axis=1, keepdims=True),
        "sum": values.sum(axis=1, keepdims=True),
        "any": wanted,
        "together": together,
        "wanted": wanted if device.back_end == "khr" else values > 900,
        "before": values[:, :3].sum(axis=1, keepdims=True),
    }
    if device.back_end == "khr" and team == 1:
        expected["index"] = 0 * item
    for name, answer in expected.items():
        given = found[name] != 0 if answer.dtype == bool else found[name]
        assert np.array_equal(given, np.broadcast_to(answer, values.shape)), name
    numbers = buffers.download(device, floats, len(FLOATS) * values.size, np.float32)
    sums, scans = values.sum(axis=1, keepdims=True), values.cumsum(axis=1)
    answers = (
        sums, scans, np.abs(values).max(axis=1, keepdims=True),
        sums, 2 * sums, sums - 7 * lanes, scans, 3 * scans,
    )  # fmt: skip
    for name, given, answer in zip(FLOATS, numbers.reshape(shape), answers, strict=True):
        assert np.array_equal(given, np.broadcast_to(answer, values.shape)), name
