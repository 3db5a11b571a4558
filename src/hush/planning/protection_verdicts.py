"""Verdicts in words: how well one report of a mechanism protects, and whether its estimates tell anything.

Two numbers decide, and the worse of them counts. ε bounds the worst case: an observer who thought a value as likely as
not thinks it 1/(1 + e^-ε) likely after the worst report. The *advantage* of the best guess is the share of what a blind
guess leaves open: (ASR - 1/k)/(1 - 1/k).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hush.planning.objectives import Z95

WELL_EPSILON = 2.0
"""A suspicion of 50 % becomes 88 % at most."""
WELL_ADVANTAGE = 0.5
"""The best guess settles half of the cases that luck leaves open; so does telling the truth with probability 3/4."""
LITTLE_EPSILON = 4.0
"""A suspicion of 50 % becomes 98.2 % at most."""
LITTLE_ADVANTAGE = 0.8
"""Of two values, the best guess names the right one 9 times in 10."""
MAX_ASR = 0.9
"""An attack success above this is never recommended unless a stated error needs it."""
MAX_MARGIN = 0.5
"""A margin above 50 percentage points is no estimate: its interval can hold everything that is possible."""

MAX_WEIGHT_OF_FAKES = 4
"""A share of fake reports that adds more than so many times itself makes results of its own."""

WORDS = {"well": "protects well", "little": "protects little", "hardly": "hardly protects"}
"""The verdict of each level of protection."""


def protection(epsilon: float, asr: float, k: int) -> str:
    """Return how well one report protects: "well", "little" or "hardly".

    >>> protection(1.0, 0.02, 100), protection(1.0, 0.73, 2), protection(3.0, 0.1, 100), protection(3.0, 0.95, 2)
    ('well', 'well', 'little', 'hardly')
    """
    advantage = (asr - 1 / k) / (1 - 1 / k)
    if epsilon <= WELL_EPSILON and advantage <= WELL_ADVANTAGE:
        return "well"
    return "little" if epsilon <= LITTLE_EPSILON and advantage <= LITTLE_ADVANTAGE else "hardly"


def protection_level(epsilon: float, asr: float, k: int) -> int:
    """Return the verdict as a number: 0 where a report protects well, 1 little, 2 hardly."""
    return tuple(WORDS).index(protection(epsilon, asr, k))


def protects_as_well(one: Mapping[str, float], other: Mapping[str, float], k: int) -> bool:
    """Return whether one choice may replace another: no worse verdict, and no ASR above 0.9 in place of a lower one."""
    levels = [protection_level(each["epsilon"], each["asr"], k) for each in (one, other)]
    return levels[0] <= levels[1] and one["asr"] <= max(MAX_ASR, other["asr"])


def blind_mse(k: int, *, worst: bool) -> float:
    """Return the mean squared error of who reads no report and answers 1/k for every value, at its largest.

    It is largest where all people hold one value: (1 - 1/k)/k on average over the values, (1 - 1/k)² for that one.
    """
    return (1 - 1 / k) ** 2 if worst else (1 - 1 / k) / k


def max_useful_mse(k: int, *, worst: bool) -> float:
    """Return the squared error from which on estimates tell no more than a blind answer, or than ±50 points."""
    return min(blind_mse(k, worst=worst), (MAX_MARGIN / Z95) ** 2)


def describe_protection(name: str, numbers: Mapping[str, float], k: int) -> str:
    """Return a sentence that says where a choice protects little or hardly; "" where it protects well.

    >>> describe_protection("GRR", {"epsilon": 3.0, "asr": 0.6906}, 10)
    'GRR protects little: a report can be up to 20.1 times as likely from one value as from another, and the best \
guess of a value is right 69.1 times in 100 (10 by luck alone).'
    """
    level = protection(numbers["epsilon"], numbers["asr"], k)
    if level == "well":
        return ""
    of = 100 if numbers["asr"] >= 0.01 else 10 ** math.ceil(2 - math.log10(100 * numbers["asr"]))
    return (
        f"{name} {WORDS[level]}: a report can be up to {_factor(numbers['epsilon'])} times as likely "
        f"from one value as from another, and the best guess of a value is right {_rate(numbers['asr'], of)} times in "
        f"{of:,} ({_rate(1 / k, of)} by luck alone)."
    )


def _factor(epsilon: float) -> str:
    """Return e^epsilon to three digits, rounded up."""
    factor = math.exp(min(epsilon, 700.0))
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    return f"{unit * math.ceil(factor / unit * (1 - 1e-12)):,.6g}"


def _rate(chance: float, of: int) -> str:
    return f"{of * chance:.3g}" if chance < 0.999 else f"{of * chance:.6g}"
