"""Properties of elements for all parts of the package: metals, covalent radii."""

METALS = frozenset((
    "LI", "NA", "K", "RB", "CS", "BE", "MG", "CA", "SR", "BA", "AL", "GA", "IN", "TL", "SC", "TI",
    "V", "CR", "MN", "FE", "CO", "NI", "CU", "ZN", "Y", "ZR", "NB", "MO", "TC", "RU", "RH", "PD",
    "AG", "CD", "HF", "TA", "W", "RE", "OS", "IR", "PT", "AU", "HG", "SN", "PB", "BI", "LA", "CE",
    "PR", "ND", "SM", "EU", "GD", "TB", "DY", "HO", "ER", "TM", "YB", "LU", "U",
))  # fmt: skip
"""Elements of X-Score's class metal."""

HALIDES = frozenset(("F", "CL", "BR", "I"))
"""Elements whose lone atoms are ions with a charge of -1."""

HALOGENS = frozenset((9, 17, 35, 53))
"""Atomic numbers of fluorine, chlorine, bromine and iodine."""

COVALENT_RADIUS = {
    "B": 0.84, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "SI": 1.11, "P": 1.07, "S": 1.05,
    "CL": 1.02, "SE": 1.20, "BR": 1.20, "I": 1.39,
}  # fmt: skip
"""Angstrom; B. Cordero et al., Dalton Trans. 2008, 2832-2838."""

BOND_TOLERANCE = 0.4
"""Two atoms are bonded up to this much (Angstrom) beyond the sum of their covalent radii."""
