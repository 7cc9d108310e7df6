"""What kernels and files take at most: settings, checks and macros have these numbers from here."""

MAX_ATOMS = 256
"""Atoms of a ligand, hydrogens included."""
MAX_TORSIONS = 64
"""Rotatable bonds of a ligand."""
MAX_RESTARTS = 4096
"""Starting poses of a ligand, and so poses of it that a file holds."""
