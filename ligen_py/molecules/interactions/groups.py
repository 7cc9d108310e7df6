"""What of a molecule can interact: its groups by kind, of a ligand and of a receptor alike."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Donor:
    """An atom that gives a hydrogen bond."""

    atom: int
    hydrogens: tuple[tuple[float, float, float], ...] = ()
    """Where its hydrogens are, Angstrom; none where they are unknown, as of a crystal water."""
    neighbour: int | None = None
    """Its heavy neighbour, where its hydrogens turn about the bond to it."""


@dataclass(frozen=True)
class Ring:
    """An aromatic ring."""

    atoms: tuple[int, ...]
    centre: np.ndarray
    normal: np.ndarray

    @classmethod
    def of(cls, atoms: tuple[int, ...], xyz: np.ndarray) -> "Ring":
        """A ring by its atoms' positions: the normal is that of the plane of best fit."""
        places = xyz[list(atoms)].astype(float)
        centre = places.mean(axis=0)
        return cls(atoms, centre, np.linalg.svd(places - centre)[2][2])


@dataclass(frozen=True)
class Groups:
    """The groups of a molecule; numbers are rows of `xyz`."""

    xyz: np.ndarray
    """Positions (atoms, 3), Angstrom."""
    donors: list[Donor] = field(default_factory=list)
    acceptors: list[int] = field(default_factory=list)
    hydrophobic: list[int] = field(default_factory=list)
    positive: list[int] = field(default_factory=list)
    negative: list[int] = field(default_factory=list)
    rings: list[Ring] = field(default_factory=list)
    halogens: list[tuple[int, int]] = field(default_factory=list)
    """Carbon and halogen."""
    halogen_acceptors: list[tuple[int, int]] = field(default_factory=list)
    """Acceptor and a neighbour."""
    metals: list[int] = field(default_factory=list)
    chelators: list[int] = field(default_factory=list)
    """Atoms that bind metals."""
