"""The larger budget that RS+FD gives the sampled attribute, and the way back.

Arcolezi et al. (CIKM 2021) argue that hiding which attribute was sampled amplifies privacy, so that a randomizer
with epsilon' = ln(d(e^epsilon - 1) + 1) makes the whole report epsilon-private. It does not: for tuples that differ in
every attribute the loss is epsilon' itself.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

from hush import rules
from hush.errors import ParameterError, message

_DIGITS = Context(prec=60)


def amplified(epsilon: float, d: int) -> float:
    """ln(d(e^epsilon - 1) + 1), rounded down: the budget of RS+FD's sampled attribute, and the true loss of a report.

    >>> round(amplified(1.0, 2), 3), round(amplified(1.0, 10), 3)
    (1.49, 2.9)
    """
    budget, attributes = rules.epsilon(epsilon), rules.integer("d", d, 1, 10**6, "count the attributes")
    with localcontext(_DIGITS):
        exact = (attributes * (Decimal(budget).exp() - 1) + 1).ln()
        nearest = float(exact)
        return nearest if Decimal(nearest) <= exact else math.nextafter(nearest, 0.0)


def claim_for(loss: float, d: int) -> float:
    """The largest epsilon to give to RS+FD so that its true loss is at most `loss`.

    >>> round(claim_for(amplified(1.0, 5), 5), 12)
    1.0
    """
    wanted, attributes = rules.epsilon(loss), rules.integer("d", d, 1, 10**6, "count the attributes")
    with localcontext(_DIGITS):
        claim = float(((Decimal(wanted).exp() - 1) / attributes + 1).ln())
    if claim < rules.MIN_EPSILON:
        least = f"must be so large that {attributes} attributes get {rules.MIN_EPSILON:g} or more"
        raise ParameterError(message("loss", least, loss, "allow a larger loss"))
    while amplified(claim, attributes) > wanted:
        claim = math.nextafter(claim, 0.0)
    return claim
