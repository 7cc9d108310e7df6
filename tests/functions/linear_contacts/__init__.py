"""A toy: every pair of heavy atoms nearer than 6 Angstrom counts 1 - r / 6."""
