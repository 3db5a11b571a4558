"""What a trial of one mechanism on known people showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.estimation import Estimate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.reports.figures import Series
from hush.types import Floats


@dataclass(frozen=True)
class MechanismOutcome:
    """One mechanism's estimate of a population whose truth is known.

    Args:
        mechanism: What randomized.
        estimate: What came out.
        truth: The share of each value.
        attack_rate: How often the best attacker named the value behind a report.
        randomize_seconds: Time to randomize all values, compilation left out.
        aggregate_seconds: Time to tally all reports.
        level: Coverage of the intervals.
    """

    mechanism: FrequencyOracle
    estimate: Estimate
    truth: Floats
    attack_rate: float
    randomize_seconds: float
    aggregate_seconds: float
    level: float = 0.95

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name()

    @property
    def spec_hash(self) -> str:
        """The hash of the collection's spec, labels included."""
        return Spec(self.mechanism, self.estimate.domain).hash

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Lower and upper ends."""
        return self.estimate.interval(self.level)

    @property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Which intervals hold the truth."""
        lower, upper = self.interval
        return np.asarray((lower <= self.truth) & (self.truth <= upper))

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The values in the order of charts and tables: the most frequent first."""
        return np.argsort(-self.truth, kind="stable")

    @property
    def rmse(self) -> float:
        """Root of the mean squared error of this run."""
        return float(np.sqrt(np.mean((self.estimate.frequencies - self.truth) ** 2)))

    @property
    def expected_rmse(self) -> float:
        """The root of the mean squared error that is expected of any run, exact: what mechanisms are compared by."""
        return float(np.sqrt(np.mean(self.mechanism.variances(self.truth, self.estimate.n))))

    @property
    def reports_per_second(self) -> float:
        """Speed of the client's side."""
        return self.estimate.n / max(self.randomize_seconds, 1e-9)

    @property
    def report_bytes(self) -> int:
        """Size of one report."""
        return int(self.mechanism.report_dtype.itemsize)

    def series(self, order: npt.NDArray[np.int64]) -> Series:
        """The numbers for a figure, in this order."""
        lower, upper = self.interval
        labels = self.estimate.labels
        return Series(
            self.name,
            [str(labels[i]) for i in order],
            self.estimate.frequencies[order],
            lower[order],
            upper[order],
            self.truth[order],
        )

    def summary(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        lower, upper = self.interval
        columns = zip(self.estimate.labels, self.truth, self.estimate.frequencies, lower, upper, strict=True)
        return {
            "mechanism": self.mechanism.to_dict(),
            "spec_hash": self.spec_hash,
            "guarantee": str(self.mechanism.guarantee),
            "exact_epsilon": self.mechanism.exact_epsilon(),
            "rmse": self.rmse,
            "rmse_expected": self.expected_rmse,
            "covered": float(self.covered.mean()),
            "level": self.level,
            "asr": self.attack_rate,
            "asr_expected": self.mechanism.asr(),
            "bytes_per_report": self.report_bytes,
            "randomize_seconds": self.randomize_seconds,
            "aggregate_seconds": self.aggregate_seconds,
            "reports_per_second": self.reports_per_second,
            "estimate": [
                {"label": label, "truth": float(t), "frequency": float(f), "lower": float(a), "upper": float(b)}
                for label, t, f, a, b in columns
            ],
        }
