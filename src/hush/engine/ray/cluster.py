"""A Ray cluster as an engine: tasks in order, and reports folded where they lie.

Ray gives a task to another worker when the first one dies, or its node does, and makes again what was lost with a node.
Every task depends on its arguments alone, so that is all there is to say about failures here.
"""

from __future__ import annotations

import operator
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import hush
from hush.engine.jobs import Job, Parts, tree, unheard
from hush.engine.pieces import Piece
from hush.engine.ray import tasks as on_workers
from hush.errors import ParameterError, Unsaid, cause, message

Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 20
"""How often a task is tried again when its worker or node died; a task that kills its worker ends there."""
_SECONDS = 0.5  # of work that is sent at a time: a task costs Ray about a millisecond
_AHEAD = 4  # tasks for each core that are begun before their results are asked for
_MOST = 4096  # small tasks that are sent together
_FRESH = 1.0  # seconds for which the number of cores is taken to be known


class RayCluster:
    """What a connected Ray can do; `connect` makes one.

    Args:
        ray: The module, connected.
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self._known = (-_FRESH, 0)

    @property
    def cores(self) -> int:
        """How many there are at present: nodes come and go."""
        seen, cores = self._known
        now = time.monotonic()
        if now - seen >= _FRESH:
            cores = int(self.ray.cluster_resources().get("CPU", 0))
            self._known = (now, cores)
        return cores

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """What the work makes of each task, in order, on the cores of all nodes (see `hush.kernels.workers`).

        Small tasks are sent together, about half a second of work at a time.
        """
        from ray import cloudpickle

        left, total, sent, size = iter(tasks), operator.length_hint(tasks), 0, 1
        pickled = self.ray.put(cloudpickle.dumps(work))  # type: ignore[no-untyped-call]
        run = self.remote(on_workers.several)
        with self.ending() as begun:
            while True:
                cores = max(self.cores, 1)
                while len(begun) < _AHEAD * cores:
                    share = -(-(total - sent) // (2 * cores)) if total else size  # so that all cores end together
                    some = list(islice(left, max(1, min(size, share))))
                    if not some:
                        break
                    begun.append(run.remote(hush.__version__, pickled, some))
                    sent += len(some)
                if not begun:
                    return
                found, seconds = self.got(begun[0])
                begun.popleft()
                size = int(min(_MOST, max(1.0, _SECONDS * len(found) / max(seconds, 1e-6))))
                yield from found

    def __call__(self, job: Job, pieces: Sequence[Piece], advance: Callable[[float], None] = unheard) -> Parts:
        """Fold pieces of report files, one task each, and merge them in a tree of tasks: an engine for `hush.engine`.

        Args:
            job: What is to be known.
            pieces: Of files of its spec, in places that all nodes reach.
            advance: Told how many rows were read, on the thread that asks.
        """
        if not pieces:
            return job.merge()
        what = self.ray.put(job)
        fold, merge = self.remote(on_workers.folded, num_returns=2), self.remote(on_workers.merged)
        with self.ending() as begun:
            pairs = [fold.remote(hush.__version__, what, _absolute(piece)) for piece in pieces]
            whole = tree(
                [parts for _, parts in pairs], lambda *some: merge.remote(what, *some) if some[1:] else some[0]
            )
            begun += [whole, *(rows for rows, _ in pairs)]
            for rows in self.done(rows for rows, _ in pairs):
                advance(rows)
            found: Parts = self.got(whole)
            begun.clear()
        return job.merge(found)

    def remote(self, function: Callable[..., Any], **options: Any) -> Any:
        """A function as a task, which is tried again where a machine fails, and only then."""
        return self.ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False, **options)(function)

    def done(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """What tasks answer, as they end."""
        left = list(tasks)
        while left:
            ended, left = self.ray.wait(left, num_returns=1)
            yield self.got(ended[0])

    def got(self, task: Any) -> Any:
        """What a task answers; an error of the work comes as it was raised there."""
        from ray import exceptions

        try:
            return self.ray.get(task)
        except exceptions.RayTaskError as error:
            raise _meant(error) from None
        except exceptions.RayError as error:
            rule = f"must keep a worker alive for each task, and {RETRIES} of them died"
            got = Unsaid(cause(error).splitlines()[0][:300])
            raise ParameterError(message("--engine ray", rule, got, "look at the memory of the nodes")) from None

    @contextmanager
    def ending(self) -> Iterator[deque[Any]]:
        """Tasks that have begun, of which those that are left here are ended, however the work does."""
        begun: deque[Any] = deque()
        try:
            yield begun
        finally:
            with suppress(Exception):  # Ray itself may have ended
                for task in self._unanswered(begun):
                    self.ray.cancel(task, force=True)

    def _unanswered(self, tasks: Sequence[Any]) -> list[Any]:
        """Those that no answer has come of: Ray ends this process where a task is cancelled whose answer it is taking
        in, and the first of several answers, or an error, is heard before it has done so.
        """
        left = list(dict.fromkeys(tasks))
        return self.ray.wait(left, num_returns=len(left), timeout=0, fetch_local=False)[1] if left else []


def _absolute(piece: Piece) -> Piece:
    """A piece for workers, who run in other folders."""
    place = piece.place
    if place.filesystem is not None:
        return piece
    return replace(piece, place=replace(place, path=os.path.abspath(place.path)))


def _meant(error: Any) -> BaseException:
    """The error itself, without the words of those who passed it on."""
    found: Any = error
    while getattr(found, "cause", None) is not None:
        found = found.cause
    if isinstance(found, ModuleNotFoundError) or "failed to import on the worker" in str(error):
        rule = "must have Hush, and a mechanism of your own, installed on every node"
        got = Unsaid(cause(found)[-200:])
        return ParameterError(message("--address", rule, got, "install them there"))
    return found if isinstance(found, Exception) else ParameterError(str(error))
