"""How estimates of utility-optimized mechanisms are distributed, for intervals that cover at every n.

How often a value that is not sensitive is revealed is a binomial of those who hold it. What a report adds to the
estimate of a sensitive value is bounded, whoever sent it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hush.estimation.bounds import Bounded, Either, Mixed, MixturePart, Term, Terms
from hush.estimation.laws import EstimateLaw, Parts, Supports
from hush.utility._revelation import Silent

if TYPE_CHECKING:
    from hush.types import Ints
    from hush.utility.oracle import UtilityOracle


def law(u: UtilityOracle, tally: Ints, n: int) -> EstimateLaw | None:
    """Of all values; None where not enough is known of the base mechanism's reports."""
    others = u._others.size
    if not others:
        return u.base.law(tally[:-1].reshape(u.base._empty().shape), n)
    terms = u.base.terms()
    if terms is None:
        return None
    hidden, least = _hidden(u, terms)
    together = Terms(terms.own, Either.of(terms.other, hidden), min(terms.least, least), terms.lattice)
    protected = Bounded(u._decoded(tally, n, u.base.decode_evenly)[u._sensitive], n, together)
    revealed = Supports(tally[-1 - others : -1], n, u.z_star, 0.0)
    return Parts(u.k, [(u._sensitive, protected), (u._others, revealed)])


def _hidden(u: UtilityOracle, terms: Terms) -> tuple[Term, float]:
    """What somebody adds whose value is not sensitive: a base report, or an offset for the value alone.

    And their least variance. Where every base report is sent on alike, it is that of a uniform sensitive value.
    """
    offset, base = u._offset, u._revelation
    alone = u._alone
    if isinstance(base, Silent) or (u.reveal == "alone" and base.constant is None):
        squares = u._moments_sent.square + alone * offset**2
        up, down = max(terms.other.up, float(-offset.min())), max(terms.other.down, float(offset.max()))
        return Term(float(squares.max()), up, down), float(squares.min())
    level, one, sent = float(offset[0]), 1 / u.s, 1 - alone  # all sensitive values are disguises equally often
    held = MixturePart(sent * one, 1.0, 1.0, terms.own), MixturePart(sent * (1 - one), 0.0, 1.0, terms.other)
    least = sent * (one + (1 - one) * terms.least if u.s > 1 else one) + alone * level**2
    return Mixed.of(*held, MixturePart(alone, -level)), least
