"""Write text files whole or not at all; text that no spreadsheet evaluates."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ligen_py.errors import InputError
from ligen_py.store.files.disk import writing
from ligen_py.store.files.temporary import publish, temporary_for

BLOCK = 1 << 20
"""Bytes that are written at once."""

FORMULA = re.compile(r"(?:^|[;\t\r\n])\s*([=+\-@\uff1d\uff0b\uff0d\uff20][^;\t\r\n]*)")
"""What a spreadsheet takes for a formula: in a cell, or in a part of it where a spreadsheet's
country separates cells by semicolons. Full-width signs count as plain ones."""

GUARD = re.compile(r"((?:^|[;\t\r\n])\s*)'(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""What `harmless` adds, behind what is kept."""


def harmless(text: str) -> str:
    """A text that no spreadsheet evaluates: what looks like a formula gets an apostrophe before it.

    Numbers such as -1.5 are none. The SDF holds the text as it is.
    """

    def guarded(found: re.Match[str]) -> str:
        """What was found, with an apostrophe before the text if it is no number."""
        start = found.start(1) - found.start()
        whole = found[0]
        return whole if _is_number(found[1]) else f"{whole[:start]}'{whole[start:]}"

    return FORMULA.sub(guarded, text)


def as_written(text: str) -> str:
    """What a text was before `harmless`; itself where that has added nothing.

    >>> as_written(harmless("=1+2;+x")), as_written("'s")
    ('=1+2;+x', "'s")
    """
    before = GUARD.sub(r"\1", text)
    return before if harmless(before) == text else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()


def csv_line(cells: Iterable[str]) -> str:
    """One line of CSV (RFC 4180 but for the line ends: LF)."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


def write_texts(folder: Path, texts: Mapping[str, str | bytes | Iterable[str]]) -> None:
    """Write files into a folder, none named before all are on disk.

    `texts` has text (UTF-8), bytes, or pieces of text by the file's name, which may name a folder
    within.

    Other files in the folder are left alone. Raises InputError that names the file which cannot be
    written; what the pieces of text raise is passed on.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write into")
    temporary: dict[Path, Path] = {}
    try:
        for name, text in texts.items():
            part = temporary_for(folder / name)
            temporary[part] = folder / name
            _write(part, folder / name, text)
        with writing(folder):
            publish(temporary.items())
    finally:
        for part in temporary:
            part.unlink(missing_ok=True)


def listed_in(listed: Path) -> list[str]:
    """The files that `keep_list` has listed; none where there is no list.

    Of a damaged list, the lines that can be names of files.
    """
    if not listed.is_file():
        return []
    lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    return [
        line for line in lines if line.isprintable() and "\N{REPLACEMENT CHARACTER}" not in line
    ]


def keep_list(
    listed: Path,
    folder: Path,
    names: Collection[str],
    earlier: Collection[str] = (),
    spared: Collection[Path] = (),
) -> None:
    """Delete what an earlier run has written into a folder and this one has not; list this one's.

    `earlier` is what other lists have of earlier runs. All other files there are the user's, and
    so are those that are `spared`, as resolved paths.
    """
    for name in {*listed_in(listed), *earlier}.difference(names):
        path = folder / name
        resolved = path.resolve()
        if folder.resolve() in resolved.parents and resolved not in spared:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # others are left in it, or it is the folder itself
                path.parent.rmdir()
    write_texts(listed.parent, {listed.name: [f"{name}\n" for name in sorted(names)]})


def _write(part: Path, path: Path, text: str | bytes | Iterable[str]) -> None:
    """Write a temporary; what the making of its text raises is passed on."""
    with writing(path):
        stream = part.open("wb", buffering=0)
    with stream:
        for block in _blocks(text):
            left = memoryview(block)
            with writing(path):
                while left:
                    left = left[stream.write(left) :]


def _blocks(text: str | bytes | Iterable[str]) -> Iterator[bytes]:
    """Bytes as they are, pieces of text as UTF-8 in blocks of about `BLOCK` bytes."""
    if isinstance(text, bytes):
        yield text
        return
    waiting: list[bytes] = []
    size = 0
    for piece in [text] if isinstance(text, str) else text:  # a text yields its characters
        waiting.append(piece.encode("utf-8"))
        size += len(waiting[-1])
        if size >= BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
