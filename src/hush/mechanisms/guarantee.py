"""What a mechanism promises about one report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LDP:
    """No output is more than e^epsilon times likelier under one value than under another."""

    epsilon: float

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"


@dataclass(frozen=True)
class ApproxLDP:
    """No event is likelier under one value than e^epsilon times another's probability plus delta."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-LDP"


Guarantee = LDP | ApproxLDP | None
