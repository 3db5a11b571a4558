"""Statements about several attributes a person."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hush.planning.objectives import Z95
from hush.reports.statements import lay
from hush.reports.statements.blocks import Block, Paragraph, Tabular, label, paragraphs
from hush.reports.statements.promise import known
from hush.reports.statements.subject import Subject
from hush.reports.words import many


@dataclass(frozen=True)
class Tuples(Subject):
    """One value of each attribute a person."""

    @property
    def over(self) -> str:
        """What it is over, in a few words."""
        return f"{self.one.d:,} attributes, of {', '.join(f'{k:,}' for k in self.one.sizes)} values"

    def leaves(self) -> list[Block]:
        """What leaves the device, and what is sent about each attribute."""
        said = (
            f"A person holds one value of each of {self.one.d:,} attributes. From them the device makes one report of "
            f"{self.size}, by chance, and sends that alone; the values stay on the device. {self._sent}"
        )
        rows = [
            (self._name(j), f"{k:,}", lay.loss(c.guarantee.epsilon) if c.guarantee is not None else "none")
            for j, (k, c) in enumerate(zip(self.one.sizes, self.one.components, strict=True))
        ]
        head = ("attribute", "values", "ε of its own randomizer")
        return [Paragraph(said), Tabular(head, tuple(rows)), *paragraphs([self._true_loss])]

    def _name(self, j: int) -> str:
        names = self.spec.domain.names
        return f"{j}" if names is None else label(names[j])

    @property
    def _sent(self) -> str:
        if not self.one.samples:
            return "It says something about every attribute, each randomized on its own with a part of the budget."
        if not self.one.hides:
            return (
                "It is about one attribute, which is drawn by chance and named in the report; nothing is sent about "
                "the others."
            )
        return (
            "One attribute, drawn by chance, is randomized; in place of the others the report has made-up values, and "
            "it does not say which is which."
        )

    @property
    def _true_loss(self) -> str:
        """Where the literature claims less than is lost."""
        told = self.promise.epsilon
        if told is None or told <= self.one.claimed_epsilon:
            return ""
        return (
            f"The literature claims a loss of ε = {lay.declared(self.one.claimed_epsilon)} for such a report, because "
            "the made-up values hide which attribute is real. The true loss between two people who differ in every "
            f"attribute is {lay.loss(told)}, and that is what this page goes by."
        )

    def guess(self) -> list[Block]:
        """How well each attribute is guessed."""
        rows = []
        for j, k in enumerate(self.one.sizes):
            chance = known(lambda at=j: self.one.asr(at))  # type: ignore[misc]
            right, luck, of = lay.guesses(1.0 if chance is None else chance, 1 / k)
            rows.append((self._name(j), "not computed" if chance is None else f"{right} in {of}", f"{luck} in {of}"))
        said = (
            "How often the best guess of one attribute, from the whole report, is right, if all values of every "
            "attribute seemed equally likely beforehand. Where attributes go together, what a report says about one "
            "also says something about the others; the factor above covers that, this table does not."
        )
        return [Paragraph(said), Tabular(("attribute", "guessed rightly", "by luck alone"), tuple(rows))]

    def worth(self) -> list[Block]:
        """The error of each attribute's frequencies."""
        rows = []
        for j in range(self.one.d):
            variance = known(lambda at=j: self.one.variance(at, n=self.people))  # type: ignore[misc]
            if variance is None:
                rows.append((self._name(j), "not computed", "not computed"))
                continue
            points = 100 * math.sqrt(variance)
            rows.append((self._name(j), f"{lay.amount(points)} points", f"±{lay.amount(Z95 * points)} points"))
        who = "How many people take part is not said here; these are" if self.n is None else "These are"
        said = (
            f"{who} the standard errors of estimated frequencies, in percentage points, of values that hardly anybody "
            f"holds, with {many(self.people, 'person', 'people')}{' as an example' if self.n is None else ''}, and "
            "what 19 of 20 estimates are within. Four times as many people halve them."
        )
        return [Paragraph(said), Tabular(("attribute", "standard error", "19 times in 20"), tuple(rows))]
