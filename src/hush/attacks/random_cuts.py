"""What one report says about the classes of values, where values are dealt out to the classes at random.

Which values form a class depends on what they mean, and the number of a value does not. So the classes are those of a
random cut: every way to deal the values out to classes of the given sizes is equally likely, and an attacker knows
which one it is. Under such a cut all sets of values of one size are alike. Then a report with two levels of probability
is described by how many values it supports, of which a hypergeometric number is in each class; and a report of
independent coordinates by one sum of likelihood ratios for each class. Neither takes longer for more values.

Reports of one person share a cut. Here each has a cut of its own. For mechanisms that treat all sets of one size alike
(randomized response, subsets, unary encoding, local hashing under an ideal hash, noisy histograms) that is the same.
For the others it changes the advantage: for `PGR`, `MSS`, and `HR` with one block, by less than 1 % of itself from 16
values on and less than 0.5 % from 30 values on; for `HR` with more blocks by up to 3 % from 8 values on, upwards, as
a cut that happens to be uneven in the blocks is uneven for all reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hush.analysis.hypergeometric import log_hypergeometric
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.shape import SupportLaw
from hush.types import Floats, Ints

_MAX_SIZES = 96
"""Numbers of supported values that are looked at; more are put together with their neighbors.

That changes an advantage by up to 2·10⁻³ of itself: with two even classes, odd and even numbers differ.
"""
_MAX_INSIDE = 400
"""Numbers of them in a class that are looked at; of more, every second one, every third one, and so on."""
_MAX_SUMS = 300
"""Sums of likelihood ratios that are looked at, after neighbors are put together."""
_DEVIATIONS = 8.5
"""Standard deviations that are looked at: less than 10⁻¹⁶ of a normal law is beyond."""
_NEVER = 1e-15
"""Numbers of supported values that are no likelier are left out."""
_STEPS_PER_DEVIATION, _MIN_GRID = 32, 1 << 17
"""Grid steps in a standard deviation of one likelihood ratio, and grid steps in all."""
_MAX_STEP = 0.02
"""Step of an even grid for a sum up to which one is used, as a share of the least likely sum."""
_CONCLUSIVE = 1e-6
"""How often any other coordinate has an outcome that is taken to show the value."""


def two_class_laws(m: FrequencyOracle, first: int, second: int) -> tuple[Floats, Floats] | None:
    """Return the probability of each kind of report under a value of either class; None where no law is known.

    Args:
        m: The mechanism.
        first: Number of values in the first class.
        second: Number of values in the second class.
    """
    laws = m.forms.support_laws
    if laws is not None:
        most = max(8, _MAX_SIZES // len(laws))
        parts = [_by_supports(law, first, second, most) for law in laws]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    law = coordinate_law(m)
    return None if law is None else _by_coordinates(m, law, first, second)


def _by_supports(law: SupportLaw, first: int, second: int, most: int) -> tuple[Floats, Floats]:
    """The kinds are how many values a report supports, and how many of these are in the first class."""
    k, found = first + second, []
    high, low = _levels(law.favor)
    for size, chance in zip(*_merge_sizes(law.sizes, law.chances, most), strict=True):
        inside = _likely_inside(first, second, int(size))
        logs = log_hypergeometric(inside, first, second, int(size))
        chances = np.exp(logs - logs.max())
        ones = low + (high - low) * inside / first
        twos = low + (high - low) * (size - inside) / second
        both = float(chance) / chances.sum() / max(low + (high - low) * size / k, 1e-300) * chances
        found.append((both * ones, both * twos))
    laws = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
    return law.share * laws[0] / laws[0].sum(), law.share * laws[1] / laws[1].sum()


def _levels(favor: float) -> tuple[float, float]:
    return (1.0, 0.0) if math.isinf(favor) else (favor / (1 + favor), 1 / (1 + favor))


def _merge_sizes(sizes: Ints, chances: Floats, most: int) -> tuple[Ints, Floats]:
    """Put neighboring sizes together at their mean, so that at most so many are left."""
    likely = chances > _NEVER
    sizes, chances = sizes[likely], chances[likely]
    if sizes.size <= most:
        return sizes, chances
    low, high = int(sizes[0]), int(sizes[-1])
    group = (sizes - low) * most // (high - low + 1)
    weight = np.asarray(np.bincount(group, chances, most), np.float64)
    mean = np.bincount(group, chances * sizes, most) / np.maximum(weight, 1e-300)
    kept = weight > 0
    return np.rint(mean[kept]).astype(np.int64), weight[kept]


def _likely_inside(first: int, second: int, size: int) -> Ints:
    """Numbers of the first class among a random set of that size, all that are likely or evenly spaced ones."""
    k = first + second
    least, most = max(0, size - second), min(first, size)
    mean = size * first / k
    reach = _DEVIATIONS * math.sqrt(max(mean * second / k * (k - size) / max(k - 1, 1), 0.0)) + _DEVIATIONS
    low, high = max(least, math.floor(mean - reach)), min(most, math.ceil(mean + reach))
    return np.arange(low, high + 1, max(1, (high - low) // _MAX_INSIDE))


# Reports of independent coordinates.


@dataclass(frozen=True)
class CoordinateLaw:
    """What a coordinate says about whether it is the value's own.

    Args:
        null: How likely each outcome is where the coordinate is not the value's own.
        ratios: By which factor each outcome is likelier where it is.
        shown: How likely the own coordinate has an outcome that hardly any other one has: less than once in a million
            reports. These outcomes are taken to show the value.
    """

    null: Floats
    ratios: Floats
    shown: float

    @property
    def own(self) -> Floats:
        """How likely each outcome is where the coordinate is the value's own."""
        return self.null * self.ratios


