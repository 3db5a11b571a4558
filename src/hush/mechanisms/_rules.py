"""Rules that parameters obey, checked once, at construction."""

from __future__ import annotations

import math
import numbers

from hush.errors import ParameterError, message

MAX_EPSILON = 40.0
"""Beyond this a 64-bit threshold can no longer tell the probabilities from 0 and 1."""

MIN_DELTA = 1e-12
MAX_VALUES = 2**31
MAX_OUTPUTS = 2**16
"""How many outputs of a mechanism may be enumerated."""


def integer(name: str, value: object, least: int, most: int, remedy: str) -> int:
    """An integer within bounds."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        raise ParameterError(message(name, f"must be an integer in {least}..{most}", value, remedy))
    return int(value)  # type: ignore[call-overload]


def number(name: str, value: object, low: float, high: float, remedy: str, *, closed: bool = False) -> float:
    """A number strictly between bounds, or up to and including the upper one."""
    real = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    inside = low < real and (real <= high if closed else real < high)
    if not inside:
        bound = f"at most {high:g}" if closed else f"below {high:g}"
        raise ParameterError(message(name, f"must be a number above {low:g} and {bound}", value, remedy))
    return real


def epsilon(value: object, most: float = MAX_EPSILON, remedy: str = "choose a budget in nats, e.g. 1.0") -> float:
    """A privacy budget, in nats."""
    return number("epsilon", value, 0.0, most, remedy, closed=True)


def delta(value: object) -> float:
    """The slack of an approximate guarantee."""
    return number("delta", value, MIN_DELTA / 2, 1.0, f"choose it far below 1/n, and at least {MIN_DELTA:g}")


def domain_size(value: object) -> int:
    """The number of values."""
    return integer("k", value, 2, MAX_VALUES, "count the values of your domain; a collection needs two or more")


def enumerable(outputs: int, k: int) -> None:
    """Refuse to enumerate what would not end."""
    if outputs > MAX_OUTPUTS:
        raise ParameterError(
            message("k", f"must leave at most {MAX_OUTPUTS} outputs to enumerate", k, "use a smaller domain")
        )
