"""A mechanism at any budget, from its name, its class, an example, or a function of the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.chosen import freed
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import registry
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Population
from hush.planning.ranges import range_of

Mechanism = FrequencyOracle | Numeric
Given = str | type[FrequencyOracle] | type[Numeric] | Mechanism | Callable[[float], Mechanism]


def builder(
    given: Given, people: Population | OnlyMean, parameters: Mapping[str, Any] | None
) -> Callable[[float], Mechanism]:
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


def _maker(given: Given, people: Population | OnlyMean, more: dict[str, Any]) -> Callable[[float], Mechanism]:
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
        fixed = {**range_of(people.amounts), **more}
        return lambda epsilon: cls(**{**fixed, "epsilon": epsilon})
    if isinstance(cls, type) and issubclass(cls, FrequencyOracle):
        return lambda epsilon: cls(**{"k": people.k, **more, "epsilon": epsilon})
    if callable(cls) and not isinstance(cls, type):
        return cls
    raise ParameterError(message("mechanism", "must be a name, a class or a mechanism", given, "name one, e.g. 'GRR'"))
