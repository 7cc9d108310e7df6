"""Files made to harm: nothing is allocated, followed or executed for them; one sentence ends it."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from ligen_py import aggregate, query
from ligen_py.errors import InputError
from ligen_py.records.ledger import Reason
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.campaign.part import Poses, read_part
from ligen_py.store.files.read import read, read_columns
from tests.edited import edited
from tests.stages.factory import Molecule, write_manifest, write_part

MOLECULES = [
    Molecule("butanol", "CCCCO", 5.0),
    Molecule("acid", "OC(=O)CCc1ccccc1", 4.0),
    Molecule("cut", "C(", None),
]
MOST_BYTES = 20_000_000
"""More than reading the small file takes; each hostile declaration asks for far more."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_part(tmp_path, "t", "lib", "1-of-1", MOLECULES).ligands


def read_all(path: Path) -> None:
    for record in LIGANDS.groups.values():
        read(path, LIGANDS, record)


def replaced(file: h5py.File, name: str, **how: object) -> h5py.Dataset:
    dtype = file[name].dtype
    del file[name]
    return file.create_dataset(name, **{"dtype": dtype, **how})


def endless(file: h5py.File) -> None:
    replaced(file, "ligands/xyz", shape=(10**12, 3), chunks=(1024, 3))


def endless_in_one_piece(file: h5py.File) -> None:
    replaced(file, "ligands/element", shape=(10**13,))


def endless_text(file: h5py.File) -> None:
    replaced(file, "entries/name", shape=(10**12,), chunks=(1024,))


def bomb(file: h5py.File) -> None:
    count = 50_000_000
    replaced(file, "ligands/charge", shape=(count,), chunks=(count,), compression="gzip")[
        :: 10**6
    ] = 0


def one_text_many_times(file: h5py.File) -> None:
    """Every row points at the same long text in the file's heap."""
    rows, long = 4096, "x" * 1_000_000
    dataset = replaced(file, "entries/name", shape=(rows,), chunks=(rows,))
    dataset[0] = long
    file.flush()
    _, raw = dataset.id.read_direct_chunk((0,))
    dataset.id.write_direct_chunk((0,), raw[:16] * rows)


def elsewhere(file: h5py.File) -> None:
    file["ligands"].pop("xyz")
    file["ligands/xyz"] = h5py.ExternalLink("/etc/passwd", "/xyz")


def soft(file: h5py.File) -> None:
    file["ligands"].pop("xyz")
    file["ligands/xyz"] = h5py.SoftLink("/entries/name")


def linked_group(file: h5py.File) -> None:
    file.move("ligands", "other")
    file["ligands"] = h5py.ExternalLink("elsewhere.h5", "/ligands")


def foreign_bytes(file: h5py.File) -> None:
    replaced(file, "ligands/element", shape=(64,), external=[("/etc/passwd", 0, 64)])


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(shape=(64,), dtype="u1")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", shape=(64,))
    del file["ligands/element"]
    file.create_virtual_dataset("ligands/element", layout)


def group_for_column(file: h5py.File) -> None:
    del file["ligands/xyz"]
    file.create_group("ligands/xyz")


def no_shape(file: h5py.File) -> None:
    replaced(file, "ligands/xyz", shape=None)


def floats(file: h5py.File) -> None:
    replaced(file, "ligands/first_atom", data=[0.0, 15.0, 37.0], dtype="f8")


def objects(file: h5py.File) -> None:
    """Where pickled objects would stand in formats that know them."""
    replaced(
        file, "ligands/molecule", data=[b"cos\nsystem\n"], dtype=h5py.special_dtype(vlen=bytes)
    )


