"""Variance of estimated frequencies, for a fixed population of n people.

Equation numbers are those of "Revisiting locally differentially private protocols" (arXiv 2503.01482).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.analysis import portable
from hush.types import Floats


def pure(p: npt.ArrayLike, q: npt.ArrayLike, n: float, frequency: npt.ArrayLike) -> Floats:
    """Equation 3: of a pure oracle, at the value's frequency; frequency 0 gives equation 4."""
    own, other = np.asarray(p, np.float64), np.asarray(q, np.float64)
    gap = own - other
    return np.asarray(other * (1 - other) / (n * gap**2) + np.asarray(frequency) * (1 - own - other) / (n * gap))


def subset_selection(k: int, epsilon: float, omega: npt.ArrayLike) -> Floats:
    """Equation 8 as it should read, for one report at frequency 0.

    >>> round(float(subset_selection(100, 4.0, 2)), 6)
    0.055882
    """
    members, e = np.asarray(omega, np.float64), portable.exp(epsilon)
    top = (members * e - e + k - members) * (members * e + k - members - 1)
    return np.asarray(top / (members * (e - 1) ** 2 * (k - members)))


def subset_selection_paper(k: int, epsilon: float, omega: int) -> float:
    """Equation 8 as printed, which can come out negative; for comparison only.

    >>> round(subset_selection_paper(100, 4.0, 7), 4)
    -0.0066
    """
    e = math.exp(epsilon)
    square = omega * (-k + omega + (k - 1) * e - (omega - 1) * e) ** 2
    first = (k - 1) * (k + 2 * omega * e - omega)
    second = (k - omega + (omega - 1) * e) * (-omega * (k - omega) - omega * (omega - 1) * e)
    return (first + second) / square


def hadamard_response(k: int, epsilon: float, blocks: int) -> float:
    """Of Hadamard response, for one report and a value that nobody holds, the others being equally frequent."""
    return _hadamard(k, epsilon, blocks, (-(-k // blocks) - 1) / (k - 1))


def hadamard_response_mean(k: int, epsilon: float, blocks: int) -> float:
    """Of Hadamard response, for one report: the mean over all values, where they are equally frequent."""
    fewer, larger = divmod(k, blocks)
    near = (larger * (fewer + 1) ** 2 + (blocks - larger) * fewer**2) / k**2
    return _hadamard(k, epsilon, blocks, near) - 1 / k


def _hadamard(k: int, epsilon: float, blocks: int, near: float) -> float:
    """The second moment, where a share `near` of the people hold values of the same block."""
    width = 2 ** (-(-k // blocks)).bit_length()
    half = width / 2
    e = portable.exp(epsilon)
    total = half * e + blocks * width - half
    gap = half * portable.expm1(epsilon) / total
    return half / total * (near * (e + 1) + (1 - near) * 2) / gap**2


def threshold_histogram(epsilon: float, theta: npt.ArrayLike) -> Floats:
    """Equation 20, of thresholded histogram encoding, for one report at frequency 0."""
    level = np.asarray(theta, np.float64)
    half = np.exp(epsilon * level / 2)
    return np.asarray((2 * half - 1) / (1 + np.exp(epsilon * (level - 0.5)) - 2 * half) ** 2)
