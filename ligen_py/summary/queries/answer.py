"""An answer in the form that was asked for: a table, CSV, TSV, JSON lines or Parquet."""

import io
import json
import logging
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.errors import UsageError
from ligen_py.store.files.text import csv_line, harmless, write_texts
from ligen_py.summary.table import NAME_WIDTH, counted, cut, readable, table

log = logging.getLogger("ligen_py")

LEAST_NAME = 12
"""Characters to which texts of a table are cut before columns are left out."""

MANY = 1 << 14
"""Rows that are brought into text at a time: as objects of Python they take far more memory."""

Answer = Mapping[str, np.ndarray]
"""Columns by name: numbers, or `object`: texts, or whole numbers some of which are missing.

In SQL also truth values. NaN or None where there is no value.
"""


def write_answer(answer: Answer, form: str, output: Path | None) -> None:
    """Write an answer to a file, or print it; UsageError where a terminal cannot show it."""
    rows = len(next(iter(answer.values()), ()))
    if form == "parquet":
        _write(_require_file(output), _parquet(answer), counted(rows, "row"))
        return
    if form == "table":
        width = None
        if output is None and sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
        lines: Iterator[str] = (f"{line}\n" for line in table_of(answer, width))
    else:
        lines = {"csv": _csv, "tsv": _tsv, "jsonl": _jsonl}[form](answer)
    write_lines(lines, output, counted(rows, "row"))


def write_lines(lines: Iterator[str], output: Path | None, what: str) -> None:
    """Print text, or write it to a file and say what was written."""
    if output is None:
        sys.stdout.writelines(lines)
    else:
        _write(output, lines, what)


def _write(output: Path, content: Iterator[str] | bytes, what: str) -> None:
    write_texts(output.parent, {output.name: content})
    log.info("wrote %s into %s", what, output)


def table_of(answer: Answer, width: int | None) -> Iterator[str]:
    """A table that is at most so many characters wide; the last line names what was left out."""
    names = list(answer)
    if not names:
        return
    cells = {name: [cut(_word(value)) for value in answer[name].tolist()] for name in names}
    shown, longest = names, NAME_WIDTH
    while width is not None and _width(cells, shown, longest) > width:
        if longest > LEAST_NAME:
            longest -= 1
        elif len(shown) > 1:
            shown = shown[:-1]
        else:
            break
    rows = [list(shown)]
    rows += [
        list(row)
        for row in zip(
            *([_cut(cell, longest) for cell in cells[name]] for name in shown), strict=True
        )
    ]
    align = "".join("<" if answer[name].dtype == object else ">" for name in shown)
    yield from table(rows, align)
    if left := names[len(shown) :]:
        yield f"  ({len(left)} more in a wider window, or by --columns: {', '.join(left)})"


def _width(cells: Mapping[str, list[str]], names: list[str], longest: int) -> int:
    widths = [
        max([len(name), *(min(len(cell), longest) for cell in cells[name])]) for name in names
    ]
    return sum(widths) + 2 * len(widths)


def _cut(cell: str, longest: int) -> str:
    return cell if len(cell) <= longest else f"{cell[: longest - 1]}…"


def _word(value: Any) -> str:
    """A value in a table: two decimals; a dash where there is none."""
    if value is None or (isinstance(value, float) and value != value):
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.4g}"
    return readable(_text(value))


def _text(value: Any) -> str:
    """A value that is no number, where it stands between others."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def arrow(answer: Answer) -> Any:
    """The answer as a table of Arrow, with nulls where there is no value."""
    import pyarrow  # takes a third of a second to load

    columns = {}
    for name, values in answer.items():
        missing = None if values.dtype.kind != "f" else np.isnan(values)
        columns[name] = pyarrow.array(values, mask=missing)
    return pyarrow.table(columns)


def _csv(answer: Answer) -> Iterator[str]:
    from pyarrow import csv

    if not answer:
        return
    yield csv_line(map(harmless, answer))
    for start in range(0, max(map(len, answer.values())), MANY):
        some = {name: _plain(values[start : start + MANY]) for name, values in answer.items()}
        stream = io.BytesIO()
        csv.write_csv(arrow(some), stream, csv.WriteOptions(include_header=False))
        yield stream.getvalue().decode("utf-8")


def _tsv(answer: Answer) -> Iterator[str]:
    yield "\t".join(map(harmless, answer)) + "\n"
    for row in zip(*(_values(_plain(values)) for values in answer.values()), strict=True):
        yield "\t".join("" if value is None else _text(value) for value in row) + "\n"


def _plain(values: np.ndarray) -> np.ndarray:
    """Texts on one line, which no spreadsheet evaluates."""
    if values.dtype != object:
        return values
    result = np.empty(len(values), object)
    result[:] = [harmless(readable(one)) if isinstance(one, str) else one for one in values]
    return result


def _jsonl(answer: Answer) -> Iterator[str]:
    # JSON has no infinity, which a division in SQL may give.
    finite = (
        values if values.dtype.kind != "f" else np.where(np.isinf(values), np.nan, values)
        for values in answer.values()
    )  # fmt: skip
    for row in zip(*map(_values, finite), strict=True):
        yield json.dumps(dict(zip(answer, row, strict=True)), ensure_ascii=False) + "\n"


def _values(values: np.ndarray) -> list[Any]:
    """A column as texts and numbers; None where there is no value."""
    return values.tolist() if values.dtype == object else [_number(value) for value in values]


def _number(value: Any) -> int | float | None:
    if value.dtype.kind != "f":
        return int(value)
    return None if np.isnan(value) else float(str(value))  # the shortest digits of a float32


def _parquet(answer: Answer) -> bytes:
    from pyarrow import BufferOutputStream, parquet

    stream = BufferOutputStream()
    parquet.write_table(arrow(answer), stream)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _require_file(output: Path | None) -> Path:
    if output is None:
        raise UsageError("--format parquet: is no text; name a file: --output FILE")
    return output
