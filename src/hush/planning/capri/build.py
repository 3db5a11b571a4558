"""A mechanism at any budget, from its name, its class, an example, or a function of the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hush.analysis.capacity import lattice
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.chosen import freed
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import registry
from hush.planning.capri.population import Population

Mechanism = FrequencyOracle | Numeric
Given = str | type[FrequencyOracle] | type[Numeric] | Mechanism | Callable[[float], Mechanism]

_MOST_STEPS = 1 << 16


def builder(given: Given, people: Population, parameters: Mapping[str, Any] | None) -> Callable[[float], Mechanism]:
    """A function from a budget to a checked mechanism for this population."""
    make = _maker(given, people, dict(parameters or {}))

    def build(epsilon: float) -> Mechanism:
        try:
            made = make(epsilon)
        except TypeError as error:
            remedy = f"check parameters: {error}"
            raise ParameterError(message("mechanism", "must be made from a budget", given, remedy)) from None
        if not isinstance(made, (FrequencyOracle, Numeric)):
            raise ParameterError(message("mechanism", "must be a mechanism", made, "name one, e.g. 'GRR'"))
        if isinstance(made, FrequencyOracle) and made.k != people.k:
            raise ParameterError(message("mechanism", f"must have k={people.k}", made.k, "match it to the counts"))
        return made

    return build


def _maker(given: Given, people: Population, more: dict[str, Any]) -> Callable[[float], Mechanism]:
    if isinstance(given, (FrequencyOracle, Numeric)):
        kind, fixed = type(given), {**freed(given), **more}
        fixed.pop("epsilon", None)
        return lambda epsilon: kind(**{**fixed, "epsilon": epsilon})
    known: dict[str, Any] = {**registry(), **registry("numeric")}
    if isinstance(given, str) and given not in known:
        rule = f"must be one of {', '.join(known)}"
        raise ParameterError(message("mechanism", rule, given, "check the name"))
    cls = known[given] if isinstance(given, str) else given
    if isinstance(cls, type) and issubclass(cls, Numeric):
        fixed = {**_range(people), **more}
        return lambda epsilon: cls(**{**fixed, "epsilon": epsilon})
    if isinstance(cls, type) and issubclass(cls, FrequencyOracle):
        return lambda epsilon: cls(**{"k": people.k, **more, "epsilon": epsilon})
    if callable(cls) and not isinstance(cls, type):
        return cls
    raise ParameterError(message("mechanism", "must be a name, a class or a mechanism", given, "name one, e.g. 'GRR'"))


def _range(people: Population) -> dict[str, Any]:
    """From the smallest to the largest amount, on the amounts' own grid where it is not too fine."""
    low, high = float(people.amounts.min()), float(people.amounts.max())
    if low == high:
        rule = "must have two different amounts for a mean"
        raise ParameterError(message("domain", rule, low, "use a frequency oracle, or other amounts"))
    step = lattice([low, *people.amounts.tolist()], from_first=True)
    steps = int(np.rint((high - low) / step)) if step else _MOST_STEPS + 1
    return {"low": low, "high": high, "steps": steps if steps <= _MOST_STEPS else 1024}
