"""What an audit found, and what that proves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

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
    """

    first: int
    second: int
    event: str
    report: str | None = None
    record: str | None = None

    def __str__(self) -> str:
        shown = "" if self.report is None else f", e.g. {self.report}"
        return f"values {self.first} and {self.second}: {self.event}{shown}"


@dataclass(frozen=True)
class AuditResult:
    """A lower bound of the true privacy loss, and how it compares with the claim.

    Args:
        target: What was audited.
        method: How: likelihood, attack, classifier or exact.
        claim: What was promised, if anything.
        epsilon_lower: The privacy loss that is proved, at the claim's delta.
        alpha: Probability that the statement is wrong, at most; 0 for an exact audit.
        trials: Reports of each value that the proof counts.
        witness: The pair of values and the event.
        counts: Hits under the first value and under the second.
        seconds: How long it took.
        notes: What else one should know.
        about: What was audited and how, in plain data: the spec with its thresholds, the pair, the rules.
        unit: What the loss is of.
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

    @property
    def claimed(self) -> float | None:
        """The promised epsilon."""
        return None if self.claim is None else self.claim.epsilon

    @property
    def violated(self) -> bool:
        """Whether the proved loss exceeds the promised one."""
        return self.claim is not None and self.epsilon_lower > self.claim.epsilon * (1 + 1e-9)

    @property
    def verdict(self) -> str:
        """violation, consistent, or measured where nothing was claimed."""
        if self.claim is None:
            return "measured"
        return "violation" if self.violated else "consistent"

    @property
    def statement(self) -> str:
        """What is proved, in a sentence, and nothing more."""
        bound = "infinite" if math.isinf(self.epsilon_lower) else f"at least {self.epsilon_lower:.4g}"
        delta = f" at delta = {self.claim.delta:g}" if self.claim is not None and self.claim.delta else ""
        if self.method == "exact":
            exact = "infinite" if math.isinf(self.epsilon_lower) else f"{self.epsilon_lower:.6g}"
            sure = f"By the law that the code states, the privacy loss of {self.unit} is exactly {exact}{delta}"
        else:
            sure = f"With confidence {self.confidence}, the privacy loss of {self.unit} is {bound}{delta}"
        if self.claim is None:
            return f"{sure}. Nothing was claimed."
        if self.violated:
            return f"{sure}: the claim of {self.claim} is false."
        if self.method == "exact":
            return f"{sure}, which keeps the claim of {self.claim}. Whether the code follows its law was not looked at."
        return f"{sure}, which does not contradict the claim of {self.claim}."

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
            },
            "counts": None if self.counts is None else {"first": self.counts[0], "second": self.counts[1]},
            "seconds": self.seconds,
            "notes": list(self.notes),
            "about": self.about,
        }
