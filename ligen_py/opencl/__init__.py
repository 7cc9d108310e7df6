"""Devices, programs, buffers. Only pyopencl user; knows no chemistry."""
