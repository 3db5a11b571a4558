"""Risk that a person is found again in a table of known people, from reports of several attributes.

The attack guesses every attribute from its report, then points at someone in the table. Attributes are taken to be
uniform and independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hush.types import Floats


def nearest_profile(successes: Sequence[float], sizes: Sequence[int], people: int) -> float:
    """Expected success of pointing at whoever shares most attributes with the guesses (Arcolezi et al., VLDB 2023).

    The person shares s attributes with a probability that follows from the successes; everyone else shares each one
    with probability 1/size. With f(s) and F(s) of another person's number, the chance that the person shares most, ties
    broken at random, is (F(s)^people - F(s-1)^people) / (people f(s)). It is never below that of a blind guess.

    >>> nearest_profile([1.0], [2], 2), nearest_profile([0.5], [2], 4)
    (0.75, 0.25)
    """
    own, other = _shared(successes), _shared([1 / size for size in sizes])
    # Probabilities of more than s, from the top, so that powers of numbers close to one keep their digits.
    above = np.append(np.cumsum(other[::-1])[::-1][1:], 0.0)
    with np.errstate(divide="ignore"):
        upto, below = np.log1p(-np.minimum(above, 1.0)), np.log1p(-np.minimum(above + other, 1.0))
    alone = np.exp(people * upto) * -np.expm1(people * (below - upto)) / (people * other)
    return float(own @ np.minimum(alone, 1.0))


def _shared(chances: Sequence[float]) -> Floats:
    """The law of how many of independent events occur."""
    law = np.ones(1)
    for chance in chances:
        law = np.append(law * (1 - chance), 0.0) + np.append(0.0, law * chance)
    return law


def profile_match(successes: Sequence[float], sizes: Sequence[int], people: int) -> float:
    """Expected success of an attack that points only at someone who has every guessed attribute, and else gives up.

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
