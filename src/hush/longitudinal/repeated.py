"""Plain repetition: fresh reports every time, with losses that add up (sequential composition)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation import Aggregate, Estimate
from hush.guarantee import ULDP, Guarantee, together
from hush.longitudinal import _rounds
from hush.longitudinal._over_time import OverTime
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats, Reports


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

    @property
    def guarantee(self) -> Guarantee:
        """What all reports of one person promise together: the sums of epsilon and of delta, whatever the histories.

        ULDP is that of a value that does not change. Of histories it is not: many of them have a value that a report
        reveals, and so tell that they have not another.
        """
        one = self.mechanism.guarantee
        if isinstance(one, ULDP):
            return ULDP(_rounds.times(one.epsilon, self.tau), one.sensitive)
        return None if one is None else together([one], self.tau)

    def exact_epsilon(self) -> float:
        """The true loss of all reports together, rounded up: the worst report may come every time.

        For a mechanism with a delta it is a bound, at tau times that delta.
        """
        one = self.mechanism.exact_epsilon()
        return one if one == float("inf") else _rounds.times(one, self.tau)

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
