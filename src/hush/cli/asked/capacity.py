"""What `hush capacity` asks the library: of which mechanism and people, and what comes of it at many budgets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hush.cli.asked.mechanism import with_budget
from hush.cli.asked.options import asked
from hush.cli.asked.reading import merged, parsed, sensitive_in
from hush.cli.shown import bars
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.specs import construct
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.names import meant
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes
from hush.people.clipping import up_to, with_amounts
from hush.people.domain import Domain
from hush.planning import capri
from hush.planning.capri import CapacityAnswer, Evidence, Exposure, OnlyMean, Population
from hush.planning.capri.build import builder

OPTIONS = {name: f"--{name}" for name in ("cap", "above", "method", "runs", "counts", "mechanism")}
OPTIONS |= {
    "metric": "--outcome",
    "threshold": "--probability",
    "most": "--clip-above",
    "epsilon": "--max-epsilon",
    "domain": "--counts",
}

_ROUNDS, _WORK = 20, 3e4  # first rounds to simulate, where a collection takes fewer random numbers


def named(mechanism: str | None, settings: list[str] | None) -> Any:
    """The class of a mechanism for frequencies or means."""
    means = {name.lower(): cls for name, cls in registry("numeric").items()}
    known = {**registry(), **registry("numeric")}
    if mechanism is not None and ":" not in mechanism and mechanism.lower() not in {name.lower() for name in known}:
        near = meant(mechanism, known)
        remedy = f"did you mean {' or '.join(near)}?" if near else f"use one of {', '.join(known)}"
        remedy += " `hush mechanisms` lists those for frequencies" if near else ", or module:Class for one of your own"
        raise ParameterError(message("--mechanism", "must be a known name", mechanism, remedy))
    return means.get((mechanism or "").lower()) or with_budget(mechanism, settings)


def alone(given: dict[str, Any], beside: str) -> None:
    """Refuse what says nothing beside an option."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(message(option, f"must be left out beside {beside}", str(value), "leave one out"))


def some(given: dict[str, Any]) -> None:
    """Refuse that nothing says who reports."""
    if all(value is None for value in given.values()):
        rule = "or --counts, --earlier or --history must be given"
        raise ParameterError(message("--dataset", rule, NOTHING, "use e.g. --counts people.csv"))


def once(domain: Domain, amounts: Domain) -> None:
    """Refuse an amount that stands in two rows without labels to tell them apart."""
    twice = [amount for amount, rows in Counter(amounts.values or ()).items() if rows > 1]
    if twice and domain.labels is None:
        got = Unsaid(f"{twice[0]:g} in several rows")
        raise ParameterError(message("--counts", "must have each value once", got, "add the counts up, or add labels"))


def described(domain: Domain, amounts: Domain, sensitive: list[str] | None, most: float | None) -> Domain:
    """The domain that a spec carries: with the amounts, what --sensitive names, and without what is clipped."""
    values = amounts.values or ()
    whole = with_amounts(domain, values)
    return up_to(whole if sensitive is None else sensitive_in(sensitive, whole), values, most)


def parameters(
    cls: Any, domain: Domain, epsilon: float, delta: float | None, settings: list[str] | None, named: list[str] | None
) -> dict[str, Any]:
    """What the mechanism takes besides k and epsilon, checked by making it at the smallest budget."""
    more = merged({} if delta is None else {"delta": delta}, parsed(settings))
    if "sensitive" in takes(cls):
        more["sensitive"] = domain.sensitive
    elif named is not None:
        rule = f"must be left out for {cls.name()}, which protects all values alike"
        raise ParameterError(message("--sensitive", rule, ",".join(named), "use e.g. uSS"))
    if issubclass(cls, FrequencyOracle):
        asked(lambda: construct(cls, {"k": domain.size, "epsilon": epsilon, **more}), {"epsilon": "--min-epsilon"})
    for name in more:
        if name == "epsilon" or name not in takes(cls):
            rule = f"must be a parameter of {cls.name()}, which takes {', '.join(takes(cls))}, but not the budget"
            raise ParameterError(message(f"--set {name}", rule, more[name], "leave it out"))
    return more


def answered(
    asking: dict[str, Any], people: Population | OnlyMean, spent: float, rng: np.random.Generator, *, quiet: bool
) -> CapacityAnswer:
    """The smallest budget."""
    steps = {"bayes": 40, "mpass": 95}.get(asking["method"], 30)
    with bars.bar("Looking for the smallest budget", quiet=quiet) as tell:
        tried = [0]

        def watch(_: Evidence) -> None:
            tried[0] += 1
            tell(min(tried[0] / (steps + 2), 0.95))

        return asked(lambda: capri.capacity(counts=people, spent=spent, watch=watch, rng=rng, **asking), OPTIONS)


def rehearsed(
    asking: dict[str, Any], people: Population, first: float, rng: np.random.Generator, *, quiet: bool
) -> tuple[CapacityAnswer, ...]:
    """What simulated first rounds plan; only one, where a plan takes long."""
    options = {**OPTIONS, "epsilon": "--first"}
    m = asked(lambda: builder(asking["mechanism"], people, asking["parameters"])(first), options)
    law = capri.law(m, people)
    rounds = 1 if law.costly or law.log is None or law.work > _WORK else _ROUNDS
    with bars.bar("Simulating first rounds, and planning from each", quiet=quiet) as tell:
        done = [0]

        def told(_: CapacityAnswer) -> None:
            done[0] += 1
            tell(done[0] / rounds)

        wish = {**asking, "counts": people, "first": first, "rounds": rounds}
        return asked(lambda: capri.first_rounds(told=told, rng=rng, **wish), options)


def exposed(m: Any, people: Population, limit: float | None, rng: np.random.Generator) -> Exposure:
    """How well the best adversary, who knows how many people hold each amount, guesses from reports at the budget."""
    prior = people.counts / people.n
    return asked(
        lambda: capri.exposure(m, people, limit=limit, prior=prior, reports=50_000, rng=rng), {"limit": "--limit"}
    )
