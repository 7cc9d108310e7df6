"""Files of PyTorch are read as far as tensors need it, and nothing in them is run."""

import base64
import json
import pickle
import zipfile
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from ligen_py.engine.functions.gnina.checkpoint import read_tensors
from ligen_py.errors import InputError
from tests.gnina import DATA, random_tensors
from tests.torch_files import saved

FILES = json.loads((DATA / "gnina.json").read_text())["files"]


@pytest.mark.parametrize("made", FILES, ids=["archive", "sequence"])
def test_both_formats_of_pytorch(made: dict, tmp_path: Path) -> None:
    path = tmp_path / "some.pt"
    path.write_bytes(base64.b64decode(made["file"]))
    found = read_tensors(path)
    assert set(found) == set(made["values"])
    for name, values in made["values"].items():
        assert np.array_equal(found[name], values)


@pytest.mark.parametrize("made", FILES, ids=["archive", "sequence"])
def test_a_damaged_file_ends_in_a_sentence(made: dict, tmp_path: Path) -> None:
    whole, path = base64.b64decode(made["file"]), tmp_path / "damaged.pt"
    rng = np.random.default_rng(1)
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match=r"damaged\.pt: cannot be read as weights"):
            read_tensors(path)
    for _ in range(300):
        bytes_ = bytearray(whole)
        bytes_[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(bytes_)
        with suppress(InputError):  # what was changed may be a number
            read_tensors(path)


def test_a_count_that_is_not_its_tensors_is_refused(tmp_path: Path) -> None:
    """In the older format each storage's numbers follow their count, in 8 bytes."""
    made, path = FILES[1], tmp_path / "counted.pt"
    whole = base64.b64decode(made["file"])
    last = max(whole.rindex(np.size(one).to_bytes(8, "little")) for one in made["values"].values())
    for more in (-1, 1):
        count = int.from_bytes(whole[last : last + 8], "little") + more
        path.write_bytes(whole[:last] + count.to_bytes(8, "little") + whole[last + 8 :])
        with pytest.raises(InputError, match="its list of numbers is not that of its tensors"):
            read_tensors(path)


class Harm:
    """Runs a function where it is loaded."""

    def __reduce__(self) -> tuple:
        return Path.touch, (Path("harm-was-done"),)


@pytest.mark.parametrize("value", [Harm(), {"one": Harm()}, [1, 2], {"one": 1.5}, OrderedDict()])
@pytest.mark.parametrize("protocol", [2, 4])
def test_no_other_pickle_is_followed(
    value: object, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "foreign.pt"
    data = pickle.dumps(value, protocol)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)
    with pytest.raises(InputError, match="cannot be read as weights"):
        read_tensors(path)
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as weights"):
        read_tensors(path)
    assert not (tmp_path / "harm-was-done").exists()


def test_other_files_are_refused(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"PK\x03\x04", b"\x89HDF\r\n", b"weights\n" * 99)):
        path = tmp_path / f"{number}.pt"
        path.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as weights"):
            read_tensors(path)


def test_a_whole_network(tmp_path: Path) -> None:
    tensors = random_tensors("dense")
    found = read_tensors(saved(tmp_path / "dense.pt", tensors))
    assert all(np.array_equal(found[name], tensors[name]) for name in tensors)
