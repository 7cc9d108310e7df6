"""Move NumPy arrays to and from a device, after checking that they fit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyopencl as cl

from ligen_py.errors import DeviceError
from ligen_py.opencl import watchdog
from ligen_py.opencl.device import Device

MEMORY_ERRORS = frozenset(
    (
        cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
        cl.status_code.OUT_OF_RESOURCES,
        cl.status_code.OUT_OF_HOST_MEMORY,
        cl.status_code.INVALID_BUFFER_SIZE,
    )
)

FAILED = cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
"""What waiting for a failed command says; why it failed is the command's own status."""

SHARE = 4
"""One batch may use 1 / SHARE of a device's memory: two are in flight, beside tables and the memory
of other programs."""


class OutOfMemoryError(DeviceError):
    """The device has no room for a buffer; a smaller batch may fit."""


@contextmanager
def memory_named(device: Device) -> Iterator[None]:
    """Raise `OutOfMemoryError` for each of OpenCL's errors that mean a lack of memory."""
    try:
        yield
    except cl.Error as error:
        if isinstance(error, cl.MemoryError) or error.code in MEMORY_ERRORS:
            raise _out_of_memory(device.label, error) from error
        raise


def _out_of_memory(name: str, error: Exception) -> OutOfMemoryError:
    return OutOfMemoryError(f"{name} is out of memory ({error}); free it, or use another device")


def budget(device: Device) -> int:
    """Bytes that one batch may take on a device, in any number of buffers."""
    return min(int(device.handle.global_mem_size) // SHARE, int(device.handle.max_mem_alloc_size))


def upload(device: Device, array: np.ndarray) -> cl.Buffer:
    """Copy an array into a new read-only buffer (one padding element where it is empty)."""
    return _filled(device, array, cl.mem_flags.READ_ONLY)


def exchange(device: Device, array: np.ndarray) -> cl.Buffer:
    """Copy an array into a new buffer that a kernel changes in place (see `upload`)."""
    return _filled(device, array, cl.mem_flags.READ_WRITE)


def image(device: Device, array: np.ndarray) -> cl.Image:
    """Copy int8 values (depth, height, width) into a new 3-D image of one signed channel.

    DeviceError where the device has no such images.
    """
    form = cl.ImageFormat(cl.channel_order.R, cl.channel_type.SIGNED_INT8)
    if not device.handle.image_support:
        raise DeviceError(f"{device.label} has no images")
    array = np.ascontiguousarray(array, np.int8)
    size = array.shape[::-1]
    with memory_named(device), watchdog.waiting():
        if device.kind != "gpu":
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
            return cl.create_image(device.context, flags, form, size, hostbuf=array)
        made = cl.create_image(device.context, cl.mem_flags.READ_ONLY, form, size)
        cl.enqueue_copy(device.copies, made, array, origin=(0, 0, 0), region=size)
        return made


def _filled(device: Device, array: np.ndarray, access: int) -> cl.Buffer:
    array = np.ascontiguousarray(array if array.size else np.zeros(1, array.dtype))
    _check(device, array.nbytes)
    with memory_named(device), watchdog.waiting():
        if device.kind != "gpu":
            return cl.Buffer(device.context, access | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)
        # NVIDIA's driver copies what COPY_HOST_PTR names when a kernel first uses it, and then that
        # launch waits for all kernels that run.
        buffer = cl.Buffer(device.context, access, array.nbytes)
        cl.enqueue_copy(device.copies, buffer, array)
        return buffer


def empty(device: Device, count: int, dtype: object) -> cl.Buffer:
    """A new buffer for `count` elements of a type, contents undefined."""
    size = max(1, count) * np.dtype(dtype).itemsize  # type: ignore[call-overload]
    _check(device, size)
    with memory_named(device):
        return cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size)


class Reserve:
    """Buffers that are used again by each batch, in the same order; they only grow.

    Creating or freeing a large buffer makes NVIDIA's driver wait until the device is idle.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._held: list[cl.Buffer | None] = []
        self._used = 0

    def restart(self) -> None:
        """Start with the first buffer again; no command on the device may still use one of them."""
        self._used = 0

    def empty(self, count: int, dtype: object) -> cl.Buffer:
        """The next buffer, with room for `count` elements of a type, contents undefined."""
        if self._used == len(self._held):
            self._held.append(None)
        held = self._held[self._used]
        if held is None or held.size < max(1, count) * np.dtype(dtype).itemsize:  # type: ignore[call-overload]
            held = self._held[self._used] = None  # freed before a larger one is allocated
            held = self._held[self._used] = empty(self._device, count, dtype)
        self._used += 1
        return held

    def upload(self, array: np.ndarray) -> cl.Buffer:
        """Copy an array into the next buffer while the device runs other kernels."""
        array = np.ascontiguousarray(array)
        buffer = self.empty(array.size, array.dtype)
        if array.size:
            with memory_named(self._device), watchdog.waiting():
                cl.enqueue_copy(self._device.copies, buffer, array)
        return buffer


def download(
    device: Device,
    buffer: cl.Buffer,
    shape: int | tuple[int, ...],
    dtype: object,
    after: cl.Event | None = None,
) -> np.ndarray:
    """Copy a buffer into a new array, waiting for the queue's work before it.

    With `after` it waits for that command only, not for later ones of the queue.
    """
    array = np.empty(shape, dtype)  # type: ignore[call-overload]
    if array.size:
        with memory_named(device), watchdog.waiting():
            if after is None:
                cl.enqueue_copy(device.queue, array, buffer)
            else:
                cl.enqueue_copy(device.copies, array, buffer, wait_for=[after])
    return array


def wait_in_turn(events: Sequence[cl.Event]) -> None:
    """Wait for some commands one after another: the watchdog's limit is for each.

    OutOfMemoryError where one failed because there was no room for what it needed.
    """
    for event in events:
        with watchdog.waiting():
            try:
                event.wait()
            except cl.Error as error:
                code = event.command_execution_status if error.code == FAILED else error.code
                if code in MEMORY_ERRORS:
                    raise _out_of_memory(event.command_queue.device.name, error) from error
                raise


def seconds(event: cl.Event) -> float:
    """Time that a finished command took on the device, waiting for it."""
    wait_in_turn([event])
    return float(event.profile.end - event.profile.start) * 1e-9


def span(events: Sequence[cl.Event]) -> float:
    """Time from the start of the first to the end of the last of some commands, waiting for all."""
    wait_in_turn(events)
    ends = [event.profile.end for event in events]
    return float(max(ends) - min(event.profile.start for event in events)) * 1e-9


def busy(events: Sequence[cl.Event]) -> float:
    """Time in which any of some commands ran, which may overlap, waiting for all."""
    wait_in_turn(events)
    total, until = 0, 0
    for start, end in sorted((event.profile.start, event.profile.end) for event in events):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total * 1e-9


def zero(device: Device, buffer: cl.Buffer, queue: cl.CommandQueue | None = None) -> cl.Event:
    """Fill a buffer with zeros, behind what the queue (without one the device's) does before."""
    with memory_named(device):
        return cl.enqueue_fill_buffer(queue or device.queue, buffer, np.uint8(0), 0, buffer.size)


def _check(device: Device, size: int) -> None:
    limit = int(device.handle.max_mem_alloc_size)
    if size > limit:
        raise OutOfMemoryError(
            f"{device.label} allows buffers of {limit} bytes; {size} are needed; "
            "use a device with more memory"
        )
