"""What is asked: the smallest budget at which a loss stays below a threshold with a probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import registry
from hush.planning.optimus.losses import MEAN, Measure
from hush.planning.optimus.population import Population
from hush.planning.ranges import range_of

Mechanism = FrequencyOracle | Numeric
Make = Callable[[float], Mechanism]

RANGE = (0.001, 20.0)
"""The budgets that are searched when nothing else is said, those of the thesis."""


@dataclass(frozen=True, eq=False)
class BudgetQuestion:
    """Smallest epsilon in [low, high] with Pr[loss <= threshold] >= probability."""

    name: str
    make: Make
    people: Population
    loss: str
    measure: Measure
    threshold: float
    probability: float
    low: float
    high: float
    threaded: bool

    def mechanism(self, epsilon: float) -> Mechanism:
        """The mechanism at a budget."""
        made = self.make(epsilon)
        if isinstance(made, Numeric) and self.loss == MEAN:
            return made
        if isinstance(made, Numeric):
            rule = f"must estimate frequencies for the loss {self.loss}"
            raise ParameterError(message("mechanism", rule, made.name(), f"use e.g. 'OUE', or the loss '{MEAN}'"))
        if not isinstance(made, FrequencyOracle):
            raise ParameterError(message("mechanism", "must make mechanisms", made, "return e.g. hush.OUE(…)"))
        if made.k != self.people.k:
            rule = f"must have k = {self.people.k}, as the population has"
            raise ParameterError(message("mechanism", rule, made.k, "give one count for each value"))
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "mechanism": self.name,
            "k": self.people.k,
            "n": self.people.n,
            "population": "fixed" if self.people.drawn is None else "drawn",
            "loss": self.loss,
            "threshold": self.threshold,
            "probability": self.probability,
            "epsilon_range": [self.low, self.high],
        }


def maker(mechanism: object, people: Population, parameters: Mapping[str, Any] | None) -> tuple[str, Make, float]:
    """A mechanism's name, how to make it at a budget, and the largest budget that it takes."""
    found = mechanism
    if isinstance(mechanism, str):
        known: dict[str, Any] = {**registry(), **registry("numeric")}
        if mechanism not in known:
            rule = f"must be registered (one of {', '.join(known)})"
            raise ParameterError(message("mechanism", rule, mechanism, "use e.g. 'OUE', or pass a class"))
        found = known[mechanism]
    if isinstance(found, type) and issubclass(found, (FrequencyOracle, Numeric)):
        cls, more, first = found, dict(parameters or {}), {"k": people.k}
        if issubclass(cls, Numeric):
            first, more = {}, {**range_of(people.amounts), **more}
        if "epsilon" not in {field.name for field in fields(cls) if field.init}:
            rule, remedy = "must be one whose budget can be chosen", "name another"
            raise ParameterError(message("mechanism", rule, Unsaid(f"{cls.name()}, which has none"), remedy))

        def make(epsilon: float) -> Mechanism:
            try:
                made = cls(**first, epsilon=epsilon, **more)
            except TypeError as error:
                rule = f"must be what {cls.name()} takes besides k and epsilon"
                raise ParameterError(message("parameters", rule, more, str(error))) from None
            if isinstance(made, Numeric):
                _within(made, people)
            return made

        return cls.name(), make, cls.largest_epsilon
    if callable(found) and not isinstance(found, type):
        if parameters:
            rule = "must be left out beside a function that makes mechanisms"
            raise ParameterError(message("parameters", rule, dict(parameters), "set them in the function"))
        return getattr(found, "__name__", "own"), found, rules.MAX_EPSILON
    rule = "must be a mechanism's name or class, or a function of epsilon that makes one"
    raise ParameterError(message("mechanism", rule, mechanism, "use e.g. 'OUE'"))


def _within(m: Numeric, people: Population) -> None:
    """Refuse a range that does not hold what people have."""
    held = people.amounts[people.weights > 0]
    if held.size and not (m.low <= held.min() and held.max() <= m.high):
        rule = f"must have low and high that hold all amounts, from {held.min():g} to {held.max():g}"
        raise ParameterError(
            message("parameters", rule, {"low": m.low, "high": m.high}, "leave both out, or widen them")
        )


def budgets(given: tuple[float, float] | None, most: float) -> tuple[float, float]:
    """The range that is searched, checked."""
    if given is None:
        return RANGE[0], min(RANGE[1], most)
    try:
        low, high = given
    except (TypeError, ValueError):
        rule = "must be two numbers, the least and the largest"
        raise ParameterError(message("epsilon", rule, given, "use e.g. (0.01, 10)")) from None
    least, top = rules.epsilon(low), rules.epsilon(high)
    if not least < top:
        raise ParameterError(message("epsilon", "must rise from the least to the largest", given, "swap them"))
    return least, top


def probability(value: object) -> float:
    """How sure it must be."""
    real = rules._real(value)
    remedy = f"use {real / 100:g} for {real:g} %" if 1.0 < real < 100.0 else "use e.g. 0.9"
    return rules.number("probability", value, 0.0, 1.0, remedy)
