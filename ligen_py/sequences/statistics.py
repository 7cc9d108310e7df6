"""Bit scores and E-values of gapped local alignments: Karlin-Altschul statistics.

The parameters are known for some matrices and gap costs only, those that NCBI's BLAST has; no
others are made up. A search space is corrected for its edges as BLAST does it: an alignment of
the expected length cannot begin in the last residues of a sequence (Altschul et al., Nucleic
Acids Res. 2001, 29, 351).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ligen_py.sequences.substitution import FOLDER


@dataclass(frozen=True)
class Statistics:
    """Parameters of one matrix with one pair of gap costs."""

    lambda_: float
    """Scale of the scores (nats a score unit)."""
    k: float
    h: float
    """Relative entropy of aligned residues (nats a residue)."""
    alpha: float
    beta: float
    """Expected length of an alignment: alpha / lambda * ln(K m n) + beta residues."""

    def bits(self, score: np.ndarray) -> np.ndarray:
        """Bit scores, f8."""
        return (self.lambda_ * np.asarray(score, "f8") - math.log(self.k)) / math.log(2)

    def space(self, query: int, residues: int, sequences: int) -> float:
        """Pairs of residues where an alignment may begin: query times database, less the edges.

        The length l that is taken off each sequence is the largest whole number with
        l <= alpha / lambda * ln(K (query - l) (residues - sequences * l)) + beta
        that leaves K (query - l) (residues - sequences * l) > max(query, residues).
        """
        # The expected length falls as l rises, so the largest l is found by halving.
        least, most = 0, min(query, residues // max(sequences, 1)) + 1
        while most - least > 1:
            middle = (least + most) // 2
            pairs = (query - middle) * (residues - sequences * middle)
            enough = self.k * pairs > max(query, residues)
            if (
                enough
                and self.alpha / self.lambda_ * math.log(self.k * pairs) + self.beta >= middle
            ):
                least = middle
            else:
                most = middle
        return float((query - least) * (residues - sequences * least))

    def e_values(self, score: np.ndarray, space: float) -> np.ndarray:
        """Alignments of at least a score that chance alone would give in a search space, f8."""
        return self.k * space * np.exp(-self.lambda_ * np.asarray(score, "f8"))


def statistics_of(matrix: str, gap_first: int, gap_next: int) -> Statistics | None:
    """The parameters of a matrix by name, with the cost of a gap's first and of a further residue.

    None where they are not known.
    """
    return _table().get((matrix.upper(), gap_first - gap_next, gap_next))


@cache
def _table() -> dict[tuple[str, int, int], Statistics]:
    found = {}
    for line in (FOLDER / "matrices/statistics.tsv").read_text("utf-8").splitlines():
        words = line.split("\t")
        if not line.startswith("#") and words[0] != "matrix":
            values = [float(word) for word in words[3:]]
            found[words[0], int(words[1]), int(words[2])] = Statistics(*values)
    return found
