"""CRISPR off-target search: bit planes on a device, guides' statistics, and the NumPy twin."""
