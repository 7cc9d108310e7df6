"""The states of a parent molecule: tautomers, protonation states and stereoisomers, each built."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np
from rdkit import Chem

from ligen_py.molecules.ligands.assembly import can_exist, lowest_energy
from ligen_py.molecules.ligands.conformers import (
    EXCLUDED,
)
from ligen_py.molecules.ligands.drawn import (
    UnusableError,
)
from ligen_py.molecules.ligands.one_state import (
    Ordered,
    bare,
    docking_orders,
    ligands_of,
    shape_cache,
)
from ligen_py.molecules.ligands.protonation import protonating
from ligen_py.molecules.ligands.ring_shapes import macrocycle
from ligen_py.molecules.ligands.rows import State
from ligen_py.molecules.ligands.standardising import (
    canonical_smiles,
    parent_smiles,
)
from ligen_py.molecules.ligands.states import (
    hydrogen_places,
    inverted,
    open_centres_and_bonds,
    open_fusions,
    stereoisomers,
    tautomers,
    tetrahedral_carbons,
    undefined_stereo,
    without_nitrogens,
)
from ligen_py.molecules.ligands.unmarked_stereo import ring_axes
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.steps import ALONE, Steps
from ligen_py.records.ledger import Reason
from ligen_py.settings.parse import ParseSettings

MORE_ISOMERS = 2
"""Stereoisomers tried for each one asked for: those of bridged rings may be impossible."""
MOST_ISOMERS = 64
"""Stereoisomers tried in all where too few of the first ones are possible: of a cage hardly any."""
FUSION_STRAIN = 40.0
"""kcal/mol above the lowest stereoisomer; of those whose ring fusions the drawing leaves open, one
above it is no molecule. A bridge from one side of a ring to the other costs 70, the trans form of
bicyclo[3.2.0]heptane 18."""
NITROGEN_STRAIN = 10.0
"""kcal/mol; the same of a nitrogen at a ring fusion, which turns inside out as the free base."""
UNSURE_RING = 12
"""Atoms of the smallest ring whose lowest shape is 10 kcal/mol lower or higher by chance: cryptands
and other cages of such rings are not compared."""

RT = 0.5925
"""kcal/mol at 298.15 K."""
TAUTOMER_COST = RT * math.log(10)
"""Cost of a tautomer that is not the one drawn, kcal/mol: what a tenth of the drawn one's share
costs. The true share is not known."""


@dataclass(frozen=True)
class Drawing:
    """A molecule as drawn whose coordinates are kept."""

    mol: Chem.Mol
    smiles: str


def states_of(
    parent: Chem.Mol,
    drawing: Drawing | None,
    its_smiles: str,
    settings: ParseSettings,
    shapes: Path | None,
    notes: list[str],
) -> Steps[tuple[State, ...]]:
    """Every state of a parent.

    A state that cannot be built is left out while others can; where none can, the parents with the
    fewest stereocentres inverted that can take its place; else the reason is that of the first.
    Coordinates of the drawing are kept where the settings say so: those of the heavy atoms, and of
    the hydrogens too where the state is the molecule as drawn.
    """
    if not drawing:  # which isomers are drawn by lot must not depend on how a molecule is written
        parent = Chem.MolFromSmiles(its_smiles) or parent
    known = its_smiles if drawing else ""  # what is read again may be written in another way
    states, problems = yield from _built(parent, known, drawing, settings, shapes, notes)
    made = chain.from_iterable(states.values())
    docked = max((int(one.shape["isomers"][0]) for one in made), default=settings.stereoisomers)
    if not states and problems and problems[0][1].reason == Reason.EMBEDDING_FAILED:
        yield ALONE
        possible = _mended(parent, settings, shapes, notes)
        for mended in possible:
            share = settings.model_copy(
                update={"stereoisomers": settings.stereoisomers // len(possible)}
            )
            states |= (yield from _built(mended, "", None, share, shapes, notes))[0]
        for ligand in (ligand for ligands in states.values() for ligand in ligands):
            ligand.shape["isomers"] = ligand.shape["isomers"] * np.uint16(len(possible))
    elif states:
        notes += _left_out([(form, str(problem)) for form, problem in problems], docked)
    if not states and problems:
        raise problems[0][1]
    if not drawing:
        notes += yield from _open_stereo(parent, docked, states, settings, shapes)
    return tuple(ligand for ligands in states.values() for ligand in ligands)


def _left_out(problems: Sequence[tuple[int, str]], docked: int) -> Iterator[str]:
    """Notes on states that were not built: of which form, and why.

    Most stereoisomers of a cage exist on paper alone, and those in each protonation state. Where
    one alone can be, as of adamantanes, a chemist sees none that are left out.
    """
    impossible = Counter(form for form, problem in problems if problem == EXCLUDED)
    most = max(impossible.values(), default=0)
    if most and docked > 1:
        yield f"{most} impossible stereoisomer{'s' * (most > 1)} left out"
    others = [problem for _, problem in problems if problem != EXCLUDED]
    if others:
        count = f"{len(others)} states left out, the first" if others[1:] else "1 state left out"
        yield f"{count} for: {others[0]}"


def _built(
    parent: Chem.Mol,
    known: str,
    drawing: Drawing | None,
    settings: ParseSettings,
    shapes: Path | None,
    notes: list[str],
) -> Steps[tuple[dict[str, list[State]], list[tuple[int, UnusableError]]]]:
    """States of a parent by SMILES, and what was in the way of the others, with the form's number.

    `known` is the parent's SMILES, where it has one already. With a drawing the states have its
    coordinates, but for those that they do not fit; for these, and without one, conformers are
    made.
    """
    states: dict[str, list[State]] = {}
    problems: dict[str, tuple[int, UnusableError]] = {}
    forms = yield from _forms(parent, known, settings)
    if not drawing or settings.embed == "never":
        places = [drawing is not None] * len(forms)
    else:  # an enol does not fit the coordinates of a ketone
        drawn = tetrahedral_carbons(drawing.mol)
        places = [tetrahedral_carbons(form) == drawn for form, _, _ in forms]
    every = [
        _isomers(form, smiles, placed, settings)
        for (form, smiles, _), placed in zip(forms, places, strict=True)
    ]
    first = [list(islice(isomers, settings.stereoisomers)) for isomers in every]  # tried anyway
    ahead = yield from _ordered_ahead(chain(*first), drawing, settings)
    for number, ((form, _, cost), placed, tried, others) in enumerate(
        zip(forms, places, first, every, strict=True)
    ):
        before = len(states)
        is_open = tried[0][0] is not form and tried[0][1] in ahead
        is_open = is_open and macrocycle(form.GetRingInfo().AtomRings()) < UNSURE_RING
        fusions = open_fusions(form, [isomer for isomer, _ in tried]) if is_open else []
        siblings = _Siblings(fusions, settings, shapes)
        if fusions:
            yield ALONE
            more = (MORE_ISOMERS - 1) * settings.stereoisomers
            tried += islice(others, more)
            for isomer, smiles in tried:
                if isomer is not form:
                    siblings.energies(isomer, smiles)
        for isomer, smiles in chain(tried, others):
            built = len(states) - before
            if built == settings.stereoisomers or (built and isomer is form):
                break
            try:
                if smiles not in states and smiles not in problems:
                    if fusions and isomer is not form:
                        siblings.require_low(isomer, smiles)
                    ordered = ahead.get(smiles)
                    if ordered is None:
                        full = _full(isomer, drawing, smiles, settings)
                        (ordered,) = yield docking_orders, [Lists(full)]
                    states[smiles] = yield from ligands_of(
                        isomer, ordered, smiles, placed, settings, shapes, notes
                    )
            except UnusableError as error:
                problems[smiles] = number, error
        made = list(states.values())[before:]
        for ligand in (ligand for ligands in made for ligand in ligands):
            ligand.shape["state_cost"] = np.array([cost], "f4")
            ligand.shape["isomers"] = np.array([len(made)], "u2")
    return states, list(problems.values())


@dataclass(frozen=True)
class _Siblings:
    """Stereoisomers of a form, of which some are too strained where ring fusions are open."""

    fusions: list[int]
    """Atoms; none are marked in the drawing, as what is drawn is docked."""
    settings: ParseSettings
    shapes: Path | None
    known: dict[str, dict[str, float]] = field(default_factory=dict)
    """SMILES without the nitrogens among the fusions -> SMILES -> energy, kcal/mol."""

    def energies(self, isomer: Chem.Mol, smiles: str) -> dict[str, float]:
        """Energies of an isomer, where it is known, and of its siblings with other nitrogens."""
        epimers = canonical_smiles(without_nitrogens(isomer, self.fusions))
        found = self.known.setdefault(epimers, {})
        if smiles not in found:
            (ordered,) = docking_orders([Lists(Chem.AddHs(isomer))])
            if isomer.GetNumAtoms() > ordered.heavy:
                return found  # see _joined
            cache = shape_cache(self.settings, self.shapes)
            energy = lowest_energy(*bare(isomer, ordered), cache)
            if energy is not None:
                found[smiles] = energy
        return found

    def require_low(self, isomer: Chem.Mol, smiles: str) -> None:
        """UnusableError where an isomer is too strained to be."""
        epimers = self.energies(isomer, smiles)
        if smiles not in epimers:
            return
        own = epimers[smiles]
        above = own - min(chain(*(each.values() for each in self.known.values())))
        if above > FUSION_STRAIN or own - min(epimers.values()) > NITROGEN_STRAIN:
            why = f"{above:.0f} kcal/mol above another stereoisomer"
            raise UnusableError(Reason.EMBEDDING_FAILED, why if above < np.inf else EXCLUDED)


def _ordered_ahead(
    isomers: Iterable[tuple[Chem.Mol, str]], drawing: Drawing | None, settings: ParseSettings
) -> Steps[dict[str, Ordered]]:
    """Isomers by SMILES, hydrogens added, in docking order; those that are too large left out."""
    found = {}
    for isomer, smiles in isomers:
        if smiles not in found:
            with suppress(UnusableError):
                found[smiles] = _full(isomer, drawing, smiles, settings)
    yield None
    lists = list(map(Lists, found.values()))
    ordered = (yield docking_orders, lists) if lists else []
    return dict(zip(found, ordered, strict=True))


def _full(
    isomer: Chem.Mol, drawing: Drawing | None, smiles: str, settings: ParseSettings
) -> Chem.Mol:
    """A state with its hydrogens; the drawing itself where the state is as drawn."""
    mol = drawing.mol if drawing and smiles == drawing.smiles else isomer
    mol = Chem.AddHs(mol, addCoords=drawing is not None) if Chem.NeedsHs(mol) else mol
    if mol.GetNumAtoms() > settings.max_atoms:
        detail = f"{mol.GetNumAtoms()} atoms with hydrogens, at most {settings.max_atoms}"
        raise UnusableError(Reason.TOO_MANY_ATOMS, detail)
    return mol


def _mended(
    parent: Chem.Mol, settings: ParseSettings, shapes: Path | None, notes: list[str]
) -> list[Chem.Mol]:
    """Parents for one whose marked centres exclude each other in space; none: it has no way out."""
    for number, forms in enumerate(inverted(parent), start=1):
        possible = [form for form in forms if _exists(form, settings, shapes)]
        possible = possible[: settings.stereoisomers]
        if possible:
            centres = "a centre" if number == 1 else f"{number} centres"
            notes.append(f"impossible stereocentres; docked with {centres} inverted")
            return possible
    return []


def _exists(form: Chem.Mol, settings: ParseSettings, shapes: Path | None) -> bool:
    (ordered,) = docking_orders([Lists(Chem.AddHs(form))])
    if form.GetNumAtoms() > ordered.heavy:
        return False  # see _joined
    return can_exist(*bare(form, ordered), shape_cache(settings, shapes))


def _forms(
    parent: Chem.Mol, known: str, settings: ParseSettings
) -> Steps[list[tuple[Chem.Mol, str, float]]]:
    """Tautomers of a parent in their protonation states: with SMILES, and costs in kcal/mol.

    In the order of their costs. An ion of two tautomers is one form.
    """
    forms = []
    if settings.tautomers > 1:
        yield ALONE
    for number, tautomer in enumerate(tautomers(parent, settings.tautomers)):
        cost = TAUTOMER_COST if number else 0.0
        if not settings.protonate:
            forms.append((tautomer, canonical_smiles(tautomer), cost))
            continue
        limits = settings.ph, settings.min_population, settings.protomers
        found = yield from protonating(tautomer, *limits, "" if number else known)
        most = found[0].population
        forms += [(mol, smiles, cost + RT * math.log(most / share)) for mol, share, smiles in found]
    forms.sort(key=lambda form: form[2])
    if settings.tautomers == 1:
        return forms
    first = {hydrogen_places(form[0]): form for form in reversed(forms)}
    return sorted(first.values(), key=lambda form: form[2])


def _isomers(
    form: Chem.Mol, its_smiles: str, placed: bool, settings: ParseSettings
) -> Iterator[tuple[Chem.Mol, str]]:
    """Stereoisomers to try, and their SMILES; the one in place, where coordinates are kept.

    Where none is possible the drawing, and the conformer chooses.
    """
    if not placed:
        most = MORE_ISOMERS * settings.stereoisomers
        found = list(stereoisomers(form, most, settings.seed))
        if len(found) > settings.stereoisomers:  # RDKit counts through all, the last centre last
            random.Random(settings.seed).shuffle(found)
        for isomer in found:
            yield isomer, canonical_smiles(isomer)
        if len(found) == most:  # too few were possible: bridged rings exclude most of them
            for isomer in stereoisomers(form, max(most, MOST_ISOMERS), settings.seed):
                yield isomer, canonical_smiles(isomer)
    yield form, its_smiles


def _open_stereo(
    parent: Chem.Mol,
    docked: int,
    states: Iterable[str],
    settings: ParseSettings,
    shapes: Path | None,
) -> Steps[list[str]]:
    """The note that stereoisomers are not docked, if there are such; most of a cage's cannot be."""
    count, most = undefined_stereo(parent), settings.stereoisomers
    if count <= most:
        return []
    rings, centres = parent.GetRingInfo(), open_centres_and_bonds(parent)[0]
    is_fusion = any(rings.NumAtomRings(centre) > 1 for centre in centres)
    if docked < most or is_fusion or ring_axes(parent):
        yield ALONE
        isomers = list(stereoisomers(parent, MOST_ISOMERS + 1, settings.seed))
        others = {canonical_smiles(isomer): isomer for isomer in isomers}
        for smiles in map(parent_smiles, states):
            others.pop(smiles, None)
        every_isomer_is_tried = len(isomers) <= MOST_ISOMERS
        if every_isomer_is_tried and (
            docked < most or not any(_exists(one, settings, shapes) for one in others.values())
        ):
            return []
    return [f"up to {count} stereoisomers are open, {most} at most docked"]
