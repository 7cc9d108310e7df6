"""Worker processes for calculations that may hang, exhaust memory or crash; only their item fails.

A worker that uses more processor time or memory than allowed on one item, or dies, is replaced; the
item is tried in a simpler way or gets a substitute result, and the other items are not affected.
"""

import gc
import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from ligen_py.errors import WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")
T = TypeVar("T")

BATCH = 32
"""Items sent to a worker at a time, where nothing else is said."""

PAUSE = 0.2
"""Seconds after which a worker sends what it has; quick results go together, as one message."""

SHORTEST = 0.001
"""Seconds of a time limit that is nearly used up; 0 would be none."""

YOUNG = 20_000
"""Objects after which a worker looks for rings of references among them; RDKit's atoms and bonds,
hundreds of which live for a moment, form none."""

AHEAD = 4
"""Large items of one process that may wait behind a slow one."""

TOGETHER = -1
"""Stands for the number of functions that were tried, where all items of a batch are new."""

OUT_OF_MEMORY = 12
"""Exit code of a worker that asked for more memory than allowed (errno ENOMEM)."""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    time_limit: float,
    lost: Callable[[Item, bool, int], Result],
    memory_limit: int = 0,
    simpler: Callable[[Item], Result] | None = None,
    together: Callable[[list[Item]], list[Result | Callable[[], Result]]] | None = None,
    batch: int = BATCH,
    ahead: int = 0,
) -> Iterator[tuple[Item, Result]]:
    """Apply a function in `jobs` processes; yields (item, result) in the order of the items.

    Args:
        function: picklable; called in a worker.
        items: read lazily, in this process.
        jobs: most worker processes, at least 1; none is started before there is work for it.
        time_limit: processor time for one item, in seconds; 0: any. Processor time, not the
            clock's, so that waiting for a busy machine does not count.
        lost: returns the result of an item that killed a worker, from the item, whether it ran out
            of time, and the worker's exit code: minus the signal's number, or OUT_OF_MEMORY.
        memory_limit: memory that a worker may allocate beyond its start, in MiB; 0: any.
        simpler: tried, with the same limits, on an item for which `function` killed a worker.
        together: makes the same results of a whole batch; of an item that is to be ended alone, a
            function that does it. It has the limits of one item, and so have both one after the
            other. Where they kill a worker, `function` does the items of that batch one by one, so
            no item is lost because of others.
        batch: items that a worker gets at a time.
        ahead: items at work or done, at most about, while the next result is waited for; 0: any.

    Raises WorkerError where a process dies before it takes an item.
    """
    numbered = enumerate(items)
    functions = [function] if simpler is None else [function, simpler]
    workers: list[_Worker[Item, Result]] = []
    done: dict[int, tuple[Item, Result]] = {}
    following = 0

    def give_work() -> None:
        idle = [worker for worker in workers if not worker.pending]
        while idle or len(workers) < jobs:
            waiting = len(done) + sum(len(one.pending) for one in workers)
            given = [] if ahead and waiting >= ahead else list(islice(numbered, batch))
            if not given:
                return
            if not idle:
                idle.append(_Worker(functions, together, time_limit, memory_limit))
                workers.append(idle[0])
            idle.pop(0).give(given)

    try:
        give_work()
        while busy := [worker for worker in workers if worker.pending]:
            ready = wait([worker.connection for worker in busy])
            for worker in busy:
                if worker.connection in ready:
                    done.update(worker.collect(lost))
            give_work()
            while following in done:
                yield done.pop(following)
                following += 1
            give_work()
    finally:
        for worker in workers:
            worker.stop()


def each(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int
) -> Generator[tuple[Item, Result]]:
    """As `ordered_map`, for few large items that ought to succeed: raises what the function raises.

    A single job needs no other process. However slow an item is, no more than `AHEAD` results a job
    wait behind it. Raises WorkerError where a process dies.
    """
    if jobs == 1:
        yield from ((item, function(item)) for item in items)
        return
    work = partial(_tried, function)
    for item, found in ordered_map(work, items, jobs, 0, _died, batch=1, ahead=AHEAD * jobs):
        if isinstance(found, _Raised):
            raise found.error
        yield item, found


@dataclass
class _Raised:
    """What a function raised in a worker."""

    error: Exception


def _tried(function: Callable[[Item], Result], item: Item) -> Result | _Raised:
    try:
        return function(item)
    except Exception as error:
        error.add_note(f"In a process of its own:\n{traceback.format_exc()}")
        return _Raised(error)


def _died(item: object, timed_out: bool, code: int) -> _Raised:
    if code == -signal.SIGKILL:
        why = "was killed, perhaps as the memory was full; give the job more memory or fewer --jobs"
    elif code < 0:
        why = f"was ended by signal {-code} ({signal.strsignal(-code)}); run it again"
    else:
        why = f"has ended with exit code {code}; the lines above say why"
    return _Raised(WorkerError(f"a process {why}"))


