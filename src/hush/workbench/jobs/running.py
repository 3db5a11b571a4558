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
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from hush.errors import HushError
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
        owner: The session that started it.
        work: The function, what it is given, and what it is given by name.
    """

    def __init__(self, name: str, owner: str, work: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> None:
        self.id = secrets.token_urlsafe(12)
        self.name, self.owner = name, owner
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
        seconds: After which one is ended.
        keep_seconds: How long one that has ended is known.
    """

    def __init__(
        self, most: int = 2, *, most_waiting: int = 16, seconds: float = 3600.0, keep_seconds: float = 3600.0
    ) -> None:
        self._most, self._most_waiting, self._seconds, self._keep = most, most_waiting, seconds, keep_seconds
        self._known: dict[str, BenchJob] = {}
        self._queue: deque[BenchJob] = deque()
        self._running = 0
        self._lock = threading.Lock()
        self._stopped = False

    def start(self, function: Callable[..., Any], *given: Any, owner: str, name: str, **named: Any) -> BenchJob:
        """Begin a job, or let it wait for its turn.

        Args:
            function: Does the work in another process: it is imported there by its name, so that it must stand in a
                module. It is called with a `Progress`, and then with what follows.
            given: What it is given; must be picklable, as what it returns.
            owner: The session that starts it; nobody else finds it.
            name: What people call it.
            named: What it is given by name.
        """
        job = BenchJob(name, owner, (function, given, named))
        with self._lock:
            self._forget()
            self._queue = deque(each for each in self._queue if not each.over)
            if self._stopped or len(self._queue) >= self._most_waiting + max(0, self._most - self._running):
                raise TooManyJobs("Too many jobs wait already; come back in a while, or cancel one.")
            self._known[job.id] = job
            self._queue.append(job)
        self._next()
        return job

    def get(self, id: str | None, owner: str) -> BenchJob | None:
        """The job of an id, if the session is the one that started it and it is still known."""
        with self._lock:
            self._forget()
            found = self._known.get(id or "")
        return found if found is not None and found.owner == owner else None

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
            if self._running >= self._most:
                return
            while self._queue and self._queue[0].over:
                self._queue.popleft()
            if not self._queue or self._stopped:
                return
            job = self._queue.popleft()
            self._running += 1
        threading.Thread(target=self._run, args=(job,), name=f"job-{job.id}", daemon=True).start()

    def _run(self, job: BenchJob) -> None:
        try:
            job.run(self._seconds)
        finally:
            with self._lock:
                self._running -= 1
            self._next()

    def _forget(self) -> None:
        """Drop those that ended long ago, and the oldest of too many."""
        now = time.monotonic()
        over = sorted((each for each in self._known.values() if each.over), key=lambda each: each.ended or 0.0)
        for i, each in enumerate(over):
            if len(over) - i > _KEPT or now - (each.ended or now) > self._keep:
                del self._known[each.id]
