"""Constants and pair tables."""

import numpy as np
import pytest

from ligen_py.engine.functions.vina.constants import VINA
from ligen_py.engine.functions.vinardo.constants import VINARDO
from ligen_py.records.functions.vina import VinaType


def test_pair_table_says_what_each_pair_is() -> None:
    table = VINA.pair_table()
    assert np.array_equal(table, table.transpose(1, 0, 2))
    assert (table[VinaType.NONE] == 0).all()
    assert table[VinaType.C_H, VinaType.CL_H] == pytest.approx([3.7, 1, 0, 1])
    assert table[VinaType.C_P, VinaType.C_H] == pytest.approx([3.8, 0, 0, 1])
    assert table[VinaType.O_A, VinaType.MET_D] == pytest.approx([2.9, 0, 1, 1])
    assert table[VinaType.N_D, VinaType.O_D] == pytest.approx([3.5, 0, 0, 1])
    assert table[VinaType.N_DA, VinaType.N_DA] == pytest.approx([3.6, 0, 1, 1])
    assert VINARDO.pair_table()[VinaType.O_A, VinaType.N_P, 0] == pytest.approx(3.3)


def test_every_type_has_a_radius() -> None:
    for form in (VINA, VINARDO):
        assert (form.radii[1:] > 1).all()
        assert form.radii[VinaType.NONE] == 0
