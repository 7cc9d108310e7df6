"""Scoring functions, one folder each."""
