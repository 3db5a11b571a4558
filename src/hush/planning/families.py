"""Mechanisms with a free parameter, all at once: what every parameter and budget of a grid gives, in closed form.

For the planner to look at thousands of choices in milliseconds. What it chooses is then built and measured exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import success, variance
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._lengths import subset_bits
from hush.mechanisms.hashing import LH, most_buckets
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.mechanisms.wheel import Wheel

Floats = npt.NDArray[np.float64]

_POINTS = 120


@dataclass(frozen=True)
class Family:
    """A class with one free parameter.

    Args:
        mechanism: The class.
        parameter: Its free parameter.
        grid: The parameters to look at, from k and the largest budget.
        support: Probabilities p*, q* at (k, e^epsilon, parameter).
        bits: Information bits of a report, about.
    """

    mechanism: type[FrequencyOracle]
    parameter: str
    grid: Callable[[int, float], Floats]
    support: Callable[[int, Floats, Floats], tuple[Floats, Floats]]
    bits: Callable[[int, Floats], Floats]

    @property
    def whole(self) -> bool:
        """Whether the parameter is an integer."""
        return self.parameter in {"omega", "g"}

    def make(self, k: int, epsilon: float, parameter: float) -> FrequencyOracle:
        """One of them."""
        chosen: dict[str, Any] = {self.parameter: int(parameter) if self.whole else float(parameter)}
        return self.mechanism(k=k, epsilon=float(epsilon), **chosen)

    def measured(
        self, k: int, epsilon: Floats, parameter: Floats, n: int, *, worst: bool, targets: int
    ) -> dict[str, Floats]:
        """Squared error, attack success and manipulation gain per fake, over a grid (broadcast)."""
        p, q = self.support(k, np.exp(epsilon), parameter)
        subsets = self.mechanism is SS
        ends = [variance.pure(p, q, n, f) for f in ((0.0, 1.0) if worst else (1 / k,))]
        reach = np.minimum(targets, parameter) if subsets else np.full_like(p, targets)
        return {
            "mse": np.maximum.reduce(ends),
            "asr": p / parameter if subsets else success.independent_bits(k, p, q),
            "gain": (reach - targets * q) / (p - q),
        }


def _integers(least: int, most: int) -> Floats:
    return np.unique(np.round(np.geomspace(least, max(most, least), _POINTS)))


def _subset(k: int, e: Floats, omega: Floats) -> tuple[Floats, Floats]:
    p = omega * e / (omega * e + k - omega)
    return p, (omega - p) / (k - 1)


def _unary(k: int, e: Floats, p: Floats) -> tuple[Floats, Floats]:
    own = np.broadcast_to(p, np.broadcast_shapes(p.shape, e.shape))
    return own, own / (e * (1 - own) + own)


def _hashing(k: int, e: Floats, g: Floats) -> tuple[Floats, Floats]:
    p = e / (e + g - 1)
    return p, np.broadcast_to(1 / g, p.shape)


def _wheel(k: int, e: Floats, coverage: Floats) -> tuple[Floats, Floats]:
    p = coverage * e / (coverage * e + 1 - coverage)
    return p, np.broadcast_to(coverage, p.shape)


def _subset_bits(k: int, omega: Floats) -> Floats:
    return np.array([float(subset_bits(k, int(size))) for size in omega.ravel()]).reshape(omega.shape)


FAMILIES = (
    Family(SS, "omega", lambda k, top: _integers(1, k - 1), _subset, _subset_bits),
    Family(
        UE,
        "p",
        lambda k, top: np.round(np.linspace(0.3, 0.995, _POINTS), 4),
        _unary,
        lambda k, p: np.full(p.shape, float(k)),
    ),
    Family(
        LH,
        "g",
        lambda k, top: _integers(2, min(max(k, math.ceil(math.exp(min(top, 20.0))) + 1), most_buckets(k))),
        _hashing,
        lambda k, g: 64 + np.ceil(np.log2(g)),
    ),
    Family(
        Wheel,
        "coverage",
        lambda k, top: np.geomspace(max(1 / most_buckets(k), 0.1 / (math.exp(top) + 1)), 0.5, _POINTS),
        _wheel,
        lambda k, coverage: np.full(coverage.shape, 96.0),
    ),
)
"""What the planner tunes."""


def reachable(k: int, n: int, top: float, *, worst: bool, most_bits: float = math.inf) -> Floats:
    """Rows of (squared error, attack success) of every family over a grid of parameters and budgets up to the top.

    One block of Hadamard response has the law of two buckets of local hashing, in far fewer bits.
    """
    epsilon = np.geomspace(min(0.01, top / 10), top, 80)[:, None]
    rows = [np.empty((0, 2))]
    for family in FAMILIES:
        parameters = family.grid(k, top)
        short = family.bits(k, parameters) <= most_bits
        if family.mechanism is LH:
            short |= (parameters == 2) & ((k + 1).bit_length() <= most_bits)
        got = family.measured(k, epsilon, parameters[None, short], n, worst=worst, targets=1)
        rows.append(np.stack([got["mse"].ravel(), got["asr"].ravel()], axis=1))
    return np.concatenate(rows)
