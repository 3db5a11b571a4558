"""Who will report: fixed counts, or n people drawn from a distribution."""

from __future__ import annotations

import numpy as np

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.estimation import Estimate
from hush.estimation.population import estimated
from hush.estimation.possible import total
from hush.people import Domain, Population
from hush.people.columns import as_array

__all__ = ["MOST_PEOPLE", "Population", "population"]

MOST_PEOPLE = 10**12


def population(given: object, n: int | None) -> Population:
    """From counts; from weights and n; or from an earlier estimate, projected onto the simplex, and n or its own."""
    if isinstance(given, Estimate):
        given = estimated(given)
    known = given if isinstance(given, Population) else None
    if known is not None and n is None:
        n = known.drawn
    array = as_array("population", given if known is None else known.weights)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        rule = "must be a row of counts, or of weights with n beside them"
        got = Unsaid("none") if array.size == 0 else given
        raise ParameterError(message("population", rule, got, "say how many people hold each value"))
    rules.domain_size(int(array.size))
    with np.errstate(over="ignore"):
        everything = array.sum()
    if not (np.isfinite(array).all() and (array >= 0).all() and 0 < everything < np.inf):
        rule = "must be finite, non-negative and not all zero"
        raise ParameterError(message("population", rule, given, "say how many people hold each value"))
    domain = Domain(size=int(array.size)) if known is None else known.domain
    if n is not None:
        people = rules.integer("n", n, 1, MOST_PEOPLE, "count the people who will report")
        return Population(array.astype(np.float64), domain, drawn=people)
    if array.dtype.kind == "f":
        rule = "must be whole counts where n is left out"
        raise ParameterError(message("population", rule, given, "give n, the number of people, beside a distribution"))
    rules.integer("n", total(array), 1, MOST_PEOPLE, "count the people who will report")
    return Population(array.astype(np.int64), domain)
