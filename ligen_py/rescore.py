"""What gnina's networks say of poses: a score, the probability of a good pose, and an affinity.

Poses are an SDF file with coordinates in the receptor, of any program. Prints a line for each: the
pose score (the probability that it is within 2 Angstrom of the crystal's), the predicted affinity
(pK), and their product, by which gnina ranks molecules. All that the receptor's file contains
counts, as in gnina: waters and additives, too. The networks' weights are those of the package
gninatorch, of the folder in LIGEN_NETWORKS, or of --weights.

  ligen rescore poses.sdf --receptor protein.pdb
  ligen rescore poses.sdf --receptor protein.pdb --weights dense.pt --output scores.csv
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.constants import NETWORKS, radii
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.functions.gnina.weights import read as read_network
from ligen_py.errors import InputError
from ligen_py.molecules.posed_input import PosedMolecule, read_poses
from ligen_py.molecules.receptor.choice import MEMBRANE, NEARER_THAN_A_BOND
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import prepare
from ligen_py.molecules.receptor.selection import Selection
from ligen_py.molecules.receptor.site import nearest, site_at
from ligen_py.opencl.device import select
from ligen_py.records.functions.gnina import GninaReceptor
from ligen_py.settings.pocket import PocketSettings, Structure
from ligen_py.store.files.text import csv_line, harmless, write_texts

COLUMNS = ("pose", "affinity", "total", "logit")

REACH = 14.75
"""Angstrom along each axis from the centre of a pose to where an atom may still count."""

NEIGHBOURS = 4.0
"""Angstrom beyond; atoms there say which hydrogens an atom within reach has."""


def main(argv: Sequence[str] | None = None) -> int:
    """Score poses from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.rescore", __doc__)
    parser.add_argument(
        "poses", metavar="POSES", type=cli.input_file, help="poses: an SDF file, plain or .gz"
    )
    parser.add_argument(
        "--receptor", metavar="PROTEIN", type=cli.input_file, required=True,
        help="protein: PDB, mmCIF or PDBQT file, plain or .gz, without the ligand in the poses' "
        "place; hydrogens are added",
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
    poses, left_out = read_poses(options.poses)
    placed = {pose.record: Atoms.of(pose.xyz, pose.channel, radii(pose.element)) for pose in poses}
    around = _receptor(options.receptor, options.poses, placed)
    found = terms(Ensemble(select(options.device), networks).outputs(around, [*placed.values()]))
    _write(options.output, poses, [found[column] for column in COLUMNS])
    if left_out:
        raise InputError(
            f"{left_out} of {len(poses) + left_out} records were left out, for the reasons above"
        )


def _receptor(path: Path, source: Path, poses: Mapping[int, Atoms]) -> Atoms:
    """All of the receptor's atoms that count for any of the poses, by record of the file `source`.

    What networks say of one pose depends on no other pose.
    """
    selection = open_structure(path, Structure())
    _check_places(selection, source, poses)
    centers = np.array([pose.center() for pose in poses.values()])
    middle, sides = (centers.min(axis=0) + centers.max(axis=0)) / 2, np.ptp(centers, axis=0)
    x, y, z = middle.tolist()
    site = site_at((x, y, z), float(sides.max()) / 2 + REACH)
    groups = ~(selection.polymer | selection.water)[selection.residue]
    near = selection.open & groups & (site.distance(selection.xyz) <= NEIGHBOURS)
    places = [selection.places[number] for number, _ in selection.residues(near)]
    # Named, additives stay as well. Names of the file itself may be such as no user gives.
    keep = tuple(str(place) for place in places if place.residue.upper() != MEMBRANE)
    structure = Structure.model_construct(keep=keep)
    settings = PocketSettings(waters="all", margin=NEIGHBOURS, cofactor_distance=NEIGHBOURS)
    found = prepare(selection, site, structure, settings).typed["gnina"]
    assert isinstance(found, GninaReceptor)
    return Atoms.of(found.xyz, found.channel, radii(found.element))


def _check_places(selection: Selection, source: Path, poses: Mapping[int, Atoms]) -> None:
    """InputError where poses are not in the receptor's place, or in that of a part of it."""
    heavy = selection.open & selection.heavy
    xyz = selection.xyz[heavy]
    placed = np.concatenate([pose.xyz for pose in poses.values()])
    low, high = placed.min(axis=0) - NEARER_THAN_A_BOND, placed.max(axis=0) + NEARER_THAN_A_BOND
    among = ((selection.xyz > low) & (selection.xyz < high)).all(axis=1)
    outside = np.flatnonzero(heavy & among & ~selection.polymer[selection.residue])
    over = np.zeros(len(outside), bool)
    records = []
    for number, pose in poses.items():
        if not (np.abs(xyz - pose.center()) <= REACH).all(axis=1).any():
            apart = nearest(pose.xyz, xyz).min(initial=np.inf)
            raise InputError(
                f"{source}: record {number} lies {apart:.0f} A from {selection.source}; give poses "
                "in this receptor's coordinates"
            )
        close = nearest(selection.xyz[outside], pose.xyz) < NEARER_THAN_A_BOND
        over |= close
        records += [number] * bool(close.any())
    if records:
        names = [str(selection.places[n]) for n in np.unique(selection.residue[outside[over]])]
        raise InputError(
            f"{selection.source}: poses of {source}, the first of them record {records[0]}, lie on "
            f"{', '.join(names)}; take that out of the receptor's file, or the poses out of theirs"
        )


def _write(path: Path | None, poses: Sequence[PosedMolecule], values: Sequence[np.ndarray]) -> None:
    rows = [
        [str(pose.record), harmless(pose.name), *(f"{value:.4f}" for value in row)]
        for pose, row in zip(poses, np.stack(values, axis=1), strict=True)
    ]
    head = ["number", "name", *COLUMNS]
    if path is not None:
        text = "".join(csv_line(row) for row in [head, *rows])
        write_texts(path.absolute().parent, {path.name: text})
        return
    print(" ".join([f"{head[0]:>6}", *(f"{word:>9}" for word in COLUMNS), head[1]]))
    for number, name, *numbers in rows:
        print(" ".join([f"{number:>6}", *(f"{word:>9}" for word in numbers), name]))


if __name__ == "__main__":
    sys.exit(main())
