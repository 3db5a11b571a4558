"""Rules that collections of tuples obey, checked once, at construction or entry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hush import rules
from hush.errors import DomainError, ParameterError, Unsaid, message
from hush.mechanisms.inference import shares
from hush.people.columns import cells, not_integers
from hush.types import Floats, Ints

MAX_ATTRIBUTES = 1_000


def sizes(given: object, least: int) -> tuple[int, ...]:
    """Domain sizes, one for each attribute."""
    listed = _listed(given)
    if listed is None or not least <= len(listed) <= MAX_ATTRIBUTES:
        rule = f"must list the domain sizes of {least}..{MAX_ATTRIBUTES} attributes"
        raise ParameterError(message("sizes", rule, given, "give one integer for each attribute, e.g. (2, 5)"))
    remedy = "count the values of that attribute; it needs two or more"
    return tuple(rules.integer(f"sizes[{j}]", k, 2, rules.MAX_VALUES, remedy) for j, k in enumerate(listed))


def names(name: str, given: object, d: int, allowed: Iterable[str]) -> tuple[str, ...]:
    """One name for all attributes, or one for each."""
    known = tuple(allowed)
    listed = [given] * d if isinstance(given, str) else _listed(given)
    if listed is None or len(listed) != d:
        raise ParameterError(message(name, f"must be one name, or {d}", given, f"use e.g. {known[0]!r}"))
    for each in listed:
        if not isinstance(each, str) or each not in known:
            rule = f"must be one of {', '.join(known)}"
            raise ParameterError(message(name, rule, each, f"use e.g. {known[0]!r}"))
    return tuple(str(each) for each in listed)


def options(given: object) -> tuple[tuple[str, Any], ...]:
    """Parameters by name, as sorted pairs, which can be hashed."""
    try:
        pairs = dict(given) if isinstance(given, Mapping) else dict(_listed(() if given is None else given))  # type: ignore[arg-type]
        plain = {str(key): value.item() if isinstance(value, np.generic) else value for key, value in pairs.items()}
    except (TypeError, ValueError):
        plain = {"": None}
    for key, value in plain.items():
        if not (key.isidentifier() and key not in ("k", "epsilon") and isinstance(value, (int, float, str))):
            rule = "must map parameters of the mechanism, other than k and epsilon, to numbers or text"
            raise ParameterError(message("options", rule, given, "use e.g. {'p': 0.7}"))
    return sorted_pairs(plain)


def sorted_pairs(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters by name, as sorted pairs, which can be hashed."""
    return tuple(sorted((str(name), tuple(x) if isinstance(x, list) else x) for name, x in given.items()))


def chosen(given: object, d: int) -> tuple[tuple[tuple[str, Any], ...], ...] | None:
    """What the mechanism of each attribute chose, if it is told."""
    if given is None:
        return None
    listed = [dict(each) if isinstance(each, tuple) else each for each in _listed(given) or ()]
    if len(listed) != d or not all(isinstance(each, Mapping) for each in listed):
        rule = f"must be {d} mappings of parameters to what was chosen"
        raise ParameterError(message("chosen", rule, given, "leave it out"))
    return tuple(sorted_pairs(each) for each in listed)


def priors(given: object, domain: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    """One distribution for each attribute, none left out."""
    listed = _listed(given)
    if listed is None or len(listed) != len(domain) or any(each is None for each in listed):
        rule = f"must be {len(domain)} distributions, one for each attribute"
        raise ParameterError(message("priors", rule, given, "give each value of each attribute a probability"))
    for each, k in zip(listed, domain, strict=True):
        shares(each, k)
    return tuple(tuple(float(x) for x in each) for each in listed)


def beliefs(given: object, domain: Sequence[int]) -> tuple[Floats, ...]:
    """How likely an attacker holds each value of each attribute to be; uniform where left out."""
    listed = [None] * len(domain) if given is None else _listed(given)
    if listed is None or len(listed) != len(domain):
        rule = f"must be {len(domain)} distributions, one for each attribute"
        raise ParameterError(message("priors", rule, given, "use None for a uniform one"))
    return tuple(shares(each, k) for each, k in zip(listed, domain, strict=True))


def attribute(given: object, d: int) -> int:
    """The position of an attribute."""
    return rules.integer("attribute", given, 0, d - 1, "count attributes from 0")


def changed(given: object, d: int) -> int:
    """In how many attributes two tuples may differ; all when left out."""
    if given is None:
        return d
    return rules.integer("changed", given, 1, d, "leave it out for tuples that differ in every attribute")


def tuples(data: object, domain: Sequence[int]) -> Ints:
    """Tuples as int64, shape (n, d), each value within its attribute's domain."""
    d = len(domain)
    try:
        array, shown = cells(data), ""
    except ValueError:
        array, shown = np.empty(0, object), Unsaid("rows of different lengths")
    if array.size == 0 and array.ndim <= 2 and array.dtype.kind in "fiu" and array.shape[-1:] in ((0,), (d,)):
        return np.zeros((0, d), np.int64)
    if array.dtype.kind not in "iub":
        got = shown or not_integers(array)
        raise ParameterError(message("tuples", "must be integers", got, "encode labels as 0..k-1 first"))
    if array.ndim != 2 or array.shape[1] != d:
        rule = f"must have shape (n, {d}), one column for each attribute"
        raise ParameterError(message("tuples", rule, array.shape, "stack the columns with np.stack(..., axis=1)"))
    for j, k in enumerate(domain):
        column = array[:, j]
        if int(column.min()) < 0 or int(column.max()) >= k:
            at = int(np.nonzero((column < 0) | (column >= k))[0][0])
            where = Unsaid(f"another one in row {at}")
            raise DomainError(message(f"attribute {j}", f"must lie in 0..{k - 1}", where, "check sizes"))
    return array.astype(np.int64, copy=False)


def mean_inverse(n: int, share: float) -> float:
    """The mean of 1/N for a binomial N of n draws that is known to be at least 1.

    >>> mean_inverse(2, 0.5)  # N is 1 with odds 2 to 1 against 2
    0.8333333333333334
    """
    if share == 1.0 or n > 10**12:
        return (1 + (1 - share) / (n * share)) / (n * share)
    reach = 10 * math.sqrt(n * share * (1 - share)) + 40
    counts = np.arange(max(1, int(n * share - reach)), min(n, int(n * share + reach) + 1) + 1, dtype=np.float64)
    steps = np.log((n - counts[:-1]) / counts[1:] * (share / (1 - share)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return float((weights / counts).sum() / weights.sum())


def _listed(given: object) -> list[Any] | None:
    """The members of a sequence or array; None for anything else."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        return None
    try:
        return list(given)
    except TypeError:  # an array without dimensions
        return None
