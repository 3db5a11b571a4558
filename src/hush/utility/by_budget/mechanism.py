"""Unary encoding with a budget for every value (IDUE), for input-discriminative LDP (ID-LDP).

Gu, Li, Xiong and Cao, "Providing input-discriminative protection for local differential privacy" (ICDE 2020): MinID-LDP
bounds the loss of two values by the smaller of their budgets, and IDUE keeps it with probabilities of its own for each
bit. The paper has simplified structures, p = 1 - q and p = 1/2, beside the one in which both are free. That one is
taken here: in terms of what ones and zeros tell, it is convex (`optimal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.analysis import variance as variances_of
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import possible
from hush.estimation.laws import EstimateLaw, Parts, Supports
from hush.exact.thresholds import SCALE
from hush.guarantee import MinIDLDP
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.unary.records import BitRecords
from hush.simulation import tallies
from hush.types import Floats, Ints, Reports, Values
from hush.utility.by_budget.forms import ByBudgetForms
from hush.utility.by_budget.optimal import one_losses
from hush.utility.by_budget.split import left_over, thresholds

_MOST_PAIRS = 1 << 24  # in a table of all


@dataclass(frozen=True, kw_only=True)
class IDUE(BitRecords):
    """Report k bits, one for each value, whose probabilities go by the budgets of all values (MinID-LDP).

    Args:
        k: Domain size, at least 2.
        budgets: A privacy budget for each value, in nats. Two values lose at most the smaller of theirs.
        one_loss: For each value, what a one in its bit may tell for it, ln(p/q) at most; what zeros may tell is what
            that leaves. When left out, those that minimise the sum of the variances of values that nobody holds.

    >>> m = IDUE(k=4, budgets=[0.5, 2.0, 2.0, 2.0])
    >>> print(m.guarantee)
    MinID-LDP with budgets from 0.5 to 2; 1-LDP
    """

    epsilon: float = field(init=False, default=0.0)
    """The loss of any two values at most, in nats; it follows from the budgets."""
    budgets: tuple[float, ...]
    one_loss: tuple[float, ...] = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "input-discriminative unary encoding"
    family: ClassVar[str] = "utility"
    companion: ClassVar[type[Forms]] = ByBudgetForms
    tight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._set(k=rules.domain_size(self.k))
        self._set(budgets=_numbers("budgets", self.budgets, self.k, rules.MIN_EPSILON, "one for each value, in nats"))
        self._set(epsilon=self.guarantee.epsilon)
        super().__post_init__()
        told = one_losses(self.budgets) if self.one_loss is None else self.one_loss
        self._set(one_loss=_numbers("one_loss", told, self.k, 0.0, "one for each value, or leave it out"))
        _ = self._ones

    @property
    def guarantee(self) -> MinIDLDP:
        """The smaller budget of two values bounds their loss."""
        return MinIDLDP.of(self.budgets)

    # The exact numbers.

    @cached_property
    def _ones(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Out of 2^64, p and q of every value."""
        left = left_over(self.budgets, self.one_loss)
        if min(left) <= 0:
            v = left.index(min(left))
            rule = f"must leave zeros of value {v} something to tell, in every pair of it"
            raise ParameterError(message("one_loss", rule, self.one_loss, "leave it out for the least variance"))
        pairs = list(zip(self.one_loss, left, strict=True))
        found = {pair: thresholds(Fraction(pair[0]), pair[1]) for pair in set(pairs)}
        own, other = zip(*(found[pair] for pair in pairs), strict=True)
        if any(p <= q for p, q in zip(own, other, strict=True)):
            raise ParameterError(message("one_loss", "must leave p above q", self.one_loss, "leave it out"))
        return own, other

    @cached_property
    def p(self) -> Floats:
        """Probability of a one in the bit of each value, where it is held."""
        return np.array([ones / SCALE for ones in self._ones[0]])

    @cached_property
    def q(self) -> Floats:
        """Probability of a one in the bit of each value, where another is held."""
        return np.array([ones / SCALE for ones in self._ones[1]])

    @cached_property
    def _off(self) -> tuple[Floats, Floats]:
        """Probabilities of a zero, which 1 - p would round."""
        own, other = (np.array([(SCALE - one) / SCALE for one in ones]) for ones in self._ones)
        return own, other

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {name: " ".join(map(str, ones)) for name, ones in zip("pq", self._ones, strict=True)}

    def pair_loss(self) -> Floats:
        """How much likelier a report can be under value u than under v, in logarithm, as [u, v]: exact, rounded up."""
        self._check_pairs()
        kinds, at = self._kinds
        loss = np.array([[exact.log_ratio(p * (SCALE - d), q * (SCALE - c)) for c, d in kinds] for p, q in kinds])
        return _between_others(loss[np.ix_(at, at)])

    def pair_bound(self) -> Floats:
        """What `pair_loss` may be at most: the smaller budget of the two."""
        self._check_pairs()
        return _between_others(np.minimum.outer(self.budgets, self.budgets))

    def exact_epsilon(self) -> float:
        """The largest loss of two values."""
        own, other = self._ones
        ones = _two_largest([Fraction(p, q) for p, q in zip(own, other, strict=True)])
        zeros = _two_largest([Fraction(SCALE - q, SCALE - p) for p, q in zip(own, other, strict=True)])
        worst = max(a * b for u, a in ones for v, b in zeros if u != v)
        return exact.log_ratio(worst.numerator, worst.denominator)

    @cached_property
    def _kinds(self) -> tuple[list[tuple[int, int]], Ints]:
        """The different pairs of p and q, and which one each value has."""
        pairs = list(zip(*self._ones, strict=True))
        kinds = sorted(set(pairs))
        place = {kind: i for i, kind in enumerate(kinds)}
        return kinds, np.array([place[pair] for pair in pairs])

    def _check_pairs(self) -> None:
        if self.k**2 > _MOST_PAIRS:
            rule, remedy = f"must be at most {_MOST_PAIRS} for a table of all", "ask exact_epsilon for the largest loss"
            raise ParameterError(message("pairs of values", rule, self.k**2, remedy))

    # The law.

    @cached_property
    def _sliced(self) -> npt.NDArray[np.uint64]:
        """All q bit by bit, from the top, 64 values a word: what the sampler compares with."""
        other = np.zeros(-(-self.k // 64) * 64, np.uint64)
        other[: self.k] = np.array(self._ones[1], np.uint64)
        top_first = np.unpackbits(other.astype(">u8").view(np.uint8).reshape(-1, 64, 8), axis=2)
        words = np.packbits(top_first.transpose(0, 2, 1), axis=2, bitorder="little")
        return np.ascontiguousarray(words).view("<u8")[:, :, 0].astype(np.uint64)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.unary import encode_each

        out = np.empty(values.size, self.report_dtype)
        encode_each(rng, values, self.k, np.array(self._ones[0], np.uint64), self._sliced, out["bits"])
        return out

    def check_tally(self, tally: Ints, n: int) -> None:
        """A bit is one or not."""
        possible.within(tally, 0, n, "ones")

    def decode(self, tally: Ints, n: int) -> Floats:
        return np.asarray((tally / n - self.q) / (self.p - self.q), dtype=np.float64)

    def weight(self, report: Reports, value: int) -> int:
        row = self.bit_matrix(np.asarray(report, self.report_dtype)[None])[0].tolist()
        whole = 1
        for v, (bit, p, q) in enumerate(zip(row, *self._ones, strict=True)):
            one = p if v == value else q
            whole *= one if bit else self.unit - one
        return whole

    # What follows from it.

    @cached_property
    def _told(self) -> tuple[Floats, Floats]:
        """What a one and a zero in each bit tell: logarithms of how much likelier they are where the value is held."""
        own, other = self._off
        return np.log(self.p) - np.log(self.q), np.log(own) - np.log(other)

    def scores(self, reports: Reports) -> Floats:
        return np.asarray(np.where(self.bit_matrix(reports), *self._told), dtype=np.float64)

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        ones = self.bit_matrix(reports)
        others = np.where(ones, np.log(self.q), np.log(self._off[1])).sum(axis=1)
        own = ones[np.arange(values.size), values]
        return np.asarray(others + np.where(own, self._told[0][values], self._told[1][values]), dtype=np.float64)

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        kinds, at = self._kinds
        places = [np.nonzero(at == kind)[0] for kind in range(len(kinds))]
        return Parts(self.k, [(v, Supports(tally[v], n, self.p[v[0]], self.q[v[0]])) for v in places])

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        return variances_of.pure(self.p, self.q, n, frequencies)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of one value's estimate in a fixed population, the mean over values."""
        rules.population(n, frequency)
        return float(self.variances(np.full(self.k, frequency), n).mean())

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """The mean of the largest of independent numbers, one for each bit: how much likelier it makes its value."""
        belief = shares(prior, self.k)
        floor = float((belief * self._off[0] / self._off[1]).max())  # of zeros; one of them is always reached
        high = belief * self.p / self.q
        ones = np.argsort(-high, kind="stable")[: int((high > floor).sum())]
        none = np.cumprod(np.append(1.0, self._off[1][ones]))  # how likely no larger one is there
        return float(high[ones] * self.q[ones] @ none[:-1] + floor * none[-1])

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return tallies.independent_bits(counts, self.p, self.q, rng)  # type: ignore[arg-type]


def _between_others(table: Floats) -> Floats:
    """A table of pairs, with nothing between a value and itself."""
    np.fill_diagonal(table, 0.0)
    return table


def _numbers(name: str, given: object, k: int, low: float, remedy: str) -> tuple[float, ...]:
    """So many numbers between bounds."""
    array = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(array, Sequence) or isinstance(array, str) or len(array) != k:
        got = Unsaid(f"{len(array)}") if isinstance(array, Sequence) and not isinstance(array, str) else given
        raise ParameterError(message(name, f"must be k={k} numbers", got, f"give {remedy}"))
    most = rules.MAX_EPSILON
    return tuple(rules.number(f"{name}[{v}]", x, low, most, f"give {remedy}", closed=True) for v, x in enumerate(array))


def _two_largest(numbers: list[Fraction]) -> list[tuple[int, Fraction]]:
    """The two largest, with their places."""
    return sorted(enumerate(numbers), key=lambda pair: pair[1])[-2:]
