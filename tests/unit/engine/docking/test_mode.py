"""Which form of docking `auto` takes."""

from types import SimpleNamespace
from typing import Any

import pytest

from ligen_py.engine.docking.mode import FEW_LIGANDS, Mode, resolve


def device(kind: str) -> Any:
    return SimpleNamespace(kind=kind)


@pytest.mark.parametrize(
    ("mode", "kind", "ligands", "expected"),
    [
        ("auto", "gpu", 1, "latency"),
        ("auto", "gpu", FEW_LIGANDS["gpu"], "latency"),
        ("auto", "gpu", FEW_LIGANDS["gpu"] + 1, "batched"),
        ("auto", "cpu", 1, "batched"),
        ("latency", "cpu", 10**6, "latency"),
        ("batched", "gpu", 1, "batched"),
    ],
)
def test_few_ligands_on_a_gpu_go_one_by_one(
    mode: Mode, kind: str, ligands: int, expected: Mode
) -> None:
    assert resolve(mode, device(kind), ligands) == expected
