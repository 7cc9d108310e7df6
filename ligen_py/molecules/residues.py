"""Names of residues: waters, and other names of standard amino acids."""

WATERS = frozenset(("HOH", "WAT", "DOD", "H2O", "SOL", "TIP", "TIP3"))
"""Residues that X-Score excludes from every term."""

WATER_MODELS = frozenset((
    "SPC", "SPCE", "TP3", "TP4", "TP5", "T3P", "T4P", "T5P", "TIP4", "TIP5", "OPC", "OPC3",
))  # fmt: skip
"""Names that simulations give to water. T3P and others are ligands in the PDB, too, so only a
residue whose one heavy atom is oxygen is water; it is called HOH."""

SAME_AS = {
    "HID": "HIS", "HIE": "HIS", "HIP": "HIS", "HSD": "HIS", "HSE": "HIS", "HSP": "HIS",
    "CYX": "CYS", "CYM": "CYS", "CSS": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
    "MSE": "MET",
}  # fmt: skip
"""Other names of protonation states; selenomethionine is typed as methionine."""
