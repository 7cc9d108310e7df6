"""Docking from Python: prepare a pocket once, dock molecules into it, look at the hits.

    from ligen_py.api import Pocket, dock

    pocket = Pocket.from_pdb("protein.pdb", site="reference.sdf")
    hits = dock(pocket, ["CCO ethanol", "library.sdf"])
    hits[0].pose  # an RDKit molecule with hydrogens and bond orders, docked
    hits.to_sdf("hits.sdf")

Every step is the stage of a campaign, so poses and scores are those of a campaign with the same
settings, bit for bit. docs/python.md explains more.
"""

from ligen_py.api.docking import dock
from ligen_py.api.hits import Failure, Hit, Hits, Redocking
from ligen_py.api.pocket import Pocket
from ligen_py.errors import DeviceError, InputError

__all__ = ["DeviceError", "Failure", "Hit", "Hits", "InputError", "Pocket", "Redocking", "dock"]
