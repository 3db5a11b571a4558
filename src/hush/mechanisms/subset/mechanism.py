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

from hush import rules
from hush.analysis import optimal, success
from hush.errors import ParameterError, ReportError, message
from hush.estimation import possible
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.mechanisms import chosen
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.subset.forms import SubsetForms
from hush.mechanisms.subset.lengths import joint_bytes, subset_bits
from hush.mechanisms.two_level import TwoLevel
from hush.simulation.subsets import subset_members
from hush.types import Ints, Reports, Values

CODES = ("sorted", "enumerative")
"""How a subset can be written."""
MOST_NUMBERED = 1 << 22
"""Values up to which subsets can be numbered: it takes tables of that length."""


@dataclass(frozen=True, kw_only=True)
class SS(TwoLevel, PureOracle):
    """Report a random subset of ``omega`` values that holds the true one with probability ``p``.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        omega: Subset size, 1..k-1; the nearest integer to k/(e^epsilon + 1) when left out.
        code: How a subset is written: "sorted", its members in ascending order, or "enumerative", a number for all of
            them, which takes `bits` bits rounded up to bytes, the fewest there can be, and longer to read: about 0.1
            microseconds for each member (`hush.kernels.combinadic`).

    >>> SS(k=100, epsilon=4.0).omega
    2
    """

    omega: int = None  # type: ignore[assignment]
    code: str = "sorted"

    full_name: ClassVar[str] = "subset selection"
    companion: ClassVar[type[Forms]] = SubsetForms
    family: ClassVar[str] = "subset"
    choice: ClassVar[str] = "omega"

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = optimal.subset_size(self.k, self.epsilon) if self.omega is None else self.omega
        self._set(omega=rules.integer("omega", chosen, 1, self.k - 1, "leave it out for the best size"))
        self._set(code=checked(self.code, self.k))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """omega ascending values, each the smallest unsigned integer that holds k-1; or their number, little-endian."""
        if self.code == "sorted":
            return np.dtype([("subset", unsigned(self.k - 1), (self.omega,))])
        return np.dtype([("number", "u1", (joint_bytes((self.k,), (self.omega,)),))])

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes; the usual code goes unsaid, so that specs from before it was a choice stay."""
        return known(super().parameters)

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> int:
        """The subset size behind a threshold."""
        return round(int(entries["k"]) / (1 + chosen.others_for_each(entries, thresholds["keep"])))

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
        return subset_bits(self.k, self.omega)

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.subsets import select
        from hush.kernels.words import rejection

        members = np.empty((values.size, self.omega), unsigned(self.k - 1))
        size, omega = np.array([self.k]), np.array([self.omega])
        keep, reject = np.array([self.keep], np.uint64), np.array([rejection(self.k - 1)])
        select(rng, values, size, omega, keep, reject, np.empty(0, np.uint8), members)
        return self.packed(members)

    def packed(self, members: npt.NDArray[Any]) -> Reports:
        """Reports of ascending subsets, one in each row."""
        if self.code == "sorted":
            plain = np.ascontiguousarray(members, unsigned(self.k - 1))
            return plain.view(self.report_dtype)[:, 0] if members.size else np.empty(0, self.report_dtype)
        from hush.kernels.combinadic import combinadic

        code = combinadic((self.k,), (self.omega,))
        codes = code.encode(np.empty(0, np.uint8), members, self.report_dtype.itemsize)
        return codes.view(self.report_dtype)[:, 0] if members.size else np.empty(0, self.report_dtype)

    def members(self, reports: Reports) -> npt.NDArray[Any]:
        """The ascending subset of each report, shape (n, omega); raises ReportError on a number that is none's."""
        if self.code == "sorted":
            return np.ascontiguousarray(reports)["subset"]
        from hush.kernels.combinadic import combinadic

        subsets = np.empty((reports.size, self.omega), unsigned(self.k - 1))
        numbers = np.ascontiguousarray(reports)["number"]
        if not combinadic((self.k,), (self.omega,)).decode(numbers, np.empty(0, np.uint8), subsets):
            rule = f"must be numbers of subsets, below C({self.k}, {self.omega})"
            raise ReportError(message("reports", rule, "another", "check their spec"))
        return subsets

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        return np.asarray((self.members(reports) == values[:, None]).any(axis=1))

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        matrix = np.zeros((reports.size, self.k), np.bool_)
        np.put_along_axis(matrix, self.members(reports).astype(np.intp), True, axis=1)
        return matrix

    def tally(self, reports: Reports) -> Ints:
        from hush.kernels.subsets import count_members

        members = np.zeros(self.k, np.int64)
        if not count_members(self.members(reports), self.k, members):
            raise ReportError(
                message("reports", f"must be ascending subsets of 0..{self.k - 1}", "another", "check their spec")
            )
        return members

    def check_tally(self, tally: Ints, n: int) -> None:
        """A report has omega members."""
        super().check_tally(tally, n)
        possible.summing(tally, n * self.omega, what="supports")

    def outputs(self, public: Any = None) -> Reports:
        check_few(math.comb(self.k, self.omega), self.k)
        subsets = list(itertools.combinations(range(self.k), self.omega))
        return self.packed(np.array(subsets))

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Equation 9: any member of the subset is as good a guess; with a prior, its likeliest member or any value."""
        if prior is None:
            return self.p_star / self.omega
        law = success.first_member(self.k, self.omega, self.p_star)
        return success.first_supported(shares(prior, self.k), *law)

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """Its cost does not depend on the number of people; few people with large subsets are faster one by one."""
        if self.k > 4_096 and counts.sum() < 4 * self.k:
            return super()._simulate(counts, rng)
        return subset_members(counts, self.omega, self.p_star, rng)


def checked(code: object, k: int) -> str:
    """A code; refused where there is none of that name, or not for so many values."""
    name = rules.named("code", code, CODES, "leave it out")
    if name != "sorted" and k > MOST_NUMBERED:
        rule = f"must be sorted for more than {MOST_NUMBERED} values"
        raise ParameterError(message("code", rule, code, "leave it out"))
    return name


def known(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without the usual code."""
    return {name: value for name, value in parameters.items() if (name, value) != ("code", "sorted")}
