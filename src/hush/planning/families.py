"""Mechanisms with a free parameter, all at once: what every parameter and budget of a grid gives, in closed form.

For the planner to look at thousands of choices in milliseconds. What it chooses is then built and measured exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.analysis import success, variance
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing import LH, most_buckets
from hush.mechanisms.hashing.hashed import RING
from hush.mechanisms.subset import SS
from hush.mechanisms.subset.lengths import subset_bits
from hush.mechanisms.unary import UE
from hush.mechanisms.wheel import Wheel
from hush.types import Floats

_POINTS = 120
_MOST_BUCKETS = 50_000  # some e^11: more serve no budget that is looked at, unless there are as many values


@dataclass(frozen=True)
class Family:
    """A class with one free parameter.

    Args:
        mechanism: The class.
        parameter: Its free parameter.
        grid: The parameters to look at, all of few digits, from k alone: no wish takes one away.
        support: Probabilities p*, q* at (k, e^epsilon, parameter).
        bits: Information bits of a report, about.
    """

    mechanism: type[FrequencyOracle]
    parameter: str
    grid: Callable[[int], Floats]
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


def _decimals(least: float, most: float) -> Floats:
    """Numbers of up to three decimal digits between two, ascending."""
    low, high = math.floor(math.log10(least)), math.floor(math.log10(most))
    rows = [np.arange(100, 1000) / 10.0 ** (2 - e) if e < 2 else np.arange(100, 1000) * 10.0 ** (e - 2)
            for e in range(low, high + 1)]  # fmt: skip
    found = np.concatenate(rows)
    return np.asarray(found[(found >= least * (1 - 1e-12)) & (found <= most * (1 + 1e-12))])


def _integers(least: int, most: int) -> Floats:
    """Those of up to three digits."""
    found = _decimals(least, max(most, least))
    return np.asarray(found[found == np.round(found)])


def _probabilities() -> Floats:
    """From 0.3 up by thousandths, and on towards one."""
    near = [1 - digit / 10**places for places in (4, 5, 6) for digit in range(9, 0, -1)]
    return np.round(np.append(np.arange(300, 1000) / 1000, near), 6)


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
    share = np.round(coverage * RING) / RING  # a whole number of points
    p = share * e / (share * e + 1 - share)
    return p, np.broadcast_to(share, p.shape)


def _subset_bits(k: int, omega: Floats) -> Floats:
    return np.array([float(subset_bits(k, int(size))) for size in omega.ravel()]).reshape(omega.shape)


FAMILIES = (
    Family(SS, "omega", lambda k: _integers(1, k - 1), _subset, _subset_bits),
    Family(UE, "p", lambda k: _probabilities(), _unary, lambda k, p: np.full(p.shape, float(k))),
    Family(
        LH,
        "g",
        lambda k: _integers(2, min(max(k, _MOST_BUCKETS), most_buckets(k))),
        _hashing,
        lambda k, g: 64 + np.ceil(np.log2(g)),
    ),
    Family(
        Wheel,
        "coverage",
        lambda k: _decimals(max(1 / most_buckets(k), 0.1 / _MOST_BUCKETS), 0.5),
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
        every = family.grid(k)
        parameters = every[np.unique(np.round(np.linspace(0, every.size - 1, _POINTS)).astype(np.int64))]
        short = family.bits(k, parameters) <= most_bits
        if family.mechanism is LH:
            short |= (parameters == 2) & ((k + 1).bit_length() <= most_bits)
        got = family.measured(k, epsilon, parameters[None, short], n, worst=worst, targets=1)
        rows.append(np.stack([got["mse"].ravel(), got["asr"].ravel()], axis=1))
    return np.concatenate(rows)
