"""A ledger whose total is (epsilon, delta) however each budget was chosen along the way: a privacy filter.

Rogers, Roth, Ullman and Vadhan ("Privacy odometers and filters", NeurIPS 2016) asked for a rule that says before each
answer whether it may be given, where everything, the budgets too, may depend on earlier answers. Feldman and Zrnic
(NeurIPS 2021) showed that losses in Renyi's sense of one order, fixed beforehand, may simply be added up. An answer
with a pure loss epsilon tells no more than randomized response with that loss: its Renyi divergence is at most

    cost(epsilon) = log((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1)    of order a.

An answer is allowed if afterwards either the plain sum of losses is at most the limit, or the sum of costs at most

    room = limit + (log delta + log a - (a - 1) log(1 - 1/a)) / (a - 1).

Why either: let r be how much likelier all answers are under one value than under the other. Where the plain sum is
within the limit, r is at most e^limit, and adds nothing to delta. On all other ways things can go, the costs are within
the room. Dividing r^a by e^((a - 1) cost) at each answer leaves a mean of at most 1, so r^a has a mean of at most
e^((a - 1) room) over these ways. And (r - e^limit)+ is at most r^a times its largest ratio to that, which makes delta.

Costs are rounded up and the room down, in decimals, the same on every processor; sums are exact.
"""

from __future__ import annotations

import os
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hush import rules
from hush.longitudinal.ledger import Entry, Ledger, amount_of, as_written

FILTER_VERSION = 1
_DIGITS = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_UNIT = 1 << 80  # costs are multiples of one over it
_TINY, _HUGE = Fraction(1, 10**6), 100  # losses whose cost is bounded more simply
_ORDERS = [Decimal(digits).scaleb(power) for power in (-2, -1, 0, 1, 2) for digits in range(10, 100, 2)]


class PrivacyFilter(Ledger):
    """What one person has spent, where any sequence of budgets, chosen along the way, loses at most (limit, delta).

    It allows all that a `Ledger` with this limit allows, and many small expenses beyond that.

    Args:
        limit: The epsilon of all answers together, above 0: a number, a Fraction, or a string such as "1/3".
        delta: The delta that it holds at, above 0 and below 1; e.g. 1e-6.
        expected: About what an answer will spend. It is no promise: it only tunes the filter, beforehand. Left out,
            little.
        path: A file to keep the entries in, as for a `Ledger`.

    >>> account = PrivacyFilter(limit=1.0, delta=1e-6)
    >>> for day in range(300):
    ...     _ = account.spend(0.01, what=f"day {day}")
    >>> account.spent, round(float(account.left), 3)
    (Fraction(3, 1), 0.243)
    """

    def __init__(
        self,
        *,
        limit: float | Fraction | str,
        delta: float,
        expected: float | Fraction | str | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self.delta = rules.delta(delta)
        usual = Fraction(0) if expected is None else amount_of("expected", expected)
        self.order, self._room = _tuned(amount_of("limit", limit), Fraction(self.delta), usual)
        self._cost = Fraction(0)
        super().__init__(limit=limit, path=path)

    @property
    def spent(self) -> Fraction:
        """The plain sum of all expenses; it may exceed the limit, which then holds at delta."""
        return super().spent

    def _allows(self, amount: Fraction) -> bool:
        return amount <= self.limit - self._spent or self._cost + renyi_cost(amount, self.order) <= self._room

    def _most(self) -> Fraction:
        """Found by bisection, to nine digits, from below."""
        plain, room = max(self.limit - self._spent, Fraction(0)), self._room - self._cost
        low, high = 0, 10**9
        if room > 0:
            while high - low > 1:
                middle = (low + high) // 2
                fits = renyi_cost(self.limit * middle / 10**9, self.order) <= room
                low, high = (middle, high) if fits else (low, middle)
        return max(plain, self.limit * low / 10**9)

    def _take(self, entry: Entry | None, size: int) -> None:
        super()._take(entry, size)
        if entry is not None:
            self._cost += renyi_cost(entry.epsilon, self.order)

    def _plain_header(self) -> dict[str, Any]:
        return {"filter": FILTER_VERSION, "limit": str(self.limit), "delta": repr(self.delta), "order": str(self.order)}

    @property
    def _called(self) -> str:
        return f"{super()._called}, delta {self.delta:g} and order {self.order}, which `expected` sets,"

    def _agrees(self, plain: Any) -> bool:
        same = as_written(plain["limit"]) == self.limit and as_written(plain["order"]) == self.order
        return bool(plain["filter"] == FILTER_VERSION and same and plain["delta"] == repr(self.delta))


@lru_cache(maxsize=4096)
def renyi_cost(epsilon: Fraction, order: Fraction) -> Fraction:
    """The Renyi divergence of an order above 1 that a pure loss can have at most, rounded up.

    >>> round(float(renyi_cost(Fraction(1, 10), Fraction(8))), 6)
    0.036717
    """
    if epsilon < _TINY:
        return min(order * epsilon * epsilon / 2, epsilon)
    if epsilon > _HUGE:
        return epsilon
    with localcontext(_DIGITS):
        loss, a = _decimal(epsilon), _decimal(order)
        whole = ((a * loss).exp() + ((1 - a) * loss).exp()) / (1 + loss.exp())
        return Fraction(int(whole.ln() / (a - 1) * _UNIT) + 2, _UNIT)


@lru_cache(maxsize=64)
def _tuned(limit: Fraction, delta: Fraction, usual: Fraction) -> tuple[Fraction, Fraction]:
    """The order for which the most usual expenses fit into the room, and that room; none where there is none."""
    best = Fraction(2), Fraction(0)
    most = Fraction(0)
    with localcontext(_DIGITS):
        log_delta, whole = _decimal(delta).ln(), _decimal(limit)
        for more in _ORDERS:
            a = more + 1
            room = whole + (log_delta + a.ln() - more * (1 - 1 / a).ln()) / more
            if room <= 0:
                continue
            order, kept = Fraction(a), Fraction(max(int(room * _UNIT) - 2, 0), _UNIT)
            cost = renyi_cost(usual, order) if usual else order
            if kept / cost > most:
                most, best = kept / cost, (order, kept)
    return best


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
