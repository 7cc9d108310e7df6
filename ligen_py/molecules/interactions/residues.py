"""Residues as a question names them, and those that a pose interacts with."""

import numpy as np

from ligen_py.molecules.interactions.contacts import KINDS, contacts
from ligen_py.molecules.interactions.ligand import ligand_groups
from ligen_py.molecules.interactions.receptor import Surroundings
from ligen_py.molecules.stored import molecule_of


def interactions_of(
    molecule: np.ndarray, xyz: np.ndarray, around: Surroundings
) -> set[tuple[str, str]]:
    """Kind and residue (as `ASP27 A`) of every interaction of a pose.

    Args:
        molecule: as stored, u1.
        xyz: positions (atoms, 3) in the molecule's order, Angstrom.
        around: the receptor.
    """
    found = contacts(ligand_groups(molecule_of(molecule), xyz), around)
    return {(one.kind, one.residue) for one in found}


def wanted_interactions(given: str, around: Surroundings) -> set[tuple[str, str]]:
    """The interactions that a word names: ASP168, A/ASP168, A/ASP/168 or 'hydrogen bond:ASP168'.

    None where the receptor has no such residue. Raises ValueError for an unknown kind.
    """
    kind, colon, place = given.rpartition(":")
    kind = kind.strip().lower()
    if colon and kind not in KINDS:
        raise ValueError(f"no kind of interaction; there are: {', '.join(KINDS)}")
    kinds = [kind] if colon else list(KINDS)
    every = set(zip(around.residue, around.number, strict=True))
    residues = {residue for residue, number in every if _is(place.strip(), residue, number)}
    return {(one, residue) for one in kinds for residue in residues}


def _is(given: str, residue: str, number: str) -> bool:
    """Whether a word such as `A/asp/168` names a residue such as `ASP168 A`, of number 168."""
    name, _, chain = residue.partition(" ")
    words = given.split("/")
    if len(words) > 1 and words[0] == chain:
        words = words[1:]
    plain = "".join(words).upper()
    return plain in (name.upper(), number.upper() or name.upper())
