"""Validate values against settings models; errors name the key and what is allowed there."""

import difflib
from typing import Any, TypeVar, get_args

import pydantic

from ligen_py.errors import InputError

Model = TypeVar("Model", bound=pydantic.BaseModel)


def check(model: type[Model], values: dict[str, Any], where: str) -> Model:
    """Validate values against a settings model; InputError names `where` and each bad key."""
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        sentences = [f"{where}: {_sentence(model, item)}" for item in error.errors()]
        raise InputError("; ".join(sentences)) from error


def _sentence(model: type[pydantic.BaseModel], error: Any) -> str:
    """Turn one pydantic error into words that name the key and say what is allowed."""
    path = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        known = _keys_at(model, error["loc"][:-1])
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known keys are: {', '.join(known)}"
        return f"unknown key '{path}'; {hint}"
    if error["type"] == "missing":
        return f"key '{path}' is missing"
    value = "" if isinstance(error["input"], dict) else f" (given: {error['input']!r})"
    message = error["msg"].removeprefix("Value error, ")
    field = _field_at(model, error["loc"])
    meaning = f"; it is: {field.description}" if field is not None and field.description else ""
    return f"key '{path}': {message[0].lower()}{message[1:]}{value}{meaning}"


def _models_in(annotation: Any) -> list[type[pydantic.BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _walk(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> tuple[Any, Any]:
    """Follow a key path; return the last model and the last field met."""
    field = None
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            field = model.model_fields[part]
            nested = _models_in(field.annotation)
            model = nested[0] if nested else model
    return model, field


def _keys_at(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> list[str]:
    return list(_walk(model, loc)[0].model_fields)


def _field_at(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> Any:
    return _walk(model, loc)[1]
