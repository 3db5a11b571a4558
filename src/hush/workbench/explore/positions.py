"""Where the sliders can stand, and what their ends mean."""

from __future__ import annotations

from collections.abc import Sequence

from hush.reports.statements import lay

SIZES = (
    *(2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800),
    *(1000, 1200, 1500, 2000, 3000, 5000, 10_000),
)
"""Numbers of values."""

EPSILONS = (
    *(round(0.1 * i, 1) for i in range(1, 21)),
    *(2.0 + 0.25 * i for i in range(1, 9)),
    *(4.0 + 0.5 * i for i in range(1, 13)),
)
"""Budgets of one report, in nats."""

PEOPLE = (*(round(head * 10**power) for power in range(2, 7) for head in (1, 1.5, 2, 3, 5, 7)), 10_000_000)
"""Numbers of people."""

MOST_VALUES, MOST_PEOPLE = 10_000, 10**9
LEAST_EPSILON, MOST_EPSILON = 0.01, 10.0
"""Bounds of what may be typed."""

PRIVATE_END = "more private, less accurate"
OPEN_END = "less private, more accurate"
"""The ends of the slider of epsilon."""


def nearest(positions: Sequence[float], value: float) -> int:
    """The index of the position that is nearest to a value, by their ratio.

    >>> SIZES[nearest(SIZES, 27)], EPSILONS[nearest(EPSILONS, 1.04)]
    (25, 1.0)
    """
    return min(range(len(positions)), key=lambda i: max(positions[i] / value, value / positions[i]))


def budget_in_words(epsilon: float) -> str:
    """What a budget promises.

    >>> print(budget_in_words(1.0))
    Any report is at most 2.72 times likelier for one answer than for another. Whoever thinks beforehand that an answer is 10 % likely can think it at most 23.2 % likely after seeing the report.
    """  # noqa: E501 (a sentence)
    return (
        f"Any report is at most {lay.times(epsilon)} times likelier for one answer than for another. Whoever thinks "
        f"beforehand that an answer is 10 % likely can think it at most {lay.at_most(0.1, epsilon)} % likely after "
        "seeing the report."
    )
