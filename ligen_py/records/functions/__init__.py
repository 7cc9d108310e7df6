"""Atom types of the scoring functions: one module, and one group of the files, each."""
