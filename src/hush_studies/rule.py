"""Rules: what a number must satisfy to be what a paper says, and how far off it may be, stated before the number.

The tolerance of a rule follows from its kind, never from what came out:

- an exact number beside a printed one: half a unit of the last printed digit;
- an exact number beside a formula: 10⁻⁶ of it, for sums and searches in doubles;
- a printed bound or an order: none, but for the rounding of doubles;
- a simulated number: as many standard errors as chance exceeds once in a million runs of the check;
- a word without a number ("similar", "close", "flat", "tight"): a tenth;
- a word such as "most" or "typically": more than half of the cases;
- an order that is read off a drawn figure: one percent, below which two lines are one;
- a time, or a quotient of times: a factor of 2, since the machine and the programs are others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

FALSE_ALARM = 1e-6
"""Chance that a check on simulated numbers fails although all is well."""

ARITHMETIC = 1e-6
"""Relative error of what is computed in doubles through long sums or a search."""

ROUNDING = 1e-9
"""Relative error of a few operations on doubles."""

WORD = 0.1
"""What a word without a number allows, relative to what it speaks of."""

LINE = 0.01
"""How near two lines of a figure can be and still be told apart, relative to what they show."""

MACHINE = 2.0
"""The factor that a time may be off."""


class Kind(StrEnum):
    """Why a tolerance is what it is."""

    DIGITS = "printed digits"
    EXACT = "exact"
    BOUND = "bound"
    CHANCE = "chance"
    WORD = "word"
    READ = "read off a figure"
    TIME = "time"


@dataclass(frozen=True)
class Rule:
    """Every number lies between two ends, or beyond one by no more than the tolerance.

    Args:
        kind: Why the tolerance is what it is.
        words: The rule, to be read after "it matches when".
        low: The lower end.
        high: The upper end.
        tolerance: How far beyond an end a number may lie.
        strict: Whether an end itself is outside; only without a tolerance.
        unit: What the tolerance is counted in: the last printed digit, or a standard error where chance plays.
        count: How many numbers share the chance of a false alarm.
        degrees: Of freedom, where standard errors are measured too (Student's law).
    """

    kind: Kind
    words: str
    low: float = -math.inf
    high: float = math.inf
    tolerance: float = 0.0
    strict: bool = False
    unit: float = 0.0
    count: int = 1
    degrees: float = math.inf

    def holds(self, numbers: Iterable[float]) -> bool:
        """Whether all numbers keep it; not, where there is none or one is not a number.

        >>> at_most(2).holds([1.5, 2.0]), at_most(2).holds([2.07]), at_most(2).holds([])
        (True, False, False)
        """
        found = [float(each) for each in numbers]
        return bool(found) and all(map(self._within, found))

    def _within(self, x: float) -> bool:
        if self.strict:
            return self.low < x < self.high
        return self.low - self.tolerance <= x <= self.high + self.tolerance

    @property
    def allowed(self) -> float:
        """The largest tolerance that the rule's kind gives it."""
        ends = max((abs(each) for each in (self.low, self.high) if math.isfinite(each)), default=0.0)
        return {
            Kind.DIGITS: 0.5 * (1 + ROUNDING) * self.unit,
            Kind.EXACT: ARITHMETIC * max(1.0, ends),
            Kind.BOUND: ROUNDING * max(1.0, ends),
            Kind.CHANCE: deviations(self.count, self.degrees) * self.unit,
            Kind.WORD: WORD * ends,
            Kind.READ: LINE * ends,
            Kind.TIME: (1 - 1 / MACHINE) * ends,
        }[self.kind]

    @property
    def allowance(self) -> str:
        """The tolerance, in words.

        >>> digits("0.818").allowance, at_most(2).allowance, alike().allowance
        ('± 0.0005: half a unit of the last digit', 'none', 'a tenth')
        """
        if self.kind is Kind.CHANCE and self.unit == 1.0:
            return f"{self.tolerance:.3g} standard errors: {self.count:,} numbers, one false alarm in 10⁶"
        return {
            Kind.DIGITS: f"± {self.tolerance:.3g}: half a unit of the last digit",
            Kind.EXACT: f"{ARITHMETIC:g}: arithmetic in doubles",
            Kind.BOUND: "none",
            Kind.CHANCE: f"± {self.tolerance:.2g}: {deviations(self.count, self.degrees):.1f} standard errors",
            Kind.WORD: "a tenth",
            Kind.READ: f"{LINE:.0%}: what a drawn line hides",
            Kind.TIME: f"a factor of {MACHINE:g}",
        }[self.kind]


def deviations(count: int = 1, degrees: float = math.inf) -> float:
    """How many standard errors one of so many numbers exceeds, on either side, once in a million times.

    >>> round(deviations(), 2), round(deviations(100), 2)
    (4.89, 5.73)
    """
    from scipy.stats import norm, t

    tail = FALSE_ALARM / (2 * count)
    return float(norm.isf(tail) if math.isinf(degrees) else t.isf(tail, degrees))


def digits(printed: str) -> Rule:
    """It rounds to the printed number."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    value, half = float(printed.replace(",", "")), 0.5 * (1 + ROUNDING) * unit
    return Rule(Kind.DIGITS, f"it rounds to {printed}", value, value, half, unit=unit)


def equal(to: float = 1.0, words: str = "") -> Rule:
    """It is the number that an exact formula gives."""
    said = words or f"it is {to:g}"
    return Rule(Kind.EXACT, said, to, to, ARITHMETIC * max(1.0, abs(to)))


def at_most(bound: float, *, stderr: float = 0.0, count: int = 1, words: str = "") -> Rule:
    """No number is above the bound; simulated ones by no more than chance."""
    return _bounded(words or f"it is at most {bound:g}", -math.inf, bound, stderr, count)


def at_least(bound: float, *, stderr: float = 0.0, count: int = 1, words: str = "") -> Rule:
    """No number is below the bound; simulated ones by no more than chance."""
    return _bounded(words or f"it is at least {bound:g}", bound, math.inf, stderr, count)


def between(low: float, high: float, *, stderr: float = 0.0, count: int = 1, words: str = "") -> Rule:
    """All numbers lie between two printed ones."""
    return _bounded(words or f"it lies between {low:g} and {high:g}", low, high, stderr, count)


def _bounded(words: str, low: float, high: float, stderr: float, count: int) -> Rule:
    if stderr > 0:
        return Rule(Kind.CHANCE, words, low, high, deviations(count) * stderr, unit=stderr, count=count)
    ends = max(abs(each) for each in (low, high) if math.isfinite(each))
    return Rule(Kind.BOUND, words, low, high, ROUNDING * max(1.0, ends))


def below(bound: float, words: str = "") -> Rule:
    """All numbers are below the bound."""
    return Rule(Kind.BOUND, words or f"it is below {bound:g}", high=bound, strict=True)


def above(bound: float, words: str = "") -> Rule:
    """All numbers are above the bound."""
    return Rule(Kind.BOUND, words or f"it is above {bound:g}", low=bound, strict=True)


def alike(to: float = 1.0, words: str = "") -> Rule:
    """As a word says it: within a tenth."""
    return Rule(Kind.WORD, words or f"it is within a tenth of {to:g}", to, to, WORD * abs(to))


def roughly(low: float, high: float) -> Rule:
    """Between two numbers that are meant roughly."""
    return Rule(Kind.WORD, f"they lie between {low:g} and {high:g}, or a tenth beyond", low, high, WORD * low)


def no_more(than: float = 1.0, words: str = "") -> Rule:
    """As a word says it that something does not rise: at most a tenth above."""
    return Rule(Kind.WORD, words or f"it is at most {than:g}, or a tenth above", high=than, tolerance=WORD * abs(than))


def mostly(words: str = "") -> Rule:
    """A share of cases, where the paper says "most", "typically" or "tends to"."""
    return above(0.5, words or "it is so in more than half of the cases")


def drawn(low: float = -math.inf, high: float = math.inf, words: str = "") -> Rule:
    """An order that the paper reads off a figure of its own."""
    ends = max(abs(each) for each in (low, high) if math.isfinite(each))
    return Rule(Kind.READ, words, low, high, LINE * ends)


def by_chance(count: int, degrees: float = math.inf) -> Rule:
    """Standard errors between simulated numbers and their law stay within what chance does, for all of them together.

    Args:
        count: How many numbers there are.
        degrees: Of freedom, where the standard errors are measured too.
    """
    limit = deviations(count, degrees)
    return Rule(Kind.CHANCE, "they are apart by chance only", 0.0, 0.0, limit, unit=1.0, count=count, degrees=degrees)


def faster(factor: float) -> Rule:
    """A quotient of times, on another machine and of other programs."""
    return Rule(Kind.TIME, f"it is at least {factor:g}", low=factor, tolerance=(1 - 1 / MACHINE) * factor)
