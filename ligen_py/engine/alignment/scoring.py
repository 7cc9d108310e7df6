"""What an alignment scores: pairs of amino acids and gaps."""

from dataclasses import dataclass

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.substitution import LARGEST


@dataclass(frozen=True)
class Scoring:
    """Scores of pairs and costs of gaps: the first residue of a gap, and each further one."""

    matrix: np.ndarray
    """i1 (24, 24), letter of the query and of the database in the order of `AMINO_ACIDS`."""
    gap_first: int = 10
    gap_next: int = 2

    def __post_init__(self) -> None:
        """InputError where the recurrence would not find the best alignment."""
        if not 1 <= self.gap_first <= LARGEST or not 0 <= self.gap_next <= self.gap_first:
            raise InputError(
                f"gap costs {self.gap_first} and {self.gap_next}: the first residue must cost from "
                f"1 to {LARGEST}, a further one no more than the first"
            )

    @property
    def bias(self) -> int:
        """What makes every pair's score positive; at least 1."""
        return max(1, -int(self.matrix.min()))
