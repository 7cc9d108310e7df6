"""One input record to its ligands: parent, states, hydrogens, conformers, torsions, atom types.

What goes wrong with a molecule is a result (`Prepared.reason`), never an exception. All follows
from the parent molecule and the settings alone, so a molecule becomes the same ligands wherever it
stands in a library and however the library is cut.
"""

import hashlib
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice, pairwise
from pathlib import Path

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import Outline, atoms_of, outlines
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.assembly import Torsions, assemble, can_exist, lowest_energy
from ligen_py.molecules.ligands.conformers import (
    EXCLUDED,
    NoConformerError,
    embed,
    has_impossible_bonds,
    has_misplaced_hydrogens,
    have_conformers,
    without_hydrogens,
)
from ligen_py.molecules.ligands.drawn import (
    UnusableError,
    collector,
    has_open_axis,
    has_open_hand,
    is_atropisomer,
    lost_stereo,
    molecule_of_record,
    require_supported,
    short,
    unlabelled,
    without_datives,
)
from ligen_py.molecules.ligands.filters import objection, properties
from ligen_py.molecules.ligands.pka_table import families, substituents
from ligen_py.molecules.ligands.protonation import protonating
from ligen_py.molecules.ligands.ring_shapes import macrocycle
from ligen_py.molecules.ligands.rotatable_bonds import heavy_first, rotatable_bonds
from ligen_py.molecules.ligands.rows import State
from ligen_py.molecules.ligands.shapes import ShapeCache, UnknownShapeError
from ligen_py.molecules.ligands.standardising import (
    MIXTURE,
    Parent,
    canonical_smiles,
    largest_fragment,
    smiles_with_groups,
    standardise,
    standardising,
)
from ligen_py.molecules.ligands.states import (
    inverted,
    open_fusions,
    open_stereo,
    stereoisomers,
    tautomers,
    tetrahedral_carbons,
    undefined_stereo,
    without_nitrogens,
)
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.steps import ALONE, Steps, at_once, in_turn
from ligen_py.molecules.stored import stored, stored_arrays
from ligen_py.molecules.surroundings import surroundings
from ligen_py.molecules.typing.gasteiger import gasteiger_of
from ligen_py.molecules.workers import OUT_OF_MEMORY
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import CRASHED, SIMPLER
from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.settings.parse import ParseSettings

RULES = frozenset(
    (
        Reason.TOO_MANY_ATOMS,
        Reason.TOO_MANY_TORSIONS,
        Reason.UNSUPPORTED_ELEMENT,
        Reason.MIXTURE,
        Reason.PROPERTY_OUT_OF_RANGE,
        Reason.STRUCTURAL_ALERT,
        Reason.EXCLUDED_PATTERN,
    )
)
"""Reasons for which a sound molecule is rejected; all others are failures."""

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

MOST = ("protomers", "tautomers", "stereoisomers", "conformers", "macrocycle_conformers")
"""Settings that limit how many states and conformers a molecule has."""

MADE_WHOLE = "conformers made whole, as its rigid pieces cannot be joined"


@dataclass(frozen=True)
class _Ordered:
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


@dataclass(frozen=True)
class Prepared:
    """What became of one record."""

    smiles: str = ""
    key: str = ""
    reason: Reason = Reason.NONE
    detail: str = ""
    note: str = ""
    states: tuple[State, ...] = ()
    """Of a ready record."""
    properties: tuple[float, ...] = (math.nan,) * len(PROPERTY_NAMES)
    """Of the parent, in the order of `PROPERTY_NAMES`."""

    @property
    def status(self) -> Status:
        """READY, REJECTED by a rule or FAILED."""
        if self.reason == Reason.NONE:
            return Status.READY
        return Status.REJECTED if self.reason in RULES else Status.FAILED


def compile_rules() -> None:
    """Parse the patterns that all molecules are compared with; workers inherit what is there."""
    families()
    substituents()
    properties(standardise(Chem.MolFromSmiles("C")).mol)


def prepare(record: Record, settings: ParseSettings, shapes: Path | None = None) -> Prepared:
    """Make the ligands of a record, or say why it cannot be docked.

    `shapes` is a file of rigid pieces' shapes that processes share (see `ShapeCache`); it changes
    the time that this takes, so it decides only whether a molecule passes `settings.time_limit`.
    """
    with collector() as messages:
        return _ended(_prepared(record, settings, shapes, messages))


def prepare_together(
    records: Sequence[Record], settings: ParseSettings, shapes: Path | None = None
) -> list[Prepared | Callable[[], Prepared]]:
    """Make the ligands of records, in turn step by step.

    With 3-D coordinates they take two fifths less time than one after another. Where something must
    be embedded, which may take long, the result is a function that goes on with the record.
    """
    with collector() as messages:
        found = in_turn([_prepared(record, settings, shapes, messages) for record in records])
    return [one if isinstance(one, Prepared) else partial(_alone, one) for one in found]