class _Worker(Generic[Item, Result]):
    """One process and its pending items."""

    def __init__(
        self,
        functions: list[Callable[[Item], Result]],
        together: Callable[[list[Item]], list[Result | Callable[[], Result]]] | None,
        time_limit: float,
        memory_limit: int,
    ) -> None:
        self.functions = functions
        self.together = together
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.pending: deque[tuple[int, Item]] = deque()
        self.tried = TOGETHER
        """Number of functions with which the first pending item has killed a worker; `TOGETHER`:
        it has not been tried one by one."""
        self.received = 0
        """Results of the items that were given last."""
        self.at_work = multiprocessing.RawValue("i", 0)
        """Number, among these, of the item that the process works on, if one by one."""
        self.ready = multiprocessing.RawValue("b", False)
        """Whether the process takes items: one that ends before has none to blame."""
        self._start()

    def _start(self) -> None:
        self.ready.value = False
        self.connection, far_end = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=_serve,
            args=(
                far_end,
                self.ready,
                self.at_work,
                self.functions,
                self.together,
                self.time_limit,
                self.memory_limit,
            ),
            daemon=True,
        )
        self.process.start()
        far_end.close()

    def give(self, batch: list[tuple[int, Item]]) -> None:
        """Send a new batch; the worker must have no pending items, so that it is listening."""
        self.tried = TOGETHER if self.together else 0
        self._send(batch)

    def _send(self, batch: Iterable[tuple[int, Item]]) -> None:
        self.pending.extend(batch)
        self.received = self.at_work.value = 0
        if self.pending:
            with suppress(ConnectionError):  # a dead worker is noticed when results are collected
                self.connection.send((self.tried, [item for _, item in self.pending]))

    def collect(self, lost: Callable[[Item, bool, int], Result]) -> dict[int, tuple[Item, Result]]:
        """Receive results, by index; a dead worker is replaced and may return none.

        WorkerError where it has died before it took an item.
        """
        try:
            results = self.connection.recv()
        except (EOFError, OSError):  # the second in the middle of a message
            self.process.join()
            code = self.process.exitcode or 0
            if not self.ready.value:
                raise _died(None, False, code).error from None
            if self.tried == TOGETHER:
                self.tried = 0
                self._replace()
                return {}
            self._put_culprit_first()
            self.tried += 1
            if self.tried < len(self.functions):
                self._replace()
                return {}
            index, item = self._done()
            self._replace()
            return {index: (item, lost(item, code == -signal.SIGPROF, code))}
        self.received += len(results)
        found = {}
        for result in results:
            index, item = self._done()
            found[index] = item, result
        return found

    def _put_culprit_first(self) -> None:
        """Of the items without a result; those before it were done, but not sent, and are again."""
        place = self.at_work.value - self.received
        culprit = self.pending[place]
        del self.pending[place]
        self.pending.appendleft(culprit)
        if place:
            self.tried = 0

    def _done(self) -> tuple[int, Item]:
        self.tried = min(self.tried, 0)
        return self.pending.popleft()

    def _replace(self) -> None:
        self.stop()
        self._start()
        remaining, self.pending = self.pending, deque()
        self._send(remaining)

    def stop(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(
    connection: Connection,
    ready: Any,
    at_work: Any,
    functions: list[Callable[[Item], Result]],
    together: Callable[[list[Item]], list[Result | Callable[[], Result]]] | None,
    time_limit: float,
    memory_limit: int,
) -> None:
    """Answer batches until the parent is gone; the timer's signal ends the process, even in C++.

    With a batch comes the number of functions with which its first item has been tried.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) != signal.SIG_IGN:  # as under nohup
            signal.signal(ending, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    gc.freeze()  # what a worker begins with stays, so it is not searched again and again
    gc.set_threshold(YOUNG)
    _limit_memory(memory_limit)
    ready.value = True
    parent = multiprocessing.parent_process()
    watched: list[Any] = [connection, *([parent.sentinel] if parent else [])]
    while connection in wait(watched):
        try:
            tried, batch = connection.recv()
        except EOFError:
            return
        found: list[Result | Callable[[], Result]]
        if together is not None and tried == TOGETHER:
            began = time.process_time()
            found = _limited(partial(together, batch), time_limit)
            left = max(time_limit - (time.process_time() - began), SHORTEST)
        else:
            first = [partial(functions[tried], item) for item in batch[:1]]
            found, left = [*first, *(partial(functions[0], item) for item in batch[1:])], time_limit
        results, last = [], time.monotonic()
        for number, result in enumerate(found):
            if not callable(result):
                results.append(result)
                continue
            at_work.value = number
            results.append(_limited(result, left))
            # What took a worker its life once must not be done again for another's sake.
            if (tried > 0 and not number) or time.monotonic() - last > PAUSE:
                connection.send(results)
                results, last = [], time.monotonic()
        if results:
            connection.send(results)


def _limited(function: Callable[[], T], time_limit: float) -> T:
    """The result of a function; the process ends where it takes too much time or memory."""
    signal.setitimer(signal.ITIMER_PROF, time_limit)
    try:
        result = function()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return result


def _limit_memory(mebibytes: int) -> None:
    """Limit the memory of this process to this much more than it has, if the system allows it.

    A lower limit that it has already, as by `ulimit -v`, stays.
    """
    sizes = Path("/proc/self/statm")
    if mebibytes and sizes.exists():
        mapped = int(sizes.read_text().split()[0]) * resource.getpagesize()
        wanted, hard = mapped + (mebibytes << 20), resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
