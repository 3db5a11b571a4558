"""Adaptive mechanisms: ASS, AUE, ALH and ATHE choose their parameter between attack success and error.

"Revisiting locally differentially private protocols" (arXiv 2503.01482), equations 24 to 27 with the corrected
closed forms, for one report. The error is the mean squared error over all values, or the paper's equation 4 by name.
The guarantee is that of the mechanism they derive from, for every choice.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hush import rules
from hush.analysis import choice, pareto, portable, tradeoff
from hush.exact.thresholds import SCALE
from hush.mechanisms import chosen
from hush.mechanisms.chosen import Entries
from hush.mechanisms.hashing import LH, most_buckets
from hush.mechanisms.hashing.family import nearest
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import THE, UE
from hush.types import Floats

Curve = Callable[[Floats], Floats]

STRATEGIES: dict[str, Callable[[Floats, float], int]] = {
    "weighted": lambda points, w: pareto.weighted_sum(points, [w, 1 - w]),
    "utopia": lambda points, w: pareto.utopia(points),
    "elbow": lambda points, w: pareto.elbow(points),
    "constraint": lambda points, w: pareto.constraint(points),
    "hypervolume": lambda points, w: pareto.hypervolume(points),
    "tchebycheff": lambda points, w: pareto.tchebycheff(points, [w, 1 - w]),
}
"""By name, how a point of a front is selected."""

_SCORES: dict[str, Callable[[Floats, float], Floats]] = {
    "weighted": lambda points, w: pareto.sums(points, [w, 1 - w]),
    "utopia": lambda points, w: pareto.distances(points),
    "constraint": lambda points, w: pareto.limited(points),
    "hypervolume": lambda points, w: pareto.lost_volumes(points),
    "tchebycheff": lambda points, w: pareto.largest(points, [w, 1 - w]),
}
"""What they make small, for closer looks."""

_SEARCHES = ("exact", "grid")


@dataclass(frozen=True, kw_only=True)
class Adaptive(chosen.Chosen):
    """How to choose.

    Args:
        w_asr: Weight of attack success, in [0, 1]; the rest is the error's.
        strategy: weighted, utopia, elbow, constraint, hypervolume or tchebycheff.
        search: "exact" takes the best decimal of six digits for a real parameter, "grid" the best of the paper's grid,
            to six digits. Integers are all looked at either way. An elbow is defined by the ends of a grid.
        design: "exact" weighs the mean squared error over all values, which is the same in every population; "paper"
            weighs equation 4, the variance of a value without holders.

    What is chosen is a parameter too, as a spec has it: where it is given, nothing is chosen. So a spec does not tell
    the design.
    """

    w_asr: float = 0.5
    strategy: str = "weighted"
    search: str = "exact"
    design: str = field(default="exact", repr=False, compare=False)

    designs: ClassVar[tuple[str, ...]] = tradeoff.DESIGNS

    def __post_init__(self) -> None:
        """Choose the parameter, if it was left out."""
        k, epsilon = self._checked()
        if getattr(self, self.choice) is None:
            object.__setattr__(self, self.choice, self._best(k, epsilon))
        super().__post_init__()  # type: ignore[misc]

    def _checked(self) -> tuple[int, float]:
        """The number of values and the budget, once all that the choice depends on is known to be in order."""
        object.__setattr__(self, "w_asr", rules.share("w_asr", self.w_asr))
        for name, allowed in (("strategy", tuple(STRATEGIES)), ("search", _SEARCHES), ("design", self.designs)):
            chosen = rules.named(name, getattr(self, name), allowed, f"use e.g. {allowed[0]!r}")
            object.__setattr__(self, name, chosen)
        return rules.domain_size(self.k), rules.epsilon(self.epsilon)  # type: ignore[attr-defined]

    @property
    def parameters(self) -> dict[str, Any]:
        """What a spec tells: what was chosen, not the error that it was chosen by."""
        return {name: value for name, value in super().parameters.items() if name != "design"}  # type: ignore[misc]

    @abstractmethod
    def _best(self, k: int, epsilon: float) -> float:
        """The parameter that the strategy picks."""

    def _share(self, curve: Curve, grid: Floats, more: Floats | None = None) -> float:
        """The real parameter that the strategy picks, from the paper's grid or, if need be with more, around it."""
        if self.strategy == "elbow" or self.search == "grid":
            return choice.shortened(float(grid[STRATEGIES[self.strategy](curve(grid), self.w_asr)]))
        score = _SCORES[self.strategy]
        return choice.share(lambda x: score(curve(x), self.w_asr), grid if more is None else np.union1d(grid, more))

    def _whole(self, curve: Curve, least: int, most: int) -> int:
        """The whole parameter that the strategy picks, of all there are."""
        if self.strategy == "elbow":
            grid = choice.integers(least, most)
            return int(grid[pareto.elbow(curve(grid))])
        score = _SCORES[self.strategy]
        return choice.whole(lambda x: score(curve(x), self.w_asr), least, most)


