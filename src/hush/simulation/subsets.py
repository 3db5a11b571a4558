"""Tallies of subset selection, drawn from their exact law in O(k·omega), whatever the number of people.

Split each value's people into those whose subset holds their own value and the rest, then walk the values in
order, keeping only how many people still have r slots to fill. While their own value is still ahead, people of one
kind are exchangeable, so those whose turn it is are a uniform sample without replacement. At each value, a person
with r slots left takes it with probability r / (eligible values left).
"""

from __future__ import annotations

import numpy as np

from hush.types import Ints

MOST_TOGETHER = 500_000_000
"""People that are drawn from together: numpy's hypergeometric sampler takes fewer than 10^9."""


def subset_members(counts: Ints, omega: int, p: float, rng: np.random.Generator) -> Ints:
    """How often each value is a member of the reported subsets."""
    if counts.sum() > MOST_TOGETHER:
        half = counts // 2
        return subset_members(half, omega, p, rng) + subset_members(counts - half, omega, p, rng)
    included = rng.binomial(counts, p).astype(np.int64)
    kept, lost = np.zeros(omega + 1, np.int64), np.zeros(omega + 1, np.int64)
    kept[omega - 1], lost[omega] = included.sum(), (counts - included).sum()
    return sets_with_own(counts, included, kept, lost, rng)


def sets_with_own(counts: Ints, included: Ints, kept: Ints, lost: Ints, rng: np.random.Generator) -> Ints:
    """How often each value is a member, where so many people of each value have it in their set.

    Args:
        counts: People of each value.
        included: Those of them whose set holds it.
        kept: How many sets with their person's value have 0, 1, 2, … other members.
        lost: How many sets without it have 0, 1, 2, … members.
        rng: Draws.
    """
    k, tally = counts.size, included.copy()
    holders, others, passed = kept.copy(), lost.copy(), np.zeros(kept.size, np.int64)
    slots = np.arange(kept.size)
    for v in range(k):
        # Until their own value comes, people with as many slots left are alike.
        turn = rng.multivariate_hypergeometric(holders, int(included[v]), method="marginals")
        other_turn = rng.multivariate_hypergeometric(others, int(counts[v] - included[v]), method="marginals")
        holders, others = holders - turn, others - other_turn
        left = k - v - 1
        for group, eligible in ((holders, left), (others, left), (passed, left + 1)):
            taken = rng.binomial(group, np.minimum(slots / max(eligible, 1), 1.0))
            tally[v] += taken.sum()
            group -= taken
            group[:-1] += taken[1:]
        passed += turn + other_turn
    return tally


def drawn_members(counts: Ints, omega: int, p: float, rng: np.random.Generator) -> Ints:
    """As `subset_members`, with a subset drawn for everybody: quicker for some ten thousand people and large subsets.

    >>> int(drawn_members(np.array([5, 0, 3]), 2, 0.8, np.random.default_rng(7)).sum())
    16
    """
    from hush.kernels.subset_sums import subset_sums

    out = np.zeros(counts.size, np.int64)
    words = (counts.size + 63) // 64
    subset_sums(rng.integers(0, 2**64, (4, words + 1), dtype=np.uint64), counts, omega, p, out)
    return out
