"""dBitFlipPM: each client is asked about d of k buckets, and repeats its permanent answers.

Ding, Kulkarni and Yekhanin, "Collecting telemetry data privately" (NIPS 2017). The d buckets are drawn once and are
public: they are in every report, which makes them, and the repeated answers, a pseudonym. A client keeps one row of d
bits for each of them, and one for being in none. Two rows of two asked buckets differ in two bits, hence e^(epsilon/2)
for each; with d = 1 there is only one bit, which may carry all of e^epsilon. With e^(epsilon/2) for it as printed, a
report loses only epsilon/2: that is dBitFlipPM with half the budget here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ReportError, message
from hush.longitudinal import _rounds
from hush.longitudinal._first_asked import FirstBitFlip
from hush.longitudinal.memoized import OneRound
from hush.types import Floats, Ints, Reports


@dataclass(frozen=True, kw_only=True)
class dBitFlipPM(OneRound):
    """Ask each client about d buckets of k; it answers once for each state and repeats the answer.

    Args:
        k: Number of buckets, at least 2. Put finer numbers into buckets first.
        epsilon_permanent: Loss of one report, and of any number of reports of a value that does not change.
        d: How many buckets each client is asked about, 1..k.

    >>> protocol = dBitFlipPM(k=20, epsilon_permanent=1.0, d=4)
    >>> protocol.epsilon_states, protocol.epsilon_worst  # of changes of the state, and of the bucket
    (4.0, inf)
    """

    k: int
    epsilon_permanent: float
    d: int

    def __post_init__(self) -> None:
        size, permanent = rules.domain_size(self.k), _rounds.permanent(self.epsilon_permanent)
        self._set(
            k=size, epsilon_permanent=permanent, d=rules.integer("d", self.d, 1, size, "ask about 1 to k buckets")
        )

    @cached_property
    def first_report(self) -> FirstBitFlip:
        """The law of one report."""
        return FirstBitFlip(k=self.k, epsilon=self.epsilon_permanent, d=self.d)

    @property
    def pseudonym(self) -> str:
        """What a client shows again."""
        return f"the list of {self.d:,} buckets in every report, and the answer to it"

    @property
    def kept(self) -> int:
        """How many permanent answers can lose epsilon_permanent each: d, or 2 where d = 1.

        There are d rows for asked buckets and, where d < k, one for none of them. A row of an asked bucket against that
        one shows a single bit, half of the loss. Going round all d+1 takes two such steps, so they lose no more
        than d do. A single bit that carries the whole loss does so for both of its rows.
        """
        return max(self.d, 2)

    @property
    def _apart(self) -> bool:
        """Where two buckets or more are not asked about, they are one state."""
        return self.d >= self.k - 1

    def _draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.first_report._asked(n, rng)

    def _states(self, public: npt.NDArray[Any], values: Ints) -> Ints:
        from hush.longitudinal._kernels import positions

        out = np.empty(values.shape, np.int64)
        positions(public, values, out)
        return out

    def _memoize(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.first_report._bits(states, rng)

    def _dress(self, public: npt.NDArray[Any], core: npt.NDArray[Any]) -> Reports:
        out = np.empty(core.shape, self.report_dtype)
        out["buckets"], out["bits"] = public[:, None], core["bits"]
        return out

    def _undress(self, reports: Reports) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        asked = reports["buckets"]
        if (asked != asked[:, :1]).any():
            rule = "must show one list of buckets for each person"
            raise ReportError(message("reports", rule, "two", "put each person's reports into one row"))
        core = np.empty(reports.shape, self.first_report._row)
        core["bits"] = reports["bits"]
        return np.ascontiguousarray(asked[:, 0]), core

    def _answer_log_prob(self, answers: npt.NDArray[Any], states: Ints) -> Floats:
        return self.first_report._row_log_prob(answers["bits"], states)

    def _answers(self) -> npt.NDArray[Any]:
        return self.first_report._rows()

    def _placings(self, values: Sequence[int]) -> Iterable[Sequence[int]]:
        """Every way to ask about some of the values and not about the others."""
        for asked in product((False, True), repeat=len(values)):
            number = sum(asked)
            if number <= self.d <= self.k - len(values) + number:
                places = iter(range(number))
                yield [next(places) if each else self.d for each in asked]
