"""Windows over streams: whatever w consecutive rounds somebody is followed for, they lose at most epsilon in all.

w-event privacy (Kellaris et al., VLDB 2014), locally: Ren et al., "LDP-IDS" (SIGMOD 2022). Two streams that differ only
within a window of w rounds are hidden to epsilon, by sequential composition over those rounds; a stream of any length
may go on for ever. A budget that was spent comes back w rounds later, and only then. What is spent in a round may
depend on earlier reports: the sum over a window bounds its loss whatever was chosen when, as for `Ledger.spent`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hush import rules
from hush.errors import ParameterError, message
from hush.longitudinal.ledger import Entry, Ledger, amount_of, line_of

DIVISIONS = ("uniform", "sample")
"""How a window's budget is divided over rounds: evenly, or all of it in one round of every w."""

_MOST = 10**9  # rounds


@dataclass(frozen=True)
class RoundEntry(Entry):
    """An expense of a round."""

    round: int


class WindowLedger(Ledger):
    """What one person has spent in a stream, of which any window of w consecutive rounds has a limit.

    Args:
        limit: The most that may be spent within any window, above 0.
        window: How many consecutive rounds a window has.
        path: A file to keep the entries in, as for `Ledger`.

    >>> ledger = WindowLedger(limit=1.0, window=3)
    >>> for day in range(5):
    ...     _ = ledger.spend("1/3", what="report", round=day)
    >>> ledger.spent, ledger.worst, ledger.left_at(5)
    (Fraction(5, 3), Fraction(1, 1), Fraction(1, 3))
    """

    def __init__(
        self, *, limit: float | Fraction | str, window: int, path: str | os.PathLike[str] | None = None
    ) -> None:
        self.window = window_of(window)
        self._rounds: list[int] = []
        super().__init__(limit=limit, path=path)

    @property
    def rounds(self) -> tuple[int, ...]:
        """The round of each entry, in order; none is smaller than the one before."""
        with self._lock:
            return tuple(self._rounds)

    @property
    def worst(self) -> Fraction:
        """The most that any window has cost so far: what the stream loses, to whoever looks at w rounds of it."""
        with self._lock:
            return worst_window([(at, each.epsilon) for at, each in self._entered()], self.window)

    @property
    def left(self) -> Fraction:
        """What may still be spent in the last round that anything was spent in."""
        with self._lock:
            return self.limit - self._in_window(self._rounds[-1] if self._rounds else 0)

    def left_at(self, round: int) -> Fraction:
        """What may be spent in a round: the limit, less what the window that ends there has cost.

        Later windows hold less of what was spent before, so that no other one matters.
        """
        with self._lock:
            return self.limit - self._in_window(self._checked_round(round))

    def spend(self, epsilon: float | Fraction | str, *, what: str, round: int | None = None) -> Fraction:
        """Enter an expense of a round and return what is left in it; refuse one that a window cannot bear.

        Args:
            epsilon: The loss to pay for, above 0.
            what: What it is for.
            round: Its number, from 0 on; not before that of the last entry. The round after that one if left out.
        """
        amount = amount_of("epsilon", epsilon)
        if not isinstance(what, str) or not what:
            raise ParameterError(message("what", "must say what is paid for", what, "use e.g. 'report of 3 May'"))
        if self.path is None:
            with self._lock:
                return self._enter_at(amount, what, round)
        with self._file() as file:
            self._catch_up(file)
            return self._enter_at(amount, what, round, file)

    def _enter_at(self, amount: Fraction, what: str, round: int | None, file: int | None = None) -> Fraction:
        at = (self._rounds[-1] + 1 if self._rounds else 0) if round is None else self._checked_round(round)
        left = self.limit - self._in_window(at)
        if amount > left:
            rule = (
                f"must be at most {float(left):.12g}, which the window of {self.window} rounds up to round {at} leaves"
            )
            remedy = "ask for less, or skip rounds until the window has moved on"
            raise ParameterError(message("epsilon", rule, float(amount), remedy))
        self._check_writable(self._spent + amount)
        size = 0
        if file is not None:
            line = self._line_of(amount, what, at)
            self._append(file, line)
            size = len(line)
        self._take(RoundEntry(amount, what, at), size)
        return left - amount

    def _checked_round(self, round: object) -> int:
        at = rules.integer("round", round, 0, _MOST, "number the rounds from 0 on")
        if self._rounds and at < self._rounds[-1]:
            rule = f"must not be before round {self._rounds[-1]}, which is entered already"
            raise ParameterError(message("round", rule, at, "enter rounds in order"))
        return at

    def _entered(self) -> Iterable[tuple[int, Entry]]:
        return zip(self._rounds, self._entries, strict=True)

    def _in_window(self, at: int) -> Fraction:
        """What the window that ends at a round has cost, which is at or after all entries."""
        spent = Fraction(0)
        for round, entry in zip(reversed(self._rounds), reversed(self._entries), strict=True):
            if round <= at - self.window:
                break
            spent += entry.epsilon
        return spent

    # The file.

    def _plain_header(self) -> dict[str, Any]:
        return {**super()._plain_header(), "window": self.window}

    @property
    def _called(self) -> str:
        return f"{super()._called} for each window of {self.window} round{'s'[: self.window > 1]}"

    def _line_of(self, amount: Fraction, what: str, at: int) -> bytes:
        spent = self._spent + amount
        return line_of({"epsilon": str(amount), "what": what, "spent": str(spent), "round": at})

    def _agrees(self, plain: Any) -> bool:
        return super()._agrees(plain) and plain["window"] == self.window

    def _entry(self, plain: Any) -> Entry:
        """An entry whose round is no earlier than the last, and whose window bears it."""
        entry, at = super()._entry(plain), plain["round"]
        first = self._rounds[-1] if self._rounds else 0
        if type(at) is not int or at < first or entry.epsilon > self.limit - self._in_window(at):
            raise ValueError
        return RoundEntry(entry.epsilon, entry.what, at)

    def _take(self, entry: Entry | None, size: int) -> None:
        """Together, so that no entry that was read but could not be kept leaves its round behind."""
        super()._take(entry, size)
        if isinstance(entry, RoundEntry):
            self._rounds.append(entry.round)


