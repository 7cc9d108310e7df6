"""Substitution matrices: the score of each pair of amino acids."""

from functools import cache
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.alphabets import AMINO_ACIDS

FOLDER = Path(__file__).parent

FILES = {
    "BLOSUM45": "matrices/BLOSUM45.txt",
    "BLOSUM50": "matrices/BLOSUM50.txt",
    "BLOSUM62": "matrices/BLOSUM62.txt",
    "BLOSUM80": "matrices/BLOSUM80.txt",
    "BLOSUM90": "matrices/BLOSUM90.txt",
    "PAM30": "matrices/PAM30.txt",
    "PAM70": "matrices/PAM70.txt",
    "PAM250": "matrices/PAM250.txt",
}
"""Files of the matrices in `FOLDER`, each named whole: so provenance finds them."""

MATRICES = tuple(FILES)
"""Matrices that are known by name."""

LARGEST = 100
"""Largest score of a pair, and largest cost of one, that kernels can add (signed bytes)."""


def read_matrix(name: str) -> np.ndarray:
    """The scores (24, 24) i1 of a matrix of `MATRICES`, or of a file in NCBI's format.

    A row is a letter of the query, a column one of the database, both in the order of
    `AMINO_ACIDS`. A file must have the 20 amino acids. A pair with B, Z, X or ``*`` that it leaves
    out scores as its lowest pair; other letters are passed over.

    Raises InputError, which names the file and its line.
    """
    known = name.upper()
    if known in MATRICES:
        return _read(FOLDER / FILES[known])
    path = Path(name)
    if not path.is_file():
        raise InputError(
            f"matrix {name}: is none of {', '.join(MATRICES)}, and no such file is there"
        )
    return _read(path)


def known_as(scores: np.ndarray) -> str:
    """The name among `MATRICES` of some scores, in the form of `read_matrix`; empty where none."""
    same = (name for name in MATRICES if np.array_equal(read_matrix(name), scores))
    return next(same, "")


@cache
def _read(path: Path) -> np.ndarray:
    columns: list[str] = []
    rows: dict[str, list[int]] = {}
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        words = line.split("#")[0].split()
        where = f"{path}: line {number}"
        if not words:
            continue
        if not columns:
            if any(len(word) != 1 for word in words) or len(set(words)) != len(words):
                raise InputError(f"{where}: the letters of the columns were expected")
            columns = [word.upper() for word in words]
            continue
        letter, scores = words[0].upper(), words[1:]
        if len(letter) != 1 or letter in rows or len(scores) != len(columns):
            raise InputError(f"{where}: a letter and {len(columns)} scores were expected")
        try:
            rows[letter] = [int(score) for score in scores]
        except ValueError:
            raise InputError(f"{where}: scores must be whole numbers") from None
        if max(map(abs, rows[letter])) > LARGEST:
            raise InputError(f"{where}: scores must lie between -{LARGEST} and {LARGEST}")
    missing = [letter for letter in AMINO_ACIDS[:20] if letter not in rows or letter not in columns]
    if missing:
        raise InputError(f"{path}: no scores for {', '.join(missing)}; give a whole matrix")
    lowest = min(map(min, rows.values()))
    matrix = np.full((len(AMINO_ACIDS), len(AMINO_ACIDS)), lowest, "i1")
    for query, letter in enumerate(AMINO_ACIDS):
        for subject, other in enumerate(AMINO_ACIDS):
            if letter in rows and other in columns:
                matrix[query, subject] = rows[letter][columns.index(other)]
    if matrix.max() <= 0:
        raise InputError(f"{path}: no pair has a score above 0, so nothing can be aligned")
    matrix.setflags(write=False)
    return matrix
