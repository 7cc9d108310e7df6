"""Expressions over columns, such as `score > 3 and mw < 450`: conditions and keys of a sort.

The grammar is a part of Python's: numbers, texts in quotes, names of columns, `+ - * /`,
comparisons (chained ones, too), `in`, `and`, `or`, `not`, and the functions of `FUNCTIONS`. The
text is parsed by Python's own parser, and nothing but what is listed here is evaluated: no
attribute of an object, no call, no power.
"""

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ligen_py.errors import UsageError

LONGEST = 2000
"""Characters of an expression: Python's parser needs memory for deep nesting."""

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

SIGNS = {
    ast.BitAnd: ("&", "and"),
    ast.BitOr: ("|", "or"),
    ast.Invert: ("~", "not"),
    ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Is: ("is", "=="),
    ast.IsNot: ("is not", "!="),
}
"""Operators that are none here: the sign, and what to write in its place."""

FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": np.abs, "sqrt": np.sqrt, "log10": np.log10}
"""Each takes one number."""


class Texts:
    """A column of texts: numbers of distinct values, or the texts themselves."""

    def __init__(self, values: np.ndarray, names: list[str] | None = None) -> None:
        """`names` are the distinct values that `values` numbers; None: `values` are texts."""
        self._values, self._names = values, names

    def isin(self, wanted: frozenset[str]) -> np.ndarray:
        """Rows whose text is one of `wanted`: bool (rows,)."""
        if self._names is not None:
            known = np.array([name in wanted for name in self._names], bool)
            return np.asarray(known[self._values])
        return np.fromiter((text in wanted for text in self._values), bool, len(self._values))


