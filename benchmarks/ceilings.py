"""What a device does at most: arithmetic, memory, and field look-ups (ceilings.cl).

For roofline.py, refining.py and portability.py. Every kernel's results are compared with NumPy.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import dataset
from ligen_py.engine import geometry
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.field_on_device import FieldOnDevice
from ligen_py.engine.docking.search import DockBatch, Plan, pack
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.opencl.tuning import LANES, Tuning, tuned
from ligen_py.records.limits import MAX_TORSIONS

SOURCE = str(Path(__file__).resolve().with_name("ceilings.cl"))
CHAINS = 16


def spread(values: list[float]) -> dict[str, float]:
    """Median, lowest and highest of some rates."""
    return {
        "median": float(np.median(values)),
        "lowest": float(min(values)),
        "highest": float(max(values)),
    }


def timed(launch: Callable[[], Any], work: float, runs: int) -> dict[str, float]:
    """Work a second by the device's clock, after a warm-up."""
    return spread([work / buffers.seconds(launch()) for _ in range(runs + 1)][1:])


def expect(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Stop where a kernel is wrong: no figure without a right result."""
    if not np.array_equal(found, expected):
        raise SystemExit(f"the {what} kernel differs from NumPy; no figure")


def arithmetic(device: Device, runs: int) -> dict[str, dict[str, float]]:
    """Operations a second, a multiply-add being two."""
    is_gpu = device.kind == "gpu"
    items, local = (1 << 20, 256) if is_gpu else (1 << 14, 64)
    steps = 1024
    program = build(device, SOURCE)
    result = {}
    for name, kind in (("fused", np.float32), ("whole", np.uint32)):
        a, b = (-1.0, 3.0) if name == "fused" else (1664525, 1013904223)
        out = buffers.empty(device, items, kind)
        kernel = program.kernel(name)

        arguments = (kind(a), kind(b), np.int32(steps), out)

        def launch(kernel: Any = kernel, arguments: Any = arguments) -> Any:
            return kernel(device.queue, (items,), (local,), *arguments)

        launch()
        x: np.ndarray = (np.arange(local)[:, None] + np.arange(CHAINS)).astype(kind)
        for _ in range(steps):
            x = x * kind(a) + kind(b)
        expected = np.tile(x.sum(1).astype(kind), items // local)
        expect(buffers.download(device, out, items, kind), expected, name)
        result[name] = timed(launch, 2.0 * items * steps * CHAINS, runs)
    return result


def memory(device: Device, runs: int) -> dict[str, float]:
    """Bytes a second, read and written."""
    size = min(1 << 28 if device.kind == "gpu" else 1 << 24, buffers.budget(device) // 64)
    values = np.arange(size * 4, dtype=np.float32)
    source, target = buffers.upload(device, values), buffers.empty(device, values.size, np.float32)
    kernel = build(device, SOURCE).kernel("copy")

    def launch() -> Any:
        return kernel(device.queue, (size,), None, source, target)

    launch()
    expect(buffers.download(device, target, values.size, np.float32), values, "copy")
    return timed(launch, 32.0 * size, runs)


def expected_sums(plan: Plan, batch: DockBatch, passes: int, lanes: int, some: int) -> np.ndarray:
    """Sums of the first restarts (some, lanes) in NumPy."""
    ligand = docking_reference.Ligand.of(batch, 0)
    starts = slice(some)
    turns = plan.start_turns[starts, : len(ligand.torsions)].astype(int)
    rotation, position = plan.start_rotation[starts], plan.start_position[starts]
    state = docking_reference.State(np.empty(0), turns, rotation, position)
    docking_reference.build_poses(plan, ligand, state)
    total = np.zeros((some, lanes), np.int32)
    by_bond = []
    for n, torsion in enumerate(ligand.torsions):
        pivot = state.xyz[:, torsion[0]]
        direction = (state.xyz[:, torsion[1]] - pivot) * ligand.inverse_length[n]
        matrix = geometry.rotation(direction[:, None], plan.angles[:, 0], plan.angles[:, 1])
        shift = geometry.about(matrix, pivot[:, None])
        moved = geometry.transform(matrix[..., None, :, :], shift[..., None, :], state.xyz[:, None])
        sums = docking_reference.field_values(plan, moved).sum(axis=-1)
        by_bond.append(sums.reshape(some, -1, lanes).sum(axis=1))
    for n in range(passes):
        total += by_bond[n % len(by_bond)].astype(np.int32)
    return total


def look_ups(
    device: Device, plan: Plan, atoms: int, fragments: int, look_up: str, runs: int
) -> dict[str, float]:
    """Atom evaluations a second of the innermost loop alone, at the best of a few settings."""
    ligands = dataset(atoms, fragments, 1)
    batch = pack(ligands, np.array([0]), plan)
    own = tuned(device, "batched/dock.cl", class_of(int(batch.ligands[0]["atoms"])))
    # Runtimes without sub-groups take a minute to build a kernel.
    unrolls = (own.unroll,) if device.back_end == "local" else (1, 2, 4)
    widths = [lanes for lanes in LANES if lanes <= device.sub_group_size]
    settings = [
        Tuning(lanes, own.sub_groups, unroll, look_up)
        for lanes in ([own.lanes] if device.back_end == "ptx" else widths)
        for unroll in unrolls
    ]
    best: dict[str, float] = {}
    for tuning in settings:
        rate = _look_up_rate(device, plan, batch, tuning, runs)
        if not best or rate["median"] > best["median"]:
            best = rate
    return best


def class_of(atoms: int) -> int:
    """The class that a ligand's kernels are compiled for."""
    return min(size for size in ATOM_CLASSES if size >= atoms)


def _look_up_rate(
    device: Device, plan: Plan, batch: DockBatch, tuning: Tuning, runs: int
) -> dict[str, float]:
    row = batch.ligands[0]
    definitions = {
        "MAX_ATOMS": class_of(int(row["atoms"])),
        "MAX_TORSIONS": MAX_TORSIONS,
        "N_ANGLES": plan.settings.n_angles,
        "GRID_SIDE": plan.side,
        "WG_SUB_GROUPS": tuning.sub_groups,
        **tuning.definitions(),
    }
    is_gpu = device.kind == "gpu"
    groups, passes = (1 << 17, 64) if is_gpu else (1 << 9, 16)
    groups -= groups % tuning.sub_groups
    sums = buffers.empty(device, groups * tuning.lanes, np.int32)
    arguments = (
        *(np.int32(row[name]) for name in ("atoms", "torsions")),
        np.int32(plan.num_restart),
        np.int32(passes),
        FieldOnDevice(device, plan.field).stored(tuning.look_up),
        *(
            buffers.upload(device, array)
            for array in (
                plan.angles,
                *plan.starts,
                batch.conformers,
                batch.torsions,
                batch.inverse_lengths,
            )
        ),
        sums,
    )
    kernel = build(device, SOURCE, definitions).kernel("look_up")

    def launch() -> Any:
        size, local = groups * tuning.lanes, tuning.sub_groups * tuning.lanes
        return kernel(device.queue, (size,), (local,), *arguments)

    launch()
    some = min(16, plan.num_restart)
    found = buffers.download(device, sums, (groups, tuning.lanes), np.int32)[:some]
    expect(found, expected_sums(plan, batch, passes, tuning.lanes, some), "look-up")
    work = float(groups) * passes * plan.settings.n_angles * int(row["atoms"])
    return timed(launch, work, runs)
