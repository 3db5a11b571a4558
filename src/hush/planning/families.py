"""Mechanisms with a free parameter, all at once: what every parameter and budget of a grid gives, in closed form.

For the planner to look at thousands of choices in milliseconds. What it chooses is then built and measured exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from hush.mechanisms.forms import Forms, companion_of
from hush.mechanisms.registry import registry
from hush.mechanisms.tunable import Family, Tunable
from hush.types import Floats

_POINTS = 120


def companions() -> list[type[Forms]]:
    """The forms of all registered mechanisms, each once."""
    return list(dict.fromkeys(companion_of(cls) for cls in registry().values()))


def tunable(k: int) -> Iterator[Tunable]:
    """What registered mechanisms offer to tune."""
    yield from dict.fromkeys(offer for forms in companions() for offer in forms.tunable(k))


def families(k: int) -> Iterator[Family]:
    """Those that are known in closed form."""
    return (offer for offer in tunable(k) if isinstance(offer, Family))


def reachable(k: int, n: int, top: float, *, worst: bool, most_bits: float = math.inf) -> Floats:
    """Rows of (squared error, attack success) of every family over a grid of parameters and budgets up to the top."""
    epsilon = np.geomspace(min(0.01, top / 10), top, 80)[:, None]
    rows = [np.empty((0, 2))]
    for family in families(k):
        every = family.grid(k)
        parameters = every[np.unique(np.round(np.linspace(0, every.size - 1, _POINTS)).astype(np.int64))]
        short = (family.fewest or family.bits)(k, parameters) <= most_bits
        got = family.measured(k, epsilon, parameters[None, short], n, worst=worst, targets=1)
        rows.append(np.stack([got["mse"].ravel(), got["asr"].ravel()], axis=1))
    return np.concatenate(rows)
