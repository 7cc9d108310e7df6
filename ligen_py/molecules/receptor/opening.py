"""A structure file as it is opened: one model, the chains asked for, each atom once."""

from collections import Counter
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.selection import (
    Selection,
    chain,
    each,
    near_pairs,
)
from ligen_py.molecules.receptor.structure import read_atoms
from ligen_py.settings.pocket import Structure

TRACE = 5
"""So many residues of nothing but a CA atom are the trace of a chain, not an unlucky fragment."""

SAME_ATOM = 0.5
"""Copies of an atom this near (Angstrom) to each other lie on an axis of symmetry."""

TWICE = 0.1
"""Atoms of one name this near (Angstrom) are one atom that the file has twice."""


def open_structure(path: Path, structure: Structure) -> Selection:
    """Read a structure file; open are the atoms of the model and the chains that are wanted.

    Raises InputError where the file cannot be used or has no such model, chain or assembly.
    """
    atoms = read_atoms(path, structure.assembly)
    selection = Selection(atoms, str(path))
    models = sorted(set(atoms.model.tolist()))
    model = models[0] if structure.model is None else structure.model
    if model not in models:
        known = ", ".join(map(str, models))
        raise InputError(f"{path}: has no model {model}; its models are {known}")
    if len(models) > 1:
        why = "the first" if structure.model is None else "as asked,"
        selection.note(f"model {model}", f"{why} of {len(models)}", "chosen")
    selection.drop(atoms.model != model, f"not model {model}", chain)
    if structure.assembly is not None:
        _note_assembly(selection, structure.assembly)
    found = sorted({place.chain for place in atoms.place})
    missing = [name for name in structure.chains if name not in found]
    if missing:
        raise InputError(
            f"{path}: has no chain {', '.join(missing)}; its chains are {', '.join(found)}"
        )
    if structure.chains and set(structure.chains) != set(found):
        names = ", ".join(sorted(set(structure.chains)))
        selection.note(f"chain {names}", f"of {', '.join(found)}", "chosen")
        other = np.array([place.chain not in structure.chains for place in atoms.place])
        selection.drop(other, "not a chosen chain", chain)
    selection.drop(~np.isfinite(atoms.xyz).all(axis=1), "no coordinates", each)
    _drop_doubles(selection)
    selection.connect()
    _require_side_chains(selection)
    return selection


def _drop_doubles(selection: Selection) -> None:
    """Keep the first of atoms that the file has twice, as of a chain under a second name.

    Alternate locations of a residue are left to `choose_locations`.
    """
    atoms, place = selection.atoms, selection.atoms.place
    doubles = np.zeros(len(atoms), bool)
    for one, two in near_pairs(atoms.xyz, selection.open, TWICE).tolist():
        same_name = (atoms.name[one], place[one].residue) == (atoms.name[two], place[two].residue)
        if same_name and (place[one] != place[two] or atoms.altloc[one] == atoms.altloc[two]):
            doubles[two] = True
    left = np.zeros(len(selection.places), bool)
    left[selection.residue[selection.open & selection.heavy & ~doubles]] = True
    some = np.zeros(len(selection.places), bool)
    some[selection.residue[doubles]] = True
    # Hydrogens of a residue that has no other atoms left were its own.
    whole = (some & ~left)[selection.residue]
    reason = f"within {TWICE:g} A of the same atom of another residue; the first is kept"
    selection.drop(doubles | whole, reason, chain)


def _require_side_chains(selection: Selection) -> None:
    """InputError where all amino acids are nothing but their CA atoms."""
    mine = selection.open & selection.heavy & selection.polymer[selection.residue]
    if mine.sum() >= TRACE and set(selection.atoms.name[mine]) == {"CA"}:
        raise InputError(
            f"{selection.source}: contains CA atoms only; docking needs every heavy atom of the "
            "residues: give the full structure, or build the missing atoms first"
        )


def _note_assembly(selection: Selection, name: str) -> None:
    """What a biological assembly added, left out, or made twice on an axis of symmetry."""
    atoms = selection.atoms
    selection.note(f"assembly {name}", "built by the operators in the file", "chosen")
    copies = Counter(
        atoms.place[i].chain for i in np.flatnonzero(selection.open & (atoms.copy > 0))
    )
    for copied, count in sorted(copies.items()):
        origin = copied.rpartition("-")[0]
        reason = f"copy of chain {origin} in assembly {name}"
        selection.note(f"chain {copied}", reason, "added", count)
    selection.drop(atoms.copy < 0, f"not in assembly {name}", chain)
    placed = selection.open & np.isfinite(atoms.xyz).all(axis=1)
    twice = [
        two
        for one, two in near_pairs(atoms.xyz, placed, SAME_ATOM).tolist()
        if atoms.copy[one] != atoms.copy[two]
        and atoms.name[one] == atoms.name[two]
        and atoms.place[one][1:] == atoms.place[two][1:]
    ]
    reason = "copy on an axis of symmetry; the first is kept"
    selection.drop(np.array(twice, np.int64), reason, each)