Column = np.ndarray | Texts
Columns = Callable[[str], Column]
"""The column of a name; KeyError where there is none."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression."""

    flag: str
    """Where it was given, for messages."""
    text: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: str, flag: str) -> "Expression":
        """Parse a text; UsageError names the flag and what cannot be read."""
        if len(text) > LONGEST:
            raise UsageError(f"{flag}: longer than {LONGEST} characters; give a shorter one")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UsageError(f"{flag} '{text}': {_why(text, error)}") from error
        result = cls(flag, text, tree)
        for node in ast.walk(tree):
            result._require_allowed(node)
        return result

    @property
    def names(self) -> list[str]:
        """Columns that it reads."""
        return list(dict.fromkeys(_names(self.tree)))

    def condition(self, columns: Columns) -> np.ndarray:
        """Rows for which it is true: bool (rows,)."""
        found = self._value(self.tree, columns)
        if not _is_condition(found):
            raise self._error("is no condition; compare something, as in score > 3")
        return np.asarray(found)

    def numbers(self, columns: Columns) -> np.ndarray:
        """Its value in each row: f8 (rows,)."""
        found = self._value(self.tree, columns)
        if not isinstance(found, np.ndarray) or _is_condition(found):
            raise self._error("gives no number for each molecule; name a column of numbers")
        return found.astype("f8")

    def _error(self, words: str) -> UsageError:
        return UsageError(f"{self.flag} '{self.text}': {words}")

    def _require_allowed(self, node: ast.AST) -> None:
        allowed = (
            *(ast.Load, ast.Name, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub),
            *(ast.UAdd, ast.BinOp, ast.Compare, ast.In, ast.NotIn, ast.Tuple, ast.List),
            *OPERATORS,
        )
        if isinstance(node, ast.Constant):
            fine = isinstance(node.value, int | float | str) and not isinstance(node.value, bool)
        elif isinstance(node, ast.Attribute):
            fine = isinstance(node.value, ast.Name)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", None)
            fine = name in FUNCTIONS and len(node.args) == 1 and not node.keywords
            if not fine:
                raise self._error(f"the functions are {', '.join(FUNCTIONS)}, of one number")
        else:
            fine = isinstance(node, allowed)
        if type(node) in SIGNS:
            sign, cure = SIGNS[type(node)]
            raise self._error(f"'{sign}' is not allowed; write '{cure}'")
        if not fine:
            raise self._error(
                f"{_said(node)} is not allowed; use comparisons, and, or, not, + - * /"
            )

    def _value(self, node: ast.AST, columns: Columns) -> Any:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Constant(value=int() | float() as value):
                return self._float(value)
            case ast.Name() | ast.Attribute():
                return columns(_name(node))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return [self._value(item, columns) for item in items]
            case ast.BoolOp(op=op, values=values):
                rows = [self._condition(value, columns) for value in values]
                return reduce(np.logical_and if isinstance(op, ast.And) else np.logical_or, rows)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self._condition(operand, columns)
            case ast.UnaryOp(op=op, operand=operand):
                value = self._number(operand, columns)
                return -value if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right):
                with np.errstate(all="ignore"):
                    try:
                        return OPERATORS[type(op)](
                            self._number(left, columns), self._number(right, columns)
                        )
                    except ZeroDivisionError:
                        raise self._error("divides by zero") from None
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                with np.errstate(all="ignore"):
                    return FUNCTIONS[name](self._number(argument, columns))
            case ast.Compare():
                return self._comparison(node, columns)
        raise self._error(f"{_said(node)} is not allowed")

    def _float(self, value: int | float) -> float:
        try:
            return float(value)
        except OverflowError:
            raise self._error("contains a number that is too large") from None

    def _condition(self, node: ast.AST, columns: Columns) -> Any:
        found = self._value(node, columns)
        if not _is_condition(found):
            raise self._error(f"{ast.unparse(node)} is no condition; compare it with something")
        return found

    def _number(self, node: ast.AST, columns: Columns) -> Any:
        found = self._value(node, columns)
        if not isinstance(found, float | np.ndarray | np.floating) or _is_condition(found):
            raise self._error(f"{ast.unparse(node)} is no number")
        return found

    def _comparison(self, node: ast.Compare, columns: Columns) -> Any:
        ends = [node.left, *node.comparators]
        found = [
            self._pair(left, op, right, columns)
            for left, op, right in zip(ends, node.ops, ends[1:], strict=False)
        ]
        # A comparison of two numbers has one value for all rows.
        return reduce(np.logical_and, found, np.True_)

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr, columns: Columns) -> Any:
        one, other = self._value(left, columns), self._value(right, columns)
        if isinstance(op, ast.In | ast.NotIn) and isinstance(other, str | float):
            other = [other]  # ('a') is a list in SQL, and a text in Python
        if isinstance(other, Texts) and isinstance(one, str) and isinstance(op, ast.Eq | ast.NotEq):
            one, other = other, one
        if isinstance(one, Texts):
            wanted = other if isinstance(other, list) else [other]
            is_list = isinstance(op, ast.In | ast.NotIn)
            if not (is_list == isinstance(other, list)) or not all(
                isinstance(text, str) for text in wanted
            ):
                raise self._error(
                    f"{ast.unparse(left)} is text; compare it with a text in quotes by == or !=, "
                    "or with several by in ('a', 'b')"
                )
            if not isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                raise self._error(f"{ast.unparse(left)} is text; it has no order")
            rows = one.isin(frozenset(wanted))
            return ~rows if isinstance(op, ast.NotEq | ast.NotIn) else rows
        one = self._number(left, columns)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(other, list) or not all(isinstance(item, float) for item in other):
                raise self._error("'in' needs numbers in brackets, such as charge in (0, 1)")
            # As by ==: in the column's own precision, in which its values are shown.
            rows = np.logical_or.reduce([self._compared(ast.Eq(), one, item) for item in other])
            return ~rows if isinstance(op, ast.NotIn) else rows
        return self._compared(op, one, self._number(right, columns))

    @staticmethod
    def _compared(op: ast.cmpop, one: Any, other: Any) -> Any:
        with np.errstate(all="ignore"):
            return OPERATORS[type(op)](one, other)


def _is_condition(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.bool_) and value.dtype == np.bool_


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return str(getattr(node, "id", ""))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield _name(node)
        return
    # The name of a function is none of a column.
    children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for child in children:
        yield from _names(child)


def _said(node: ast.AST) -> str:
    try:
        return f"'{ast.unparse(node)}'" if isinstance(node, ast.expr) else type(node).__name__
    except (ValueError, RecursionError):
        return type(node).__name__


def _why(text: str, error: Exception) -> str:
    plain = text
    for pair in ("==", "<=", ">=", "!="):
        plain = plain.replace(pair, "")
    if "=" in plain:
        return "write == to compare"
    if "&&" in text or "||" in text:
        return "write 'and' and 'or'"
    place = (
        f" at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
    )
    return f'cannot be read{place}; write it as in "score > 3 and mw < 450"'
