"""Attack success and error of one report along the parameter of a family, and the paper's grids.

Equations 24 to 27 of "Revisiting locally differentially private protocols" (arXiv 2503.01482), with the variance of
subset selection and the attack success of local hashing corrected. Every curve is a function of an array of
parameters and returns rows of (attack success, error).

The error is the mean squared error over all k values. Sum equation 3 over the values: their frequencies add up to 1, so
the mean is q(1-q)/(p-q)² + (1-p-q)/(k(p-q)) in every population. The paper leaves out the second term (equation 4, the
variance of a value without holders); `design="paper"` does the same.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import portable, success, variance
from hush.errors import ParameterError, message
from hush.types import Floats

DESIGNS = ("exact", "paper")
"""Errors to design for: the mean squared error over all values, and equation 4."""


def subset(k: int, epsilon: float, omega: npt.ArrayLike, *, design: str = "exact") -> Floats:
    """Subset selection with omega members (equation 24).

    >>> [round(float(subset(100, 4.0, w)[1]), 4) for w in (1, 2)]
    [0.0714, 0.0648]
    >>> [round(float(subset(100, 4.0, w, design="paper")[1]), 4) for w in (1, 2)]
    [0.0531, 0.0559]
    """
    members = np.asarray(omega, np.float64)
    e = portable.exp(epsilon)
    spread = variance.subset_selection(k, epsilon, members)
    if _is_exact(design):
        missed = (k - members) * (k - 1) - members * ((members - 1) * e + k - members)
        spread = spread + missed / (k * members * (k - members) * (e - 1))
    return np.stack([e / (members * e + k - members), spread], axis=-1)


def unary(k: int, epsilon: float, p: npt.ArrayLike, *, design: str = "exact") -> Floats:
    """Unary encoding whose own bit is one with probability p (equation 25)."""
    own = np.asarray(p, np.float64)
    other = own / (portable.exp(epsilon) * (1 - own) + own)
    frequency = 1 / k if _is_exact(design) else 0.0
    return np.stack([success.independent_bits(k, own, other), variance.pure(own, other, 1, frequency)], axis=-1)


def hashing(k: int, epsilon: float, g: npt.ArrayLike, *, design: str = "exact") -> Floats:
    """Local hashing to g buckets, under an ideal hash (equation 26 with the exact attack success)."""
    buckets = np.asarray(g, np.float64)
    e = portable.exp(epsilon)
    spread = (e - 1 + buckets) ** 2 / ((e - 1) ** 2 * (buckets - 1))
    if _is_exact(design):
        spread = spread + ((buckets - 1) ** 2 - e) / (k * (e - 1) * (buckets - 1))
    return np.stack([success.independent_bits(k, e / (e + buckets - 1), 1 / buckets), spread], axis=-1)


def threshold(k: int, epsilon: float, theta: npt.ArrayLike, *, design: str = "exact") -> Floats:
    """Histogram encoding, thresholded on the client (equation 27)."""
    level = np.asarray(theta, np.float64)
    own, other = 1 - np.exp(epsilon / 2 * (level - 1)) / 2, np.exp(-epsilon / 2 * level) / 2
    spread = variance.threshold_histogram(epsilon, level)
    if _is_exact(design):
        spread = spread + (1 - own - other) / (k * (own - other))
    return np.stack([success.independent_bits(k, own, other), spread], axis=-1)


def _is_exact(design: str) -> bool:
    """Whether a curve has the mean squared error over all values."""
    return rules.named("design", design, DESIGNS, "use 'exact'") == "exact"


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
