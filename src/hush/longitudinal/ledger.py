"""A ledger of the privacy budget that one person has spent.

Losses add up exactly, as fractions; a number is taken as it is written, so that ten times 0.1 is 1. With a path, every
entry is a line of JSON, appended and flushed to the disk before `spend` returns: spend first, report afterwards, and no
crash can make the ledger forget a report. A line that a crash cut short was never acknowledged and is dropped; nothing
else ever is, whatever an editor or a transfer made of the line ends.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from hush import rules
from hush.errors import ParameterError, SpecError, Unsaid, message

VERSION = 1
MOST = 10**6
"""No budget is larger, in nats."""
_LONGEST = 10_000  # bits of a number; Python writes and reads some 14,000


@dataclass(frozen=True)
class Entry:
    """One expense."""

    epsilon: Fraction
    what: str


class Ledger:
    """What one person has spent, and what is left.

    Args:
        limit: The most that may be spent, above 0: a number, a Fraction, or a string such as "1/3".
        path: A file to keep the entries in; made if it is not there, read if it is. Several processes may share it.

    >>> ledger = Ledger(limit=1.0)
    >>> for day in range(10):
    ...     _ = ledger.spend(0.1, what=f"day {day}")
    >>> ledger.spent, ledger.left
    (Fraction(1, 1), Fraction(0, 1))
    """

    def __init__(self, *, limit: float | Fraction | str, path: str | os.PathLike[str] | None = None) -> None:
        self.limit = amount_of("limit", limit)
        self.path = None if path is None else Path(path)
        self._entries: list[Entry] = []
        self._spent = Fraction(0)
        self._read = 0  # bytes of the file that are in memory
        self._lock = threading.Lock()
        if self.path is not None:
            with self._file() as file:
                self._catch_up(file)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All expenses, in order."""
        return self._seen()[0]

    @property
    def spent(self) -> Fraction:
        """The sum of all expenses: by sequential composition, the loss of all that was paid for.

        It holds for budgets that were chosen along the way, by what earlier reports said, too.
        """
        return self._seen()[1]

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        with self._lock:
            return self._most()

    def _most(self) -> Fraction:
        """The most that the next expense may be."""
        return self.limit - self._spent

    def _allows(self, amount: Fraction) -> bool:
        return amount <= self._most()

    def _seen(self) -> tuple[tuple[Entry, ...], Fraction]:
        """The entries and their sum, of one moment: another thread may be entering an expense."""
        with self._lock:
            return tuple(self._entries), self._spent

    def spend(self, epsilon: float | Fraction | str, *, what: str) -> Fraction:
        """Enter an expense and return what is left; refuse one that exceeds it, and then nothing is spent.

        Args:
            epsilon: The loss to pay for, above 0.
            what: What it is for.
        """
        amount = amount_of("epsilon", epsilon)
        if not isinstance(what, str) or not what:
            raise ParameterError(message("what", "must say what is paid for", what, "use e.g. 'report of 3 May'"))
        if self.path is None:
            with self._lock:
                return self._enter(amount, what)
        with self._file() as file:
            self._catch_up(file)
            return self._enter(amount, what, file)

    def _enter(self, amount: Fraction, what: str, file: int | None = None) -> Fraction:
        if not self._allows(amount):
            rule = f"must be at most {_shown(self._most())}, which is left of {_shown(self.limit)}"
            raise ParameterError(message("epsilon", rule, float(amount), "ask for less, or report no more"))
        self._check_writable(self._spent + amount)
        if file is not None:
            line = line_of({"epsilon": str(amount), "what": what, "spent": str(self._spent + amount)})
            self._append(file, line)
        self._take(Entry(amount, what), 0 if file is None else len(line))
        return self._most()

    def _check_writable(self, spent: Fraction) -> None:
        if not _writable(spent):
            rule, got = "must add up to a fraction of at most 3,000 digits", Unsaid("a longer one")
            raise ParameterError(message("epsilon", rule, got, "spend round amounts, such as 0.1"))

    def advanced_for_fixed_budgets(self, delta: float) -> float:
        """Loss of all entries together at a delta, had their budgets been fixed beforehand; never more than their sum.

        Kairouz, Oh and Viswanath, "The composition theorem for differential privacy" (ICML 2015), theorem 3.5, for
        pure losses: the sum of epsilon tanh(epsilon/2), plus the root of 2 ln(1/delta) times the sum of squares.
        What is asked, and by which mechanism, may depend on earlier reports. How much each report spends, how many
        there are and when to stop may not: for budgets that were chosen along the way only `spent` is a bound. It is
        a report: what may be spent is decided by the plain sum, which holds for every choice.
        """
        slack = rules.delta(delta)
        entries, spent = self._seen()
        losses = [float(entry.epsilon) for entry in entries]
        drift = math.fsum(e * math.tanh(e / 2) for e in losses)
        spread = math.sqrt(2 * math.log(1 / slack) * math.fsum(e * e for e in losses))
        return min(float(spent), drift + spread)

    # The file.

    @contextmanager
    def _file(self) -> Iterator[int]:
        """The file, open and locked; opened anew each time, so that the lock also holds between threads."""
        assert self.path is not None
        with self._lock:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                _exclusive(file)
                yield file
            finally:
                os.close(file)

    def _catch_up(self, file: int) -> None:
        """Read what has been added, drop a line that was cut short, and start an empty file."""
        size = os.fstat(file).st_size
        if size < self._read:
            raise SpecError(message("ledger", "must only ever grow", f"{size} bytes", "restore it from a copy"))
        added = _read_all(file, self._read, size)
        *lines, rest = added.split(b"\n")  # and at nothing else: what is dropped is counted in bytes
        for line in lines:
            self._take(self._checked(line), len(line) + 1)
        if rest:
            self._end(file, rest)
        if self._read == 0:
            self._append(file, self._header)
            self._read = len(self._header)
            flush_folder(self.path)

    @property
    def _header(self) -> bytes:
        return line_of(self._plain_header())

    def _plain_header(self) -> dict[str, Any]:
        return {"ledger": VERSION, "limit": str(self.limit)}

    @property
    def _called(self) -> str:
        """Its kind, and what its first line must say."""
        return f"a ledger with the limit {_shown(self.limit)}"

    def _agrees(self, plain: Any) -> bool:
        """Whether a first line is that of this ledger: of its limit, and of its kind."""
        first = self._plain_header()
        return set(plain) == set(first) and plain["ledger"] == VERSION and as_written(plain["limit"]) == self.limit

    def _entry(self, plain: Any) -> Entry:
        """The entry that a line says, whose sum must be that of the lines so far; else ValueError."""
        entry = Entry(as_written(plain["epsilon"]), str(plain["what"]))
        if not (entry.epsilon > 0 and as_written(plain["spent"]) == self._spent + entry.epsilon):
            raise ValueError
        return entry

    def _end(self, file: int, rest: bytes) -> None:
        """What stands behind the last line end: an entry that only lacks its own, or one that was cut short."""
        if _parsed(rest) is not None:
            entry = self._checked(rest)
            self._append(file, b"\n")
            self._take(entry, len(rest) + 1)
        elif b"\r" in rest or (self._read == 0 and not self._header.startswith(rest)):
            self._refuse()
        else:
            os.ftruncate(file, self._read)

    def _take(self, entry: Entry | None, size: int) -> None:
        """Have a line in memory that is so long; None is the first line."""
        if entry is not None:
            self._entries.append(entry)
            self._spent += entry.epsilon
        self._read += size

    def _checked(self, line: bytes) -> Entry | None:
        """One line, checked against the sum so far."""
        plain = _parsed(line)
        try:
            entry = None if self._read == 0 else self._entry(plain)
            known = entry is not None or self._agrees(plain)
        except (ValueError, KeyError, TypeError, ArithmeticError):
            known = False
        if not known:
            self._refuse()
        return entry

    def _refuse(self) -> NoReturn:
        rule, remedy = (
            f"must be {self._called} whose lines add up",
            "pass what it was made with, or restore it from a copy",
        )
        raise SpecError(message("ledger", rule, str(self.path), remedy))

    def _append(self, file: int, line: bytes) -> None:
        """Write one line and flush it; on failure, leave the file as it was."""
        size = os.fstat(file).st_size
        try:
            if os.write(file, line) != len(line):
                raise OSError(f"{self.path} could not be written whole; is the disk full?")
            os.fsync(file)
        except OSError:
            with suppress(OSError):  # otherwise the next one to open it drops the line
                os.ftruncate(file, size)
            raise


