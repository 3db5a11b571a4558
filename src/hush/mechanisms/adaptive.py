"""Adaptive mechanisms: ASS, AUE, ALH and ATHE choose their parameter between attack success and variance.

"Revisiting locally differentially private protocols" (arXiv 2503.01482), equations 24 to 27 with the corrected
closed forms, for one report. The guarantee is that of the mechanism they derive from, whatever they choose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hush.analysis import pareto, tradeoff
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms.hashing import LH, most_buckets
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import THE, UE

Floats = npt.NDArray[np.float64]
Curve = Callable[[Floats], Floats]

STRATEGIES: dict[str, Callable[[Floats, float], int]] = {
    "weighted": lambda points, w: pareto.weighted_sum(points, [w, 1 - w]),
    "utopia": lambda points, w: pareto.utopia(points),
    "elbow": lambda points, w: pareto.elbow(points),
    "constraint": lambda points, w: pareto.constraint(points),
    "hypervolume": lambda points, w: pareto.hypervolume(points),
    "tchebycheff": lambda points, w: pareto.tchebycheff(points, [w, 1 - w]),
}
_SEARCHES = ("exact", "grid")
_MANY = 20_000


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """How to choose.

    Args:
        w_asr: Weight of attack success, in [0, 1]; the rest is the variance's.
        strategy: weighted, utopia, elbow, constraint, hypervolume or tchebycheff.
        search: "exact" refines a real parameter to seven digits, "grid" takes the paper's grid. Integers are all looked
            at either way. An elbow is defined by the ends of a grid, so it is never refined.
    """

    w_asr: float = 0.5
    strategy: str = "weighted"
    search: str = "exact"

    def _choose(self, curve: Curve, grid: Floats, *, whole: bool) -> float:
        """The parameter that the strategy picks from the curve."""
        _rules.share("w_asr", self.w_asr)
        for name, allowed in (("strategy", tuple(STRATEGIES)), ("search", _SEARCHES)):
            if getattr(self, name) not in allowed:
                rule = f"must be one of {', '.join(allowed)}"
                raise ParameterError(message(name, rule, getattr(self, name), f"use e.g. {allowed[0]!r}"))
        select = STRATEGIES[self.strategy]
        at = select(curve(grid), self.w_asr)
        gapless = whole and grid[-1] - grid[0] == grid.size - 1
        if gapless or self.strategy == "elbow" or (self.search == "grid" and not whole):
            return float(grid[at])
        while True:  # look closer and closer around the choice
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
            grid = np.linspace(low, high, 2001)
            grid = np.unique(np.round(grid)) if whole else grid
            at = select(curve(grid), self.w_asr)
            if high - low < (2001 if whole else 1e-9):
                return float(grid[at])


@dataclass(frozen=True, kw_only=True)
class ASS(Adaptive, SS):
    """Adaptive subset selection: omega balances attack success and variance.

    >>> ASS(k=100, epsilon=4.0).omega
    7
    """

    omega: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        k, epsilon = _rules.domain_size(self.k), _rules.epsilon(self.epsilon)
        grid = _integers(1, k - 1)
        self._set(omega=int(self._choose(lambda w: tradeoff.subset(k, epsilon, w), grid, whole=True)))
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class AUE(Adaptive, UE):
    """Adaptive unary encoding: p balances attack success and variance.

    >>> round(AUE(k=100, epsilon=4.0).p, 6), round(AUE(k=100, epsilon=4.0, search="grid").p, 3)
    (0.816129, 0.818)
    """

    p: float = field(init=False, default=0.5)

    def __post_init__(self) -> None:
        k, epsilon = _rules.domain_size(self.k), _rules.epsilon(self.epsilon)
        grid = tradeoff.paper_grid("p", k, epsilon)
        if self.search == "exact" and self.strategy != "elbow":
            grid = np.union1d(grid, 1 - np.geomspace(0.5, 1e-6, 200))  # at large budgets the optimum lies close to one
        self._set(p=self._choose(lambda p: tradeoff.unary(k, epsilon, p), grid, whole=False))
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class ALH(Adaptive, LH):
    """Adaptive local hashing: g balances attack success and variance.

    >>> ALH(k=100, epsilon=4.0).g
    13
    """

    g: int = field(init=False, default=2)

    def __post_init__(self) -> None:
        k, epsilon = _rules.domain_size(self.k), _rules.epsilon(self.epsilon)
        most = min(max(k, math.floor(math.exp(epsilon) + 1)), most_buckets(k))
        grid = _integers(2, most)
        self._set(g=int(self._choose(lambda g: tradeoff.hashing(k, epsilon, g), grid, whole=True)))
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class ATHE(Adaptive, THE):
    """Adaptive thresholding with histogram encoding, on the client: theta balances attack success and variance.

    >>> round(ATHE(k=100, epsilon=4.0).theta, 6), round(ATHE(k=100, epsilon=4.0, search="grid").theta, 3)
    (0.782234, 0.783)
    """

    theta: float = field(init=False, default=0.75)

    def __post_init__(self) -> None:
        k, epsilon = _rules.domain_size(self.k), _rules.epsilon(self.epsilon)
        grid = tradeoff.paper_grid("theta", k, epsilon)[1:]
        self._set(theta=self._choose(lambda t: tradeoff.threshold(k, epsilon, t), grid, whole=False))
        super().__post_init__()


def _integers(least: int, most: int) -> Floats:
    """All of them, or a spread of many, to be looked at more closely around the choice."""
    if most - least < _MANY:
        return np.arange(least, most + 1, dtype=np.float64)
    return np.unique(np.round(np.geomspace(least, most, _MANY)))
