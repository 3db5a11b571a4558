"""The law of an estimated total: its mean, its variance, its probabilities, and draws from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hush.analysis import capacity as forms
from hush.analysis.inversion import Inversion, edgeworth
from hush.analysis.waves import Swings, Wave
from hush.types import Floats

Draw = Callable[[int, np.random.Generator], Floats]

EXACT = 1e-10
"""A probability is called exact where it is off by less than that."""


@dataclass(frozen=True, eq=False)
class Law:
    """The law of an estimated total.

    Args:
        mean: The total that it is right about on average.
        variance: For a fixed population.
        draw: Estimated totals of so many collections.
        work: Random numbers that one collection takes.
        log: The characteristic function, of the total less its mean; None where it is not known.
        offset: A lattice point, where totals lie on a lattice.
        step: Distance of lattice points; 0 without a lattice.
        costly: Whether an exact probability takes long.
        kind: "exact"; "near", where the characteristic function is that of a first-order term; or "normal", where
            only a variance from simulated collections is known.
        swings: How far the characteristic function falls at least, to see fast where it comes back.
    """

    mean: float
    variance: float
    draw: Draw
    work: float
    log: Wave | None = None
    offset: float = 0.0
    step: float = 0.0
    costly: bool = False
    kind: str = "exact"
    swings: Swings | None = None

    @property
    def exact(self) -> bool:
        """Whether `at_most` is, to ten digits: the law is known, and totals lie on a lattice that is not too fine.

        Others have steps that only those who know all of their many places can follow; `error` bounds what is missed.
        """
        if self.kind != "exact" or self.log is None:
            return False
        asked = list(self._probabilities.values()) or [self._found(self.mean)]
        return self._inversion.whole and max(error for _, error in asked) < EXACT

    @property
    def known(self) -> str:
        """How well `at_most` is known: "exact", "near" or "normal"."""
        return "near" if self.kind == "exact" and not self.exact else self.kind

    def at_most(self, cap: float) -> float:
        """The probability that the estimated total does not exceed the cap, as well as it is `known`."""
        if self.log is None:
            return 1 - forms.normal(self.variance, cap - self.mean)
        return self._found(cap)[0]

    def error(self, cap: float) -> float | None:
        """How far `at_most` may be off, at most; None where there is no bound, since the law itself is not exact."""
        return self._found(cap)[1] if self.log is not None and self.kind == "exact" else None

    def roughly(self, cap: float) -> float | None:
        """The same to about four digits, from one value of the characteristic function; None where that is not safe."""
        deviation = math.sqrt(self.variance)
        if self.log is None or not deviation or deviation < 50 * self.step or not self._inversion.smooth:
            return None
        return edgeworth(self.log, deviation, self._point(cap))

    @cached_property
    def _inversion(self) -> Inversion:
        assert self.log is not None
        size = abs(self.mean) + abs(self.offset)
        return Inversion(self.log, math.sqrt(self.variance), self.step, self.swings, size)

    @cached_property
    def _probabilities(self) -> dict[float, tuple[float, float]]:
        return {}

    def _found(self, cap: float) -> tuple[float, float]:
        """A probability and its error, looked for once."""
        known = self._probabilities
        if cap not in known:
            known[cap] = self._inversion.at_most(self._point(cap))
        return known[cap]

    def _point(self, cap: float) -> float:
        """The cap, relative to the mean; halfway to the next lattice point above."""
        if not self.step:
            return cap - self.mean
        at = (cap - self.offset) / self.step
        whole = math.floor(at + 1e-9 + 1e-14 * abs(at))
        return self.offset + (whole + 0.5) * self.step - self.mean
