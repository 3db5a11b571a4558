"""The answer to a question about the budget, with everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hush.planning.optimus.question import BudgetQuestion, Mechanism
from hush.planning.optimus.trials import Tried


@dataclass(frozen=True, eq=False)
class BudgetAnswer:
    """The smallest budget that was found to satisfy, or that none was.

    Args:
        question: What was asked.
        method: How it was searched for.
        epsilon: The budget, of four digits or an end of the range; None where none was found to satisfy.
        refuted: The largest budget that was shown not to satisfy ("direct" alone shows it; None else).
        confidence: How sure it is that the answer satisfies and that `refuted` does not ("direct").
        evidence: Every budget that was tried, in order.
        seconds: How long it took.
    """

    question: BudgetQuestion
    method: str
    epsilon: float | None
    refuted: float | None
    confidence: float | None
    evidence: tuple[Tried, ...]
    seconds: float

    @property
    def undecided(self) -> bool:
        """Whether no budget was found only because the runs did not tell: the largest was not shown to fail either."""
        return self.epsilon is None and self.confidence is not None and self.refuted != self.question.high

    @property
    def interval(self) -> tuple[float, float] | None:
        """From what was shown not to satisfy, or the end of the range, to what was shown to satisfy ("direct").

        The smallest budget that satisfies lies between them wherever a larger budget is never worse. Mechanisms whose
        shape changes with the budget (HR, PGR, MSS) can be a little worse at a larger one.
        """
        if self.epsilon is None or self.confidence is None:
            return None
        return (self.question.low if self.refuted is None else self.refuted), self.epsilon

    @property
    def feasible(self) -> bool:
        """Whether a budget was found."""
        return self.epsilon is not None

    @property
    def best(self) -> Tried:
        """What was seen at the answer; where there is none, the budget that came closest."""
        exact = [t for t in self.evidence if t.law == "exact"]
        if self.epsilon is not None:
            return max((t for t in exact if t.epsilon == self.epsilon and t.satisfies), key=lambda t: t.runs)
        return max(exact or self.evidence, key=lambda t: (t.share, t.epsilon))

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism at the budget, ready to use."""
        return None if self.epsilon is None else self.question.mechanism(self.epsilon)

    @property
    def runs(self) -> int:
        """Collections that were simulated, exactly."""
        return sum(t.runs for t in self.evidence if t.law == "exact")

    def __repr__(self) -> str:
        what = f"epsilon={self.epsilon:.4g}" if self.epsilon is not None else "infeasible"
        return f"BudgetAnswer({what}, {self.question.name}, {self.method}, {len(self.evidence)} budgets tried)"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "feasible": self.feasible,
            "epsilon": self.epsilon,
            "interval": None if self.interval is None else list(self.interval),
            "refuted": self.refuted,
            "undecided": self.undecided,
            "confidence": self.confidence,
            "method": self.method,
            "question": self.question.to_dict(),
            "best": self.best.to_dict(),
            "runs": self.runs,
            "seconds": self.seconds,
            "evidence": [t.to_dict() for t in self.evidence],
        }
