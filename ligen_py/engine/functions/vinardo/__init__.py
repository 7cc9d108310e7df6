"""Vinardo: the form of Vina with other numbers."""
