"""What kernels and files take: settings, checks and macros have these limits from here."""

MAX_ATOMS = 256
"""Atoms of a ligand, hydrogens included."""
MAX_TORSIONS = 64
"""Rotatable bonds of a ligand."""
MAX_RESTARTS = 4096
"""Starting poses of a ligand, and so poses of it that a file holds."""
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
"""A target or library name: it becomes part of file names, so letters, digits, _ . - only."""
