"""Who consumes how much: counts of people, and the amount that each value stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hush.columns import cells, kind
from hush.datasets import Dataset
from hush.domain import Domain
from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.estimation import Estimate
from hush.estimation.consistency import simplex
from hush.types import Floats, Ints

Source = npt.ArrayLike | Estimate | Dataset

_MOST_PEOPLE = 10**12
_LARGEST = 1e100
_MOST_AMOUNTS = 10**6


@dataclass(frozen=True, eq=False)
class Population:
    """People, counted by what they hold.

    Args:
        counts: How many hold each value.
        amounts: What each value adds to the total.
        total: The true total, before outliers were clipped.
        clipped: How many people were moved to the largest amount.
        estimated: Whether the counts are those that a collection estimated, and not the truth.
    """

    counts: Ints
    amounts: Floats
    total: float
    clipped: int = 0
    estimated: bool = False

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        """Number of values."""
        return self.counts.size

    @property
    def expected(self) -> float:
        """The total that an unbiased estimate is right about: the true one, less what clipping took away."""
        return float(self.amounts @ self.counts)


def population(
    counts: Source | None = None,
    *,
    values: npt.ArrayLike | None = None,
    domain: Domain | None = None,
    most: float | None = None,
) -> Population:
    """People from counts, from an earlier estimate, or from their amounts one by one.

    Args:
        counts: People of each value; or an Estimate of an earlier collection, taken to the nearest whole people that
            are possible; or a Dataset.
        values: In place of counts, the amount of each person.
        domain: Its `values` are the amounts; left out, numeric labels, or 0, 1, 2, ...
        most: Clip larger amounts to the largest one up to this. It shrinks the domain and the noise; the truth that
            decisions are held against is still the whole total.

    >>> population([5, 3, 1], domain=Domain(size=3, values=[0, 10, 300]), most=50).expected
    40.0
    """
    if (counts is None) == (values is None):
        raise ParameterError(message("counts", "must be given, or else values", counts, "give one of the two"))
    people, amounts = _listed(values, domain) if values is not None else _counted(counts, domain)
    if not 1 <= people.sum() <= _MOST_PEOPLE:
        rule = f"must hold 1 to {_MOST_PEOPLE:.0e} people"
        raise ParameterError(message("counts", rule, int(people.sum()), "count the people of each value"))
    if not np.abs(amounts).max() <= _LARGEST:
        raise ParameterError(message("domain", "must have amounts up to 1e100", amounts.max(), "use a larger unit"))
    least = np.abs(amounts[amounts != 0]).min(initial=np.inf)
    if least < 1 / _LARGEST:
        rule = "must have amounts of 0 or of at least 1e-100"
        raise ParameterError(message("domain", rule, float(least), "use a smaller unit"))
    whole = Population(people, amounts, float(amounts @ people), estimated=isinstance(counts, Estimate))
    return whole if most is None else _clipped(whole, most)


def _counted(counts: Source | None, domain: Domain | None) -> tuple[Ints, Floats]:
    if isinstance(counts, Dataset):
        return counts.counts, _amounts(domain or counts.domain, counts.k)
    if isinstance(counts, Estimate):
        return _whole(counts.n, simplex(counts.frequencies)), _amounts(domain or counts.domain, counts.domain.size)
    array = cells(counts, "counts")
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size < 2 or (array < 0).any():
        rule = "must be two or more non-negative integers"
        raise ParameterError(message("counts", rule, counts, "count the people of each value"))
    if float(array.astype(np.float64).sum()) > _MOST_PEOPLE:
        rule = f"must hold 1 to {_MOST_PEOPLE:.0e} people"
        raise ParameterError(message("counts", rule, counts, "count the people of each value"))
    return array.astype(np.int64), _amounts(domain, array.size)


def _amounts(domain: Domain | None, k: int) -> Floats:
    """What each value of a domain adds to a total."""
    if domain is None:
        return np.arange(k, dtype=np.float64)
    if not isinstance(domain, Domain):
        raise ParameterError(message("domain", "must be a Domain", domain, "use hush.Domain(size=3, values=[0, 1, 5])"))
    if domain.size != k:
        raise ParameterError(message("domain", f"must have {k} values", domain.size, "match counts and domain"))
    if domain.values is not None:
        return np.array(domain.values, np.float64)
    labels = domain.labels
    if labels is not None and any(isinstance(label, str) for label in labels):
        rule = "must say what its values amount to"
        raise ParameterError(message("domain", rule, labels, "give it values=[...], one number each"))
    return np.arange(k, dtype=np.float64) if labels is None else np.array(labels, np.float64)


def _whole(n: int, shares: Floats) -> Ints:
    """Whole people, n in all, as near to the shares as can be."""
    exact = n * shares
    counts = np.floor(exact).astype(np.int64)
    nearest = np.argsort(counts - exact, kind="stable")
    counts[nearest[: max(0, n - int(counts.sum()))]] += 1
    return counts


def _listed(values: npt.ArrayLike, domain: Domain | None) -> tuple[Ints, Floats]:
    """Counts of the amounts that people hold, one by one."""
    given = cells(values)
    if given.dtype.kind not in "iuf" or given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        rule = "must be finite numbers, at least one"
        raise ParameterError(message("values", rule, Unsaid(f"{kind(given)}, shape {given.shape}"), "pass amounts"))
    if domain is not None:
        amounts = _amounts(domain, domain.size)
    elif (given == np.rint(given)).all() and given.min() >= 0 and given.max() < _MOST_AMOUNTS:
        amounts = np.arange(max(2, int(given.max()) + 1), dtype=np.float64)
    else:
        rule = "must be integers from 0 on, where no domain is given"
        raise ParameterError(message("values", rule, Unsaid("others"), "give a domain with values=[...]"))
    order = np.argsort(amounts)
    at = np.minimum(np.searchsorted(amounts[order], given), amounts.size - 1)
    wrong = amounts[order][at] != given
    if wrong.any():
        where = Unsaid(f"another one at position {int(np.argmax(wrong))}")
        raise DomainError(message("values", "must be amounts of the domain", where, "add them to its values"))
    return np.bincount(order[at], minlength=amounts.size).astype(np.int64), amounts


def _clipped(whole: Population, most: float) -> Population:
    """Those above the limit are counted at the largest amount that is left."""
    counts, amounts = whole.counts, whole.amounts
    kept = amounts <= most
    if isinstance(most, bool) or kept.sum() < 2:
        raise ParameterError(message("most", "must leave at least two amounts", most, "clip less"))
    moved = int(counts[~kept].sum())
    people = counts[kept].copy()
    people[np.argmax(amounts[kept])] += moved
    return replace(whole, counts=people, amounts=amounts[kept], clipped=moved)
