"""An in-order queue with its own buffers, so that several pieces of work overlap on a device."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyopencl as cl

from ligen_py.opencl import buffers, watchdog
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program


class Launch:
    """A kernel with its arguments set: launching it again takes one call."""

    def __init__(
        self, program: Program, name: str, items: int, group: int, arguments: Sequence[Any]
    ) -> None:
        """`items` work-items in work-groups of `group`; arguments are buffers or NumPy scalars."""
        self._device = program.device
        self._kernel = program.new_kernel(name)
        self._kernel.set_args(*arguments)
        self._arguments = arguments  # a kernel does not keep its buffers
        self._size = (items,), (group,)

    def change(self, place: int, value: Any) -> None:
        """Set one argument to another value, for later launches."""
        self._kernel.set_arg(place, value)

    def enqueue(self, queue: cl.CommandQueue) -> cl.Event:
        """Launch without waiting; OutOfMemoryError where there is no room for what it needs."""
        with buffers.memory_named(self._device):
            return self.put(queue)

    def put(self, queue: cl.CommandQueue) -> cl.Event:
        """The same, with OpenCL's own errors: for several launches under one `memory_named`."""
        return cl.enqueue_nd_range_kernel(queue, self._kernel, *self._size)


class Stream:
    """One piece of work at a time: upload, launches, download; only `wait` waits.

    All buffers are made once. `output` is the host's side of the download, in pinned memory; it
    contains the last result until the next `submit`.
    """

    def __init__(self, device: Device, input_bytes: int, output_bytes: int) -> None:
        """Make a queue with room for one upload and one download of these sizes."""
        self._device = device
        self.queue = cl.CommandQueue(device.context)
        self.input = buffers.empty(device, input_bytes, np.uint8)
        self.result = buffers.empty(device, output_bytes, np.uint8)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        access = cl.map_flags.READ | cl.map_flags.WRITE
        with buffers.memory_named(device):
            self._pinned = cl.Buffer(device.context, flags, output_bytes)
            self.output: np.ndarray = cl.enqueue_map_buffer(
                self.queue, self._pinned, access, 0, (output_bytes,), np.uint8
            )[0]
        self._events: list[cl.Event] = []

    def submit(self, data: np.ndarray, launches: Iterable[Launch], output_bytes: int) -> None:
        """Upload, launch, download the first bytes of `result`; do not change `data` meanwhile."""
        copy, queue = cl.enqueue_copy, self.queue
        with buffers.memory_named(self._device):
            self._events = [copy(queue, self.input, data, is_blocking=False)]
            for launch in launches:
                launch.put(queue)
            target = self.output[:output_bytes]
            self._events.append(copy(queue, target, self.result, is_blocking=False))
            queue.flush()

    def finish(self) -> None:
        """Wait for the queue, whatever becomes of its commands, whose memory is free then."""
        with suppress(cl.Error), watchdog.waiting():
            self.queue.finish()

    def wait(self) -> None:
        """Wait until the last piece of work is done; returns at once if there is none."""
        if self._events:
            buffers.wait_in_turn(self._events[-1:])
            self._events = []
