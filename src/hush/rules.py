"""Rules that parameters obey, checked once, at construction."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

from hush.errors import ParameterError, message

MIN_EPSILON = 1e-6
"""Below this the probabilities of a report hardly depend on the value."""

MIN_GRID_EPSILON = 1e-3
"""Below this a table of grid noise grows too large."""

MAX_EPSILON = 40.0
"""Beyond this a 64-bit threshold can no longer tell the probabilities from 0 and 1; up to 20 they are good to 1e-9."""

MIN_DELTA = 1e-12
MAX_VALUES = 10**8


def integer(name: str, value: object, least: int, most: int, remedy: str) -> int:
    """An integer within bounds."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        raise ParameterError(message(name, f"must be an integer in {least}..{most}", value, remedy))
    return int(value)  # type: ignore[call-overload]


def _real(value: object) -> float:
    """A number as a double; NaN for everything that is none, or does not fit."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def number(name: str, value: object, low: float, high: float, remedy: str, *, closed: bool = False) -> float:
    """A number strictly between bounds, or up to and including the upper one."""
    real = _real(value)
    inside = low < real and (real <= high if closed else real < high)
    if not inside:
        bound = f"at most {high:g}" if closed else f"below {high:g}"
        raise ParameterError(message(name, f"must be a number above {low:g} and {bound}", value, remedy))
    return real


def epsilon(
    value: object,
    *,
    least: float = MIN_EPSILON,
    most: float = MAX_EPSILON,
    remedy: str = "choose a budget in nats, e.g. 1.0",
) -> float:
    """A privacy budget, in nats."""
    real = _real(value)
    if not least <= real <= most:
        raise ParameterError(message("epsilon", f"must be a number from {least:g} to {most:g}", value, remedy))
    return real


def delta(value: object) -> float:
    """The slack of an approximate guarantee."""
    real = _real(value)
    if not MIN_DELTA <= real < 1.0:
        rule = f"must be a number from {MIN_DELTA:g} to below 1"
        raise ParameterError(message("delta", rule, value, "choose it far below 1/n, e.g. 1e-6"))
    return real


def domain_size(value: object) -> int:
    """The number of values."""
    return integer("k", value, 2, MAX_VALUES, "count the values of your domain; a collection needs two or more")


def named(name: str, value: object, allowed: Sequence[str], remedy: str) -> str:
    """One of some names."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(message(name, f"must be one of {', '.join(allowed)}", value, remedy))
    return str(value)


def share(name: str, value: object) -> float:
    """A number in [0, 1]."""
    real = _real(value)
    if not 0.0 <= real <= 1.0:
        raise ParameterError(message(name, "must lie in [0, 1]", value, "use e.g. 0.5"))
    return real


def population(n: object, frequency: object) -> None:
    """A number of people, and the share of them that holds a value."""
    if not _real(n) > 0:
        raise ParameterError(message("n", "must be above 0", n, "count the reports"))
    share("frequency", frequency)
