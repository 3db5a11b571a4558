"""Pareto fronts over mechanisms, their parameters and budgets, and the choice of one point on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import pareto
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.planning.objectives import Setting, measured, objective
from hush.types import Floats

SELECTORS: dict[str, Callable[..., int]] = {
    "weighted": pareto.weighted_sum,
    "utopia": pareto.utopia,
    "elbow": pareto.elbow,
    "constraint": pareto.constraint,
    "hypervolume": pareto.hypervolume,
    "tchebycheff": pareto.tchebycheff,
}
"""The six ways of section V-C, by name, with the defaults of appendix B."""


@dataclass(frozen=True)
class Front:
    """Mechanisms with their objectives, and which of them no other beats in everything.

    Args:
        objectives: Names of the columns of `points`.
        mechanisms: One for each row.
        points: The objectives' values, all to be kept small.
        kept: Whether the row lies on the front.
    """

    objectives: tuple[str, ...]
    mechanisms: tuple[FrequencyOracle, ...]
    points: Floats
    kept: npt.NDArray[np.bool_]

    def select(self, strategy: str = "weighted", **options: Any) -> int:
        """The row that a strategy chooses; options are those of the function in `hush.analysis.pareto`."""
        if strategy not in SELECTORS:
            raise ParameterError(
                message("strategy", f"must be one of {', '.join(SELECTORS)}", strategy, "use e.g. 'weighted'")
            )
        return SELECTORS[strategy](self.points, **options)


def sweep(cls: type[FrequencyOracle], **grids: Any) -> list[FrequencyOracle]:
    """A mechanism at every combination of parameters, each a value or several.

    >>> from hush import SS
    >>> [m.omega for m in sweep(SS, k=10, epsilon=1.0, omega=range(1, 4))]
    [1, 2, 3]
    """
    axes = [values if _several(values) else [values] for values in grids.values()]
    return [cls(**dict(zip(grids, each, strict=True))) for each in itertools.product(*axes)]


def _several(values: Any) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str)


def front(
    mechanisms: Iterable[FrequencyOracle],
    objectives: Sequence[str] = ("asr", "mse"),
    setting: Setting | None = None,
) -> Front:
    """Measure two objectives or more of every mechanism, and find the front.

    Args:
        mechanisms: Any, over one domain size or several; `sweep` makes grids of them.
        objectives: Names from `OBJECTIVES`; "variance" in place of "mse" is what the paper designs for.
        setting: The circumstances; one report and a uniform prior if left out, as in the paper.
    """
    names, here = _named(objectives), setting or Setting()
    given = tuple(mechanisms)
    if not given:
        raise ParameterError(message("mechanisms", "must hold at least one", 0, "make some with sweep"))
    points = np.array([measured(m, names, here) for m in given])
    return Front(names, given, points, pareto.front(points))


def _named(objectives: Sequence[str]) -> tuple[str, ...]:
    names = tuple([objectives] if isinstance(objectives, str) else objectives)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ParameterError(
            message("objectives", "must be two different names or more", names, "use e.g. ('asr', 'mse')")
        )
    for name in names:
        objective(name)
    return names


def tune(
    make: Callable[[float], FrequencyOracle],
    grid: npt.ArrayLike,
    objectives: Sequence[str] = ("asr", "mse"),
    *,
    weights: Sequence[float] | None = None,
    setting: Setting | None = None,
    search: str = "exact",
) -> FrequencyOracle:
    """The parameter with the least weighted sum of objectives.

    Args:
        make: The mechanism with a real parameter.
        grid: Ascending parameters to look at.
        objectives: Names from `OBJECTIVES`; "variance" in place of "mse" is what the paper designs for.
        weights: One for each; equal if left out.
        setting: The circumstances; one report and a uniform prior if left out.
        search: "grid" takes the best of the grid, as the paper does; "exact" goes on between its neighbours with a
            bounded scalar search.
    """
    from scipy.optimize import minimize_scalar

    if search not in {"exact", "grid"}:
        raise ParameterError(message("search", "must be exact or grid", search, "use 'exact'"))
    names, here = _named(objectives), setting or Setting()
    at = np.asarray(grid, np.float64)
    if at.ndim != 1 or at.size == 0 or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise ParameterError(message("grid", "must be ascending numbers", grid, "use e.g. np.linspace(0.5, 0.99, 50)"))
    chosen = np.full(len(names), 1 / len(names)) if weights is None else np.asarray(weights, np.float64)
    if chosen.shape != (len(names),) or not (chosen >= 0).all() or not 0 < chosen.sum() < np.inf:
        raise ParameterError(
            message("weights", f"must be {len(names)} non-negative numbers, not all zero", weights, "use e.g. 0.5 each")
        )

    def score(parameter: float) -> float:
        return float(measured(make(parameter), names, here) @ chosen)

    best = int(np.argmin([score(x) for x in at.tolist()]))
    if search == "grid" or at.size == 1:
        return make(float(at[best]))
    bounds = (float(at[max(best - 1, 0)]), float(at[min(best + 1, at.size - 1)]))
    found = minimize_scalar(score, bounds=bounds, method="bounded", options={"xatol": 1e-10 * (bounds[1] - bounds[0])})
    better = float(found.x) if found.fun < score(float(at[best])) else float(at[best])
    return make(better)
