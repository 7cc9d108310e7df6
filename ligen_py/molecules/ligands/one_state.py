"""One state of a molecule as it is docked: hydrogens, docking order, conformers, columns."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import Outline, outlines
from ligen_py.molecules.ligands.assembly import Torsions, assemble
from ligen_py.molecules.ligands.conformers import (
    NoConformerError,
    embed,
)
from ligen_py.molecules.ligands.drawn import (
    UnusableError,
)
from ligen_py.molecules.ligands.ring_shapes import macrocycle
from ligen_py.molecules.ligands.rotatable_bonds import heavy_first, rotatable_bonds
from ligen_py.molecules.ligands.rows import State
from ligen_py.molecules.ligands.shapes import ShapeCache, UnknownShapeError
from ligen_py.molecules.ligands.standardising import (
    content_key,
)
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.steps import ALONE, Steps
from ligen_py.molecules.stored import stored, stored_arrays
from ligen_py.molecules.typing.gasteiger import gasteiger_of
from ligen_py.records.ledger import Reason
from ligen_py.settings.parse import ParseSettings

MADE_WHOLE = "conformers made whole, as its rigid pieces cannot be joined"


@dataclass(frozen=True)
class Ordered:
    """A molecule with hydrogens and its docking order."""

    lists: Lists
    """Its atoms as they stand in the molecule."""
    outline: Outline
    """In docking order."""
    torsions: Torsions
    order: np.ndarray
    """i8 (atoms,): old number of each atom."""
    heavy: int
    """How many heavy atoms it has, which are its first."""
    octets: np.ndarray
    """As it is stored, in docking order."""
    partial: np.ndarray
    """f8 (atoms,): Gasteiger charges, in docking order."""


def ligands_of(
    isomer: Chem.Mol,
    ordered: Ordered,
    smiles: str,
    placed: bool,
    settings: ParseSettings,
    shapes: Path | None,
    notes: list[str],
) -> Steps[list[State]]:
    """One state in each of its conformers; `placed`: in that of the drawing.

    Raises UnusableError for too many torsions, and where no conformer can be made.
    """
    rotatable = len(ordered.torsions.axes)
    if rotatable > settings.max_torsions:
        detail = f"{rotatable} rotatable bonds, at most {settings.max_torsions}"
        raise UnusableError(Reason.TOO_MANY_TORSIONS, detail)
    ordered.outline.require_orders()
    if placed:
        xyz = ordered.lists.mol.GetConformer().GetPositions()
        return _rows(ordered, [xyz[ordered.order]], None, smiles)
    yield None
    try:
        joined = _joined(isomer, ordered, settings, shapes, makes=False)
    except UnknownShapeError:
        yield ALONE
        joined = _joined(isomer, ordered, settings, shapes, makes=True)
    if joined is not None:
        return _rows(ordered, *joined, smiles)
    yield ALONE
    whole = _whole(ordered, smiles, settings)
    if MADE_WHOLE not in notes:
        notes.append(MADE_WHOLE)
    return _rows(*whole, None, smiles)


def _joined(
    isomer: Chem.Mol,
    ordered: Ordered,
    settings: ParseSettings,
    shapes: Path | None,
    makes: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Conformers put together from pieces, as of `assemble`; None where that cannot be."""
    if isomer.GetNumAtoms() > ordered.heavy:
        return None  # a hydrogen that is an atom, such as deuterium: pieces have heavy atoms alone
    try:
        return assemble(
            *bare(isomer, ordered),
            shape_cache(settings, shapes),
            _most(ordered, settings),
            np.inf if macrocycle(ordered.lists.rings) else settings.max_strain,
            makes,
        )
    except NoConformerError as error:
        raise UnusableError(Reason.EMBEDDING_FAILED, str(error)) from error


