"""Values that kernels and look-ups trust: no index of a foreign file may lead out of its array."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ligen_py.records import ChargedReceptor, Field, Ligands, Poses, Receptor, Record, Scores


def require_bounds(record: Record) -> None:
    """ValueError that names the first column with a value out of its range."""
    for name, fits in BOUNDS.get(type(record), _none)(record):
        if not np.all(fits):
            raise ValueError(f"{type(record).__name__}.{name} holds values out of range")


Checks = Iterator[tuple[str, Any]]


def _none(_: Any) -> Checks:
    return iter(())


def _ligands(ligands: Ligands) -> Checks:
    atoms, torsions = np.diff(ligands.first_atom), np.diff(ligands.first_torsion)
    heavy = ligands.heavy
    yield "entry", (ligands.entry >= 0) & (np.diff(ligands.entry, prepend=0) >= 0)
    yield "heavy", (heavy >= 1) & (heavy <= atoms)
    yield "xyz", np.isfinite(ligands.xyz)
    for name in ("rotors", "vina_rotors", "ad4_torsions", "radius", "logp", "ad4_charge"):
        yield name, np.isfinite(getattr(ligands, name))
    for name, each in (("bond", np.diff(ligands.first_bond)), ("torsion_axis", torsions)):
        ends = getattr(ligands, name)
        yield name, (ends >= 0) & (ends < np.repeat(atoms, each)[:, None])
    yield "torsion_axis", ligands.torsion_axis < np.repeat(heavy, torsions)[:, None]
    # Fields have maps of typed atoms only, so that no heavy atom may lack a type.
    owner = np.repeat(np.arange(len(heavy)), atoms)
    number = np.arange(len(ligands.xyz)) - ligands.first_atom[:-1][owner]
    for name in ("vina_type", "ad4_type", "radius"):
        yield name, (getattr(ligands, name) > 0) | (number >= heavy[owner])
    first, last, hydrogen, end = ligands.torsion_range.T
    border, full = np.repeat(heavy, torsions), np.repeat(atoms, torsions)
    yield "torsion_range", (first >= 0) & (first <= last) & (last <= border)
    yield "torsion_range", (hydrogen >= border) & (hydrogen <= end) & (end <= full)
    yield "pair_mask", np.diff(ligands.first_pair) == heavy * -(-heavy // 32)


def _poses(poses: Poses) -> Checks:
    yield "restart", poses.restart >= 0


def _scores(scores: Scores) -> Checks:
    first, last = scores.first_pose[:-1], scores.first_pose[1:]
    inside = (scores.best >= first) & (scores.best < last)
    yield "best", inside | (scores.best == -1)


def _field(field: Field) -> Checks:
    yield "origin", np.isfinite(field.origin)
    yield "spacing", (field.spacing > 0.01) & (field.spacing < 100)
    yield "anchor", np.isfinite(field.anchor) & (len(field.anchor) > 0)
    yield "value", field.value.size > 0


def _receptor(receptor: Receptor | ChargedReceptor) -> Checks:
    yield "xyz", np.isfinite(receptor.xyz)


BOUNDS: dict[type[Record], Callable[[Any], Checks]] = {
    Ligands: _ligands,
    Poses: _poses,
    Scores: _scores,
    Field: _field,
    Receptor: _receptor,
    ChargedReceptor: _receptor,
}
