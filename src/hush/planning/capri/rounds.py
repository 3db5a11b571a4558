"""Planning where the counts are not known beforehand: from a first round with a small budget, and over time.

The counts that a collection estimates plan the budget of the next. Budgets of rounds that the same people take part in
add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.mechanisms.numeric.base import Numeric
from hush.people.domain import Domain
from hush.planning.capri.answer import CapacityAnswer, Truth
from hush.planning.capri.build import Given, builder
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Population, counted, population
from hush.planning.capri.question import exceeds, question, size_of, wish
from hush.planning.capri.select import capacity
from hush.planning.capri.trial import CapacityTrials
from hush.planning.capri.who import fits
from hush.randomness import source


@dataclass(frozen=True)
class Step:
    """One collection.

    Args:
        time: Its number, from 0.
        epsilon: The budget that it used.
        spent: All budgets so far.
        total: The true total.
        estimated: The estimated total, raw, by which a server decides. A plan goes by the nearest counts that are
            possible, none negative; what they add up to, `planned.total` of the next step tells.
        cap: The capacity.
        planned: What was planned from the collection before; None for the first.
        clipped: How many people were moved to the largest amount.
        size: What amounts would add up to if none were negative, as `exceeds` takes it.
    """

    time: int
    epsilon: float
    spent: float
    total: float
    estimated: float
    cap: float
    planned: CapacityAnswer | None = field(repr=False)
    clipped: int = 0
    size: float = field(repr=False, default=0.0)

    @property
    def outcome(self) -> str:
        """Which of tp, fp, tn and fn it was; a total that equals the cap does not exceed it."""
        said, true = (exceeds(total, self.cap, self.size) for total in (self.estimated, self.total))
        return ("t" if said == true else "f") + ("p" if said else "n")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("planned", "size")}
        planned = None if self.planned is None else self.planned.to_dict()
        return {**plain, "outcome": self.outcome, "planned": planned}


def first_round(
    mechanism: Given,
    counts: npt.ArrayLike | Population,
    *,
    first: float,
    cap: float,
    threshold: float,
    rng: np.random.Generator | None = None,
    domain: Domain | None = None,
    confirm: int | None = None,
    **asked: Any,
) -> CapacityAnswer:
    """Simulate a first round with a small budget, and plan from what it estimates.

    The budget is enough for the people that the first round saw. What it does for the people as they are, which only
    a simulation knows, the answer's `truth` tells, and its confirmation, too, is of those. `first_rounds` shows how
    much hangs on the first round's luck. With reports of a real first round, give `capacity` their Estimate, and
    `spent`.

    Args:
        mechanism: As for `capacity`.
        counts: The true counts, which only the simulation sees.
        first: Budget of the first round.
        cap: As for `capacity`.
        threshold: As for `capacity`.
        rng: `hush.seeded(7)` to repeat a simulation.
        domain: Its values are the amounts.
        confirm: As for `capacity`.
        asked: Everything else that `capacity` takes: metric, method, ...
    """
    drawing, most, above = source(rng), asked.pop("most", None), asked.pop("above", None)
    people = _asked_of(population(counts, domain=domain, most=most), above, mechanism, first, asked.get("parameters"))
    asked |= {"cap": cap, "threshold": threshold}
    real = question(asked.get("metric", "error"), threshold, cap, people)
    seen = estimated(mechanism, people, first, rng=drawing, parameters=asked.get("parameters"))
    answer = replace(capacity(mechanism, seen, spent=first, rng=drawing, confirm=0, **asked), above=above)
    if answer.epsilon is None:
        return answer
    trials = CapacityTrials(builder(mechanism, people, asked.get("parameters")), people, real, drawing)
    found, confirmation = trials.certified(answer.epsilon), trials.confirmed(answer.epsilon, confirm)
    interval = None if confirmation is None else (confirmation.low, confirmation.high)
    truth = Truth(people.total, found.probability, found.satisfied, interval, people.clipped)
    return replace(answer, truth=truth, confirmation=confirmation, interval=None)


def first_rounds(
    mechanism: Given,
    counts: npt.ArrayLike | Population,
    *,
    rounds: int = 20,
    rng: np.random.Generator | None = None,
    told: Callable[[CapacityAnswer], None] | None = None,
    **asked: Any,
) -> tuple[CapacityAnswer, ...]:
    """Simulate several first rounds, each planning a budget: the range of budgets, and how many keep the wish.

    Args:
        mechanism: As for `capacity`.
        counts: The true counts.
        rounds: How many.
        rng: `hush.seeded(7)` to repeat a simulation.
        told: Called after each.
        asked: Everything else that `first_round` takes; only the first round is confirmed.
    """
    drawing = source(rng)
    answers: list[CapacityAnswer] = []
    for _ in range(rules.integer("rounds", rounds, 1, 10**6, "use e.g. 20")):
        answers.append(first_round(mechanism, counts, rng=drawing, **asked))
        asked["confirm"] = 0
        if told is not None:
            told(answers[-1])
    return tuple(answers)


def estimated(
    mechanism: Given,
    people: Population,
    first: float,
    *,
    parameters: Mapping[str, Any] | None = None,
    rng: np.random.Generator | None = None,
) -> Population | OnlyMean:
    """People as one simulated collection estimates them: to the nearest counts that are possible, or only their mean.

    Args:
        mechanism: As for `capacity`.
        people: Who they are.
        first: Budget of the collection.
        parameters: Further parameters of the mechanism.
        rng: `hush.seeded(7)` to repeat a simulation.
    """
    return _collected(mechanism, people, rules.epsilon(first), parameters, source(rng))[0]


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

    Where no budget is found, as where the estimated total equals the cap, the largest is used; `planned.feasible` of
    the step tells. "error" is the metric to use: whether the total exceeds the cap is what is not known beforehand.

    Args:
        mechanism: As for `capacity`.
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
    drawing, budget = source(rng), rules.epsilon(first)
    caps, most, above = _caps(cap, history), options.pop("most", None), options.pop("above", None)
    steps: list[Step] = []
    planned: CapacityAnswer | None = None
    spent = 0.0
    for at, (counts, limit) in enumerate(zip(history, caps, strict=True)):
        people = population(counts, domain=domain, most=most)
        people = _asked_of(people, above, mechanism, budget, options.get("parameters"))
        wish(metric, threshold, limit)
        seen, total = _collected(mechanism, people, budget, options.get("parameters"), drawing)
        spent += budget
        steps.append(Step(at, budget, spent, people.total, total, limit, planned, people.clipped, size_of(people)))
        if told is not None:
            told(steps[-1])
        if at + 1 < len(history):
            planned = capacity(
                mechanism,
                seen,
                cap=caps[at + 1],
                metric=metric,
                threshold=threshold,
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


def _asked_of(people: Population, above: float | None, mechanism: Given, epsilon: float, parameters: Any) -> Population:
    """The people, or who of them is above an amount, if the mechanism can tell."""
    if above is None:
        return people
    fits(builder(mechanism, people, parameters)(epsilon), people, above)
    return counted(people, above)


def _collected(
    mechanism: Given, people: Population, epsilon: float, parameters: Any, rng: np.random.Generator
) -> tuple[Population | OnlyMean, float]:
    """The people as a simulated collection estimates them, and their raw total."""
    m = builder(mechanism, people, parameters)(epsilon)
    domain = Domain(size=people.k, values=people.amounts.tolist())
    if isinstance(m, Numeric):
        total = float(m.forms.total_draw(people.amounts, people.counts)(1, rng)[0])
        return OnlyMean(people.n, total, domain), total
    seen = m.estimate(m.simulate(people.counts, rng=rng))
    return population(seen, domain=domain), float(people.n * (people.amounts @ seen.frequencies))
