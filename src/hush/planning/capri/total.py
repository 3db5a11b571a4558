"""The law of an estimated total: its mean, its variance, its probabilities, and draws from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hush.analysis import capacity as forms

Floats = npt.NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], Floats]

_LOOKED = np.arange(9.0, 500.0, 0.5)
"""Where to look, in units of one over the deviation, for what a characteristic function does after it fell off."""
_FAINT = 1e-13
_SHOWS = 1e-5
"""More of a step than that shows in a probability."""


@dataclass(frozen=True, eq=False)
class Law:
    """The law of an estimated total.

    Args:
        mean: The total that it is right about on average.
        variance: For a fixed population.
        draw: Estimated totals of so many collections.
        work: Random numbers that one collection takes.
        log: Logarithm of the characteristic function, of the total less its mean; None where it is not known.
        offset: A lattice point, where totals lie on a lattice.
        step: Distance of lattice points; 0 without a lattice.
        costly: Whether an exact probability takes long.
        kind: "exact"; "near", where the characteristic function is that of a first-order term; or "normal", where
            only a variance from simulated collections is known.
        grains: Distances of coarser lattices that parts of the total lie on.
    """

    mean: float
    variance: float
    draw: Draw
    work: float
    log: forms.Log | None = None
    offset: float = 0.0
    step: float = 0.0
    costly: bool = False
    kind: str = "exact"
    grains: tuple[float, ...] = ()

    @cached_property
    def exact(self) -> bool:
        """Whether `at_most` is: the law is known, and totals lie on a lattice, or so dense that no step shows."""
        return self.kind == "exact" and (bool(self.step) or self.variance == 0 or self._steps < _SHOWS)

    @property
    def known(self) -> str:
        """How well `at_most` is known: "exact", "near" or "normal"."""
        return "near" if self.kind == "exact" and not self.exact else self.kind

    @cached_property
    def _steps(self) -> float:
        """How much of a step the law may have: what the characteristic function does after it fell off first."""
        if self.log is None:
            return math.inf
        deviation = math.sqrt(self.variance)
        again = [2 * math.pi * turn / grain * deviation for grain in self.grains if grain for turn in (1, 2, 3)]
        turns = np.array(again) if again else _LOOKED
        return float((np.exp(self.log(turns / deviation).real) / np.maximum(turns, 1.0)).max())

    def at_most(self, cap: float) -> float:
        """The probability that the estimated total does not exceed the cap, as well as it is `known`."""
        if self.log is None:
            return 1 - forms.normal(self.variance, cap - self.mean)
        point = self._point(cap)
        found = forms.at_most(self.log, math.sqrt(self.variance), point, self.step)
        return min(max(found + self._revived(self.log, point), 0.0), 1.0)

    def _revived(self, log: forms.Log, point: float) -> float:
        """What coarser lattices inside a fine one add: each brings the characteristic function back for a moment."""
        deviation = math.sqrt(self.variance)
        if not (self.step and self.grains and deviation):
            return 0.0
        reach = forms._reach(log, deviation)
        window = 4 * math.ceil((abs(point) + reach) / (2 * self.step))
        if abs(point) >= reach or window <= forms._PROBED:  # small windows are summed whole where need be
            return 0.0
        length, total = window * self.step, 0.0
        turns = {turn / grain for grain in self.grains for turn in range(1, int(grain / (2 * self.step)) + 1)}
        at = np.array(sorted(turns))
        peaks = at[np.exp(log(2 * np.pi * at).real) > _FAINT] if at.size else at
        for peak in peaks:
            wide = 9 / deviation / (2 * np.pi)
            first, last = (max(1, int((peak + side * wide) * length)) for side in (-1, 1))
            odd = np.arange(first | 1, min(last, window // 2), 2)
            theta = 2 * np.pi * odd / length
            weights = 2 / (window * np.sin(np.pi * odd / window))
            total += float(weights @ (np.exp(1j * theta * point) * np.exp(log(theta)).conj()).imag)
        return total

    def roughly(self, cap: float) -> float | None:
        """The same to about four digits, from one value of the characteristic function; None where that is not safe."""
        deviation = math.sqrt(self.variance)
        if self.log is None or deviation < 50 * self.step:
            return None
        return forms.edgeworth(self.log, deviation, self._point(cap))

    def _point(self, cap: float) -> float:
        """The cap, relative to the mean; halfway to the next lattice point above."""
        if not self.step:
            return cap - self.mean
        at = (cap - self.offset) / self.step
        whole = math.floor(at + 1e-9 + 1e-14 * abs(at))
        return self.offset + (whole + 0.5) * self.step - self.mean
