"""Text for a terminal: columns, and names that fit them."""

from collections.abc import Iterator, Sequence

NAMED = 10
"""Files that a message names one by one, of those that are missing, changed or old."""

NAME_WIDTH = 44
"""Longest name in a table; longer ones are cut."""


def table(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Columns of equal width, each aligned to the left (<) or right (>), indented by two."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(align))]
    cells = list(zip(align, widths, strict=True))
    lines = (
        "  " + "  ".join(f"{cell:{a}{w}}" for cell, (a, w) in zip(row, cells, strict=True))
        for row in rows
    )
    return [line.rstrip() for line in lines]


def shortened(lines: Sequence[str], what: str) -> Iterator[str]:
    """The first `NAMED` lines, each of which names a file, and how many others there are.

    >>> list(shortened([f"{n}.h5 is lost" for n in range(12)], "lost"))[-2:]
    ['9.h5 is lost', '... and 2 more files lost']
    """
    yield from lines[:NAMED]
    if len(lines) > NAMED:
        yield f"... and {counted(len(lines) - NAMED, 'more file')} {what}"


def cut(name: str) -> str:
    """A name that fits a table."""
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"


def readable(text: str) -> str:
    """A text on one line without control characters, which a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
