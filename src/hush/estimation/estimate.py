"""What an analyst reads: raw unbiased frequencies with honest error bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.errors import ParameterError, ProjectedError, message, missing
from hush.estimation import consistency, differences, intervals
from hush.estimation.differences import Difference, PairDifferences
from hush.estimation.laws import NORMAL, EstimateLaw, Interval, Unknown
from hush.estimation.sums import TotalLaw, allowed
from hush.people.domain import Domain, Label
from hush.types import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated frequencies of one collection, for its fixed population.

    Args:
        frequencies: Raw and unbiased, so single ones may fall outside [0, 1]; post-processed after `project`.
        n: Number of reports.
        domain: Gives the labels.
        errors: Standard errors, or what computes them once they are asked for, where that takes long; None after
            post-processing. Read them as `stderr`.
        projection: Name of the post-processing that was applied, or None.
        law: How the estimates are distributed, where more of it is known than the standard errors, or what computes it
            once an interval is asked for. Read it as `known`.
        sums: From amounts, one for each value, to how their estimated total is distributed; None where unknown.
    """

    frequencies: Floats
    n: int
    domain: Domain
    errors: Floats | Callable[[], Floats] | None = field(repr=False)
    projection: str | None = None
    law: EstimateLaw | Callable[[], EstimateLaw | None] | None = field(default=None, repr=False)
    sums: Callable[[Floats], TotalLaw | None] | None = field(default=None, repr=False)

    @property
    def labels(self) -> list[Label]:
        """The labels, in the order of the frequencies."""
        return [self.domain.label(i) for i in range(self.domain.size)]

    @property
    def counts(self) -> Floats:
        """Estimated numbers of people."""
        return self.frequencies * self.n

    @cached_property
    def stderr(self) -> Floats:
        """Standard errors: the exact variance of the mechanism at the nearest distribution to the raw estimate."""
        if self.errors is None:
            raise ProjectedError(
                f"stderr needs a raw estimate, got one after {self.projection!r}; ask before you project"
            )
        return self.errors() if callable(self.errors) else self.errors

    @cached_property
    def known(self) -> EstimateLaw | None:
        """How the estimates are distributed, if more is known than the standard errors."""
        return self.law() if callable(self.law) else self.law

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, method: str | None = None
    ) -> Interval[Floats]:
        """Lower and upper ends of confidence intervals; `.method` of the pair says what they rest on.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            simultaneous: Cover all frequencies together at that level, not each on its own.
            method: "exact" inverts an exact test, or a proved bound where there is none, and covers at every n;
                "normal" reaches so many standard errors to both sides. Left out, exact where the normal law is not
                as good.
        """
        intervals.checked_method(method)
        tail = intervals.tail(level, self.domain.size if simultaneous else 1)
        if self.errors is None:
            _ = self.stderr  # which says why there is none
        law = self.known if method != "normal" else None
        if law is None and method == "exact":
            rule, remedy = "must be 'normal', since no other law of this estimate is known", "leave it out"
            raise ParameterError(message("method", rule, method, remedy))
        plain = np.ones(self.frequencies.size, np.bool_)
        if law is not None:
            plain = law.normal(tail) if method is None else ~plain
        low, high = np.empty(plain.size), np.empty(plain.size)
        words = [NORMAL] * plain.size
        if plain.any():
            reach = intervals.deviations(tail) * self.stderr[plain]
            low[plain], high[plain] = self.frequencies[plain] - reach, self.frequencies[plain] + reach
        if law is not None and not plain.all():
            low[~plain], high[~plain] = law.ends(tail, ~plain)
            for i, word in zip(np.flatnonzero(~plain).tolist(), law.words(~plain), strict=True):
                words[i] = word
        return Interval(low, high, words)

    @property
    def total(self) -> float:
        """Estimated sum over the people of what their values amount to, by the `amounts` of the domain."""
        return float(self.n * (self.frequencies @ self.domain.amounts))

    @cached_property
    def _total_law(self) -> TotalLaw | None:
        return None if self.sums is None else self.sums(self.domain.amounts)

    @property
    def total_stderr(self) -> float:
        """Standard error of the total; NaN where it is not known how the estimates of values go together."""
        if self.errors is None:
            _ = self.stderr  # which says why there is none
        return float("nan") if self._total_law is None else self._total_law.variance**0.5

    def total_interval(self, level: float = 0.95, *, method: str | None = None) -> Interval[float]:
        """Lower and upper end of a confidence interval of the total; `.method` of the pair says what it rests on.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            method: "exact" goes by a proved bound of the tails, and covers at every n, whoever the people are; "normal"
                reaches so many standard errors to both sides, and half a step where totals have steps. Left out, the
                bound where the normal law is not as good.
        """
        intervals.checked_method(method)
        tail = intervals.tail(level)
        error, law = self.total_stderr, self._total_law
        if law is None and method == NORMAL:
            rule, remedy = "must be 'exact', since no standard error of this total is known", "leave it out"
            raise ParameterError(message("method", rule, method, remedy))
        if law is not None and method != "exact" and (method == NORMAL or law.normal(tail)):
            reach = intervals.deviations(tail) * error + law.step / 2
            return Interval(self.total - reach, self.total + reach, [NORMAL])
        ends = None if law is None else law.ends(tail)
        if law is not None and ends is not None:
            return Interval(*ends, [law.word])
        found = self.interval(level, simultaneous=True, method=None if self.known is None else method)
        low, high = allowed(self.domain.amounts, found.lower, found.upper)
        words = {Unknown.word} if Unknown.word in found.methods else {NORMAL} & set(found.methods) or {TotalLaw.word}
        return Interval(self.n * low, self.n * high, [*words])

    def difference(self, other: Estimate, *, independent: bool = True) -> Difference:
        """These frequencies less another estimate's, as between two groups or periods, with intervals.

        Args:
            other: Of the same values, in the same order.
            independent: Whether the reports of the two were randomized independently of each other. They were not
                where people kept an answer from one period to the next.
        """
        return differences.between(self, other, independent=independent)

    def pairs(self, pairs: Iterable[tuple[Label, Label]] | None = None) -> PairDifferences:
        """Differences between values of this estimate, with intervals.

        Args:
            pairs: Labels, two by two: the first one's frequency less the second one's. Left out, all pairs.
        """
        return differences.among(self, pairs)

    def project(self, method: str = "simplex") -> Estimate:
        """Post-process: "clip", "simplex" (also "norm-sub") or "norm-cut". The error bars do not survive it."""
        raw = np.asarray(self.frequencies, dtype=np.float64)
        return replace(
            self, frequencies=consistency.method(method)(raw), errors=None, projection=method, law=None, sums=None
        )

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One plain dict per value, with error bars where there are any."""
        whole = [
            {"label": label, "frequency": float(f), "count": float(f) * self.n}
            for label, f in zip(self.labels, self.frequencies, strict=True)
        ]
        if self.errors is not None:
            found = self.interval(level)
            for i, (row, method) in enumerate(zip(whole, found.methods, strict=True)):
                row |= {"stderr": float(self.stderr[i]), "lower": float(found.lower[i])}
                row |= {"upper": float(found.upper[i]), "method": method}
        return whole

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A pandas DataFrame, indexed by label."""
        try:
            import pandas as pd
        except ImportError:
            raise missing("pandas", "pandas", "to_frame") from None
        return pd.DataFrame(self.rows(level)).set_index("label")
