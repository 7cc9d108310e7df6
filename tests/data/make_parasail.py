"""Smith-Waterman scores by parasail: random pairs, long proteins, a bacterium's proteins.

    pip install parasail
    PYTHONPATH=. python tests/data/make_parasail.py [proteins_2100_HG003687.faa]

Writes parasail.json: SHA-256 of the scores (little-endian i4, in order), and some of them, with the
first residue of a gap at 10 and each further one at 2.
"""

import json
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import parasail

from ligen_py.sequences.alphabets import decode
from ligen_py.sequences.proteins import read_proteins
from ligen_py.sequences.substitution import MATRICES
from tests.alignment_input import FAMILIES, families, long_proteins, summed

OUTPUT = "parasail.json"
PROTEINS = (0, 300, 700, 1100, 1500, 1900)
"""Queries: numbers of the bacterium's proteins."""


def scores(query: np.ndarray, targets: list[np.ndarray], name: str) -> np.ndarray:
    """Scores (i4) of a query with each target; 0 where one is empty."""
    matrix, text = getattr(parasail, name.lower()), decode(query)
    return np.array([
        parasail.sw_striped_32(text, decode(target), 10, 2, matrix).score if len(target) else 0
        for target in targets
    ], "i4")  # fmt: skip


def main() -> None:
    """Write the file."""
    pairs = {}
    for place, name in enumerate(MATRICES):
        mine = [families(number) for number in range(place, FAMILIES, len(MATRICES))]
        pairs[name] = summed(np.concatenate([scores(*family, name) for family in mine]))
    about = [
        f"computed by parasail {metadata.version('parasail')}",
        "made by: python tests/data/make_parasail.py",
    ]
    query, targets = long_proteins()
    values = {
        "about": about,
        "pairs": pairs,
        "long": scores(query, targets, "BLOSUM62").tolist(),
    }
    if len(sys.argv) > 1:
        proteins = read_proteins(Path(sys.argv[1]))
        values["bacterium"] = {
            str(number): summed(scores(proteins.letters[number], proteins.letters, "BLOSUM62"))
            for number in PROTEINS
        }
    (Path(__file__).parent / OUTPUT).write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()