def value(column: str, row: object, new: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        values = file[column][...]
        values[row] = new
        file[column][...] = values

    change.__name__ = f"{column}-{new}"
    return change


HOSTILE: list[tuple[Callable[[h5py.File], None], str]] = [
    (endless, "ligands/xyz declares 12000000000000 bytes"),
    (endless_in_one_piece, "ligands/element declares 10000000000000 bytes"),
    (endless_text, "entries/name declares 8000000000000 bytes"),
    (bomb, "ligands/charge is compressed"),
    (one_text_many_times, "entries/name contains 4096000000 bytes of text"),
    (elsewhere, "ligands/xyz is a link to another place"),
    (soft, "ligands/xyz is a link to another place"),
    (linked_group, "ligands is a link to another place"),
    (foreign_bytes, "ligands/element keeps its data in another file"),
    (virtual, "ligands/element keeps its data in another file"),
    (group_for_column, "ligands/xyz has the wrong shape"),
    (no_shape, "ligands/xyz has the wrong shape"),
    (floats, "ligands/first_atom has type float64"),
    (objects, "ligands/molecule has type object"),
    (value("ligands/first_atom", -1, 10**12), "Ligands.first_atom ends at"),
    (value("ligands/first_atom", 1, -5), "Ligands.first_atom must start at 0"),
    (value("ligands/first_torsion", 1, 10**9), "Ligands.first_torsion must start at 0"),
    (value("ligands/entry", 1, -1), "Ligands.entry contains values out of range"),
    (value("ligands/heavy", 0, 30_000), "Ligands.heavy contains values out of range"),
    (value("ligands/heavy", 0, -1), "Ligands.heavy contains values out of range"),
    (value("ligands/torsion_axis", (0, 1), 32_000), "Ligands.torsion_axis contains values out"),
    (value("ligands/torsion_axis", (0, 1), -1), "Ligands.torsion_axis contains values out"),
    (value("ligands/torsion_axis", (0, 1), 8), "Ligands.torsion_axis contains values out"),
    (value("vina/type", 0, 0), "VinaLigands.type contains values out of range"),
    (value("ad4/type", 0, 0), "Ad4Ligands.type contains values out of range"),
    (value("xscore/radius", 0, 0.0), "XScoreLigands.radius contains values out of range"),
    (value("ligands/torsion_range", (0, 1), 32_000), "Ligands.torsion_range contains values out"),
    (value("ligands/torsion_range", (0, 3), -2), "Ligands.torsion_range contains values out"),
    (value("ligands/bond", 0, 255), "Ligands.bond contains values out of range"),
    (value("vina/type", 0, 200), "vina/type contains 200, which has no meaning"),
    (value("xscore/interaction", 0, 99), "xscore/interaction contains 99, which has no meaning"),
    (value("ligands/xyz", 0, np.nan), "Ligands.xyz contains values out of range"),
    (value("xscore/logp", 0, np.nan), "XScoreLigands.logp contains values out of range"),
    (
        value("ad4/partial_charge", 0, np.inf),
        "Ad4Ligands.partial_charge contains values out of range",
    ),
]


@pytest.mark.parametrize(
    ("harm", "sentence"), HOSTILE, ids=lambda item: getattr(item, "__name__", "")
)
def test_a_hostile_ligands_file_is_a_sentence_and_costs_no_memory(
    path: Path, harm: Callable[[h5py.File], None], sentence: str
) -> None:
    with edited(path, libver=("v110", "v110")) as file:
        harm(file)
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        read_all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert sentence in str(caught.value)
    assert peak < MOST_BYTES


def test_columns_of_one_group_have_one_length(path: Path) -> None:
    with edited(path) as file:
        replaced(file, "entries/line", data=[1], dtype="i8", chunks=(1,))
    with pytest.raises(InputError, match="has 1 rows; others of its group have not"):
        read_columns(path, LIGANDS, ("entries/name", "entries/line"))


def test_poses_that_lead_out_of_their_file_are_a_sentence(tmp_path: Path) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", MOLECULES)
    with edited(part.refined) as file:
        file["poses/first_torsion"][3] = 10**12
    with pytest.raises(InputError, match="damaged"), Poses(part) as poses:
        poses.genotypes(0, poses.kept(0))
    with edited(part.scores) as file:
        file.attrs["inputs"] = "[" * 100_000
        file["ledger/reason"][2] = max(Reason) + 1
    with pytest.raises(InputError, match="has no meaning"):
        read_part(part)


@pytest.mark.parametrize(
    "column", ["scored/name", "scored/score", "ranking", "terms/x/total", "top/xyz"]
)
def test_a_hostile_campaign_is_a_sentence(
    tmp_path: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", MOLECULES)
    manifest, output = write_manifest(tmp_path / "m.tsv", [part]), tmp_path / "c.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    with edited(output) as file:
        group = file["targets/t"]
        if column == "terms/x/total":
            group.create_dataset(column, shape=(10**12,), dtype="f4", chunks=(1024,))
        else:
            dtype, shape = group[column].dtype, group[column].shape[1:]
            del group[column]
            group.create_dataset(column, shape=(10**12, *shape), dtype=dtype, chunks=(1024, *shape))
    assert query.main([str(output)]) == 1
    said = capsys.readouterr().err
    assert f"{column} declares" in said
    assert "Traceback" not in said


def test_flipped_bits_never_end_in_anything_but_a_sentence(path: Path, tmp_path: Path) -> None:
    """Each of 200 copies has one byte changed; numbers have checksums, the rest must not crash."""
    rng, good = np.random.default_rng(1), path.read_bytes()
    refused = 0
    for place in rng.choice(len(good), 200, replace=False):
        spoilt = bytearray(good)
        spoilt[place] ^= int(rng.integers(1, 256))
        copy = tmp_path / "copy.h5"
        copy.write_bytes(spoilt)
        try:
            read_all(copy)
        except InputError:
            refused += 1
    assert refused > 10
