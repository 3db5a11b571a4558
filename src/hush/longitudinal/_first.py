"""The law of one report of a two-round protocol, and randomized response twice: of values, and of hashed ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from hush.exact.thresholds import SCALE, keep
from hush.longitudinal import _rounds
from hush.longitudinal._words import FormerWords
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.mechanisms.direct import GRR, unsigned
from hush.mechanisms.direct.forms import DirectForms
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.forms import LocalHashingForms
from hush.mechanisms.two_level import TwoLevel
from hush.types import Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class FirstReport(FormerWords, FrequencyOracle):
    """One report of a longitudinal protocol, as a mechanism.

    Args:
        k: Domain size.
        epsilon: Loss of one report (the protocol's epsilon_report).
        epsilon_permanent: Loss of all reports of one value together.
    """

    epsilon_permanent: float

    def __post_init__(self) -> None:
        permanent = _rounds.permanent(self.epsilon_permanent)
        self._set(epsilon_permanent=permanent, epsilon=_rounds.first(self.epsilon, permanent, "epsilon"))
        super().__post_init__()

    @classmethod
    def name(cls) -> str:
        """Module and class, as for a mechanism from outside: it is not for use without its protocol."""
        return super().name() if from_outside(cls) else f"hush.longitudinal:{cls.__name__}"


@dataclass(frozen=True, kw_only=True)
class Twice(FirstReport, TwoLevel):
    """Randomized response twice, over the values or over buckets."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values or buckets are responded over."""

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, self.size - 1

    @cached_property
    def rounds(self) -> tuple[int, int]:
        """Out of 2^64, the probabilities of keeping in the permanent round and in the fresh one."""
        first = keep(self.epsilon_permanent, 1, self.size - 1)
        return first, _rounds.second_keep(self.size, first, self.epsilon)

    @cached_property
    def _weights(self) -> tuple[int, int]:
        return _rounds.direct(self.size, *self.rounds)

    @property
    def denominator(self) -> int:
        """Each weight is over 2^128 (size-1)^2."""
        return SCALE**2 * (self.size - 1) ** 2

    @cached_property
    def keep(self) -> int:
        """Out of 2^64, the probability that a report supports its own value, to the nearest integer below."""
        return self._weights[1] * SCALE // self.denominator

    @property
    def p_star(self) -> float:
        return self._weights[1] / self.denominator

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"permanent": self.rounds[0], "fresh": self.rounds[1]}

    def _fresh(self, kept: Ints, rng: np.random.Generator) -> Reports:
        """The second round."""
        from hush.kernels.direct import respond
        from hush.kernels.words import rejection

        out = np.empty(kept.size, unsigned(self.size - 1))
        respond(rng, kept, self.size, np.uint64(self.rounds[1]), rejection(self.size - 1), out)
        return out


@dataclass(frozen=True, kw_only=True)
class FirstLGRR(Twice, GRR):
    """One report of L-GRR: randomized response, twice."""

    companion: ClassVar[type[Forms]] = DirectForms

    @property
    def size(self) -> int:
        return self.k

    @property
    def q_star(self) -> float:
        return self._weights[0] / self.denominator

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        kept = GRR(k=self.k, epsilon=self.epsilon_permanent).sample(values, rng)
        return self._fresh(kept.astype(np.int64), rng)


@dataclass(frozen=True, kw_only=True)
class FirstLOLOHA(Twice, LH):
    """One report of LOLOHA: local hashing, its bucket randomized twice."""

    companion: ClassVar[type[Forms]] = LocalHashingForms

    hash: str = field(init=False, default="affine")

    @property
    def size(self) -> int:
        return self.g

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.hashing import bucket_reports
        from hush.kernels.words import rejection

        columns = self._columns(values.size)
        bucket_reports(rng, values, self._keys, self.g, np.uint64(self.rounds[0]), rejection(self.g - 1), *columns)
        columns[2] = self._fresh(columns[2].astype(np.int64), rng)
        return self._packed(columns)
