"""What shuffling n locally private reports is worth: the (epsilon, delta) of their multiset, as a provable upper bound.

One person holds u or v; everybody else's values are known, and only the order of the reports is hidden. Let P and Q be
the laws of a report of u and of v, p = e^local their largest ratio, and B a measure that lies below the law of every
value (the blanket of Balle et al., CRYPTO 2019). Each other report is drawn from B with probability |B|; the rest is
shown to the attacker. Then delta is at most E[(L_1 + ... + L_n)+] / n, where a slot L is (P - e^epsilon Q)/B at a
point drawn from B, and 0 with probability 1 - |B|. With alpha = variation/(p-1), slots are at worst

    p - e^epsilon          with probability alpha       likelier under u
    1 - p e^epsilon        with probability alpha       likelier under v
    p (1 - e^epsilon)      with probability both/p      as likely as can be under both
    1 - e^epsilon          with the rest of P           as likely as B under both

Any other slot with the same local loss and total variation is smaller in convex order, and so is one with less
variation or less of `both`: mass moves inwards and the mean stays. For B = max(P, Q)/p, which always lies below, all
that P and Q share counts as `both`. At the largest variation, (p-1)/(p+1), this is the numerical bound of Feldman,
McMillan and Talwar (SODA 2023), here for every local randomizer. The variation-ratio reduction of Wang et al. (PVLDB
2024) gives the last two kinds and the rest of all reports one and the same slot, which is no upper bound: the page on
shuffling has a counterexample.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from hush.analysis.roots import crossing
from hush.errors import ParameterError, message
from hush.types import Floats

LEAST_LOCAL, MOST_LOCAL = 1e-9, 300.0
MOST_PEOPLE = 10**12
_CASES = 10_000  # summed for one delta, where telling reports are counted one by one
_BINS = 256  # of their number, where it has more than twice as many values
_TABLED = 16
_RESTS = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2 for n in range(1, _TABLED)]
)
_ROUNDING = 1e-7  # far more than double precision can lose, relative to delta


def delta_after(
    epsilon: float, n: int, local: float, variation: float | None = None, both: float | None = None, missing: float = 0
) -> float:
    """The delta of n shuffled reports at a central epsilon: an upper bound.

    Args:
        epsilon: The central epsilon, in nats.
        n: Number of reports, everybody's own included.
        local: The loss of one report, in nats.
        variation: Largest total variation between the reports of two values; left out, the most that `local` allows.
        both: Probability that a report is as likely as can be, p times the blanket, under both values; left out, the
            most that is possible.
        missing: Probability of reports that do not obey `local`; equal for all values.

    >>> round(delta_after(0.3, 1000, 2.0), 7), round(delta_after(0.3, 1000, 2.0, variation=0.4), 9)
    (4.17e-05, 4e-07)
    """
    pair = _Pair.of(local, variation, both, missing)
    people = checked_people(n)
    if not _number("epsilon", epsilon, 0.0, math.inf, "use e.g. 0.5") < local or pair.alpha == 0:
        return pair.missing
    tail = 1e-16
    while True:
        found = _cases(people, pair, tail).delta(epsilon)
        if tail <= 1e-9 * found or tail < 1e-280:
            return found
        tail = 1e-12 * found


def epsilon_after(
    delta: float, n: int, local: float, variation: float | None = None, both: float | None = None, missing: float = 0
) -> float:
    """The central epsilon of n shuffled reports at a delta: an upper bound, never more than `local`.

    Args are those of `delta_after`. With reports missing, there is no bound for a delta up to `missing`: infinity.

    >>> round(epsilon_after(1e-6, 10_000, 1.0), 5), round(epsilon_after(1e-6, 10_000, 1.0, variation=0.25), 5)
    (0.04321, 0.03104)
    """
    pair = _Pair.of(local, variation, both, missing)
    people, slack = checked_people(n), checked_delta(delta) - pair.missing
    if slack < 1e-250:
        return local if slack >= 0 else math.inf
    spread = math.sqrt(2 * pair.alpha / people) * pair.gain  # of the loss, when n is large
    if slack >= spread / 2:  # at epsilon 0, delta is (p-1) E|telling for u - telling for v| / 2n
        return 0.0
    guess = min(local, _gaussian_epsilon(spread, slack))
    found = _smallest(_cases(people, pair, 1e-5 * slack), delta, local, guess)
    return found if variation is None else min(found, epsilon_after(delta, n, local, missing=missing))


def clones_epsilon(delta: float, n: int, local: float) -> float:
    """The numerical bound of Feldman, McMillan and Talwar (SODA 2023), which knows nothing but the local loss.

    >>> round(clones_epsilon(1e-6, 10_000, 1.0), 5)
    0.04321
    """
    return epsilon_after(delta, n, local)


def clones_closed_form(delta: float, n: int, local: float) -> float:
    """Theorem 3.1 of "Hiding among the clones" (Feldman, McMillan and Talwar, FOCS 2021); `local` where it is silent.

    >>> round(clones_closed_form(1e-6, 10_000, 1.0), 5)
    0.21403
    """
    p, people = _Pair.of(local, None, None, 0.0).ratio, checked_people(n)
    if checked_delta(delta) == 0 or 16 * p * math.log(2 / delta) > people:
        return local
    return min(local, math.log1p(8 * math.tanh(local / 2) * (math.sqrt(p * math.log(4 / delta) / people) + p / people)))


@dataclass(frozen=True)
class _Pair:
    """How the reports of two values relate: the slots of the module's docstring."""

    local: float
    ratio: float  # p
    gain: float  # p - 1
    alpha: float
    high: float  # blanket of the third kind
    low: float  # blanket of the fourth
    missing: float

    @classmethod
    def of(cls, local: float, variation: float | None, both: float | None, missing: float) -> _Pair:
        _number("local", local, LEAST_LOCAL, MOST_LOCAL, "use the exact loss of one report, e.g. 1.0")
        _number("missing", missing, 0.0, 1.0, "leave it out for a pure guarantee")
        p, gain = math.exp(local), math.expm1(local)
        alpha = (1 - missing) / (p + 1)
        if variation is not None:
            alpha = min(alpha, _number("variation", variation, 0.0, 1.0, "leave it out if unknown") / gain)
        common = max(0.0, 1 - missing - alpha * (p + 1))
        favoured = common
        if both is not None:
            favoured = min(common, _number("both", both, 0.0, 1.0, "leave it out if unknown"))
        return cls(local, p, gain, alpha, favoured / p, common - favoured, missing)


