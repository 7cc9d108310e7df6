"""Try a setting of a docking kernel: is it right, and how fast is it?"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.search import Found, Plan, pack
from ligen_py.engine.geometry import from_float4
from ligen_py.engine.random_input import make_field, make_ligands
from ligen_py.opencl.device import Device
from ligen_py.opencl.residency import Usage, usage
from ligen_py.opencl.tuning import Tuning
from ligen_py.records.ligands import Ligands
from ligen_py.settings.dock import DockSettings

Form = Literal["batched", "latency"]

CHECKED, CHECKED_RESTARTS = 2, 4
"""Ligands and restarts of each that are held against the NumPy twin."""

TORSIONS = (2, 4, 8, 10)
"""Rotatable bonds of the random ligands, in turn."""

DOMINANT = {"batched": "dock", "latency": "optimize"}
"""The kernel that takes nearly all of the time."""


@dataclass(frozen=True)
class Outcome:
    """What trying a setting gave: why it was refused, or ligands/s (of each run) and usage."""

    refused: str = ""
    rates: tuple[float, ...] = ()
    usage: Usage | None = None

    @property
    def rate(self) -> float:
        """Median ligands/s."""
        return float(np.median(self.rates))


def random_input(atom_class: int, restarts: int) -> tuple[Ligands, Plan]:
    """Random ligands of nearly the most heavy atoms of a class, and a search in a random field."""
    plan = Plan.of(
        make_field(shape=(41, 41, 41)),
        DockSettings(num_restart=restarts, max_num_poses=0),
    )
    return make_ligands([(atom_class - 1, number) for number in TORSIONS], hydrogens=0), plan


class Trial:
    """Ligands of one atom class, docked over and over in one form."""

    def __init__(
        self, device: Device, form: Form, ligands: Ligands, plan: Plan, count: int, runs: int
    ) -> None:
        """`count` ligands a run (they repeat), `runs` timed runs a setting."""
        # Every pose is kept, so that those of the first restarts are there to compare.
        plan = replace(plan, num_poses=plan.num_restart)
        self.device, self.form, self.ligands, self.plan = device, form, ligands, plan
        self.of = {"restarts": plan.num_restart}
        self.count, self.runs = count, runs
        most = int(ligands.heavy.max())
        self.atom_class = min(size for size in ATOM_CLASSES if size >= most)
        self.sample = np.arange(len(ligands.entry))[-CHECKED:]
        batch = pack(ligands, self.sample, plan)
        some = slice(min(CHECKED_RESTARTS, plan.num_restart))
        self._expected = [
            docking_reference.dock(plan, batch, number, some) for number in range(len(batch))
        ]

    def docker(self, tuning: Tuning | None) -> Docker | LatencyDocker:
        """What docks in this form; without a setting, with the device's own."""
        if self.form == "batched":
            return Docker(self.device, self.plan, tuning)
        return LatencyDocker(self.device, self.plan, tuning=tuning)

    def attempt(self, tuning: Tuning | None = None) -> Outcome:
        """Build, compare with the twin, then time; DeviceError where it cannot be built."""
        fault = tuning and tuning.fault_on(
            self.device.back_end, self.device.sub_group_size, f"{self.form}/dock.cl"
        )
        if fault:
            return Outcome(fault)
        form = self.docker(tuning)
        found = usage(form.program(self.atom_class).log).get(DOMINANT[self.form])
        if not self.equals_twin(form.search(self.ligands, self.sample)):
            return Outcome("differs from the NumPy twin", usage=found)
        rows = np.arange(self.count) % len(self.ligands.entry)
        clock = kernel_clock(form) if isinstance(form, Docker) else time.perf_counter
        rates = []
        for _ in range(self.runs + 1):
            started = clock()
            form.time(self.ligands, rows)
            rates.append(self.count / (clock() - started))
        return Outcome(rates=tuple(rates[1:]), usage=found)

    def equals_twin(self, found: Found) -> bool:
        """Whether a search of the last ligands has what the twin found for its restarts."""
        first = 0
        for number, expected in enumerate(self._expected):
            some, torsions = expected[3].shape
            turns = found.turns[first : first + some * torsions].reshape(some, torsions)
            poses = (found.results, from_float4(found.quaternions), found.shifts)
            columns = (*(column[number][:some] for column in poses), turns)
            if not all(map(np.array_equal, columns, expected)):
                return False
            first += self.plan.num_restart * torsions
        return True


def kernel_clock(docker: Docker) -> Callable[[], float]:
    """A clock that runs while the dock kernel does."""
    return lambda: docker.kernel_seconds