def _alone(steps: Steps[Prepared]) -> Prepared:
    with collector():
        return _ended(steps)


def _ended(steps: Steps[Prepared]) -> Prepared:
    try:
        return at_once(steps)
    except MemoryError:
        raise  # the worker is at its limit: it ends, and another takes over
    except Exception as error:  # RDKit raises many kinds; none may cost a neighbour
        return _unreadable(error)


def _prepared(
    record: Record,
    settings: ParseSettings,
    shapes: Path | None,
    messages: list[str],
) -> Steps[Prepared]:
    """Prepare a record, with a pause after each step."""
    smiles = key = ""
    notes: list[str] = []
    try:
        drawn = molecule_of_record(record, messages)
        is_misplaced = record.kind != "smiles" and has_misplaced_hydrogens(drawn)
        drawn = without_hydrogens(drawn) if is_misplaced else drawn
        yield None
        parent, written = yield from _parent(drawn, settings)
        if ":" in written and unlabelled(drawn):
            parent, written = yield from _parent(drawn, settings)
            parent.notes.append("map numbers of atoms removed")
        if ("->" in written or "<-" in written) and without_datives(drawn):
            parent, written = yield from _parent(drawn, settings)
            parent.notes.append("dative bonds written as charges")
        notes += parent.notes
        if "[" in written and any(a.GetNumRadicalElectrons() for a in atoms_of(parent.mol)):
            notes.append("unpaired electrons, as drawn: is a hydrogen missing?")
        if is_atropisomer(drawn, record):
            notes.append("atropisomer: which one is drawn is left open")
        if ("=C=" in written or written.startswith("C(=")) and has_open_axis(parent.mol):
            notes.append("allene or cumulene: which isomer is drawn is left open")
        if has_open_hand(parent.mol):
            notes.append(
                "spiro atom or bridged nitrogens: which mirror image is drawn is left open"
            )
        require_supported(parent.mol)
        smiles = smiles_with_groups(parent.mol)
        yield None
        key = content_key(smiles)
        _require_wanted(parent.mol, notes, settings)
        drawing = yield from _drawing(drawn, parent, written, settings)
        if drawing and is_misplaced:
            notes.append("hydrogens stood elsewhere than at their atoms; placed anew")
        elif not drawing and settings.embed != "always" and has_impossible_bonds(parent.mol):
            notes.append("coordinates had impossible bonds; made anew, check the stereo")
        elif not drawing and (lost := lost_stereo(drawn, record)) and open_stereo(parent.mol):
            notes.append(lost)
        its_smiles = written if drawing else smiles  # coordinates have one isomer of a group's
        states = yield from _states(parent.mol, drawing, its_smiles, settings, shapes, notes)
        yield None
        values = properties(parent.mol)
        yield None
        _shape_cache(settings, shapes).save()
        note = short("; ".join(notes))
        return Prepared(smiles, key, note=note, states=states, properties=values)
    except UnusableError as error:
        detail, note = short(str(error)), short("; ".join(notes))
        return Prepared(smiles, key, error.reason, detail, note)
    except MemoryError:
        raise
    except Exception as error:
        return _unreadable(error, smiles, key)


def _parent(drawn: Chem.Mol, settings: ParseSettings) -> Steps[tuple[Parent, str]]:
    """The parent of a molecule as drawn, and its SMILES."""
    if settings.standardise:
        parent = yield from standardising(drawn)
    else:
        parent = Parent(*largest_fragment(drawn))
    yield None
    return parent, canonical_smiles(parent.mol)


def _unreadable(error: Exception, smiles: str = "", key: str = "") -> Prepared:
    detail = f"RDKit: {type(error).__name__}: {error}"
    return Prepared(smiles, key, Reason.UNPARSABLE, short(detail))


def prepare_one_state(
    record: Record, settings: ParseSettings, shapes: Path | None = None
) -> Prepared:
    """Make one ligand of a record on which `prepare` cost a worker its life."""
    one = settings.model_copy(update=dict.fromkeys(MOST, 1))
    prepared = prepare(record, one, shapes)
    if prepared.status != Status.READY:
        return prepared
    return replace(prepared, note=short("; ".join(filter(None, (SIMPLER, prepared.note)))))


def lost(record: Record, timed_out: bool, exit_code: int, settings: ParseSettings) -> Prepared:
    """The result for a record on which a worker process was lost."""
    if timed_out:
        detail = f"not finished in {settings.time_limit:g} s of processor time"
        return Prepared(reason=Reason.TIMED_OUT, detail=detail)
    if exit_code == OUT_OF_MEMORY:
        detail = f"needs more than {settings.memory_limit} MiB of memory"
        return Prepared(reason=Reason.OUT_OF_MEMORY, detail=detail)
    detail = f"{CRASHED} on the record at line {record.line} (exit code {exit_code})"
    return Prepared(reason=Reason.UNPARSABLE, detail=detail)


