"""Worker processes: order, replacement of dead and of endless workers."""

import mmap
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from ligen_py.errors import InputError, WorkerError
from ligen_py.molecules import workers
from ligen_py.molecules.workers import AHEAD, BATCH, OUT_OF_MEMORY, each, ordered_map


def work(item: int, trouble: dict[int, str]) -> int:
    kind = trouble.get(item, "")
    if kind == "slow":
        time.sleep(0.05)
    elif kind == "idle":
        time.sleep(1.0)
    elif kind == "endless":
        while True:
            pass
    elif kind == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "ended":
        os.kill(os.getpid(), signal.SIGTERM)
    elif kind == "swell":
        try:
            mmap.mmap(-1, 200 << 20).close()  # not of memory that the parent had freed
        except OSError as error:
            raise MemoryError from error
    elif kind == "leave":
        os._exit(7)
    return item * item


def lost(item: int, timed_out: bool, code: int) -> tuple[int, bool, int]:
    return item, timed_out, code


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_order(jobs: int) -> None:
    slow = {0: "slow", BATCH: "slow"}
    count = 5 * BATCH + 3
    found = ordered_map(partial(work, trouble=slow), range(count), jobs, 10.0, lost)
    assert list(found) == [(i, i * i) for i in range(count)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_only_the_bad_items_are_lost(jobs: int) -> None:
    trouble = {0: "crash", 3: "endless", 4: "leave", BATCH: "crash", 2 * BATCH + 1: "crash"}
    count = 2 * BATCH + 2
    found = dict(ordered_map(partial(work, trouble=trouble), range(count), jobs, 0.3, lost))
    assert found.pop(0) == (0, False, -signal.SIGKILL)
    assert found.pop(3) == (3, True, -signal.SIGPROF)
    assert found.pop(4) == (4, False, 7)
    assert found.pop(BATCH) == (BATCH, False, -signal.SIGKILL)
    assert found.pop(2 * BATCH + 1) == (2 * BATCH + 1, False, -signal.SIGKILL)
    assert found == {i: i * i for i in range(count) if i not in trouble}


def test_only_items_that_need_too_much_memory_are_lost() -> None:
    trouble = {1: "swell", 2: "swell", BATCH: "swell"}
    allowed = list(ordered_map(partial(work, trouble=trouble), range(BATCH + 2), 1, 9, lost, 400))
    assert allowed == [(i, i * i) for i in range(BATCH + 2)]
    found = dict(ordered_map(partial(work, trouble=trouble), range(BATCH + 2), 1, 9, lost, 100))
    assert {item for item, result in found.items() if result != item * item} == set(trouble)
    assert found[1] == (1, False, OUT_OF_MEMORY)


def test_a_lower_limit_of_the_system_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ulimit -v`: no process began, and each item was called a bad one."""
    limit = workers._limit_memory

    def under_a_hard_limit(mebibytes: int) -> None:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + (100 << 20),) * 2)
        limit(mebibytes)

    monkeypatch.setattr(workers, "_limit_memory", under_a_hard_limit)
    found = ordered_map(partial(work, trouble={1: "swell"}), range(3), 1, 9, lost, 2000)
    assert list(found) == [(0, 0), (1, (1, False, OUT_OF_MEMORY)), (2, 4)]


def test_a_process_that_dies_before_its_first_item_blames_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_limit_memory", lambda mebibytes: os._exit(7))
    with pytest.raises(WorkerError, match="a process has ended with exit code 7; the lines above"):
        list(ordered_map(partial(work, trouble={}), range(3), 1, 9, lost))


def test_waiting_is_not_working() -> None:
    found = ordered_map(partial(work, trouble={0: "idle"}), [0], 1, 0.3, lost)
    assert list(found) == [(0, 0)]


def test_an_error_of_the_reader_ends_the_workers() -> None:
    def items() -> object:
        yield from range(2 * BATCH)
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        list(ordered_map(partial(work, trouble={}), items(), 2, 1.0, lost))


def test_nothing_in_nothing_out() -> None:
    assert list(ordered_map(partial(work, trouble={}), [], 2, 1.0, lost)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_lost_item_is_tried_in_a_simpler_way(jobs: int) -> None:
    trouble = {0: "crash", 1: "endless", 4: "leave", 5: "crash", BATCH: "crash"}
    count = BATCH + 3
    simpler = partial(work, trouble={5: "leave", 6: "crash"})
    results = ordered_map(partial(work, trouble=trouble), range(count), jobs, 0.3, lost, 0, simpler)
    found = dict(results)
    assert list(found) == list(range(count))
    assert found.pop(5) == (5, False, 7)
    assert found == {i: i * i for i in range(count) if i != 5}


def all_at_once(
    items: list[int], trouble: dict[int, str], left: dict[int, str]
) -> list[int | Callable[[], int]]:
    """Results that differ from those of each alone, so that a test sees who made them."""
    return [
        partial(work, item, trouble=left) if item in left else -work(item, trouble)
        for item in items
    ]


@pytest.mark.parametrize("jobs", [1, 3])
def test_batches_are_worked_on_together(jobs: int) -> None:
    count, left = 3 * BATCH + 2, {0: "", 5: "crash", BATCH: ""}
    together = partial(all_at_once, trouble={}, left=left)
    alone = partial(work, trouble={5: "crash"})
    found = dict(ordered_map(alone, range(count), jobs, 9, lost, 0, None, together))
    assert list(found) == list(range(count))
    assert found.pop(5) == (5, False, -signal.SIGKILL)
    assert found.pop(0) == 0
    first = set(range(1, BATCH)) - {5}  # of the batch in which one died, and all are done again
    assert all(abs(found[i]) == i * i for i in first)
    assert all(found[i] == (i if i in left else -i) * i for i in set(found) - first)


@pytest.mark.parametrize("kind", ["crash", "leave", "endless", "swell"])
@pytest.mark.parametrize("place", [0, 3, BATCH - 1])
def test_what_kills_a_batch_costs_no_item(kind: str, place: int) -> None:
    """Those of that batch are done alone, with limits of their own; later ones together again."""
    count = 2 * BATCH + 1
    together = partial(all_at_once, trouble={place: kind}, left={})
    alone = partial(work, trouble={1: "leave"})
    found = dict(ordered_map(alone, range(count), 1, 0.5, lost, 100, None, together))
    assert found.pop(1) == (1, False, 7)
    assert found == {i: i * i * (1 if i < BATCH else -1) for i in range(count) if i != 1}


@pytest.mark.parametrize("kind", ["crash", "leave", "endless", "swell"])
def test_what_is_killed_while_it_ends_alone_is_done_from_its_start(kind: str) -> None:
    """And is tried in a simpler way only where that kills a worker, too."""
    together = partial(all_at_once, trouble={}, left={3: kind, 5: kind, 6: ""})
    alone = partial(work, trouble={5: "leave"})
    simpler = partial(all_alone, sign=-1)
    found = dict(ordered_map(alone, range(BATCH), 1, 0.5, lost, 100, simpler, together))
    assert found == {i: i * i * (-1 if i == 5 else 1) for i in range(BATCH)}


def all_alone(item: int, sign: int) -> int:
    return sign * item * item


@pytest.mark.parametrize(("seconds", "is_lost"), [(0.2, False), (0.4, True)])
def test_both_parts_of_an_item_have_the_time_of_one(seconds: float, is_lost: bool) -> None:
    def together(items: list[int]) -> list[int | Callable[[], int]]:
        burn(0.2)
        return [partial(end, item) for item in items]

    def end(item: int) -> int:
        burn(seconds)
        return -item

    found = dict(ordered_map(partial(work, trouble={}), [7], 1, 0.5, lost, 0, None, together))
    assert found == {7: 49 if is_lost else -7}


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_batch_has_the_time_of_one_item() -> None:
    def busy(items: list[int]) -> list[int | Callable[[], int]]:
        burn(0.1 * len(items))
        return [-1] * len(items)

    found = ordered_map(partial(work, trouble={}), range(BATCH), 1, 0.5, lost, 0, None, busy)
    assert dict(found) == {i: i * i for i in range(BATCH)}


def refuse(item: int, trouble: dict[int, str]) -> int:
    if item == 5:
        raise InputError("file 5: damaged")
    return work(item, trouble)


@pytest.mark.parametrize("jobs", [1, 3])
def test_few_large_items_come_in_order_and_their_errors_are_raised(jobs: int) -> None:
    function = partial(refuse, trouble={0: "slow", 3: "slow"})
    assert list(each(function, range(5), jobs)) == [(i, i * i) for i in range(5)]
    done = []
    with pytest.raises(InputError, match="file 5: damaged"):
        done.extend(item for item, _ in each(function, range(9), jobs))
    assert done == [0, 1, 2, 3, 4]


def test_a_caller_may_stop_before_the_last_item() -> None:
    done = []
    for item, _ in (found := each(partial(work, trouble={}), range(9), 3)):
        done.append(item)
        if item == 4:
            break
    found.close()
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("crash", "was killed, perhaps as the memory was full"),
        ("ended", r"was ended by signal 15 \(Terminated\)"),
        ("leave", "7"),
    ],
)
def test_a_large_item_that_ends_its_process_is_an_error(kind: str, sentence: str) -> None:
    with pytest.raises(WorkerError, match=sentence):
        list(each(partial(work, trouble={3: kind}), range(9), 2))


def send_half(item: int, started: Event) -> bytes:
    """Item 1 is more than a pipe holds; its process is killed while it sends it."""
    if item == 0:
        return b""
    started.wait()
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGKILL]).start()
    return bytes(1 << 22)


def test_a_process_that_is_killed_while_it_sends_is_named_as_well() -> None:
    started = multiprocessing.Event()
    found = each(partial(send_half, started=started), range(2), 2)
    assert next(found) == (0, b"")
    alive = len(multiprocessing.active_children())
    started.set()
    while len(multiprocessing.active_children()) == alive:
        time.sleep(0.05)  # nothing is received meanwhile
    with pytest.raises(WorkerError, match="was killed"):
        next(found)


def count(item: int, done: Synchronized) -> int:
    if item == 0:
        time.sleep(1.0)
    else:
        with done.get_lock():
            done.value += 1
    return item


def test_results_behind_a_slow_item_do_not_pile_up() -> None:
    done = multiprocessing.Value("i", 0)
    found = each(partial(count, done=done), range(200), 2)
    assert next(found)[1] == 0
    assert done.value <= 2 * AHEAD
    assert [item for item, _ in found] == list(range(1, 200))


def test_no_process_is_started_without_work_for_it() -> None:
    before = len(multiprocessing.active_children())
    found = ordered_map(partial(work, trouble={}), range(2 * BATCH + 1), 500, 0, lost)
    assert next(found)[0] == 0
    assert len(multiprocessing.active_children()) - before == 3
    assert [item for item, _ in found] == list(range(1, 2 * BATCH + 1))


def fail(item: int) -> int:
    raise KeyError(item)


def test_an_unexpected_error_says_where_in_the_process_it_was() -> None:
    with pytest.raises(KeyError) as caught:
        list(each(fail, range(2), 2))
    assert "in fail" in "".join(caught.value.__notes__)
