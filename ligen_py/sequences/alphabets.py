"""Letters of proteins as small numbers, in the order of NCBI's matrices."""

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.fasta import FastaRecord

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVBZX*"
"""The 20 amino acids, B (D or N), Z (E or Q), X (any) and ``*`` (a stop)."""

UNKNOWN = AMINO_ACIDS.index("X")

AS_UNKNOWN = "UOJ"
"""Selenocysteine, pyrrolysine, and I or L: letters without scores, read as X."""

PAD = len(AMINO_ACIDS)
"""Stands beside the end of a sequence, where a device reads on."""

_NO_LETTER = 255
_CODE_OF = np.full(256, _NO_LETTER, "u1")
for _code, _letter in [
    *enumerate(AMINO_ACIDS),
    *((UNKNOWN, letter) for letter in AS_UNKNOWN),
]:
    _CODE_OF[[ord(_letter), ord(_letter.lower())]] = _code
_LETTER_OF = np.frombuffer(AMINO_ACIDS.encode(), "u1")
_READ_AS_X = [letter.encode() for letter in AS_UNKNOWN + AS_UNKNOWN.lower()]


def encode(record: FastaRecord, source: str) -> np.ndarray:
    """The letters of a protein as numbers, u1; upper and lower case are the same.

    Raises InputError, which names `source`, record, letter and place, where one is no amino acid.
    """
    letters = np.frombuffer(record.sequence, "u1")
    codes = _CODE_OF[letters]
    wrong = np.flatnonzero(codes == _NO_LETTER)
    if len(wrong):
        letter = chr(letters[wrong[0]])
        cure = "remove the gaps" if letter in "-." else "correct the sequence"
        raise InputError(
            f"{source}: {record.name}: {letter!r} at residue {wrong[0] + 1} is no amino acid "
            f"(letters: {AMINO_ACIDS}{AS_UNKNOWN}); {cure}"
        )
    return codes


def decode(codes: np.ndarray) -> str:
    """The letters of a protein, in upper case."""
    return _LETTER_OF[codes].tobytes().decode()


def read_as_unknown(sequence: bytes) -> int:
    """How many letters of a sequence are read as X because they have no scores (U, O and J)."""
    return sum(map(sequence.count, _READ_AS_X))
