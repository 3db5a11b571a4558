"""How estimates of utility-optimized mechanisms are distributed, for intervals that cover at every n.

How often a value that is not sensitive is revealed is a binomial of those who hold it. What a report adds to the
estimate of a sensitive value is bounded, whoever sent it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hush.estimation.bounds import Bounded, Term
from hush.estimation.laws import Law, Parts, Supports

if TYPE_CHECKING:
    from hush.mechanisms._base import Floats, Ints
    from hush.utility._oracle import UtilityOracle


def law(u: UtilityOracle, tally: Ints, n: int) -> Law | None:
    """Of all values; None where not enough is known of the base mechanism's reports."""
    others = u._others.size
    if not others:
        return u.base.law(tally[:-1].reshape(u.base._empty().shape), n)
    terms = u.base.terms()
    if terms is None:
        return None
    own, other, least = terms
    squares = _squares(u)
    hidden = _hidden(u, other, float(squares.max()))
    least = min(least, float(squares.min()))
    protected = Bounded(u.decode(tally, n)[u._sensitive], n, own, other.widest(hidden), least)
    revealed = Supports(tally[-1 - others : -1], n, u.z_star, 0.0)
    return Parts(u.k, [(u._sensitive, protected), (u._others, revealed)])


def _squares(u: UtilityOracle) -> Floats:
    """The variance of what somebody whose value is not sensitive adds to each sensitive one."""
    alone = 1 - u.f if u.reveal == "pair" else u.z_star
    return np.asarray(u._moments_sent.square + alone * u._offset**2, np.float64)


def _hidden(u: UtilityOracle, other: Term, variance: float) -> Term:
    """What they add: a base report, or the value alone, which takes an offset off."""
    offset = u._offset
    return Term(variance, max(other.up, float(-offset.min())), max(other.down, float(offset.max())))
