"""Specs of means: a numeric mechanism, whose range is its domain, as it travels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hush.canonical import canonical
from hush.errors import SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.mechanisms.spec import Spec
from hush.types import Reports


@dataclass(frozen=True)
class NumericSpec:
    """What travels where numbers are sent: the mechanism alone."""

    mechanism: Numeric

    @property
    def hash(self) -> str:
        """Of the canonical JSON."""
        return self.mechanism.spec_hash

    def aggregate(self, reports: Reports | Iterable[Reports]) -> Aggregate:
        """Tally reports of this spec."""
        return self.mechanism.aggregate(reports)

    def check(self, aggregate: Aggregate) -> Aggregate:
        """The aggregate itself; refused if it is of another spec, or if no reports of this one give it."""
        return self.mechanism.check(aggregate)

    def estimate(self, aggregate: Aggregate) -> MeanEstimate:
        """The raw unbiased mean, with its standard error."""
        return self.mechanism.estimate(aggregate)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, which `hush.mechanisms.numeric.from_dict` reads."""
        return self.mechanism.to_dict()

    def to_json(self) -> str:
        """Canonical JSON (RFC 8785)."""
        return canonical(self.to_dict())


AnySpec = Spec | NumericSpec


def of_one_value(spec: AnySpec, where: str) -> AnySpec:
    """The spec, refused if it is of tuples or of values over time, which no command collects."""
    m = spec.mechanism
    if m.kind not in ("frequency", "numeric"):
        rule = f"must be one of frequencies or of a mean for commands in {where}"
        raise SpecError(message("spec", rule, Unsaid(f"{m.name()}, {m.kind}"), "collect with it in Python"))
    return spec


def of_frequencies(spec: AnySpec, where: str) -> Spec:
    """The spec, refused if it is one of means."""
    if isinstance(spec, NumericSpec):
        rule = f"must be one of frequencies for this command in {where}"
        got = Unsaid(f"{spec.mechanism.name()}, which estimates a mean")
        raise SpecError(message("spec", rule, got, "`hush privatize`, `estimate` and `simulate` take it"))
    return spec


def described(spec: AnySpec) -> str:
    """The mechanism, what it is over, and what it promises, in a few words."""
    m = spec.mechanism
    over = f"{m.low:,.12g} to {m.high:,.12g}" if isinstance(m, Numeric) else f"k={m.k:,}"
    return f"{m.name()}, {over}, {'no guarantee' if m.guarantee is None else m.guarantee}"
