"""Progress of a stage: one line a minute in its log."""

import logging
import time

log = logging.getLogger("ligen_py")

MINUTE = 60.0

clock = time.monotonic


class Pace:
    """Counts what a stage has done, and logs it at most once a minute, first after a minute.

    Lines go to the log only, because no result may depend on their time.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        """`what` is done, such as "ligands docked", for `total` items; None if unknown."""
        self._what, self._total = what, total
        self._done = self._failed = 0
        self._start = self._logged = clock()

    def add(self, done: int, failed: int = 0) -> None:
        """Count `done` more items, of which `failed` failed."""
        self.reach(self._done + done, self._failed + failed)

    def reach(self, done: int, failed: int) -> None:
        """Set the number of items that are done by now, if it is larger."""
        self._done, self._failed = max(done, self._done), max(failed, self._failed)
        now = clock()
        if now - self._logged < MINUTE:
            return
        self._logged = now
        of, left, rate = "", "", self.rate
        if self._total is not None:
            of = f" of {self._total}"
            more = max(self._total - self._done, 0)
            left = f", {more / rate / MINUTE:.0f} min left" if rate else ""
        words = f"{self._done}{of} {self._what}, {self._failed} failed"
        speed = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
        log.info("%s; %s a second%s", words, speed, left)

    @property
    def rate(self) -> float:
        """Items a second since the count began."""
        seconds = clock() - self._start
        return self._done / seconds if seconds else 0.0
