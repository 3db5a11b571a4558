"""What a server does beside answering: each chore in a thread of its own, again and again, whatever goes wrong."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from hush.collect.server.measures import Measures

LONGEST_WAIT = 30.0
"""Seconds until something that failed again and again is tried once more."""
_LOG = logging.getLogger("hush.collect")


class Chore:
    """Work that is done again and again until it is stopped. Where it fails, that is logged, and it is tried again.

    Args:
        name: What logs and measures call it.
        work: Does some of it, and says after how many seconds there may be more to do.
        measures: Counts failures.
    """

    def __init__(self, name: str, work: Callable[[], float], measures: Measures) -> None:
        self.name, self._work, self._measures = name, work, measures
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"hush-{name}", daemon=True)
        self.failures = 0

    @property
    def well(self) -> bool:
        """Whether it runs, and did not fail the last time."""
        return self._thread.is_alive() and self.failures == 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, after what is being done; returns when it has."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        wait = 0.0
        while not self._stopped.wait(wait):
            try:
                wait = self._work()
                if self.failures:
                    _LOG.warning("%s works again", self.name)
                self.failures = 0
            except Exception as error:
                self.failures += 1
                self._measures.failures.labels(self.name).inc()
                wait = min(LONGEST_WAIT, 0.25 * 2 ** min(self.failures, 10))
                shown = error if self.failures == 1 else None  # all of it once, and then that it goes on
                _LOG.error("%s failed (%s), is tried again", self.name, type(error).__name__, exc_info=shown)
