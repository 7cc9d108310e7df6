"""From a structure file to the receptor: what is kept, what is dropped, and why."""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ligen_py.errors import InputError
from ligen_py.functions import all_types, load_types
from ligen_py.molecules.receptor import protonation
from ligen_py.molecules.receptor.atoms import free_acids, labels, receptor_atoms
from ligen_py.molecules.receptor.charges import Charged
from ligen_py.molecules.receptor.choice import choose
from ligen_py.molecules.receptor.cofactors import smiles_of
from ligen_py.molecules.receptor.inspection import (
    BY_SMILES,
    FREE_ACID,
    NO_TEMPLATE,
    PERCEIVED,
    describe,
    inspect,
    note_site,
)
from ligen_py.molecules.receptor.metals import metal_type
from ligen_py.molecules.receptor.selection import Selection, chain, each
from ligen_py.molecules.receptor.site import Site, away
from ligen_py.molecules.receptor.structure import OTHER
from ligen_py.molecules.typing.input import ReceptorAtoms
from ligen_py.records.column import Record, base_of, extended
from ligen_py.records.pocket import Audit, Receptor, Whole
from ligen_py.settings.pocket import PocketSettings, Structure

log = logging.getLogger("ligen_py")


@dataclass(frozen=True)
class Prepared:
    """What a site sees of a structure file."""

    receptor: Receptor
    """Atoms near the box, in whole residues."""
    typed: dict[str, Record]
    """Group -> the receptor as a scoring function sees it."""
    whole: Whole
    """All kept heavy atoms, however far."""
    xyz: np.ndarray
    """Their positions (atoms, 3), Angstrom, float64: they make the field."""
    element: np.ndarray
    """Their atomic numbers (atoms,), u1."""
    audit: Audit


def prepare(
    selection: Selection, site: Site, structure: Structure, settings: PocketSettings
) -> Prepared:
    """Keep what belongs to the receptor of a site, of a structure that was just opened.

    Raises InputError where a named residue is not there or no atom is left in the box.
    """
    cofactors = smiles_of(structure)
    wanted, bound = choose(selection, site, structure, settings)
    note_site(selection, site)
    hydrogens = protonation.Protonated()
    if settings.protonation == "propka":
        hydrogens = protonation.protonate(
            selection, site.distance, settings.margin, settings.ph, site.ligand
        )
    kept = selection.open & selection.heavy
    near = _drop_far(selection, site, settings.margin)
    atoms, charged, perceived = receptor_atoms(selection, kept, near, hydrogens, cofactors)
    _warn_of_cofactors(selection, near, structure.cofactors, charged.cofactors)
    seen = dict.fromkeys(charged.cofactors, BY_SMILES)
    seen |= {number: f"{PERCEIVED}{smiles}" for number, smiles in perceived.items()}
    seen |= dict.fromkeys(free_acids(selection), FREE_ACID)
    inspect(selection, kept, near, site, seen, charged.amines, charged.acids)
    _settle_hydrogens(selection, charged, hydrogens.residues)
    _keep(selection, site, wanted, bound, seen)
    return Prepared(
        atoms.common,
        _typed(atoms),
        _whole(selection, np.flatnonzero(kept)),
        selection.xyz[kept],
        selection.atoms.element[kept],
        _balanced(selection),
    )


def _warn_of_cofactors(
    selection: Selection, near: np.ndarray, given: Mapping[str, str], found: set[int]
) -> None:
    """Say where the SMILES of a cofactor, which a config gives, is that of no residue."""
    names = {place.residue.upper().removesuffix(OTHER) for place in selection.places}
    for name in sorted(set(given) - names):
        log.warning("cofactors.%s: no residue of %s is called so", name, selection.source)
    unlike = {
        selection.places[number].residue.upper().removesuffix(OTHER): selection.places[number]
        for number in np.unique(selection.residue[near])[::-1].tolist()
        if number not in found
    }
    for name in sorted(set(given) & set(unlike)):
        log.warning(
            "cofactors.%s: %s is another molecule by its atoms, so this one is not used",
            name,
            unlike[name],
        )


