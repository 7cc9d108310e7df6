"""Run a notebook's cells in order in one namespace; as a program it stores what they print.

python -m tests.notebook docs/python.ipynb
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell: what it prints, and the value of its last line."""
    names: dict[str, Any] = {"__name__": "notebook"}
    return [
        _outputs("".join(cell["source"]), names, number)
        for number, cell in enumerate(code_cells(notebook), start=1)
    ]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"cell {number}", "exec"), names)
        value = (
            eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
            if isinstance(last, ast.Expr)
            else None
        )
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        shown = {"data": data, "execution_count": number, "metadata": {}}
        found.append({"output_type": "execute_result", **shown})
    return found


if __name__ == "__main__":
    file = Path(sys.argv[1]).absolute()
    book = json.loads(file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        results = run(book)
    for count, (cell, outputs) in enumerate(zip(code_cells(book), results, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = outputs, count
    file.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
