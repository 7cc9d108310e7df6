"""Which docked poses are refined."""

from pydantic import Field

from ligen_py.records.limits import MAX_ATOMS, MAX_RESTARTS
from ligen_py.settings.section import Section


class FilterSettings(Section):
    """Which docked poses are refined."""

    max_num_poses: int = Field(256, ge=1, le=MAX_RESTARTS, description="poses kept per ligand")
    max_pocket_bumps: int = Field(
        1,
        ge=0,
        le=MAX_ATOMS,
        description="heavy atoms that may lie in the receptor's core in a bump-free pose",
    )
    cluster_rmsd: float = Field(
        0.0,
        ge=0,
        le=20,
        description="poses within this heavy-atom RMSD are one cluster, in Angstrom; 0: each is",
    )
    symmetry: bool = Field(
        False,
        description="whether that RMSD is the lowest over all ways, 1000 at most, to map the "
        "molecule onto itself",
    )
