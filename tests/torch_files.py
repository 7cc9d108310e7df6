"""Files of tensors as PyTorch writes them, without PyTorch."""

import pickle
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np


class _Storage:
    def __init__(self, key: int, values: np.ndarray) -> None:
        self.key, self.values = str(key), values


class FloatStorage:
    """Stands for PyTorch's class of that name."""


class _Writer(pickle._Pickler):
    """Writes names of PyTorch's where stand-ins are."""

    def persistent_id(self, value: object) -> tuple | None:
        if not isinstance(value, _Storage):
            return None
        return "storage", FloatStorage, value.key, "cpu", value.values.size

    def save_global(self, value: object, name: str | None = None) -> None:
        words = {FloatStorage: "torch\nFloatStorage", rebuilt: "torch._utils\n_rebuild_tensor_v2"}
        if value in words:
            self.write(b"c" + words[value].encode() + b"\n")
        else:
            super().save_global(value, name)

    dispatch: ClassVar = pickle._Pickler.dispatch | {
        type: save_global,
        type(lambda: None): save_global,
    }


def rebuilt(*arguments: object) -> None:
    """Stands for PyTorch's function that makes a tensor."""


class _Tensor:
    def __init__(self, key: int, values: np.ndarray) -> None:
        self.storage, self.shape = _Storage(key, values), values.shape

    def __reduce__(self) -> tuple:
        rows = np.cumprod((1, *self.shape[:0:-1]))[::-1]
        strides = tuple(map(int, rows[-len(self.shape) :])) if self.shape else ()
        return rebuilt, (self.storage, 0, self.shape, strides, False, {})


def saved(path: Path, tensors: Mapping[str, np.ndarray]) -> Path:
    """Write a table of float32 tensors as an archive; returns its path."""
    stream = BytesIO()
    table = {name: _Tensor(key, values) for key, (name, values) in enumerate(tensors.items())}
    _Writer(stream, protocol=2).dump(table)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", stream.getvalue())
        for key, values in enumerate(tensors.values()):
            archive.writestr(f"archive/data/{key}", values.astype("<f4").tobytes())
    return path
