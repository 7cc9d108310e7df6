"""A YAML file as its values, and the line on which each key stands."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ligen_py.errors import InputError
from ligen_py.paths import examples
from ligen_py.settings.source import Keys, Source

MERGE = "tag:yaml.org,2002:merge"
"""The key `<<`, which brings in the keys of another mapping."""

TEXT = "tag:yaml.org,2002:str"

NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

UNUSUAL = re.compile(r"[-+]?0[0-7_]+|.*:.*")
"""Numbers that YAML 1.1 takes for octal or for hours and minutes."""


class Document(NamedTuple):
    """What a config file says, and where."""

    values: dict[str, Any]
    source: Source


def from_here(path: str) -> str:
    """A config file as seen from the working folder, behind the links of its folder.

    So a folder has one name, however it is reached; else its files would be others for Snakemake.
    """
    given = Path(path)
    return os.path.relpath(given.parent.resolve() / given.name)


def read_document(path: Path) -> Document:
    """Read a YAML file that must be a mapping.

    Raises InputError that names the file and the line: where the file cannot be read or is no YAML,
    where it holds something else than keys with values, where a key stands twice, and where a key
    is no text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give a campaign's config file"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not YAML: {error}; save the file as UTF-8") from error
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        lines = dict(_lines(path, root, (), set())) if root else {}
        values = loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        what = ", ".join(word for word in (error.context, error.problem) if word)
        if error.context_mark is not None and error.context_mark is not mark:
            what += f"; it starts on line {error.context_mark.line + 1}"
        raise InputError(f"{path}: {where}not YAML: {what}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise InputError(
            f"{path}: contains no settings; {examples() / 'README.md'} explains every key"
        )
    return Document(values, Source(str(path), lines))


def _lines(path: Path, node: yaml.Node, above: Keys, seen: set[int]) -> Iterator[tuple[Keys, int]]:
    """The line of everything in a mapping or list; InputError for what YAML reads otherwise."""
    if id(node) in seen:  # an alias: its keys stand where its anchor is
        return
    seen.add(id(node))
    if node.tag in NUMBERS and UNUSUAL.fullmatch(node.value):
        raise InputError(
            f"{path}: line {node.start_mark.line + 1}: key '{'.'.join(map(str, above))}': YAML "
            f"reads {node.value} as {yaml.safe_load(node.value)}; write the number in full, "
            "without a leading 0 or a colon, or a name in quotes"
        )
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield (*above, number), item.start_mark.line + 1
            yield from _lines(path, item, (*above, number), seen)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.tag == MERGE or not isinstance(key, yaml.ScalarNode):
            continue
        name = ".".join(map(str, (*above, key.value)))
        if key.value in first:
            raise InputError(
                f"{path}: line {line}: key '{name}' stands already on line {first[key.value]}; "
                "remove one"
            )
        first[key.value] = line
        if key.tag != TEXT:  # each key is a word, or a name that the user gives
            is_end = node.flow_style and key.tag in NUMBERS and value.value == ""
            advice = "write it in quotes"
            if is_end:  # {ph: 7,4} or {center: 1.0, 2.0, 3.0}
                advice = (
                    "a decimal number needs a point, a list brackets as in [1, 2], a name quotes"
                )
            raise InputError(
                f"{path}: line {line}: key '{name}': YAML reads this as a number, a date, a truth "
                f"value or nothing; {advice}"
            )
        yield (*above, key.value), line
        yield from _lines(path, value, (*above, key.value), seen)


def to_yaml(values: Mapping[str, Any]) -> str:
    """Settings as a YAML file, in their order."""
    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True))
