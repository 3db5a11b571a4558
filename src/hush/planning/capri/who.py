"""Who is planned for, as far as it is known, and what tries budgets for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.people.domain import Domain
from hush.planning.capri.build import Given, Mechanism, builder
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Population, Told, only_mean, population
from hush.planning.capri.question import CapacityQuestion
from hush.planning.capri.trial import CapacityTrials, Watch
from hush.planning.capri.worst import WorstTrials
from hush.types import Floats

Trials = CapacityTrials | WorstTrials


def known(
    counts: Told | None,
    *,
    values: npt.ArrayLike | None,
    domain: Domain | None,
    most: float | None,
    above: float | None,
) -> Population | OnlyMean:
    """Who takes part, as far as it is known: people by their amounts, or only their mean."""
    if not isinstance(counts, (MeanEstimate, OnlyMean)):
        return population(counts, values=values, domain=domain, most=most)
    if values is not None:
        rule = "must be left out beside values"
        raise ParameterError(message("counts", rule, Unsaid("a mean"), "give one of the two"))
    if most is not None:
        rule = "must be left out where only a mean is known, which larger amounts are part of"
        raise ParameterError(message("most", rule, most, "clip amounts when they are collected"))
    told = only_mean(counts, domain)
    if above is not None and not _ones(told.amounts):
        rule = "must be left out where only a mean is known, unless amounts are 0 and 1"
        raise ParameterError(message("above", rule, above, "collect frequencies first, e.g. with 'OUE'"))
    return told


def tried_for(
    mechanism: Given,
    people: Population | OnlyMean,
    parameters: Mapping[str, Any] | None,
    asked: CapacityQuestion,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Trials:
    """What tries budgets for people: for all that are possible, where only a mean is known."""
    build = builder(mechanism, people, parameters)
    if isinstance(people, Population):
        return CapacityTrials(build, people, asked, rng, watch)
    return WorstTrials(build, people, asked, rng, watch)


def fits(m: Mechanism, who: Population | OnlyMean, above: float | None) -> None:
    """Refuse a mechanism that estimates too little, or more than is known of these people.

    How many people are above an amount is no mean, unless everybody tells a one or a zero.
    """
    if isinstance(m, Numeric) and above is not None and not _ones(who.amounts):
        rule = "must estimate frequencies, to count people above an amount"
        remedy = "use e.g. 'OUE', or have people tell 1 where they are above it and 0 where they are not"
        raise ParameterError(message("mechanism", rule, m.name(), remedy))
    if isinstance(who, OnlyMean) and not isinstance(m, Numeric):
        rule = "must estimate a mean, since no more is known of these people"
        remedy = "use e.g. 'Duchi', or collect frequencies first"
        raise ParameterError(message("mechanism", rule, m.name(), remedy))


def _ones(amounts: Floats) -> bool:
    """Whether a total counts those who hold a one."""
    return bool(np.isin(amounts, (0.0, 1.0)).all())
