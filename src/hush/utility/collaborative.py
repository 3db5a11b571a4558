"""Collaborative sampling: a few people say how many values are not sensitive, and the rest use the best parameter.

Section 5.4 of document 002, after Qian et al. (IEEE TIFS 2023). The best parameter depends on theta, the share of
people whose value is not sensitive. A random twentieth reports first, with a parameter that is best for an assumed
theta; their estimate of it chooses the parameter for all others. Nobody reports twice, so nobody spends more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.estimation.bounds import Summed
from hush.people.domain import Domain, integers
from hush.randomness import source
from hush.simulation import tallies
from hush.utility.named import NamedOracle
from hush.utility.oracle import UtilityOracle

_MOST = 10**9
"""People that numpy draws some from without replacement are fewer."""


@dataclass(frozen=True)
class Collaboration:
    """What came of it.

    Args:
        theta: The share of people whose value is not sensitive, as the first ones told it.
        first: The mechanism of the first people.
        second: That of the others.
        estimate: From all reports together.
    """

    theta: float
    first: UtilityOracle
    second: UtilityOracle
    estimate: Estimate


def told_theta(u: UtilityOracle, aggregate: Aggregate) -> float:
    """The share of people whose value is not sensitive, as reports tell it, in [0, 1]."""
    told = float(u.estimate(aggregate).frequencies[u._others].sum())
    return min(max(told, 0.0), 1.0)


def combined(parts: Sequence[tuple[UtilityOracle, Aggregate]]) -> Estimate:
    """One estimate from reports of different mechanisms over the same values, each weighed by its number of reports.

    The weights do not depend on what was reported, so the estimate is unbiased, and exact for the people who reported.
    """
    if not parts or len({(u.k, u.sensitive) for u, _ in parts}) != 1:
        rule, remedy = "must be mechanisms over the same values, with aggregates", "pass [(first, a), (second, b)]"
        raise ParameterError(message("parts", rule, len(parts), remedy))
    n = sum(aggregate.n for _, aggregate in parts)
    found = [(a.n, u.estimate(a)) for u, a in parts]
    raw = np.sum([each.frequencies * (size / n) for size, each in found], axis=0)
    spread = np.sum([u.variances(u.likely(raw, n), a.n) * (a.n / n) ** 2 for u, a in parts], axis=0)
    known = [(size, each.known) for size, each in found if each.known is not None]
    law = Summed(known) if len(known) == len(found) else None
    return Estimate(raw, n, Domain(size=parts[0][0].k), np.sqrt(spread), law=law)


def collaborate(
    mechanism: type[NamedOracle],
    *,
    k: int,
    epsilon: float,
    sensitive: Iterable[int] | None = None,
    values: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    share: float = 0.05,
    theta: float = 0.0,
    rng: np.random.Generator | None = None,
    **more: Any,
) -> Collaboration:
    """Collect in two steps.

    Args:
        mechanism: uSS, uUE, uLH, uWheel, uHR, uRR or uRAP.
        k: Domain size.
        epsilon: Privacy loss of one report of a sensitive value, in nats.
        sensitive: The values that need protection; all when left out.
        values: What people hold, to make their reports; or
        counts: how many hold each value, to draw the aggregates without reports.
        share: Of the people, who report first.
        theta: The share of values that are not sensitive that the first step assumes.
        rng: `hush.seeded(7)` to repeat it.
        more: Further parameters of the mechanism, e.g. z.

    >>> import hush
    >>> from hush.utility import uSS
    >>> counts = [400, 300, 200, 100, 4000, 5000]
    >>> seen = collaborate(uSS, k=6, epsilon=1.0, sensitive=range(4), counts=counts, rng=hush.seeded(7))
    >>> abs(seen.theta - 0.9) < 0.2, seen.estimate.n
    (True, 10000)
    """
    if not (isinstance(mechanism, type) and issubclass(mechanism, NamedOracle)):
        raise ParameterError(message("mechanism", "must be uSS, uUE, uLH or their like", mechanism, "use e.g. uSS"))
    if (values is None) == (counts is None):
        both = Unsaid("neither" if values is None else "both")
        raise ParameterError(message("values", "must be given, or counts, but not both", both, "give one of them"))
    part, guess = rules.number("share", share, 0.0, 1.0, "use e.g. 0.05"), rules.share("theta", theta)
    setting: dict[str, Any] = {"k": k, "epsilon": epsilon, "sensitive": sensitive, **more}
    first = mechanism(**setting, theta=guess)
    drawing = source(rng)
    people = tallies.people(counts, first.k) if counts is not None else integers(values, first.k)
    n = int(people.sum()) if counts is not None else int(people.size)
    if n < 2:
        raise ParameterError(message("values", "must be those of two people or more", n, "collect more"))
    if counts is not None and n >= _MOST:
        rule = f"must add up to less than {_MOST}, of whom the first can be drawn"
        raise ParameterError(message("counts", rule, n, "simulate fewer people"))
    ahead = min(max(1, round(part * n)), n - 1)
    if counts is not None:
        early = drawing.multivariate_hypergeometric(people, ahead, method="marginals")
        one = first.simulate(early, rng=drawing)
    else:
        order = drawing.permutation(n)
        one = first.aggregate(first.privatize(people[order[:ahead]], rng=rng))
    told = told_theta(first, one)
    second = mechanism(**setting, theta=told)
    if counts is not None:
        two = second.simulate(people - early, rng=drawing)
    else:
        two = second.aggregate(second.privatize(people[order[ahead:]], rng=rng))
    return Collaboration(told, first, second, combined([(first, one), (second, two)]))
