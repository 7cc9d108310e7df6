"""Letters of DNA: the four bases, and IUPAC's letters for sets of them.

Bases have the codes that the bit planes of a genome use: A 0, C 1, T 2, G 3. The second bit is the
plane `high`, the first one `low`; the complement turns the high bit over.
"""

import numpy as np

from ligen_py.records.limits import DNA

BASES = "ACTG"
"""In the order of their codes."""

SETS: np.ndarray = np.zeros(256, np.uint8)
"""Letter (either case) -> set of bases, bit `code` for each; 0 for what is no letter of DNA."""
for _letter, _bases in DNA.items():
    _value = sum(1 << BASES.index(base) for base in _bases)
    SETS[ord(_letter)] = SETS[ord(_letter.lower())] = _value

_LETTERS = "".join(DNA) + "".join(DNA).lower()

ANY = 15
"""The set of all bases: N."""

COMPLEMENT: np.ndarray = np.arange(256, dtype=np.uint8)
"""Letter -> letter of the other strand, of the same case; what is no letter of DNA stays."""
for _one, _other in ("AT", "CG", "RY", "KM", "BV", "DH"):
    for _a, _b in ((_one, _other), (_other, _one)):
        COMPLEMENT[ord(_a)] = ord(_b)
        COMPLEMENT[ord(_a.lower())] = ord(_b.lower())
COMPLEMENT[ord("U")], COMPLEMENT[ord("u")] = ord("A"), ord("a")


def reverse_complement(letters: np.ndarray) -> np.ndarray:
    """ASCII letters of the other strand, in its direction (the last axis is turned round)."""
    return COMPLEMENT[letters[..., ::-1]]


def complement_set(sets: np.ndarray) -> np.ndarray:
    """The bases that pair with those of a set: A and T, C and G change places."""
    return ((sets & 3) << 2 | (sets & 12) >> 2).astype(np.uint8)


def fault_of(sequence: str) -> str | None:
    """The first letter that is none of DNA, or None."""
    rest = sequence.lstrip(_LETTERS)
    return rest[0] if rest else None
