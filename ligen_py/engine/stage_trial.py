"""Try a setting of a kernel behind docking: does it give the same, and how fast is it?"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Outcome
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.refinement.batched import BY_SUB_GROUPS, Refiner
from ligen_py.engine.refinement.chemical_field import field_over
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.scoring.scores import score
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Launched, launches
from ligen_py.opencl.residency import Usage, usage
from ligen_py.opencl.tuning import Tuning, trying
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField
from ligen_py.records.rows import rows_below, subset
from ligen_py.records.typed import Typed
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.filter import FilterSettings
from ligen_py.settings.refine import RefineSettings

CLUSTERED = FilterSettings(cluster_rmsd=1.0)
"""With both kernels of the filter: without a radius poses are not placed."""

Work = Callable[[], Sequence[np.ndarray]]


class StageTrial:
    """Work that a stage does with a kernel file, done over and over."""

    def __init__(self, device: Device, kernel: str, work: Work, ligands: int, runs: int) -> None:
        """`work` on so many ligands gives its results; `runs` timed runs a setting."""
        self.device, self.kernel, self.runs = device, kernel, runs
        self.of = {"ligands": ligands}
        self._work, self._ligands = work, ligands
        self._expected = _bits(work())

    def attempt(self, tuning: Tuning) -> Outcome:
        """Build, compare with the settings in use, then time; DeviceError where it cannot be built.

        Time is that in which the device ran any kernel of the work.
        """
        device = self.device
        fault = tuning.fault_on(device.back_end, device.sub_group_size, self.kernel)
        if fault:
            return Outcome(fault)
        rates = []
        with trying(self.kernel, tuning):
            with launches() as first:
                found = _bits(self._work())
            used = _most(first)
            if found != self._expected:
                return Outcome("differs from the settings in use", usage=used)
            for _ in range(self.runs):
                with launches() as done:
                    self._work()
                rates.append(self._ligands / buffers.busy([one.event for one in done]))
        return Outcome(rates=tuple(rates), usage=used)


def _bits(arrays: Sequence[np.ndarray]) -> list[bytes]:
    return [array.tobytes() for array in arrays]


def _most(launched: Sequence[Launched]) -> Usage | None:
    """Of the kernel that spills most, else has most registers; None where the driver is silent."""
    found = [usage(one.program.log).get(one.name) for one in launched]
    return max(
        (one for one in found if one), key=lambda one: (one.spilled, one.registers), default=None
    )


MOST_LIGANDS = 64
"""Different ligands of a file that the work is done on."""

DOCKED = DockSettings(num_restart=256, max_num_poses=64)
"""How they are docked before: the poses need not be good."""


class Stages:
    """Ligands of a library in a pocket, docked: what the kernels behind docking work on."""

    def __init__(
        self, device: Device, typed: Mapping[str, Typed], field: GeometricField, count: int
    ) -> None:
        """`typed` by function, Vina's among them; `count` ligands, which repeat."""
        every: Ligands = typed["vina"].ligands
        some = np.linspace(0, len(every.entry) - 1, min(len(every.entry), MOST_LIGANDS)).astype(int)
        rows = rows_below(every, "ligand", np.resize(some, count))
        self.device, self.count, self.field = device, count, field
        self.typed = {
            name: Typed(subset(seen.ligands, rows), seen.receptor) for name, seen in typed.items()
        }
        self.ligands: Ligands = self.typed["vina"].ligands
        docker = Docker(device, Plan.of(field, DOCKED))
        self.poses = docker.dock(self.ligands, np.arange(count))

    def trial(self, name: str, runs: int) -> StageTrial:
        """Of filter, refine or a scoring function; `runs` timed runs a setting."""
        if name == "filter":
            return StageTrial(self.device, "batched/filter.cl", self._filter, self.count, runs)
        if name == "refine":
            return StageTrial(self.device, BY_SUB_GROUPS, self._refining(), self.count, runs)
        work = self._scoring(name)
        return StageTrial(self.device, f"batched/{name}.cl", work, self.count, runs)

    def _filter(self) -> Sequence[np.ndarray]:
        kept, words = filter_poses(self.device, self.ligands, self.poses, CLUSTERED)
        return kept.number, words.verdict, words.cluster

    def _refining(self) -> Work:
        """In Vina's field; its maps are made before."""
        settings, seen = RefineSettings(), self.typed["vina"]
        grid = Grid.over(self.field, settings.spacing)
        field = field_over("vina", self.device, seen.receptor, grid, seen.ligands)
        refiner = Refiner(self.device, field)

        def work() -> Sequence[np.ndarray]:
            found = refiner.refine(seen.ligands, self.poses, settings, seen.ligands.type)
            poses = found.poses
            return found.after, poses.translation, poses.quaternion, poses.torsion

        return work

    def _scoring(self, function: str) -> Work:
        seen = {function: self.typed[function]}
        return lambda: tuple(score(self.device, seen, self.poses)[function].values())
