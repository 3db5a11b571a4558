"""The law of one report of dBitFlipPM: d buckets, drawn and public, and a noisy bit for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact, rules
from hush.errors import ReportError, message
from hush.estimation import possible
from hush.estimation.laws import EstimateLaw, Supports
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.longitudinal.forms import BitFlipForms
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.mechanisms.direct import unsigned
from hush.mechanisms.forms import Forms
from hush.mechanisms.inference import shares
from hush.types import Floats, Ints, Reports, Values


@dataclass(frozen=True, kw_only=True)
class FirstBitFlip(FrequencyOracle):
    """Ask about d of k buckets; answer for each with a bit that is right with probability p.

    Args:
        k: Number of buckets, at least 2.
        epsilon: Loss of one report.
        d: How many buckets are asked about, 1..k.
    """

    d: int

    companion: ClassVar[type[Forms]] = BitFlipForms
    family: ClassVar[str] = "unary"
    alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(d=rules.integer("d", self.d, 1, self.k, "ask about 1 to k buckets"))

    @classmethod
    def name(cls) -> str:
        """Module and class, as for a mechanism from outside: it is not for use without its protocol."""
        return super().name() if from_outside(cls) else f"hush.longitudinal:{cls.__name__}"

    @cached_property
    def flip(self) -> int:
        """Out of 2^64, the probability that a bit is wrong; a single bit carries the loss of two."""
        return exact.symmetric_bit(self.epsilon * (2 if self.d == 1 else 1), 0.0)

    @property
    def p(self) -> float:
        """Probability that a bit is right."""
        return (SCALE - self.flip) / SCALE

    @property
    def q(self) -> float:
        """Probability that a bit is wrong."""
        return self.flip / SCALE

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"flip": self.flip}

    @property
    def _row(self) -> np.dtype[Any]:
        return np.dtype([("bits", "u1", (-(-self.d // 8),))])

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """d ascending buckets, and ceil(d/8) bytes: bit j, of the j-th of them, is byte j>>3, bit j&7."""
        return np.dtype([("buckets", unsigned(self.k - 1), (self.d,)), ("bits", "u1", (-(-self.d // 8),))])

    @property
    def denominator(self) -> int:
        """2^64 for each bit."""
        return SCALE**self.d

    @property
    def bits(self) -> int:
        log = math.lgamma(self.k + 1) - math.lgamma(self.d + 1) - math.lgamma(self.k - self.d + 1)
        return math.ceil(log / math.log(2) - 1e-9) + self.d

    def _asked(self, n: int, rng: np.random.Generator) -> npt.NDArray[Any]:
        """d ascending buckets for each of n clients, uniform to within 2^-64, whatever their values."""
        from hush.kernels.subsets import select
        from hush.kernels.words import rejection

        out = np.empty((n, self.d), unsigned(self.k - 1))
        if self.d == self.k:
            out[:] = np.arange(self.k)
        else:
            size, chosen = np.array([self.k]), np.array([self.d])
            holds_zero = np.array([self.d * SCALE // self.k], np.uint64)
            reject = np.array([rejection(self.k - 1)])
            select(rng, np.zeros(n, np.int64), size, chosen, holds_zero, reject, np.empty(0, np.uint8), out)
        return out

    def _bits(self, states: Ints, rng: np.random.Generator) -> npt.NDArray[Any]:
        """A row of d bits for each state; state d owns none of them, so it gets a bit that is dropped."""
        from hush.kernels.unary import encode

        wide = np.empty((states.size, -(-(self.d + 1) // 8)), np.uint8)
        encode(rng, states, self.d + 1, np.uint64(SCALE - self.flip), np.uint64(self.flip), wide)
        out = np.empty(states.size, self._row)
        out["bits"] = wide[:, : -(-self.d // 8)]
        if self.d % 8:
            out["bits"][:, -1] &= np.uint8((1 << self.d % 8) - 1)
        return out

    def _place(self, buckets: npt.NDArray[Any], values: Values) -> Ints:
        """Where each value stands among its buckets; d where it does not."""
        from hush.longitudinal._kernels import positions

        out = np.empty((values.size, 1), np.int64)
        positions(np.ascontiguousarray(buckets), values[:, None], out)
        return out[:, 0]

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        out = np.empty(values.size, self.report_dtype)
        out["buckets"] = self._asked(values.size, rng)
        out["bits"] = self._bits(self._place(out["buckets"], values), rng)["bits"]
        return out

    def _shown(self, rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        return np.unpackbits(np.ascontiguousarray(rows), axis=1, count=self.d, bitorder="little")

    def tally(self, reports: Reports) -> Ints:
        """How often each bucket's bit was one, and how often it was asked about."""
        from hush.kernels.subsets import count_members

        asked = np.zeros(self.k, np.int64)
        buckets = np.ascontiguousarray(reports["buckets"])
        if not count_members(buckets, self.k, asked):
            rule = f"must name {self.d} ascending buckets of 0..{self.k - 1}"
            raise ReportError(message("reports", rule, "others", "check their spec"))
        if self.d % 8 and (reports["bits"][:, -1] >> np.uint8(self.d % 8)).any():
            raise ReportError(message("reports", f"must have zeros after bit {self.d - 1}", "ones", "check their spec"))
        ones = np.bincount(buckets[self._shown(reports["bits"]).astype(np.bool_)], minlength=self.k)
        return np.stack([ones, asked])

    def check_tally(self, tally: Ints, n: int) -> None:
        """Everybody is asked about d buckets, and a bit is one at most as often as it is asked for."""
        ones, asked = tally
        possible.within(asked, 0, n, "buckets asked about")
        possible.summing(asked, n * self.d, what="buckets asked about")
        possible.within(ones, 0, n, "ones")
        possible.within(asked - ones, 0, n, "zeros")

    def decode(self, tally: Ints, n: int) -> Floats:
        """A client asked about a bucket speaks for k/d clients."""
        ones, asked = tally
        return np.asarray((ones - self.q * asked) * (self.k / (self.d * n * (self.p - self.q))), np.float64)

    def law(self, tally: Ints, n: int) -> EstimateLaw:
        """A client's bit is one if it is asked about the bucket, d in k, and says so."""
        share = self.d / self.k
        return Supports(tally[0], n, self.p * share, self.q * share)

    def variances(self, frequencies: Floats, n: int = 1) -> Floats:
        """Of people who hold a value and people who do not, by their frequencies; linear in them."""
        gap, many = (self.p - self.q) ** 2, self.k / self.d
        own = many * (self.p * (1 - self.q) ** 2 + (1 - self.p) * self.q**2) / gap - 1
        other = many * self.q * (1 - self.q) / gap
        return np.asarray((frequencies * own + (1 - frequencies) * other) / n, np.float64)

    def publics(self) -> list[tuple[int, ...]]:
        """Lists of buckets: all of them if there are few."""
        found = {tuple(sorted((start + i) % self.k for i in range(self.d))) for start in range(min(self.k, 4))}
        return sorted(found)

    def public(self, report: Any) -> tuple[int, ...]:
        """The buckets that a report was asked about."""
        return tuple(int(b) for b in report["buckets"])

    def _rows(self) -> npt.NDArray[Any]:
        """All rows of d bits."""
        check_few(1 << self.d, self.k)
        out = np.empty(1 << self.d, self._row)
        numbers = np.arange(1 << self.d, dtype="<u8")
        out["bits"] = numbers.view(np.uint8).reshape(-1, 8)[:, : -(-self.d // 8)]
        return out

    def outputs(self, public: Any = None) -> Reports:
        rows = self._rows()
        out = np.empty(rows.size, self.report_dtype)
        out["buckets"], out["bits"] = self.publics()[0] if public is None else public, rows["bits"]
        return out

    def _right(self, rows: npt.NDArray[np.uint8], places: Ints) -> Ints:
        """How many bits are right, if the client is in these places."""
        shown = self._shown(rows).astype(np.int64)
        mine = np.take_along_axis(shown, np.minimum(places, self.d - 1)[:, None], axis=1)[:, 0]
        return np.asarray(self.d - shown.sum(axis=1) + np.where(places < self.d, 2 * mine - 1, 0), np.int64)

    def weight(self, report: Any, value: int) -> int:
        row = np.asarray(report, self.report_dtype)[None]
        right = int(self._right(row["bits"], self._place(row["buckets"], np.array([value])))[0])
        return int((SCALE - self.flip) ** right * self.flip ** (self.d - right))

    def _row_log_prob(self, rows: npt.NDArray[np.uint8], places: Ints) -> Floats:
        right = self._right(rows, places)
        whole = math.log(SCALE)
        return right * (math.log(SCALE - self.flip) - whole) + (self.d - right) * (math.log(self.flip) - whole)

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        return self._row_log_prob(reports["bits"], self._place(reports["buckets"], values))

    def exact_epsilon(self) -> float:
        """The loss of two bits, or of the only one."""
        right, wrong = SCALE - self.flip, self.flip
        return exact.log_ratio(right, wrong) if self.d == 1 else exact.log_ratio(right**2, wrong**2)

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Exact success of the best guess: the mean, over reports that nobody's value shaped, of the best product.

        A bucket weighs its prior times p/q where its bit is one, q/p where it is zero, and 1 where it was not asked
        about. The best product is at most c if every bucket with a prior above c was asked about and shows a zero, and
        none with a prior above c q/p shows a one; both are counted over uniform lists of d buckets.
        """
        belief = np.sort(shares(prior, self.k))
        favour = self.p / self.q
        cuts = np.unique(np.concatenate([belief / favour, belief, belief * favour]))
        at_most = np.array([self._no_more(belief, cut, favour) for cut in cuts])
        return float(cuts @ np.diff(at_most, prepend=0.0))

    def _no_more(self, belief: Floats, cut: float, favour: float) -> float:
        """Probability that no product exceeds a cut."""
        from scipy.special import gammaln

        edge = cut * (1 + 1e-12)
        if belief[-1] / favour > edge:
            return 0.0
        must = int((belief > edge).sum())  # asked about, and zero
        free = int((belief * favour <= edge).sum())
        may = self.k - must - free  # zero, if asked about
        picked = np.arange(max(0, self.d - must - free), min(may, self.d - must) + 1)
        if must > self.d or picked.size == 0:
            return 0.0

        def choose(n: int, r: npt.ArrayLike) -> Floats:
            return np.asarray(gammaln(n + 1) - gammaln(np.asarray(r) + 1.0) - gammaln(n - np.asarray(r) + 1.0))

        ways = choose(may, picked) + choose(free, self.d - must - picked) - choose(self.k, self.d)
        return float(np.exp(ways + (must + picked) * math.log1p(-self.q)).sum())
