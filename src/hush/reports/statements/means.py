"""Statements about numbers, of which the mean is estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hush.planning.objectives import Z95
from hush.reports.statements import lay
from hush.reports.statements.blocks import Block, paragraphs
from hush.reports.statements.promise import known
from hush.reports.statements.subject import Subject


@dataclass(frozen=True)
class Means(Subject):
    """One number a person."""

    @property
    def over(self) -> str:
        """What it is over, in a few words."""
        return f"numbers from {self._range}"

    @property
    def _range(self) -> str:
        return f"{self.m.low:,.12g} to {self.m.high:,.12g}"

    def leaves(self) -> list[Block]:
        """What leaves the device."""
        return paragraphs(
            [
                f"A person holds a number from {self._range}; numbers beyond are refused, or moved to the end that "
                f"they passed. From it the device makes one report of {self.size}, by chance, and sends that alone; "
                f"the number stays on the device. A report is one of {self.m.size:,} that are all possible whatever "
                "the number is; which ones are likelier depends on it, as far as the promise below allows."
            ]
        )

    def guess(self) -> list[Block]:
        """Numbers are not guessed; two of them are told apart, and one is read with an error."""
        off = math.sqrt(self.m.variance(1))
        return [
            *super().guess(),
            *paragraphs(
                [
                    "Numbers are not guessed rightly or wrongly, but more or less well. What one report says about its "
                    f"number is off by as much as {lay.amount(off)} (one standard deviation), where the whole range is "
                    f"{self.m.width:,.12g} wide."
                ]
            ),
        ]

    def worth(self) -> list[Block]:
        """The error of the mean, for the numbers for which it is largest."""
        variance = known(lambda: self.m.variance(self.people))
        if variance is None:
            return super().worth()
        error = math.sqrt(variance)
        return paragraphs(
            [
                f"{self.with_people} the standard error of the estimated mean is at most {lay.amount(error)}: 19 times "
                f"in 20 the estimate is within about {lay.amount(Z95 * error)} of the truth. Four times as many people "
                "halve it."
            ]
        )