@dataclass(frozen=True)
class _Cases:
    """Numbers of telling reports and of others, with weights: a law that is at least as large in convex order."""

    telling: Floats
    burden: Floats
    weight: Floats
    extra: float
    n: int
    local: float

    def delta(self, epsilon: float) -> float:
        """Half of the telling reports speak for v on average; that fewer than a threshold do is what tells."""
        e, gain = math.exp(epsilon), math.expm1(self.local)
        scale = gain * (1 + e)
        lead = e * math.expm1(self.local - epsilon)  # p - e^epsilon, with all its digits
        threshold = (lead * self.telling - math.expm1(epsilon) * self.burden) / scale
        total = float(self.weight @ _shortfall(self.telling, 0.5, threshold)) * scale / self.n
        return min(1.0, total * (1 + _ROUNDING) + self.extra)


def _cases(n: int, pair: _Pair, tail: float) -> _Cases:
    """All that can happen besides which way the telling reports fall, but for events of probability `tail`.

    What is left out, or moved, has a sum of slots of at most p per telling report for u, so it adds at most
    variation times its probability to delta.
    """
    least, most, chance = _telling(n, 2 * pair.alpha, tail)
    others, visible = n - most, pair.high + pair.low
    two = pair.high > 0 and pair.low > 0
    room = _CASES // least.size if least is most else 16
    nodes = max(5 if least is most else 4, min(64, math.isqrt(room) if two else room // 2))
    seen, weight = _spread(others, min(1.0, visible / (1 - 2 * pair.alpha)), nodes, tail)
    favoured, share = _spread(seen, pair.high / visible if visible else 0.0, nodes, tail)
    burden = seen[:, :, None] + pair.gain * favoured - (pair.ratio + 1) / 2 * (most - least)[:, None, None]
    weights = chance[:, None, None] * weight[:, :, None] * share
    telling = np.broadcast_to(most[:, None, None], weights.shape)
    extra = pair.missing + 3 * tail * pair.alpha * pair.gain
    return _Cases(telling.ravel(), burden.ravel(), weights.ravel(), extra, n, pair.local)


def _telling(n: int, share: float, tail: float) -> tuple[Floats, Floats, Floats]:
    """Numbers of telling reports, in bins from the least to the most, and their probabilities.

    More of them spread the outcome more, and make it less telling on average: a bin that takes its most for the one
    and its least for the other is on the safe side.
    """
    from scipy.special import betainc

    reach = float(_reach(n, share, tail))
    first, last = max(1, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach) + 1)
    if last - first < 2 * _BINS:
        counts = np.arange(first, last + 1, dtype=np.float64)
        return counts, counts, _chance(counts, np.float64(n), share)
    middle, half = (first + last) / 2, (last - first + 1) / 2
    edges = np.unique(np.concatenate([[first - 1], np.round(middle + half * _denser(_BINS - 1)), [last]]))
    edges = edges[(edges >= first - 1) & (edges <= last)]
    left = np.maximum(n - edges, 1e-300)
    below = np.where(edges < n, betainc(left, edges + 1, 1 - share), 1.0)
    above = np.where(edges < n, betainc(edges + 1, left, share), 0.0)
    chance = np.where(edges[:-1] > n * share, above[:-1] - above[1:], below[1:] - below[:-1])
    return edges[:-1] + 1, edges[1:], chance


def _spread(trials: Floats, share: float, nodes: int, tail: float) -> tuple[Floats, Floats]:
    """A few values of a binomial number, and weights, for every number of trials: along a new last axis.

    What follows is convex in this number, so chords between the values are upper bounds: mass between two of them is
    divided between both such that its mean stays.
    """
    size = trials[..., None]
    if share in (0.0, 1.0):
        return size * share, np.ones(size.shape)
    if trials.max() < nodes:
        values = np.minimum(np.arange(trials.max() + 1), size)
    else:
        reach = _reach(size, share, tail)
        values = np.clip(np.round(size * share + reach * _denser(nodes)), 0.0, size)
    short = _shortfall(np.broadcast_to(size, values.shape), share, values)
    before = np.diff(short, axis=-1) / np.maximum(np.diff(values, axis=-1), 1.0)
    return values, np.diff(before, axis=-1, prepend=0.0, append=1.0)


def _denser(count: int) -> Floats:
    """Points from -1 to 1, denser in the middle."""
    return np.asarray(np.sinh(3.2 * np.linspace(-1, 1, count)) / math.sinh(3.2))


def _reach(trials: npt.ArrayLike, share: float, tail: float) -> Floats:
    """How far from its mean a binomial number strays with probability at most `tail` (Hoeffding, Bernstein)."""
    nats, size = math.log(2 / tail), np.asarray(trials, np.float64)
    bernstein = nats / 3 + np.sqrt(nats * nats / 9 + 2 * nats * size * share * (1 - share))
    return np.minimum(bernstein, np.sqrt(size * nats / 2))


def _shortfall(trials: Floats, share: float, level: Floats) -> Floats:
    """E[(level - X)+] of a binomial X, from de Moivre's identity for the mean of a tail: few digits cancel."""
    from scipy.special import betainc

    last = np.clip(np.ceil(level) - 1, 0.0, trials)
    tail = np.where(last < trials, betainc(np.maximum(trials - last, 1.0), last + 1, 1 - share), 1.0)
    many = (level - trials * share) * tail + (trials - last) * share * _chance(last, trials, share)
    none = level * np.exp(trials * math.log1p(-share))
    return np.asarray(np.maximum(np.where(level <= 1, none, many), 0.0))


def _chance(count: Floats, trials: npt.ArrayLike, share: float) -> Floats:
    """Probability of a binomial number, by what Stirling's formula leaves out: factorials would cost the digits."""
    size = np.asarray(trials, np.float64)
    inner = np.clip(count, 1.0, np.maximum(size - 1, 1.0))
    other = np.maximum(size - inner, 1.0)
    whole = np.maximum(size, 2.0)
    gap = inner - whole * share
    away = inner * np.log1p(gap / (whole * share)) + other * np.log1p(-gap / (whole * (1 - share)))
    logs = _stirling_rest(whole) - _stirling_rest(inner) - _stirling_rest(other) - away
    middle = np.exp(logs) * np.sqrt(whole / (2 * math.pi * inner * other))
    none, all_of_them = np.exp(size * math.log1p(-share)), np.exp(size * math.log(share))
    return np.asarray(np.where(count <= 0, none, np.where(count >= size, all_of_them, middle)))


def _stirling_rest(n: Floats) -> Floats:
    """log n! less Stirling's formula, for whole n of at least 1."""
    square = 1.0 / (n * n)
    far = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / n
    return np.where(n < _TABLED, _RESTS[np.minimum(n, _TABLED - 1).astype(np.intp)], far)


def _gaussian_epsilon(spread: float, delta: float) -> float:
    """Roughly the epsilon of a Gaussian mechanism with this ratio of sensitivity to noise: where to start."""

    def excess(epsilon: float) -> float:
        first, second = (math.erfc((epsilon / spread + s * spread / 2) / math.sqrt(2)) / 2 for s in (-1, 1))
        return first - math.exp(min(epsilon, 600.0)) * second

    low, high = 0.01 * spread, 40 * spread + spread * spread
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high


def _smallest(cases: _Cases, delta: float, most: float, guess: float) -> float:
    """The smallest epsilon whose delta is small enough, to seven digits, from above; `most` is known to be enough."""

    @cache
    def gap(epsilon: float) -> float:
        return math.log(cases.delta(epsilon) / delta)

    low, high = guess / 1.05, min(1.05 * guess, most)
    while high < most and gap(high) > 0:
        low, high = high, min(1.2 * high, most)
    while low > 0 and gap(low) <= 0:
        low, high = (low / 1.3, low) if low > 0.1 * guess else (0.0, low)
    if gap(low) <= 0:
        return 0.0
    found = crossing(gap, low, high, width=1e-8 * low)
    while found < most and gap(found) > 0:
        found *= 1 + 1e-7
    return min(found, most)


def _number(name: str, value: object, low: float, high: float, remedy: str) -> float:
    """A number within bounds, both included; infinity is none."""
    try:
        real = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        real = math.inf
    if not low <= real <= high or math.isinf(real):
        rule = f"must be a number from {low:g}" + ("" if math.isinf(high) else f" to {high:g}")
        raise ParameterError(message(name, rule, value, remedy))
    return real


def checked_delta(delta: object) -> float:
    """A delta, from 0 to 1."""
    return _number("delta", delta, 0.0, 1.0, "choose it far below 1/n, e.g. 1e-6")


def checked_people(n: object) -> int:
    """A number of reports."""
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or not 1 <= int(n) <= MOST_PEOPLE:
        raise ParameterError(message("n", f"must be an integer in 1..{MOST_PEOPLE}", n, "count the reports"))
    return int(n)