def coordinate_law(m: FrequencyOracle) -> CoordinateLaw | None:
    """Return the law of a coordinate, for reports of independent coordinates; None for others."""
    try:
        null, own = m.coordinate_law()
    except NotImplementedError:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(null > 0, own / null, np.inf)
    order = np.argsort(-ratios, kind="stable")
    conclusive = np.empty(null.size, np.bool_)
    conclusive[order] = np.cumsum(null[order]) <= _CONCLUSIVE / m.k
    kept = ~conclusive & (null > 0)
    return CoordinateLaw(null[kept], ratios[kept], float(own[conclusive].sum()))


def _by_coordinates(m: FrequencyOracle, law: CoordinateLaw, first: int, second: int) -> tuple[Floats, Floats]:
    """The kinds are the sums of the likelihood ratios in both classes, which are independent under the null law.

    A report is likelier with a value of a class by the mean of the ratios in that class.
    """
    (ones, one), (twos, two) = (ratio_sums(m, size) for size in (first, second))
    both = np.outer(one, two)
    laws = (both * ones[:, None] / first).ravel(), (both * twos / second).ravel()
    found = np.append(laws[0], [law.shown, 0.0]), np.append(laws[1], [0.0, law.shown])
    return found[0] / found[0].sum(), found[1] / found[1].sum()


