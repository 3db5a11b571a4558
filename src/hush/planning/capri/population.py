"""Who consumes how much: counts of people, and the amount that each value stands for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import NOTHING, DomainError, ParameterError, Unsaid, message
from hush.estimation import Estimate
from hush.estimation.population import estimated
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.people import Domain, Population
from hush.people.columns import as_array, cells, kind
from hush.planning.capri.means import OnlyMean
from hush.types import Floats

__all__ = ["Population", "Source", "Told", "counted", "only_mean", "population"]

Source = npt.ArrayLike | Estimate | Population
Told = Source | MeanEstimate | OnlyMean
"""Who takes part, as far as it is known."""

_MOST_PEOPLE = 10**12
_LARGEST = 1e100
_MOST_AMOUNTS = 10**6


def population(
    counts: Source | None = None,
    *,
    values: npt.ArrayLike | None = None,
    domain: Domain | None = None,
    most: float | None = None,
    above: float | None = None,
) -> Population:
    """People from counts, from an earlier estimate, or from their amounts one by one.

    Args:
        counts: People of each value, or a Population; or an Estimate of an earlier collection, taken to the nearest
            whole people that are possible.
        values: In place of counts, the amount of each person.
        domain: Its `values` are the amounts; left out, numeric labels, or 0, 1, 2, ...
        most: Clip larger amounts to the largest one up to this. It shrinks the domain and the noise; the truth that
            decisions are held against is still the whole total.
        above: Count people whose amount is above this: each of them amounts to one, everybody else to nothing.

    >>> population([5, 3, 1], domain=Domain(size=3, values=[0, 10, 300]), most=50).expected
    40.0
    """
    if (counts is None) == (values is None):
        raise ParameterError(message("counts", "must be given, or else values", counts, "give one of the two"))
    people = _listed(values, domain) if values is not None else _counted(counts, domain)
    if not 1 <= people.n <= _MOST_PEOPLE:
        rule = f"must hold 1 to {_MOST_PEOPLE:.0e} people"
        raise ParameterError(message("counts", rule, people.n, "count the people of each value"))
    _usable(people.amounts)
    people = people if most is None else people.up_to(most)
    return people if above is None else counted(people, above)


def only_mean(told: MeanEstimate | OnlyMean, domain: Domain | None = None) -> OnlyMean:
    """People of whom an earlier collection told the mean.

    Args:
        told: What it told.
        domain: Its values are the amounts that they may hold; the grid of that collection, if left out.

    >>> people = only_mean(MeanEstimate(1.3, 0.2, 4), Domain(size=4, values=[0, 1, 2, 3]))
    >>> people.total, people.estimated
    (5.0, 5.2)
    """
    if isinstance(told, OnlyMean):
        return told if domain is None else replace(told, domain=_checked(domain))
    n = rules.integer("counts", told.n, 1, _MOST_PEOPLE, "give the estimate of a collection")
    if not math.isfinite(told.mean):
        raise ParameterError(message("counts", "must have a finite mean", told.mean, "estimate it again"))
    if domain is None:
        if not (1 <= told.steps < _MOST_AMOUNTS and told.low < told.high):
            rule = f"must be given where a mean has a grid of more than {_MOST_AMOUNTS:,} amounts"
            raise ParameterError(message("domain", rule, NOTHING, "give the amounts as its values"))
        grid = np.linspace(told.low, told.high, told.steps + 1)
        domain = Domain(size=told.steps + 1, values=[float(f"{amount:.15g}") for amount in grid])
    _usable(_checked(domain).amounts)
    if np.ptp(domain.amounts) == 0:
        rule = "must have two different amounts for a mean"
        raise ParameterError(message("domain", rule, float(domain.amounts[0]), "give other amounts"))
    return OnlyMean(n, told.total, domain)


def counted(people: Population, above: float) -> Population:
    """The same people, of whom only is asked how many have more than an amount.

    >>> counted(population([5, 3, 1], domain=Domain(size=3, values=[0, 10, 300])), 5).expected
    4.0
    """
    given = as_array("above", above)
    if isinstance(above, bool) or given.ndim or given.dtype.kind not in "iuf" or not np.isfinite(given):
        raise ParameterError(message("above", "must be a finite number", above, "use e.g. 30"))
    more = people.amounts > float(above)
    if more.all() or not more.any():
        ends = f"from {people.amounts.min():g} on, below {people.amounts.max():g}"
        rule = f"must be {ends}, so that some amounts are above it and some are not"
        raise ParameterError(message("above", rule, above, "use an amount between them"))
    # Whoever was clipped is at the largest amount, so that nobody is lost.
    return replace(people, domain=Domain(size=people.k, values=more.astype(float).tolist()), unclipped=None)


def _usable(amounts: Floats) -> None:
    """Refuse amounts that doubles cannot square and add up."""
    if not np.abs(amounts).max() <= _LARGEST:
        raise ParameterError(message("domain", "must have amounts up to 1e100", amounts.max(), "use a larger unit"))
    least = np.abs(amounts[amounts != 0]).min(initial=np.inf)
    if least < 1 / _LARGEST:
        rule = "must have amounts of 0 or of at least 1e-100"
        raise ParameterError(message("domain", rule, float(least), "use a smaller unit"))


def _counted(counts: Source | None, domain: Domain | None) -> Population:
    if isinstance(counts, Estimate):
        counts = estimated(counts)
    if isinstance(counts, Population):
        return counts.whole() if domain is None else replace(counts.whole(), domain=_checked(domain))
    if isinstance(counts, (MeanEstimate, OnlyMean)):
        rule = "must count the people of each value, which a mean does not tell"
        raise ParameterError(message("counts", rule, Unsaid("a mean"), "use only_mean"))
    array = cells(counts, "counts")
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size < 2 or (array < 0).any():
        rule = "must be two or more non-negative integers"
        raise ParameterError(message("counts", rule, counts, "count the people of each value"))
    if float(array.astype(np.float64).sum()) > _MOST_PEOPLE:
        rule = f"must hold 1 to {_MOST_PEOPLE:.0e} people"
        raise ParameterError(message("counts", rule, counts, "count the people of each value"))
    return Population(array.astype(np.int64), Domain(size=array.size) if domain is None else _checked(domain))


def _checked(domain: Domain) -> Domain:
    if not isinstance(domain, Domain):
        raise ParameterError(message("domain", "must be a Domain", domain, "use hush.Domain(size=3, values=[0, 1, 5])"))
    return domain


def _listed(values: npt.ArrayLike, domain: Domain | None) -> Population:
    """The people whose amounts are listed one by one."""
    given = cells(values)
    if given.dtype.kind not in "iuf" or given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        rule = "must be finite numbers, at least one"
        raise ParameterError(message("values", rule, Unsaid(f"{kind(given)}, shape {given.shape}"), "pass amounts"))
    if domain is None:
        if not ((given == np.rint(given)).all() and given.min() >= 0 and given.max() < _MOST_AMOUNTS):
            rule = "must be integers from 0 on, where no domain is given"
            raise ParameterError(message("values", rule, Unsaid("others"), "give a domain with values=[...]"))
        domain = Domain(size=max(2, int(given.max()) + 1))
    amounts = _checked(domain).amounts
    order = np.argsort(amounts)
    at = np.minimum(np.searchsorted(amounts[order], given), amounts.size - 1)
    wrong = amounts[order][at] != given
    if wrong.any():
        where = Unsaid(f"another one at position {int(np.argmax(wrong))}")
        raise DomainError(message("values", "must be amounts of the domain", where, "add them to its values"))
    return Population(np.bincount(order[at], minlength=amounts.size).astype(np.int64), domain)
