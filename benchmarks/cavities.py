"""How often the cavity search finds where a crystal ligand is, in folders of complexes.

    python benchmarks/cavities.py FOLDER

Each folder contains protein.pdb or protein.pdb.gz and ligand.sdf; cofactors in the protein's file
belong to the receptor. Prints the fraction of complexes whose ligand is found by one of the first
cavities: its centre within 5 Angstrom of the cavity's, or one of its atoms within 4, with 95 %
Wilson intervals. Nothing is timed.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.intervals import wilson
from benchmarks.leaving import in_words
from benchmarks.redock import PROTEIN, find
from ligen_py.engine.pocket.cavity import find_cavities
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.site import cavities, read_heavy_atoms
from ligen_py.settings.pocket import Structure


def distances(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Of each cavity: to the ligand's centre, and to its nearest atom (cavities,), Angstrom."""
    protein = find(folder, *PROTEIN)
    selection = open_structure(protein, Structure())
    others = [str(place) for place, chain in zip(selection.places, selection.polymer, strict=True)
              if not chain]  # fmt: skip
    found = cavities(selection, others, None, find_cavities)
    ligand = read_heavy_atoms(folder / "ligand.sdf")
    centers = np.array([cavity.center for cavity in found]).reshape(-1, 3)
    to_atoms = np.linalg.norm(centers[:, None] - ligand, axis=2).min(axis=1, initial=np.inf)
    return np.linalg.norm(centers - ligand.mean(axis=0), axis=1), to_atoms


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of folders, one a complex")
    given = parser.parse_args().folder
    folders = [path for path in sorted(given.iterdir()) if path.is_dir()]
    if not folders:
        parser.error(f"{given} contains no folders of complexes")
    found = [distances(folder) for folder in folders]
    for which, reach, name in ((0, 5.0, "centre within 5 A"), (1, 4.0, "an atom within 4 A")):
        for first in (1, 3):
            hits = sum(bool((each[which][:first] <= reach).any()) for each in found)
            low, high = wilson(hits, len(found))
            print(
                f"{name}, first {first}: {hits} of {len(found)}, {hits / len(found):.0%} "
                f"({low:.0%} to {high:.0%})"
            )


if __name__ == "__main__":
    with in_words():
        main()
