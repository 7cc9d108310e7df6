"""How many energies with gradients the refine kernel computes a second, in both of its forms.

    python benchmarks/refining.py [--device SELECTOR] [--fields NAME ...] [--count N] [--runs N]
                                  [--poses N] [--rounds N] [--evaluations N] [--json FILE]

Ligands are the seeded molecules of screen.py with drug-like sizes, the pocket is Candida albicans
DHFR (PDB 1IA1), poses come from dock and filter, settings are those of `standard`, but for a single
heat. The forms run in turn, so that other work on the machine meets both: a sub-group for each pose
(batched/refine.cl), on an NVIDIA GPU of 8 to 32 lanes by the ligand's size; and a lane for each
pose (batched/refine_lanes.cl). --poses 4 --rounds 64 is the last heat of `standard` alone. The rate
"evaluations/s" is by the device's clock, "of a core" by the processor time of this process, which
other work changes less; both are the best of the runs. The share is that of the single-precision
multiply-adds that ceilings.py measures.

An evaluation is counted as 100 operations an atom (placing it, the trilinear look-up, its moment),
100 a pair (distance, two Gaussians, contact terms, forces), 190 a torsion, and 12 an entry of the
triangle of the inverse Hessian.
"""

import argparse
import resource
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.ceilings import arithmetic
from benchmarks.docking import LigandsInMemory, Settings, Target, cores_for, parsed, pocket_of
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.redock import box_radius
from benchmarks.screen import library_of, packaged_complex
from ligen_py.cli import at_least
from ligen_py.engine.docking.mode import docker
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.pose_arrays import ranges, take
from ligen_py.engine.refinement.batched import BY_LANES, BY_SUB_GROUPS, RIGID, Refiner
from ligen_py.engine.refinement.chemical_field import ChemicalField, field_over
from ligen_py.engine.refinement.given import kept_of
from ligen_py.engine.refinement.maps import Grid
from ligen_py.functions import FUNCTIONS
from ligen_py.opencl.device import Device, select
from ligen_py.records.poses import Poses
from ligen_py.settings.refine import RefineSettings

FORMS = (BY_SUB_GROUPS, BY_LANES)
ATOM, PAIR, TORSION, ENTRY = 100, 100, 190, 12
"""Operations of an evaluation, a multiply-add being two."""


@dataclass(frozen=True)
class Given:
    """Docked and filtered poses of some ligands in a target."""

    molecules: LigandsInMemory
    target: Target
    poses: Poses

    @classmethod
    def of(cls, device: Device, count: int) -> "Given":
        """Make, parse, dock and filter `count` ligands."""
        settings = Settings()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            library = folder / "made.smi"
            library_of(count, library)
            receptor, ligand = packaged_complex()
            pocket = pocket_of(receptor, ligand, box_radius(ligand), folder, settings.pocket)
            target = Target.of(pocket)
            made = parsed(library, folder, settings.parse, len(cores_for(1)[0]))
            every = LigandsInMemory.of(made)
        rows = np.linspace(0, len(every.ligands.entry) - 1, count).astype(np.int64)
        molecules = every.some(rows)
        plan = Plan.of(target.field, settings.dock)
        poses = docker("auto", device, plan, count).dock(molecules.ligands, np.arange(count))
        kept, _ = filter_poses(device, molecules.ligands, poses, settings.filter)
        return cls(molecules, target, kept_of(poses, kept))

    def few(self, poses: int) -> "Given":
        """The same with at most so many poses of a ligand, its first ones."""
        first = self.poses.first_pose
        counts = np.minimum(np.diff(first), poses)
        return replace(self, poses=take(self.poses, ranges(first[:-1], counts), counts))


def operations(field: ChemicalField, ligands: Any) -> float:
    """Operations of an evaluation, mean over the ligands."""
    rows = np.arange(len(ligands.entry))
    atoms = field.particles(ligands, rows)
    pairs = np.unpackbits(atoms.pairs.view(np.uint8)).sum() / 2
    torsions = np.diff(ligands.first_torsion)
    freedoms = RIGID + torsions
    entries = (freedoms * (freedoms + 1) / 2).sum()
    total = ATOM * atoms.counts.sum() + PAIR * pairs + TORSION * torsions.sum() + ENTRY * entries
    return float(total / len(rows))