def content_key(smiles: str) -> str:
    """32 hexadecimal digits that stand for a parent molecule.

    With half as many, two of 10^9 molecules would share them with a probability of 3 %, and one of
    the two would not be docked.
    """
    return hashlib.sha256(smiles.encode()).hexdigest()[:32]


def _require_wanted(parent: Chem.Mol, notes: list[str], settings: ParseSettings) -> None:
    """Reject what the settings exclude; note a macrocycle."""
    size = macrocycle(surroundings(parent).rings)
    if size:
        notes.append(f"macrocycle of {size} atoms")
    mixture = [note for note in notes if note.startswith(MIXTURE)]
    if mixture and settings.mixtures == "reject":
        raise UnusableError(Reason.MIXTURE, mixture[0])
    found = objection(parent, settings.properties, settings.alerts, settings.exclude)
    if found:
        raise UnusableError(*found)


@dataclass(frozen=True)
class _Drawing:
    """A molecule as drawn whose coordinates are kept."""

    mol: Chem.Mol
    smiles: str


def _drawing(
    drawn: Chem.Mol, parent: Parent, its_smiles: str, settings: ParseSettings
) -> Steps[_Drawing | None]:
    """The molecule as drawn, where its coordinates are kept."""
    if settings.embed != "always" and (yield have_conformers, [parent.mol])[0]:
        mol, _ = largest_fragment(drawn)
        return _Drawing(mol, its_smiles if parent.as_drawn else canonical_smiles(mol))
    if settings.embed == "never":
        raise UnusableError(Reason.NO_COORDINATES, "no 3-D coordinates, and none may be made")
    return None


def _states(
    parent: Chem.Mol,
    drawing: _Drawing | None,
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
    if not states and problems and problems[0].reason == Reason.EMBEDDING_FAILED:
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
        notes += _left_out([str(problem) for problem in problems])
    if not states and problems:
        raise problems[0]
    if not drawing:
        _note_open_stereo(parent, docked, settings, notes)
    return tuple(ligand for ligands in states.values() for ligand in ligands)


def _left_out(problems: Sequence[str]) -> Iterator[str]:
    """Notes on states that were not built. Most stereoisomers of a cage exist on paper alone."""
    if impossible := problems.count(EXCLUDED):
        yield f"{impossible} impossible stereoisomer{'s' * (impossible > 1)} left out"
    others = [problem for problem in problems if problem != EXCLUDED]
    if others:
        count = f"{len(others)} states left out, the first" if others[1:] else "1 state left out"
        yield f"{count} for: {others[0]}"


def _built(
    parent: Chem.Mol,
    known: str,
    drawing: _Drawing | None,
    settings: ParseSettings,
    shapes: Path | None,
    notes: list[str],
) -> Steps[tuple[dict[str, list[State]], list[UnusableError]]]:
    """States of a parent by SMILES, and what was in the way of the others.

    `known` is the parent's SMILES, where it has one already. With a drawing the states have its
    coordinates, but for those that they do not fit; for these, and without one, conformers are
    made.
    """
    states: dict[str, list[State]] = {}
    problems: dict[str, UnusableError] = {}
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
    for (form, _, cost), placed, tried, others in zip(forms, places, first, every, strict=True):
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
                        (ordered,) = yield _docking_orders, [Lists(full)]
                    states[smiles] = yield from _ligands(
                        isomer, ordered, smiles, placed, settings, shapes, notes
                    )
            except UnusableError as error:
                problems[smiles] = error
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
            (ordered,) = _docking_orders([Lists(Chem.AddHs(isomer))])
            if isomer.GetNumAtoms() > ordered.heavy:
                return found  # see _joined
            cache = _shape_cache(self.settings, self.shapes)
            energy = lowest_energy(*_bare(isomer, ordered), cache)
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
    isomers: Iterable[tuple[Chem.Mol, str]], drawing: _Drawing | None, settings: ParseSettings
) -> Steps[dict[str, _Ordered]]:
    """Isomers by SMILES, hydrogens added, in docking order; those that are too large left out."""
    found = {}
    for isomer, smiles in isomers:
        if smiles not in found:
            with suppress(UnusableError):
                found[smiles] = _full(isomer, drawing, smiles, settings)
    yield None
    lists = list(map(Lists, found.values()))
    ordered = (yield _docking_orders, lists) if lists else []
    return dict(zip(found, ordered, strict=True))


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
    (ordered,) = _docking_orders([Lists(Chem.AddHs(form))])
    if form.GetNumAtoms() > ordered.heavy:
        return False  # see _joined
    return can_exist(*_bare(form, ordered), _shape_cache(settings, shapes))


