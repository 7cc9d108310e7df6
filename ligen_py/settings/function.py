"""The name of a scoring function: any row of the table, whenever it was added."""

from typing import Annotated, Any

from pydantic import AfterValidator, GetPydanticSchema

from ligen_py.functions import FUNCTIONS


def _known(name: str) -> str:
    if name not in FUNCTIONS:
        *others, last = (f"'{known}'" for known in FUNCTIONS)
        raise ValueError(f"Input should be {', '.join(others)} or {last}")
    return name


def _schema(_schema: Any, _handler: Any) -> dict[str, Any]:
    return {"type": "string", "enum": list(FUNCTIONS)}


FunctionName = Annotated[
    str, AfterValidator(_known), GetPydanticSchema(get_pydantic_json_schema=_schema)
]
