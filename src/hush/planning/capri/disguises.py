"""What a report of a utility-optimized mechanism adds to the estimated total.

A sensitive value adds what the base mechanism's report does. Another value x is sent alone, and adds b - o, with b the
amount over the probability of being revealed, and o what cancels the disguises; or a disguise y adds what y does, and
b too where x is revealed beside it. Reports that stay protected are weighed by 1 - z(y).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.capacity import lattice
from hush.analysis.waves import Swings, log1p, turned
from hush.exact.thresholds import SCALE
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.unary import UE
from hush.planning.capri.adds import Adds, adds, spread
from hush.planning.capri.hadamard import output_means
from hush.types import Complexes, Floats, Ints
from hush.utility._giving import Giving, Leveled, Silent
from hush.utility._moments import protected_outputs
from hush.utility.oracle import UtilityOracle


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the disguises: one characteristic function [point], less their mass, in place of one for each value."""

    turns: Any
    mass: float
    mean: float
    square: float

    def times(self, share: float) -> _Part:
        return _Part(lambda theta: share * self.turns(theta), share * self.mass, share * self.mean, share * self.square)


@adds.register
def _(u: UtilityOracle, amounts: Floats) -> Adds | None:
    """None where the base mechanism's reports, or which of its disguises stay protected, are not known."""
    base = adds(u.base, amounts[u._sensitive])
    if base is None or u.s == u.k:
        return base
    hidden = _hidden(u._giving, base, amounts[u._sensitive])
    kept = _kept(u._giving, hidden, amounts[u._sensitive])
    return None if kept is None else _joined(u, amounts, base, hidden, kept)


def together(u: UtilityOracle, amounts: Floats) -> tuple[float, float] | None:
    """The least that a report may add, and a step, where disguises and values that are shown lie on one lattice.

    They do where the gap p - q and the share of values that are shown have a simple ratio: for subsets of omega out of
    s it is (s - omega) to (s - 1), and for randomized response 1.
    """
    if not isinstance(u.base, (PureOracle, HR)):
        return None
    inner = amounts[u._sensitive]
    gap = u.base._gap if isinstance(u.base, HR) else u.base.p_star - u.base.q_star
    parts = _simple(gap / u.z_star, u.s) if u._may_pair else 1
    step = lattice(amounts.tolist()) / (gap * parts) if parts else 0.0
    if not step:
        return None
    lone = amounts[u._others] / u.z_star - float(inner @ u._offset)
    if isinstance(u.base, HR):
        disguised = output_means(u.base, inner)[0].ravel()
    else:
        disguised = np.array([-u.base.q_star * float(inner.sum()) / gap])  # and so many steps more
    least = float(min(lone.min(), disguised.min()))
    places = (np.concatenate([lone, disguised]) - least) / step
    return (least, step) if np.abs(places - np.rint(places)).max() < 1e-7 else None


def _simple(ratio: float, most: int) -> int:
    """The denominator of a ratio of whole numbers up to `most`; 0 where it is none."""
    near = Fraction(ratio).limit_denominator(max(most, 1))
    return near.denominator if abs(ratio - near) <= 1e-13 * most else 0


def _joined(u: UtilityOracle, amounts: Floats, base: Adds, hidden: _Part, kept: _Part) -> Adds:
    f, sensitive, others = u.f, u._sensitive, u._others
    shown = amounts[others] / u.z_star
    lone = shown - float(amounts[sensitive] @ u._offset)
    pair = u.reveal == "pair"
    alone = 1 - f if pair else u.z_star

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        out = np.empty((theta.size, u.k), np.complex128)
        out[:, sensitive] = base.turns(theta)
        rest = kept.turns(theta)[:, None]
        out[:, others] = alone * turned(theta[:, None] * lone) + f * rest
        if pair:
            more, moved = hidden.turns(theta)[:, None] - rest, turned(theta[:, None] * shown)
            out[:, others] += f * (more + (more + (hidden.mass - kept.mass)) * moved)
        return out

    mean, square = np.empty(u.k), np.empty(u.k)
    mean[sensitive], square[sensitive] = base.mean, base.square
    mean[others], square[others] = alone * lone + f * kept.mean, alone * lone**2 + f * kept.square
    if pair:
        mass, middle, wider = (getattr(hidden, name) - getattr(kept, name) for name in ("mass", "mean", "square"))
        mean[others] += f * (middle + mass * shown)
        square[others] += f * (wider + 2 * middle * shown + mass * shown**2)

    def swings(counts: Ints) -> Swings:
        """Of those with sensitive values; the others may as well all be silent."""
        return base.swings(counts[sensitive])

    variance = spread(mean, square)
    variance[sensitive] = base.variance
    return Adds(turns, mean, variance, base.cells + u.k, swings)


def _hidden(giving: Giving, base: Adds, amounts: Floats) -> _Part:
    """All disguises: a uniform sensitive value's report, or noise."""
    if isinstance(giving, Silent):
        return _noise(giving.unary, amounts)
    return _Part(lambda theta: base.turns(theta).mean(axis=1), 1.0, float(base.mean.mean()), float(base.square.mean()))


def _kept(giving: Giving, hidden: _Part, amounts: Floats) -> _Part | None:
    """Those that stay protected, weighed by 1 - z(y); None where z(y) depends on more than is known here."""
    if giving.constant is not None:
        return hidden.times(1 - giving.constant / SCALE)
    if isinstance(giving, Leveled) and isinstance(giving.base, HR):
        return _outputs(giving.base, giving, amounts)
    if isinstance(giving, Leveled) and isinstance(giving.base, (UE, Hashed)):
        return _bits(giving.base, giving, amounts)
    return None


def _bits(base: UE | Hashed, giving: Leveled, amounts: Floats) -> _Part:
    """A protected disguise is as likely as its likeliest value makes it, over E. For bits that is noise, weighed by one
    number wherever some bit is one, and by another where none is.
    """
    s, p, q = base.k, base.p_star, base.q_star
    kept = 1 - giving.chances
    some = (p / (s * q) + (1 - p) * (s - 1) / (s * (1 - q))) * float(kept[1])
    none = (1 - p) / (1 - q) * float(kept[0])
    whole, empty = _noise(base, amounts), (1 - q) ** s * (none - some)
    least = -q * float(amounts.sum()) / (p - q)
    return _Part(
        lambda theta: some * whole.turns(theta) + empty * turned(theta * least),
        some * whole.mass + empty,
        some * whole.mean + empty * least,
        some * whole.square + empty * least**2,
    )


def _noise(base: UE | Hashed, amounts: Floats) -> _Part:
    """Every bit is one with probability q."""
    p, q = base.p_star, base.q_star
    shift = -q * float(amounts.sum()) / (p - q)

    def turns(theta: npt.NDArray[Any]) -> Complexes:
        each = log1p(q * turned(theta[:, None] / (p - q) * amounts))
        return np.asarray(np.expm1(each.sum(axis=1) + 1j * theta * shift))

    return _Part(turns, 1.0, 0.0, q * (1 - q) * float(amounts @ amounts) / (p - q) ** 2)


def _outputs(base: HR, giving: Leveled, amounts: Floats) -> _Part:
    """Output by output."""
    says = output_means(base, amounts)[0].ravel()
    chances = protected_outputs(giving) * (SCALE / giving.hide)
    return _Part(
        lambda theta: turned(theta[:, None] * says) @ chances,
        float(chances.sum()),
        float(chances @ says),
        float(chances @ says**2),
    )
