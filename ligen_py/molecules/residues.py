"""Names: of waters, other ones of standard amino acids and of their atoms."""

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
    "ARN": "ARG", "MSE": "MET",
}  # fmt: skip
"""Other names of protonation states; selenomethionine is typed as methionine."""

BACKBONE = {"N": "N", "CA": "C", "C": "C", "O": "O"}
"""Atoms of every amino acid in a chain, and their elements."""

_OTHER_ATOMS = {
    "SE": "SD", "OT": "O", "OT1": "O", "O1": "O", "OC1": "O", "OT2": "OXT", "O2": "OXT",
    "OC2": "OXT",
}  # fmt: skip


def atom_name(residue: str, atom: str) -> str:
    """The PDB's name of an amino acid's atom, by the one that CHARMM or GROMACS gives it.

    >>> atom_name("ILE", "CD"), atom_name("LYS", "CD"), atom_name("ALA", "OT2")
    ('CD1', 'CD', 'OXT')
    """
    return "CD1" if (residue, atom) == ("ILE", "CD") else _OTHER_ATOMS.get(atom, atom)
