"""HDF5 files of the stages: layout, checks, sealing."""