def ligands_for(device: Device) -> int:
    """Ligands whose poses fill a device."""
    return 384 if device.kind == "gpu" else 24


def processor_time() -> float:
    """Of this process, user and system, seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(
    device: Device,
    given: Given,
    name: str,
    forms: tuple[str, ...],
    runs: int,
    rounds: int = 1,
    evaluations: int | None = None,
) -> list[dict[str, Any]]:
    """A row for each form in the field of a function, for chains of so many rounds.

    `evaluations`: the most of a descent (default: those of `standard`).
    """
    seen = given.target.seen(given.molecules, [name])[name]
    kinds = given.molecules.typed["vina"].type  # type: ignore[attr-defined]
    settings = RefineSettings(field=name, rounds=rounds, finalists=0)  # one heat
    if evaluations:
        settings = settings.model_copy(update={"evaluations": evaluations})
    grid = Grid.over(given.target.field, settings.spacing)
    field = field_over(name, device, seen.receptor, grid, seen.ligands)
    work = operations(field, seen.ligands)
    short = settings.model_copy(update={"rounds": 1, "evaluations": 1})
    rates: dict[str, list[tuple[float, ...]]] = {form: [] for form in forms}
    for run in range(runs + 1):
        for form in forms:
            refiner = Refiner(device, field, source=form)
            began = processor_time()
            chosen = settings if run else short  # the first run builds the kernels
            refined = refiner.refine(seen.ligands, given.poses, chosen, kinds)
            used = processor_time() - began
            if run:
                found = refiner.evaluations
                energy = float(refined.after.mean())
                took, each = refiner.kernel_seconds, found / len(refined.after)
                rates[form].append((found / took, found / used, energy, took, each))
    return [
        {
            "field": name,
            "form": form,
            "evaluations_per_second": [run[0] for run in found],
            "evaluations_per_core_second": [run[1] for run in found],
            "mean_energy": found[0][2],
            "seconds": [run[3] for run in found],
            "evaluations_per_pose": found[0][4],
            "operations": work,
        }
        for form, found in rates.items()
    ]


def print_rows(rows: list[dict[str, Any]], fused: float) -> None:
    """A line a row; `fused`: the ceiling of single-precision operations a second."""
    for row in rows:
        rates, of_core = row["evaluations_per_second"], row["evaluations_per_core_second"]
        row["share_of_fused"] = max(rates) * row["operations"] / fused
        print(
            f"{row['field']:8} {Path(row['form']).name:16} {max(rates) / 1e6:8.3f} "
            f"({min(rates) / 1e6:.3f} to) 1e6 evaluations/s, of a core {max(of_core) / 1e6:8.3f}; "
            f"{row['operations']:,.0f} operations each, {100 * row['share_of_fused']:.1f} % of "
            f"FP32; {row['evaluations_per_pose']:.1f} a pose, mean energy "
            f"{row['mean_energy']:.3f} in {min(row['seconds']):.3f} s",
            flush=True,
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument(
        "--fields", nargs="+", choices=list(FUNCTIONS), default=["vina"], metavar="NAME"
    )
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument(
        "--count", type=at_least(1), metavar="N", help="ligands (default: 24; GPUs: 384)"
    )
    parser.add_argument(
        "--poses", type=at_least(1), default=192, metavar="N", help="of a ligand, at most"
    )
    parser.add_argument("--rounds", type=at_least(1), default=1, metavar="N", help="of a chain")
    parser.add_argument(
        "--evaluations", type=at_least(1), metavar="N", help="of a descent, at most"
    )
    parser.add_argument("--runs", type=at_least(1), default=3, metavar="N", help="of each form")
    parser.add_argument("--json", type=writable, help="also write the table here")
    options = parser.parse_args()
    device = select(options.device)
    given = Given.of(device, options.count or ligands_for(device)).few(options.poses)
    fused = arithmetic(device, 3)["fused"]["highest"]
    print(f"{device.label}; FP32 {fused / 1e9:,.1f} 1e9 operations/s", flush=True)
    rows = []
    for name in options.fields:
        forms = tuple(options.forms)
        ways = options.runs, options.rounds, options.evaluations
        rows += measure(device, given, name, forms, *ways)
        print_rows(rows[-len(options.forms) :], fused)
        save(options.json, {"device": device.label, "fused": fused, "rows": rows})
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
