"""Longitudinal local hashing: LOLOHA(g), BiLOLOHA, OLOLOHA.

Arcolezi et al., "Frequency estimation of evolving data under local differential privacy" (EDBT 2023). A client draws
one hash function for good and responds twice over the g buckets, so it never keeps more than g answers. The function
is in every report, and so is a pseudonym: whoever sees two of them knows that they are one person's. The second
round follows from the exact law of one report, which makes the best g that of OLH with epsilon_report; the printed
round and the printed g are in `hush.longitudinal.printed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import optimal
from hush.errors import ReportError, message
from hush.exact.thresholds import SCALE
from hush.longitudinal import _rounds
from hush.longitudinal._first import FirstLOLOHA
from hush.longitudinal._two import DirectTwice
from hush.mechanisms import chosen
from hush.mechanisms.hashing import most_buckets
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True, kw_only=True)
class LOLOHA(DirectTwice):
    """Hash values to g buckets, with one function for good; keep a response for each bucket; respond again.

    Args:
        k: Domain size, at least 2.
        epsilon_permanent: Loss of any number of reports of a value that does not change.
        epsilon_report: Loss of one report, below epsilon_permanent.
        g: Number of buckets, at least 2.

    >>> protocol = LOLOHA(k=100, epsilon_permanent=2.0, epsilon_report=1.0, g=3)
    >>> protocol.epsilon_states, protocol.epsilon_worst  # of changes of the bucket, and of the value
    (6.0, inf)
    """

    g: int

    def __post_init__(self) -> None:
        super().__post_init__()
        most = most_buckets(self.k)
        self._set(g=rules.integer("g", self.g, 2, most, "use e.g. 2, or OLOLOHA for the least variance"))

    @cached_property
    def first_report(self) -> FirstLOLOHA:
        """The law of one report, which is that of LH with epsilon_report and g buckets."""
        return FirstLOLOHA(k=self.k, epsilon=self.epsilon_report, epsilon_permanent=self.epsilon_permanent, g=self.g)

    @property
    def _supports(self) -> tuple[float, float, float, float]:
        p, again = (t / SCALE for t in self.first_report.rounds)
        meet = self.first_report.collision
        return p, p * meet + (1 - p) * (1 - meet) / (self.g - 1), again, (1 - again) / (self.g - 1)

    @property
    def pseudonym(self) -> str:
        """What a client shows again."""
        return "the hash function in every report, which nobody else has"

    @property
    def _apart(self) -> bool:
        """Of three values, two may share a bucket: one history then stays in it while another, of the third, leaves."""
        return self.k == 2

    def _draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        return rng.integers(0, 1 << 32, (n, 2), dtype=np.uint32)

    def _states(self, public: npt.NDArray[Any], values: Ints) -> Ints:
        hashes = public[:, :1] * self.first_report._keys[values] + public[:, 1:]
        return ((hashes.astype(np.uint64) * np.uint64(self.g)) >> np.uint64(32)).astype(np.int64)

    def _dress(self, public: npt.NDArray[Any], core: npt.NDArray[Any]) -> Reports:
        out = np.empty(core.shape, self.report_dtype)
        out["a"], out["b"], out["bucket"] = public[:, :1], public[:, 1:], core
        return out

    def _undress(self, reports: Reports) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        public = np.stack([reports["a"], reports["b"]], axis=2)
        if (public != public[:, :1]).any():
            rule = "must show one hash function for each person"
            raise ReportError(message("reports", rule, "two", "put each person's reports into one row"))
        return np.ascontiguousarray(public[:, 0]), reports["bucket"]

    def _placings(self, values: Sequence[int]) -> Iterable[Sequence[int]]:
        """Every way to put values into buckets: a new value joins a bucket in use or opens the next."""
        found: list[list[int]] = [[]]
        for _ in values:
            found = [[*held, b] for held in found for b in range(min(max(held, default=-1) + 2, self.g))]
        return found

    def sequence_scores(self, reports: Reports) -> Floats:
        """Log-likelihood of every unchanging value, shape (n, k), up to a constant for each person."""
        array = self._reports(reports)
        self.first_report.validate(array.ravel())
        public, core = self._undress(array)
        buckets = [self._likelihood(core, np.full(core.shape, j)) for j in range(self.g)]
        homes = self._states(public, np.broadcast_to(np.arange(self.k), (len(array), self.k)))
        return np.take_along_axis(np.stack(buckets, axis=1), homes, axis=1)


@dataclass(frozen=True, kw_only=True)
class BiLOLOHA(LOLOHA):
    """LOLOHA with two buckets, which keeps the least: two answers, however many values there are.

    >>> BiLOLOHA(k=100, epsilon_permanent=2.0, epsilon_report=1.0).epsilon_states
    4.0
    """

    g: int = field(init=False, default=2)


@dataclass(frozen=True, kw_only=True)
class OLOLOHA(chosen.Chosen, LOLOHA):
    """LOLOHA with the g that has the least variance, when it is left out: the nearest integer to e^epsilon_report + 1.

    >>> OLOLOHA(k=100, epsilon_permanent=4.0, epsilon_report=2.0).g
    8
    """

    g: int = None  # type: ignore[assignment]

    choice: ClassVar[str] = "g"

    def __post_init__(self) -> None:
        if self.g is None:
            permanent = _rounds.permanent(self.epsilon_permanent)
            best = optimal.hash_range(_rounds.first(self.epsilon_report, permanent))
            self._set(g=min(best, most_buckets(rules.domain_size(self.k))))
        super().__post_init__()

    @classmethod
    def recovered(cls, entries: chosen.Entries, thresholds: chosen.Entries) -> int:
        """The number of buckets behind the threshold of the permanent round."""
        return 1 + round(chosen.others_for_each(entries, thresholds["permanent"], "epsilon_permanent"))
