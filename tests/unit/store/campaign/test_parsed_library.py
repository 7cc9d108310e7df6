"""A parsed library is used as a whole or not at all, and says how it was made."""

import shutil
from pathlib import Path

import pytest

from ligen_py import parse
from ligen_py.errors import InputError
from ligen_py.store.campaign.manifest import COLUMNS
from ligen_py.store.campaign.parsed_library import parsed_chunks
from tests.edited import edited


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = tmp_path / "mols.smi"
    library.write_text("CCO a\nCCN b\nCCC c\n")
    for part in ("1-of-2", "2-of-2"):
        output = str(tmp_path / "ligands" / f"{part}.h5")
        words = ["--input", str(library), "--part", part, "--output", output, "--jobs", "1"]
        assert parse.main([*words, "--quiet"]) == 0
    return tmp_path / "ligands"


def test_chunks_come_in_order_with_the_file_they_are_from(folder: Path) -> None:
    found = parsed_chunks(folder)
    assert list(found) == ["1-of-2", "2-of-2"]
    assert {chunk.source for chunk in found.values()} == {"mols.smi"}


def test_what_the_campaign_lists_is_the_library(folder: Path, tmp_path: Path) -> None:
    """Files removed from it since leave theirs; of a run that stopped some are missing."""
    place = tmp_path / "results/ligands/drugs"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    shutil.copy(place / "1-of-2.h5", place / "1-of-1.h5")  # of another cut
    shutil.copy(place / "1-of-2.h5", place / "gone.smi.1-of-1.h5")

    def listing(*chunks: str) -> None:
        rows = [["t", "drugs", "m.smi", "t.h5", f"l/{chunk}.h5"] for chunk in chunks]
        others = ["p.h5", "k.h5", "r.h5", "s.h5", "0", "", ""]
        text = "".join("\t".join(row) + "\n" for row in (COLUMNS, *(r + others for r in rows)))
        (tmp_path / "results/manifest.tsv").write_text(text)

    with pytest.raises(InputError, match="belongs to another cut"):
        parsed_chunks(place)  # nobody says which are right
    listing("1-of-2", "2-of-2")
    assert list(parsed_chunks(place)) == ["1-of-2", "2-of-2"]
    listing("1-of-2", "2-of-2", "more.smi.1-of-1")
    with pytest.raises(InputError, match=r"chunk more\.smi\.1-of-1 is missing; finish that"):
        parsed_chunks(place)


def test_files_of_one_name_in_two_folders_stay_two(folder: Path, tmp_path: Path) -> None:
    """The run record names no folder; the manifest does, and without it the chunk's label."""
    place = tmp_path / "results/ligands/drugs"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    for number, label in (("1", "x_mols.smi"), ("2", "y_mols.smi")):
        (place / f"{number}-of-2.h5").rename(place / f"{label}.1-of-1.h5")
    assert [one.source for one in parsed_chunks(place).values()] == ["x_mols.smi", "y_mols.smi"]
    files = ["p.h5", "k.h5", "r.h5", "s.h5"]
    rows = [
        [
            "t",
            "drugs",
            f"{one}/mols.smi",
            "t.h5",
            f"l/{one}_mols.smi.1-of-1.h5",
            *files,
            "0",
            "",
            "",
        ]
        for one in "xy"
    ]
    text = "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))
    (tmp_path / "results/manifest.tsv").write_text(text)
    assert [one.source for one in parsed_chunks(place).values()] == ["x/mols.smi", "y/mols.smi"]


def test_what_cannot_be_used_is_named(folder: Path) -> None:
    second = folder / "2-of-2.h5"
    with edited(second) as file:
        recorded = dict(file.attrs)
        file.attrs["settings"] = '{"seed": 2}'
    with pytest.raises(InputError, match=r"2-of-2\.h5: was parsed with other settings than"):
        parsed_chunks(folder)
    with edited(second) as file:
        file.attrs["settings"] = recorded["settings"]
        del file.attrs["stage-digest"]
    with pytest.raises(InputError, match=r"2-of-2\.h5: does not say how it was made"):
        parsed_chunks(folder)
    second.rename(folder / "2-of-3.h5")
    with pytest.raises(InputError, match="chunk 2-of-2 is missing"):
        parsed_chunks(folder)
    (folder / "2-of-3.h5").rename(folder / "notes.h5")
    with pytest.raises(InputError, match="not a chunk of a library"):
        parsed_chunks(folder)
    with pytest.raises(InputError, match="no such folder"):
        parsed_chunks(folder / "nowhere")
