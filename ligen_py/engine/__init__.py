"""The method: kernels' host code and their NumPy twins, on arrays: no RDKit, no HDF5 files."""