def window_of(window: object) -> int:
    """How many rounds a window has, checked."""
    return rules.integer("window", window, 1, _MOST, "say how many consecutive rounds share a budget")


def worst_window(spent: Sequence[tuple[int, Fraction]], window: int) -> Fraction:
    """The largest sum over any window of consecutive rounds, exactly; entries are in the order of their rounds.

    Args:
        spent: Round and expense, of every entry.
        window: How many rounds a window has.

    >>> worst_window([(0, Fraction(1)), (2, Fraction(2)), (3, Fraction(1)), (9, Fraction(3))], 3)
    Fraction(3, 1)
    """
    most, here, first = Fraction(0), Fraction(0), 0
    for at, amount in spent:
        here += amount
        while spent[first][0] <= at - window:
            here -= spent[first][1]
            first += 1
        most = max(most, here)
    return most


def divided(epsilon: float | Fraction | str, window: int, rounds: int, division: str = "uniform") -> list[Fraction]:
    """What each round of a stream spends, so that no window of it costs more than epsilon; exact fractions.

    Args:
        epsilon: What a window may cost.
        window: How many consecutive rounds share it.
        rounds: How many rounds the stream has.
        division: "uniform", the w-th part in every round; or "sample", all of it in one round of every w, whose
            estimate stands for the rounds until the next.

    >>> [str(each) for each in divided(1, 3, 5)]
    ['1/3', '1/3', '1/3', '1/3', '1/3']
    >>> [str(each) for each in divided(1, 3, 5, "sample")]
    ['1', '0', '0', '1', '0']
    """
    limit, size = amount_of("epsilon", epsilon), window_of(window)
    many = rules.integer("rounds", rounds, 1, 10**7, "count the rounds")
    if division not in DIVISIONS:
        raise ParameterError(message("division", f"must be one of {', '.join(DIVISIONS)}", division, "use 'uniform'"))
    if division == "uniform":
        return [limit / size] * many
    return [limit if at % size == 0 else Fraction(0) for at in range(many)]


def stream_cost(epsilon: float | Fraction | str, window: int, rounds: int, division: str = "uniform") -> Fraction:
    """What somebody loses who is followed through all rounds of a stream: far more than a window does.

    >>> stream_cost(1, 7, 365)
    Fraction(365, 7)
    """
    limit, size = amount_of("epsilon", epsilon), window_of(window)
    many = rules.integer("rounds", rounds, 1, _MOST, "count the rounds")
    if division not in DIVISIONS:
        raise ParameterError(message("division", f"must be one of {', '.join(DIVISIONS)}", division, "use 'uniform'"))
    return limit * Fraction(many, size) if division == "uniform" else limit * math.ceil(Fraction(many, size))
