"""AutoGrid's maps, read and written: AutoGrid's own files, and bad ones."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.molecules.autogrid import Autogrid, map_files, read_maps


def some_maps() -> Autogrid:
    rng = np.random.default_rng(1)
    shape = (5, 3, 7)
    values = {name: rng.normal(size=shape).round(3).astype("f4") for name in ("C", "OA", "e", "d")}
    return Autogrid("protein.pdbqt", np.array([1.0, -2.5, 3.25]), 0.375, shape, values)


def written(folder: Path) -> Path:
    for name, text in map_files("protein", some_maps()).items():
        (folder / name).write_text(text)
    return folder / "protein.maps.fld"


def test_maps_are_read_as_they_were_written(tmp_path: Path) -> None:
    ours, found = some_maps(), read_maps(written(tmp_path))
    assert (found.shape, found.spacing, found.receptor) == (ours.shape, 0.375, "protein.pdbqt")
    assert found.center == pytest.approx(ours.center)
    assert found.origin == pytest.approx(ours.center - 0.375 * np.array([2, 1, 3]))
    assert set(found.values) == set(ours.values)
    for name, values in ours.values.items():
        assert np.array_equal(found.values[name], values)


def test_maps_of_autogrid_are_read_in_its_order(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "reference" / "energies" / "1stp" / "maps"
    for path in folder.glob("*.map.gz"):
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    (tmp_path / "1stp_protein.maps.fld").write_text((folder / "1stp_protein.maps.fld").read_text())
    found = read_maps(tmp_path / "1stp_protein.maps.fld", ["OA"])
    assert found.shape == (25, 23, 33)
    assert set(found.values) == {"OA", "e", "d"}
    numbers = (tmp_path / "1stp_protein.OA.map").read_text().splitlines()[6:]
    assert found.values["OA"][3, 2, 1] == np.float32(numbers[3 + 25 * (2 + 23 * 1)])
    assert found.origin == pytest.approx([10.734 - 4.5, 2.033 - 4.125, -11.537 - 6])


BAD: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text.replace("SPACING 0.375", "SPACING 0.5"), "its spacing is 0.5 A"),
    (lambda text: text.replace("CENTER 1.000", "CENTER 2.000"), "its box is another one"),
    (lambda text: text.replace("NELEMENTS 4 2 6", "NELEMENTS 4 2 8"), "its box is another one"),
    (
        lambda text: "\n".join(text.splitlines()[:-3]),
        "102 numbers, but the box has 105 points; run AutoG",
    ),
    (lambda text: text.replace("CENTER", "MIDDLE"), "is missing; run AutoGrid again"),
    (lambda text: "", "is missing; run AutoGrid again"),
    *(
        (
            lambda text, word=word: "\n".join([*text.splitlines()[:-1], word]),
            rf"line 111: '{word}' is no finite number; run AutoGrid again",
        )
        for word in ("nan", "1e400", "1e39", "what", "0,5", "1_0")
    ),
    (lambda text: f"{text}{'x' * 1000}", f"line 112: '{'x' * 40}' is no finite number"),
    (
        lambda text: "\n".join([*text.splitlines()[:6], " ".join(text.splitlines()[6:])]),
        "line 7: 105 words, but AutoGrid writes one number a line; run AutoGrid again",
    ),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("change", "words"), BAD)
def test_bad_maps_are_named(change: Callable[[str], str], words: str, tmp_path: Path) -> None:
    field, path = written(tmp_path), tmp_path / "protein.OA.map"
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=words) as error:
        read_maps(field)
    assert "protein.OA.map" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "sound"),
    [
        ("SPACING 9.99", True),
        ("SPACING 10", False),
        ("SPACING 0.001", True),
        ("SPACING 0", False),
        ("NELEMENTS 4 2 6", True),
        ("NELEMENTS 4 0 6", False),
        ("NELEMENTS 4 2", False),
        ("CENTER 1 2", False),
        ("CENTER 1 nan 3", False),
    ],
)
def test_a_box_has_points_on_each_side_and_a_spacing_below_10_a(
    words: str, sound: bool, tmp_path: Path
) -> None:
    field = written(tmp_path)
    for path in tmp_path.iterdir():
        path.write_text(re.sub(rf"{words.split()[0]} .*", words, path.read_text()))
    if sound:
        assert read_maps(field).shape == (5, 3, 7)
    else:
        with pytest.raises(InputError, match="makes no box"):
            read_maps(field)


def test_a_comment_is_no_header(tmp_path: Path) -> None:
    field = written(tmp_path)
    comments = "# CENTER of the box\n# SPACING is in Angstrom\n"
    text = field.read_text().replace("#GRID_PARAMETER_FILE", f"{comments}#GRID_PARAMETER_FILE")
    field.write_text(text)
    assert comments in text
    assert read_maps(field).shape == (5, 3, 7)


def test_names_may_have_spaces_and_receptors_any_encoding(tmp_path: Path) -> None:
    for name, text in map_files("my protein", some_maps()).items():
        coding = "latin-1" if name.endswith(".map") else "utf-8"
        (tmp_path / name).write_text(text.replace("protein.pdbqt", "proteína.pdbqt"), coding)
    assert set(read_maps(tmp_path / "my protein.maps.fld").values) == {"C", "OA", "e", "d"}
    strange = tmp_path / "strange.maps.fld"
    strange.write_text((tmp_path / "my protein.maps.fld").read_text(), "latin-1")
    assert read_maps(strange).receptor == "prote?na.pdbqt"
    field = tmp_path / "my protein.maps.fld"
    field.write_text(field.read_text().replace("variable 2 file=", "variable 2 name="))
    with pytest.raises(InputError, match=r"'variable 2 name=.*' names no variable with"):
        read_maps(field)


def test_labels_say_of_which_type_a_map_is(tmp_path: Path) -> None:
    """Names of files need not contain the type, nor is one that does believed before a label."""
    field, ours = written(tmp_path), some_maps()
    text = field.read_text()
    for old, new in (("C", "first"), ("OA", "x.C"), ("e", "protein.d.new"), ("d", "q.e")):
        (tmp_path / f"protein.{old}.map").rename(tmp_path / f"{new}.map")
        text = text.replace(f"file=protein.{old}.map", f"file={new}.map")
    lines = text.splitlines()
    variables = [n for n, line in enumerate(lines) if line.startswith("variable")]
    lines[variables[0]], lines[variables[2]] = lines[variables[2]], lines[variables[0]]
    field.write_text("\n".join(lines))
    found = read_maps(field)
    assert set(found.values) == set(ours.values)
    for name, values in ours.values.items():
        assert np.array_equal(found.values[name], values)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("label=C-affinity", "#", "its 3 lines 'label=' do not belong to variables 1, 2, 3, 4"),
        ("variable 2 ", "variable 5 ", "'label=' do not belong to variables 1, 3, 4, 5"),
        ("variable 1 ", "variable one ", r"line 31: 'variable one file=.*' names no variable"),
        ("label=OA", "label=C", "two variables have the label of C"),
        ("label=OA", "label=c", "two variables have the label of C"),
        ("label=Electrostatics", "label=Charges", "no map for atom type e"),
    ],
)
def test_labels_that_belong_to_no_map_are_named(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    field = written(tmp_path)
    field.write_text(field.read_text().replace(old, new))
    with pytest.raises(InputError, match=words):
        read_maps(field)


def test_sodium_is_no_nitrogen(tmp_path: Path) -> None:
    field = written(tmp_path)
    field.write_text(field.read_text().replace("label=OA", "label=Na"))
    with pytest.raises(InputError, match="no map for atom type NA; there are: C, Na, d, e"):
        read_maps(field, ["NA"])
    field.write_text(field.read_text().replace("label=C-", "label=NA-"))
    assert set(read_maps(field, ["NA"]).values) == {"NA", "d", "e"}


def test_missing_maps_are_named(tmp_path: Path) -> None:
    field = written(tmp_path)
    with pytest.raises(InputError, match="no map for atom type HD; there are: C, OA, d, e"):
        read_maps(field, ["C", "HD"])
    (tmp_path / "protein.C.map").unlink()
    with pytest.raises(InputError, match=r"protein\.C\.map: does not exist"):
        read_maps(field, ["C"])
    assert "C" not in read_maps(field, ["OA"]).values
    (tmp_path / "protein.C.map.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"protein\.C\.map\.gz: is compressed; unpack the maps"):
        read_maps(field, ["C"])
    (tmp_path / "protein.C.map").mkdir()
    with pytest.raises(InputError, match=r"protein\.C\.map: is a folder, but protein\.maps\.fld"):
        read_maps(field, ["C"])
    field.write_text("no field\n")
    with pytest.raises(InputError, match="no field file of AutoGrid"):
        read_maps(field)
