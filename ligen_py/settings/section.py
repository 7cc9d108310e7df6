"""What every section of a config shares: closed models, names, and values given as text.

Hardware never stands in settings: devices, threads and folders come from the command line and from
profiles.
"""

import json
from typing import Annotated, Any, get_args

import pydantic
from pydantic import BeforeValidator, Field, WithJsonSchema

from ligen_py.records.limits import NAME

IUPAC = r"^[ACGTRYSWKMBDHVNacgtryswkmbdhvn]{1,10}$"
"""A PAM."""

Name = Annotated[str, Field(pattern=f"^{NAME}$")]


class Section(pydantic.BaseModel):
    """Frozen, and closed: an unknown key is an error, never ignored."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
        """A truth value, as `yes` and `on` in YAML, is no number: pydantic takes it for 1."""
        if isinstance(value, bool) and info.field_name is not None:
            annotation = cls.model_fields[info.field_name].annotation
            allowed = {annotation, *get_args(annotation)}
            if bool not in allowed and {int, float} & allowed:
                raise ValueError(f"give a {'whole ' if int in allowed else ''}number")
        return value


def from_json(value: Any) -> Any:
    """A mapping that came as text from the command line; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON such as '{{\"name\": ...}}' ({error})") from error


def _column(value: Any) -> Any:
    """A column, or an assembly, may be given by its number."""
    return str(value) if type(value) is int else value


def _columns(value: Any) -> Any:
    """A single word stands for a list of one, and an empty list for none."""
    if isinstance(value, list | tuple):
        return tuple(_column(item) for item in value) or ("none",)
    return (value,) if isinstance(value, str) else value


Column = Annotated[str, BeforeValidator(_column), WithJsonSchema({"type": ["string", "integer"]})]

Columns = Annotated[
    tuple[str, ...],
    BeforeValidator(_columns),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["all", "none"]},
                {"type": "array", "items": {"type": ["string", "integer"]}},
            ]
        }
    ),
]
