"""Mean absolute deviation of a sum of independent lattice variables: exact, for any number of them.

An estimated frequency is such a sum, up to a scale, so E|S - E S| is its mean absolute error.

On a window of N integers, N a multiple of four, distance is a sum of cosines over the odd m below N:

    |x| = N/4 - (1/N) sum cos(2 pi m x / N) / sin²(pi m / N),    |x| <= N/2

so E|S - c| needs the characteristic function of S at those points alone, and no probabilities of S. It falls off so
fast that a few dozen points do for large sums. The window is wide enough for a Chernoff bound to leave less than
1e-17 of a standard deviation outside. Between integers E|S - c| is linear in c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hush.analysis.capacity import on_lattice
from hush.types import Complexes, Floats, Ints

Part = tuple[npt.ArrayLike, int, npt.ArrayLike]
"""Probabilities of the steps lowest, lowest + 1, ...; lowest; how many variables (one number, or one for each sum)."""

_LARGEST_WINDOW = 1 << 20  # in a larger one, points after the characteristic function fell off are not looked at
_LARGEST_TRANSFORM = 1 << 18  # the same where a law has many steps, unless that takes many points
_MOST_TERMS = 1 << 14
_SHORT = 16  # laws of more steps are transformed by FFT
_ROWS = 256  # sums that share a window
_CELLS = 1 << 20
_NATS = 46.0  # e^-46 is 1e-20


def lattice(parts: Sequence[Part]) -> Floats:
    """E|S - E S| for sums of independent lattice variables, relatively exact to about ten digits.

    Where the number of variables is an array, there is one answer for each of its entries. In a window of more than
    2^20 points (2^18 for laws of more than 16 steps) only the first points are summed. A law that revives at later
    ones (steps of two, say) would add less than 2e-9, since the standard deviation is then above 10,000 steps.

    >>> round(float(lattice([([0.5, 0.5], 0, 4)])), 12)
    0.75
    """
    laws = [_Law(np.asarray(probabilities, np.float64)) for probabilities, _, _ in parts]
    many = np.broadcast_arrays(*[np.asarray(count, np.float64) for _, _, count in parts])
    counts = np.stack([count.ravel() for count in many], axis=1)
    spread = counts @ np.array([law.variance for law in laws])
    answers = np.zeros(len(counts))
    order = np.argsort(spread, kind="stable")
    order = order[spread[order] > 0]
    for start in range(0, order.size, _ROWS):
        rows = order[start : start + _ROWS]
        answers[rows] = _deviations(laws, counts[rows], spread[rows])
    return answers.reshape(many[0].shape)


def binomial(n: int, p: float) -> float:
    """E|B - np| of a binomial variable: De Moivre's 2 m (1-p) P(B = m), where m is the integer just above np.

    >>> round(binomial(4, 0.5), 12)
    0.75
    """
    if not 0 < p < 1:
        return 0.0
    p = min(p, 1 - p)
    mean = n * p
    m = min(math.floor(mean) + 1, n)
    if m == n:
        return 2 * n * (1 - p) * math.exp(n * math.log(p))
    rest, gap = n - m, m - mean
    # P(B = m) by what Stirling's formula leaves out, since factorials themselves would cost the digits.
    own = m * math.log(m / mean) - gap if m < _SHORT else -m * math.log1p(-gap / m) - gap
    other = gap - rest * math.log1p(gap / rest)
    log = _stirling_rest(n) - _stirling_rest(m) - _stirling_rest(rest) - own - other
    return 2 * m * (1 - p) * math.sqrt(n / (2 * math.pi * m * rest)) * math.exp(log)


def edgeworth(variance: float, third: float, fourth: float) -> float:
    """E|S - E S| of any sum from its cumulants: the normal value with its first correction.

    With density phi (1 + a He3 + b He4 + a² He6 / 2), a = k3/6s³ and b = k4/24s⁴, integration by parts gives
    E|x| He4 = -2 phi(0), E|x| He6 = 6 phi(0) and nothing for He3, while E|x| = 2 phi(0). So the factor is
    1 - k4/24s⁴ + k3²/24s⁶. What is left out is of order 1/n², or on a lattice of steps h up to h²/12s². The answer
    is kept between what Hölder's and Jensen's inequalities prove.

    >>> round(edgeworth(1.0, 0.0, 0.0), 6)
    0.797885
    """
    if variance <= 0:
        return 0.0
    deviation = math.sqrt(variance)
    excess = fourth / variance**2
    normal = math.sqrt(2 / math.pi) * (1 - excess / 24 + third**2 / (24 * variance**3))
    return deviation * min(max(normal, 1 / math.sqrt(max(3 + excess, 1.0))), 1.0)


def summed(adds: Floats, law: Floats, populations: Ints) -> Floats:
    """Of sums over people who each add one of some numbers: exactly if these lie on a lattice, else nearly.

    Nearly is by Edgeworth's correction.

    Args:
        adds: What can be added, one number for each output.
        law: How likely each output is, as [output, value].
        populations: How many people hold each value, a row for each sum.
    """
    found = on_lattice(adds)
    if found is None:
        means = adds @ law
        second, third, fourth = (((adds[:, None] - means) ** j * law).sum(axis=0) for j in (2, 3, 4))
        cumulants = populations @ np.stack([second, third, fourth - 3 * second**2], axis=1)
        return np.array([edgeworth(*row) for row in cumulants])
    step, places = found
    laws = np.array([np.bincount(places, column) for column in law.T])
    kinds, kind = np.unique(np.round(laws, 15), axis=0, return_inverse=True)
    members = np.eye(len(kinds), dtype=np.int64)[kind.ravel()]
    rows, where = np.unique(populations @ members, axis=0, return_inverse=True)
    parts = [(laws[np.argmax(members[:, j])], 0, rows[:, j]) for j in range(len(kinds))]
    return np.asarray(step * lattice(parts)[where.ravel()], np.float64)


class _Law:
    """The steps of one variable around their mean."""

    def __init__(self, probabilities: Floats) -> None:
        seen = np.nonzero(probabilities)[0]
        first, last = int(seen[0]), int(seen[-1])
        self.probabilities = probabilities[first : last + 1] / probabilities.sum()
        places = np.arange(last + 1 - first, dtype=np.float64)
        nearest = round(float(_dot(places, self.probabilities)))
        # The mean, less an integer near it: all that matters of the mean, with all its digits.
        self.beyond = float(_dot(places - nearest, self.probabilities))
        self.inside = nearest + self.beyond
        self.steps = (places - nearest) - self.beyond
        self.variance = float(_dot(self.steps**2, self.probabilities))

    @property
    def reach(self) -> float:
        """The largest distance from the mean."""
        return float(max(-self.steps[0], self.steps[-1]))

    def cumulants(self, tilts: Floats) -> Floats:
        """log E e^(tilt x), the larger of both signs."""
        grown = [[_dot(np.expm1(tilt * sign * self.steps), self.probabilities) for sign in (1, -1)] for tilt in tilts]
        return np.log1p(np.max(grown, axis=1))

    def log_transform(self, points: Floats) -> Complexes:
        """Logarithm of the characteristic function around the mean, precise where it is near one."""
        real, imaginary = np.zeros(points.size), np.zeros(points.size)
        rows = max(1, _CELLS // self.steps.size)
        for start in range(0, points.size, rows):
            angles = np.multiply.outer(points[start : start + rows], self.steps)
            imaginary[start : start + rows] = _dot(np.sin(angles), self.probabilities)
            real[start : start + rows] = -2 * _dot(np.sin(angles / 2) ** 2, self.probabilities)
        return _log1p(real, imaginary)

    def log_transform_all(self, window: int) -> Complexes:
        """The same at all odd points below half of the window, by FFT."""
        folded = np.bincount(np.arange(self.steps.size) % window, self.probabilities, window)
        odd = np.arange(1, window // 2, 2)
        turned = np.conj(np.fft.rfft(folded)[odd]) * np.exp(-2j * math.pi / window * odd * self.inside)
        return _log1p(turned.real - 1, turned.imag)


def _dot(rows: Floats, weights: Floats) -> Floats:
    """Weighted sums along the last axis, on one thread: for so few numbers, waking others takes longer."""
    return np.asarray(np.einsum("...i,i->...", rows, weights))


def _weighted(counts: Floats, logs: Floats) -> Floats:
    """Sums of the logarithms of each part, as often as it comes, for every row of counts."""
    return np.asarray(np.einsum("ri,ij->rj", counts, logs))


def _log1p(real: Floats, imaginary: Floats) -> Complexes:
    """log(1 + z), precise for small z, and of zero a number so low that its exponential vanishes."""
    square = np.maximum(real * (2 + real) + imaginary**2, -1.0)
    with np.errstate(divide="ignore"):
        size = np.maximum(np.log1p(square) / 2, -1e30)
    return np.asarray(size + 1j * np.arctan2(imaginary, 1 + real))


def _window(laws: list[_Law], counts: Floats, spread: Floats) -> int:
    """So many integers, a multiple of four, that what lies outside does not matter."""
    widest = float((counts @ np.array([law.steps.size - 1 for law in laws])).max())
    reach = max(law.reach for law in laws)
    least = min(4 / math.sqrt(spread[-1]), 1 / reach)
    tilts = np.append(least * 2.0 ** np.arange(math.ceil(-math.log2(least * reach)) + 1), np.array([4, 16, 64]) / reach)
    nats = _NATS + np.log1p(1 / spread)
    bound = counts @ np.array([law.cumulants(tilts) for law in laws]) + nats[:, None]
    widest = min(widest, float((bound / tilts).min(axis=1).max()))
    return 4 * math.ceil((widest + 1) / 2)


def _deviations(laws: list[_Law], counts: Floats, spread: Floats) -> Floats:
    """The answers for sums of similar spread, given in ascending order of it."""
    window = _window(laws, counts, spread)
    long = any(law.steps.size > _SHORT for law in laws)
    power = 1 << (window - 1).bit_length()
    few = window > _LARGEST_WINDOW or (long and power > _LARGEST_TRANSFORM)
    terms = 32
    while few:
        odd = np.arange(1, 2 * terms, 2)
        logs = [law.log_transform(_points(odd, window)) for law in laws]
        last = counts @ np.array([log[-1].real for log in logs])
        if last.max() < -_NATS or terms >= _MOST_TERMS:
            break
        few = power > _LARGEST_WINDOW
        terms *= 2
    if not few:
        window = power if long else window
        odd = np.arange(1, window // 2, 2)
        logs = [
            law.log_transform_all(window) if law.steps.size > _SHORT else law.log_transform(_points(odd, window))
            for law in laws
        ]
    transforms = np.stack(logs)
    block = max(1, _CELLS // len(counts))
    sizes = [_weighted(counts, transforms.real[:, at : at + block]).max(axis=0) for at in range(0, odd.size, block)]
    kept = np.concatenate(sizes) > -_NATS
    return _summed(window, odd[kept], transforms[:, kept], counts, counts @ np.array([law.beyond for law in laws]))


def _points(odd: npt.NDArray[np.int64], window: int) -> Floats:
    """Where the characteristic function is needed."""
    return np.asarray(2 * math.pi / window * odd, np.float64)


def _summed(window: int, odd: npt.NDArray[np.int64], transforms: Complexes, counts: Floats, means: Floats) -> Floats:
    """The sum of cosines, each taken from one, so that small deviations keep their digits."""
    weights = 2 / (window * np.sin(math.pi / window * odd) ** 2)
    above = means - np.floor(means)
    total = np.zeros(len(counts))
    if 4 * odd.size < window:
        total += window / 4 - weights.sum()
    block = max(1, _CELLS // len(counts))
    for start in range(0, odd.size, block):
        part = slice(start, start + block)
        size = np.expm1(_weighted(counts, transforms[:, part].real))
        turn = _weighted(counts, transforms[:, part].imag)
        points = _points(odd[part], window)
        for share, shift in ((1 - above, above), (above, above - 1)):
            angle = turn + np.multiply.outer(shift, points)
            total += share * _dot(2 * np.sin(angle / 2) ** 2 - size * np.cos(angle), weights[part])
    return total


def _stirling_rest(n: int) -> float:
    """log n! less Stirling's formula."""
    if n < _SHORT:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
    square = 1.0 / (n * n)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / n
