"""When the device ran kernels, for each process of a campaign that screens; see campaign.py.

Python imports this first where PYTHONPATH names its folder. Each process with kernels
writes start and end of its kernels (float64 (kernels, 2), seconds of the device's clock) into the
folder LIGEN_BENCHMARK_KERNELS.
"""

import atexit
import os
import sys
from pathlib import Path


def _record() -> None:
    import numpy as np

    from ligen_py.opencl import device  # registers the runtimes before pyopencl is loaded

    cl = device.cl
    events, call, enqueue = [], cl.Kernel.__call__, cl.enqueue_nd_range_kernel

    def called(*arguments, **options):
        events.append(call(*arguments, **options))
        return events[-1]

    def enqueued(*arguments, **options):
        events.append(enqueue(*arguments, **options))
        return events[-1]

    def write() -> None:
        spans = []
        for event in events:
            try:
                spans.append((event.profile.start, event.profile.end))
            except cl.RuntimeError:  # of a queue that keeps no times
                continue
        path = Path(os.environ["LIGEN_BENCHMARK_KERNELS"], f"{os.getpid()}.npy")
        np.save(path, np.array(spans, np.float64).reshape(-1, 2) * 1e-9)

    cl.Kernel.__call__ = called
    cl.enqueue_nd_range_kernel = enqueued
    atexit.register(write)


STAGES = {f"ligen_py.{name}" for name in ("screen", "dock", "lga", "filter", "refine", "score")}

if "LIGEN_BENCHMARK_KERNELS" in os.environ and STAGES & set(sys.orig_argv):
    _record()
