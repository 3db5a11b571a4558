"""Unary encoding: UE(p), SUE (basic RAPPOR), OUE, client-thresholded histograms (THE), and ASUE.

SUE: Erlingsson et al. (CCS 2014); OUE and THE: Wang et al. (USENIX Security 2017); ASUE: Wang et al. (2021),
equation 10 of "Revealing the true cost of LDP protocols" with the root it should have, sqrt(E(1-delta)+delta).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.analysis import optimal, success
from hush.analysis.choice import shortened
from hush.errors import ParameterError, message
from hush.exact.thresholds import SCALE
from hush.mechanisms import chosen
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.unary.forms import UnaryForms
from hush.mechanisms.unary.records import BitRecords
from hush.simulation import tallies
from hush.types import Floats, Ints, Reports, Values

_LEAST_THETA = 0.500001
"""The first number of six digits above 1/2."""


@dataclass(frozen=True, kw_only=True)
class UE(BitRecords, PureOracle):
    """Report k bits, one for each value: the true value's is one with probability ``p``, any other with ``q``.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        p: Probability that the true value's bit is one, strictly between 0 and 1; ``q`` follows from epsilon.

    >>> round(UE(k=5, epsilon=1.0, p=0.5).q, 6)
    0.268941
    """

    p: float

    full_name: ClassVar[str] = "unary encoding"
    shown_with: ClassVar[Mapping[str, Any]] = {"p": 0.75}
    companion: ClassVar[type[Forms]] = UnaryForms
    family: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()

    def _check(self) -> None:
        self._set(p=rules.number("p", self.p, 0.0, 1.0, "use e.g. 0.5"))
        _ = self._ones

    @cached_property
    def _ones(self) -> tuple[int, int]:
        """Out of 2^64, the probabilities of a one in the true value's bit and in another."""
        own = exact.clamp(int(self.p * SCALE))
        other = exact.other_bit(self.epsilon, own)
        if own <= other:
            raise ParameterError(message("p", "must leave room for a smaller q", self.p, "use e.g. 0.5"))
        return own, other

    @property
    def tight(self) -> bool:  # type: ignore[override]
        """Whether the exact loss reaches epsilon to 1e-8: not where p or q is so near to 0 or 1 that rounding tells.

        q is rounded by one in 2^64, which is 5e-9 of 1e-11.
        """
        own, other = self._ones
        return min(own, other, self.unit - own, self.unit - other) >= self.unit // 10**11

    @property
    def q(self) -> float:
        """Probability that another value's bit is one."""
        return self.q_star

    @property
    def p_star(self) -> float:
        return self._ones[0] / self.unit

    @property
    def q_star(self) -> float:
        return self._ones[1] / self.unit

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"p": self._ones[0], "q": self._ones[1]}

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.unary import encode

        out = np.empty(values.size, self.report_dtype)
        encode(rng, values, self.k, np.uint64(self._ones[0]), np.uint64(self._ones[1]), out["bits"])
        return out

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        byte = reports["bits"][np.arange(reports.size), values >> 3]
        return np.asarray((byte >> (values & 7).astype(np.uint8)) & 1, dtype=np.bool_)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return self.bit_matrix(reports)

    def coordinates(self, reports: Reports) -> Ints:
        return self.support_matrix(reports).astype(np.int64)

    def coordinate_law(self) -> tuple[Floats, Floats]:
        return np.array([1 - self.q_star, self.q_star]), np.array([1 - self.p_star, self.p_star])

    def weight(self, report: Reports, value: int) -> int:
        p, q = self._ones
        row = self.support_matrix(np.asarray(report, self.report_dtype)[None])[0]
        others = int(row.sum()) - int(row[value])
        own = p if row[value] else self.unit - p
        return int(own * q**others * (self.unit - q) ** (self.k - 1 - others))

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        p, q = self.p_star, self.q_star
        own = self.supports(reports, values)
        ones = np.bitwise_count(reports["bits"]).sum(axis=1, dtype=np.int64) - own
        off_p, off_q = math.log1p(-p), math.log1p(-q)
        return np.where(own, math.log(p), off_p) + ones * math.log(q) + (self.k - 1 - ones) * off_q

    def scores(self, reports: Reports) -> Floats:
        return np.asarray(self.support_matrix(reports) * self._pair_loss(), dtype=np.float64)

    def _pair_loss(self) -> float:
        p, q = self._ones
        return exact.log_ratio(p * (self.unit - q), q * (self.unit - p))

    def exact_epsilon(self) -> float:
        """The loss of a one in one value's bit and a zero in the other's; at this mechanism's delta if it has one."""
        if not self._delta:
            return self._pair_loss()
        p, q = self._ones
        top, bottom = self._delta.as_integer_ratio()
        return exact.log_ratio(p * (self.unit - q) * bottom - top * self.unit**2, q * (self.unit - p) * bottom)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Equation 12: any one is as good a guess as another; without a one, any value."""
        if prior is None:
            return float(success.independent_bits(self.k, self.p_star, self.q_star))
        law = success.first_bit(self.k, self.p_star, self.q_star)
        return success.first_supported(shares(prior, self.k), *law)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return tallies.independent_bits(counts, self.p_star, self.q_star, rng)


@dataclass(frozen=True, kw_only=True)
class OUE(UE):
    """Optimized unary encoding: p = 1/2, q = 1/(e^epsilon + 1).

    >>> round(OUE(k=17, epsilon=1.0).q_star, 6)
    0.268941
    """

    full_name: ClassVar[str] = "optimized unary encoding"

    p: float = field(init=False, default=0.5)


@dataclass(frozen=True, kw_only=True)
class SUE(UE):
    """Symmetric unary encoding (basic RAPPOR): p = 1 - q = e^(epsilon/2) / (e^(epsilon/2) + 1).

    >>> round(SUE(k=5, epsilon=1.0).p_star, 6)
    0.622459
    """

    full_name: ClassVar[str] = "symmetric unary encoding"

    p: float = field(init=False, default=math.nan)

    def _check(self) -> None:
        self._set(p=self.p_star)

    @cached_property
    def _ones(self) -> tuple[int, int]:
        other = exact.symmetric_bit(self.epsilon, self._delta)
        return SCALE - other, other


@dataclass(frozen=True, kw_only=True)
class ASUE(SUE):
    """Symmetric unary encoding that is (epsilon, delta)-private.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        delta: How far an event's probability may exceed e^epsilon times another value's.

    >>> round(ASUE(k=4, epsilon=1.0, delta=0.01).p_star, 8)
    0.62549679
    """

    full_name: ClassVar[str] = "approximate symmetric unary encoding"

    delta: float

    def _check(self) -> None:
        self._set(delta=rules.delta(self.delta))
        super()._check()


@dataclass(frozen=True, kw_only=True)
class THE(UE):
    """Histogram encoding with Laplace noise of scale 2/epsilon, thresholded on the client: only bits are sent.

    The noise is calibrated for epsilon, but a bit shows less than the noisy number: the exact loss is smaller
    (2.859 at epsilon 4), so budget is wasted. `ServerTHE` sends the noisy numbers.

    Args:
        k: Domain size, at least 2.
        epsilon: Budget that the noise is calibrated for, in nats.
        theta: Threshold above 1/2 and at most 1; the one with the least variance, to six digits, when left out.

    >>> round(THE(k=100, epsilon=4.0).exact_epsilon(), 3)
    2.859
    """

    p: float = field(init=False, default=math.nan)
    theta: float = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "thresholding with histogram encoding"
    tight: ClassVar[bool] = False
    choice: ClassVar[str] = "theta"

    def _check(self) -> None:
        self._set(theta=checked_theta(self.theta, self.epsilon))
        self._set(p=self.p_star)

    @cached_property
    def _ones(self) -> tuple[int, int]:
        """Equations 18 and 19, rounded to the nearest integer: the loss stays far below epsilon."""
        half, theta = Fraction(self.epsilon) / 2, Fraction(self.theta)
        own, other = (exact.exponential(half * x) / 2 for x in (theta - 1, -theta))
        return exact.clamp(round((1 - own) * SCALE)), exact.clamp(round(other * SCALE))

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> float:
        """The level behind two thresholds, each of which was rounded: the middle of what they leave open."""
        own, other = int(thresholds["p"]), int(thresholds["q"])
        with localcontext(Context(prec=60)):
            half, unit = Decimal(float(entries["epsilon"])) / 2, Decimal(SCALE)
            by_own = [1 + (2 - 2 * (own + Decimal(part)) / unit).ln() / half for part in ("0.5", "-0.5")]
            by_other = [-(2 * (other + Decimal(part)) / unit).ln() / half for part in ("0.5", "-0.5")]
            return float((max(by_own[0], by_other[0]) + min(by_own[1], by_other[1])) / 2)


def checked_theta(theta: float | None, epsilon: float) -> float:
    """A threshold above 1/2 and at most 1; the best one, to six digits, when none is given."""
    chosen = max(shortened(optimal.threshold(epsilon)), _LEAST_THETA) if theta is None else theta
    return rules.number("theta", chosen, 0.5, 1.0, "leave it out for the least variance", closed=True)
