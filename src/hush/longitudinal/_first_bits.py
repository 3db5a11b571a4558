"""The law of one report of a longitudinal unary encoding: bits, flipped twice."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from hush.exact.thresholds import SCALE
from hush.longitudinal import _rounds
from hush.longitudinal._first import FirstReport
from hush.mechanisms.forms import Forms
from hush.mechanisms.unary import OUE, SUE, UE
from hush.mechanisms.unary.forms import UnaryForms
from hush.types import Reports, Values


@dataclass(frozen=True, kw_only=True)
class FirstLUE(FirstReport, UE):
    """One report of a longitudinal unary encoding: bits, flipped twice."""

    p: float = field(init=False, default=math.nan)

    companion: ClassVar[type[Forms]] = UnaryForms
    unit: ClassVar[int] = SCALE**2
    permanent: ClassVar[type[UE]]
    """The mechanism of the permanent round."""
    symmetric: ClassVar[bool]
    """Whether the fresh round is."""

    def _check(self) -> None:
        self._set(p=self.p_star)

    @cached_property
    def rounds(self) -> tuple[_rounds.Bits, _rounds.Bits]:
        """Out of 2^64, the probabilities of a one in the permanent round and in the fresh one."""
        before = self.permanent(k=self.k, epsilon=self.epsilon_permanent)._ones  # type: ignore[call-arg]
        return before, _rounds.second_bits(before, self.epsilon, symmetric=self.symmetric)

    @cached_property
    def _ones(self) -> tuple[int, int]:
        """Out of 2^128."""
        return _rounds.bits(*self.rounds)

    @property
    def thresholds(self) -> dict[str, int | str]:
        (p, q), (p_again, q_again) = self.rounds
        return {"p": p, "q": q, "p_fresh": p_again, "q_fresh": q_again}

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        kept = self.permanent(k=self.k, epsilon=self.epsilon_permanent).sample(values, rng)  # type: ignore[call-arg]
        return self._fresh(kept, rng)

    def _fresh(self, kept: Reports, rng: np.random.Generator) -> Reports:
        """The second round."""
        from hush.longitudinal._kernels import refresh

        out = np.empty(kept.size, self.report_dtype)
        p, q = (np.uint64(t) for t in self.rounds[1])
        refresh(rng, np.ascontiguousarray(kept["bits"]), self.k, p, q, out["bits"])
        return out


@dataclass(frozen=True, kw_only=True)
class FirstLSUE(FirstLUE):
    """One report of L-SUE."""

    permanent, symmetric = SUE, True


@dataclass(frozen=True, kw_only=True)
class FirstLOSUE(FirstLUE):
    """One report of L-OSUE."""

    permanent, symmetric = OUE, True


@dataclass(frozen=True, kw_only=True)
class FirstLOUE(FirstLUE):
    """One report of L-OUE."""

    permanent, symmetric = OUE, False


@dataclass(frozen=True, kw_only=True)
class FirstLSOUE(FirstLUE):
    """One report of L-SOUE."""

    permanent, symmetric = SUE, False
