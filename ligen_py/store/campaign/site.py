"""The receptor of a target as the campaign file contains it: from its pocket files."""

from collections.abc import Sequence

import numpy as np

from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.functions.xscore import Interaction, XScoreReceptor
from ligen_py.records.pocket import POCKET, Audit, GeometricField, Receptor
from ligen_py.records.site import Site
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.files.inputs import recorded_inputs
from ligen_py.store.files.read import groups_in, read, run_record

APART = 3.0
"""Angstrom between centres of boxes, from which on they may be two sites."""


def read_site(members: Sequence[PartFiles]) -> Site:
    """The receptor atoms of a target, all its conformations one after the other.

    Raises InputError where a pocket file is missing or damaged.
    """
    parts = [_read(files) for files in members]
    names = ("xyz", "element", "residue", "label", "role", "conformation")
    atoms = {name: np.concatenate([part[name] for part in parts]) for name in names}
    audits = [read(files.pocket, POCKET, Audit) for files in members]
    warnings = dict.fromkeys(words for audit in audits for words in audit.warnings)
    return Site(
        **atoms,
        receptor=np.array([_structure(files) for files in members], object),
        box=np.array([_box(audit) for audit in audits], object),
        warning=np.array(list(warnings), object),
    )


def other_places(members: Sequence[PartFiles]) -> str:
    """What to say where a target's conformations have boxes in different places; else nothing.

    A cavity or a ligand by name is looked for in each structure. Raises InputError as `read_site`.
    """
    if len(members) < 2:
        return ""
    fields = [read(files.pocket, POCKET, GeometricField) for files in members]
    sides = [one.spacing * (np.array(one.value.shape) - 1) for one in fields]
    centres = np.array([one.origin + side / 2 for one, side in zip(fields, sides, strict=True)])
    apart = float(np.linalg.norm(centres[:, None] - centres, axis=2).max())
    if apart <= APART:
        return ""
    return (
        f"the boxes of its conformations lie up to {apart:.1f} A apart, and a molecule ranks with "
        "its best score of all; are the structures superposed, and is it one site in all of them?"
    )


def _structure(files: PartFiles) -> str:
    """The name of the structure file, which a pocket file names first of its inputs."""
    inputs = recorded_inputs(files.pocket, run_record(files.pocket, POCKET))
    return inputs[0].name if inputs else ""


def _box(audit: Audit) -> str:
    """The box of a pocket file in words, by a row of its audit; empty where it has none."""
    rows = zip(audit.action.tolist(), audit.part.tolist(), audit.reason.tolist(), strict=True)
    return next((words for *what, words in rows if what == ["chosen", "site"]), "")


def _read(files: PartFiles) -> dict[str, np.ndarray]:
    receptor = read(files.pocket, POCKET, Receptor)
    known = groups_in(files.pocket, POCKET).values()
    role = np.zeros(len(receptor.xyz), "u1")
    if XScoreReceptor in known:
        role = read(files.pocket, POCKET, XScoreReceptor, receptor).interaction
    hydrogens, holder = np.empty((0, 3), "f4"), np.empty(0, "i8")
    if Ad4Receptor in known:
        charged = read(files.pocket, POCKET, Ad4Receptor)
        hydrogens = charged.xyz[charged.type == Ad4Type.HD]
        holder = nearest(hydrogens, receptor.xyz)
    count = len(receptor.xyz) + len(hydrogens)
    return {
        "xyz": np.concatenate([receptor.xyz, hydrogens]),
        "element": np.concatenate([receptor.element, np.ones(len(hydrogens), "u1")]),
        "residue": np.concatenate([receptor.residue, receptor.residue[holder]]),
        "label": np.concatenate([receptor.label, receptor.label[holder]]),
        "role": np.concatenate([role, np.full(len(hydrogens), Interaction.NONE, "u1")]),
        "conformation": np.full(count, files.conformation, dtype=object),
    }


def nearest(points: np.ndarray, xyz: np.ndarray) -> np.ndarray:
    """Row of the atom (atoms, 3) that is nearest to each point (points, 3)."""
    rows = [int(((xyz - point) ** 2).sum(axis=1).argmin()) for point in points]
    return np.array(rows, dtype="i8")
