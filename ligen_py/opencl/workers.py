"""Distribute work over devices: one process for each of several, this process for a single one."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from typing import Any, TypeVar

from ligen_py.errors import DeviceError
from ligen_py.opencl import watchdog
from ligen_py.opencl.device import Device, devices

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items that a worker has at a time: the current one and the next."""

_state: dict[str, Any] = {}
"""Of a worker process: `start`, `device`, and the work itself once it has started."""


def spread(
    chosen: Sequence[Device],
    start: Callable[[Device], Callable[[Item], Result]],
    items: Iterable[Item],
) -> Iterator[Result]:
    """Results of all items, in their order; no result may depend on the device that computed it.

    `start` prepares a device and returns the function that does the work; with several devices it
    is called in a process of each, so it, items and results must be picklable, and items go to the
    devices in turn. Raises what the work raises, and DeviceError where a process dies.
    """
    if len(chosen) == 1:
        yield from map(start(chosen[0]), items)
        return
    known = [device.handle for device in devices()]
    spawn = multiprocessing.get_context("spawn")  # drivers do not survive a fork
    waiting: deque[Future[Result]] = deque()
    with ExitStack() as stack:
        pools = []
        for device in chosen:
            given = start, known.index(device.handle)
            pool = ProcessPoolExecutor(1, spawn, initializer=_begin, initargs=given)
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            pools.append(pool)
        try:
            for number, item in enumerate(items):
                waiting.append(pools[number % len(pools)].submit(_work, item))
                if len(waiting) == AHEAD * len(pools):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise DeviceError(
                "the process of a device has died; run with one device to see which"
            ) from error


def _begin(start: Callable[[Device], Any], number: int) -> None:
    _state.update(start=start, number=number, work=None)


def _work(item: Any) -> Any:
    if _state["work"] is None:
        device = devices()[_state["number"]]
        watchdog.arm(device.kind == "gpu")
        _state["work"] = _state["start"](device)
    return _state["work"](item)
