"""What a slack delta leaves to be covered: disguises over an (epsilon, delta)-private base mechanism.

A sensitive value i sends a protected report y with probability p_i(y), another value with N(y). With a delta, ULDP asks
that the sum over all y of (p_i(y) - E N(y))⁺ be at most delta, for every i, and the same the other way round.

The second always holds: N is at most the mean of all p_t, and every p_t keeps to it. For the first, the slack is spent
where it frees most: N(y) may fall by delta/E for every value that y supports, so on the reports that support fewest,
down to what the values that y does not support ask for. That is a linear program, and this its greedy answer: no N has
a smaller sum, which is the chance that a value is not revealed.

Where even a disguise that is never revealed does not cover the rest (a large delta), nothing is spent: the mean of all
p_t misses no p_i by more than the base mechanism's own delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hush.exact.loss import cells_epsilon
from hush.exact.thresholds import SCALE
from hush.mechanisms.shape import Shape


def covered(shape: Shape, delta: Fraction) -> list[Fraction]:
    """Of each size 0..s, the share of a report's largest weight that E N(y) must reach."""
    shares = [Fraction(1)] * (shape.s + 1)
    if not delta:
        return shares
    least = Fraction(shape.low, shape.high)
    found = [Fraction(0)] * (shape.s + 1)
    for seen in shape.seen():
        left = delta * seen.whole(shape)
        for size, own, times in sorted(seen.cells):
            if not own:
                continue
            most = times * (shape.high - shape.low)
            share = least if left >= most else 1 - left / (times * shape.high)
            left = left - most if left > most else Fraction(0)
            found[size] = max(found[size], share)
    return [found[size] if size and found[size] else shares[size] for size in range(shape.s + 1)]


def least_hiding(shape: Shape, e: Fraction, shares: Sequence[Fraction]) -> Fraction:
    """How often a value must be disguised so that disguises cover these shares; more than 1 where none can."""
    return max(shape.s * shares[c] * shape.most(c) / (e * shape.mass(c)) for c in shape.possible)


def loss(shape: Shape, hide: int, thresholds: Sequence[int], delta: Fraction) -> float:
    """The smallest epsilon at this delta between a sensitive value and another, one way and the other."""
    worst, unit = 0.0, shape.s * SCALE**2
    for seen in shape.seen():
        slack = delta * seen.whole(shape) * unit
        cells = [
            ((shape.high if own else shape.low) * unit, hide * (SCALE - thresholds[c]) * shape.mass(c), times)
            for c, own, times in seen.cells
        ]
        back = [(other, mine, times) for mine, other, times in cells]
        worst = max(worst, cells_epsilon(cells, slack), cells_epsilon(back, slack))
    return worst
