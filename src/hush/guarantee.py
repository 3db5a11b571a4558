"""What a mechanism promises about one report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class LDP:
    """No output is more than e^epsilon times likelier under one value than under another."""

    epsilon: float

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"


@dataclass(frozen=True)
class MinIDLDP(LDP):
    """Input-discriminative: no output is more than e^min(a, b) times likelier under a value of budget a than of b.

    MinID-LDP of Gu et al., "Providing input-discriminative protection for local differential privacy" (ICDE 2020). It
    is LDP as well, with the largest loss that two values can have: the second largest budget, or twice the smallest
    (by way of that value), whichever is less.

    >>> MinIDLDP.of([0.5, 2.0, 3.0])
    MinIDLDP(epsilon=1.0, budgets=(0.5, 2.0, 3.0))
    """

    budgets: tuple[float, ...]

    @classmethod
    def of(cls, budgets: Sequence[float]) -> MinIDLDP:
        """What these budgets, of two or more values, promise."""
        return cls(min(sorted(budgets)[-2], 2 * min(budgets)), tuple(budgets))

    def between(self, first: int, second: int) -> float:
        """The loss that two values may have; none, of a value and itself."""
        return 0.0 if first == second else min(self.budgets[first], self.budgets[second])

    def __str__(self) -> str:
        return f"MinID-LDP with budgets from {min(self.budgets):g} to {max(self.budgets):g}; {self.epsilon:g}-LDP"


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
    are; every other output is possible under one value alone, which is not sensitive. With a delta (Zhang et al., IEEE
    TETC 2023), no event of outputs that a sensitive value can give is likelier under one value than e^epsilon times
    another's probability plus delta.
    """

    epsilon: float
    sensitive: tuple[int, ...]
    delta: float = 0.0

    @property
    def alike(self) -> LDP | ApproxLDP:
        """What whoever holds a sensitive value is promised."""
        return ApproxLDP(self.epsilon, self.delta) if self.delta else LDP(self.epsilon)

    def __str__(self) -> str:
        amount = f"({self.epsilon:g}, {self.delta:g})" if self.delta else f"{self.epsilon:g}"
        return f"{amount}-ULDP for {len(self.sensitive)} sensitive value{'s'[: len(self.sensitive) > 1]}"


Guarantee = LDP | ApproxLDP | ULDP | None


def above(exact: Fraction) -> float:
    """The nearest double, or the next one if that is less: a loss is never rounded down.

    >>> above(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def of_all_values(promise: Guarantee, k: int) -> LDP | ApproxLDP | None:
    """What is promised to whoever holds any of k values; None where that is nothing.

    ULDP for all of them is LDP; for some of them, another value may be revealed.

    >>> of_all_values(ULDP(1.0, (0, 1)), 2), of_all_values(ULDP(1.0, (0, 1)), 3)
    (LDP(epsilon=1.0), None)
    """
    if isinstance(promise, ULDP):
        return promise.alike if len(set(promise.sensitive)) == k else None
    return promise


def together(promises: Iterable[LDP | ApproxLDP], times: int = 1) -> LDP | ApproxLDP:
    """What reports promise that are all seen, so many times: the sums of epsilon and of delta.

    >>> together([LDP(0.5), ApproxLDP(1.0, 1e-6)], 2)
    ApproxLDP(epsilon=3.0, delta=2e-06)
    """
    pairs = [(Fraction(p.epsilon), Fraction(p.delta if isinstance(p, ApproxLDP) else 0)) for p in promises]
    epsilon, delta = (above(sum(part, start=Fraction(0)) * times) for part in zip(*pairs, strict=True))
    return ApproxLDP(epsilon, min(delta, 1.0)) if delta else LDP(epsilon)


def weakest(promises: Sequence[LDP | ApproxLDP]) -> LDP | ApproxLDP:
    """What is promised where one of several reports is sent, and which one depends on nobody's value.

    >>> weakest([LDP(0.5), ApproxLDP(0.2, 1e-6)])
    ApproxLDP(epsilon=0.5, delta=1e-06)
    """
    delta = max(p.delta if isinstance(p, ApproxLDP) else 0.0 for p in promises)
    epsilon = max(p.epsilon for p in promises)
    return ApproxLDP(epsilon, delta) if delta else LDP(epsilon)
