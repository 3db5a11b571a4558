"""A collection of any kind, as a statement speaks of it. Each kind says more in a file of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hush.guarantee import ULDP, ApproxLDP, Guarantee, together
from hush.mechanisms.spec import Spec
from hush.people import Domain
from hush.planning.objectives import Z95
from hush.reports.statements import lay
from hush.reports.statements.blocks import Block, label, paragraphs
from hush.reports.statements.promise import Promise, known
from hush.reports.words import many

EXAMPLE = 10_000
"""People in an example, where nobody has said how many there are."""

_AUDITED = ("frequency", "numeric", "multidim", "longitudinal")
_MOST_LABELS = 12
_REPEATED = (2, 12)
_MORE = "Somebody who knows more about the person beforehand guesses better, with the report and without it."


def listed(values: list[int], domain: Domain) -> str:
    """Some values by name.

    >>> listed([0, 2], Domain(labels=["a", "b", "c"]))
    '“a” and “c”'
    """
    names = [label(i if domain.labels is None else domain.labels[i]) for i in values[:_MOST_LABELS]]
    if len(values) > _MOST_LABELS:
        return f"{', '.join(names)} and {len(values) - _MOST_LABELS:,} more"
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def held(domain: Domain) -> str:
    """What a person holds, of a domain."""
    size = domain.size
    if domain.labels is None:
        return f"one of {size:,} values, numbered 0 to {size - 1:,}"
    absorbs = "" if domain.other is None else f", where {label(domain.other)} takes in whatever is unknown or missing"
    return f"one of {size:,} values ({listed(list(range(size)), domain)}){absorbs}"


@dataclass(frozen=True)
class Subject:
    """A collection, and what its command or program knows besides.

    Args:
        spec: The collection's spec.
        n: How many people report, where that is known.
        reports: How many reports one person sends, at most, where that is known.
    """

    spec: Spec
    n: int | None
    reports: int | None

    @property
    def m(self) -> Any:
        """The mechanism."""
        return self.spec.mechanism

    @property
    def one(self) -> Any:
        """The mechanism of one report."""
        return self.m

    @cached_property
    def promise(self) -> Promise:
        """What one report promises."""
        return Promise(self._declared, known(self.one.exact_epsilon))

    @property
    def _declared(self) -> Guarantee:
        declared: Guarantee = self.one.guarantee
        return declared

    @property
    def size(self) -> str:
        """Of one report."""
        return many(self.m.report_dtype.itemsize, "byte", "bytes")

    @property
    def over(self) -> str:
        """What it is over, in a few words."""
        return "values"

    # What each kind says in its own way.

    def leaves(self) -> list[Block]:
        """What leaves the device."""
        return paragraphs(
            [f"From what a person holds, the device makes one report of {self.size}, by chance, and sends that alone."]
        )

    def guess(self) -> list[Block]:
        """How well somebody guesses."""
        bound = self.promise.bound
        if bound is None or isinstance(bound, ULDP):
            return paragraphs(["How well somebody guesses what a person holds is not known for this mechanism."])
        right, luck, of = lay.guesses(lay.told_apart(bound), 0.5)
        return paragraphs(
            [
                f"Somebody who knows that a person holds one of two things, each as likely as the other, picks the "
                f"right one from one report at most {right} times in {of}; {luck} by luck alone."
            ]
        )

    def adds_up(self) -> list[Block]:
        """What several reports of one person tell together: fresh ones add up."""
        bound = self.promise.bound
        if bound is None:
            return paragraphs(["Nothing is promised of one report, and so nothing of several."])
        counts = _REPEATED if self.reports in (None, 1) else (self.reports,)
        said = ", ".join(f"after {many(each, 'report', 'reports')} {_after(bound, each)}" for each in counts)
        still = ", as long as the person's value does not change" if isinstance(bound, ULDP) else ""
        told = "" if self.reports is None else f" A person sends {many(self.reports, 'report', 'reports')} at most."
        unsaid = "Whoever runs the collection has to keep to that."
        if self.reports is None:
            unsaid = (
                "The spec does not say how often a person is asked: whoever runs the collection has to say so, and to "
                "keep to it."
            )
        return paragraphs(
            [
                "Every further report of the same person, also about another question, adds its own ε, and the factors "
                f"multiply{still}: {said}.{told}",
                f"{unsaid} A ledger on the device (hush.longitudinal.Ledger) adds up what was spent, and refuses "
                "a report beyond a limit that was set beforehand. Without one, nothing on this page limits the sum.",
            ]
        )

    def worth(self) -> list[Block]:
        """What the estimates are worth."""
        return paragraphs(["How good the estimates are is not known for this mechanism."])

    def not_protected(self) -> list[str]:
        """What else is open, besides what always is."""
        return []

    def audit(self) -> str:
        """The command that audits it; empty where there is none, or no promise to hold it to."""
        return "" if self.one.guarantee is None or self.m.kind not in _AUDITED else "hush audit --spec spec.json"

    # Words that kinds share.

    @property
    def people(self) -> int:
        """How many, or as many as in an example."""
        return EXAMPLE if self.n is None else max(self.n, 1)

    @property
    def with_people(self) -> str:
        """The beginning of a sentence about errors."""
        if self.n is None:
            return f"How many people take part is not said here. With {EXAMPLE:,}, for example,"
        return f"With {many(self.people, 'person', 'people')},"

    def error(self, variance: float | None, of: str) -> str:
        """A standard error in percentage points, and the margin that it makes."""
        if variance is None:
            return f"{self.with_people} the error of {of} has too many cases to be computed here."
        points = 100 * math.sqrt(variance)
        return (
            f"{self.with_people} the standard error of {of} is at most {lay.amount(points)} percentage points: 19 "
            f"times in 20 the estimate is within about {lay.amount(Z95 * points)} points of the truth. Four times as "
            "many people halve it."
        )

    def best_guess(self, chance: float | None, k: int, what: str = "a person's value") -> str:
        """How often a guess is right, and by luck."""
        if chance is not None:
            right, luck, of = lay.guesses(chance, 1 / k)
            return (
                f"From one report, the best guess of {what} is right {right} times in {of}, if all {k:,} values "
                f"seemed equally likely beforehand; {luck} by luck alone. {_MORE}"
            )
        bound = lay.guessed(self.promise.bound, k)
        if bound is None:
            return f"How often the best guess of {what} is right has too many cases to be computed here."
        right, luck, of = lay.guesses(bound, 1 / k)
        return (
            f"From one report, the best guess of {what} is right at most {right} times in {of}, if all {k:,} values "
            f"seemed equally likely beforehand; {luck} by luck alone. {_MORE}"
        )


def _after(bound: Guarantee, count: int) -> str:
    """The factor of so many reports."""
    assert bound is not None
    if isinstance(bound, ULDP):
        bound = bound.alike
    summed = together([bound], count)
    extra = f", plus {lay.small(summed.delta)}" if isinstance(summed, ApproxLDP) else ""
    return f"at most {lay.times(summed.epsilon)} times{extra}"
