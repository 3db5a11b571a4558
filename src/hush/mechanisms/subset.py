"""Subset selection (SS; also omega-subset mechanism).

Wang et al. (2016), Ye and Barg (IEEE Trans. Inf. Theory 2018). A subset is sent as a set, in ascending order: an
order that shows which member came first shows the value.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import optimal, success
from hush.errors import ReportError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import Ints, Reports, Values
from hush.mechanisms._inference import shares
from hush.mechanisms._keep import TwoLevel
from hush.mechanisms._pure import PureOracle
from hush.mechanisms._thresholds import SCALE
from hush.mechanisms.direct import unsigned
from hush.simulation.subsets import subset_members


@dataclass(frozen=True, kw_only=True)
class SS(TwoLevel, PureOracle):
    """Report a random subset of ``omega`` values that holds the true one with probability ``p``.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        omega: Subset size, 1..k-1; the nearest integer to k/(e^epsilon + 1) when left out.

    >>> SS(k=100, epsilon=4.0).omega
    2
    """

    omega: int = None  # type: ignore[assignment]

    family: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = optimal.subset_size(self.k, self.epsilon) if self.omega is None else self.omega
        self._set(omega=_rules.integer("omega", chosen, 1, self.k - 1, "leave it out for the best size"))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """omega ascending values, each the smallest unsigned integer that holds k-1."""
        return np.dtype([("subset", unsigned(self.k - 1), (self.omega,))])

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.omega, self.k - self.omega

    @property
    def q_star(self) -> float:
        """Another value fills one of omega-1 slots if the true one is in, else one of omega."""
        return (self.omega - self.p_star) / (self.k - 1)

    @cached_property
    def denominator(self) -> int:
        """2^64 (k-omega) times the number of subsets that hold a given value."""
        return SCALE * (self.k - self.omega) * math.comb(self.k - 1, self.omega - 1)

    @property
    def bits(self) -> int:
        if self.k <= 10_000:
            return (math.comb(self.k, self.omega) - 1).bit_length()
        nats = math.lgamma(self.k + 1) - math.lgamma(self.omega + 1) - math.lgamma(self.k - self.omega + 1)
        return math.ceil(nats / math.log(2))

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.subsets import select
        from hush.kernels.words import rejection

        out = np.empty(values.size, self.report_dtype)
        select(rng, values, self.k, np.uint64(self.keep), rejection(self.k - 1), out["subset"])
        return out

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        return np.asarray((reports["subset"] == values[:, None]).any(axis=1))

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        matrix = np.zeros((reports.size, self.k), np.bool_)
        np.put_along_axis(matrix, reports["subset"].astype(np.intp), True, axis=1)
        return matrix

    def tally(self, reports: Reports) -> Ints:
        from hush.kernels.subsets import count_members

        members = np.zeros(self.k, np.int64)
        if not count_members(np.ascontiguousarray(reports)["subset"], self.k, members):
            raise ReportError(
                message("reports", f"must be ascending subsets of 0..{self.k - 1}", "another", "check their spec")
            )
        return members

    def outputs(self, public: Any = None) -> Reports:
        _rules.enumerable(math.comb(self.k, self.omega), self.k)
        subsets = list(itertools.combinations(range(self.k), self.omega))
        out = np.empty(len(subsets), self.report_dtype)
        out["subset"] = subsets
        return out

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Equation 9: any member of the subset is as good a guess; with a prior, its likeliest member or any value."""
        if prior is None:
            return self.p_star / self.omega
        law = success.first_member(self.k, self.omega, self.p_star)
        return success.first_supported(shares(prior, self.k), *law)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return subset_members(counts, self.omega, self.p_star, rng)
