"""The jobs of a workbench: started, watched, cancelled, kept for a while."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Literal

from hush.errors import HushError
from hush.workbench.jobs.owners import JobOwner
from hush.workbench.jobs.worker import PROGRAM, heard, told

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
_LOG = logging.getLogger("hush.workbench.jobs")
_KEPT = 64
"""Jobs that have ended and are kept, whatever their age."""


class TooManyJobs(HushError, RuntimeError):
    """No job can wait any more."""


class BenchJob:
    """One job.

    Args:
        name: What people call it.
        owner: Who started it.
        work: The function, what it is given, and what it is given by name.
    """

    def __init__(
        self, name: str, owner: JobOwner, work: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.name, self.owner = name, owner
        self.place = ""
        """The address where it is shown; "" for a page that is open alone."""
        self.state: JobState = "waiting"
        self.fraction, self.note = 0.0, ""
        self.result: Any = None
        self.error = ""
        """What went wrong, in words."""
        self.started: float | None = None
        self.ended: float | None = None
        self._work: Any = work
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether it has ended, one way or another."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def pid(self) -> int | None:
        """The number of its process, while there is one."""
        process = self._process
        return None if process is None else process.pid

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        return 0.0 if self.started is None else (self.ended or time.monotonic()) - self.started

    @property
    def seconds_left(self) -> float | None:
        """How long it may still run, by what is done; None where that cannot be told yet."""
        known = self.state == "running" and self.fraction > 0.02 and self.seconds > 0.5
        return self.seconds * (1 / self.fraction - 1) if known else None

    def cancel(self) -> None:
        """End it: its process, and all that this has started, are killed."""
        self._end("cancelled")

    def run(self, seconds: float) -> None:
        """Run it in its process until it ends; in a thread of the workbench."""
        try:
            process = self._begun()
        except OSError:
            _LOG.exception("job %s", self.id)
            self._end("failed", "No process could be started for it; the log of the workbench says why.")
            return
        if process is None:
            return
        late = threading.Timer(
            seconds, self._end, ("failed", f"It took longer than {seconds:g} seconds, and was ended.")
        )
        late.daemon = True
        late.start()
        try:
            self._follow(process)
        except Exception:  # of a pipe or a pickle
            _LOG.exception("job %s", self.id)
        finally:
            late.cancel()
            self._end("failed", "Its process ended before it was done; the log of the workbench may say why.")
            self._work = None
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    if pipe is not None:
                        pipe.close()

    def _begun(self) -> subprocess.Popen[bytes] | None:
        """Its process; None where it was cancelled before."""
        with self._lock:
            if self.over:
                return None
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            self.state, self.started = "running", time.monotonic()
            return self._process

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            told(process.stdin, "work", *self._work)
        while (message := heard(process.stdout)) is not None:
            kind, *what = message
            if kind == "progress":
                self.fraction, self.note = what
            elif kind == "done":
                self._end("done", result=what[0])
            elif kind == "refused":
                self._end("failed", what[0])
            else:
                _LOG.error("job %s ended with %s", self.id, what[0])
                self._end("failed", f"Something went wrong; the log of the workbench has it under job {self.id}.")

    def _end(self, state: JobState, error: str = "", *, result: Any = None) -> None:
        """End in a state, unless it has ended before, and see that no process is left."""
        with self._lock:
            if not self.over:
                self.result, self.error = result, error
                self.fraction = 1.0 if state == "done" else self.fraction
                self.ended, self.state = time.monotonic(), state
            process, self._process = self._process, None  # killed once: its number may be another's afterwards
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Jobs:
    """All jobs of a workbench.

    Args:
        most: How many run at once.
        most_waiting: How many wait at once.
        most_each: How many of one visitor run or wait at once.
        seconds: After which one is ended.
        keep_seconds: How long one that has ended is known.
    """

    def __init__(
        self,
        most: int = 2,
        *,
        most_waiting: int = 16,
        most_each: int = 4,
        seconds: float = 3600.0,
        keep_seconds: float = 3600.0,
    ) -> None:
        self._most, self._most_waiting, self._most_each = most, most_waiting, most_each
        self._seconds, self._keep = seconds, keep_seconds
        self._known: dict[str, BenchJob] = {}
        self._queue: deque[BenchJob] = deque()
        self._running: list[BenchJob] = []
        self._lock = threading.Lock()
        self._stopped = False

    def start(self, function: Callable[..., Any], *given: Any, owner: JobOwner, name: str, **named: Any) -> BenchJob:
        """Begin a job, or let it wait for its turn. Those who have fewest running come first.

        Args:
            function: Does the work in another process: it is imported there by its name, so that it must stand in a
                module. It is called with a `Progress`, and then with what follows.
            given: What it is given; must be picklable, as what it returns.
            owner: Who starts it; nobody else finds it.
            name: What people call it.
            named: What it is given by name.

        Raises:
            TooManyJobs: The visitor has too many already, or all together have.
        """
        job = BenchJob(name, owner, (function, given, named))
        with self._lock:
            self._forget()
            self._queue = deque(each for each in self._queue if not each.over)
            self._check(owner)
            self._known[job.id] = job
            self._queue.append(job)
        self._next()
        return job

    def _check(self, owner: JobOwner) -> None:
        """See that one more job is not too many."""
        own = [each for each in self._known.values() if not each.over and each.owner.visitor == owner.visitor]
        if len(own) >= self._most_each:
            names = ", ".join(f"“{each.name}”" for each in own if owner.finds(each.owner))
            many = f"{len(own)} jobs" if len(own) > 1 else "a job"
            raise TooManyJobs(
                f"You have {many} already, running or waiting{f': {names}' if names else ''}. Cancel one, or wait "
                "until one ends; “Your jobs” has all of them."
            )
        if self._stopped or len(self._queue) >= self._most_waiting + max(0, self._most - len(self._running)):
            raise TooManyJobs("Too many jobs of all visitors wait already; come back in a while.")

    def get(self, id: str | None, owner: JobOwner) -> BenchJob | None:
        """The job of an id, if it is still known, and of somebody who finds it."""
        with self._lock:
            self._forget()
            found = self._known.get(id or "")
        return found if found is not None and owner.finds(found.owner) else None

    def all_of(self, owner: JobOwner) -> list[BenchJob]:
        """The jobs that somebody finds, the newest first."""
        with self._lock:
            self._forget()
            return [each for each in reversed(self._known.values()) if owner.finds(each.owner)]

    def forget(self, job: BenchJob) -> None:
        """Let a job go; one that still runs is cancelled."""
        job.cancel()
        with self._lock:
            self._known.pop(job.id, None)

    def stop(self) -> None:
        """Cancel all, and take no more."""
        with self._lock:
            self._stopped = True
            every = list(self._known.values())
        for each in every:
            each.cancel()

    def _next(self) -> None:
        with self._lock:
            self._queue = deque(each for each in self._queue if not each.over)
            if len(self._running) >= self._most or not self._queue or self._stopped:
                return
            busy = Counter(each.owner.visitor for each in self._running)
            job = min(self._queue, key=lambda each: busy[each.owner.visitor])  # of equals, who came first
            self._queue.remove(job)
            self._running.append(job)
        threading.Thread(target=self._run, args=(job,), name=f"job-{job.id}", daemon=True).start()

    def _run(self, job: BenchJob) -> None:
        try:
            job.run(self._seconds)
        finally:
            with self._lock:
                self._running.remove(job)
            self._next()

    def _forget(self) -> None:
        """Drop those that ended long ago, and the oldest of too many."""
        now = time.monotonic()
        over = sorted((each for each in self._known.values() if each.over), key=lambda each: each.ended or 0.0)
        for i, each in enumerate(over):
            if len(over) - i > _KEPT or now - (each.ended or now) > self._keep:
                del self._known[each.id]
