"""When two groups interact: distances in Angstrom, angles in degrees, and the geometry behind them.

The limits are those of ProLIF 2 (C. Bouysset, S. Fiorucci, J. Cheminform. 2021, 13, 72), which
follow PLIP (S. Salentin et al., Nucleic Acids Res. 2015, 43, W443), whose nonpolar atoms and their
limit are taken here, and, for halogen bonds,
P. Auffinger et al., Proc. Natl. Acad. Sci. USA 2004, 101, 16789. Water bridges: polar atoms within
the distance of a hydrogen bond of one water oxygen, as hydrogens of crystal waters are unknown.
"""

import numpy as np

HYDROGEN_BOND = 3.5
"""Donor to acceptor."""
HYDROGEN_BOND_ANGLE = 130.0
"""Least angle donor, hydrogen, acceptor."""
HYDROPHOBIC = 4.0
"""Between two nonpolar atoms; PLIP's limit."""
SALT_BRIDGE = 4.5
"""Between atoms that carry opposite charges."""
CATION_PI = 4.5, 30.0
"""Charge to the centre of a ring; most angle between that line and the ring's normal."""
FACE_TO_FACE = 5.5, 35.0, 33.0
"""Between ring centres; most angle of the planes; most angle of normal and centres."""
EDGE_TO_FACE = 6.5, 50.0, 30.0, 1.5
"""Between ring centres; least angle of the planes; most angle of one normal and the centres; most
distance from a ring's centre to where the other ring's plane meets it."""
HALOGEN_BOND = 3.5, 130.0, (80.0, 140.0)
"""Halogen to acceptor; least angle carbon, halogen, acceptor; range of the angle halogen, acceptor,
its neighbour."""
METAL = 2.8
"""Metal to a donor of its shell."""

BENT = 109.5
"""Angle neighbour, donor, hydrogen of a donor that turns about its bond."""
HYDROGEN = 1.0
"""Length of a bond to hydrogen."""


def distances(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Distances (n, m) between positions (n, 3) and (m, 3)."""
    return np.asarray(np.linalg.norm(one[:, None] - two[None], axis=2))


def angle(one: np.ndarray, apex: np.ndarray, two: np.ndarray) -> float:
    """Angle in degrees at `apex` between two positions (3,).

    >>> round(angle(np.array([1.0, 0, 0]), np.zeros(3), np.array([0.0, 2, 0])), 6)
    90.0
    """
    return between(one - apex, two - apex)


def between(one: np.ndarray, two: np.ndarray) -> float:
    """Angle in degrees between two vectors (3,); 0 where one has no length."""
    length = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(np.degrees(np.arccos(np.clip(one @ two / length, -1, 1)))) if length else 0.0


def tilt(one: np.ndarray, two: np.ndarray) -> float:
    """Angle in degrees, at most 90, between two lines along vectors (3,)."""
    found = between(one, two)
    return min(found, 180 - found)


def turning_angle(neighbour: np.ndarray, donor: np.ndarray, acceptor: np.ndarray) -> float:
    """Largest angle donor, hydrogen, acceptor of a hydrogen that turns about its donor's bond.

    A hydroxyl's hydrogen lies on a circle; the best place on it is in the plane of the three atoms.

    >>> x = np.array([1.0, 0, 0])
    >>> round(turning_angle(x, np.zeros(3), 3 * np.array([-0.33380686, 0.94264149, 0])))
    180
    """
    apart = np.radians(abs(angle(neighbour, donor, acceptor) - BENT))
    length = float(np.linalg.norm(acceptor - donor))
    hydrogen = HYDROGEN * np.array([np.cos(apart), np.sin(apart), 0.0])
    return angle(np.zeros(3), hydrogen, np.array([length, 0.0, 0.0]))


def stacked(centres: tuple[np.ndarray, np.ndarray], normals: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether two aromatic rings, by centres and unit normals (3,), stack face to face or edge on.

    >>> z = np.array([0.0, 0, 1])
    >>> stacked((np.zeros(3), 3.6 * z), (z, z))
    True
    >>> stacked((np.zeros(3), 6 * z), (z, z))
    False
    """
    line = centres[1] - centres[0]
    apart = float(np.linalg.norm(line))
    near, flat, along_face = FACE_TO_FACE
    most, steep, along_edge, reach = EDGE_TO_FACE
    if apart > most:  # nearly all pairs of rings end here
        return False
    planes, lean = tilt(*normals), min(tilt(normal, line) for normal in normals)
    if apart <= near and planes <= flat and lean <= along_face:
        return True
    return planes >= steep and lean <= along_edge and _meets(centres, normals, reach)


def _meets(
    centres: tuple[np.ndarray, np.ndarray], normals: tuple[np.ndarray, np.ndarray], reach: float
) -> bool:
    """Whether the line in which the planes meet comes within `reach` of a ring's centre."""
    direction = np.cross(*normals)
    rows = np.stack([*normals, direction])
    if abs(np.linalg.det(rows)) < 1e-6:
        return False
    heights = np.array([normals[0] @ centres[0], normals[1] @ centres[1], 0.0])
    point = np.linalg.solve(rows, heights)
    along = direction / np.linalg.norm(direction)
    nearest = [point + ((centre - point) @ along) * along for centre in centres]
    return any(
        np.linalg.norm(place - centre) <= reach
        for place, centre in zip(nearest, centres, strict=True)
    )
