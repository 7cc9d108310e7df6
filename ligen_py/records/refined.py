"""Refined poses: the file of `refine`."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import Kind, Record, column
from ligen_py.records.kept import Verdicts
from ligen_py.records.ledger import Ledger
from ligen_py.records.poses import Poses


@dataclass(frozen=True, slots=True)
class Refinement(Record):
    """Energies of refined poses in the field of the refinement, including the internal energy."""

    before: np.ndarray = column("f4", "pose", units="kcal/mol", doc="energy of the kept pose")
    after: np.ndarray = column("f4", "pose", units="kcal/mol", doc="lowest energy found from there")


REFINED = Kind(
    "refined",
    1,
    {"ledger": Ledger, "poses": Poses, "verdicts": Verdicts, "refinement": Refinement},
)
