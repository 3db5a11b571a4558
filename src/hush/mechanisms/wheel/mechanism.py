"""The Wheel mechanism.

Wang et al., "Set-valued data publication with local privacy: tight error bounds and efficient mechanisms" (VLDB
2020), for single values, as in appendix B of "Sensitivity distinction in LDP" (equation 58). A value hashes to a
point of a ring; points on the arc that starts there are e^epsilon times as likely as the others. The ring has 2^32
points, so all probabilities are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hush import rules
from hush.analysis import optimal
from hush.analysis.choice import shortened
from hush.mechanisms import chosen
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing import most_buckets
from hush.mechanisms.hashing.hashed import RING, Hashed, Words
from hush.mechanisms.wheel.forms import WheelForms
from hush.types import Reports, Values


@dataclass(frozen=True, kw_only=True)
class Wheel(Hashed):
    """Report a point of a ring, likelier on the arc where the value's hash starts.

    Args:
        k: Domain size, at least 2.
        epsilon: Privacy loss of one report, in nats.
        coverage: Share of the ring that an arc covers, in (0, 1), up to the width of a point; left out, 1/(e^epsilon +
            1) to six digits, which has the least variance, but no less than the hash family resolves.

    >>> w = Wheel(k=100, epsilon=1.0)
    >>> w.coverage, round(w.p_star, 5)
    (0.268941, 0.5)
    """

    coverage: float = None  # type: ignore[assignment]

    full_name: ClassVar[str] = "wheel mechanism"
    companion: ClassVar[type[Forms]] = WheelForms
    family: ClassVar[str] = "wheel"
    choice: ClassVar[str] = "coverage"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coverage is None:
            best = max(optimal.coverage(self.epsilon), 1 / most_buckets(self.k))
            self._set(coverage=shortened(best))
        self._set(coverage=rules.number("coverage", self.coverage, 0.0, 1.0, "leave it out for the least variance"))

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> float:
        """The coverage behind an arc."""
        return int(thresholds["arc"]) / RING

    @property
    def arc(self) -> int:
        """Number of points on an arc, out of 2^32."""
        return min(max(round(self.coverage * RING), 1), RING - 1)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u4 a, u4 b (the hash function), u4 point on the ring."""
        return np.dtype([("a", "<u4"), ("b", "<u4"), ("point", "<u4")])

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.arc, RING - self.arc

    @property
    def q_star(self) -> float:
        """The arc's share of the ring: another value's arc lies anywhere."""
        return self.arc / RING

    @property
    def bits(self) -> int:
        return 96

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"keep": self.keep, "arc": self.arc}

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.kernels.hashing import ring_reports
        from hush.kernels.words import rejection

        columns = self._columns(values.size)
        reject = rejection(self.arc), rejection(RING - self.arc)
        ring_reports(rng, values, self._keys, self.arc, np.uint64(self.keep), *reject, *columns)
        return self._packed(columns)

    def _interval(self, reports: Reports) -> tuple[Words, Words, Words]:
        """A report supports the value with key x where (-a)·x + (point - b) < arc, in 32-bit arithmetic."""
        return np.uint32(0) - reports["a"], reports["point"] - reports["b"], np.full(reports.size, self.arc, np.uint32)

    def _cuts(self, public: tuple[int, int]) -> list[int]:
        """Where arcs start and end: between two cuts, all points support the same values."""
        starts = self._hashes(public).astype(np.int64)
        return sorted({int(c) for c in (*starts, *((starts + self.arc) % RING))})

    def outputs(self, public: Any = None) -> Reports:
        """One point from each stretch of the ring whose points support the same values."""
        a, b = self.publics()[0] if public is None else public
        cuts = self._cuts((a, b))
        out = np.empty(len(cuts), self.report_dtype)
        out["a"], out["b"], out["point"] = a, b, cuts
        return out

    def copies(self, report: Any) -> int:
        cuts = self._cuts(self.public(report))
        at = cuts.index(int(report["point"]))
        following = cuts[at + 1] if at + 1 < len(cuts) else cuts[0] + RING
        return following - cuts[at]