@dataclass(frozen=True, kw_only=True)
class ASS(Adaptive, SS):
    """Adaptive subset selection: omega balances attack success and error.

    >>> ASS(k=100, epsilon=4.0).omega, ASS(k=100, epsilon=4.0, design="paper").omega
    (8, 7)
    """

    full_name: ClassVar[str] = "adaptive subset selection"

    def _best(self, k: int, epsilon: float) -> int:
        return self._whole(lambda w: tradeoff.subset(k, epsilon, w, design=self.design), 1, k - 1)


@dataclass(frozen=True, kw_only=True)
class AUE(Adaptive, UE):
    """Adaptive unary encoding: p balances attack success and error.

    >>> AUE(k=100, epsilon=4.0).p, AUE(k=100, epsilon=4.0, search="grid").p
    (0.81947, 0.818182)
    >>> AUE(k=100, epsilon=4.0, design="paper").p
    0.816129
    """

    p: float = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "adaptive unary encoding"
    choice: ClassVar[str] = "p"

    def _best(self, k: int, epsilon: float) -> float:
        close = 1 - np.geomspace(0.5, 1e-6, 200)  # at large budgets the optimum lies close to one
        grid = tradeoff.paper_grid("p", k, epsilon)
        return self._share(lambda p: tradeoff.unary(k, epsilon, p, design=self.design), grid, close)

    @classmethod
    def recovered(cls, entries: Entries, thresholds: Entries) -> float:
        return int(thresholds["p"]) / SCALE


@dataclass(frozen=True, kw_only=True)
class ALH(Adaptive, LH):
    """Adaptive local hashing: g balances attack success and error; with a family, the nearest power of two.

    >>> ALH(k=100, epsilon=4.0).g
    13
    """

    g: int = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "adaptive local hashing"
    choice: ClassVar[str] = "g"

    def _best(self, k: int, epsilon: float) -> int:
        most = min(max(k, int(portable.exp(epsilon) + 1)), most_buckets(k))
        best = self._whole(lambda g: tradeoff.hashing(k, epsilon, g, design=self.design), 2, most)
        return nearest(best) if self.hash == "family" else best

    @classmethod
    def recovered(cls, entries: Entries, thresholds: Entries) -> int:
        return 1 + round(chosen.others_for_each(entries, thresholds["keep"]))


@dataclass(frozen=True, kw_only=True)
class ATHE(Adaptive, THE):
    """Adaptive thresholding with histogram encoding, on the client: theta balances attack success and error.

    >>> ATHE(k=100, epsilon=4.0).theta, ATHE(k=100, epsilon=4.0, search="grid").theta
    (0.772493, 0.772727)
    >>> ATHE(k=100, epsilon=4.0, design="paper").theta
    0.782234
    """

    full_name: ClassVar[str] = "adaptive thresholding with histogram encoding"

    def _best(self, k: int, epsilon: float) -> float:
        grid = tradeoff.paper_grid("theta", k, epsilon)[1:]
        return self._share(lambda t: tradeoff.threshold(k, epsilon, t, design=self.design), grid)
