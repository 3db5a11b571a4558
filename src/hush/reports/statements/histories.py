"""Statements about a value over time, whose answers the device keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hush.guarantee import LDP
from hush.reports.statements import lay
from hush.reports.statements.blocks import Block, paragraphs
from hush.reports.statements.frequencies import Frequencies, looks
from hush.reports.statements.promise import known
from hush.reports.statements.subject import held
from hush.reports.words import many

_AUDITED_REPORTS = 12
"""More of one person say little more, and take an audit longer."""


@dataclass(frozen=True)
class Histories(Frequencies):
    """One value a person, again and again."""

    @property
    def one(self) -> Any:
        """The law of any one report."""
        return self.m.first_report

    def leaves(self) -> list[Block]:
        """What leaves the device each time, and what is kept."""
        noise = (
            "and sends that answer again whenever the same value, or one that is kept together with it, comes back"
            if self.m.repeats_one_answer
            else "and puts fresh noise on it for every report"
        )
        return paragraphs(
            [
                f"A person holds {held(self.spec.domain)}, and is asked again and again. Each time the device sends "
                f"one report of {self.size}; the value stays on the device. {looks(self.one)}",
                "The device keeps what it answers: for each value, or group of values, that the person comes to hold, "
                f"it draws an answer by chance once, keeps it, {noise}. What is lost by up to "
                f"{many(self.m.kept, 'such answer', 'such answers')} can add up.",
            ]
        )

    def guess(self) -> list[Block]:
        """How well somebody guesses from one report, and from all of them."""
        said = [self.best_guess(known(self.one.asr), self.one.k)]
        bound = lay.guessed(LDP(self.m.epsilon_permanent), self.one.k)
        if bound is not None:
            right, luck, of = lay.guesses(bound, 1 / self.one.k)
            said.append(
                f"From all reports of a value that does not change, however many, the best guess is right at most "
                f"{right} times in {of}; {luck} by luck alone."
            )
        return paragraphs(said)

    def adds_up(self) -> list[Block]:
        """The permanent budget, changes, and a number of reports where it is known."""
        permanent = self.m.epsilon_permanent
        said = [
            "What follows is of the reports of one person about one value over time. While the value stays the same, "
            f"however many reports there are, all of them together are at most {lay.times(permanent)} times likelier "
            f"than if the person had held anything else (ε = {lay.loss(permanent)}): this is the permanent budget.",
            self._changing(),
            self._so_many(),
            "Reports about other questions add their own ε. A ledger on the device (hush.longitudinal.Ledger) adds up "
            "what was spent, and refuses a report beyond a limit that was set beforehand; without one, nothing on this "
            "page limits that sum.",
        ]
        return paragraphs(said)

    def _changing(self) -> str:
        """What is lost where the value changes."""
        worst, states = self.m.epsilon_worst, self.m.epsilon_states
        hidden = "Kept answers hide what a value is, not when it changes"
        if math.isfinite(worst):
            return (
                "If the value changes, each value has an answer of its own, and what they lose adds up, to at most "
                f"ε = {lay.loss(worst)} for any number of reports ({lay.times(worst)} times), between courses of "
                f"values that change at the same times. {hidden}: between courses that change at different times, the "
                "loss grows with every report."
            )
        return (
            "If the value changes, no number bounds what any number of reports lose: answers are kept for groups of "
            "values, and of two values that change, one may change its group and the other not. Between courses of "
            f"values that change their groups at the same times it is at most ε = {lay.loss(states)} "
            f"({lay.times(states)} times). {hidden}."
        )

    def _so_many(self) -> str:
        """For a number of reports that is known."""
        if self.reports is None:
            return ""
        steady, moving = known(lambda: self.m.sequence_epsilon(self.reports)), self.m.history_bound(self.reports)
        count = many(self.reports, "report", "reports")
        told = f"A person sends {count} at most. "
        if steady is not None:
            told += f"Of a value that does not change, they lose at most ε = {lay.loss(steady)} together"
            told += f" ({lay.times(steady)} times). "
        if math.isinf(moving):
            return f"{told}Of a value that changes, nothing bounds what they lose."
        return (
            f"{told}Of a value that changes, between courses that change at the same times, they lose at most "
            f"ε = {lay.loss(moving)} ({lay.times(moving)} times). {self._whenever()}"
        )

    def _whenever(self) -> str:
        """For courses of values that may change at any times, under so many reports as are known."""
        loss = known(lambda: self.m.any_histories_bound(self.reports))
        if loss is None or math.isinf(loss):
            return "Between courses that change at different times, nothing bounds it: a change is plain to see."
        return f"Whenever they change, they lose at most ε = {lay.loss(loss)} ({lay.times(loss)} times)."

    def audit(self) -> str:
        """Of so many reports of one person, or of a few where they are many or nobody said how many."""
        return f"{super().audit()} --rounds {min(self.reports or _AUDITED_REPORTS, _AUDITED_REPORTS)}"

    def not_protected(self) -> list[str]:
        """What links the reports of one person, and shows a change."""
        said = ["When a value changes: kept answers hide what it is, not that it changed."]
        if len(self.one.publics()) > 1:
            said.append(
                "That reports come from the same person. Part of every report, drawn without looking at the value, "
                "comes back in later ones, and works like a pseudonym for whoever collects them."
            )
        elif self.m.repeats_one_answer:
            said.append(
                "That reports come from the same person. The same answer comes back as long as the value stays, and "
                "where few people send it, works like a pseudonym for whoever collects them."
            )
        else:
            said.append(
                "That reports come from the same person, if there are many of them: all come from the same kept "
                "answers, and resemble each other more than those of two people."
            )
        return said
