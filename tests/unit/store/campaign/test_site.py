"""Boxes of the conformations of a target."""

from pathlib import Path

from ligen_py.provenance import Run
from ligen_py.records.pocket import POCKET
from ligen_py.settings.pocket import PocketSettings
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.site import other_places
from ligen_py.store.files.write import new_file, write_record
from tests.stages.factory import field


def pocket(path: Path, *origin: float) -> PartFiles:
    with new_file(path, POCKET, Run("pocket", PocketSettings(), ())) as file:
        write_record(file.create_group("field"), field(*origin))
    none = Path()
    return PartFiles("t", "lib", path, none, none, none, none, none)


def test_boxes_that_lie_apart_are_told(tmp_path: Path) -> None:
    one, near, far = (
        pocket(tmp_path / "one.h5", 0.0, 0.0, 0.0),
        pocket(tmp_path / "near.h5", 0.0, 2.0, 0.0),
        pocket(tmp_path / "far.h5", 6.0, 0.0, 8.0),
    )
    assert other_places([one]) == other_places([one, near]) == ""
    assert other_places([near, one, far]).startswith(
        "the boxes of its conformations lie up to 10.2 A apart"
    )
