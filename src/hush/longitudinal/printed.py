"""Second rounds as the literature prints them, to reproduce its figures.

The printed second round of L-GRR and LOLOHA sets (p1 p2 + q1 q2) / (p1 q2 + q1 p2) to e^epsilon_report. That is the
loss of one report for two values. For more, a report also comes from the values that are neither the true one nor the
reported one, which the formula leaves out: one report then loses less than epsilon_report, and accuracy is given away.
The printed protocol is the one here with `first_loss` in place of epsilon_report.
"""

from __future__ import annotations

import math

from hush import rules
from hush.longitudinal import _rounds


def first_loss(size: int, epsilon_permanent: float, epsilon_report: float) -> float:
    """What one report truly loses with the printed second round, over `size` values (k of L-GRR, g of LOLOHA).

    >>> round(first_loss(2, 2.0, 1.0), 6), round(first_loss(100, 2.0, 1.0), 6)
    (1.0, 0.165608)
    """
    others = rules.domain_size(size) - 1
    permanent = _rounds.permanent(epsilon_permanent)
    a, b = math.exp(permanent), math.exp(_rounds.first(epsilon_report, permanent))
    again = (a * b - 1) / (a - b)
    return math.log((a * again + others) / (a + again + others - 1))


def hash_range(epsilon_permanent: float, epsilon_report: float) -> int:
    """The number of buckets that Arcolezi et al. (EDBT 2023) choose for OLOLOHA with the printed second round.

    >>> hash_range(4.0, 2.0)
    7
    """
    permanent = _rounds.permanent(epsilon_permanent)
    a, b = math.exp(permanent), math.exp(_rounds.first(epsilon_report, permanent))
    root = math.sqrt(a**4 - 14 * a**2 + 12 * a * b * (1 - a * b) + 12 * a**3 * b + 1)
    return 1 + max(1, round((1 - a**2 + root) / (6 * (a - b))))
