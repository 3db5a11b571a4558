"""What protocols of two rounds share: a permanent answer for each state, and fresh noise on every report."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.exact.thresholds import SCALE, log_ratio
from hush.longitudinal import _rounds, likelihoods
from hush.longitudinal._first import Twice
from hush.longitudinal.base import Longitudinal
from hush.mechanisms.direct import GRR, unsigned
from hush.mechanisms.settings import takes
from hush.types import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class TwoRounds(Longitudinal):
    """A protocol of two rounds.

    Args:
        k: Domain size, at least 2.
        epsilon_permanent: Loss of any number of reports of a value that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.
    """

    k: int
    epsilon_permanent: float
    epsilon_report: float

    def __post_init__(self) -> None:
        permanent = _rounds.permanent(self.epsilon_permanent)
        first = _rounds.first(self.epsilon_report, permanent)
        self._set(k=rules.domain_size(self.k), epsilon_permanent=permanent, epsilon_report=first)

    @property
    def alpha(self) -> float:
        """The share of the permanent budget that one report may lose."""
        return self.epsilon_report / self.epsilon_permanent

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Itself, for one attribute, where it needs nothing but budgets."""
        needed = {name for name, must in takes(cls).items() if must}
        if len(sizes) == 1 and needed == {"k", "epsilon_permanent", "epsilon_report"}:
            yield {}

    @classmethod
    def lasting(cls, total: float, share: float, sizes: Sequence[int], **more: Any) -> Self:
        """The total is the permanent budget."""
        return cls(k=sizes[0], epsilon_permanent=total, epsilon_report=share * total, **more)

    @property
    @abstractmethod
    def _supports(self) -> tuple[float, float, float, float]:
        """p and q of the permanent round, then of the fresh one: chances that a value is supported.

        The permanent answer supports the client's own value with p, any other with q. A report supports a value with p
        where the permanent answer does, with q where it does not.
        """

    def mean_variance(self, tau: float, n: int = 1, frequency: float = 0.0) -> float:
        """Variance of a value's estimate, averaged over tau rounds in which nobody's value changes.

        Fresh noise averages out, permanent noise does not: the limit (tau of `math.inf`) is the permanent round's own
        variance. One round gives `first_report.variance`.
        """
        rounds = _rounds.reports_of(tau, endless=True)
        rules.population(n, frequency)
        own, other, p, q = self._supports
        gap = (own - other) * (p - q)

        def spread(kept: float) -> float:
            fresh = kept * p * (1 - p) + (1 - kept) * q * (1 - q)
            return fresh / rounds + kept * (1 - kept) * (p - q) ** 2

        return (frequency * spread(own) + (1 - frequency) * spread(other)) / (n * gap**2)


@dataclass(frozen=True, kw_only=True)
class DirectTwice(TwoRounds):
    """A protocol that responds twice over the states 0..size-1."""

    @property
    @abstractmethod
    def first_report(self) -> Twice:
        """The law of one report."""

    @property
    def _size(self) -> int:
        return self.first_report.size

    @property
    def kept(self) -> int:
        """One permanent answer for each state that a value can bring a client into."""
        return min(self.k, self._size)

    @property
    def epsilon_fresh(self) -> float:
        """Loss of the fresh round alone."""
        again = self.first_report.rounds[1]
        return log_ratio(again * (self._size - 1), SCALE - again)

    def sequence_epsilon(self, tau: float) -> float:
        """Exact loss of tau reports of a value that does not change, rounded up; `math.inf` gives the limit."""
        return _rounds.direct_loss(self._size, *self.first_report.rounds, _rounds.reports_of(tau, endless=True))

    def _memoize(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        return GRR(k=self._size, epsilon=self.epsilon_permanent).sample(states, rng)

    def _refresh(self, memos: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.first_report._fresh(memos.astype(np.int64), rng)

    def _likelihood(self, core: npt.NDArray[Any], states: Ints) -> Floats:
        return likelihoods.direct(core.astype(np.int64), states, self._size, *self.first_report.rounds)

    def _answers(self) -> npt.NDArray[Any]:
        return np.arange(self._size, dtype=unsigned(self._size - 1))

    def _told_apart(self, states: Ints, most: int) -> tuple[Sequence[int], Sequence[int]]:
        own = states.tolist()
        return own, [each for each in range(min(self._size, most + len(own))) if each not in own][:most]