def _forms(
    parent: Chem.Mol, known: str, settings: ParseSettings
) -> Steps[list[tuple[Chem.Mol, str, float]]]:
    """Tautomers of a parent in their protonation states: with SMILES, and costs in kcal/mol.

    In the order of their costs.
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
    return sorted(forms, key=lambda form: form[2])  # two tautomers may share one


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


def _every_isomer_is_tried(parent: Chem.Mol, settings: ParseSettings) -> bool:
    """Whether a molecule has no more stereoisomers than are tried."""
    return len(list(stereoisomers(parent, MOST_ISOMERS + 1, settings.seed))) <= MOST_ISOMERS


def _note_open_stereo(
    parent: Chem.Mol, docked: int, settings: ParseSettings, notes: list[str]
) -> None:
    """Say that stereoisomers are not docked; most of a cage's cannot be."""
    count, most = undefined_stereo(parent), settings.stereoisomers
    if count > most and not (docked < most and _every_isomer_is_tried(parent, settings)):
        notes.append(f"{count} stereoisomers are open, {most} at most docked")


def _full(
    isomer: Chem.Mol, drawing: _Drawing | None, smiles: str, settings: ParseSettings
) -> Chem.Mol:
    """A state with its hydrogens; the drawing itself where the state is as drawn."""
    mol = drawing.mol if drawing and smiles == drawing.smiles else isomer
    mol = Chem.AddHs(mol, addCoords=drawing is not None) if Chem.NeedsHs(mol) else mol
    if mol.GetNumAtoms() > settings.max_atoms:
        detail = f"{mol.GetNumAtoms()} atoms with hydrogens, at most {settings.max_atoms}"
        raise UnusableError(Reason.TOO_MANY_ATOMS, detail)
    return mol


def _ligands(
    isomer: Chem.Mol,
    ordered: _Ordered,
    smiles: str,
    placed: bool,
    settings: ParseSettings,
    shapes: Path | None,
    notes: list[str],
) -> Steps[list[State]]:
    """One state in each of its conformers."""
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
    ordered: _Ordered,
    settings: ParseSettings,
    shapes: Path | None,
    makes: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Conformers put together from pieces, as of `assemble`; None where that cannot be."""
    if isomer.GetNumAtoms() > ordered.heavy:
        return None  # a hydrogen that is an atom, such as deuterium: pieces have heavy atoms alone
    try:
        return assemble(
            *_bare(isomer, ordered),
            _shape_cache(settings, shapes),
            _most(ordered, settings),
            np.inf if macrocycle(ordered.lists.rings) else settings.max_strain,
            makes,
        )
    except NoConformerError as error:
        raise UnusableError(Reason.EMBEDDING_FAILED, str(error)) from error


def _whole(
    ordered: _Ordered, smiles: str, settings: ParseSettings
) -> tuple[_Ordered, list[np.ndarray]]:
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


def _most(ordered: _Ordered, settings: ParseSettings) -> int:
    """Most conformers of a molecule."""
    is_large = macrocycle(ordered.lists.rings)
    return settings.macrocycle_conformers if is_large else settings.conformers


def _bare(isomer: Chem.Mol, ordered: _Ordered) -> tuple[Chem.Mol, list[list[int]], Torsions]:
    """A molecule's heavy atoms in docking order, the neighbours of every atom, and its torsions."""
    order, around = ordered.order.tolist(), ordered.lists.neighbours
    new = np.argsort(ordered.order).tolist()
    neighbours = [sorted([new[other] for other in around[atom]]) for atom in order]
    return Chem.RenumberAtoms(isomer, order[: ordered.heavy]), neighbours, ordered.torsions


def _shape_cache(settings: ParseSettings, shapes: Path | None) -> ShapeCache:
    """The shapes of this process; a connection to their file must not pass to a forked one."""
    limits = settings.conformers, settings.macrocycle_conformers
    return _shape_cache_of(os.getpid(), shapes, settings.seed, *limits)


@cache
def _shape_cache_of(
    _process: int, shapes: Path | None, seed: int, limit: int, macrocycles: int
) -> ShapeCache:
    return ShapeCache(shapes, seed, limit, macrocycles)


def _rows(
    ordered: _Ordered,
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


def _docking_orders(lists: Sequence[Lists]) -> list[_Ordered]:
    """Connected molecules with their hydrogens in docking order."""
    arrays = Arrays(lists)
    is_heavy = arrays.element > 1
    bond = np.stack([arrays.near, arrays.far], axis=1)
    found = heavy_first(is_heavy, bond, rotatable_bonds(arrays), arrays.first)
    heavy = np.bincount(arrays.owner, is_heavy, len(lists)).astype(int).tolist()
    charges = gasteiger_of(arrays, found.order)
    return [
        _Ordered(
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
