"""A row of a ligands file, a form of a molecule with a start conformer, and how it is passed on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from ligen_py.functions import all_types, load_types
from ligen_py.molecules.graph import Graph, Outline
from ligen_py.molecules.ligands.rotatable_bonds import pair_masks
from ligen_py.molecules.typing.input import LigandAtoms


@dataclass(frozen=True)
class State:
    """One row of `Ligands`: a form of a molecule with a start conformer."""

    outline: Outline
    """Atoms in docking order."""
    partial: np.ndarray
    """f8 (atoms,): Gasteiger charges, which need the molecule."""
    shape: dict[str, np.ndarray]
    """Its rows of those columns of `Ligands` that do not follow from the outline."""

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Its rows of all columns of `Ligands`, offsets and entry apart."""
        return columns_of([self])["ligands"]

    def __reduce__(self) -> tuple[Any, ...]:
        """As strings of bytes: a process needs a third of the time to pass it to another one.

        What conformers share is passed once, as they have the same outline.
        """
        own = _bytes_of(self.shape, OWN)
        return _unpacked, (self.shape["smiles"][0], *_shared(self), *own)


def _bytes_of(
    values: dict[str, np.ndarray], columns: Sequence["_Packed"]
) -> tuple[tuple[int, ...], bytes]:
    """Lengths of some arrays, and their bytes one after another."""
    arrays = [np.asarray(values[name], dtype) for name, dtype, _ in columns]
    return tuple(map(len, arrays)), b"".join([array.tobytes() for array in arrays])


def _shared(state: State) -> tuple[tuple[int, ...], bytes]:
    """What all conformers of a molecule have; the same object for the next one of it."""
    if _last.get("outline") is not state.outline:
        values = {"partial": state.partial, **vars(state.outline), **state.shape}
        _last.update(outline=state.outline, packed=_bytes_of(values, SHARED))
    packed: tuple[tuple[int, ...], bytes] = _last["packed"]
    return packed


_last: dict[str, Any] = {}
"""The outline that was packed last, and its bytes."""

_Packed = tuple[str, str, tuple[int, ...]]

SHARED: tuple[_Packed, ...] = (
    ("partial", "f8", ()),
    ("heavy", "i4", ()),
    ("ends", "i4", (2,)),
    ("ring", "i4", ()),
    ("ring_size", "i4", ()),
    ("torsion_axis", "i2", (2,)),
    ("torsion_range", "i2", (4,)),
    ("element", "u1", ()),
    ("charge", "i1", ()),
    ("aromatic", "?", ()),
    ("aromatic_double", "?", ()),
    ("accepts", "?", ()),
    ("order", "u1", ()),
    ("amide", "?", ()),
    ("molecule", "u1", ()),
)
"""Arrays of a molecule, types and further dimensions; the largest types first, so none is split."""

OWN: tuple[_Packed, ...] = (
    ("state_cost", "f4", ()),
    ("strain", "f4", ()),
    ("xyz", "f4", (3,)),
    ("conformer", "u2", ()),
    ("isomers", "u2", ()),
)
"""Those of a conformer."""


def _unpacked(
    smiles: str, shared: tuple[int, ...], data: bytes, own: tuple[int, ...], more: bytes
) -> State:
    """A state from its bytes."""
    outline, partial, shape = _shared_of(smiles, shared, data)
    return State(outline, partial, {**shape, **_arrays_of(own, more, OWN)})


@lru_cache(maxsize=1)
def _shared_of(
    smiles: str, sizes: tuple[int, ...], data: bytes
) -> tuple[Outline, np.ndarray, dict[str, np.ndarray]]:
    """The same objects for all conformers of a molecule, which come one after another."""
    values = _arrays_of(sizes, data, SHARED)
    outline = Outline(**{spec.name: values.pop(spec.name) for spec in fields(Outline)})
    partial = values.pop("partial")
    return outline, partial, {"smiles": np.array([smiles], object), **values}


def _arrays_of(
    sizes: tuple[int, ...], data: bytes, columns: Sequence[_Packed]
) -> dict[str, np.ndarray]:
    """Arrays from their lengths and bytes."""
    values, start = {}, 0
    for (name, dtype, further), size in zip(columns, sizes, strict=True):
        array = np.frombuffer(data, dtype, size * math.prod(further), start)
        values[name] = array.reshape(size, *further) if further else array
        start += array.nbytes
    return values


Columns = dict[str, dict[str, np.ndarray]]
"""Group of a ligands file -> its columns."""


def columns_of(states: Sequence[State]) -> Columns:
    """The columns of some states (at least one), offsets and entry apart.

    Those of `Ligands`, and for every scoring function that has atom types those of its own
    group; all states are typed at once.
    """
    graph = Graph.of_outlines([state.outline for state in states])
    sizes = [len(state.partial) for state in states]
    owner = np.repeat(np.arange(len(states)), sizes)
    first_atom = np.cumsum([0, *sizes[:-1]])
    shapes = [state.shape for state in states]
    common = {name: np.concatenate([shape[name] for shape in shapes]) for name in shapes[0]}
    common |= {
        "element": graph.element,
        "charge": graph.charge,
        "bond": (graph.bond - first_atom[owner[graph.bond]]).astype("u1"),
        "bond_order": graph.order,
        "pair_mask": _pair_masks(graph, common, [len(shape["torsion_axis"]) for shape in shapes]),
    }
    partial = np.concatenate([state.partial for state in states])
    atoms = LigandAtoms(graph, partial, owner, len(states))
    typed = {
        types.group: load_types(types, "typing").ligand_columns(atoms) for types in all_types()
    }
    return {"ligands": common} | typed


def _pair_masks(
    graph: Graph, columns: dict[str, np.ndarray], torsions: Sequence[int]
) -> np.ndarray:
    is_heavy = graph.element > 1
    number = np.cumsum(is_heavy) - 1
    bond = number[graph.bond[is_heavy[graph.bond].all(axis=1)]]
    return pair_masks(bond, columns["torsion_range"], columns["heavy"], np.array(torsions))
