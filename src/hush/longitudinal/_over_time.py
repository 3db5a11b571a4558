"""What all reports over time share, with answers kept or not: one row a person, one column a round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.estimation import Aggregate, Estimate
from hush.longitudinal.collecting import Rounds
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.inference import best_guesses
from hush.people.columns import as_array, cells
from hush.people.domain import Domain, integers
from hush.types import Floats, Ints, Reports


class OverTime(Rounds):
    """A value 0..k-1 of each person, reported again and again."""

    if TYPE_CHECKING:

        @property
        def first_report(self) -> FrequencyOracle:
            """The law of any one report."""

        @property
        def k(self) -> int:
            """Number of values."""

    @abstractmethod
    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""

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

    def _whole_histories(self, value: npt.ArrayLike, shape: tuple[int, ...]) -> Ints:
        """Whole histories: of one value for everybody, of one for each person, or given."""
        given = as_array("value", value)
        if given.shape not in {(), shape[:1], shape}:
            rule = f"must be one, {shape[0]}, or of shape {shape}"
            raise ParameterError(message("value", rule, given.shape, "give each person a value or a history"))
        checked = integers(given.ravel(), self.k).reshape(given.shape)
        return np.array(np.broadcast_to(checked[:, None] if given.ndim == 1 else checked, shape))
