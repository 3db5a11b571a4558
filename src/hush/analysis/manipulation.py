"""How far fake reports move an estimate, as functions of numbers.

Cao, Jia and Gong, "Data poisoning attacks to local differential privacy protocols" (USENIX Security 2021). A
decoder is linear in the reports. So if one fake report decodes to the sum D over the targets, on average, and a share
beta of all reports are fakes, the targets' estimated frequency moves by beta (D - f), f being their true frequency.
What is left to know is D, for each mechanism and attack.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hush.types import Values

Targets = int | Values
"""Values; or how many, which stands for the set of that size with the largest sum."""

Number = TypeVar("Number", float, npt.NDArray[np.float64])


def how_many(targets: Targets) -> int:
    """How many targets."""
    return targets if isinstance(targets, int) else targets.size


def gain(fraction: float, decoded: float, frequency: float) -> float:
    """What the targets' estimated total frequency gains, on average.

    Args:
        fraction: Share of fakes among all reports.
        decoded: What one fake report decodes to on average, summed over the targets.
        frequency: The targets' total frequency among genuine people.
    """
    return fraction * (decoded - frequency)


def pure(p: float, q: float, targets: int, supported: Number) -> Number:
    """What a report of a pure oracle decodes to over the targets, where it supports so many of them.

    >>> round(pure(0.5, 0.25, targets=2, supported=2), 6)
    6.0
    """
    return (supported - targets * q) / (p - q)


def histogram(unit: int, mean: float, targets: int, step: float) -> float:
    """What a noisy histogram decodes to over the targets, where each of them has this grid step.

    Args:
        unit: Grid steps in one.
        mean: Mean step of a coordinate that is zero; of one that is one it is `unit` less this.
        targets: How many.
        step: The (mean) step of each target's coordinate.
    """
    return targets * (step - mean) / (unit - 2 * mean)


def gathering(share: float, targets: int) -> float:
    """Probability that a random hash function can be shifted so that all targets fall into one interval.

    r independent points of a ring lie on some arc that covers a share x <= 1/2 of it with probability r x^(r-1);
    for longer arcs this is an upper bound. Without the free shift it would be x^(r-1).

    >>> gathering(0.25, 1), gathering(0.25, 3)
    (1.0, 0.1875)
    """
    return min(1.0, targets * share ** (targets - 1))


def gain_paper(
    protocol: str, attack: str, *, k: int, epsilon: float, targets: int, frequency: float, fraction: float
) -> float:
    """Table 1 of Cao, Jia and Gong as printed, for GRR, OUE and OLH.

    Exact up to the rounding of thresholds for GRR and OUE. For OLH it takes g = e^epsilon + 1, which is no integer.

    Args:
        protocol: GRR, OUE or OLH.
        attack: maximal (MGA), item (RIA) or random (RPA).
        k: Domain size.
        epsilon: Privacy loss of one report.
        targets: How many.
        frequency: Their total frequency among genuine people.
        fraction: Share of fakes among all reports.
    """
    noise = 1 / math.expm1(epsilon)
    decoded = {
        "item": {"GRR": 1.0, "OUE": 1.0, "OLH": 1.0},
        "random": {"GRR": targets / k, "OUE": float(targets), "OLH": 0.0},
        "maximal": {
            "GRR": 1 + (k - targets) * noise,
            "OUE": 2 * targets * (1 + noise),
            "OLH": 2 * targets * (1 + noise),
        },
    }
    return gain(fraction, decoded[attack][protocol], frequency)
