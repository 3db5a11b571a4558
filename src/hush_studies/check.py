"""Checks: a claim, the rule that decides it, and the number that came out; the verdict follows from these alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from hush_studies.rule import Rule, digits


class OfPeople(str):
    """Why a paper does not tell enough, where the reason is that its people are not printed: who has them can judge."""

    __slots__ = ()


class Verdict(StrEnum):
    """What a check says."""

    MATCHES = "matches"
    DIFFERS = "differs"
    UNTOLD = "not told by the paper"
    OURS = "ours against ours"


@dataclass(frozen=True)
class Check:
    """One claim beside what was computed.

    Args:
        claim: What is said, in words.
        printed: As the paper has it.
        rule: What the numbers must satisfy, and how far off they may be.
        numbers: What came out.
        computed: The same, in words.
        source: Where it is printed.
        untold: Why the paper does not tell enough to be held to it; empty where it does.
        ours: Whether both sides are computed here, so that the paper has no part in it.
        known: Whether the rule is known to be kept; what comes out otherwise is a fault, of ours or of the check.
        people: Which data sets it rests on that are not part of Hush, each with whether made-up people stand in for it
            or a file was given.
        real: Whether a file was given for one of them: then nothing is known beforehand.
    """

    claim: str
    printed: str
    rule: Rule
    numbers: tuple[float, ...]
    computed: str
    source: str
    untold: str = ""
    ours: bool = False
    known: bool = True
    people: str = ""
    real: bool = False

    @property
    def holds(self) -> bool:
        """Whether the numbers keep the rule."""
        return self.rule.holds(self.numbers)

    @property
    def passed(self) -> bool:
        """Whether it came out as known; of people in a file, nothing is."""
        return self.real or self.holds is self.known

    @property
    def verdict(self) -> Verdict:
        """What can be said of the paper; nothing, where it does not tell or has no part in it."""
        if self.ours:
            return Verdict.OURS
        if self.untold:
            return Verdict.UNTOLD
        return Verdict.MATCHES if self.holds else Verdict.DIFFERS

    @property
    def remark(self) -> str:
        """What the verdict leaves out."""
        surprise = [] if self.passed else ["UNEXPECTED"]
        if self.ours:
            return "; ".join(["agree" if self.holds else "disagree", *surprise])
        if self.untold:
            return "; ".join([f"{'so' if self.holds else 'not so'} here: {self.untold}", *surprise])
        return "; ".join(surprise)

    def told(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            "claim": self.claim,
            "source": self.source,
            "printed": self.printed,
            "rule": self.rule.words,
            "tolerance": self.rule.allowance,
            "computed": self.computed,
            "least": min(self.numbers, default=None),
            "largest": max(self.numbers, default=None),
            "verdict": str(self.verdict),
            "remark": self.remark,
            "people": self.people,
        }

    @classmethod
    def number(cls, claim: str, printed: str, value: float, source: str, **more: Any) -> Check:
        """A printed number, which matches when the computed one rounds to it.

        >>> Check.number("p", "0.818", 0.8182, "VI-F").verdict, Check.number("p", "0.817", 0.8182, "VI-F").verdict
        (<Verdict.MATCHES: 'matches'>, <Verdict.DIFFERS: 'differs'>)
        """
        places = len(printed.partition(".")[2])
        shown = f"{value:.0f}" if float(value).is_integer() else f"{value:.{max(places + 3, 6)}f}"
        return cls(claim, printed, digits(printed), (float(value),), shown, source, **more)


def paper(
    claim: str, printed: str, rule: Rule, numbers: Iterable[float] | float, computed: str, source: str,
    *, known: bool = True,
) -> Check:  # fmt: skip
    """A claim that the paper can be held to."""
    return Check(claim, printed, rule, _tuple(numbers), computed, source, known=known)


def untold(
    claim: str, printed: str, rule: Rule, numbers: Iterable[float] | float, computed: str, source: str, why: str,
    *, known: bool = True,
) -> Check:  # fmt: skip
    """A claim about something that the paper does not define, so that ours is a reading, or people of ours."""
    return Check(claim, printed, rule, _tuple(numbers), computed, source, untold=why, known=known)


def ours(claim: str, printed: str, rule: Rule, numbers: Iterable[float] | float, computed: str, source: str) -> Check:
    """What we computed in one way beside what we computed in another."""
    return Check(claim, printed, rule, _tuple(numbers), computed, source, ours=True)


def span(values: npt.ArrayLike, written: Callable[[float], str]) -> str:
    """From the least to the largest, as they are written.

    >>> span([1.5, 2.25], "{:.1f}".format), span([1.01, 1.02], "{:.1f}".format)
    ('1.5 to 2.2', '1.0')
    """
    low, high = (written(float(each)) for each in (np.nanmin(values), np.nanmax(values)))
    return low if low == high else f"{low} to {high}"


def _tuple(numbers: Iterable[float] | float) -> tuple[float, ...]:
    return tuple(float(each) for each in numbers) if isinstance(numbers, Iterable) else (float(numbers),)
