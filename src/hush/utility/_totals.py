"""What a report of a utility-optimized mechanism adds to the estimated total.

A sensitive value adds what the base mechanism's report does. Another value x is sent alone, and adds b - o, with b the
amount over the probability of being revealed, and o what cancels the disguises; or a disguise y adds what y does, and
b too where x is revealed beside it. Reports that stay protected are weighed by 1 - z(y).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.analysis.adds import Adds, spread
from hush.analysis.capacity import lattice
from hush.analysis.waves import Swings, expm1i, log1p
from hush.exact.thresholds import SCALE
from hush.mechanisms.forms import Forms
from hush.mechanisms.hadamard.forms import HadamardForms
from hush.mechanisms.hadamard.totals import output_means
from hush.mechanisms.independent import IndependentForms
from hush.mechanisms.pure import PureOracle
from hush.types import Complexes, Floats, Ints
from hush.utility._moments import protected_outputs
from hush.utility._revelation import Leveled, Revelation, Silent

if TYPE_CHECKING:
    from hush.mechanisms.hadamard import HR
    from hush.utility.oracle import UtilityOracle


@dataclass(frozen=True, eq=False)
class _Disguises:
    """Some of them: one characteristic function [point], less their mass, in place of one for each value."""

    phi_less_one: Any
    mass: float
    mean: float
    square: float

    def times(self, share: float) -> _Disguises:
        return _Disguises(
            lambda theta: share * self.phi_less_one(theta), share * self.mass, share * self.mean, share * self.square
        )


def disguised_adds(u: UtilityOracle, amounts: Floats) -> Adds | None:
    """None where no closed form tells what the base mechanism's reports add, or which disguises stay protected."""
    forms = u.base.forms
    if type(forms).report_adds is Forms.report_adds:
        return None
    base = forms.report_adds(amounts[u._sensitive])
    if base is None or u.s == u.k:
        return base
    hidden = _hidden(u._revelation, base, amounts[u._sensitive])
    kept = _kept(u._revelation, hidden, amounts[u._sensitive])
    return None if kept is None else _joined(u, amounts, base, hidden, kept)


def common_lattice(u: UtilityOracle, amounts: Floats) -> tuple[float, float] | None:
    """The least that a report may add, and a step, where disguises and values that are shown lie on one lattice.

    They do where the gap p - q and the share of values that are shown have a simple ratio: for subsets of omega out of
    s it is (s - omega) to (s - 1), and for randomized response 1.
    """
    base, inner = u.base, amounts[u._sensitive]
    if isinstance(base.forms, HadamardForms):
        gap, disguised = base.forms.m._gap, output_means(base.forms.m, inner)[0].ravel()
    elif isinstance(base, PureOracle):
        gap = base.p_star - base.q_star
        disguised = np.array([-base.q_star * float(inner.sum()) / gap])  # and so many steps more
    else:
        return None
    parts = _simple(gap / u.z_star, u.s) if u._may_pair else 1
    step = lattice(amounts.tolist()) / (gap * parts) if parts else 0.0
    if not step:
        return None
    lone = amounts[u._others] / u.z_star - float(inner @ u._offset)
    least = float(min(lone.min(), disguised.min()))
    places = (np.concatenate([lone, disguised]) - least) / step
    return (least, step) if np.abs(places - np.rint(places)).max() < 1e-7 else None


def _simple(ratio: float, most: int) -> int:
    """The denominator of a ratio of whole numbers up to `most`; 0 where it is none."""
    near = Fraction(ratio).limit_denominator(max(most, 1))
    return near.denominator if abs(ratio - near) <= 1e-13 * most else 0


def _joined(u: UtilityOracle, amounts: Floats, base: Adds, hidden: _Disguises, kept: _Disguises) -> Adds:
    f, sensitive, others = u.f, u._sensitive, u._others
    shown = amounts[others] / u.z_star
    lone = shown - float(amounts[sensitive] @ u._offset)
    pair = u.reveal == "pair"
    alone = 1 - f if pair else u.z_star

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        out = np.empty((theta.size, u.k), np.complex128)
        out[:, sensitive] = base.phi_less_one(theta)
        rest = kept.phi_less_one(theta)[:, None]
        out[:, others] = alone * expm1i(theta[:, None] * lone) + f * rest
        if pair:
            more, moved = hidden.phi_less_one(theta)[:, None] - rest, expm1i(theta[:, None] * shown)
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
    return Adds(phi_less_one, mean, variance, base.cells + u.k, swings)


def _hidden(revelation: Revelation, base: Adds, amounts: Floats) -> _Disguises:
    """All disguises: a uniform sensitive value's report, or noise."""
    if isinstance(revelation, Silent):
        return _noise(revelation.unary, amounts)
    return _Disguises(
        lambda theta: base.phi_less_one(theta).mean(axis=1), 1.0, float(base.mean.mean()), float(base.square.mean())
    )


def _kept(revelation: Revelation, hidden: _Disguises, amounts: Floats) -> _Disguises | None:
    """Those that stay protected, weighed by 1 - z(y); None where z(y) depends on more than is known here."""
    if revelation.constant is not None:
        return hidden.times(1 - revelation.constant / SCALE)
    forms = revelation.base.forms
    if isinstance(revelation, Leveled) and isinstance(forms, HadamardForms):
        return _outputs(forms.m, revelation, amounts)
    if isinstance(revelation, Leveled) and isinstance(forms, IndependentForms) and not revelation.slack:
        return _bits(forms.m, revelation, amounts)
    return None


def _bits(base: PureOracle, revelation: Leveled, amounts: Floats) -> _Disguises:
    """A protected disguise is as likely as its likeliest value makes it, over E. For bits that is noise, weighed by one
    number wherever some bit is one, and by another where none is.
    """
    s, p, q = base.k, base.p_star, base.q_star
    kept = 1 - revelation.chances
    some = (p / (s * q) + (1 - p) * (s - 1) / (s * (1 - q))) * float(kept[1])
    none = (1 - p) / (1 - q) * float(kept[0])
    whole, empty = _noise(base, amounts), (1 - q) ** s * (none - some)
    least = -q * float(amounts.sum()) / (p - q)
    return _Disguises(
        lambda theta: some * whole.phi_less_one(theta) + empty * expm1i(theta * least),
        some * whole.mass + empty,
        some * whole.mean + empty * least,
        some * whole.square + empty * least**2,
    )


def _noise(base: PureOracle, amounts: Floats) -> _Disguises:
    """Every bit is one with probability q."""
    p, q = base.p_star, base.q_star
    shift = -q * float(amounts.sum()) / (p - q)

    def phi_less_one(theta: npt.NDArray[Any]) -> Complexes:
        each = log1p(q * expm1i(theta[:, None] / (p - q) * amounts))
        return np.asarray(np.expm1(each.sum(axis=1) + 1j * theta * shift))

    return _Disguises(phi_less_one, 1.0, 0.0, q * (1 - q) * float(amounts @ amounts) / (p - q) ** 2)


def _outputs(base: HR, revelation: Leveled, amounts: Floats) -> _Disguises:
    """Output by output."""
    says = output_means(base, amounts)[0].ravel()
    chances = protected_outputs(revelation) * (SCALE / revelation.hide)
    return _Disguises(
        lambda theta: expm1i(theta[:, None] * says) @ chances,
        float(chances.sum()),
        float(chances @ says),
        float(chances @ says**2),
    )
