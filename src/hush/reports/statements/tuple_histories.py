"""Statements about several attributes over time, whose answers the device keeps."""

from __future__ import annotations

from dataclasses import dataclass

from hush.guarantee import Guarantee
from hush.reports.statements.blocks import Block, paragraphs
from hush.reports.statements.histories import Histories
from hush.reports.statements.tuples import Tuples


@dataclass(frozen=True)
class TupleHistories(Tuples, Histories):
    """One value of each attribute a person, again and again."""

    @property
    def _declared(self) -> Guarantee:
        declared: Guarantee = self.one.guarantee
        return declared

    def leaves(self) -> list[Block]:
        """What leaves the device each time, and what is kept."""
        drawn = (
            "Which attribute a person reports is drawn once and stays for good, so that never more than one is told. "
            if self.m.samples
            else ""
        )
        kept = (
            f"A person is asked again and again. {drawn}For each value that the person comes to hold, the device draws "
            "an answer by chance once, keeps it, and puts fresh noise on it for every report."
        )
        return [*super().leaves(), *paragraphs([kept])]

    def audit(self) -> str:
        """No audit takes tuples over time."""
        return ""

    def not_protected(self) -> list[str]:
        """What links the reports of one person, and shows a change."""
        return [
            "When a value changes: kept answers hide what it is, not that it changed.",
            f"That reports come from the same person: they show {self.m.pseudonym}, again and again.",
        ]
