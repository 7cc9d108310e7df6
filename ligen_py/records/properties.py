"""Properties of parents, by which molecules are chosen: in ligands files and in campaigns."""

from dataclasses import dataclass, fields

import numpy as np

from ligen_py.records.column import Record, column


@dataclass(frozen=True, slots=True)
class Properties(Record):
    """Properties of the parent of each input record, by RDKit; not a number without a parent."""

    weight: np.ndarray = column("f4", "row", units="Da", doc="monoisotopic weight")
    logp: np.ndarray = column("f4", "row", doc="logP by Crippen")
    donors: np.ndarray = column("f4", "row", doc="donors of hydrogen bonds")
    acceptors: np.ndarray = column("f4", "row", doc="acceptors of hydrogen bonds")
    tpsa: np.ndarray = column("f4", "row", units="angstrom^2", doc="polar surface")
    rotatable: np.ndarray = column("f4", "row", doc="rotatable bonds")
    rings: np.ndarray = column("f4", "row", doc="rings")
    heavy: np.ndarray = column("f4", "row", doc="heavy atoms")
    charge: np.ndarray = column("f4", "row", units="e", doc="formal charge")


PROPERTY_NAMES = tuple(spec.name for spec in fields(Properties))
"""In the order of the columns; those of the setting `parse.properties`."""

COUNTS = ("donors", "acceptors", "rotatable", "rings", "heavy", "charge")
"""Those that are whole numbers."""
