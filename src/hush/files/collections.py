"""What reports of one collection amount to, in all or by group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from hush.estimation import Aggregate, Estimate
from hush.mechanisms.spec import Spec

KINDS = ("frequency", "numeric", "multidim", "longitudinal")
"""Collections whose reports are all tallied together."""


@dataclass(frozen=True)
class Collection:
    """What the files hold: one aggregate for each group, or one in all, under the group None.

    Where only the reports of one period were read, `period` names it.
    """

    spec: Spec
    parts: dict[Any, Aggregate]
    randomness: list[str]
    period: str | None = None

    @property
    def total(self) -> Aggregate:
        """All groups together."""
        return reduce(add, self.parts.values())

    @property
    def attributes(self) -> list[str]:
        """What the attributes of tuples are called; none of a single value."""
        several = len(getattr(self.spec.domain, "domains", ()))
        return [self.spec.domain.word(j) for j in range(several)]

    def estimates(self, part: Aggregate) -> dict[str | None, Estimate]:
        """The estimates of a part: by attribute where people hold tuples, else one, under None."""
        found = self.spec.one_round.estimate(part)
        if not self.attributes:
            return {None: found}
        listed = found.values() if isinstance(found, dict) else found
        return dict(zip(self.attributes, listed, strict=True))

    def reports_about(self, part: Aggregate) -> dict[str | None, int]:
        """How many reports of a part are about each attribute; about a single value, all of them."""
        if not self.attributes:
            return {None: part.n}
        return dict(zip(self.attributes, self.spec.one_round.mechanism.reports_about(part), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """What was collected, as plain data."""
        return {
            "spec": self.spec.to_dict(),
            "spec_hash": self.spec.hash,
            "randomness": self.randomness,
            "n": self.total.n,
            **({} if self.period is None else {"period": self.period}),
        }
