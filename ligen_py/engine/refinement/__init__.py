"""Descent of poses in the field of a scoring function: device code and NumPy twin."""
