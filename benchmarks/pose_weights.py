"""Which weight of gnina's networks chooses the best poses, from the file of a redocking.

    python benchmarks/redock.py FOLDER --set 'score.functions=["vina","ad4","gnina"]' --json FILE
    python benchmarks/pose_weights.py FILE [--near 2]

For each weight w it counts complexes whose pose of lowest E - w logit is within reach of the
crystal's. E is the energy without networks. The last line is a cross-validation: in each of ten
parts the weight is the one that is best in the other nine. Its mean over many divisions is what to
expect of a weight that is chosen so.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.figures import lines
from benchmarks.leaving import in_words
from ligen_py.errors import InputError

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0)
FOLDS, DIVISIONS = 10, 200


def complexes(path: Path) -> list[dict[str, np.ndarray]]:
    """RMSD, energy without networks and logit of every pose of each complex.

    One that failed counts as a miss, as redock.py counts it: its pose is infinitely far.
    """
    rows = lines(path)
    try:
        weights = rows[0]["settings"]["score"]["pose_weights"]
    except (LookupError, TypeError):
        raise InputError(f"{path}: is no file that redock.py --json wrote") from None
    found = {}
    for row in rows:
        if "ours" not in row:
            continue
        if row["ours"]["status"] != "ok":
            none = np.zeros(1)
            found[row["id"]] = {"rmsd": none + np.inf, "energy": none, "logit": none}
            continue
        poses = {k: np.array(v, np.float64) for k, v in row["ours"]["poses"].items()}
        if "gnina.logit" not in poses:
            raise InputError(f"{path}: was made without networks; redock as --help shows")
        logit = poses["gnina.logit"]
        energy = poses["choice"] + weights["gnina"] * logit
        found[row["id"]] = {"rmsd": poses["rmsd"], "energy": energy, "logit": logit}
    return list(found.values())


def successes(found: list[dict[str, np.ndarray]], near: float) -> np.ndarray:
    """Whether each weight chooses a near pose: bool (weights, complexes)."""
    chosen = [
        [one["rmsd"][np.nanargmin(one["energy"] - weight * one["logit"])] for one in found]
        for weight in WEIGHTS
    ]
    return np.array(chosen) <= near


def cross_validated(hit: np.ndarray) -> np.ndarray:
    """Successes (divisions,) with the weight that is best in the other parts."""
    rng = np.random.default_rng(1)
    counts = []
    for _ in range(DIVISIONS):
        part = rng.permutation(hit.shape[1]) % FOLDS
        best = [hit[:, part != fold].sum(axis=1).argmax() for fold in range(FOLDS)]
        counts.append(sum(hit[best[fold], part == fold].sum() for fold in range(FOLDS)))
    return np.array(counts)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path, help="what redock.py --json wrote")
    parser.add_argument("--near", type=float, default=2.0, help="Angstrom (default: 2)")
    options = parser.parse_args()
    found = complexes(options.file)
    hit = successes(found, options.near)
    kept = sum(float(np.nanmin(one["rmsd"])) <= options.near for one in found)
    print(f"{len(found)} complexes, {kept} with a kept pose within {options.near:g} A")
    for weight, row in zip(WEIGHTS, hit, strict=True):
        print(f"w = {weight:<6g} {row.sum():4d}")
    counts = cross_validated(hit)
    print(f"cross-validated {counts.mean():.1f}, standard deviation {counts.std():.1f}")
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
