"""What an audit found, and what that proves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from hush import atomic
from hush.audit.inputs import Inputs
from hush.audit.power import RARE, SHARE, Power
from hush.audit.screening import Screening
from hush.audit.target import Claim


@dataclass(frozen=True)
class Witness:
    """Two values and an event whose probabilities differ that much.

    Args:
        first: The value under which the event is likely.
        second: The value under which it is not.
        event: What the report shows.
        report: An example, as text, where the event is a single output.
        record: The bytes of that example, in hexadecimal.
        many: What such values are called.
        names: What the two are called, if not by themselves.
        distance: How far apart they are, where the claim has a metric.
    """

    first: Any
    second: Any
    event: str
    report: str | None = None
    record: str | None = None
    many: str = "values"
    names: tuple[str, str] | None = field(default=None, compare=False)
    distance: float | None = None

    @classmethod
    def of(cls, inputs: Inputs, first: int, second: int, event: str, **shown: Any) -> Witness:
        """The witness of two inputs at these positions."""
        names = inputs.said(first), inputs.said(second)
        return cls(inputs.at(first), inputs.at(second), event, many=inputs.many, names=names, **shown)

    @property
    def two(self) -> str:
        """The two values, for people."""
        return " and ".join((str(self.first), str(self.second)) if self.names is None else self.names)

    def __str__(self) -> str:
        shown = "" if self.report is None else f", e.g. {self.report}"
        apart = "" if self.distance is None else f", {self.distance:g} apart"
        return f"{self.many} {self.two}{apart}: {self.event}{shown}"


@dataclass(frozen=True)
class Counted:
    """An event that was counted in fresh reports, and what that proves by itself.

    Args:
        witness: The pair of values and the event.
        counts: Hits under the first value and under the second.
        epsilon_lower: What is proved, at this event's part of alpha.
    """

    witness: Witness
    counts: tuple[int, int]
    epsilon_lower: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "first": self.witness.first,
            "second": self.witness.second,
            "event": self.witness.event,
            "counts": list(self.counts),
            "epsilon_lower": self.epsilon_lower,
        }


@dataclass(frozen=True)
class AuditResult:
    """A lower bound of the true privacy loss, and how it compares with the claim.

    Args:
        target: What was audited.
        method: How: likelihood, attack, classifier or exact.
        claim: What was promised, if anything.
        epsilon_lower: The privacy loss that is proved, at the claim's delta; for each unit of distance, where the claim
            has a metric.
        alpha: Probability that the statement is wrong, at most; 0 for an exact audit.
        trials: Reports of each value that the proof counts.
        witness: The pair of values and the event.
        counts: Hits under the first value and under the second.
        seconds: How long it took.
        notes: What else one should know.
        about: What was audited and how, in plain data: the spec with its thresholds, the pair, the rules.
        unit: What the loss is of.
        require: The share of the claim that must be proved, for finding no violation to mean something.
        power: The smallest violations that would have been found.
        screening: Which values were tried to choose the two.
        tried: All events that were counted; the witness is the best of them.
        dependence: What shows that reports are not independent of each other, so that nothing is proved.
        memory: What suggests that the target remembers its answers, though it may as well not randomize.
    """

    target: str
    method: str
    claim: Claim | None
    epsilon_lower: float
    alpha: float
    trials: int
    witness: Witness | None
    counts: tuple[int, int] | None = None
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict, compare=False)
    unit: str = "one report"
    require: float = SHARE
    power: Power | None = None
    screening: Screening | None = None
    tried: tuple[Counted, ...] = ()
    dependence: str | None = None
    memory: str | None = None

    @property
    def claimed(self) -> float | None:
        """The promised epsilon."""
        return None if self.claim is None else self.claim.epsilon

    @property
    def violated(self) -> bool:
        """Whether the proved loss exceeds the promised one."""
        exceeds = self.claim is not None and self.epsilon_lower > self.claim.epsilon * (1 + 1e-9)
        return exceeds and self.dependence is None

    @property
    def verdict(self) -> str:
        """One of violation, inconclusive, consistent, or measured where nothing was claimed.

        Inconclusive is an audit that found no violation but would not have found much (see `doubt`).
        """
        if self.claim is None:
            return "measured"
        return "violation" if self.violated else "consistent" if self.doubt is None else "inconclusive"

    @property
    def doubt(self) -> str | None:
        """Why finding no violation means little; None if it means something, or if one was found."""
        if self.claim is None or self.violated or self.method == "exact":
            return None
        if self.dependence is not None:
            return f"{self.dependence} The bound holds for independent reports only"
        if self.epsilon_lower < self.require * self.claim.epsilon:
            share = self.epsilon_lower / self.claim.epsilon
            return f"That is {100 * share:.3g}% of the claim, where {100 * self.require:.4g}% must be proved"
        rarest = None if self.power is None else self.power.rarest
        if rarest is not None and rarest - self.claim.delta > RARE:
            return f"A leak in one of {1 / RARE:.0f} reports might have been missed: make more trials"
        if self.screening is not None and self.screening.untried:
            of = f"{self.screening.untried:,} of {self.screening.k:,} {self.screening.asked.many}"
            return f"{of} were not tried: make more trials"
        if self.power is not None and self.power.lone is not None and self.power.lone >= 1.0:
            return "A value that is always told might have been missed: make more trials"
        return None

    @property
    def statement(self) -> str:
        """What is proved, in a few sentences, and nothing more."""
        bound = "infinite" if math.isinf(self.epsilon_lower) else f"at least {self.epsilon_lower:.4g}"
        delta = f" at delta = {self.claim.delta:g}" if self.claim is not None and self.claim.delta else ""
        if self.method == "exact":
            exact = "infinite" if math.isinf(self.epsilon_lower) else f"{self.epsilon_lower:.6g}"
            sure = f"By the law that the code states, the privacy loss of {self.unit} is exactly {exact}{delta}"
        else:
            sure = f"With confidence {self.confidence}, the privacy loss of {self.unit} is {bound}{delta}"
        if self.dependence is not None:
            sure = f"If reports were independent, the privacy loss of {self.unit} would be {bound}{delta}"
        remembered = "" if self.memory is None else f" {self.memory}"
        if self.claim is None:
            return f"{sure}. Nothing was claimed.{remembered}"
        if self.violated:
            return f"{sure}: the claim of {self.claim} is false.{remembered}"
        if self.method == "exact":
            return f"{sure}, which keeps the claim of {self.claim}. Whether the code follows its law was not looked at."
        if self.doubt is not None:
            return f"{sure}. {self.doubt}, so nothing can be said of the claim of {self.claim}.{remembered}"
        return f"{sure}, which does not contradict the claim of {self.claim}.{remembered}"

    @property
    def shown(self) -> str | None:
        """The witness in a sentence: the event that proves the loss, or that was counted and proves none."""
        if self.witness is None:
            return None
        return f"{'Witness' if self.epsilon_lower > 0 else 'Counted'}: {self.witness}."

    @property
    def looked(self) -> str | None:
        """Which values and events were tried, and what would have been seen; None for an exact audit."""
        if self.method == "exact":
            return None
        counted = f"{len(self.tried)} event{'s'[: len(self.tried) != 1]} counted" if self.tried else ""
        parts = [f"Tried: {'; '.join(each for each in (str(self.screening or ''), counted) if each)}."]
        return " ".join(parts if self.power is None or self.violated else [*parts, str(self.power)])

    @property
    def confidence(self) -> str:
        """The confidence, as text that never rounds to certainty."""
        if self.method == "exact":
            return "exact"
        return f"{1 - self.alpha:.4g}" if self.alpha >= 1e-4 else f"1 - {self.alpha:.2g}"

    def __str__(self) -> str:
        return self.statement

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "target": self.target,
            "method": self.method,
            "claimed": self.claimed,
            "delta": 0.0 if self.claim is None else self.claim.delta,
            "metric": None if self.claim is None or self.claim.metric is None else str(self.claim.metric),
            "epsilon_lower": self.epsilon_lower,
            "alpha": self.alpha,
            "confidence": 1 - self.alpha,
            "trials": self.trials,
            "verdict": self.verdict,
            "statement": self.statement,
            "witness": None
            if self.witness is None
            else {
                "first": self.witness.first,
                "second": self.witness.second,
                "event": self.witness.event,
                "report": self.witness.report,
                "record": self.witness.record,
                "distance": self.witness.distance,
            },
            "counts": None if self.counts is None else {"first": self.counts[0], "second": self.counts[1]},
            "seconds": self.seconds,
            "notes": list(self.notes),
            "about": self.about,
            "require": self.require,
            "power": None if self.power is None else self.power.to_dict(),
            "screening": None if self.screening is None else self.screening.to_dict(),
            "tried": [each.to_dict() for each in self.tried],
            "dependence": self.dependence,
            "memory": self.memory,
        }

    def to_html(self, path: str | Path | None = None) -> str:
        """One self-contained page for the files; also written to the path, if one is given."""
        page: str = import_module("hush.reports.audited").page_of([self])  # pages lie below, and are asked by name
        if path is not None:
            atomic.write(Path(path), page)
        return page
