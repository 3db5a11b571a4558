"""A program of any language as a target: values go in, one a line; reports come out, one a line, in order.

Every chunk of values has a process of its own, whose input is closed when all have been written. So a program may
answer line by line or all at once, and need not know how long an audit takes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hush.audit.foreign import PATIENCE, ForeignTarget
from hush.audit.lines import Format, Rubbish
from hush.audit.reading import joined
from hush.audit.target import Claim
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import Reports
from hush.randomness import CHUNK

_MOST_BYTES = 1 << 30  # that a program may write for one chunk
_TAIL = 600  # bytes of its complaints that are shown
_PREFIXES = (64, 512, 4096)  # lines by which a chunk is recognised
_TELLING = 40  # lines among them that differ from the most frequent one, for which chance is no excuse


class PipeTarget(ForeignTarget):
    """A program that reads values and writes reports.

    A line of its output is a number, several of them with commas or spaces between (always as many), JSON, or a word.

    Args:
        command: What to run: a list of arguments, or a text that is split as a shell splits it. No shell is used.
        k: Number of values.
        claim: The promised epsilon, or a Claim.
        name: What to call it in messages and results.
        chunk: Values for each process, at most.
        timeout: Seconds without output, after which it is taken to hang.
    """

    threaded = True

    def __init__(
        self,
        command: str | Sequence[str],
        k: int,
        claim: float | Claim | None = None,
        name: str | None = None,
        *,
        chunk: int = CHUNK,
        timeout: float = PATIENCE,
    ) -> None:
        self._arguments = _arguments(command)
        super().__init__(name or shlex.join(self._arguments), k, claim, timeout)
        self._chunk = _rules.integer("chunk", chunk, 1, CHUNK, f"use at most {CHUNK}")
        self._lock = threading.Lock()
        self._format: Format | None = None
        self._seen: set[bytes] = set()
        self._constant: dict[int, str] = {}

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """So many reports of one value. A program's own randomness is used: it cannot be seeded."""
        value = _rules.integer("value", value, 0, self.k - 1, "use a value of the domain")
        sizes = [min(self._chunk, size - start) for start in range(0, size, self._chunk)]
        parts = [self._parsed(self._lines(value, many), value) for many in sizes]
        return joined(parts)

    def _parsed(self, lines: list[str], value: int) -> Reports:
        with self._lock:
            try:
                self._format = self._format or Format.of(lines)
                reports = self._format.read(lines)
            except Rubbish as error:
                remedy = "have it write nothing but reports to its output, all of one form"
                raise self.fault(error.rule, error.got, remedy) from None
            self._repeats(lines, value)
            self._remembers(lines, value)
        return reports

    def _remembers(self, lines: list[str], value: int) -> None:
        """Refuse a program that answers alike within a process and otherwise in the next one: it keeps its answer."""
        if len(lines) < _PREFIXES[0] or lines.count(lines[0]) < len(lines):
            return
        if self._constant.setdefault(value, lines[0]) != lines[0]:
            got = f"always {lines[0][:40]} in one process and always {self._constant[value][:40]} in another"
            raise self.fault("must answer every line afresh", got, "give each process one value (chunk = 1)")

    def _repeats(self, lines: list[str], value: int) -> None:
        """Refuse a program that starts from the same seed every time: its reports prove nothing."""
        for size in _PREFIXES:
            part = lines[:size]
            if len(part) == size and size - Counter(part).most_common(1)[0][1] >= _TELLING:
                mark = hashlib.blake2b("\n".join([str(value), str(size), *part]).encode(), digest_size=16).digest()
                if mark in self._seen:
                    remedy = "seed it from the operating system, not from a constant or the clock"
                    raise self.fault("must draw afresh in every process", "the same reports twice", remedy)
                self._seen.add(mark)

    def _lines(self, value: int, size: int) -> list[str]:
        """What one process answers."""
        try:
            process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            remedy = f"{error.strerror or error}; give the command as you would type it"
            raise self.fault("must be a program that runs", "one that does not", remedy) from None
        try:
            return self._conversation(process, value, size)
        finally:
            _end(process)

    def _conversation(self, process: subprocess.Popen[bytes], value: int, size: int) -> list[str]:
        complaints: list[bytes] = []
        output: queue.Queue[bytes] = queue.Queue()
        given = f"{value}\n".encode() * size
        readers = [
            threading.Thread(target=_feed, args=(process.stdin, given), daemon=True),
            threading.Thread(target=_listen, args=(process.stderr, complaints), daemon=True),
            threading.Thread(target=_forward, args=(process.stdout, output), daemon=True),
        ]
        for thread in readers:
            thread.start()
        text = self._collected(output, value, size, complaints)
        try:
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            raise self._hung(value, size, size, complaints) from None
        readers[1].join(1.0)
        lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n") if text else []
        if code != 0:
            how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            got = f"an end {how} after {len(lines)} of {size} reports of value {value}"
            raise self.fault("must end with exit code 0", got, f"it said: {_tail(complaints)}")
        if len(lines) != size:
            remedy = f"answer every line of input with one line; it said: {_tail(complaints)}"
            raise self.fault("must write one line for each value", f"{len(lines)} for {size} values", remedy)
        return lines

    def _collected(self, output: queue.Queue[bytes], value: int, size: int, complaints: list[bytes]) -> bytes:
        parts: list[bytes] = []
        lines = total = 0
        while True:
            try:
                part = output.get(timeout=self.timeout)
            except queue.Empty:
                raise self._hung(value, lines, size, complaints) from None
            if not part:
                return b"".join(parts)
            parts.append(part)
            lines += part.count(b"\n")
            total += len(part)
            if lines > size or total > _MOST_BYTES:
                got = f"more than {size} for {size} values" if lines > size else f"{total} bytes for {size} values"
                raise self.fault("must write one line for each value", got, "write reports to its output, and no more")

    def _hung(self, value: int, lines: int, size: int, complaints: list[bytes]) -> ParameterError:
        got = f"{lines} of {size} reports of value {value}, then silence for {self.timeout:g} seconds"
        remedy = f"mend it, or allow it more time (timeout); it said: {_tail(complaints)}"
        return self.fault("must answer and end when its input ends", got, remedy)


def _arguments(command: str | Sequence[str]) -> list[str]:
    rule, remedy = "must be a program and its arguments", 'write e.g. "node client.js"'
    try:
        found = shlex.split(command) if isinstance(command, str) else [os.fspath(part) for part in command]
    except (TypeError, ValueError):
        raise ParameterError(message("command", rule, command, remedy)) from None
    if not found or "\0" in "".join(found):
        raise ParameterError(message("command", rule, command, remedy))
    if shutil.which(found[0]) is None:
        raise ParameterError(message("command", "must be a program that can be found", found[0], remedy))
    return found


def _feed(stdin: Any, given: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # it need not read what it does not want
        stdin.write(given)
    with contextlib.suppress(OSError, ValueError):
        stdin.close()


def _listen(stderr: Any, complaints: list[bytes]) -> None:
    """Keep the last words."""
    with contextlib.suppress(OSError, ValueError):
        while part := stderr.read1(8192):
            complaints[:] = [(b"".join(complaints) + part)[-_TAIL:]]


def _forward(stdout: Any, output: queue.Queue[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while part := stdout.read1(1 << 16):
            output.put(part)
    output.put(b"")


def _tail(complaints: list[bytes]) -> str:
    said = " ".join(b"".join(complaints).decode("utf-8", "replace").split())
    return said or "nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, and what it started, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.close()
