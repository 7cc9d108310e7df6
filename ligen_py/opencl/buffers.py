"""Move NumPy arrays to and from a device, after checking that they fit."""

import numpy as np
import pyopencl as cl

from ligen_py.errors import DeviceError
from ligen_py.opencl.device import Device


def upload(device: Device, array: np.ndarray) -> cl.Buffer:
    """Copy an array into a new read-only buffer (one padding element where it is empty)."""
    array = np.ascontiguousarray(array if array.size else np.zeros(1, array.dtype))
    _check(device, array.nbytes)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(device.context, flags, hostbuf=array)


def exchange(device: Device, array: np.ndarray) -> cl.Buffer:
    """Copy an array into a new buffer that a kernel changes in place (see `upload`)."""
    array = np.ascontiguousarray(array if array.size else np.zeros(1, array.dtype))
    _check(device, array.nbytes)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(device.context, flags, hostbuf=array)


def empty(device: Device, count: int, dtype: object) -> cl.Buffer:
    """A new buffer for `count` elements of a type, contents undefined."""
    size = max(1, count) * np.dtype(dtype).itemsize  # type: ignore[call-overload]
    _check(device, size)
    return cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size)


def download(
    device: Device, buffer: cl.Buffer, shape: int | tuple[int, ...], dtype: object
) -> np.ndarray:
    """Copy a buffer into a new array, waiting for the queue's work before it."""
    array = np.empty(shape, dtype)  # type: ignore[call-overload]
    if array.size:
        cl.enqueue_copy(device.queue, array, buffer)
    return array


def seconds(event: cl.Event) -> float:
    """Time that a finished command took on the device, waiting for it."""
    event.wait()
    return float(event.profile.end - event.profile.start) * 1e-9


def _check(device: Device, size: int) -> None:
    limit = int(device.handle.max_mem_alloc_size)
    if size > limit:
        raise DeviceError(f"{device.label} allows buffers of {limit} bytes; {size} are needed")
