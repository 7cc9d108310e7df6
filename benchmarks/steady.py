"""The rate of several processes during the time in which all of them work."""

from collections.abc import Sequence

import numpy as np

Span = tuple[float, float, float]
"""Some work: when it began, when it ended (seconds of one clock), and how much it was."""


def steady_rate(workers: Sequence[Sequence[Span]]) -> tuple[float, float]:
    """Work a second of all workers together, and the seconds that it was counted over.

    Workers start and end one after the other: what counts lies between the last start and the first
    end. Of work that crosses these, the share within counts. The spans of a worker are in order.
    """
    first = max(spans[0][0] for spans in workers)
    last = min(spans[-1][1] for spans in workers)
    if last <= first:
        raise ValueError("there is no time in which all worked; give each more to do")
    begun, ended, work = np.array([span for spans in workers for span in spans], np.float64).T
    within = np.clip(np.minimum(ended, last) - np.maximum(begun, first), 0, None)
    return float((work * within / (ended - begun)).sum()) / (last - first), last - first
