"""What a person has spent: a function of how many reports there were, never of what they said or of what changed.

A report that is withheld because a value changed would tell that it did. So the account of a collection is a number of
reports, and the loss is what that number can lose. Of mechanisms with fresh noise it is the sum, as exact fractions; of
protocols that keep answers it is the bound for values that change: at times that are known anyway, or at any times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from hush.errors import ParameterError, Unsaid, message
from hush.guarantee import ApproxLDP
from hush.longitudinal.ledger import as_written
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class Account:
    """What so many reports of one person, in one collection, come to.

    Args:
        reports: How many there were.
        spent: Their loss for values that change, where answers are kept at known times (each attribute of a tuple for
            itself) or at any: what a limit is held against; None where nothing bounds it.
        unchanging: Their loss for a value that does not change.
        delta: The sum of the reports' deltas, where they have some.
    """

    reports: int
    spent: Fraction | None
    unchanging: Fraction
    delta: Fraction = Fraction(0)


def account(spec: Spec, reports: int, *, times_known: bool = True) -> Account:
    """The account of so many reports of one person.

    Args:
        spec: What makes them.
        reports: How many there are.
        times_known: Whether everybody may know when a value changes, if not to what; else any two histories are
            compared, and where kept answers are shown without fresh noise, nothing bounds more than one report.
    """
    m = spec.mechanism
    if reports == 0:
        return Account(0, Fraction(0), Fraction(0))
    if m.kind != "longitudinal":
        if m.guarantee is None:
            rule, got = "must have a guarantee to be accounted for", Unsaid(m.name())
            raise ParameterError(message("mechanism", rule, got, "use e.g. OUE"))
        total = as_written(m.guarantee.epsilon) * reports
        delta = as_written(m.guarantee.delta) * reports if isinstance(m.guarantee, ApproxLDP) else Fraction(0)
        return Account(reports, total, total, delta)
    bound = m.history_bound(reports) if times_known else m.any_histories_bound(reports)
    return Account(
        reports, None if math.isinf(bound) else as_written(bound), as_written(m.sequence_guarantee(reports).epsilon)
    )


def cost(spec: Spec) -> Callable[[int], Fraction | None]:
    """What so many reports of one person are charged; None where nothing bounds it."""

    @cache
    def of(reports: int) -> Fraction | None:
        return account(spec, reports).spent

    return of
