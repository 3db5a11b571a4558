"""Plain repetition: fresh reports every time, with losses that add up (sequential composition)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation import Aggregate, Estimate
from hush.exact.enumeration import enumerated, listings
from hush.exact.thresholds import log_ratio
from hush.guarantee import ULDP, ApproxLDP, Guarantee, above, together
from hush.longitudinal import _rounds
from hush.longitudinal._over_time import OverTime
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.pure import PureOracle
from hush.people.columns import cells
from hush.types import Floats, Reports

_MOST_REPORTS = 2_000
"""Up to so many reports of one person the exact total variation is computed."""


@dataclass(frozen=True)
class Repeated(OverTime):
    """Report tau times, with fresh noise each time.

    Unlike protocols that keep answers, it protects whole histories, changes included, at the price of tau times the
    loss; where only some values are protected (ULDP), it protects those of people whose value does not change.

    Args:
        mechanism: Any mechanism.
        tau: Number of reports of one person.

    >>> from hush import OUE
    >>> Repeated(OUE(k=4, epsilon=0.5), 10).guarantee
    LDP(epsilon=5.0)
    """

    mechanism: FrequencyOracle
    tau: int

    independent: ClassVar[bool] = True
    """Whether the reports of one person are independent, given the value."""
    repeats_one_answer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, FrequencyOracle):
            rule, remedy = "must be a mechanism", "pass e.g. hush.OUE(k=4, epsilon=1.0)"
            raise ParameterError(message("mechanism", rule, self.mechanism, remedy))
        object.__setattr__(self, "tau", int(_rounds.reports_of(self.tau)))

    @property
    def first_report(self) -> FrequencyOracle:
        """The mechanism itself: every report has its law, whatever the others say."""
        return self.mechanism

    @property
    def _length(self) -> int:
        return self.tau

    @property
    def k(self) -> int:
        """Number of values."""
        return self.mechanism.k

    def number_of_reports(self, tau: int | None) -> int:
        """How many reports a person sends: as many as are fixed."""
        if tau not in (None, self.tau):
            raise ParameterError(message("tau", f"must be {self.tau}, as the protocol says", tau, "leave it out"))
        return self.tau

    @property
    def title(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name()

    @property
    def plain(self) -> dict[str, Any]:
        """The mechanism, in plain data."""
        return {"mechanism": self.mechanism.to_dict()}

    @property
    def guarantee(self) -> Guarantee:
        """What all reports of one person promise together: the sums of epsilon and of delta, whatever the histories.

        ULDP is that of a value that does not change. Of histories it is not: many of them have a value that a report
        reveals, and so tell that they have not another.
        """
        one = self.mechanism.guarantee
        if isinstance(one, ULDP):
            summed = together([one.alike], self.tau)
            return ULDP(summed.epsilon, one.sensitive, summed.delta if isinstance(summed, ApproxLDP) else 0.0)
        return None if one is None else together([one], self.tau)

    def exact_epsilon(self) -> float:
        """The true loss of all reports together, rounded up: the worst report may come every time.

        For a mechanism with a delta it is a bound, at tau times that delta.
        """
        return self.sequence_epsilon(self.tau)

    def sequence_epsilon(self, tau: int) -> float:
        """The true loss of so many reports together, rounded up."""
        one = self.mechanism.exact_epsilon()
        return one if one == float("inf") else _rounds.times(one, tau)

    def history_epsilon(self, first: npt.ArrayLike, second: npt.ArrayLike) -> float:
        """Exact loss between two histories of one person, by enumeration of what one report can be.

        Losses of rounds add up, each by its worst report, one way and the other.
        """
        histories = [self._values(cells(history, "history")[None])[0] for history in (first, second)]
        one = self.mechanism
        if getattr(one.guarantee, "delta", 0.0):
            rule, remedy = "must have no delta, so that losses of rounds add up", "use e.g. OUE"
            raise ParameterError(message("mechanism", rule, one, remedy))
        pairs = [(u, v) for u, v in zip(*(h.tolist() for h in histories), strict=True) if u != v]
        loss = {pair: _pair_loss(one, *pair) for pair in {*pairs, *((v, u) for u, v in pairs)}}
        ways = [loss[pair] for pair in pairs], [loss[pair[::-1]] for pair in pairs]
        return max(math.inf if math.inf in way else above(sum(map(Fraction, way), start=Fraction(0))) for way in ways)

    def sequence_guarantee(self, tau: int) -> Guarantee:
        """What all reports of an unchanging value promise together."""
        return self.guarantee

    def sequence_log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each person's sequence is under the first value than under the second, in logarithm."""
        array = self._reports(reports)
        each = self.mechanism.forms.log_ratio(np.ascontiguousarray(array).ravel(), first, second).reshape(array.shape)
        with np.errstate(invalid="ignore"):
            total = each.sum(axis=1)
        return np.where(np.isnan(total), 0.0, total)  # impossible under both

    def sequence_variation(self, first: int, second: int) -> float | None:
        """The total variation between all reports of two unchanging values; None where it is unknown.

        A walk: one step up or down for a report that speaks for one value alone. What counts is where it ends.
        """
        forms = self.mechanism.forms
        if self.tau == 1:
            return forms.variation(first, second)
        steps = forms.telling(first, second)
        if steps is None or self.tau > _MOST_REPORTS:
            return None
        up, down = steps
        step = np.array([down, 1 - up - down, up])
        law = np.ones(1)
        for bit in bin(self.tau)[2:]:
            law = np.convolve(law, law)
            if bit == "1":
                law = np.convolve(law, step)
        return float(law[self.tau + 1 :].sum() - law[: self.tau].sum())

    def most_voted(self, tau: int) -> float | None:
        """How often the value with the most votes of tau reports is the true one; None where there is no formula."""
        return self.mechanism.forms.most_voted(tau)

    def collect(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Reports:
        """Reports of n people, shape (n, tau), from values of that shape."""
        array = self._values(values)
        reports: Reports = self.mechanism.privatize(array.ravel(), rng=rng)
        return reports.reshape(array.shape)

    def mean(self, aggregates: Iterable[Aggregate]) -> Estimate:
        """Frequencies averaged over rounds, with standard errors; its n counts reports, not people."""
        parts = list(aggregates)
        if not parts:
            raise ParameterError(message("aggregates", "must hold at least one round", 0, "pass what aggregate gave"))
        return self.mechanism.estimate(sum(parts[1:], start=parts[0]))

    def sequence_log_prob(self, reports: Reports, value: npt.ArrayLike) -> Floats:
        """Exact log-likelihood of each person's whole sequence: one value, one each, or histories of shape (n, tau)."""
        array = self._reports(reports)
        histories = self._whole_histories(value, array.shape)
        one = self.mechanism.log_prob(array.ravel(), histories.ravel())
        return np.asarray(one.reshape(array.shape).sum(axis=1), np.float64)

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        array = self._reports(reports)
        self.mechanism.validate(array.ravel())
        total = np.zeros((len(array), self.k))
        for column in array.T:
            total += self.mechanism.scores(np.ascontiguousarray(column))
        return total


def _pair_loss(m: FrequencyOracle, first: int, second: int) -> float:
    """The worst log-likelihood ratio of one report between two values, one way; the same for all of a pure oracle."""
    if listings(m) is None and isinstance(m, PureOracle):
        return m.exact_epsilon()
    high, low = 1, 1
    for listing in enumerated(m):
        for row in listing.weights:
            if row[first] * low > high * row[second]:
                high, low = row[first], row[second]
    return log_ratio(high, low)
