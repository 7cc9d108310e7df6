"""What settings share with kernels, files and sequences: limits, letters of DNA, the form of names.

Settings import nothing else of the records, so that whoever only checks a config loads no arrays.
"""

MAX_ATOMS = 256
"""Atoms of a ligand, hydrogens included."""
MAX_TORSIONS = 64
"""Rotatable bonds of a ligand."""
MAX_RESTARTS = 4096
"""Starting poses of a ligand, and so poses of it that a file holds."""
DNA = {
    **{"A": "A", "C": "C", "G": "G", "T": "T", "U": "T"},
    **{"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"},
    **{"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"},
}
"""IUPAC's letters of DNA -> the bases that each stands for."""
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
"""A target or library name: it becomes part of file names, so letters, digits, _ . - only."""
