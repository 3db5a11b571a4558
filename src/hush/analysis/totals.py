"""The law of an estimated total: its mean, its variance, its probabilities, and draws from it.

People are given by the amounts that values stand for and by how many hold each, and reports by what they add.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import capacity, waves
from hush.analysis.adds import Adds
from hush.analysis.inversion import Inversion, edgeworth
from hush.analysis.waves import Swings, Wave
from hush.randomness import seeded
from hush.types import Complexes, Floats, Ints

Draw = Callable[[int, np.random.Generator], Floats]
"""Estimated totals of so many collections."""

EXACT = 1e-10
"""A probability is called exact where it is off by less than that."""
COLLECTION = 5000.0
"""What one simulated collection costs beyond its random numbers, as so many of them, roughly."""

_CELLS = 1 << 20
_COSTLY = 1 << 15


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
            return 1 - capacity.normal(self.variance, cap - self.mean)
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


def scaled(
    amounts: Floats,
    counts: Ints,
    scale: float,
    variance: float,
    wave: Wave,
    swings: Swings,
    *,
    shift: float,
    step: float,
    draw: Draw,
    work: float,
) -> Law:
    """Where the total is (S + shift) / scale, and S is a multiple of the step."""
    return Law(
        float(amounts @ counts),
        variance / scale**2,
        draw,
        work,
        wave.scaled(scale),
        shift / scale,
        step / scale,
        swings=swings.scaled(scale),
    )


def summed(
    amounts: Floats,
    counts: Ints,
    adds: Adds,
    *,
    draw: Draw,
    work: float,
    start: float = 0.0,
    step: float = 0.0,
    kind: str = "exact",
) -> Law:
    """Of a sum over people, each of whose reports adds something that is known."""
    held = counts > 0
    people, middle = counts[held], adds.mean[held]

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        return [(waves.log_phi(adds.phi_less_one(theta)[:, held], theta) - 1j * theta[:, None] * middle, people)]

    return Law(
        float(amounts @ counts),
        float(adds.variance @ counts),
        draw,
        work,
        Wave(terms, adds.cells, size=float((np.abs(middle) + np.sqrt(adds.variance[held])) @ people)),
        start,
        step,
        costly=adds.cells > _COSTLY,
        kind=kind,
        swings=adds.swings(counts) if kind == "exact" else None,
    )


def channel(amounts: Floats, counts: Ints, says: Floats, chances: Floats, *, draw: Draw, work: float) -> Law:
    """Of outputs that each say something about the total, and have a probability for each value."""
    n, step, least = int(counts.sum()), 0.0, float(says.min())
    found = capacity.on_lattice(says)
    if found is not None:
        off = float(np.abs(says - least - found[0] * found[1]).max())
        step = found[0] if n * off < 1e-3 * found[0] else 0.0
    return Law(
        float(amounts @ counts),
        capacity.channel(says, chances, counts),
        draw,
        work,
        waves.channel_wave(says, chances, counts),
        n * least,
        step,
        costly=says.size > _COSTLY,
        swings=waves.channel_swings(says, chances, counts),
    )


def simulated(amounts: Floats, counts: Ints, *, draw: Draw, work: float) -> Law:
    """Of a mechanism that can only be run."""
    runs = max(30, min(400, 2_000_000 // int(counts.sum())))
    spread = float(draw(runs, seeded(7)).var(ddof=1))
    return Law(float(amounts @ counts), spread, draw, work, kind="normal")


def in_parts(draw: Draw, cells: int) -> Draw:
    """So many runs at a time that they fit into memory, where each takes so many cells."""
    rows = max(1, _CELLS // cells)

    def whole(runs: int, rng: np.random.Generator) -> Floats:
        parts = [draw(min(rows, runs - start), rng) for start in range(0, runs, rows)]
        return np.concatenate(parts) if parts else np.zeros(0)

    return whole
