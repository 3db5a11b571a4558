"""Statements about one value a person, of which frequencies are estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.guarantee import ULDP, Guarantee, of_all_values
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.pure import PureOracle
from hush.reports.statements import lay
from hush.reports.statements.blocks import Block, paragraphs
from hush.reports.statements.promise import known
from hush.reports.statements.subject import Subject, held, listed


def looks(m: FrequencyOracle) -> str:
    """What a report looks like, whichever mechanism makes it."""
    open_part = ""
    if len(m.publics()) > 1:
        open_part = (
            " Part of it, such as a hash function or the choice of a question, is drawn without looking at the value."
        )
    if isinstance(m, PureOracle):
        return (
            f"A report speaks for some of the values: for the one that the person holds with probability "
            f"{lay.share(m.p_star)}, for each other one with probability {lay.share(m.q_star)}.{open_part}"
        )
    return (
        "A report is a record that is drawn by chance; which records are likelier depends on the value, as far as the "
        f"promise below allows.{open_part}"
    )


@dataclass(frozen=True)
class Frequencies(Subject):
    """One value a person."""

    @property
    def _declared(self) -> Guarantee:
        return of_all_values(self.one.guarantee, self.one.k) or self.one.guarantee

    @property
    def over(self) -> str:
        """What it is over, in a few words."""
        return f"{self.one.k:,} values"

    @property
    def _protected(self) -> list[int] | None:
        """The values that are protected, where not all are."""
        return sorted(set(self._declared.sensitive)) if isinstance(self._declared, ULDP) else None

    @property
    def _others(self) -> list[int]:
        return [v for v in range(self.one.k) if v not in {*(self._protected or ())}]

    def leaves(self) -> list[Block]:
        """What leaves the device."""
        said = (
            f"A person holds {held(self.spec.domain)}. From it the device makes one report of {self.size}, by chance, "
            f"and sends that alone; the value stays on the device. {looks(self.one)}"
        )
        return paragraphs([said, self._partly()])

    def _partly(self) -> str:
        """Which values are protected, where not all are."""
        if self._protected is None:
            return ""
        return (
            f"Only some values are protected: {listed(self._protected, self.spec.domain)}. Not protected, and revealed "
            f"by some reports: {listed(self._others, self.spec.domain)}."
        )

    def guess(self) -> list[Block]:
        """How well somebody guesses, of all values and of the protected ones."""
        said = [self.best_guess(known(self.one.asr), self.one.k)]
        protected = self._protected
        if protected is not None:
            said[0] += " This counts unprotected values, which reports reveal."
            said.append(self._among(protected))
        return paragraphs(said)

    def _among(self, protected: list[int]) -> str:
        """The guess of somebody who knows that the value is a protected one."""
        if len(protected) == 1:
            return ""
        prior = np.zeros(self.one.k)
        prior[protected] = 1 / len(protected)
        chance = known(lambda: self.one.asr(prior))
        if chance is None:
            return ""
        right, luck, of = lay.guesses(chance, 1 / len(protected))
        return (
            f"Somebody who knows that the person holds one of the {len(protected):,} protected values, all equally "
            f"likely, guesses which one rightly {right} times in {of}; {luck} by luck alone."
        )

    def worth(self) -> list[Block]:
        """The error of a frequency, for the value for which it is largest."""
        return paragraphs([self.error(self._worst, "an estimated frequency")])

    @property
    def _worst(self) -> float | None:
        return known(lambda: self.one.forms.worst_variance(self.people))

    def not_protected(self) -> list[str]:
        """Values that are revealed."""
        if self._protected is None:
            return []
        return ["The unprotected values named above, and that somebody whose value is revealed holds no protected one."]
