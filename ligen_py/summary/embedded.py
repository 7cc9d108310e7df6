"""What the page's scripts read: poses, sites and details of the hits, as compact JSON."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ligen_py.molecules.hits.analysis import Analysis
from ligen_py.molecules.interactions.contacts import KINDS, Contact
from ligen_py.molecules.interactions.receptor import Surroundings, surroundings
from ligen_py.summary.dossier import Dossier, Row

NEAR = 5.0
"""Residues with an atom this near (Angstrom) to a drawn pose are in the page."""


def embedded(dossier: Dossier) -> dict[str, Any]:
    """The data of one target; positions are in hundredths of an Angstrom."""
    places = list(dict.fromkeys(row.conformation for row in dossier.rows)) or [""]
    drawn = [(row.conformation, row.analysis) for row in dossier.rows]
    drawn += [(row.conformation, row.elsewhere) for row in dossier.rows if row.elsewhere]
    if dossier.crystal is not None:
        drawn.append((places[0], dossier.crystal))
    names: dict[str, int] = {}
    sites = [_site(dossier, place, drawn, names) for place in places]
    terms = list(dict.fromkeys(name for row in dossier.rows for name in row.terms))
    return {
        "kinds": {letter: kind for kind, letter in KINDS.items()},
        "terms": terms,
        "hits": [_hit(row, terms, places, names) for row in dossier.rows],
        "reference": None if dossier.crystal is None else _atoms(dossier.crystal),
        "sites": sites,
        "names": list(names),
    }


def _hit(
    row: Row, terms: Sequence[str], places: Sequence[str], names: dict[str, int]
) -> dict[str, Any]:
    found = row.analysis
    stereo = f"{found.open_centres} left open in the input; docked as {found.stereo or 'drawn'}"
    return {
        "n": row.name,
        "r": row.rank,
        "s": _shown(row.score, 2),
        "reference": row.reference,
        "weight": _shown(found.properties.weight, 0) if found.properties else None,
        "parent": row.parent,
        "state": row.state,
        "states": row.states or "",
        "stereo": stereo if found.open_centres else "",
        "library": row.library,
        "others": list(row.others),
        "nearest": f"{row.nearest[0]}, {row.nearest[1]:.2f}" if row.nearest[0] else "",
        "note": row.note,
        "place": row.conformation,
        "vendor": [[name, text] for name, text in row.vendor.items()],
        "doubts": list(row.doubts),
        "t": [_shown(row.terms[name], 2) if name in row.terms else None for name in terms],
        "c": [_contact(one, names) for one in found.contacts if one.residue in names],
        "site": places.index(row.conformation),
        **_atoms(found),
        **_of_networks(row, names),
    }


def _of_networks(row: Row, names: dict[str, int]) -> dict[str, Any]:
    """The networks' pose of a hit, where energies choose another one."""
    found, judgement = row.elsewhere, row.judgement
    if found is None or judgement is None:
        return {}
    contacts = [_contact(one, names) for one in found.contacts if one.residue in names]
    moved = _shown(judgement.moved, 1)
    return {"network": {"moved": moved, "c": contacts, **_atoms(found)}}


def _shown(value: float, digits: int) -> float | None:
    """A value as the page shows it: a limit in the filters must not part what looks equal."""
    return round(value, digits) if math.isfinite(value) else None


def _contact(one: Contact, names: dict[str, int]) -> list[Any]:
    ends = _hundredths(np.array([one.start, one.end]))
    return [KINDS[one.kind], names[one.residue], round(100 * one.distance), *ends]


def _atoms(found: Analysis) -> dict[str, Any]:
    return {
        "e": list(found.elements),
        "x": _hundredths(np.array(found.xyz)),
        "b": [number for bond in found.bonds for number in bond],
    }


def _hundredths(xyz: np.ndarray) -> list[int]:
    return [int(value) for value in np.rint(100 * xyz.reshape(-1))]


def _site(
    dossier: Dossier, place: str, drawn: Sequence[tuple[str, Analysis]], names: dict[str, int]
) -> dict[str, Any]:
    """The residues of a conformation that lie near a pose in it; `names` grows by theirs."""
    around = surroundings(dossier.site.of(place))
    rows = _near(around, [found for where, found in drawn if where == place])
    number = {row: i for i, row in enumerate(rows)}
    for row in rows:
        names.setdefault(around.residue[row], len(names))
    return {
        "e": [int(around.element[row]) for row in rows],
        "x": _hundredths(around.groups.xyz[rows]),
        "b": [
            value
            for one, two in around.bonds
            if one in number and two in number
            for value in (number[one], number[two], 1)
        ],
        "r": [names[around.residue[row]] for row in rows],
    }


def _near(around: Surroundings, drawn: Sequence[Analysis]) -> list[int]:
    """Atoms of the residues near some poses, in order."""
    xyz = around.groups.xyz
    close = np.zeros(len(xyz), bool)
    residues = {one.residue for found in drawn for one in found.contacts}
    for found in drawn:
        if len(found.xyz):
            pose = np.array(found.xyz)
            low, high = pose.min(axis=0) - NEAR, pose.max(axis=0) + NEAR
            rows = np.flatnonzero(((xyz >= low) & (xyz <= high)).all(axis=1) & ~close)
            apart = np.linalg.norm(xyz[rows][:, None] - pose, axis=2).min(axis=1, initial=np.inf)
            close[rows[apart <= NEAR]] = True
    residues |= {around.residue[row] for row in np.flatnonzero(close)}
    return [row for row in range(len(xyz)) if around.residue[row] in residues]
