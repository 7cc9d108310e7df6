"""What gnina's networks are given, and what they answer."""

import numpy as np

NETWORKS = {
    "crossdock_default2018": "56990c0a31a7aa0a57c5445de64c3d59002bc23de9947a8d028548d89ca803b4",
    "general_default2018_3": "e57a2b210bc0070dcb8f5475dae5e3ccaa7491f568a57816bda5db80e362e816",
    "redock_default2018_2": "df9d51abf6af21b9ebad9ed70ea836b699ac33c3225ec2f0c930230e2c647944",
}
"""Name -> SHA-256 of the file of the networks whose mean is taken: those of gnina 1.0's default
ensemble (McNutt et al., J. Cheminform. 2021, 13, 43) that are not dense. The two dense ones take
4.5 times as long each."""

TERMS = ("logit", "pose", "affinity", "total")
"""Logit of the pose score; that score, the probability that a pose is within 2 Angstrom of the
crystal's; the affinity, a pK; and their product, by which gnina ranks molecules."""

CHANNELS = 28
"""Of densities: 14 of the receptor, then 14 of the ligand."""

RADIUS = {
    6: 1.9, 7: 1.8, 8: 1.7, 16: 2.0, 34: 2.0, 15: 2.1, 9: 1.5, 17: 1.8, 35: 2.0, 53: 2.2, 5: 1.92,
}  # fmt: skip
OTHER_RADIUS = 1.2
"""Angstrom; X-Score's radii, as gnina has them."""


def radii(element: np.ndarray) -> np.ndarray:
    """Radius (atoms,) of each atom in Angstrom, float32."""
    table = np.full(256, OTHER_RADIUS, np.float32)
    table[list(RADIUS)] = list(RADIUS.values())
    return table[element]
