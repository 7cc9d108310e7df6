"""Validate values against settings models; errors name the line, the key and what is allowed."""

import difflib
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeVar, get_args, get_origin

import pydantic

from ligen_py.errors import InputError
from ligen_py.settings.section import IUPAC
from ligen_py.settings.source import Keys, Source

Model = TypeVar("Model", bound=pydantic.BaseModel)

NAMES = r"^[A-Za-z0-9]"
"""How the pattern of a target's or library's name starts."""

WANTED = {
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "int_type": "give a whole number",
    "int_parsing": "give a whole number",
    "int_from_float": "give a whole number",
    "float_type": "give a number",
    "float_parsing": "give a number",
    "finite_number": "give a finite number",
    "string_type": "give a text",
    "dict_type": "give names with values, such as {name: value}",
    "model_type": "give keys with values",
    "model_attributes_type": "give keys with values",
}
"""Kind of pydantic's error -> what the user is to do, where this depends on nothing else."""


def _key(path: str) -> str:
    return f"key '{path}'"


def check(
    model: type[Model],
    values: Mapping[str, Any],
    source: Source | str,
    name: Callable[[str], str] = _key,
) -> Model:
    """Validate values against a settings model.

    Raises InputError that names the source, the line of each bad key where the source has it, and
    the key as `name` writes it.
    """
    source = Source(source) if isinstance(source, str) else source
    try:
        return model.model_validate(dict(values))
    except pydantic.ValidationError as error:
        found: dict[Keys, list[Any]] = {}
        for item in error.errors():
            found.setdefault(_keys(values, item), []).append(item)
    sentences = []
    for keys, items in found.items():
        # What is wrong with a value's part is not reported again for the whole.
        if not any(other[: len(keys)] == keys != other for other in found):
            sentences.append(f"{source.at(keys)}: {_sentence(model, keys, items, name)}")
    raise InputError("; ".join(sentences))


def _keys(values: Any, item: Any) -> Keys:
    """The keys to a bad value, without the parts that stand for one of several types allowed."""
    keys: list[Any] = []
    for part in item["loc"]:
        items = range(len(values)) if isinstance(values, list | tuple) else values
        if isinstance(items, range | Mapping) and part in items:
            values = values[part]
        elif item["type"] != "missing" or not isinstance(values, Mapping):
            continue
        keys.append(part)
    return tuple(keys)


def _sentence(
    model: type[pydantic.BaseModel], keys: Keys, items: list[Any], name: Callable[[str], str]
) -> str:
    """Turn what pydantic says of one key into words that name it and say what is allowed."""
    number = (
        keys[-1] if keys and type(keys[-1]) is int and items[0]["loc"][-1] == keys[-1] else None
    )
    path = ".".join(map(str, keys if number is None else keys[:-1]))
    if items[0]["type"] == "extra_forbidden":
        known = list(_walk(model, keys[:-1])[0].model_fields)
        close = difflib.get_close_matches(str(keys[-1]), known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known keys are: {', '.join(known)}"
        return f"unknown {name(path)}; {hint}"
    if items[0]["type"] == "missing" and items[0]["loc"] == keys:
        return f"{name(path)} is missing"
    field = _walk(model, keys)[1]
    settings = set(model.model_fields)
    wanted = " or ".join(dict.fromkeys(_wanted(item, field) for item in items))
    if items[0]["type"] in ("model_type", "model_attributes_type"):
        wanted += f"; known keys are: {', '.join(_walk(model, keys)[0].model_fields)}"
    if name is not _key:
        wanted = re.sub(r"'(\w+)'", lambda m: name(m[1]) if m[1] in settings else m[0], wanted)
    given = items[0]["input"]
    value = f" (given: {'nothing' if given is None else repr(given)})"
    if isinstance(given, dict) or not keys:
        value = ""
    meaning = f"; it is: {field.description}" if field is not None and field.description else ""
    if meaning and name is not _key and _has_names(field.annotation):
        meaning += "; as JSON"
    start = f"{'' if number is None else f'item {number + 1} of '}{name(path)}: " if path else ""
    return f"{start}{wanted}{value}{meaning}"


def _wanted(item: Any, field: Any) -> str:
    """What the user is to give in place of a bad value."""
    kind, context = item["type"], item.get("ctx", {})
    if item["loc"] and item["loc"][-1] == "[key]" and kind == "string_type":
        return "write this name in quotes"
    if kind in ("missing", "tuple_type", "too_long") and (count := _fixed(field)):
        return f"give {count} numbers, such as [{', '.join(f'{n}.0' for n in range(1, count + 1))}]"
    if kind == "string_type" and isinstance(item["input"], bool | int | float | date):
        return "write it in quotes"
    if kind in WANTED:
        return WANTED[kind]
    if kind == "tuple_type":
        return "give a list, such as [one, another]"
    if kind == "literal_error":
        return f"give {context['expected']}"
    if kind == "greater_than":
        return f"give more than {context['gt']:.12g}"
    if kind == "greater_than_equal":
        return f"give {context['ge']:.12g} or more"
    if kind == "less_than":
        return f"give less than {context['lt']:.12g}"
    if kind == "less_than_equal":
        return f"give {context['le']:.12g} or less"
    if kind == "too_short":
        return f"give at least {context['min_length']} of them"
    if kind == "too_long":
        return f"give {context['max_length']} at most"
    if kind == "string_pattern_mismatch" and context["pattern"].startswith(NAMES):
        return "give a name of letters, digits, _ . and -, 64 at most, that starts with no sign"
    if kind == "string_pattern_mismatch" and context["pattern"] == IUPAC:
        return "give 1 to 10 IUPAC letters of DNA, such as NGG"
    if kind == "string_pattern_mismatch":
        return "give a residue as NAME, CHAIN/NUMBER or CHAIN/NAME/NUMBER, without spaces"
    message = item["msg"].removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


def _fixed(field: Any) -> int:
    """How many values a setting takes; 0 where it takes any number, or one."""
    waiting = [field.annotation] if field is not None else []
    while waiting:
        annotation = waiting.pop()
        parts = get_args(annotation)
        if get_origin(annotation) is tuple:
            return 0 if Ellipsis in parts else len(parts)
        waiting += parts
    return 0


def _models_in(annotation: Any) -> list[type[pydantic.BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _walk(model: type[pydantic.BaseModel], keys: Keys) -> tuple[type[pydantic.BaseModel], Any]:
    """Follow keys; return the last model and the last field met."""
    field, is_name = None, False
    for part in keys:
        if not is_name and isinstance(part, str) and part in model.model_fields:
            field = model.model_fields[part]
            nested = _models_in(field.annotation)
            model = nested[0] if nested else model
            is_name = _has_names(field.annotation)
        else:
            is_name = False
    return model, field


def _has_names(annotation: Any) -> bool:
    """Whether keys below a setting are names that the user gives, which may be those of fields."""
    if get_origin(annotation) is dict:
        return True
    return any(_has_names(part) for part in get_args(annotation))
