"""What ones should tell, so that the variances of all values have the least sum.

With a one that tells x and a zero that tells y, the variance of a value that nobody holds is 1/[(e^x - 1)(1 - e^-y)],
for one report. Its logarithm is convex in both, and so is that of a sum of such; what pairs allow, x_u + y_v at most
the smaller budget, is linear. Values of one budget are alike. So two numbers for each budget are found by Newton's
method with a barrier. Arithmetic is that of doubles and of `portable`, in a fixed order, so that every processor finds
the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_DOWN, Context, Decimal
from math import fsum, inf

from hush.analysis import portable
from hush.errors import ParameterError, Unsaid, message

Vector = list[float]

MOST_LEVELS = 12
"""Different budgets for which parameters are searched."""

_GAP = 1e-10  # between the logarithm of the sum and the least there is, at most
_FASTER = 8.0  # by which the barrier gives way each time
_STEPS = 60  # of Newton's method for one barrier
_SIX_DIGITS = Context(prec=6, rounding=ROUND_DOWN)


def one_losses(budgets: Sequence[float]) -> tuple[float, ...]:
    """For each value, what its one should tell, in nats, to six digits."""
    held = Counter(budgets)
    if len(held) > MOST_LEVELS:
        rule, remedy = f"must have at most {MOST_LEVELS} different numbers", "round them down, or give one_loss as well"
        raise ParameterError(message("budgets", rule, Unsaid(f"{len(held)}"), remedy))
    levels = sorted(held)
    if len(levels) == 1:  # optimized unary encoding
        found = [portable.log((portable.exp(levels[0]) + 1) / 2)]
    else:
        found = _Program(levels, [held[level] for level in levels]).solved()
    chosen = {level: float(_SIX_DIGITS.create_decimal(Decimal(one))) for level, one in zip(levels, found, strict=True)}
    return tuple(chosen[budget] for budget in budgets)


class _Program:
    """The logarithm of the sum of variances over points x_1..x_m, y_1..y_m, within what pairs allow."""

    def __init__(self, levels: Vector, sizes: list[int]) -> None:
        self.m, self.sizes = len(levels), sizes
        pairs = [(i, j) for i in range(self.m) for j in range(self.m) if i != j or sizes[i] > 1]
        self.limits = [(i, self.m + j, levels[min(i, j)]) for i, j in pairs]
        self.start = [levels[0] / 3] * (2 * self.m)

    def solved(self) -> Vector:
        """What ones should tell."""
        point, sharpness = self.start, 1.0
        while len(self.limits) / sharpness > _GAP:
            sharpness *= _FASTER
            point = self._centred(point, sharpness)
        return point[: self.m]

    def _centred(self, point: Vector, sharpness: float) -> Vector:
        value = self._value(point, sharpness)
        for _ in range(_STEPS):
            slope, curve = self._slopes(point, sharpness)
            step = _newton(curve, slope)
            fall = -fsum(a * b for a, b in zip(slope, step, strict=True))
            if fall < 1e-9:
                break
            length, moved, there = 1.0, point, inf
            while length > 1e-12:
                moved = [x + length * d for x, d in zip(point, step, strict=True)]
                there = self._value(moved, sharpness)
                if there <= value - length * fall / 4:
                    break
                length /= 2
            if not there < value:
                break
            point, value = moved, there
        return point

    def _value(self, point: Vector, sharpness: float) -> float:
        slacks = [limit - point[i] - point[j] for i, j, limit in self.limits]
        if min(*point, *slacks) <= 0:
            return inf
        total = 0.0
        for size, one, zero in zip(self.sizes, point[: self.m], point[self.m :], strict=True):
            total += size * portable.exp(zero) / (portable.expm1(one) * portable.expm1(zero))
        barrier = 0.0
        for slack in slacks:
            barrier += portable.log(slack)
        return sharpness * portable.log(total) - barrier

    def _slopes(self, point: Vector, sharpness: float) -> tuple[Vector, list[Vector]]:
        m, n = self.m, 2 * self.m
        ones, zeros = ([portable.expm1(x) for x in part] for part in (point[:m], point[m:]))
        terms = [size * (b + 1) / (a * b) for size, a, b in zip(self.sizes, ones, zeros, strict=True)]
        total = fsum(terms)
        each = [-(a + 1) / a for a in ones] + [-1 / b for b in zeros]  # slopes of the logarithm of a variance
        bend = [(a + 1) / a / a for a in ones] + [(b + 1) / b / b for b in zeros]
        weight = [terms[i % m] / total for i in range(n)]
        mean = [w * g for w, g in zip(weight, each, strict=True)]
        slope = [sharpness * g for g in mean]
        curve = [[-sharpness * a * b for b in mean] for a in mean]
        for i in range(n):
            curve[i][i] += sharpness * weight[i] * (bend[i] + each[i] * each[i])
            mate = (i + m) % n
            curve[i][mate] += sharpness * weight[i] * each[i] * each[mate]
        for i, j, limit in self.limits:
            pull = 1 / (limit - point[i] - point[j])
            for a in (i, j):
                slope[a] += pull
                for b in (i, j):
                    curve[a][b] += pull * pull
        return slope, curve


def _newton(curve: list[Vector], slope: Vector) -> Vector:
    """Minus the solution of curve x = slope, for a positive definite curve, by Cholesky's method."""
    n = len(slope)
    lower = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = curve[i][j] - fsum(lower[i][c] * lower[j][c] for c in range(j))
            lower[i][j] = max(rest, 1e-300) ** 0.5 if i == j else rest / lower[j][j]
    half = [0.0] * n
    for i in range(n):
        half[i] = (slope[i] - fsum(lower[i][c] * half[c] for c in range(i))) / lower[i][i]
    out = [0.0] * n
    for i in reversed(range(n)):
        out[i] = (half[i] - fsum(lower[c][i] * out[c] for c in range(i + 1, n))) / lower[i][i]
    return [-x for x in out]
