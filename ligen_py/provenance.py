"""Which code, settings and inputs made a file.

`stage_digest` hashes the sources that a stage reaches through its own imports and the kernels
those modules name, so a changed kernel re-plans exactly the stages that launch it. Of a scoring
function's package it hashes the modules that the stage loads (`ligen_py.functions.load`).
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ligen_py import __version__
from ligen_py.functions import FUNCTIONS, all_types
from ligen_py.paths import PACKAGE, kernel_folder

if TYPE_CHECKING:  # who only reads files does not load pydantic
    from ligen_py.settings.section import Section

BESIDE = (".j2", ".css", ".js", ".tsv", ".txt")
"""Endings of templates, styles, scripts and tables, which lie beside the module that names them."""

SUFFIXES = (".cl", ".clh", *BESIDE)
"""Endings of files, other than modules, that a stage may use."""


@cache
def _content(path: Path) -> bytes:
    """A source, which belongs to several stages of one process; some file systems open slowly."""
    return path.read_bytes()


@cache
def _module_file(name: str) -> Path | None:
    relative = name.removeprefix("ligen_py").strip(".").replace(".", "/")
    for candidate in (PACKAGE / f"{relative}.py", PACKAGE / relative / "__init__.py"):
        if relative and candidate.is_file():
            return candidate
    return None


_PROSE = re.compile(r'"""[\s\S]*?"""')
_FROM = re.compile(r"^[ \t]*from[ \t]+(ligen_py[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.M)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+(ligen_py[\w.]*)", re.M)
_LOAD = re.compile(r"\b(load|load_types)\(\s*[\w.]+,\s*\"(\w+)\"\s*\)")
_FILE = re.compile(rf"\"([\w./-]+(?:{'|'.join(map(re.escape, SUFFIXES))}))\"")


@cache
def _named(source: str) -> tuple[list[str], list[str]]:
    """What a module names: modules of this package that it imports, and kernels and templates.

    Read from the text, which takes a tenth of the time of Python's own parser: every process of a
    stage does it. A test compares the two.
    """
    source = _PROSE.sub("", source)
    modules = _IMPORT.findall(source)
    for package, names in _FROM.findall(source):
        words = re.sub(r"#[^\n]*|[()]", "", names).split(",")
        modules += [package, *(f"{package}.{word.split()[0]}" for word in words if word.strip())]
    for kind, module in _LOAD.findall(source):
        modules += _loaded(kind, module)
    return modules, _FILE.findall(source)


def _loaded(kind: str, module: str) -> Iterable[str]:
    """Modules of scoring functions that a call such as `load(name, "scorer")` imports."""
    if kind == "load":
        return [f"{row.package}.{module}" for row in FUNCTIONS.values()]
    return [getattr(types, module) for types in all_types()]


def _includes(source: str) -> Iterable[Path]:
    for name in re.findall(r'^\s*#include\s+"([^"]+)"', source, re.MULTILINE):
        path = kernel_folder() / "include" / name
        if path.is_file():
            yield path


def sources(stage: str) -> list[Path]:
    """Every file that can change what a stage computes: modules, kernels and their includes."""
    start = _module_file(f"ligen_py.{stage}")
    if start is None:
        raise ValueError(f"no stage is called {stage}")
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        text = _content(path).decode()
        if path.suffix == ".py":
            modules, files = _named(text)
            reached = (_module_file(name) for name in modules if name.startswith("ligen_py"))
            # What a stage loads from the packages of scoring functions counts, not their list.
            known = (None, PACKAGE / "functions.py")
            waiting += [module for module in reached if module not in known]
            folders = {
                ".cl": kernel_folder(),
                ".clh": kernel_folder() / "include",
                **dict.fromkeys(BESIDE, path.parent),
            }
            named = (folders["." + name.rpartition(".")[2]] / name for name in files)
            waiting += [file for file in named if file.is_file()]
        elif path.suffix in (".cl", ".clh"):
            waiting += _includes(text)
    return sorted(found, key=lambda path: path.parts[-2:])  # wherever the project lies


@cache
def stage_digest(stage: str) -> str:
    """A hash over all sources of a stage: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sources(stage):
        digest.update(path.name.encode() + b"\0" + _content(path) + b"\0")
    return digest.hexdigest()[:16]


STANDS_FOR = re.compile(rb"ligen_py stands for ([0-9a-f]{64})\n")
"""Line near the end of a file whose rows were dropped: SHA-256 of the file that it was before."""

HDF5 = b"\x89HDF\r\n\x1a\n"
"""What an HDF5 file begins with, as a stage's; texts of users stand for themselves alone."""

TAIL = 256
"""Bytes at the end of a file that contain this line."""


def file_digest(path: Path, whole: bool = False) -> str:
    """SHA-256 of a file, hexadecimal; where its rows were dropped, of the file that it was before.

    So what was made from it remains made from it. `whole`: of a file whose rows are never dropped,
    whatever its end says.
    """
    with path.open("rb") as stream:
        before = None if whole else stood_for(stream)
        return before or hashlib.file_digest(stream, "sha256").hexdigest()


def stood_for(stream: BinaryIO) -> str | None:
    """The SHA-256 of the file that an open one was before its rows were dropped, if they were."""
    if stream.read(len(HDF5)) != HDF5:
        stream.seek(0)
        return None
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - TAIL))
    found = STANDS_FOR.search(stream.read())
    stream.seek(0)
    return found[1].decode() if found else None


@lru_cache(maxsize=64)
def _digest_once(path: Path, size: int, changed: int, number: int) -> str:
    return file_digest(path)


class Input(NamedTuple):
    """An input known by its content: a name for people, and a SHA-256."""

    name: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "Input":
        """A file, by its last name and its bytes, which are read once while it does not change."""
        status = path.stat()
        known = _digest_once(path, status.st_size, status.st_mtime_ns, status.st_ino)
        return cls(path.name, known)


@dataclass(frozen=True)
class Run:
    """The run record written into a file: no times, no folders, so equal runs write equal bytes."""

    stage: str
    settings: "Section"
    inputs: tuple[Path | Input, ...] = ()
    device: str = ""

    def attributes(self) -> dict[str, str]:
        """The record as text attributes of an HDF5 file."""
        inputs = [item if isinstance(item, Input) else Input.of(item) for item in self.inputs]
        return {
            "created-by": f"ligen_py {__version__}",
            "stage": self.stage,
            "stage-digest": stage_digest(self.stage),
            "settings": json.dumps(self.settings.model_dump(mode="json"), sort_keys=True),
            "inputs": json.dumps([item._asdict() for item in inputs]),
            "device": self.device,
        }
