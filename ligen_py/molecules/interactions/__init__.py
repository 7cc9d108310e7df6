"""Interactions of a pose with the residues around it, by geometry."""
