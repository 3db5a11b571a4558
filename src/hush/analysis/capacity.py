"""The estimated total of amounts (ETC): its variance, bounds, and the exact probability that it stays below a cap.

X_v people hold the value v, whose amount is a_v; the true total is the sum of a_v X_v. A server estimates the X_v and
adds up. Up to a shift and a scale the estimate is S, the sum of a_v times the number of reports that support v. S is a
sum over independent people, so its characteristic function is a product, and the probability that S stays below a
point follows from a few dozen of its values, to about twelve digits: nothing is simulated or approximated.

Variances are those of S; divide by (p - q)² for the total itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Complexes = npt.NDArray[np.complex128]
Log = Callable[[npt.NDArray[Any]], Complexes]
"""The logarithm of a characteristic function, of a centred sum, at real or complex points."""

_CELLS = 1 << 20  # numbers held at a time
_NATS = 44.0  # e^-44 is 1e-19
_BLOCK = 8  # points looked at together
_WHOLE = 1 << 9  # windows up to so many lattice points are summed whole
_PROBED = 1 << 15  # in windows up to so many, every eighth point is looked at for a revival
_MOST = 1 << 13  # points looked at where the characteristic function does not fall off
_NEGLIGIBLE = 1e-17
_LEAST = -1e4  # the logarithm of zero, near enough
_NODES = 49  # of a Chebyshev grid

# Variances.


def independent_bits(amounts: Floats, counts: Ints, p: float, q: float) -> float:
    """Of S, where a report supports its own value with p and each other, independently, with q: UE and ideal hashing.

    >>> independent_bits(np.array([0.0, 1.0]), np.array([2, 1]), 0.75, 0.25)
    0.5625
    """
    own, others = counts * p * (1 - p), (counts.sum() - counts) * q * (1 - q)
    return float(amounts**2 @ (own + others))


def direct(amounts: Floats, counts: Ints, p: float, q: float) -> float:
    """Of S for randomized response: the true value with probability p, each other with q.

    >>> direct(np.array([0.0, 1.0]), np.array([2, 1]), 0.75, 0.25)
    0.5625
    """
    a = amounts - amounts.mean()  # every report supports one value, so a shift changes nothing
    each = (p - q) * a**2 + q * (a @ a) - ((p - q) * a + q * a.sum()) ** 2
    return float(counts @ each)


def subsets(amounts: Floats, counts: Ints, omega: int, p: float) -> float:
    """Of S for subsets of omega values that hold the true one with probability p."""
    k = amounts.size
    q = (omega - p) / (k - 1)
    a = amounts - amounts.mean()  # every report supports omega values
    own_other = p * (omega - 1) / (k - 1) - p * q
    members = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
    two_others = members / ((k - 1) * (k - 2)) - q * q if k > 2 else 0.0
    rest, squares = a.sum() - a, a @ a - a**2
    each = a**2 * p * (1 - p) + squares * q * (1 - q) + 2 * a * rest * own_other + (rest**2 - squares) * two_others
    return float(counts @ each)


def channel(says: Floats, law: Floats, counts: Ints) -> float:
    """Of a sum of what outputs say, where law[y, x] is the probability of output y for the value x."""
    centred = says[:, None] - says @ law
    return float((law * centred**2).sum(axis=0) @ counts)


# Bounds, and the normal value.


def chebyshev(variance: float, margin: float) -> float:
    """The total is off by the margin |total - cap| or more with at most this probability, in either direction.

    >>> round(chebyshev(6167.32912411, 100.0), 4)
    0.6167
    """
    return variance / margin**2 if margin else math.inf


def cantelli(variance: float, margin: float) -> float:
    """The same in one direction, which is all that a wrong decision needs: always tighter.

    >>> round(cantelli(6167.32912411, 100.0), 4)
    0.3815
    """
    return variance / (variance + margin**2) if variance else 0.0


def normal(variance: float, margin: float) -> float:
    """The same, if the estimate were normally distributed.

    >>> round(normal(1481.76709459, 100.0), 6)
    0.004691
    """
    return 0.5 * math.erfc(margin / math.sqrt(2 * variance)) if variance else 0.0


def binary_epsilon(n: int, margin: float, probability: float) -> float:
    """The budget at which randomized response over {0, 1} decides wrongly with this probability, near enough.

    With z the normal quantile it is 2·asinh(z sqrt(n) / (2·margin)).

    >>> round(binary_epsilon(1000, 100.0, 0.01), 4)
    0.72
    """
    from scipy.special import ndtri

    return 2 * math.asinh(-float(ndtri(probability)) * math.sqrt(n) / (2 * abs(margin)))


# Characteristic functions.


def independent_bits_log(amounts: Floats, counts: Ints, p: float, q: float) -> Log:
    """Of S - E S, for independent bits."""
    others = counts.sum() - counts
    mean = float(amounts @ (counts * p + others * q))

    def log(theta: npt.NDArray[Any]) -> Complexes:
        turn = _turned(theta[:, None] * amounts)
        return _added(_log1p(p * turn), counts) + _added(_log1p(q * turn), others) - 1j * theta * mean

    return _in_blocks(log, amounts.size)


def direct_log(amounts: Floats, counts: Ints, p: float, q: float) -> Log:
    """Of S - E S, for randomized response."""
    means = (p - q) * amounts + q * amounts.sum()

    def log(theta: npt.NDArray[Any]) -> Complexes:
        turn = _turned(theta[:, None] * amounts)
        each = _log1p((p - q) * turn + q * turn.sum(axis=1, keepdims=True))
        return _added(each - 1j * theta[:, None] * means, counts)

    return _in_blocks(log, amounts.size)


def subsets_log(amounts: Floats, counts: Ints, omega: int, p: float) -> Log:
    """Of S - E S, for subsets.

    A uniform subset of a given size is a row of independent bits, given their sum. That sum is picked out by a second
    transform, over psi; the bits of all values but one are products from the left and from the right.
    """
    k, share = amounts.size, omega / amounts.size
    a = amounts - amounts.mean()
    q = (omega - p) / (k - 1)
    means = p * a + q * (a.sum() - a)
    points = min(k, math.ceil(20 * math.sqrt(k * share * (1 - share))) + 20)
    psi = 2 * np.pi * np.arange(points) / points
    turns, picks = share * np.exp(1j * psi), [np.exp(-1j * psi * size) / points for size in (omega - 1, omega)]

    def others(z: Complexes) -> list[Complexes]:
        """For each value, the weight of the subsets of the others, with omega - 1 members and with omega."""
        factors = (1 - share) + turns[:, None] * z[:, None, :]
        left, right = np.ones_like(factors), np.ones_like(factors)
        np.cumprod(factors[:, :, :-1], axis=2, out=left[:, :, 1:])
        right[:, :, :-1] = np.cumprod(factors[:, :, :0:-1], axis=2)[:, :, ::-1]
        left *= right
        return [np.einsum("j,tjv->tv", pick, left) for pick in picks]

    empty: list[list[Complexes]] = []

    def log(theta: npt.NDArray[Any]) -> Complexes:
        z = np.exp(1j * theta[:, None] * a)
        if not empty:
            empty.append(others(np.ones((1, k), np.complex128)))
        (within, without), (inside, outside) = empty[0], others(z)
        each = p * z * inside / within + (1 - p) * outside / without
        return _added(np.log(each) - 1j * theta[:, None] * means, counts)

    return _in_blocks(log, k * points)


def channel_log(says: Floats, law: Floats, counts: Ints) -> Log:
    """Of a sum of what outputs say, less its mean, where law[y, x] is the probability of output y for the value x."""
    held = counts > 0
    some, people = law[:, held], counts[held]
    means = says @ some

    def log(theta: npt.NDArray[Any]) -> Complexes:
        turn = _turned(theta[:, None] * says)
        each = _log1p(turn.real @ some + 1j * (turn.imag @ some))
        return _added(each - 1j * theta[:, None] * means, people)

    return _in_blocks(log, says.size)


def coordinates_log(amounts: Floats, counts: Ints, steps: Floats, law: Floats, *, reach: float) -> Log:
    """Of the sum of a_v times steps, less its mean, where each value has a coordinate that is a random step.

    The law of a step is mirrored in the coordinate of a person's own value. Its own characteristic function is
    smooth, so it is looked up on a Chebyshev grid, along both axes up to `reach`.
    """
    table = _table(steps, law, max(float(np.abs(amounts).max()), 1e-300) * reach)
    others = counts.sum() - counts

    def log(theta: npt.NDArray[Any]) -> Complexes:
        at = theta[:, None] * amounts
        return _added(table(at), others) + _added(table(-at), counts)

    return _in_blocks(log, amounts.size)


def _table(steps: Floats, law: Floats, widest: float) -> Log:
    """The logarithm of a step's own characteristic function: looked up within reach, else summed."""
    from numpy.polynomial import chebyshev as polynomials

    centred = steps - float(law @ steps)

    def exact(at: npt.NDArray[Any]) -> Complexes:
        along = -at.imag if np.iscomplexobj(at) else 1j * at  # on the imaginary axis all is real
        with np.errstate(over="ignore", invalid="ignore"):
            sums = [(law * np.exp(t * centred)).sum() for t in along.ravel()]
            return np.log(np.array(sums, np.complex128)).reshape(at.shape)

    nodes = polynomials.chebpts1(_NODES)
    waves = polynomials.chebvander(nodes, _NODES - 1) * (2 / _NODES)
    waves[:, 0] /= 2
    half = exact(widest * nodes[_NODES // 2 :])  # from zero on; below, the conjugates
    whole = np.concatenate([half[:0:-1].conj(), half])
    axes = {1: np.einsum("jc,j->c", waves, whole), 1j: np.einsum("jc,j->c", waves, exact(1j * widest * nodes))}

    def log(at: npt.NDArray[Any]) -> Complexes:
        turn = 1j if np.iscomplexobj(at) else 1
        along = np.real(at / turn) / widest
        if np.abs(along).max() > 1:
            return exact(at)
        return np.asarray(polynomials.chebval(along, axes[turn]), np.complex128)

    return log


def _turned(x: npt.NDArray[Any]) -> Complexes:
    """exp(ix) - 1, to full relative precision."""
    if np.iscomplexobj(x):
        return np.asarray(np.expm1(1j * x))
    half = np.sin(x / 2)
    out = np.empty(x.shape, np.complex128)
    out.real, out.imag = -2 * half**2, np.sin(x)
    return out


def _log1p(w: Complexes) -> Complexes:
    """log(1 + w); unlike numpy's own, precise where w is small, since thousands of people add up."""
    out = np.empty(w.shape, np.complex128)
    with np.errstate(divide="ignore"):
        size = 0.5 * np.log1p(np.maximum(w.real * (2 + w.real) + w.imag**2, -1.0))
    out.real = np.maximum(size, _LEAST)  # finite, so that nobody times nothing is nothing
    out.imag = np.arctan2(w.imag, 1 + w.real)
    return out


def _added(each: Complexes, people: Ints) -> Complexes:
    """Over people; without threads, which would cost more than the sums."""
    return np.asarray(np.einsum("tv,v->t", each, people.astype(np.complex128)), np.complex128)


def _in_blocks(log: Log, cells: int) -> Log:
    """Look at few points at a time, where there are many values."""
    rows = max(1, _CELLS // max(1, cells))
    return lambda theta: np.concatenate([log(theta[i : i + rows]) for i in range(0, theta.size, rows)])


# Probabilities.


def edgeworth(log: Log, deviation: float, point: float) -> float | None:
    """The same as `at_most` from one value of the characteristic function: the normal value, corrected.

    The value at half a turn over the deviation shows the third and fourth cumulants. None where they are too large,
    at this point, for the correction to be good to about one part in ten thousand.
    """
    at = 0.5
    value = complex(log(np.array([at / deviation]))[0])
    third, fourth = -6 * value.imag / at**3, 24 * (value.real + at**2 / 2) / at**4
    x = point / deviation
    if abs(third) * max(1.0, abs(x) ** 3) > 0.1 or abs(fourth) * max(1.0, x**4) > 0.1:
        return None
    bend = third / 6 * (x**2 - 1) + fourth / 24 * (x**3 - 3 * x) + third**2 / 72 * (x**5 - 10 * x**3 + 15 * x)
    density = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return min(max(0.5 * math.erfc(-x / math.sqrt(2)) - density * bend, 0.0), 1.0)


def at_most(log: Log, deviation: float, point: float, step: float = 0.0) -> float:
    """The probability that a centred sum does not exceed a point.

    A square wave that is one just below the point and zero just above it is a sum of odd sines, so its mean needs the
    characteristic function at odd multiples of one frequency. The wave is so long that less than 1e-19 lies beyond, by
    Chernoff's bound; the sum ends where the function has fallen off.

    Args:
        log: Logarithm of the characteristic function.
        deviation: Standard deviation of the sum.
        point: Halfway between two lattice points, where there are any.
        step: Distance of lattice points; 0 if there is no lattice, or one far finer than the deviation.

    >>> six = independent_bits_log(np.array([1.0]), np.array([6]), 0.5, 0.0)
    >>> round(at_most(six, math.sqrt(1.5), -0.5, 1.0), 12)  # at most 2 heads of 6, 22 cases of 64
    0.34375
    """
    if deviation == 0:
        return float(point >= 0)
    reach = _reach(log, deviation)
    if abs(point) >= reach:
        return float(point > 0)
    length = 2 * (abs(point) + reach)
    window = 4 * math.ceil(length / (4 * step)) if step else 0
    if window:
        length = window * step
    whole = 0 < window <= _WHOLE or (window <= _PROBED and _revives(log, deviation, step, window))
    last = window // 2 if window else 2 * _MOST
    total = 0.5
    for start in range(1, min(last, 2 * _MOST), 2 * _BLOCK):
        odd = np.arange(start, min(start + 2 * _BLOCK, last), 2)
        theta = 2 * np.pi * odd / length
        values = np.exp(log(theta))
        weights = 2 / (window * np.sin(np.pi * odd / window)) if window else 2 / (np.pi * odd)
        total += float(weights @ (np.exp(1j * theta * point) * values.conj()).imag)
        if not whole and np.abs(values).max() < _NEGLIGIBLE:
            break
    return min(max(total, 0.0), 1.0)


def _revives(log: Log, deviation: float, step: float, window: int) -> bool:
    """Whether the characteristic function of a lattice sum is seen again after it fell off.

    A revival is at least as wide as the first peak, which takes some sixteen points; so every eighth one shows it.
    """
    if not window:
        return False
    odd = np.arange(1, window // 2, 16)
    theta = 2 * np.pi * odd / (window * step)
    after = theta[theta > 9 / deviation]
    return bool(after.size) and float(np.exp(log(after).real.max())) > 1e-13


def _reach(log: Log, deviation: float) -> float:
    """How far from its mean the sum may be, but for a chance of 1e-19: Chernoff's bound in both directions.

    Any tilt gives a bound; the first is the best for a nearly normal sum, the others are for skewed ones.
    """
    best = math.inf
    for tilt in (math.sqrt(2 * _NATS), 4.0, 1.5, 0.5, 0.1):
        with np.errstate(all="ignore"):
            cumulants = log(1j * np.array([tilt, -tilt]) / deviation).real
        if np.isfinite(cumulants).all():
            best = min(best, (float(cumulants.max()) + _NATS) / tilt)
        if best < 2 * math.sqrt(2 * _NATS):
            break
    return best * deviation


def lattice(numbers: Iterable[float]) -> float:
    """The largest step of which all numbers are multiples; 0 if there is none to be seen.

    >>> lattice([0.0, 0.5, 2.0])
    0.5
    """
    exact = [Fraction(repr(float(x))) for x in numbers if x]
    if not exact:
        return 0.0
    below = math.lcm(*(x.denominator for x in exact))
    step = Fraction(math.gcd(*(int(x * below) for x in exact)), below)
    return float(step) if step * 10**9 > max(abs(x) for x in exact) else 0.0
