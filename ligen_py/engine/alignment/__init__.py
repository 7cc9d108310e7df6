"""Exact local alignment of proteins with affine gaps (Smith-Waterman) on devices."""
