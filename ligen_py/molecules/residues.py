"""Names of residues: waters, and other names of standard amino acids."""

WATERS = frozenset(("HOH", "WAT", "DOD", "H2O", "SOL", "TIP", "TIP3"))
"""Residues that X-Score excludes from every term."""

SAME_AS = {
    "HID": "HIS", "HIE": "HIS", "HIP": "HIS", "HSD": "HIS", "HSE": "HIS", "HSP": "HIS",
    "CYX": "CYS", "CYM": "CYS", "CSS": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
    "MSE": "MET",
}  # fmt: skip
"""Other names of protonation states; selenomethionine is typed as methionine."""
