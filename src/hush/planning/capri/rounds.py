"""Planning where the counts are not known beforehand: from a first round with a small budget, and over time.

The counts that a collection estimates plan the budget of the next. Budgets of rounds that the same people take part in
add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.domain import Domain
from hush.errors import ParameterError, message
from hush.estimation import Estimate
from hush.mechanisms import _rules
from hush.mechanisms._base import FrequencyOracle
from hush.planning.capri.answer import Answer
from hush.planning.capri.build import Given, builder
from hush.planning.capri.population import Population, population
from hush.planning.capri.question import question
from hush.planning.capri.select import capacity
from hush.randomness import source


@dataclass(frozen=True)
class Step:
    """One collection.

    Args:
        time: Its number, from 0.
        epsilon: The budget that it used.
        spent: All budgets so far.
        total: The true total.
        estimated: The estimated total.
        cap: The capacity.
        planned: What was planned from the collection before; None for the first.
    """

    time: int
    epsilon: float
    spent: float
    total: float
    estimated: float
    cap: float
    planned: Answer | None = field(repr=False)

    @property
    def outcome(self) -> str:
        """Which of tp, fp, tn and fn it was."""
        said, true = self.estimated > self.cap, self.total > self.cap
        return ("t" if said == true else "f") + ("p" if said else "n")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {name: value for name, value in asdict(self).items() if name != "planned"}
        planned = None if self.planned is None else self.planned.to_dict()
        return {**plain, "outcome": self.outcome, "planned": planned}


def first_round(
    mechanism: Given,
    counts: npt.ArrayLike | Population,
    *,
    first: float,
    rng: np.random.Generator | None = None,
    domain: Domain | None = None,
    **asked: Any,
) -> Answer:
    """Simulate a first round with a small budget, and plan from what it estimates.

    With reports of a real first round, give `capacity` their Estimate, and `spent`.

    Args:
        mechanism: As for `capacity`; a frequency oracle.
        counts: The true counts, which only the simulation sees.
        first: Budget of the first round.
        rng: `hush.seeded(7)` to repeat a simulation.
        domain: Its values are the amounts.
        asked: Everything else that `capacity` takes: cap, metric, threshold, ...
    """
    drawing, most = source(rng), asked.pop("most", None)
    people = counts if isinstance(counts, Population) else population(counts, domain=domain, most=most)
    seen = estimated(mechanism, people, first, rng=drawing, parameters=asked.get("parameters"))
    return capacity(mechanism, seen, spent=first, rng=drawing, **asked)


def estimated(
    mechanism: Given,
    people: Population,
    first: float,
    *,
    parameters: Mapping[str, Any] | None = None,
    rng: np.random.Generator | None = None,
) -> Population:
    """People as one simulated collection estimates them, to the nearest counts that are possible.

    Args:
        mechanism: As for `capacity`; a frequency oracle.
        people: Who they are.
        first: Budget of the collection.
        parameters: Further parameters of the mechanism.
        rng: `hush.seeded(7)` to repeat a simulation.
    """
    seen = _collected(mechanism, people, _rules.epsilon(first), parameters, source(rng))
    return population(seen, domain=_amounts(people))


def over_time(
    mechanism: Given,
    history: Sequence[npt.ArrayLike],
    *,
    cap: float | Sequence[float],
    threshold: float,
    first: float,
    metric: str = "error",
    domain: Domain | None = None,
    rng: np.random.Generator | None = None,
    told: Callable[[Step], None] | None = None,
    **options: Any,
) -> tuple[Step, ...]:
    """Simulate collections at several times, the estimate of each planning the budget of the next.

    Where a plan is infeasible the largest budget is used. "error" is the metric to use: whether the total exceeds the
    cap is what is not known beforehand.

    Args:
        mechanism: As for `capacity`; a frequency oracle.
        history: The true counts at each time.
        cap: The capacity, one or one for each time.
        threshold: As for `capacity`.
        first: Budget of the first collection.
        metric: As for `capacity`.
        domain: Its values are the amounts.
        rng: `hush.seeded(7)` to repeat a simulation.
        told: Called after each collection.
        options: Everything else that `capacity` takes.
    """
    drawing, budget = source(rng), _rules.epsilon(first)
    caps, most = _caps(cap, history), options.pop("most", None)
    steps: list[Step] = []
    planned: Answer | None = None
    spent = 0.0
    for time, (counts, limit) in enumerate(zip(history, caps, strict=True)):
        people = population(counts, domain=domain, most=most)
        question(metric, threshold, limit, people)
        seen = _collected(mechanism, people, budget, options.get("parameters"), drawing)
        spent += budget
        total = float(people.n * (people.amounts @ seen.frequencies))
        steps.append(Step(time, budget, spent, people.total, total, limit, planned))
        if told is not None:
            told(steps[-1])
        if time + 1 < len(history):
            planned = capacity(
                mechanism,
                seen,
                cap=caps[time + 1],
                metric=metric,
                threshold=threshold,
                domain=_amounts(people),
                rng=drawing,
                **{"confirm": 0, **options},
            )
            budget = options.get("highest", 10.0) if planned.epsilon is None else planned.epsilon
    return tuple(steps)


def _caps(cap: float | Sequence[float], history: Sequence[npt.ArrayLike]) -> list[float]:
    times = len(history)
    if times == 0:
        raise ParameterError(message("history", "must have the counts of at least one time", 0, "give them in order"))
    try:
        given = np.asarray(cap, np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.shape not in ((), (times,)) or not np.isfinite(given).all() or isinstance(cap, bool):
        rule = f"must be one finite number, or one for each of {times} times"
        raise ParameterError(message("cap", rule, cap, "give the capacity at each time"))
    return [float(c) for c in np.broadcast_to(given, (times,))]


def _amounts(people: Population) -> Domain:
    return Domain(size=people.k, values=people.amounts.tolist())


def _collected(
    mechanism: Given, people: Population, epsilon: float, parameters: Any, rng: np.random.Generator
) -> Estimate:
    """The estimate of a simulated collection."""
    m = builder(mechanism, people, parameters)(epsilon)
    if not isinstance(m, FrequencyOracle):
        rule = "must estimate frequencies, to plan the next round from them"
        raise ParameterError(message("mechanism", rule, m.name(), "use a frequency oracle, e.g. 'OUE'"))
    return m.estimate(m.simulate(people.counts, rng=rng))
