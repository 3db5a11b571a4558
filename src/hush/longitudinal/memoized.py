"""Plain memoization: a client answers once for each value and repeats that answer."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, message
from hush.guarantee import LDP
from hush.longitudinal import _rounds
from hush.longitudinal.base import Longitudinal
from hush.longitudinal.likelihoods import SortedReports, constant
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.usual import usual_oracles
from hush.types import Floats, Ints, Reports


class OneRound(Longitudinal):
    """A protocol without fresh noise: a report is a permanent answer.

    Whoever sees two different answers knows that the value changed.
    """

    @property
    def epsilon_report(self) -> float:
        """Loss of one report: all of the permanent budget."""
        return self.epsilon_permanent

    @property
    def epsilon_fresh(self) -> float:
        """Infinite: a permanent answer that is known is known for good."""
        return math.inf

    def sequence_epsilon(self, tau: float) -> float:
        """Exact loss of tau reports of a value that does not change: that of one."""
        _rounds.reports_of(tau, endless=True)
        return self.first_report.exact_epsilon()

    @abstractmethod
    def _answer_log_prob(self, answers: npt.NDArray[Any], states: Ints) -> Floats:
        """Log-likelihood of each answer for its state."""

    def _likelihood(self, core: npt.NDArray[Any], states: Ints) -> Floats:
        if core.size == 0:
            return np.zeros(len(core))
        blocks = SortedReports.of(states)
        answers = blocks.put(core)[blocks.starts]
        parts = self._answer_log_prob(answers, blocks.states)
        return blocks.joined(np.where(constant(core, blocks), parts, -np.inf))

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        array = self._reports(reports)
        self.first_report.validate(array.ravel())
        if array.size == 0:
            return np.zeros((0, self.k))
        same = constant(array, SortedReports.of(np.zeros(array.shape, np.int64)))
        scores = self.first_report.scores(np.ascontiguousarray(array[:, 0]))
        return np.where(same[:, None], scores, -np.inf)


@dataclass(frozen=True, kw_only=True)
class Memoized(OneRound):
    """Answer once for each value, with any mechanism, and repeat that answer whenever the value comes back.

    Args:
        mechanism: A mechanism with a pure guarantee, which makes the permanent answers.

    >>> from hush import OUE
    >>> Memoized(mechanism=OUE(k=5, epsilon=1.0)).epsilon_worst
    5.0
    """

    mechanism: FrequencyOracle

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Every usual oracle, for one attribute."""
        if len(sizes) == 1:
            yield from ({"mechanism": name} for name in usual_oracles(sizes))

    @classmethod
    def lasting(cls, total: float, share: float, sizes: Sequence[int], **more: Any) -> Self:
        """One report loses the total."""
        return cls(mechanism=registry()[more["mechanism"]](k=sizes[0], epsilon=total))

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, FrequencyOracle) or not isinstance(self.mechanism.guarantee, LDP):
            rule, remedy = "must be a mechanism with a pure guarantee", "pass e.g. hush.OUE(k=4, epsilon=1.0)"
            raise ParameterError(message("mechanism", rule, self.mechanism, remedy))

    @property
    def k(self) -> int:
        """Number of values."""
        return self.mechanism.k

    @property
    def pseudonym(self) -> str:
        """What a client shows again."""
        return "the whole report, bit for bit, whenever the value is the same"

    @property
    def epsilon_permanent(self) -> float:
        """What the mechanism promises."""
        promise = self.mechanism.guarantee
        assert isinstance(promise, LDP)
        return promise.epsilon

    @cached_property
    def first_report(self) -> FrequencyOracle:
        """The mechanism itself."""
        return self.mechanism

    @property
    def kept(self) -> int:
        """One answer for each value."""
        return self.k

    def _memoize(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.mechanism.sample(states, rng)

    def _answer_log_prob(self, answers: npt.NDArray[Any], states: Ints) -> Floats:
        return self.mechanism._log_prob(answers, states)

    def _answers(self) -> npt.NDArray[Any]:
        if len(self.mechanism.publics()) > 1:
            rule, remedy = "must have no public randomness to be enumerated", "take one whose reports have none"
            raise ParameterError(message("mechanism", rule, self.mechanism, remedy))
        return self.mechanism.outputs()
