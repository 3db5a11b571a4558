"""What epsilon buys: how much is hidden, how often a guess is right, and how well the crowd is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hush.mechanisms.direct import GRR
from hush.reports.statements import lay

LEAST, MOST = 0.1, 6.0
"""Ends of the slider."""

PRIVATE, EXACT = "more private", "more accurate"
"""What its ends are called."""

_ERRORS = 1.96  # standard errors that hold the truth 95 times in 100


@dataclass(frozen=True)
class Bought:
    """What a budget gives.

    Args:
        epsilon: The budget.
        truthful: How often a report is the truth.
        factor: By how much a report moves anybody's odds, at most.
        guess: How often the best guess of an answer from its report is right, all answers being equally likely.
        luck: How often a guess without a report is.
        reach: Half an error bar of a share of these people.
        people: How many answer.
        answers: How many answers there are.
    """

    epsilon: float
    truthful: float
    factor: float
    guess: float
    luck: float
    reach: float
    people: int
    answers: int

    @property
    def sentences(self) -> tuple[str, str, str]:
        """What is hidden, what a guess gains, and what the crowd shows."""
        right, luck, of = lay.guesses(self.guess, self.luck)
        times = lay.times(self.epsilon)
        return (
            f"About {lay.share(self.truthful)} of reports are the truth, and nobody can tell which. A report moves "
            f"anybody's odds between two answers by a factor of {times}, at most.",
            f"Whoever sees one report and guesses best is right {right} times in {of}; by luck alone, {luck} times.",
            f"Of {self.people:,} people, the share of an answer is known within ±{points(self.reach)}, 95 times in "
            "100. Asked openly, it would be known for certain, and so would every person's answer.",
        )

    @property
    def name(self) -> str:
        """How private that is, in words, by how often a guess is right beyond luck."""
        gained = (self.guess - self.luck) / (1 - self.luck)
        return next(word for most, word in _WORDS if gained <= most)


_WORDS = (
    (0.1, "very private"),
    (0.3, "private"),
    (0.6, "somewhat private"),
    (0.85, "hardly private"),
    (1.0, "nearly open"),
)
"""How private, where the guess gains at most such a share of what there is to gain."""


def bought(epsilon: float, *, answers: int = 4, people: int = 10_000) -> Bought:
    """What a budget gives for a question of so many answers, asked of so many people.

    >>> round(bought(1.0, answers=2).guess, 3)
    0.731
    """
    m = GRR(k=answers, epsilon=epsilon)
    share = 1 / answers
    return Bought(
        epsilon=epsilon,
        truthful=m.p_star,
        factor=math.exp(epsilon),
        guess=m.asr(),
        luck=share,
        reach=_ERRORS * math.sqrt(m.variance(people, share)),
        people=people,
        answers=answers,
    )


def points(share: float) -> str:
    """A share in percentage points, with as many digits as an error needs.

    >>> points(0.0123), points(0.2), points(0.00087)
    ('1.2 points', '20 points', '0.087 points')
    """
    return f"{float(f'{100 * share:.2g}'):g} points"
