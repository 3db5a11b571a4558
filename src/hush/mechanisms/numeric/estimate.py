"""What an analyst reads of numeric reports: a mean with its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hush.errors import ParameterError, message
from hush.estimation import intervals, laws
from hush.estimation.laws import Interval
from hush.mechanisms.numeric.laws import MeanLaw


@dataclass(frozen=True)
class MeanEstimate:
    """An estimated mean, raw and unbiased, so it may fall outside the range of the values.

    Args:
        mean: Of the people's numbers.
        stderr: Its standard error, from the spread of the reports themselves. It is that of the mean of whomever
            these people were drawn from; as an error of these people's own mean it is never too small on average.
        n: Number of reports.
        law: How the mean is distributed, in steps of a grid, where more of it is known than the standard error.
        low: Where that grid begins.
        high: Where it ends.
        steps: How many it has.
    """

    mean: float
    stderr: float
    n: int
    law: MeanLaw | None = field(default=None, repr=False, compare=False)
    low: float = field(default=0.0, repr=False)
    high: float = field(default=1.0, repr=False)
    steps: int = field(default=1, repr=False)

    @property
    def total(self) -> float:
        """Estimated sum over the people."""
        return self.mean * self.n

    @property
    def total_stderr(self) -> float:
        """Standard error of the sum."""
        return self.stderr * self.n

    def interval(self, level: float = 0.95, *, method: str | None = None) -> Interval[float]:
        """Lower and upper end of a confidence interval of the mean; `.method` of the pair says what it rests on.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            method: "exact" inverts an exact test, or a proved bound where there is none, and covers at every n,
                whoever the people are; "normal" reaches so many standard errors to both sides. Left out, exact where
                the normal law is not as good.
        """
        intervals.checked_method(method)
        tail = intervals.tail(level)
        if self.law is None and method == "exact":
            rule, remedy = "must be 'normal', since no other law of this mean is known", "leave it out"
            raise ParameterError(message("method", rule, method, remedy))
        if self.law is None or method == laws.NORMAL or (method is None and self.law.normal(tail)):
            reach = intervals.deviations(tail) * self.stderr
            return Interval(self.mean - reach, self.mean + reach, [laws.NORMAL])
        low, high = (self._place(end) for end in self.law.ends(tail))
        return Interval(low, high, [self.law.word])

    def total_interval(self, level: float = 0.95, *, method: str | None = None) -> Interval[float]:
        """Lower and upper end of a confidence interval of the total: n times those of the mean."""
        found = self.interval(level, method=method)
        return Interval(found.lower * self.n, found.upper * self.n, found.methods)

    def _place(self, end: float) -> float:
        """The number at a place of the grid; its ends without rounding, which would leave people there out."""
        return self.high if end >= self.steps else self.low + (self.high - self.low) / self.steps * end

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "mean": self.mean,
            "stderr": self.stderr,
            "n": self.n,
            "total": self.total,
            "total_stderr": self.total_stderr,
        }
