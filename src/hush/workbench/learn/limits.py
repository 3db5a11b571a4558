"""What randomized reports do not protect against, in numbers."""

from __future__ import annotations

from hush.attacks import poisoning
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.reports.statements import lay
from hush.workbench.learn.budget import points

TIMES = (1, 3, 7, 30, 90)
"""How often somebody is asked."""


def guessed_after(m: FrequencyOracle, times: int) -> float:
    """How often the best guess is right that has seen so many fresh reports of one person about the same answer."""
    found = m.forms.best_guess(times)
    if found is None:
        raise ValueError(f"{m.name()} has no such form")
    return found


def repeating(m: FrequencyOracle, times: int) -> str:
    """What asking again and again does."""
    right, _, of = lay.guesses(guessed_after(m, times), 1 / m.k)
    added = lay.plain(lay.up(m.epsilon * times))
    often = "once" if times == 1 else f"{times} times, with fresh coins each time,"
    return f"Asked {often} somebody loses {added} in all: the best guess of the answer is right {right} times in {of}."


def faked(m: FrequencyOracle, fraction: float, share: float) -> float:
    """By how much fake visitors raise the estimated share of one answer, on average.

    Args:
        m: The mechanism.
        fraction: The share of fakes among all reports.
        share: The true share of the answer.
    """
    return poisoning.gain(m, targets=[0], fraction=fraction, frequency=share)


def sybils(m: FrequencyOracle, fraction: float, share: float) -> str:
    """What fake visitors do."""
    gained, openly = faked(m, fraction, share), fraction * (1 - share)
    return (
        f"If {lay.share(fraction)} of all reports are sent by one person who always says the same, that answer's share "
        f"rises by {points(gained)}; asked openly, by {points(openly)}. Undoing the noise makes every report count for "
        "more."
    )


def example() -> GRR:
    """A mechanism for the numbers of this section: four answers, with a loss of 1."""
    return GRR(k=4, epsilon=1.0)
