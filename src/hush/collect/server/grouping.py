"""Group commit: what arrives while a transaction is being written goes into the next one.

Nobody waits for company: the first batch begins a transaction at once. Under load a group holds what arrived in the
time of one commit, a few milliseconds, and so the disk is asked for as many commits as it can do, and no more. The
thread that writes takes group after group by itself. A store that takes several side by side gets a further one once
some company waits.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

import sqlalchemy as sa

from hush.collect.refusals import Refused
from hush.collect.server.measures import Measures
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate, keep
from hush.errors import Unsaid, message

MOST_BYTES = 1 << 26
"""Records that wait or are being written; more are refused for a moment."""
_GROUP_BYTES = 1 << 25
_GROUP = 2048
_ROUNDS = 16
"""Groups that are written one after the other, before whatever else is to be written has its turn."""
_COMPANY = 8
"""Batches that begin a further group while another one is being written."""
_LOG = logging.getLogger("hush.collect")
Settle = Callable[[Fate | Refused], None]
"""Told what became of a batch."""
_Group = list[tuple[Arrival, Settle]]


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
        self._waiting: _Group = []
        self._lock = threading.Lock()
        self._bytes = 0
        self._writing, self._failing = 0, False
        self.failed_bytes = 0
        """Records of the last group, where that could not be written; 0 where it was."""

    @property
    def bytes_waiting(self) -> int:
        """What waits or is being written."""
        return self._bytes

    async def keep(self, arrival: Arrival) -> Fate:
        """Keep a batch; returns when it is on the disk."""
        future: asyncio.Future[Fate] = asyncio.get_running_loop().create_future()

        def settle(found: Fate | Refused) -> None:
            if future.done():
                return  # whoever sent it has gone; it is kept all the same
            if isinstance(found, Refused):
                future.set_exception(found)
            else:
                future.set_result(found)

        self.enter(arrival, settle)
        return await future

    def enter(self, arrival: Arrival, settle: Settle) -> None:
        """Keep a batch, and say so when it is on the disk, or why it is not.

        Args:
            arrival: The batch.
            settle: Called in the event loop.
        """
        if self._bytes + len(arrival.records) > self._most and self._waiting:
            got = Unsaid(f"{self._bytes} bytes that wait")
            raise Refused(
                "busy",
                message("store", f"must have at most {self._most} bytes to write", got, "wait, and send it again"),
            )
        with self._lock:
            self._waiting.append((arrival, settle))
        self._bytes += len(arrival.records)
        self._begin_some(asyncio.get_running_loop())

    async def settled(self) -> None:
        """Return when nothing waits any more."""
        while self._bytes:
            await asyncio.sleep(0.01)

    def _begin_some(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._writing < self._database.lanes and len(self._waiting) >= (_COMPANY if self._writing else 1):
            self._begin(loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let a thread of the store write group after group: it need not wait for the event loop between two."""
        self._writing += 1
        at_work: list[_Group] = []  # the one that is being written

        def ended(done: Future[None]) -> None:
            loop.call_soon_threadsafe(self._ended, loop, at_work, done.exception())

        try:
            self._database.at_once(lambda connection: self._write(connection, loop, at_work)).add_done_callback(ended)
        except RuntimeError as error:  # it has been closed
            failed: Future[None] = Future()
            failed.set_exception(error)
            ended(failed)

    def _taken(self) -> _Group:
        """The next group, which waits no more."""
        group: _Group = []
        size = 0
        with self._lock:
            for each in self._waiting[:_GROUP]:
                size += len(each[0].records)
                if group and size > _GROUP_BYTES:
                    break
                group.append(each)
            del self._waiting[: len(group)]
        return group

    def _write(self, connection: sa.Connection, loop: asyncio.AbstractEventLoop, at_work: list[_Group]) -> None:
        """Write some groups, in a thread of the store; then others who wait for it have their turn."""
        for _ in range(_ROUNDS):
            group, began = self._taken(), time.perf_counter()
            if not group:
                return
            at_work.append(group)
            fates = keep(connection, [arrival for arrival, _ in group], self._kept)
            at_work.clear()
            loop.call_soon_threadsafe(self._written, group, fates, time.perf_counter() - began)

    def _written(self, group: _Group, fates: list[Fate], seconds: float) -> None:
        if self._failing:
            _LOG.warning("batches are written again")
        self._failing, self.failed_bytes = False, 0
        self._measure([arrival for arrival, _ in group], fates, seconds)
        self._settle(group, fates)

    def _ended(self, loop: asyncio.AbstractEventLoop, at_work: list[_Group], error: BaseException | None) -> None:
        """A thread writes no more: nothing waited, others have their turn, or the store failed."""
        if error is not None:
            group = at_work.pop() if at_work else self._taken()  # without a connection none was taken
            shown = None if self._failing else error  # all of it once, and then that it goes on
            _LOG.error("%d batches were not written: %s", len(group), type(error).__name__, exc_info=shown)
            self._failing, self.failed_bytes = True, sum(len(arrival.records) for arrival, _ in group)
            self._settle(group, [_unwritten(error) for _ in group])
        self._writing -= 1
        self._begin_some(loop)

    def _settle(self, group: _Group, fates: Sequence[Fate | Refused]) -> None:
        self._bytes -= sum(len(arrival.records) for arrival, _ in group)
        for (_, settle), fate in zip(group, fates, strict=True):
            try:
                settle(fate)
            except Exception as failed:  # the others are to be told all the same
                _LOG.error("a batch could not be answered", exc_info=failed)

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
