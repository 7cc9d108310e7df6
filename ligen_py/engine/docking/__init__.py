"""LiGen's geometric search: plan, device code in two forms, NumPy twin."""
