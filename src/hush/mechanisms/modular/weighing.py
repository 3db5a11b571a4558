"""What moduli are weighed by: error, attack, bits, decoding and condition.

The score of a choice is the weighted geometric mean of what matters, with weights that sum to one. So units do not
count, a weight says by how many per cent one number may grow for one per cent less of another, and only the ratios of
the weights matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

from hush.analysis.modular import Blocks
from hush.errors import ParameterError, message
from hush.mechanisms.subset.lengths import subset_bits

_TOLERANCE = 1e-11
"""How well the decoder solves its equations."""
_BESIDE = 5
"""What a step of conjugate gradients costs a value beside the product with the normal matrix."""

Weights = str | Mapping[str, float]


def average_bits(moduli: Sequence[int], omegas: Sequence[int]) -> float:
    """Equation 2: bits of a report on average, a whole number of them for the block and for the subset.

    >>> average_bits((11, 13, 7), (2, 3, 1))
    8.0
    """
    several = zip(moduli, omegas, strict=True)
    return (len(moduli) - 1).bit_length() + sum(subset_bits(m, w) for m, w in several) / len(moduli)


def reconstruction(k: int, moduli: Sequence[int], omegas: Sequence[int], p: Sequence[float]) -> float:
    """Success of the best guess under a uniform prior, exactly; equation 7 is a lower bound of it, not an upper one."""
    several = zip(moduli, omegas, p, strict=True)
    return sum(chance * m / omega for m, omega, chance in several) / (k * len(moduli))


@dataclass(frozen=True)
class WeighedModuli:
    """Moduli, and those of the model that they are judged by: the same unless there are many values.

    Args:
        law: Of the moduli.
        model: Of a few thousand values with moduli that have the same ratios to their number.
    """

    law: Blocks
    model: Blocks

    @cached_property
    def error(self) -> float:
        """Mean squared error times n, where residues are equally frequent; of many values, that of the model."""
        return float(self.model.flat_variances().mean())

    @property
    def attack(self) -> float:
        """Exact success of the best guess, all values being equally likely."""
        return reconstruction(self.law.k, self.law.moduli, self.law.omegas.tolist(), self.law.p.tolist())

    @property
    def bits(self) -> float:
        """Of a report, on average."""
        return average_bits(self.law.moduli, self.law.omegas.tolist())

    @cached_property
    def condition(self) -> float:
        """Condition number of the weighted design, to three digits; of many values, that of the model."""
        return self.model.system.condition(digits=3)

    @property
    def decoding(self) -> float:
        """At most so many additions turn residues into frequencies, however many reports there are.

        A step of conjugate gradients costs some 2l + 5 for each value. With a condition number c of the design, they
        are off by a factor of 10⁻¹¹ or less after ½ c ln(2 · 10¹¹) steps.
        """
        steps = max(1.0, 0.5 * self.condition * math.log(2 / _TOLERANCE))
        return steps * self.law.k * (2 * len(self.law.moduli) + _BESIDE)


OBJECTIVES = ("error", "attack", "bits", "decoding", "condition")


def measured(found: WeighedModuli) -> dict[str, float]:
    """All that moduli are weighed by."""
    return {name: getattr(found, name) for name in OBJECTIVES}


def normalized(weights: Weights) -> dict[str, float]:
    """Weights that sum to one, without those that are zero; one name alone weighs all.

    >>> normalized({"error": 3, "bits": 1, "attack": 0})
    {'error': 0.75, 'bits': 0.25}
    """
    given = {weights: 1.0} if isinstance(weights, str) else weights
    remedy = 'use e.g. "error" or {"error": 1, "bits": 0.5}'
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name in OBJECTIVES for name in given):
        rule = f"must be one of {', '.join(OBJECTIVES)}, or numbers for some of them"
        raise ParameterError(message("weights", rule, weights, remedy))
    for name, weight in given.items():
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not number or not 0 <= weight < math.inf:
            rule = f"must be finite numbers of at least 0, also for {name}"
            raise ParameterError(message("weights", rule, weight, remedy))
    largest = max(given.values(), default=0.0)
    if largest == 0:
        raise ParameterError(message("weights", "must weigh something", weights, remedy))
    shares = {name: weight / largest for name, weight in given.items() if weight > 0}  # the sum of huge ones overflows
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def score(weights: Weights) -> Callable[[WeighedModuli], float]:
    """What is to be kept small: the logarithm of the weighted geometric mean."""
    wanted = normalized(weights)
    return lambda found: sum(weight * math.log(getattr(found, name)) for name, weight in wanted.items())
