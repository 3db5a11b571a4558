"""What can be said of a mechanism for means beyond its law: by enumeration for any, in closed form where one is known.

A total needs no more than how many people of each grid point sent what. Under Duchi that is a binomial number of ones.
A report of Piecewise is uniform over a window of its own or, with what is left of its probability, over all places; so
people who hold different amounts can be counted together.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import totals, waves
from hush.exact.thresholds import SCALE
from hush.types import Complexes, Floats, Ints, Reports

if TYPE_CHECKING:
    from hush.mechanisms.numeric.base import Numeric
    from hush.mechanisms.numeric.mechanism import Duchi, Hybrid, Piecewise

LAW = frozenset(
    {
        *("sample", "tally", "moments", "pieces", "decode", "lattice"),
        *("size", "outputs", "weight", "chances", "thresholds", "denominator"),
    }
)
"""What a class writes to say what its law is."""

MOST_CHANCES = 1 << 24
"""Of outputs times amounts: more do not fit into memory."""
_AT_ONCE = 256
_TALLIED = 2000.0


@dataclass(frozen=True, eq=False)
class NumericForms:
    """What is asked of a mechanism for means.

    Args:
        m: The mechanism.
    """

    m: Numeric

    costly: ClassVar[bool] = False
    """Whether a simulated collection takes long even where many are drawn together."""
    one_by_one: ClassVar[bool] = True
    """Whether collections are simulated one by one, report by report."""

    def chances(self, amounts: Floats) -> Floats | None:
        """Probabilities of outputs for each amount, as [output, amount]; None where they are too many."""
        if self.m.size * amounts.size > MOST_CHANCES:
            return None
        below, part = self._rounded(amounts)
        return np.asarray((1 - part) * self.m.chances(below) + part * self.m.chances(below + 1))

    def central(self, amounts: Floats) -> tuple[Floats, Floats]:
        """Variance and third central moment of what a report says, for each amount."""
        m, places = self.m, self.m._places(amounts)
        ticks, part = self._rounded(amounts)
        third = (1 - part) * m.pieces(ticks).third(places) + part * m.pieces(ticks + 1).third(places)
        unit = m.width / m.steps
        return unit**2 * m._variances(places), unit**3 * np.asarray(third, np.float64)

    def log_ratio(self, reports: Reports, first: float, second: float) -> Floats:
        """How much likelier each report is for the first amount than for the second, in logarithm."""
        different, back = np.unique(reports, return_inverse=True)
        law = self.chances(np.array([first, second]))
        chances = self._chances_of(different, (first, second)) if law is None else law[different.astype(np.int64)].T
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(chances[0]) - np.log(chances[1])
        return np.asarray(np.where(np.isnan(ratio), 0.0, ratio)[back], np.float64)  # impossible for both

    def _chances_of(self, reports: Reports, amounts: tuple[float, ...]) -> Floats:
        """Probabilities of some outputs for each amount, as [amount, output], where all outputs are too many."""
        below, part = self._rounded(np.array(amounts))
        found = []
        for tick, above in zip(below.tolist(), part.tolist(), strict=True):
            low, high = (
                [self.m.weight(y, at) / self.m.denominator for y in reports.tolist()] for at in (tick, tick + 1)
            )
            found.append((1 - above) * np.array(low) + above * np.array(high))
        return np.stack(found)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """The law of the estimated total, of so many people of each amount, from the pieces of a report's law."""
        m, n, held = self.m, int(counts.sum()), counts > 0
        unit, people, places = m.width / m.steps, counts[held], m._places(amounts[held])
        ticks, part = self._rounded(amounts[held])
        low, high = m.pieces(ticks), m.pieces(ticks + 1)

        def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
            at = np.asarray(theta) * unit
            each = low.phi_less_one(at, places)
            if part.any():
                each = (1 - part) * each + part * high.phi_less_one(at, places)
            return [(waves.log1p(each), people)]

        variances = m._variances(places)
        least, step = m.lattice or (0.0, 0.0)
        return totals.Law(
            float(amounts @ counts),
            unit**2 * float(variances @ people),
            self.total_draw(amounts, counts),
            self.collection_work(n),
            waves.Wave(terms, 4 * people.size, size=unit * float(np.sqrt(variances) @ people)),
            n * (m.low + unit * least),
            unit * step,
            swings=low.swings((1 - part) * people).joined(high.swings(part * people)).scaled(1 / unit),
        )

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """Estimated totals of whole collections, simulated one by one."""
        m = self.m

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            values = np.repeat(amounts, counts)
            return np.array([m.estimate(m.aggregate(m.privatize(values, rng=rng))).total for _ in range(runs)])

        return draw

    def collection_work(self, n: int) -> float:
        """What a simulated collection of n people costs, in random numbers, roughly."""
        return float(n)

    def _rounded(self, amounts: Floats) -> tuple[Ints, Floats]:
        """The grid point below each amount, the last one excepted, and the chance of the next."""
        places = self.m._places(amounts)
        below = np.minimum(np.floor(places), self.m.steps - 1)
        return below.astype(np.int64), places - below


