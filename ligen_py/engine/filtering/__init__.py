"""Choice of poses: device code and NumPy twin."""
