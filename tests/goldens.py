"""Values of independent programs in tests/data; the scripts that made them lie beside them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.pdbqt import METALS, Pdbqt

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    """A table, one dict of texts a row."""
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:]]


def document(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def pocket(name: str) -> Pdbqt:
    """Receptor atoms near a crystal ligand, as Meeko typed and charged them."""
    found = rows(f"pocket_{name}.tsv")
    return Pdbqt(
        [f"{row['chain']}/{row['residue']}/{row['number']}/{row['atom']}" for row in found],
        np.array([[float(row[axis]) for axis in "xyz"] for row in found]),
        np.array([float(row["charge"]) for row in found]),
        [METALS.get(row["type"], row["type"]) for row in found],
        [],
    )


def distances(columns: Sequence[str]) -> list[dict[str, float]]:
    """What columns named as in `r=3.1,q1=0.2` stand for."""
    return [
        {name: float(value) for name, value in (part.split("=") for part in column.split(","))}
        for column in columns
    ]
