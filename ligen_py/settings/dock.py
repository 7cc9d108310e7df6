"""How ligands are docked."""

from pydantic import Field

from ligen_py.records.limits import MAX_RESTARTS
from ligen_py.settings.section import Section


class DockSettings(Section):
    """LiGen's Algorithm 1: restarts, iterations and angles of the geometric search."""

    num_restart: int = Field(1024, ge=1, le=MAX_RESTARTS, description="starting poses per ligand")
    num_iterations: int = Field(2, ge=0, le=64, description="passes over all fragments")
    n_angles: int = Field(32, ge=4, le=256, description="angles tried per fragment and axis")
    bump_tests: int = Field(
        4, ge=1, le=256, description="best angles of a fragment that are tested for internal bumps"
    )
    bump_tolerance: float = Field(
        0.75,
        gt=0,
        le=1,
        description="two atoms bump nearer than this fraction of the sum of their Bondi radii",
    )
    max_num_poses: int = Field(
        256,
        ge=0,
        le=MAX_RESTARTS,
        description="poses kept per ligand for the filter, the best by bumps and score; 0: all",
    )
