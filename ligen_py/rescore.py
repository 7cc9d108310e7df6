"""What gnina's networks say of poses: a score, the probability of a good pose, and an affinity.

Poses are an SDF file with coordinates in the receptor, of any program. Prints a line for each: the
pose score (the probability that it is within 2 Angstrom of the crystal's), the predicted affinity
(pK), and their product, by which gnina ranks molecules. The networks' weights are those of the
package gninatorch, of the folder in LIGEN_NETWORKS, or of --weights.

  ligen rescore poses.sdf --receptor protein.pdb
  ligen rescore poses.sdf --receptor protein.pdb --weights dense.pt --output scores.csv
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.api import Pocket
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.constants import NETWORKS, radii
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.functions.gnina.weights import read as read_network
from ligen_py.errors import InputError
from ligen_py.molecules.posed_input import read_poses
from ligen_py.opencl.device import select
from ligen_py.records.functions.gnina import GninaReceptor
from ligen_py.records.pocket import POCKET
from ligen_py.store.files.read import read
from ligen_py.store.files.text import csv_line, harmless, write_texts

COLUMNS = ("pose", "affinity", "total", "logit")

REACH = 14.75
"""Angstrom along each axis from the centre of a pose to where an atom may still count."""

MARGIN = 8.0
"""Angstrom around the box that `Pocket` keeps."""

BESIDE = 4.6
"""Angstrom along each axis around the box: what `MARGIN` reaches in a corner."""

MOST_APART = 39.6
"""Angstrom along an axis between the centres of two poses, in the largest box of `Pocket`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Score poses from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.rescore", __doc__)
    parser.add_argument(
        "poses", metavar="POSES", type=cli.input_file, help="poses: an SDF file, plain or .gz"
    )
    parser.add_argument(
        "--receptor", metavar="PROTEIN", type=cli.input_file, required=True,
        help="protein: PDB, mmCIF or PDBQT file, plain or .gz; hydrogens and charges are added",
    )  # fmt: skip
    parser.add_argument(
        "--weights", metavar="FILE", type=cli.input_file, nargs="+",
        help="files of gnina's networks of the kinds default2018 and dense, .pt; the mean of "
        "several is taken (default: three of gnina 1.0's default ensemble, where they are "
        "installed)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="CSV", help="file to write instead of the table"
    )
    cli.add_device(parser)
    return cli.run(parser, argv, _rescore)


def _rescore(options: argparse.Namespace) -> None:
    given = options.weights
    networks = [read_network(path) for path in given] if given else load(NETWORKS)
    poses = read_poses(options.poses)
    placed = [Atoms.of(pose.xyz, pose.channel, radii(pose.element)) for pose in poses]
    empty = next((number for number, atoms in enumerate(placed, 1) if not len(atoms.xyz)), None)
    if empty is not None:
        raise InputError(f"{options.poses}: record {empty} has no heavy atoms; take it out")
    centers = np.array([atoms.center() for atoms in placed])
    apart = float(np.ptp(centers, axis=0).max())
    if apart > MOST_APART:
        raise InputError(
            f"{options.poses}: its poses lie up to {apart:.0f} A apart, and one box contains "
            f"{MOST_APART:.0f} A; give the poses of each site in a file of their own"
        )
    around = _receptor(options.receptor, centers)
    found = terms(Ensemble(select(options.device), networks).outputs(around, placed))
    names = [pose.name for pose in poses]
    _write(options.output, names, [found[column] for column in COLUMNS])


def _receptor(path: Path, centers: np.ndarray) -> "Atoms":
    """The receptor's atoms around the centres of all poses (poses, 3).

    All that count for any of the poses: what networks say of one depends on no other pose.
    """
    middle = (centers.min(axis=0) + centers.max(axis=0)) / 2
    half = float((centers.max(axis=0) - middle).max()) + REACH - BESIDE
    pocket = Pocket.from_pdb(
        path,
        center=middle.tolist(),
        radius=round(half + 0.05, 1),
        cofactor_distance=MARGIN,
    )
    receptor: GninaReceptor = read(pocket.file, POCKET, GninaReceptor)
    return Atoms.of(receptor.xyz, receptor.channel, radii(receptor.element))


def _write(path: Path | None, names: Sequence[str], values: Sequence[np.ndarray]) -> None:
    rows = [
        [str(number), harmless(name), *(f"{value:.4f}" for value in row)]
        for number, (name, row) in enumerate(zip(names, np.stack(values, axis=1), strict=True), 1)
    ]
    head = ["number", "name", *COLUMNS]
    if path is not None:
        text = "".join(csv_line(row) for row in [head, *rows])
        write_texts(path.absolute().parent, {path.name: [text]})
        return
    print(" ".join([f"{head[0]:>6}", *(f"{word:>9}" for word in COLUMNS), head[1]]))
    for number, name, *numbers in rows:
        print(" ".join([f"{number:>6}", *(f"{word:>9}" for word in numbers), name]))


if __name__ == "__main__":
    sys.exit(main())
