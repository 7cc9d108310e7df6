"""Tensors of a file that PyTorch's `save` wrote, read without running any of its code.

Such a file is a pickle and raw numbers: a zip archive with both, or, before PyTorch 1.6, one after
the other. A pickle is a program, and loading it runs what it names. Here its instructions are only
followed as far as a table of tensors needs them; whatever else a file contains is an error.
"""

import math
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.errors import InputError

MAGIC = 0x1950A86A20F9469CFC6C
"""First value of a file without an archive, after PyTorch's `serialization.py`."""

TENSOR, TABLE = "torch._utils _rebuild_tensor_v2", "collections OrderedDict"
NUMBERS: dict[str, np.dtype] = {
    "torch FloatStorage": np.dtype("<f4"),
    "torch LongStorage": np.dtype("<i8"),
}
NAMES = frozenset((TENSOR, TABLE, *NUMBERS))
"""What a pickle may name; nothing of it is imported."""

MAX_BYTES = 256 << 20
"""Of a file and of what its archive unpacks to: the networks read here have under 3 MB."""

CONSTANTS = frozenset(("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE", "SHORT_BINUNICODE"))
EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
}
WRITES, READS = frozenset(("BINPUT", "LONG_BINPUT")), frozenset(("BINGET", "LONG_BINGET"))
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}

DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, OSError, ArithmeticError),
    *(RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, struct.error),
)
"""What reading a pickle or an archive raises where bytes are missing or wrong."""


class _ForeignError(Exception):
    """The file is none of those that are read here; says why."""


@dataclass(frozen=True)
class _Name:
    """A class or function that the pickle names."""

    words: str


@dataclass(frozen=True)
class _Storage:
    """Numbers that lie beside the pickle."""

    key: str
    dtype: np.dtype
    count: int


@dataclass(frozen=True)
class _View:
    """A tensor: a part of a storage, row by row."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Name -> float32 or int64 array of every tensor of a file.

    Raises InputError in one sentence for a file that is damaged, or is none of PyTorch's tensors,
    and OSError.
    """
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: is too large for weights of a network; give another file")
    data = path.read_bytes()
    try:
        file = BytesIO(data)
        return _from_archive(file) if data.startswith(b"PK\x03\x04") else _from_sequence(file)
    except _ForeignError as error:
        words = str(error)
    except DAMAGE as error:
        words = f"it is damaged: {error}"
    raise InputError(f"{path}: cannot be read as weights of a network ({words}); download it again")


def _from_archive(file: BytesIO) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(file) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
            raise _ForeignError("it is too large")
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise _ForeignError("its archive has no data.pkl")
        folder = pickles[0].removesuffix("data.pkl")
        order = f"{folder}byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            raise _ForeignError("its numbers are not little-endian")
        table = _follow(BytesIO(archive.read(pickles[0])))
        return _tensors(table, lambda storage: archive.read(f"{folder}data/{storage.key}"))


def _from_sequence(file: BytesIO) -> dict[str, np.ndarray]:
    if file.read(2) != b"\x80\x02":
        raise _ForeignError("it does not start as a file of PyTorch")
    file.seek(0)
    magic, protocol = _follow(file), _follow(file)
    if (magic, protocol) != (MAGIC, 1001):
        raise _ForeignError("it does not start as a file of PyTorch")
    if not _follow(file)["little_endian"]:
        raise _ForeignError("its numbers are not little-endian")
    table, keys = _follow(file), _follow(file)
    sizes = {view.storage.key: view.storage for view in table.values() if isinstance(view, _View)}
    numbers: dict[str, bytes] = {}
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        if key not in sizes or count != sizes[key].count:
            raise _ForeignError("its list of numbers is not that of its tensors")
        numbers[key] = file.read(count * sizes[key].dtype.itemsize)
    return _tensors(table, lambda storage: numbers[storage.key])


def _tensors(table: Any, numbers: Callable[[_Storage], bytes]) -> dict[str, np.ndarray]:
    if not isinstance(table, dict) or not table:
        raise _ForeignError("it has no table of tensors")
    found = {}
    for name, view in table.items():
        if not isinstance(name, str) or not isinstance(view, _View):
            raise _ForeignError("its table has more than tensors")
        data = numbers(view.storage)
        if len(data) != view.storage.count * view.storage.dtype.itemsize:
            raise _ForeignError(f"the numbers of {name} are cut off")
        flat = np.frombuffer(data, view.storage.dtype)
        count = math.prod(view.shape)
        if min(view.offset, *view.shape, 0) < 0 or view.offset + count > len(flat):
            raise _ForeignError(f"{name} is larger than its numbers")
        found[name] = flat[view.offset : view.offset + count].reshape(view.shape)
    return found


def _follow(file: BytesIO) -> Any:
    """The value of the next pickle of a file, of plain values and views of storages only."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        """Take from the stack what was put there after the last mark; IndexError without one."""
        start = marks.pop()
        values = stack[start:]
        del stack[start:]
        return values

    argument: Any
    values: Sequence[Any]
    for instruction, argument, _ in pickletools.genops(file):
        name = instruction.name
        if name in CONSTANTS:
            stack.append(argument)
        elif name in EMPTY:
            stack.append(EMPTY[name]())
        elif name in WRITES:
            memo[argument] = stack[-1]
        elif name in READS:
            stack.append(memo[argument])
        elif name == "MARK":
            marks.append(len(stack))
        elif name == "TUPLE":
            stack.append(tuple(since_mark()))
        elif name in TUPLES:
            values = stack[-TUPLES[name] :]
            del stack[-TUPLES[name] :]
            stack.append(tuple(values))
        elif name in ("SETITEM", "SETITEMS"):
            values = since_mark() if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            stack[-1].update(zip(values[::2], values[1::2], strict=True))
        elif name in ("APPEND", "APPENDS"):
            values = since_mark() if name == "APPENDS" else [stack.pop()]
            stack[-1].extend(values)
        elif name == "GLOBAL":
            stack.append(_named(argument))
        elif name == "BINPERSID":
            stack.append(_storage(stack.pop()))
        elif name == "REDUCE":
            arguments = stack.pop()
            stack.append(_made(stack.pop(), arguments))
        elif name == "BUILD":  # attributes of a table, its versions: not needed
            stack.pop()
        elif name == "STOP":
            return stack.pop()
        elif name != "PROTO":
            raise _ForeignError(f"its pickle has the instruction {name}")
    raise _ForeignError("its pickle does not end")


def _named(words: str) -> _Name:
    if words not in NAMES:
        raise _ForeignError(
            f"its pickle names {words.replace(' ', '.')}, which is no part of a tensor"
        )
    return _Name(words)


def _storage(words: Any) -> _Storage:
    kind, numbers, key, _, count = words[:5]
    if kind != "storage" or not isinstance(numbers, _Name) or numbers.words not in NUMBERS:
        raise _ForeignError("its pickle refers to other numbers than those of tensors")
    return _Storage(str(key), NUMBERS[numbers.words], int(count))


def _made(what: Any, arguments: Any) -> Any:
    if what == _Name(TABLE) and arguments == ():
        return {}
    if what != _Name(TENSOR):
        raise _ForeignError("its pickle calls something that is no tensor")
    storage, offset, shape, stride = arguments[:4]
    rows = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    if not isinstance(storage, _Storage) or list(stride) != rows:
        raise _ForeignError("a tensor does not lie row by row")
    return _View(storage, int(offset), tuple(int(length) for length in shape))
