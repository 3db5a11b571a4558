"""Two coins that hide an answer: the oldest randomized response, and the mechanism that it is.

Warner, "Randomized response: a survey technique for eliminating evasive answer bias" (1965), with a second coin for the
answer as surveys by telephone do it. All that is said of it follows from listing the four ways in which coins fall.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from hush.exact.thresholds import log_ratio
from hush.mechanisms.direct import GRR

ANSWERS = ("yes", "no")
"""What people hold, and what they say."""

HEADS, TAILS = "heads", "tails"


def said(truth: str, first: str, second: str) -> str:
    """What somebody says who holds the truth, after both coins fell.

    >>> said("no", HEADS, HEADS), said("no", TAILS, HEADS)
    ('no', 'yes')
    """
    if first == HEADS:
        return truth
    return ANSWERS[0] if second == HEADS else ANSWERS[1]


@cache
def law() -> dict[str, dict[str, Fraction]]:
    """How likely each report is with each truth, by all ways in which two fair coins fall."""
    ways = list(product((HEADS, TAILS), repeat=2))
    return {
        truth: {report: Fraction(sum(said(truth, *way) == report for way in ways), len(ways)) for report in ANSWERS}
        for truth in ANSWERS
    }


def factor() -> Fraction:
    """By how much a report moves anybody's odds, at most: the largest ratio in the law.

    >>> factor()
    Fraction(3, 1)
    """
    rows = law()
    return max(rows[one][report] / rows[other][report] for report in ANSWERS for one in rows for other in rows)


def loss() -> float:
    """The privacy loss of one report: the logarithm of that factor.

    >>> round(loss(), 6)
    1.098612
    """
    return log_ratio(factor().numerator, factor().denominator)


@cache
def mechanism() -> GRR:
    """The coins as a mechanism of Hush: generalized randomized response over two values, with the coins' own loss."""
    return GRR(k=len(ANSWERS), epsilon=loss())


def honest() -> Fraction:
    """How often a report is the truth."""
    rows = law()
    return min(rows[truth][truth] for truth in ANSWERS)
