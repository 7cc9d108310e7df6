"""One input record to its ligands: parent, states, hydrogens, conformers, torsions, atom types.

What goes wrong with a molecule is a result (`Prepared.reason`), never an exception. All follows
from the parent molecule and the settings alone, so a molecule becomes the same ligands wherever it
stands in a library and however the library is cut.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rdkit import Chem

from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.building import Drawing, states_of
from ligen_py.molecules.ligands.conformers import (
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
from ligen_py.molecules.ligands.one_state import shape_cache
from ligen_py.molecules.ligands.pka_table import families, substituents
from ligen_py.molecules.ligands.ring_shapes import macrocycle
from ligen_py.molecules.ligands.rows import State
from ligen_py.molecules.ligands.standardising import (
    MIXTURE,
    Parent,
    canonical_smiles,
    content_key,
    largest_fragment,
    smiles_with_groups,
    standardise,
    standardising,
)
from ligen_py.molecules.ligands.states import (
    open_stereo,
)
from ligen_py.molecules.ligands.unmarked_stereo import ring_axes
from ligen_py.molecules.steps import Steps, at_once, in_turn
from ligen_py.molecules.surroundings import surroundings
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


MOST = ("protomers", "tautomers", "stereoisomers", "conformers", "macrocycle_conformers")
"""Settings that limit how many states and conformers a molecule has."""


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
        if ring_axes(parent.mol):
            notes.append("double bonds and rings in a row: which isomer is drawn is left open")
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
        states = yield from states_of(parent.mol, drawing, its_smiles, settings, shapes, notes)
        yield None
        values = properties(parent.mol)
        yield None
        shape_cache(settings, shapes).save()
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


def _drawing(
    drawn: Chem.Mol, parent: Parent, its_smiles: str, settings: ParseSettings
) -> Steps[Drawing | None]:
    """The molecule as drawn, where its coordinates are kept."""
    if settings.embed != "always" and (yield have_conformers, [parent.mol])[0]:
        mol, _ = largest_fragment(drawn)
        return Drawing(mol, its_smiles if parent.as_drawn else canonical_smiles(mol))
    if settings.embed == "never":
        raise UnusableError(Reason.NO_COORDINATES, "no 3-D coordinates, and none may be made")
    return None