@lru_cache(maxsize=64)
def ratio_sums(m: FrequencyOracle, number: int) -> tuple[Floats, Floats]:
    """Return sums of the likelihood ratios of so many coordinates of which none is the value's own, and their law."""
    law = coordinate_law(m)
    assert law is not None
    null = law.null / law.null.sum()
    mean = float(null @ law.ratios)
    centered = law.ratios - mean
    deviation, largest = math.sqrt(float(null @ centered**2)), float(np.abs(centered).max())
    if deviation == 0 or number == 0:
        return np.array([number * mean]), np.ones(1)
    reach = min(number * largest, _DEVIATIONS * (deviation * math.sqrt(number) + largest))
    size = max(_MIN_GRID, 1 << math.ceil(math.log2(2 * reach / deviation * _STEPS_PER_DEVIATION + 4)))
    step = 2 * reach / (size - 4)
    least = max(number * float(law.ratios.min()), number * mean - _DEVIATIONS * deviation * math.sqrt(number))
    if step > _MAX_STEP * least:
        order = np.argsort(law.ratios, kind="stable")
        return _add_up(_merge_sums(law.ratios[order], null[order], mean), number)
    places = centered / step
    below = np.floor(places)
    above = null * (places - below)
    at = below.astype(np.int64)
    grid = np.bincount(at % size, null - above, size) + np.bincount((at + 1) % size, above, size)
    chances = np.fft.fftshift(np.maximum(np.fft.irfft(np.fft.rfft(grid) ** number, size), 0.0))
    sums = np.asarray(number * mean + (np.arange(size) - size // 2) * step, np.float64)
    return _merge_sums(sums, chances / chances.sum(), number * mean)


def _add_up(single: tuple[Floats, Floats], number: int) -> tuple[Floats, Floats]:
    """Return the law of a sum of so many, by doubling: where few ratios are large, an even grid hides the others."""
    found, power, left = None, single, number
    while left:
        if left % 2:
            found = power if found is None else _add(found, power)
        left //= 2
        power = _add(power, power) if left else power
    assert found is not None
    return found


def _add(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the law of a sum of two."""
    sums, law = np.add.outer(one[0], other[0]).ravel(), np.outer(one[1], other[1]).ravel()
    order = np.argsort(sums, kind="stable")
    return _merge_sums(sums[order], law[order], float(sums @ law))


def _merge_sums(sums: Floats, law: Floats, mean: float) -> tuple[Floats, Floats]:
    """Put neighboring sums together at their mean, finely where they are likely, which loses least."""
    kept = (law > _NEVER) & (sums > 0)
    sums, law = sums[kept], law[kept]
    places = np.cumsum(np.cbrt(law * (1 + sums / mean)))
    group = np.minimum(places / places[-1] * _MAX_SUMS, _MAX_SUMS - 1).astype(np.int64)
    weight = np.bincount(group, law, _MAX_SUMS)
    means = np.bincount(group, law * sums, _MAX_SUMS)[weight > 0] / weight[weight > 0]
    weight = weight[weight > 0] / weight.sum()
    return means * (mean / float(weight @ means)), weight


# Any number of classes: reports that are drawn.


def draw_scores(
    m: FrequencyOracle, sizes: Ints, favored: Ints, reports: int, loyalty: float, rng: np.random.Generator
) -> Floats | None:
    """Draw reports of people and return the log-likelihood of each class, shape (people, classes); None if unknown.

    Args:
        m: The mechanism.
        sizes: Number of values in each class.
        favored: The class that each person favors.
        reports: Fresh reports of each person.
        loyalty: How often a value is of the favored class; otherwise it may be any.
        rng: Where chances come from.
    """
    laws, law = m.forms.support_laws, coordinate_law(m)
    if laws is None and law is None:
        return None
    shares, total = sizes / sizes.sum(), np.zeros((favored.size, sizes.size))
    for _ in range(reports):
        any_value = rng.random(favored.size) >= loyalty
        own = np.where(any_value, rng.choice(sizes.size, favored.size, p=shares), favored)
        means = _draw_sums(m, law, sizes, own, rng) if laws is None else _draw_supports(laws, sizes, own, rng)
        with np.errstate(divide="ignore"):
            total += np.log(loyalty * means + (1 - loyalty) * (means @ shares)[:, None])
    return total


def _draw_supports(laws: Sequence[SupportLaw], sizes: Ints, own: Ints, rng: np.random.Generator) -> Floats:
    """Draw supported values and return the mean likelihood of each class, up to a constant for each report.

    The others of a set that supports its own value are any others, and so are those of a set that does not.
    """
    k = int(sizes.sum())
    public = rng.choice(len(laws), own.size, p=np.array([law.share for law in laws]))
    size, high, low = np.empty(own.size, np.int64), np.empty(own.size), np.empty(own.size)
    for j, law in enumerate(laws):
        mine = public == j
        size[mine] = rng.choice(law.sizes, int(mine.sum()), p=law.chances / law.chances.sum())
        high[mine], low[mine] = _levels(law.favor)
    supported = rng.random(own.size) * (high * size + low * (k - size)) < high * size
    others = np.repeat(sizes[None], own.size, axis=0)
    others[np.arange(own.size), own] -= 1
    left, drawn, inside = others.sum(axis=1), size - supported, np.empty(others.shape, np.int64)
    for j in range(sizes.size - 1):
        left -= others[:, j]
        inside[:, j] = rng.hypergeometric(others[:, j], left, drawn)
        drawn = drawn - inside[:, j]
    inside[:, -1] = drawn
    inside[np.arange(own.size), own] += supported
    return np.asarray(low[:, None] + (high - low)[:, None] * inside / sizes, np.float64)


def _draw_sums(
    m: FrequencyOracle, law: CoordinateLaw | None, sizes: Ints, own: Ints, rng: np.random.Generator
) -> Floats:
    """Draw sums of likelihood ratios and return the mean ratio of each class."""
    assert law is not None
    means = np.empty((own.size, sizes.size))
    for j, size in enumerate(sizes.tolist()):
        mine = own == j
        for people, number in ((mine, size - 1), (~mine, size)):
            sums, chances = ratio_sums(m, number)
            means[people, j] = rng.choice(sums, int(people.sum()), p=chances)
        means[mine, j] += rng.choice(law.ratios, int(mine.sum()), p=law.own / law.own.sum())
    shown = rng.random(own.size) < law.shown
    means[shown] = np.eye(sizes.size)[own[shown]]
    return np.asarray(means / sizes, np.float64)
