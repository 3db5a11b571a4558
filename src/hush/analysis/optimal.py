"""Parameters that minimise the error: subset sizes, hash ranges, thresholds, noise scales.

Those that end up in a spec are computed with `portable` functions, so that every processor finds the same.
"""

from __future__ import annotations

import math

from hush.analysis import portable
from hush.analysis.choice import first
from hush.analysis.roots import crossing
from hush.analysis.variance import hadamard_response_mean
from hush.errors import ParameterError, message


def subset_size(k: int, epsilon: float) -> int:
    """The nearest integer to k / (e^epsilon + 1), at least 1 (Ye and Barg 2018).

    >>> subset_size(100, 4.0)
    2
    """
    return max(1, round(k / (portable.exp(epsilon) + 1)))


def hash_range(epsilon: float) -> int:
    """The nearest integer to e^epsilon + 1, at least 2 (Wang et al. 2017).

    >>> hash_range(4.0)
    56
    """
    return max(2, round(portable.exp(epsilon) + 1))


def approximate_hash_range(epsilon: float, delta: float) -> float:
    """The local minimum of the variance of approximate local hashing, as a real number.

    The variance falls again, towards zero, for very large ranges; the printed formula and this one name the
    local minimum, which tends to e^epsilon + 1 as delta tends to 0. It exists for delta up to (E-1)/(9E-1).

    >>> round(approximate_hash_range(1.0, 1e-5), 10)
    3.7184538514
    """
    e, less = portable.exp(epsilon), portable.expm1(epsilon)
    limit = (e - 1) / (9 * e - 1)
    if delta > limit:
        raise ParameterError(
            message("delta", f"must be at most {limit:.6g} at epsilon={epsilon:g}", delta, "lower delta, or use ABLH")
        )
    b = less * (1 - 3 * delta)
    c = less * (e + 1 - 2 * delta)
    return 2 * c / (b + math.sqrt(max(b * b - 4 * delta * c, 0.0)))


def hadamard_blocks(k: int, epsilon: float) -> int:
    """The number of blocks of Hadamard response, a power of two up to 2k, with the least mean variance.

    Of a value that nobody holds the variance is no guide here: narrow blocks make it small, and those of held ones
    large.

    >>> hadamard_blocks(100, 1.0)
    1
    """
    choices = [2**i for i in range((2 * k).bit_length())]
    return choices[first([hadamard_response_mean(k, epsilon, blocks) for blocks in choices])]


def hadamard_blocks_paper(k: int, epsilon: float) -> int:
    """The number of blocks that Acharya et al. (2019) choose, which is optimal up to a constant.

    >>> hadamard_blocks_paper(100, 1.0)
    2
    """
    return 2 ** max(0, math.ceil(math.log2(min(math.exp(epsilon), 2 * k))) - 1)


def threshold(epsilon: float) -> float:
    """The threshold of histogram encoding in (1/2, 1) that minimises equation 20.

    >>> round(threshold(4.0), 6)
    0.815676
    """

    def slope(theta: float) -> float:
        """Of the logarithm of the variance, divided by epsilon."""
        half, whole = portable.exp(epsilon * theta / 2), portable.exp(epsilon * (theta - 0.5))
        return half / (2 * half - 1) - 2 * (whole - half) / (1 + whole - 2 * half)

    return crossing(slope, 0.5, 1.0, width=1e-15)


def coverage(epsilon: float) -> float:
    """The share of the wheel's ring that an arc covers, 1 / (e^epsilon + 1).

    >>> round(coverage(1.0), 6)
    0.268941
    """
    return 1 / (portable.exp(epsilon) + 1)


def gaussian_scale(epsilon: float, delta: float, sensitivity: float = math.sqrt(2)) -> float:
    """The classical Gaussian mechanism's noise (Dwork and Roth 2014), for epsilon up to 1.

    >>> round(gaussian_scale(1.0, 1e-5), 10)
    6.8515893094
    """
    return sensitivity / epsilon * math.sqrt(2 * math.log(1.25 / delta))


def analytic_gaussian_scale(epsilon: float, delta: float, sensitivity: float = math.sqrt(2)) -> float:
    """The least Gaussian noise that is (epsilon, delta)-private, in the continuum (Balle and Wang 2018).

    >>> round(analytic_gaussian_scale(0.25, 1e-5), 8)
    18.78856997
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    def excess(log_scale: float) -> float:
        """How far the logarithm of the divergence lies above that of delta."""
        scale = math.exp(log_scale)
        half, shift = sensitivity / (2 * scale), epsilon * scale / sensitivity
        first = float(log_ndtr(half - shift))
        second = epsilon + float(log_ndtr(-half - shift))
        return first + math.log(max(-math.expm1(min(second - first, 0.0)), 1e-300)) - math.log(delta)

    return math.exp(brentq(excess, -25.0, 25.0, xtol=1e-14, rtol=1e-15))
