"""The heavy atoms of a receptor, and what their bonds and places say of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.elements import METALS
from ligen_py.molecules.residues import SAME_AS
from ligen_py.records.functions.xscore import Interaction

OTHER_NAMES = {"HSD": "HID", "HSE": "HIE", "HSP": "HIP"}

COORDINATES = 2.8
"""Angstrom; nitrogen or sulfur nearer than this to a metal binds it."""


@dataclass(frozen=True)
class Heavy:
    """Heavy atoms of the receptor."""

    xyz: np.ndarray
    """(atoms, 3), Angstrom, float64."""
    symbol: Sequence[str]
    name: Sequence[str]
    residue: np.ndarray
    """Number of each atom's residue."""
    residue_name: Sequence[str]
    """Of each atom."""
    role: Sequence[Interaction]
    """X-Score's classes."""
    bonded: Sequence[Sequence[int]]
    """Covalent neighbours, in numbers of these atoms."""
    free: frozenset[int] = frozenset()
    """Numbers of residues that are amino acids outside the chains."""


def standard_name(i: int, heavy: Heavy) -> str:
    """The amino acid of an atom, whatever its state is called; of others the residue's name."""
    name = OTHER_NAMES.get(heavy.residue_name[i], heavy.residue_name[i])
    return SAME_AS.get(name, name)


def ties(i: int, heavy: Heavy) -> list[int]:
    """The atoms of other residues that an atom is bound to."""
    return [other for other in heavy.bonded[i] if heavy.residue[other] != heavy.residue[i]]


def is_bridge(i: int, heavy: Heavy) -> bool:
    """Whether an atom is a sulfur that is bound to another one."""
    return heavy.symbol[i] == "S" and any(heavy.symbol[other] == "S" for other in heavy.bonded[i])


def binding_metals(heavy: Heavy) -> set[int]:
    """Nitrogens and sulfurs that bind a metal."""
    symbol = np.array(heavy.symbol, object)
    metals = np.flatnonzero([one in METALS for one in symbol])
    polar = np.flatnonzero([one in ("N", "S") for one in symbol])
    if not len(metals) or not len(polar):
        return set()
    distance = np.linalg.norm(heavy.xyz[polar][:, None] - heavy.xyz[metals], axis=2).min(axis=1)
    return set(polar[distance < COORDINATES].tolist())
