"""The limits of the device, and what share of them the dock kernel reaches.

    python benchmarks/roofline.py [--device SELECTOR] [--mode batched|latency|both]
                                  [--refine] [--quick] [--json FILE]

Ceilings, all measured in the same run: single-precision multiply-adds, integer multiply-adds,
memory (read and written), and field look-ups from a buffer (by rows, by bricks) and from an image.
The look-up ceilings are the dock kernel's innermost loop alone (benchmarks/ceilings.cl): the same
molecule at the same starts, turned about its own bonds, lane = angle, nearest cell of an int8
field, atoms in turn. One atom evaluation costs 24 single-precision operations (12 fused
multiply-adds), 6 integer operations and one look-up. The ceiling of which the kernel uses the
largest share is its limit, and that share is its efficiency. A ceiling is the best of its runs, a
rate the median. Every kernel's results are compared with NumPy first; a share above 100 % means
that the machine did other work (look-ups are measured before and after the kernel for its sake).

With --refine the refine kernel follows, in both forms, as in benchmarks/refining.py: energies with
gradients a second, and their share of the single-precision ceiling.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks import refining
from benchmarks.datasets import benchmark_field, benchmark_search, dataset
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.throughput import atom_evaluations
from ligen_py.engine import geometry
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.field_on_device import FieldOnDevice
from ligen_py.engine.docking.search import DockBatch, Plan, pack
from ligen_py.engine.docking.tuning_candidate import Form, Trial
from ligen_py.errors import DeviceError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.program import build
from ligen_py.opencl.tuning import LOOK_UPS, Tuning, tuned
from ligen_py.records.limits import MAX_TORSIONS
from ligen_py.settings.dock import DockSettings

SOURCE = str(Path(__file__).resolve().with_name("ceilings.cl"))
CHAINS = 16

FLOPS, WHOLE = 24, 6
"""Operations of one atom evaluation: 9 + 3 fused multiply-adds; two multiply-adds for the index of
the cell, its bias, the sum."""

SETS = ((31, 4), (63, 8), (89, 20))


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
    settings = [Tuning(own.lanes, own.sub_groups, unroll, look_up) for unroll in unrolls]
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


def efficiency(
    device: Device, plan: Plan, settings: DockSettings, forms: list[Form], quick: bool
) -> dict[str, Any]:
    """All ceilings and the dock kernel's rates beside them; the tables as JSON."""
    runs = 3 if quick else 7
    ceilings: dict[str, Any] = arithmetic(device, runs) | {"memory": memory(device, runs)}
    print(f"{'FP32':24} {ceilings['fused']['median'] / 1e9:10,.1f} 1e9 operations/s")
    print(f"{'whole numbers':24} {ceilings['whole']['median'] / 1e9:10,.1f} 1e9 operations/s")
    print(f"{'memory':24} {ceilings['memory']['median'] / 1e9:10,.1f} 1e9 bytes/s", flush=True)
    rows = []
    for atoms, fragments in SETS[::2] if quick else SETS:
        name = f"d_{atoms}_{fragments}"
        own: dict[str, dict[str, float]] = {}
        for look_up in LOOK_UPS:
            try:
                own[look_up] = look_ups(device, plan, atoms, fragments, look_up, runs)
            except DeviceError as error:
                print(f"look-up by {look_up}: {str(error).splitlines()[0]}")
                continue
            rate = own[look_up]["median"] / 1e9
            print(f"{name + ', ' + look_up:24} {rate:10,.3f} 1e9 look-ups/s", flush=True)
        ceilings[f"look_up {name}"] = own
        for form in forms:
            rows.append(dock_row(device, plan, settings, form, (atoms, fragments), ceilings, quick))
            print(line(rows[-1]), flush=True)
    return {"device": device.label, "ceilings": ceilings, "dock": rows}


def dock_row(
    device: Device,
    plan: Plan,
    settings: DockSettings,
    form: Form,
    size: tuple[int, int],
    ceilings: dict[str, Any],
    quick: bool,
) -> dict[str, Any]:
    """The dock kernel's rate on one dataset, and its share of each ceiling."""
    atoms, fragments = size
    count = {"batched": 4096, "latency": 256}[form] if device.kind == "gpu" else 16
    ligands = dataset(atoms, fragments, 4 if quick else 8)
    trial = Trial(device, form, ligands, plan, count, 3 if quick else 7)
    outcome = trial.attempt()
    if outcome.refused:
        raise SystemExit(f"d_{atoms}_{fragments}, {form}: {outcome.refused}; no figure")
    rate = outcome.rate * atom_evaluations(ligands, fragments, settings)
    own = ceilings[f"look_up d_{atoms}_{fragments}"]
    look_up = tuned(device, f"{form}/dock.cl", trial.atom_class).look_up
    # Again, after the kernel that is held against it: other work on the machine comes and goes.
    again = look_ups(device, plan, atoms, fragments, look_up, 3 if quick else 7)
    own[look_up] = max(own[look_up], again, key=lambda rates: rates["highest"])
    shares = {
        "look_up": rate / own[look_up]["highest"],
        "fused": rate * FLOPS / ceilings["fused"]["highest"],
        "whole": rate * WHOLE / ceilings["whole"]["highest"],
    }
    binding = max(shares, key=lambda name: shares[name])
    return {
        "dataset": f"d_{atoms}_{fragments}",
        "mode": form,
        "ligands_per_second": spread(list(outcome.rates)),
        "atom_evaluations_per_second": rate,
        "look_up": look_up,
        "shares": shares,
        "binding": binding,
        "share_of_ceiling": shares[binding],
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    ligands = row["ligands_per_second"]
    return (
        f"{row['dataset']:8} {row['mode']:8} {ligands['median']:11,.1f} ligands/s "
        f"({ligands['lowest']:,.1f} to {ligands['highest']:,.1f}) "
        f"{row['atom_evaluations_per_second'] / 1e9:8.3f} 1e9 atoms/s = "
        f"{100 * row['share_of_ceiling']:.1f} % of {row['binding']}"
    )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mode", choices=["batched", "latency", "both"], default="both")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--refine", action="store_true", help="the refine kernel, too")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: fewer datasets")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    options = parser.parse_args()
    device = select(options.device)
    settings = benchmark_search(64 if options.quick else 256)
    plan = Plan.of(benchmark_field(), settings)
    forms: list[Form] = ["batched", "latency"] if options.mode == "both" else [options.mode]
    print(device.label, flush=True)
    tables = efficiency(device, plan, settings, forms, options.quick)
    save(options.json, tables)
    if options.refine:
        runs = 2 if options.quick else 5
        given = refining.Given.of(device, 12 if options.quick else refining.ligands_for(device))
        tables["refine"] = refining.measure(device, given, "vina", refining.FORMS, runs)
        refining.print_rows(tables["refine"], tables["ceilings"]["fused"]["highest"])
        save(options.json, tables)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
