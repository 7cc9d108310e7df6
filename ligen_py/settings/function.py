"""The name of a scoring function: any row of the table, whenever it was added."""

from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from ligen_py.functions import FUNCTIONS


def _known(name: str) -> str:
    if name not in FUNCTIONS:
        *others, last = (f"'{known}'" for known in FUNCTIONS)
        words = f"{', '.join(others)} or {last}"
        raise PydanticCustomError("function", "Input should be {names}", {"names": words})
    return name


class _InTable:
    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(_known, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "enum": list(FUNCTIONS)}


FunctionName = Annotated[str, _InTable()]
