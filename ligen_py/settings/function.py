"""The name of a scoring function: a row of the table, whenever it was added."""

from typing import Annotated, Any

from pydantic import AfterValidator, GetPydanticSchema

from ligen_py.functions import FUNCTIONS


def _names(energies: bool) -> list[str]:
    return [name for name, row in FUNCTIONS.items() if row.is_energy or not energies]


def _one_of(energies: bool) -> tuple[Any, ...]:
    """How a name is checked, and described in the schema."""

    def known(name: str) -> str:
        """The name; ValueError, in pydantic's words, lists the names that there are."""
        if name not in _names(energies):
            *others, last = (f"'{known}'" for known in _names(energies))
            raise ValueError(f"Input should be {', '.join(others)} or {last}")
        return name

    def schema(_schema: Any, _handler: Any) -> dict[str, Any]:
        """The names, for the schema of a campaign."""
        return {"type": "string", "enum": _names(energies)}

    return AfterValidator(known), GetPydanticSchema(get_pydantic_json_schema=schema)


FunctionName = Annotated[str, *_one_of(energies=False)]

EnergyName = Annotated[str, *_one_of(energies=True)]
"""Of a function that is an energy, in which poses can be refined."""