def _whole(
    ordered: Ordered, smiles: str, settings: ParseSettings
) -> tuple[Ordered, list[np.ndarray]]:
    """A molecule in docking order as its force field sees it, and conformers made whole."""
    mol = Chem.RenumberAtoms(ordered.lists.mol, ordered.order.tolist())
    mol.RemoveAllConformers()
    try:
        embed(mol, settings.seed, content_key(smiles)[:16], _most(ordered, settings))
    except NoConformerError as error:
        raise UnusableError(Reason.EMBEDDING_FAILED, str(error)) from error
    made = [one.GetPositions() for one in mol.GetConformers()]
    as_it_stands = np.arange(mol.GetNumAtoms())
    return replace(ordered, lists=Lists(mol), order=as_it_stands, octets=stored(mol)), made


def _most(ordered: Ordered, settings: ParseSettings) -> int:
    """Most conformers of a molecule."""
    is_large = macrocycle(ordered.lists.rings)
    return settings.macrocycle_conformers if is_large else settings.conformers


def bare(isomer: Chem.Mol, ordered: Ordered) -> tuple[Chem.Mol, list[list[int]], Torsions]:
    """A molecule's heavy atoms in docking order, the neighbours of every atom, and its torsions."""
    order, around = ordered.order.tolist(), ordered.lists.neighbours
    new = np.argsort(ordered.order).tolist()
    neighbours = [sorted([new[other] for other in around[atom]]) for atom in order]
    return Chem.RenumberAtoms(isomer, order[: ordered.heavy]), neighbours, ordered.torsions


def shape_cache(settings: ParseSettings, shapes: Path | None) -> ShapeCache:
    """The shapes of this process; a connection to their file must not pass to a forked one."""
    limits = settings.conformers, settings.macrocycle_conformers
    return _shape_cache_of(os.getpid(), shapes, settings.seed, *limits)


@cache
def _shape_cache_of(
    _process: int, shapes: Path | None, seed: int, limit: int, macrocycles: int
) -> ShapeCache:
    return ShapeCache(shapes, seed, limit, macrocycles)


def _rows(
    ordered: Ordered,
    conformers: Sequence[np.ndarray] | np.ndarray,
    strain: np.ndarray | None,
    smiles: str,
) -> list[State]:
    """The columns of a molecule in each of its conformers, of strain 0 where none is known."""
    heavy, torsions = ordered.heavy, ordered.torsions
    shared = {
        "smiles": np.array([smiles], object),
        "heavy": np.array([heavy], "i4"),
        "torsion_axis": torsions.axes.astype("i2"),
        "torsion_range": torsions.far_sides.astype("i2"),
        "molecule": ordered.octets,
    }
    strain = np.zeros(len(conformers)) if strain is None else strain
    result = []
    for number, xyz in enumerate(conformers):
        own = {
            "conformer": np.array([number], "u2"),
            "strain": strain[number : number + 1].astype("f4"),
            "xyz": _centred(xyz, heavy),
        }
        result.append(State(ordered.outline, ordered.partial, shared | own))
    return result


def docking_orders(lists: Sequence[Lists]) -> list[Ordered]:
    """Connected molecules with their hydrogens in docking order."""
    arrays = Arrays(lists)
    is_heavy = arrays.element > 1
    bond = np.stack([arrays.near, arrays.far], axis=1)
    found = heavy_first(is_heavy, bond, rotatable_bonds(arrays), arrays.first)
    heavy = np.bincount(arrays.owner, is_heavy, len(lists)).astype(int).tolist()
    charges = gasteiger_of(arrays, found.order)
    return [
        Ordered(
            one,
            outline,
            Torsions(found.axes[start:end], found.far_sides[start:end]),
            found.order[first:last] - first,
            heavy[number],
            octets,
            charges[first:last],
        )
        for number, (one, outline, octets, (start, end), (first, last)) in enumerate(
            zip(
                lists,
                outlines(arrays, found.order),
                stored_arrays(arrays, found.order),
                pairwise(found.first_torsion.tolist()),
                pairwise(arrays.first.tolist()),
                strict=True,
            )
        )
    ]


def _centred(xyz: np.ndarray, heavy: int) -> np.ndarray:
    """The coordinates, f4, with the heavy atoms' centroid at 0."""
    return (xyz - xyz[:heavy].mean(axis=0)).astype("f4")
