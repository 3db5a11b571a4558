"""What shuffling would add: the guarantee of all reports together, once nobody can tell who sent which."""

from __future__ import annotations

from hush.analysis.shuffle import MOST_PEOPLE
from hush.mechanisms.base import FrequencyOracle
from hush.planning.shuffling import Shuffled, shuffled_epsilon
from hush.workbench.plan import words
from hush.workbench.plan.answer import Shuffling

_TIMES = (0.1, 0.5, 1.0, 2.0, 10.0)
_FEWEST = 100


def shuffling(m: FrequencyOracle, people: int) -> Shuffling:
    """In words, and for other numbers of people."""
    delta = min(1e-6, 0.1 / people)
    found = shuffled_epsilon(m, people, delta)
    if found.epsilon is None:
        return Shuffling((f"No guarantee of shuffled reports can be stated: {found.reason}.",))
    if found.epsilon > 0.99 * found.local_epsilon:
        return Shuffling(
            (f"Mixing the reports of {words.people(people)} would add nothing that can be proved.",), delta
        )
    numbers = sorted({min(MOST_PEOPLE, max(_FEWEST, round(times * people))) for times in _TIMES} | {people})
    central = {n: found if n == people else shuffled_epsilon(m, n, delta) for n in numbers}
    known = {n: each.epsilon for n, each in central.items() if each.epsilon is not None}
    return Shuffling(_said(found), delta, tuple(known), tuple(known.values()))


def _said(found: Shuffled) -> tuple[str, ...]:
    assert found.epsilon is not None
    return (
        f"Suppose that somebody whom people trust mixes all {found.n:,} reports, and removes whatever tells who sent "
        f"them. Whoever sees only the mixed reports then learns at most ε = {words.rounded_up(found.epsilon)} about "
        f"any one person (with δ = {words.small(found.delta)}), instead of ε = {words.epsilon(found.local_epsilon)}.",
        "The estimates stay the same. Nothing is added against whoever sees a report before it is mixed, and the "
        "mixed number needs all of these people: if fewer report, it is larger.",
    )
