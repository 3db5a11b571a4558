"""Generalized randomized response (GRR; also k-RR, direct encoding), and its approximate variant (AGRR).

GRR: Kairouz et al. (ICML 2016); p and q as in Wang et al. (USENIX Security 2017). AGRR: Wang et al. (2021), equation
9 of "Revealing the true cost of LDP protocols" with its braces mended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import success
from hush.errors import ReportError, message
from hush.exact.thresholds import SCALE
from hush.mechanisms.direct.forms import DirectForms
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.two_level import TwoLevel
from hush.simulation import tallies
from hush.types import Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class GRR(TwoLevel, PureOracle):
    """Report the true value with probability ``p``, else another, uniformly.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.

    >>> round(GRR(k=4, epsilon=1.0).p_star, 4)
    0.4754
    """

    full_name: ClassVar[str] = "generalized randomized response"
    companion: ClassVar[type[Forms]] = DirectForms
    family: ClassVar[str] = "direct"
    sufficient: ClassVar[bool] = True

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds k-1."""
        return unsigned(self.k - 1)

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, self.k - 1

    @property
    def q_star(self) -> float:
        return (SCALE - self.keep) / (SCALE * (self.k - 1))

    @property
    def denominator(self) -> int:
        """Each output's weight is over 2^64 (k-1)."""
        return SCALE * (self.k - 1)

    @property
    def bits(self) -> int:
        return math.ceil(math.log2(self.k))

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.direct import respond
        from hush.kernels.words import rejection

        out = np.empty(values.size, self.report_dtype)
        respond(rng, values, self.k, np.uint64(self.keep), rejection(self.k - 1), out)
        return out

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        return np.asarray(reports == values)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return np.asarray(reports[:, None] == np.arange(self.k))

    def tally(self, reports: Reports) -> Ints:
        return counted(reports, self.k)

    def outputs(self, public: Any = None) -> Reports:
        return np.arange(self.k, dtype=self.report_dtype)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Equation 7: the report itself is the best guess, unless the prior says otherwise."""
        if prior is None:
            return self.p_star
        return success.first_supported(shares(prior, self.k), *success.first_member(self.k, 1, self.p_star))

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return tallies.direct(counts, self.p_star, self.q_star, rng)


@dataclass(frozen=True, kw_only=True)
class AGRR(GRR):
    """Randomized response that is (epsilon, delta)-private.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        delta: How far an event's probability may exceed e^epsilon times another value's.

    >>> round(AGRR(k=25, epsilon=0.5, delta=1e-5).p_star, 12)
    0.06429019417
    """

    full_name: ClassVar[str] = "approximate generalized randomized response"

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(delta=rules.delta(self.delta))


def unsigned(largest: int) -> np.dtype[Any]:
    """The smallest little-endian unsigned integer that holds a number.

    >>> unsigned(255), unsigned(256)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.dtype(next(t for t in ("u1", "<u2", "<u4", "<u8") if largest < 256 ** np.dtype(t).itemsize))


def counted(reports: Reports, size: int) -> Ints:
    """Count integer reports below `size`; raise ReportError on any other."""
    from hush.kernels.direct import histogram

    if reports.size and int(reports.max()) >= size:
        raise ReportError(
            message("reports", f"must be below {size}", int(reports.max()), "check the spec they were made with")
        )
    tally = np.zeros(size, np.int64)
    histogram(np.ascontiguousarray(reports), tally)
    return tally