def line_of(entry: dict[str, Any]) -> bytes:
    """An entry as a line of a file."""
    return json.dumps(entry).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    """What a line says; None where it is not whole."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def amount_of(name: str, value: object) -> Fraction:
    """A positive number as a fraction; a float is taken as it is written."""
    try:
        exact = as_written(value)
        if not 0 < exact <= MOST:
            raise ValueError
    except (ValueError, ArithmeticError):
        rule, remedy = f"must be a number above 0 and at most {MOST}", "give a loss in nats, e.g. 0.5"
        raise ParameterError(message(name, rule, value, remedy)) from None
    return exact


def as_written(value: object) -> Fraction:
    """A finite number as the fraction that its decimals say; raises ValueError on anything else.

    >>> as_written(0.1) * 10
    Fraction(1, 1)
    """
    if isinstance(value, bool):
        raise ValueError
    if isinstance(value, numbers.Rational) or (isinstance(value, str) and "/" in value):
        ratio = Fraction(value) if isinstance(value, str) else Fraction(int(value.numerator), int(value.denominator))
        if not _writable(ratio):
            raise ValueError
        return ratio
    if not isinstance(value, (numbers.Real, Decimal, str)):
        raise ValueError
    decimal = Decimal(repr(float(value)) if isinstance(value, numbers.Real) else value)
    if not decimal.is_finite() or abs(decimal.adjusted()) > 400:
        raise ValueError
    return Fraction(decimal)


def _writable(amount: Fraction) -> bool:
    """Whether a number has few enough digits for Python to write and read it."""
    return max(amount.numerator.bit_length(), amount.denominator.bit_length()) <= _LONGEST


def _shown(amount: Fraction) -> str:
    return f"{float(amount):.12g}"


def _read_all(file: int, start: int, end: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    parts = bytearray()
    while part := os.read(file, end - start - len(parts)):
        parts += part
    return bytes(parts)


def _exclusive(file: int) -> None:
    """Wait until no other process holds the file."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: one process for each ledger
        return
    fcntl.flock(file, fcntl.LOCK_EX)


def flush_folder(path: Path | None) -> None:
    """Make a new file's name survive a crash too."""
    if path is not None and hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
