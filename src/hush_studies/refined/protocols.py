"""The twelve protocols of the study, and its grids of budgets and domain sizes (section VI-A).

Attack success and variance are the corrected closed forms of one report at frequency 0, which is the error that the
paper designs for (`design="paper"`). The adaptive protocols choose their parameter from the paper's grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy.typing as npt

from hush.analysis import optimal, success, tradeoff
from hush.mechanisms.adaptive import STRATEGIES
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.types import Floats

PROTOCOLS = ("GRR", "SUE", "BLH", "SHE", "SS", "OUE", "OLH", "THE", "ASS", "AUE", "ALH", "ATHE")
ADAPTIVE = {"SS": "ASS", "OUE": "AUE", "OLH": "ALH", "THE": "ATHE"}
"""Each protocol that was refined, and its adaptive version."""

HIGH = tuple(i / 10 for i in range(5, 21))
LOW = tuple(i / 2 for i in range(4, 21))
"""Budgets of the high and of the medium to low privacy regime."""

REGIMES = {"high": HIGH, "medium to low": LOW}
DOMAINS = {"small": (25, 50, 75, 100), "medium": (250, 500, 750, 1000), "large": (2500, 5000, 7500, 10000)}
_QUICK_REGIMES = {"high": (0.5, 1.0, 2.0), "medium to low": (2.0, 4.0, 6.0, 8.0, 10.0)}
_QUICK_DOMAINS = {"small": (25, 100), "medium": (250,), "large": (1000,)}

K, EPSILON = 100, 4.0
"""The setting of figures 6 and 7."""


def budgets(regime: str, quick: bool) -> tuple[float, ...]:
    """The budgets of a regime, or of "all"."""
    chosen = _QUICK_REGIMES if quick else REGIMES
    return tuple(sorted({*chosen["high"], *chosen["medium to low"]})) if regime == "all" else chosen[regime]


def sizes(domain: str, quick: bool) -> tuple[int, ...]:
    """The domain sizes of a range, or of "all"."""
    chosen = _QUICK_DOMAINS if quick else DOMAINS
    return tuple(k for each in chosen.values() for k in each) if domain == "all" else chosen[domain]


@dataclass(frozen=True)
class ProtocolFamily:
    """Protocols that differ in one parameter only."""

    parameter: str
    curve: Callable[[int, float, npt.ArrayLike], Floats]
    whole: bool

    def grid(self, k: int, epsilon: float) -> Floats:
        """The parameters that the paper searches."""
        return tradeoff.paper_grid(self.parameter, k, epsilon)


_SUBSET = ProtocolFamily("omega", partial(tradeoff.subset, design="paper"), whole=True)
_UNARY = ProtocolFamily("p", partial(tradeoff.unary, design="paper"), whole=False)
_HASHING = ProtocolFamily("g", partial(tradeoff.hashing, design="paper"), whole=True)
_THRESHOLD = ProtocolFamily("theta", partial(tradeoff.threshold, design="paper"), whole=False)
FAMILIES = {
    "GRR": _SUBSET, "SS": _SUBSET, "ASS": _SUBSET,
    "SUE": _UNARY, "OUE": _UNARY, "AUE": _UNARY,
    "BLH": _HASHING, "OLH": _HASHING, "ALH": _HASHING,
    "THE": _THRESHOLD, "ATHE": _THRESHOLD,
}  # fmt: skip
"""All but SHE, which has no parameter. Randomized response is a subset of one value."""

_FIXED: dict[str, Callable[[int, float], float]] = {
    "GRR": lambda k, epsilon: 1,
    "SS": optimal.subset_size,
    "SUE": lambda k, epsilon: 1 / (1 + math.exp(-epsilon / 2)),
    "OUE": lambda k, epsilon: 0.5,
    "BLH": lambda k, epsilon: 2,
    "OLH": lambda k, epsilon: optimal.hash_range(epsilon),
    "THE": lambda k, epsilon: optimal.threshold(epsilon),
}


@dataclass(frozen=True)
class Point:
    """Where a protocol lies: its parameter, the attack's success, and the variance of one report."""

    parameter: float | None
    asr: float
    mse: float


@cache
def point(name: str, k: int, epsilon: float) -> Point:
    """A protocol at a domain size and a budget.

    >>> point("ASS", 100, 4.0).parameter, point("SS", 100, 4.0).parameter
    (7, 2)
    """
    if name == "SHE":
        return Point(None, success.summed_histogram(k, epsilon), 8 / epsilon**2)
    if name in ADAPTIVE.values():
        return chosen(name, k, epsilon)
    found = _at(FAMILIES[name], k, epsilon, _FIXED[name](k, epsilon))
    return replace(found, parameter=None) if name == "GRR" else found


def chosen(name: str, k: int, epsilon: float, strategy: str = "weighted", w_asr: float = 0.5) -> Point:
    """What an adaptive protocol chooses from the paper's grid, by a strategy and a weight of attack success."""
    family = FAMILIES[name]
    grid = family.grid(k, epsilon)
    at = STRATEGIES[strategy](family.curve(k, epsilon, grid), w_asr)
    return _at(family, k, epsilon, float(grid[at]))


def _at(family: ProtocolFamily, k: int, epsilon: float, parameter: float) -> Point:
    asr, mse = family.curve(k, epsilon, parameter)
    return Point(int(parameter) if family.whole else float(parameter), float(asr), float(mse))


def mechanism(name: str, k: int, epsilon: float) -> FrequencyOracle:
    """The protocol as it runs, its parameter chosen from the paper's grid where it is adaptive."""
    how = {"search": "grid", "design": "paper"} if name in ADAPTIVE.values() else {}
    return registry()[name](k=k, epsilon=epsilon, **how)
