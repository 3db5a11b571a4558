"""What an analyst reads of numeric reports: a mean with its error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hush.estimation import intervals


@dataclass(frozen=True)
class MeanEstimate:
    """An estimated mean, raw and unbiased, so it may fall outside the range of the values.

    Args:
        mean: Of the people's numbers.
        stderr: Its standard error, from the spread of the reports themselves. It is that of the mean of whomever
            these people were drawn from; as an error of these people's own mean it is never too small on average.
        n: Number of reports.
    """

    mean: float
    stderr: float
    n: int

    @property
    def total(self) -> float:
        """Estimated sum over the people."""
        return self.mean * self.n

    @property
    def total_stderr(self) -> float:
        """Standard error of the sum."""
        return self.stderr * self.n

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper end of a confidence interval of the mean."""
        reach = intervals.deviations(intervals.tail(level)) * self.stderr
        return self.mean - reach, self.mean + reach

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "mean": self.mean,
            "stderr": self.stderr,
            "n": self.n,
            "total": self.total,
            "total_stderr": self.total_stderr,
        }
