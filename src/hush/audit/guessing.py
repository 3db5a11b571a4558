"""What a guesser's success proves: the loss between secrets of which one was drawn evenly.

Let one of m secrets be drawn evenly, and let every event be likelier under one than e^epsilon times under another plus
delta, at most. Call A(s) the event that the attacker says s; it may also say nothing. Of two secrets s and t,
P(A(s) | s) <= e^epsilon P(A(s) | t) + delta. Summed over all s and all t but s, and divided by m:

    (m - 1) right <= e^epsilon wrong + (m - 1) delta,

where `right` is the probability of a right guess, and `wrong` of a wrong one. So epsilon is at least
ln((m - 1) (right - delta) / wrong). An attacker who always guesses has wrong = 1 - right, and is right with a
probability of at most (e^epsilon + (m - 1) delta) / (e^epsilon + m - 1).

Without a delta only right / wrong counts. Given how many guesses there are, the right ones are binomial, so that one
Clopper-Pearson bound will do; who guesses rarely, and well, proves as much as who guesses often.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hush.audit import bounds, power
from hush.types import Bools, Floats

_LEVELS = 200
_LUCK = 3.0  # deviations by which wrong guesses may come out too few


def largest_success(epsilon: float, secrets: int, *, delta: float = 0.0, share: float = 1.0) -> float:
    """How often who always guesses is right, at most.

    Args:
        epsilon: The loss between any two secrets.
        secrets: How many there are, all equally likely.
        delta: The slack of events.
        share: How often a report speaks of the secret at all, where nobody can tell when it does not: 1/d of an
            attribute of d where one is sampled.

    >>> largest_success(0.0, 4), round(largest_success(math.log(3), 2), 12)
    (0.25, 0.75)
    """
    odds = math.exp(epsilon)
    told = min(1.0, (odds + (secrets - 1) * delta) / (odds + secrets - 1))
    return share * told + (1 - share) / secrets


def epsilon_lower(
    right: int, wrong: int, trials: int, secrets: int, *, alpha: float = 0.01, delta: float = 0.0, bound: str = "paper"
) -> float:
    """The loss between secrets that is proved with confidence 1 - alpha; zero where nothing is.

    Args:
        right: Right guesses.
        wrong: Wrong guesses.
        trials: Games that were played; in the others the attacker said nothing.
        secrets: How many there were, all equally likely.
        alpha: Probability that the statement is wrong, at most.
        delta: Slack of the claim, for all reports of a game.
        bound: "paper" takes one side of two-sided intervals, as in `hush.audit.bounds`; or "one-sided".
    """
    tail = alpha / (bounds.TAILS[bounds.named(bound)] / 2)
    if delta:  # two probabilities, each with half of the error rate
        ones, zeros = bounds.lower(right, trials, tail / 2) - delta, bounds.upper(wrong, trials, tail / 2)
    else:
        if right == 0:
            return 0.0
        ones = bounds.lower(right, right + wrong, tail)
        zeros = bounds.upper(wrong, right + wrong, tail)  # what the lower bound leaves, without cancelling
    return max(0.0, math.log((secrets - 1) * ones / zeros)) if ones > 0 else 0.0


def best_level(right: Bools, odds: Floats, trials: int, secrets: int, **rules: float | str) -> float:
    """From which odds on to guess, so as to prove most in so many games.

    Args:
        right: Of games that choose, whether the best guess was right.
        odds: The logarithm of the attacker's odds for it, against what a blind guess has.
        trials: Games that will prove.
        secrets: How many there are.
        rules: As of `epsilon_lower`.

    The odds foretell how many wrong guesses there will be; fewer are believed as far as they cannot be luck.
    """
    order = np.argsort(-odds, kind="stable")
    falling = odds[order]
    foretold = np.cumsum(1 / (1 + np.exp(np.minimum(falling, 700.0)) / (secrets - 1)))
    zeros = np.cumsum(~right[order])
    ends = np.append(np.nonzero(falling[1:] != falling[:-1])[0], falling.size - 1)  # the last of equals
    if ends.size > _LEVELS:
        ends = ends[np.unique(np.geomspace(1, ends.size, _LEVELS).astype(np.int64)) - 1]
    best = (-1.0, math.inf)
    scale = trials / odds.size
    for at in ends.tolist():
        seen = float(zeros[at])
        missed = max(seen, min(float(foretold[at]), seen + _LUCK * math.sqrt(seen + 1)))
        hits = at + 1 - missed
        proved = epsilon_lower(round(hits * scale), round(missed * scale), trials, secrets, **rules)  # type: ignore[arg-type]
        best = max(best, (proved, float(falling[at])))
    level = best[1]
    return level - 1e-9 * max(abs(level), 1.0) if math.isfinite(level) else 1e300


def smallest_share(guesses: int, proves: Callable[[int], bool]) -> float | None:
    """The smallest share of right guesses that would have proved something with probability `power.SURE`.

    Args:
        guesses: How many there were.
        proves: Whether so many right ones do.

    None if not even all of them do.
    """
    from scipy.special import betaincinv

    if guesses == 0 or not proves(guesses):
        return None
    low, high = 0, guesses
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proves(middle) else (middle, high)
    share = float(betaincinv(high, guesses - high + 1, power.SURE))
    return share if share < 1 else None
