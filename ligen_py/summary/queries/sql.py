"""SQL over a campaign, by DuckDB: one table, `molecules`, of all ranked molecules of all targets.

Dots in the names of columns are underscores here: `vina_total`. The database lives in memory and
can neither read nor write files.
"""

import importlib.util
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ligen_py.errors import InputError, UsageError, install
from ligen_py.summary.queries.answer import Answer, arrow
from ligen_py.summary.queries.columns import Molecules, joined

NAMING = re.compile(r"\s*(select|with)\b", re.IGNORECASE)
"""Begins a statement that names its columns, other than DESCRIBE, SUMMARIZE, PIVOT and FROM."""

UNNAMED = re.compile(
    r"\*|#\s*\d|\bcolumns\b|\(\s*from\b|\bmolecules\s+(?:as\s+)?(?!where\b|limit\b)\w+\s*\(",
    re.IGNORECASE,
)
"""What stands for columns without their names: a star, a number, or other names for all."""

TABLE = re.compile(r"(?:\bfrom|\bjoin|,)\s*molecules\b(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
"""The table where its rows are read, with the other name that it may get there."""


def ask_sql(targets: Sequence[Molecules], statement: str) -> dict[str, np.ndarray]:
    """The answer to one statement.

    Raises UsageError where DuckDB is missing, InputError where it refuses the statement.
    """
    if importlib.util.find_spec("duckdb") is None:
        raise UsageError(f"--sql: DuckDB is missing; install it: {install('sql')}")
    import duckdb
    import pyarrow

    with duckdb.connect(config={"enable_external_access": "false"}) as database:
        database.execute("SET lock_configuration = true")
        database.register("molecules", arrow(_mentioned(targets, statement)))
        try:
            if len(duckdb.extract_statements(statement)) > 1:
                raise InputError("--sql: give one statement; a second one stands behind ';'")
            found = database.sql(statement)
            if found is None:
                raise InputError("--sql: the statement gives no rows; begin it with SELECT")
            return _columns(found.to_arrow_table())
        except (duckdb.Error, pyarrow.ArrowException) as error:
            raise InputError(f"--sql: {str(error).strip().splitlines()[0]}") from error


def _mentioned(targets: Sequence[Molecules], statement: str) -> Answer:
    """The columns that a statement names; all where it may mean others, too."""
    words = set(re.findall(r"\w+", statement.lower()))
    rest = re.sub(r"count\s*\(\s*\*\s*\)", "", statement, flags=re.IGNORECASE)
    every = not NAMING.match(rest) or UNNAMED.search(rest) is not None or _names_rows(rest)
    parts = []
    for molecules in targets:
        names = {name.replace(".", "_"): name for name in molecules.names}
        chosen = [name for plain, name in names.items() if every or plain.lower() in words]
        found = molecules.some(chosen or ["rank"], molecules.target.order())
        parts.append({name.replace(".", "_"): values for name, values in found.items()})
    return joined(parts)


def _names_rows(statement: str) -> bool:
    """Whether a statement may mean whole rows, as `SELECT m FROM molecules m` or NATURAL JOIN."""
    others = "|".join({"molecules", "natural", *filter(None, TABLE.findall(statement))})
    used = rf"\b(?:{others})\b(?!\s*\.)"
    return re.search(used, TABLE.sub("", statement), re.IGNORECASE) is not None


def _columns(table: Any) -> dict[str, np.ndarray]:
    import pyarrow

    result: dict[str, np.ndarray] = {}
    for name, column in zip(_distinct(table.column_names), table.columns, strict=True):
        if pyarrow.types.is_decimal(column.type):
            column = _number(column)
        if pyarrow.types.is_integer(column.type) and column.null_count:
            column = column.cast(pyarrow.float64(), safe=False)  # beyond 2^53 it is rounded
        numeric = pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)
        if numeric:
            result[name] = column.to_numpy()
        else:
            plain = (bool, type(None))
            texts = np.empty(len(column), object)
            texts[:] = [one if isinstance(one, plain) else str(one) for one in column.to_pylist()]
            result[name] = texts
    return result


def _number(column: Any) -> Any:
    """A column of decimals as whole numbers, which sums of them are, where they are and fit."""
    import pyarrow

    if column.type.scale == 0:
        with suppress(pyarrow.ArrowInvalid):
            return column.cast(pyarrow.int64())
    return column.cast(pyarrow.float64(), safe=False)


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of columns, of which a join may have several times the same: name, name_1, ..."""
    found: list[str] = []
    for name in names:
        number, new = 0, name
        while new in found or (number and new in names):
            number += 1
            new = f"{name}_{number}"
        found.append(new)
    return found
