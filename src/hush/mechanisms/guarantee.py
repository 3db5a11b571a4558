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


@dataclass(frozen=True)
class ULDP:
    """Utility-optimized: epsilon protects the sensitive values; an output that they never give may reveal another.

    Definition 3 of "Sensitivity distinction in LDP" (Murakami and Kawamoto, USENIX Security 2019): no output that a
    sensitive value can give is more than e^epsilon times likelier under one value than under another, whichever they
    are; every other output is possible under one value alone, which is not sensitive.
    """

    epsilon: float
    sensitive: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.epsilon:g}-ULDP for {len(self.sensitive)} sensitive value{'s'[: len(self.sensitive) > 1]}"


Guarantee = LDP | ApproxLDP | ULDP | None
