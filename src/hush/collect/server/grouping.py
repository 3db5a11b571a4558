"""Group commit: what arrives while a transaction is being written goes into the next one.

Nobody waits for company: the first batch begins a transaction at once. Under load a group holds what arrived in the
time of one commit, a few milliseconds, and so the disk is asked for as many commits as it can do, and no more.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from hush.collect.refusals import Refused
from hush.collect.server.measures import Measures
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate, keep
from hush.errors import Unsaid, message

MOST_BYTES = 1 << 26
"""Records that wait or are being written; more are refused for a moment."""
_GROUP_BYTES = 1 << 25
_GROUP = 2048
_LOG = logging.getLogger("hush.collect")


class GroupCommit:
    """Takes batches in the event loop, and settles each once it is on the disk.

    Args:
        database: The store.
        measures: What counts and times commits.
        most_bytes: How much may wait.
        kept: Hears which batches are kept, by their numbers.
    """

    def __init__(
        self,
        database: Database,
        measures: Measures,
        *,
        most_bytes: int = MOST_BYTES,
        kept: Callable[[Mapping[int, Arrival]], None] = lambda _: None,
    ) -> None:
        self._database, self._measures, self._most, self._kept = database, measures, most_bytes, kept
        self._waiting: list[tuple[Arrival, asyncio.Future[Fate]]] = []
        self._bytes = 0
        self._writing = self._failing = False
        self.failed_bytes = 0
        """Records of the last group, where that could not be written; 0 where it was."""

    @property
    def bytes_waiting(self) -> int:
        """What waits or is being written."""
        return self._bytes

    async def keep(self, arrival: Arrival) -> Fate:
        """Keep a batch; returns when it is on the disk."""
        if self._bytes + len(arrival.records) > self._most and self._waiting:
            got = Unsaid(f"{self._bytes} bytes that wait")
            raise Refused(
                "busy",
                message("store", f"must have at most {self._most} bytes to write", got, "wait, and send it again"),
            )
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[Fate] = loop.create_future()
        self._waiting.append((arrival, settled))
        self._bytes += len(arrival.records)
        if not self._writing:
            self._begin(loop)
        return await settled

    async def settled(self) -> None:
        """Return when nothing waits any more."""
        while self._bytes:
            await asyncio.sleep(0.01)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        group: list[tuple[Arrival, asyncio.Future[Fate]]] = []
        size = 0
        for each in self._waiting[:_GROUP]:
            size += len(each[0].records)
            if group and size > _GROUP_BYTES:
                break
            group.append(each)
        del self._waiting[: len(group)]
        self._writing = True
        arrivals, began = [arrival for arrival, _ in group], time.perf_counter()

        def settle(done: Future[list[Fate]]) -> None:
            loop.call_soon_threadsafe(self._settle, loop, group, done, began)

        try:
            self._database.at_once(lambda connection: keep(connection, arrivals, self._kept)).add_done_callback(settle)
        except RuntimeError as error:  # it has been closed
            failed: Future[list[Fate]] = Future()
            failed.set_exception(error)
            settle(failed)

    def _settle(
        self,
        loop: asyncio.AbstractEventLoop,
        group: list[tuple[Arrival, asyncio.Future[Fate]]],
        done: Future[list[Fate]],
        began: float,
    ) -> None:
        self._bytes -= sum(len(arrival.records) for arrival, _ in group)
        error = done.exception()
        fates = done.result() if error is None else [None] * len(group)
        if error is None:
            if self._failing:
                _LOG.warning("batches are written again")
            self._failing, self.failed_bytes = False, 0
            self._measure([arrival for arrival, _ in group], done.result(), time.perf_counter() - began)
        else:
            shown = None if self._failing else error  # all of it once, and then that it goes on
            _LOG.error("%d batches were not written: %s", len(group), type(error).__name__, exc_info=shown)
            self._failing, self.failed_bytes = True, sum(len(arrival.records) for arrival, _ in group)
        for (_, settled), fate in zip(group, fates, strict=True):
            if settled.done():
                continue  # whoever sent it has gone; it is kept all the same
            if fate is None:
                assert error is not None
                settled.set_exception(_unwritten(error))
            else:
                settled.set_result(fate)
        self._writing = False
        if self._waiting:
            self._begin(loop)

    def _measure(self, arrivals: list[Arrival], fates: list[Fate], seconds: float) -> None:
        measures = self._measures
        measures.group_sizes.observe(len(arrivals))
        measures.commit_seconds.observe(seconds)
        for fate, number in Counter(fates).items():
            measures.batches.labels(fate.value).inc(number)
        kept = (arrival.accepted for arrival, fate in zip(arrivals, fates, strict=True) if fate is Fate.KEPT)
        measures.reports.inc(sum(kept))


def _unwritten(error: BaseException) -> Refused:
    got = Unsaid(type(error).__name__)
    return Refused("store", message("store", "must be writable", got, "send the same bytes again in a while"))
