"""Poses a second through gnina's networks, step by step, beside the multiplications that they take.

    python benchmarks/networks.py [--networks plain plain plain] [--poses N] [--device SELECTOR]

Networks have random weights: their shape alone makes their time. `plain` is the architecture of
gnina's default2018, `dense` the other one; three times `plain` is what `score.functions: [gnina]`
runs. The receptor is made, with as many atoms in a volume as a protein has and in the usual
channels, so that the first convolution finds as many of them empty as in a protein. Prints the best
of several runs, and for each kernel its time on the device. A multiplication with its addition
counts as two operations; those with zero, which are left out, count as well.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import device_for, launched
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.constants import radii
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.networks import multiplications, network
from ligen_py.opencl import buffers
from tests.gnina import random_tensors

ATOMS_PER_VOLUME = 0.048
"""Heavy atoms of a protein in a cubic Angstrom, waters left out."""

HALF_SIDE = 20.0
CARBON, NITROGEN, OXYGEN, SULFUR = 6, 7, 8, 16
CHANNELS = {0: (CARBON, 0.34), 1: (CARBON, 0.2), 2: (CARBON, 0.07), 3: (CARBON, 0.02),
            5: (NITROGEN, 0.02), 6: (NITROGEN, 0.15), 7: (OXYGEN, 0.16), 8: (OXYGEN, 0.03),
            9: (SULFUR, 0.01)}  # fmt: skip
"""Channel of a receptor -> element, and its part of the atoms."""

LIGAND_ATOMS = 28
LIGAND = {14: CARBON, 15: CARBON, 16: CARBON, 17: CARBON, 21: NITROGEN, 22: NITROGEN, 23: OXYGEN}


def made(poses: int) -> tuple[Atoms, list[Atoms]]:
    """A receptor, and poses of a ligand in it."""
    rng = np.random.default_rng(1)
    count = int(ATOMS_PER_VOLUME * (2 * HALF_SIDE) ** 3)
    parts = np.array([part for _, part in CHANNELS.values()])
    channel = rng.choice(list(CHANNELS), count, p=parts / parts.sum())
    element = np.array([CHANNELS[kind][0] for kind in channel])
    xyz = rng.uniform(-HALF_SIDE, HALF_SIDE, (count, 3))
    around = Atoms.of(xyz, channel, radii(element))
    kinds = rng.choice(list(LIGAND), LIGAND_ATOMS)
    radius = radii(np.array([LIGAND[kind] for kind in kinds]))
    places = rng.uniform(-4, 4, (poses, LIGAND_ATOMS, 3)) + rng.normal(0, 1, (poses, 1, 3))
    return around, [Atoms.of(place, kinds, radius) for place in places]


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--networks", nargs="+", choices=("plain", "dense"), default=["plain"] * 3, metavar="NAME"
    )
    parser.add_argument(
        "--poses", type=at_least(1), default=0, help="default: 4 batches of the device"
    )
    parser.add_argument("--runs", type=at_least(1), default=5)
    parser.add_argument("--device")
    parser.add_argument("--json", type=writable, help="also write all figures here")
    options = parser.parse_args()
    networks = [network(random_tensors(name)) for name in options.networks]
    device = device_for(options.device)
    ensemble = Ensemble(device, networks)
    poses = options.poses or 4 * ensemble.batch
    around, ligands = made(poses)
    with launched() as steps:
        ensemble.outputs(around, ligands[: ensemble.batch])  # the device allocates memory
    best, fastest = np.inf, np.full(len(steps), np.inf)
    for _ in range(options.runs):
        with launched() as kernels:
            started = time.perf_counter()
            ensemble.outputs(around, ligands)
            best = min(best, time.perf_counter() - started)
        times = np.array([buffers.seconds(event) for _, event in kernels])
        fastest = np.minimum(fastest, times.reshape(-1, len(steps)).sum(axis=0))
    count = sum(map(multiplications, networks))
    rate = poses / best
    print(f"{device.label}; {poses} poses, {ensemble.batch} a launch")
    print(f"{' '.join(options.networks)}: {count / 1e6:,.0f} million multiplications a pose")
    for (name, _), seconds in zip(steps, fastest, strict=True):
        print(f"  {name:12} {1e3 * seconds / poses:9.4f} ms a pose")
    print(f"  {'all kernels':12} {1e3 * fastest.sum() / poses:9.4f} ms a pose")
    print(f"{rate:,.1f} poses a second, {2e-9 * count * rate:,.1f} billion operations a second")
    save(options.json, {
        "device": device.label, "networks": options.networks, "poses": poses,
        "poses_a_second": rate, "multiplications_a_pose": count,
        "kernel_ms_a_pose": (1e3 * fastest / poses).tolist(),
    })  # fmt: skip
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
