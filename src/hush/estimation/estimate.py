"""What an analyst reads: raw unbiased frequencies with honest error bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.domain import Domain, Label
from hush.errors import ProjectedError, missing
from hush.estimation import consistency, intervals

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


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
    """

    frequencies: Floats
    n: int
    domain: Domain
    errors: Floats | Callable[[], Floats] | None = field(repr=False)
    projection: str | None = None

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

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of confidence intervals.

        Args:
            level: Coverage wanted, strictly between 0 and 1.
            simultaneous: Cover all frequencies together at that level, not each on its own.
        """
        items = self.domain.size if simultaneous else 1
        return intervals.around(self.frequencies, self.stderr, level, items)

    def project(self, method: str = "simplex") -> Estimate:
        """Post-process: "clip", "simplex" (also "norm-sub") or "norm-cut". The error bars do not survive it."""
        raw = np.asarray(self.frequencies, dtype=np.float64)
        return replace(self, frequencies=consistency.method(method)(raw), errors=None, projection=method)

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One plain dict per value, with error bars where there are any."""
        whole = [
            {"label": label, "frequency": float(f), "count": float(f) * self.n}
            for label, f in zip(self.labels, self.frequencies, strict=True)
        ]
        if self.errors is not None:
            low, high = self.interval(level)
            for i, row in enumerate(whole):
                row |= {"stderr": float(self.stderr[i]), "lower": float(low[i]), "upper": float(high[i])}
        return whole

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A pandas DataFrame, indexed by label."""
        try:
            import pandas as pd
        except ImportError:
            raise missing("pandas", "pandas", "to_frame") from None
        return pd.DataFrame(self.rows(level)).set_index("label")
