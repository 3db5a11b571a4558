"""Collaborative sampling: a few people say how many values are not sensitive, and the rest use the best parameter.

Section 5.4 of document 002, after Qian et al. (IEEE TIFS 2023). The best parameter depends on theta, the share of
people whose value is not sensitive. A random twentieth reports first, with a parameter that is best for an assumed
theta; their estimate of it chooses the parameter for all others. Nobody reports twice, so nobody spends more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.estimation import Aggregate, Estimate
from hush.people.columns import column
from hush.people.domain import Domain, integers
from hush.randomness import source
from hush.simulation import tallies
from hush.utility.combining import combined
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


def collaborate(
    mechanism: type[NamedOracle],
    *,
    epsilon: float,
    k: int | None = None,
    sensitive: Iterable[int] | None = None,
    domain: Domain | None = None,
    values: Any = None,
    counts: npt.ArrayLike | None = None,
    share: float = 0.05,
    theta: float = 0.0,
    rng: np.random.Generator | None = None,
    **more: Any,
) -> Collaboration:
    """Collect in two steps.

    Args:
        mechanism: uSS, uUE, uLH, uWheel, uHR, uRR or uRAP.
        epsilon: Privacy loss of one report of a sensitive value, in nats.
        k: Domain size; and
        sensitive: the values that need protection, all when left out; or
        domain: what values are called, and which of them are sensitive.
        values: What people hold, by label where there are some, to make their reports; or
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
    if (domain is None) == (k is None) or (domain is not None and sensitive is not None):
        rule = "must be given, with what is sensitive, or else a domain that says so"
        raise ParameterError(message("k", rule, NOTHING if k is None else k, "give k and sensitive, or a domain"))
    if domain is not None:
        k, sensitive = domain.size, domain.sensitive
    setting: dict[str, Any] = {"k": k, "epsilon": epsilon, "sensitive": sensitive, **more}
    first = mechanism(**setting, theta=guess)
    drawing = source(rng)
    if counts is not None:
        people = tallies.people(counts, first.k)
    else:
        people = integers(values, first.k) if domain is None else domain.encode(column(values)[0])
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
    found = combined([(first, one), (second, two)])
    return Collaboration(told, first, second, found if domain is None else replace(found, domain=domain))
