"""A program of any language as a target: values go in, one a line; reports come out, one a line, in order.

Every chunk of values has a process of its own, whose input is closed when all have been written. So a program may
answer line by line or all at once, and need not know how long an audit takes.
"""

from __future__ import annotations

import contextlib
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

from hush import rules
from hush.audit.foreign import PATIENCE, ForeignTarget, asked_about
from hush.audit.inputs import Inputs, Positions
from hush.audit.lines import Format, Rubbish
from hush.audit.reading import joined
from hush.audit.target import Claim
from hush.errors import ParameterError, message
from hush.randomness import CHUNK
from hush.types import Reports

_MOST_BYTES = 1 << 30  # that a program may write for one chunk
_TAIL = 500  # bytes of its complaints that are shown from either end
_PROBED, _EACH = 64, 20  # values that get a process of their own where one fails, and how often they are asked for
_TRIED = 512  # values that two processes are given, to see whether they answer alike
_TELLING = 40  # of their lines that differ from the most frequent one, for which chance is no excuse


class PipeTarget(ForeignTarget):
    """A program that reads values and writes reports.

    A line of its output is a number, several of them with commas or spaces between (always as many), JSON, or a word.

    Args:
        command: What to run: a list of arguments, or a text that is split as a shell splits it. No shell is used.
        k: Number of values.
        claim: The promised epsilon, or a Claim.
        name: What to call it in messages and results.
        inputs: What it is asked about in place of values: `NumberInputs`, or `TupleInputs` or `HistoryInputs` with
            commas in a line.
        chunk: Values for each process, at most.
        timeout: Seconds without output, after which it is taken to hang.
    """

    threaded = True

    def __init__(
        self,
        command: str | Sequence[str],
        k: int | None = None,
        claim: float | Claim | None = None,
        name: str | None = None,
        *,
        inputs: Inputs | None = None,
        chunk: int = CHUNK,
        timeout: float = PATIENCE,
    ) -> None:
        self._arguments = _arguments(command)
        super().__init__(name or shlex.join(self._arguments), asked_about(k, inputs), claim, timeout)
        self._chunk = rules.integer("chunk", chunk, 1, CHUNK, f"use at most {CHUNK}")
        self._lock = threading.Lock()
        self._format: Format | None = None
        self._tried = False
        self._constant: dict[int, str] = {}

    def draws(self, values: Positions, rng: np.random.Generator | None) -> Reports:
        """One report of each value. A program's own randomness is used: it cannot be seeded."""
        with self._lock:
            if not self._tried and values.size >= _TELLING:
                self._try(int(values[0]), values.size)
                self._tried = True
        parts = [values[at : at + self._chunk] for at in range(0, values.size, self._chunk)]
        return joined([self._parsed(self._lines(part), part) for part in parts])

    def _parsed(self, lines: list[str], values: Positions) -> Reports:
        with self._lock:
            try:
                self._format = self._format or Format.of(lines)
                reports = self._format.read(lines)
            except Rubbish as error:
                remedy = "have it write nothing but reports to its output, all of one form"
                raise self.fault(error.rule, error.got, remedy) from None
            for value in np.unique(values).tolist():
                own = [line for line, asked in zip(lines, (values == value).tolist(), strict=True) if asked]
                self._remembers(own, value)
        return reports

    def _remembers(self, lines: list[str], value: int) -> None:
        """Refuse a program that answers alike within a process and otherwise in the next one: it keeps its answer."""
        if len(lines) < _TELLING or lines.count(lines[0]) < len(lines):
            return
        if self._constant.setdefault(value, lines[0]) != lines[0]:
            got = f"always {lines[0][:40]} in one process and always {self._constant[value][:40]} in another"
            raise self.fault("must answer every line afresh", got, "give each process one value (chunk = 1)")

    def _try(self, value: int, size: int) -> None:
        """Refuse a program that starts from the same seed every time: its reports prove nothing."""
        same = np.full(min(_TRIED, self._chunk, size), value, np.int64)
        first, second = (self._lines(same) for _ in range(2))
        if first == second and len(first) - Counter(first).most_common(1)[0][1] >= _TELLING:
            remedy = "seed it from the operating system, not from a constant or the clock"
            raise self.fault("must draw afresh in every process", "the same reports twice", remedy)

    def _lines(self, values: Positions) -> list[str]:
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
            return self._conversation(process, values)
        finally:
            _end(process)

    def _conversation(self, process: subprocess.Popen[bytes], values: Positions) -> list[str]:
        complaints: list[bytes] = []
        output: queue.Queue[bytes] = queue.Queue()
        spelled = {value: self.inputs.line(value) for value in np.unique(values).tolist()}
        given = "".join(f"{spelled[value]}\n" for value in values.tolist()).encode()
        size = values.size
        readers = [
            threading.Thread(target=_feed, args=(process.stdin, given), daemon=True),
            threading.Thread(target=_listen, args=(process.stderr, complaints), daemon=True),
            threading.Thread(target=_forward, args=(process.stdout, output), daemon=True),
        ]
        for thread in readers:
            thread.start()
        text = self._collected(output, values, complaints)
        try:
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            raise self._hung(values, size, complaints) from None
        readers[1].join(1.0)
        lines = self._text(text).removesuffix("\n").split("\n") if text else []
        if code != 0:
            how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            got = f"an end {how} after {len(lines)} of {size} reports of {self.inputs.named(self._failing(values))}"
            raise self.fault("must end with exit code 0", got, f"it said: {_tail(complaints)}")
        if len(lines) != size:
            remedy = f"answer every line of input with one line; it said: {_tail(complaints)}"
            raise self.fault("must write one line for each value", f"{len(lines)} for {size} values", remedy)
        return lines

    def _failing(self, values: Positions) -> Positions:
        """The values that a process of their own fails on; all of them if that cannot be told."""
        different = np.unique(values)
        if different.size == 1 or different.size > _PROBED:
            return values
        failed = []
        for value in different.tolist():
            try:
                self._lines(np.full(min(values.size, _EACH), value, np.int64))
            except ParameterError:
                failed.append(value)
        return np.array(failed, np.int64) if failed else values

    def _text(self, text: bytes) -> str:
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            line = text[: error.start].count(b"\n") + 1
            got = f"the byte {text[error.start]:#04x} in line {line}"
            raise self.fault("must write text in UTF-8", got, "write reports as numbers, words or JSON") from None

    def _collected(self, output: queue.Queue[bytes], values: Positions, complaints: list[bytes]) -> bytes:
        parts: list[bytes] = []
        lines, total, size = 0, 0, values.size
        while True:
            try:
                part = output.get(timeout=self.timeout)
            except queue.Empty:
                raise self._hung(values, lines, complaints) from None
            if not part:
                return b"".join(parts)
            parts.append(part)
            lines += part.count(b"\n")
            total += len(part)
            if lines > size or total > _MOST_BYTES:
                got = f"more than {size} for {size} values" if lines > size else f"{total} bytes for {size} values"
                raise self.fault("must write one line for each value", got, "write reports to its output, and no more")

    def _hung(self, values: Positions, lines: int, complaints: list[bytes]) -> ParameterError:
        asked = f"{values.size} reports of {self.inputs.named(values)}"
        got = f"{lines} of {asked}, then silence for {self.timeout:g} seconds"
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
    """Keep the first words, which tell why, and the last ones."""
    with contextlib.suppress(OSError, ValueError):
        while part := stderr.read1(8192):
            said = b"".join(complaints) + part
            complaints[:] = [said if len(said) <= 2 * _TAIL else said[:_TAIL] + b" ... " + said[-_TAIL:]]


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
