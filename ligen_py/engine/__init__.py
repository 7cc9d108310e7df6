"""The method: kernels' host code and their NumPy twins. Imports only opencl and records."""
