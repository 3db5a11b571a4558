"""What every way of searching is and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import FrequencyOracle
from hush.planning.optimus.trials import Trials, Tried


@dataclass(frozen=True)
class Found:
    """The smallest budget that was found, None where none satisfies; and between which bounds the true one lies."""

    epsilon: float | None
    interval: tuple[float, float] | None = None
    confidence: float | None = None


class ThousandRuns:
    """What the methods of the thesis share."""

    def usual_runs(self, m: FrequencyOracle) -> int:
        """Whatever the mechanism."""
        return 1000


class Method(Protocol):
    """A way of searching."""

    name: ClassVar[str]

    def usual_runs(self, m: FrequencyOracle) -> int:
        """How many runs at a budget where nothing is said."""

    def search(self, trials: Trials, runs: int) -> Found:
        """Look for the smallest budget."""


def precision(value: object) -> float:
    """How close two budgets must be for a search to end."""
    return _rules.number("precision", value, 0.0, 10.0, "use e.g. 0.01", closed=True)


def enough_runs(runs: object) -> int:
    """A number of runs."""
    return _rules.integer("runs", runs, 10, 10**7, "use e.g. 1000")


def above(name: str, value: object, least: float, remedy: str) -> float:
    """A finite number above a bound."""
    real = _rules._real(value)
    if not least < real < float("inf"):
        raise ParameterError(message(name, f"must be a number above {least:g}", value, remedy))
    return real


def smallest(evidence: list[Tried], least: float = 0.0) -> float | None:
    """The smallest budget that satisfied, from a bound on; where the exact law was asked, it decides."""
    said = {t.epsilon: t.satisfies for t in sorted(evidence, key=lambda t: t.law == "exact")}
    return min((epsilon for epsilon, satisfies in said.items() if satisfies and epsilon >= least), default=None)


def settled(trials: Trials, runs: int, least: float = 0.0) -> Found:
    """The smallest budget that satisfied, asked of the exact law."""
    while (best := smallest(trials.evidence, least)) is not None:
        asked = any(t.epsilon == best and t.law == "exact" for t in trials.evidence)
        if asked or trials.measured(best, runs, surely=True).satisfies:
            break
    return Found(best)
