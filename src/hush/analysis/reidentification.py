"""Risk that a person is found again in a table of known people, from reports of several attributes.

The attack of Arcolezi et al. (VLDB 2023): guess every attribute from its report, then point at someone in the table who
has all of them. It succeeds if every guess is right and, among those who share the profile, the right one is picked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def profile_match(successes: Sequence[float], sizes: Sequence[int], people: int) -> float:
    """Expected success, for attributes that are uniform and independent in a table of so many people.

    Everyone else shares the profile with probability r = 1 / (product of the sizes), so the expected chance to pick
    the right one is E[1 / (1 + Bin(people-1, r))] = (1 - (1-r)^people) / (people r).

    >>> profile_match([1.0], [2], 2)
    0.75
    """
    log_share = -sum(math.log(size) for size in sizes)
    share = math.exp(log_share)
    nobody = people * math.log1p(-share)  # log P(none of the people has a given profile)
    alone = -math.expm1(nobody) / (people * share) if share > 0 else 1.0
    return math.prod(successes) * alone
