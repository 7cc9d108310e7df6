"""Molecules and receptors to records. RDKit and gemmi live here and nowhere else."""
