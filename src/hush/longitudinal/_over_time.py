"""What all reports over time share, with answers kept or not: one row a person, one column a round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, ReportError, message
from hush.estimation import Aggregate, Estimate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.inference import best_guesses
from hush.people.columns import all_reports, as_array, cells, kind
from hush.people.domain import Domain, integers
from hush.types import Floats, Ints, Reports


class OverTime:
    """A value 0..k-1 of each person, reported again and again."""

    if TYPE_CHECKING:

        @property
        def first_report(self) -> FrequencyOracle:
            """The law of any one report."""

        @property
        def k(self) -> int:
            """Number of values."""

    @property
    def _length(self) -> int | None:
        """How many reports there are of one person; None if any number will do."""
        return None

    @abstractmethod
    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""

    def aggregate(self, reports: Reports) -> list[Aggregate]:
        """One aggregate for each round; those of several parts of the crowd are merged round by round."""
        return self._aggregate(reports, self.first_report.spec_hash)

    def _aggregate(self, reports: Reports, spec_hash: str) -> list[Aggregate]:
        columns = self._reports(reports).T
        return [self.first_report._aggregate(np.ascontiguousarray(column), spec_hash) for column in columns]

    def estimate(self, aggregates: Iterable[Aggregate]) -> list[Estimate]:
        """Raw unbiased frequencies for each round, with standard errors.

        Where answers are kept, rounds are not independent: what a client keeps, it keeps for all of them.
        """
        return self._estimate(aggregates, Domain(size=self.k), self.first_report.spec_hash)

    def _estimate(self, aggregates: Iterable[Aggregate], labels: Domain, spec_hash: str) -> list[Estimate]:
        return [self.first_report._estimate(each, labels, spec_hash) for each in aggregates]

    def attack(
        self, reports: Reports, prior: npt.ArrayLike | None = None, *, rng: np.random.Generator | None = None
    ) -> Ints:
        """The best guess of each person's unchanging value from the whole sequence; ties are broken at random.

        Args:
            reports: What the attacker saw, shape (n, tau).
            prior: How likely each value is beforehand; uniform when left out.
            rng: Breaks the ties.
        """
        array = self._reports(reports)
        return best_guesses(lambda rows: self.sequence_scores(array[rows]), np.arange(len(array)), self.k, prior, rng)

    def _values(self, values: npt.ArrayLike) -> Ints:
        """Values of shape (n, tau)."""
        array = cells(values)
        if not self._shaped(array):
            columns = "one column a round" if self._length is None else f"{self._length} columns"
            rule = f"must have one row a person and {columns}"
            raise ParameterError(message("values", rule, array.shape, "pass an array of shape (n, tau)"))
        return integers(array.ravel(), self.k).reshape(array.shape)

    def _reports(self, reports: Reports) -> Reports:
        """Reports of shape (n, tau)."""
        array, dtype = all_reports(reports), self.first_report.report_dtype
        if array.dtype != dtype or not self._shaped(array):
            rule = f"must have shape (n, {self._length or 'tau'}) and dtype {dtype}"
            raise ReportError(message("reports", rule, f"{kind(array)}, shape {array.shape}", "pass what collect gave"))
        return array

    def _shaped(self, array: npt.NDArray[np.generic]) -> bool:
        return array.ndim == 2 and (array.shape[1] > 0 if self._length is None else array.shape[1] == self._length)

    def _whole_histories(self, value: npt.ArrayLike, shape: tuple[int, ...]) -> Ints:
        """Whole histories: of one value for everybody, of one for each person, or given."""
        given = as_array("value", value)
        if given.shape not in {(), shape[:1], shape}:
            rule = f"must be one, {shape[0]}, or of shape {shape}"
            raise ParameterError(message("value", rule, given.shape, "give each person a value or a history"))
        checked = integers(given.ravel(), self.k).reshape(given.shape)
        return np.array(np.broadcast_to(checked[:, None] if given.ndim == 1 else checked, shape))
