"""A hit's place among all molecules, looked up in sorted values."""

import numpy as np

from ligen_py.store.campaign.reader import Every
from ligen_py.summary.dossier import SIZE_POWER, Among, _above


def test_as_many_are_above_as_a_comparison_counts() -> None:
    rng = np.random.default_rng(1)
    totals = rng.normal(size=500).round(1).astype("f4")  # with equal ones
    totals[7] = np.nan
    heavy = rng.integers(5, 40, 500).astype("u2")
    none = np.empty(0, "i8")
    every = Every(none, none, totals, heavy, none, none, none, {"vina": totals})
    among = Among.of(every, ("vina",))
    assert among.size == 500
    scaled = totals / heavy.astype(float) ** SIZE_POWER
    for value in totals[:50].tolist():
        if np.isfinite(value):
            assert _above(among.totals["vina"], value) == (totals > value).sum()
    for value in scaled[:50].tolist():
        if np.isfinite(value):
            assert _above(among.scaled, value) == (scaled > value).sum()
