"""Attack success and variance of one report along the parameter of a family, and the paper's grids.

Equations 24 to 27 of "Revisiting locally differentially private protocols" (arXiv 2503.01482), with the variance of
subset selection and the attack success of local hashing corrected. Every curve is a function of an array of
parameters and returns rows of (attack success, variance at frequency 0).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.analysis import portable, success, variance
from hush.errors import ParameterError, message
from hush.types import Floats


def subset(k: int, epsilon: float, omega: npt.ArrayLike) -> Floats:
    """Subset selection with omega members (equation 24)."""
    members = np.asarray(omega, np.float64)
    e = portable.exp(epsilon)
    return np.stack([e / (members * e + k - members), variance.subset_selection(k, epsilon, members)], axis=-1)


def unary(k: int, epsilon: float, p: npt.ArrayLike) -> Floats:
    """Unary encoding whose own bit is one with probability p (equation 25)."""
    own = np.asarray(p, np.float64)
    other = own / (portable.exp(epsilon) * (1 - own) + own)
    return np.stack([success.independent_bits(k, own, other), variance.pure(own, other, 1, 0.0)], axis=-1)


def hashing(k: int, epsilon: float, g: npt.ArrayLike) -> Floats:
    """Local hashing to g buckets, under an ideal hash (equation 26 with the exact attack success)."""
    buckets = np.asarray(g, np.float64)
    e = portable.exp(epsilon)
    spread = (e - 1 + buckets) ** 2 / ((e - 1) ** 2 * (buckets - 1))
    return np.stack([success.independent_bits(k, e / (e + buckets - 1), 1 / buckets), spread], axis=-1)


def threshold(k: int, epsilon: float, theta: npt.ArrayLike) -> Floats:
    """Histogram encoding, thresholded on the client (equation 27)."""
    level = np.asarray(theta, np.float64)
    own, other = 1 - np.exp(epsilon / 2 * (level - 1)) / 2, np.exp(-epsilon / 2 * level) / 2
    return np.stack([success.independent_bits(k, own, other), variance.threshold_histogram(epsilon, level)], axis=-1)


def paper_grid(name: str, k: int, epsilon: float) -> Floats:
    """The parameters that the paper searches: "omega", "p", "g" or "theta".

    >>> paper_grid("omega", 5, 1.0).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    if name in {"p", "theta"}:
        steps = np.linspace(0.5, 1, 100)
        return steps[:-1] if name == "p" else steps
    if name not in {"omega", "g"}:
        raise ParameterError(message("name", "must be omega, p, g or theta", name, "name a parameter"))
    most = k - 1 if name == "omega" else max(k, math.floor(portable.exp(epsilon) + 1))
    return np.arange(1 if name == "omega" else 2, most + 1, dtype=np.float64)
