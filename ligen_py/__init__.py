"""LiGen's docking method, open and portable: parse, dock, filter, score, rank."""

import os

__version__ = "0.2.0"

# A thread of OpenBLAS, which NumPy loads, waits for work in a loop at first, one on each core: two
# core-seconds of every start on 16 cores. With the shortest time it sleeps at once.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
