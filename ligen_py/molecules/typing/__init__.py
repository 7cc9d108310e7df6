"""Atom types and charges of every scoring function."""