def _drop_far(selection: Selection, site: Site, margin: float) -> np.ndarray:
    """Drop residues with no atom within the margin of the box; gives the heavy atoms that stay."""
    within = np.zeros(len(selection.places), bool)
    close = selection.open & selection.heavy & (site.distance(selection.xyz) <= margin)
    within[selection.residue[close]] = True
    near = selection.open & within[selection.residue]
    reason = f"residue more than {margin:g} A outside the box, too far to be scored"
    selection.drop(~near, reason, chain)
    return near & selection.heavy


def _settle_hydrogens(selection: Selection, charged: Charged, replaced: frozenset[int]) -> None:
    """Which hydrogens AutoDock4 sees: the file's, PDB2PQR's, and those that were built."""
    reason = "polar hydrogen of the file, for AutoDock4"
    selection.settle(charged.given, "kept", reason, chain)
    if charged.added:
        reason = "polar hydrogens for AutoDock4, by PDB2PQR"
        selection.note("hydrogens", reason, "added", charged.added)
    reason = "hydrogen: implied by the types of the heavy atoms"
    gone = ~selection.heavy & np.isin(selection.residue, list(replaced))
    selection.drop(gone, "hydrogen: replaced by those of PDB2PQR", chain)
    selection.drop(~selection.heavy, reason, chain)
    built = Counter(selection.places[number].chain for number in charged.built.tolist())
    for name, count in sorted(built.items()):
        reason = "polar hydrogens for AutoDock4, in standard states"
        selection.note(f"chain {name}", reason, "added", count)
    for number, state in charged.states:
        selection.note(str(selection.places[number]), state)


def _keep(
    selection: Selection,
    site: Site,
    wanted: np.ndarray,
    bound: dict[int, str],
    seen: Mapping[int, str],
) -> None:
    """Rows for everything still open: chains as one part each, hetero groups one by one.

    `seen` says of residues, by number, where their bonds and charges are from.
    """
    chains = selection.polymer[selection.residue]
    selection.settle(chains, "kept", "residue of a chain, within reach of the box", chain)
    for number, index in selection.residues(selection.open):
        xyz, place = selection.xyz[index], selection.places[number]
        kind = describe(selection, index, number in bound)
        if kind in ("metal", "ion"):
            selection.note(str(place), metal_type(selection.atoms.symbol[index[0]], place.residue))
        elif kind != "water":
            selection.note(str(place), f"{kind}, {seen.get(number, NO_TEMPLATE)}")
        free = kind not in ("metal", "ion", "water") and not wanted[number]
        if free and not len(site.ligand) and not site.distance(xyz).all():
            log.warning(
                "%s lies in the box and is kept as part of the receptor; if it is a ligand, drop "
                "it, or give it as the reference ligand",
                place,
            )
        asked = ", as asked" if wanted[number] else ""
        reason = f"{kind} {away(xyz, site)}{bound.get(number, '')}{asked}"
        selection.settle(index, "kept", reason, each)


def _typed(atoms: ReceptorAtoms) -> dict[str, Record]:
    """Group of a pocket file -> the receptor as a scoring function sees it."""
    found: dict[str, Record] = {}
    for types in all_types():
        record = load_types(types, "records").RECEPTOR
        if record is not Receptor:
            columns = load_types(types, "typing").receptor_columns(atoms)
            extends = base_of(record) is not None
            found[types.group] = (
                extended(atoms.common, record, **columns) if extends else record(**columns)
            )
    return found


def _whole(selection: Selection, index: np.ndarray) -> Whole:
    """The atoms `index` with their names."""
    atoms = selection.atoms
    return Whole(
        xyz=selection.xyz[index].astype("f4"),
        element=atoms.element[index],
        label=labels(selection, index),
        hetero=(~selection.polymer[selection.residue[index]]).astype("u1"),
    )


def _balanced(selection: Selection) -> Audit:
    """The audit; InputError where its atoms are not those of the file and of added copies."""
    audit = selection.audit()
    explained = int(audit.atoms[np.isin(audit.action, ("kept", "dropped"))].sum())
    if explained != len(selection.atoms):
        raise InputError(
            f"{selection.source}: an unexplained loss: there are {len(selection.atoms)} atoms, the "
            f"audit explains {explained}; please report this file"
        )
    return audit
