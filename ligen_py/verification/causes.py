"""Faults by their causes: what is true of many files is said once."""

from collections.abc import Iterable, Iterator, Sequence


def by_cause(faults: Iterable[str], every: bool) -> Iterator[str]:
    """The first of all faults that say the same of different files, with the number of these.

    A fault is the file's name, a colon and what is wrong. With `every` all are given as they are.

    >>> list(by_cause(["a.h5: is old", "b.h5: is lost", "c.h5: is old", "a.h5: is old"], False))
    ['a.h5: is old (the first of 2 files)', 'b.h5: is lost']
    """
    if every:
        yield from dict.fromkeys(faults)
        return
    files: dict[str, dict[str, None]] = {}
    for fault in faults:
        file, _, what = fault.partition(": ")
        files.setdefault(what, {})[file] = None
    for what, names in files.items():
        count = f" (the first of {len(names)} files)" if len(names) > 1 else ""
        yield f"{next(iter(names))}: {what}{count}"


def first_of(names: Sequence[str]) -> str:
    """The first of some names, and how many others there are, as the subject of a sentence.

    >>> first_of(["ligands/xyz"]), first_of(["ligands/xyz", "ligands/charge", "vina/type"])
    ('ligands/xyz is', 'ligands/xyz and 2 others are')
    """
    others = len(names) - 1
    return f"{names[0]} and {others} other{'s' * (others > 1)} are" if others else f"{names[0]} is"