@dataclass(frozen=True, eq=False)
class TalliedForms(NumericForms):
    """Of a mechanism for which all reports of a grid point can be drawn together."""

    one_by_one: ClassVar[bool] = False

    @abstractmethod
    def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
        """What all reports say together about their ticks, for people[run, tick]."""

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """Without making a report for each person."""
        m, n, held = self.m, int(counts.sum()), counts > 0
        people, unit = counts[held], m.width / m.steps
        below, part = self._rounded(amounts[held])
        ticks = np.concatenate([below, below + 1])

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            risen = rng.binomial(people, part, (runs, people.size))  # rounded up to the next grid point
            return n * m.low + unit * self.said(ticks, np.concatenate([people - risen, risen], axis=1), rng)

        return draw

    def collection_work(self, n: int) -> float:
        """A few numbers for each grid point."""
        return _TALLIED


@dataclass(frozen=True, eq=False)
class CoinForms(TalliedForms):
    """Of Duchi's mechanism."""

    m: Duchi

    def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
        """From the number of ones."""
        m, n = self.m, people.sum(axis=1)
        ones = rng.binomial(people, (m.base + m.slope * ticks.astype(np.float64)) / SCALE).sum(axis=1)
        zero, one = (float(x) for x in m._says)
        return np.asarray(n * zero + ones * (one - zero), np.float64)


@dataclass(frozen=True, eq=False)
class WindowForms(TalliedForms):
    """Of the piecewise mechanism."""

    m: Piecewise

    def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
        """From the sum of places: some are uniform over a window, the others over all."""
        m, n = self.m, people.sum(axis=1)
        everywhere = (SCALE - m.keep) / SCALE * m.size / m.outside
        inside = rng.binomial(people, 1 - everywhere)
        own = inside.sum(axis=1)
        reported = inside @ (m.height * ticks) + _uniform(own, m.inside, rng) + _uniform(n - own, m.size, rng)
        start, slope = (float(x) for x in m._line)
        return np.asarray((reported - n * start) / slope, np.float64)


@dataclass(frozen=True, eq=False)
class MixtureForms(TalliedForms):
    """Of the hybrid mechanism."""

    m: Hybrid

    def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
        """Of those who got either mechanism."""
        window, coin = self.m._parts
        chosen = rng.binomial(people, self.m.choose / SCALE)
        first = WindowForms(window).said(ticks, chosen, rng)
        return first + CoinForms(coin).said(ticks, people - chosen, rng)


def _uniform(people: Ints, places: int, rng: np.random.Generator) -> Ints:
    """Sums of so many uniform numbers from 0 to places - 1: in rows of equal length, what is left over apart."""
    if places <= _AT_ONCE:
        return np.asarray(rng.multinomial(people, np.full(places, 1 / places)) @ np.arange(places), np.int64)
    wide = math.isqrt(places)
    rest = places % wide
    last = rng.binomial(people, rest / places)
    full = people - last
    total = wide * _uniform(full, places // wide, rng) + _uniform(full, wide, rng)
    return total + last * (places - rest) + (_uniform(last, rest, rng) if rest else 0)
