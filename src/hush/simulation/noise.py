"""Sums of many independent grid noises, drawn in one step whatever their number.

The sum S of m independent symmetric noises on whole steps has P(S <= s) = G(s + 1/2) with the smooth function

    G(x) = 1/2 + (1/4π) ∫ φ(t)^m sin(x t) / sin(t/2) dt over [-π, π],

where φ is the characteristic function of one noise. So S is G⁻¹(Φ(z)), rounded, for a standard normal z. What G⁻¹(Φ(z))
is beside z in standard deviations is a smooth odd function: a polynomial, fitted once. The law is that of the sum to
within 1e-10 in total variation: beyond 6.5 standard deviations (8e-11) the polynomial's last value stays.

Noise that is not symmetric is a mixture of what it has in common with its mirror image, and a rare rest that is drawn
person by person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hush.types import Floats, Ints

LEAST = 64
"""Fewer noises than this are not yet smooth enough."""

_REACH = 6.5
_DEGREE = 24
_NODES = 240
_SPACING = 0.2  # of frequencies, in standard deviations: the next image of G is 31 of them away
_NOTHING = 1e-18
_MOST = 10**9  # people that numpy's hypergeometric sampler takes
_STRANGE = 50.0  # expected noises of the rest, beyond which drawing them one by one takes too long
_HUMP = 0.7  # φ beyond this would show after LEAST noises
_SMOOTH = 16.0  # steps in a standard deviation of one noise


@dataclass(eq=False)
class NoiseSums:
    """Sums over people of noise on whole steps, mirrored about unit/2 in each person's own coordinate.

    Args:
        steps: What a noise may be: consecutive whole numbers.
        weights: How likely each is where a coordinate is not the person's own.
        unit: A person's own coordinate is unit less a noise.
    """

    steps: Ints
    weights: Floats
    unit: int
    _bent: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reach = int(max(-self.steps[0], self.steps[-1]))
        whole = np.zeros(2 * reach + 1)
        whole[self.steps + reach] = self.weights
        common = np.minimum(whole, whole[::-1])
        rest = whole - common
        self.odd = float(rest.sum())
        """Probability of a noise that is not of the symmetric part."""
        self._places, self._rest = np.arange(-reach, reach + 1), rest
        self._half = common[reach:] / common.sum()
        self._half[1:] *= 2
        self.spread = math.sqrt(float(self._half @ np.arange(reach + 1.0) ** 2))
        """Standard deviation of the symmetric part, in steps."""

    def takes(self, people: Ints) -> bool:
        """Whether sums over these people can be drawn this way: equally many in each row, not few, and smooth."""
        totals = people.sum(axis=1)
        n = int(totals[0])
        return bool((totals == n).all()) and n >= 2 * LEAST and n * self.odd <= min(_STRANGE, n / 8) and self._smooth

    @cached_property
    def _smooth(self) -> bool:
        """Whether φ is small from 1/spread on, so that only slow frequencies matter to a sum."""
        if self.spread < _SMOOTH:
            return False
        size = 4 << (2 * self._half.size).bit_length()
        half = np.fft.rfft(self._half, size).real  # the noise is symmetric, so this is φ itself
        return float(np.abs(half[math.ceil(size / (2 * math.pi * self.spread)) :]).max()) < _HUMP

    def drawn(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """The sum in every coordinate, a row for each run."""
        n = int(people[0].sum())
        out = np.broadcast_to(self.unit * people, (runs, people.shape[1])).copy()
        if self.odd == 0:
            return out + self.symmetric(n, out.size, rng).reshape(out.shape)
        strange = self._strange(n, out.size, rng).reshape(out.shape)
        some = np.unique(strange).tolist()
        out += self.symmetric(n - some[0], out.size, rng).reshape(out.shape)
        for more in some[1:]:
            cells = strange == more
            z = self.symmetric(n - more, int(cells.sum()), rng)
            out[cells] = np.broadcast_to(self.unit * people, out.shape)[cells] + z
        self._add_strange(n, people, strange, out, rng)
        return out

    def _strange(self, n: int, cells: int, rng: np.random.Generator) -> Ints:
        """How many of n people have a noise of the rest, in each of so many cells.

        Where they are rare, all cells together: distinct people, drawn until they are.
        """
        if n * cells * self.odd**2 > 1:
            return rng.binomial(n, self.odd, cells)
        total = int(rng.binomial(n * cells, self.odd))
        who = rng.integers(0, n * cells, total)
        while np.unique(who).size < total:
            who = rng.integers(0, n * cells, total)
        return np.bincount(who // n, minlength=cells)

    def _add_strange(self, n: int, people: Ints, strange: Ints, out: Ints, rng: np.random.Generator) -> None:
        """Noises of the rest, of people some of whom hold the value: theirs are mirrored."""
        run, value = np.nonzero(strange)
        some, own = strange[run, value], people[np.minimum(run, len(people) - 1), value]
        # Which of the people they are is a sample without replacement; of so many, that makes no difference.
        mirrored = rng.hypergeometric(own, n - own, some) if n < _MOST else rng.binomial(some, own / n)
        cell = np.repeat(np.arange(some.size), some)
        place = np.arange(cell.size) - np.repeat(np.cumsum(some) - some, some)
        drawn = rng.choice(self._places, cell.size, p=self._rest / self.odd)
        signs = np.where(place < mirrored[cell], -1, 1)
        np.add.at(out, (run[cell], value[cell]), signs * drawn)

    def symmetric(self, m: int, count: int, rng: np.random.Generator) -> Ints:
        """Sums of m noises of the symmetric part, so many of them."""
        z = rng.standard_normal(count)
        return np.rint(math.sqrt(m) * self.spread * self.bent(m, z)).astype(np.int64)

    def bent(self, m: int, z: Floats) -> Floats:
        """The quantile of a sum, in standard deviations, where that of a normal number is z."""
        from numpy.polynomial.chebyshev import chebval

        if m not in self._bent:
            self._bent[m] = self._fitted(m)
        at = np.clip(z, -_REACH, _REACH)
        return np.asarray(z + at * chebval(2 * (at / _REACH) ** 2 - 1, self._bent[m]), np.float64)

    def _fitted(self, m: int) -> Floats:
        from numpy.polynomial.chebyshev import chebfit
        from scipy.special import ndtri

        x = (_REACH + 1.0) * (np.arange(_NODES) + 0.5) / _NODES
        z = -ndtri(np.maximum(0.5 - self.central(m, x), 1e-300))
        inside = z < _REACH
        x, z = x[inside], z[inside]
        return np.asarray(chebfit(2 * (z / _REACH) ** 2 - 1, x / z - 1, _DEGREE, w=np.exp(-(z**2) / 4)), np.float64)

    def central(self, m: int, x: Floats) -> Floats:
        """G - 1/2, at so many standard deviations of the sum of m noises."""
        root = math.sqrt(m) * self.spread
        powers, kernels = [1.0], [x * root]  # at t = 0, where sin(xt) / 2 sin(t/2) is x
        chunk = 16
        while powers[-1] > _NOTHING:
            t = np.arange(len(powers), len(powers) + chunk, dtype=np.float64) * (_SPACING / root)
            for at, lost in zip(t, self.lost(t), strict=True):
                powers.append(math.exp(m * math.log1p(-lost)) if lost < 1 else 0.0)
                kernels.append(np.sin(x * root * at) / (2 * math.sin(at / 2)))
        weights = _SPACING / root * np.array(powers) / math.pi
        weights[0] /= 2
        return np.asarray(weights @ np.stack(kernels), np.float64)

    def lost(self, t: Floats) -> Floats:
        """1 - φ of one noise of the symmetric part, without cancellation."""
        return np.asarray(2 * np.sin(np.outer(t / 2, np.arange(self._half.size))) ** 2 @ self._half, np.float64)
