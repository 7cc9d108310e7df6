"""HDF5 files between stages: written whole or not at all, checked when read. Only h5py user."""
