"""What a search for a budget answers, and the evidence behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

NAMES = {
    "fn": "a missed exceedance",
    "fp": "a false alarm",
    "tp": "a true alarm",
    "tn": "a true all-clear",
    "error": "a wrong decision",
}


@dataclass(frozen=True)
class Evidence:
    """What was found at one budget.

    Args:
        epsilon: The budget tried.
        satisfied: Whether it met the constraint.
        probability: Of the metric: exact, a bound, or the share of runs, by what the method goes by.
        exact: The exact probability; None where it is not known, or was not worth its time.
        runs: Simulated collections.
        hits: How many of them counted for the metric.
        low: Lower end of the 95 % interval of the probability, where collections were simulated; else what it is at
            least, as well as its law is known.
        high: Upper end.
        deviation: Standard deviation of the estimated total.
        normal: Probability of a wrong decision, if the estimate were normal.
        cantelli: Bound of the same, by Cantelli's inequality; 1 where it says nothing.
        chebyshev: The same, by Chebyshev's.
        seconds: What it took.
        law: How well the law of the estimated total is known: "exact"; "near", to within `low` and `high`, to first
            order or to four digits; or "normal", with a variance from simulated collections.
    """

    epsilon: float
    satisfied: bool
    probability: float
    exact: float | None
    runs: int
    hits: int
    low: float
    high: float
    deviation: float
    normal: float
    cantelli: float
    chebyshev: float
    seconds: float
    law: str = "exact"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Truth:
    """What a budget that was planned from an estimate does for the people as they are, where a simulation knows them.

    Args:
        total: The true total.
        probability: Of the metric, by the law.
        satisfied: Whether the constraint is met.
        interval: 95 % interval of the probability from simulated collections of these people; None without any.
        clipped: How many of them were.
    """

    total: float
    probability: float
    satisfied: bool
    interval: tuple[float, float] | None = None
    clipped: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class CapacityAnswer:
    """The smallest budget that met the constraint, or why there is none.

    Args:
        epsilon: The budget, with at most four digits unless it is an end of the range; None where the constraint cannot
            be met.
        probability: Of the metric at this budget, as exactly as it is known.
        interval: 95 % interval of the probability from simulated collections at this budget; None without any, and
            where the truth is known besides, which has its own.
        feasible: Whether a budget was found.
        reason: Why not, or why any budget does.
        mechanism: Its name.
        reading: "frequencies" or "mean": what the mechanism estimates.
        method: How the budget was searched.
        metric: What is bounded.
        threshold: By how much.
        cap: The capacity.
        total: The true total; as it was estimated, where counts come from an earlier collection.
        expected: The total that the estimate is right about: less, where outliers were clipped.
        clipped: How many people were.
        n: Number of people.
        spent: Budget that an earlier round took from the same people.
        evidence: Every budget tried, in order.
        confirmation: Simulated collections at the chosen budget, from whole tallies; of the people as they are, where
            `truth` tells of those.
        seconds: What it took.
        raised: Where simulated collections had the search end at a smaller budget, at which the law says that the
            constraint does not hold yet, that budget.
        estimated: Whether the counts are those that an earlier collection estimated.
        truth: What the budget does for the people as they are, where a first round was simulated.
        above: The amount above which people are counted; None where totals are. What is called a total is then how
            many they are.
        spread: Where only a mean is known, for whom of all people with that mean the budget was planned, since they
            need the largest: "even", as alike as can be; "apart", as far apart; "between", at two amounts besides; or
            "any", where all need the same. None where counts are known.
    """

    epsilon: float | None
    probability: float
    interval: tuple[float, float] | None
    feasible: bool
    reason: str
    mechanism: str
    reading: str
    method: str
    metric: str
    threshold: float
    cap: float
    total: float
    expected: float
    clipped: int
    n: int
    spent: float
    evidence: tuple[Evidence, ...] = field(repr=False)
    confirmation: Evidence | None = field(repr=False)
    seconds: float
    raised: float | None = None
    estimated: bool = False
    truth: Truth | None = None
    above: float | None = None
    spread: str | None = None

    @property
    def law(self) -> str:
        """How well the law of the estimated total is known at the answer: "exact", "near" or "normal"."""
        return "exact" if self.best is None else self.best.law

    @property
    def total_epsilon(self) -> float | None:
        """The budget with what an earlier round spent."""
        return None if self.epsilon is None else self.epsilon + self.spent

    @property
    def best(self) -> Evidence | None:
        """The evidence for the answer; where there is none, the budget that came nearest."""
        if self.epsilon is not None:
            return next((e for e in reversed(self.evidence) if e.epsilon == self.epsilon and e.satisfied), None)
        wanted = self.metric in ("tp", "tn")
        return max(self.evidence, key=lambda e: e.probability if wanted else -e.probability, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("evidence", "confirmation")}
        plain["interval"] = None if self.interval is None else list(self.interval)
        plain["truth"] = None if self.truth is None else self.truth.to_dict()
        plain["total_epsilon"] = self.total_epsilon
        plain["law"] = self.law
        plain["evidence"] = [e.to_dict() for e in self.evidence]
        plain["confirmation"] = None if self.confirmation is None else self.confirmation.to_dict()
        return plain

    def __str__(self) -> str:
        bound = "at least" if self.metric in ("tp", "tn") else "below"
        wish = f"{NAMES[self.metric]} with probability {bound} {self.threshold:g}"
        side = "exceeds" if self.total > self.cap else "stays within"
        known = "total" if self.above is None else f"number above {self.above:g}"
        known = f"estimated {known}" if self.estimated else known
        setting = f"{self.n:,} people whose {known} of {self.total:,.12g} {side} the cap of {self.cap:,.12g}"
        if not self.feasible:
            return f"{self.mechanism}: no budget gives {wish}, for {setting}: {self.reason}."
        why = f" ({self.reason})" if self.reason else ""
        found = f"has {NAMES[self.metric]} with probability {self.probability:.4g}, {bound} {self.threshold:g}"
        said = f"{self.mechanism} with epsilon {self.epsilon:.12g} {found}, for {setting}{why}."
        if self.truth is None:
            return said
        truth, kept = self.truth, "is" if self.truth.satisfied else "is not"
        what = "total" if self.above is None else "number"
        return f"{said} For the true {what}, {truth.total:,.12g}, it is {truth.probability:.4g}; the wish {kept} kept."
