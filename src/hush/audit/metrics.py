"""Distances between inputs, for claims that grow with them: d-privacy, also called metric local differential privacy.

Chatzikokolakis, Andrés, Bordenabe and Palamidessi, "Broadening the scope of differential privacy using metrics" (PETS
2013): no report is likelier under x than e^(epsilon d(x, x')) times under x'. With a distance of one between any two
inputs that is epsilon-LDP; with a distance that is larger for inputs that differ more, what is close is hidden better
than what is far apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush.audit.inputs import Inputs, Values
from hush.errors import ParameterError, Unsaid, message

Distance = Callable[[Any, Any], float]


def _apart(one: Any, other: Any) -> np.ndarray:
    return np.abs(np.atleast_1d(np.asarray(one, np.float64)) - np.atleast_1d(np.asarray(other, np.float64)))


METRICS: dict[str, Distance] = {
    "absolute": lambda one, other: float(_apart(one, other).sum()),
    "cyclic": lambda one, other: float(_apart(one, other).sum()),  # around the ring: see `Metric.between`
    "euclidean": lambda one, other: float(np.sqrt((_apart(one, other) ** 2).sum())),
    "hamming": lambda one, other: float((_apart(one, other) > 0).sum()),
}
"""By name: the sum of differences; that on a ring of k values; the length of the difference; how many places differ."""


@dataclass(frozen=True)
class Metric:
    """How far apart two inputs are.

    Args:
        name: What it is called.
        distance: Of two values, numbers, tuples or histories.
    """

    name: str
    distance: Distance

    def between(self, inputs: Inputs, first: int, second: int) -> float:
        """The distance of the inputs at two positions, which must be positive, and the same both ways."""
        one, other = inputs.at(first), inputs.at(second)
        if self.name == "cyclic":
            if not isinstance(inputs, Values):
                rule, remedy = "must be another for what is not one of k values", "use 'absolute' or 'hamming'"
                raise ParameterError(message("metric", rule, self.name, remedy))
            far = abs(one - other)
            return float(min(far, inputs.size - far) * inputs.rounds)
        if isinstance(inputs, Values) and inputs.rounds > 1 and self.distance is METRICS.get(self.name):
            one, other = (one,) * inputs.rounds, (other,) * inputs.rounds  # as histories are compared
        there, back = self.distance(one, other), self.distance(other, one)
        if not (math.isfinite(there) and there > 0 and math.isclose(there, back, rel_tol=1e-9)):
            rule = f"must be positive, finite and the same both ways for {inputs.said(first)} and {inputs.said(second)}"
            raise ParameterError(message("metric", rule, Unsaid(f"{there!r} and {back!r}"), "check the distance"))
        return float(there)

    def __str__(self) -> str:
        return self.name


def metric_of(given: Metric | str | Distance | Any) -> Metric:
    """A metric by its name, or from a function of two inputs, or from a table of distances between values."""
    if isinstance(given, Metric):
        return given
    if isinstance(given, str) and given in METRICS:
        return Metric(given, METRICS[given])
    if callable(given):
        return Metric(getattr(given, "__name__", "distance"), given)
    table = None if isinstance(given, str) else _table(given)
    if table is None:
        rule = f"must be one of {', '.join(METRICS)}, a function of two inputs, or a square table of distances"
        raise ParameterError(message("metric", rule, given, "use e.g. 'absolute'"))

    def looked_up(one: Any, other: Any) -> float:
        try:
            return float(table[int(one), int(other)])
        except (IndexError, TypeError, ValueError):
            got = Unsaid(f"{len(table)} rows, of which none is that of {max(one, other)}")
            remedy = "give one for each of k values"
            raise ParameterError(message("metric", "must have a row for every value", got, remedy)) from None

    return Metric("table", looked_up)


def _table(given: Any) -> np.ndarray | None:
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 2 and found.shape[0] == found.shape[1] >= 2 else None
