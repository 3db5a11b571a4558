"""Count-mean sketch (CMS).

Apple's Differential Privacy Team, "Learning with Privacy at Scale" (2017): a device draws one of many public hash
functions, and sends symmetric unary encoding of the value's bucket under it. Here the functions are the public family
of `hash="family"`, under which any two values collide equally often: so the sketch is a pure oracle, and its estimate
has no bias, which a random choice of functions leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush import exact
from hush.analysis import success
from hush.errors import ReportError, message
from hush.estimation import Aggregate
from hush.exact import SCALE
from hush.exact.enumeration import check_few
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing.family import MEMBERS, Piece
from hush.mechanisms.inference import shares
from hush.mechanisms.shape import bit_counts
from hush.mechanisms.sketch.forms import SketchForms
from hush.mechanisms.sketch.hashed import Sketch
from hush.simulation.sketches import KindsOfReports
from hush.types import Floats, Ints, Reports, Values

_ROWS = 1 << 15  # reports whose bits are looked at together


@dataclass(frozen=True, kw_only=True)
class CMS(Sketch):
    """Hash the value to one of ``width`` buckets, then send a noisy bit for every bucket.

    Args:
        k: Domain size, from 2 to 65,535.
        epsilon: Privacy loss of one report, in nats.
        width: Number of buckets, a power of two up to 256: more of them collide less, and take more bits. Left out, the
            least that is no less than k, up to 256.

    >>> m = CMS(k=1000, epsilon=2.0, width=64)
    >>> m.report_dtype.itemsize, round(m.q_star, 6)
    (10, 0.276155)
    """

    full_name: ClassVar[str] = "count-mean sketch"
    companion: ClassVar[type[Forms]] = SketchForms

    @cached_property
    def bit_thresholds(self) -> tuple[int, int]:
        """Out of 2^64, the probabilities of a one in the bit of the value's own bucket, and of another."""
        other = exact.symmetric_bit(self.epsilon, 0.0)
        return SCALE - other, other

    @property
    def bit_chances(self) -> tuple[float, float]:
        """The same, out of one."""
        own, other = self.bit_thresholds
        return own / SCALE, other / SCALE

    @property
    def p_star(self) -> float:
        return self.bit_chances[0]

    @property
    def q_star(self) -> float:
        """Another value's bucket has a one by noise, or because it is the same bucket."""
        own, other = (Fraction(ones, SCALE) for ones in self.bit_thresholds)
        return float(other + (own - other) * Fraction(self.hashes.shared, MEMBERS))

    @property
    def thresholds(self) -> dict[str, int | str]:
        return {"p": self.bit_thresholds[0], "q": self.bit_thresholds[1]}

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u2 member, then ceil(width/8) bytes; bit b is byte b>>3, bit b&7; unused bits are zero."""
        return np.dtype([("member", "<u2"), ("bits", "u1", (-(-self.width // 8),))])

    @property
    def denominator(self) -> int:
        """2^64 for each bit."""
        return SCALE**self.width

    @property
    def bits(self) -> int:
        return 16 + self.width

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.mechanisms.sketch.kernels import sketch

        out = np.empty(values.size, self.report_dtype)
        own, other = (np.uint64(threshold) for threshold in self.bit_thresholds)
        at = self._functions
        sketch(rng, values, at.buckets, at.places, self.width, own, other, out["member"], out["bits"])
        return out

    def _parts(self, reports: Reports) -> Piece:
        """Members and rows of bits, if they are well formed."""
        member, rows = (np.ascontiguousarray(reports[name]) for name in ("member", "bits"))
        if member.size and int(member.max()) >= MEMBERS:
            raise ReportError(message("reports", f"must have members below {MEMBERS}", MEMBERS, "check their spec"))
        if self.width < 8 and rows.size and int(rows.max()) >> self.width:
            rule = f"must have zeros after bit {self.width - 1}"
            raise ReportError(message("reports", rule, "ones", "check their spec"))
        return member, rows

    def validate(self, reports: Reports) -> None:
        """Cheaper than a tally."""
        self._parts(reports)

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        member, rows = self._parts(reports)
        home = self._functions.buckets[member + self._functions.places[values]]
        return np.asarray((rows[np.arange(reports.size), home >> 3] >> (home & 7)) & 1, dtype=np.bool_)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        member, rows = self._parts(reports)
        homes = self.buckets_of(member.astype(np.int64), np.arange(self.k))
        ones = np.unpackbits(rows, axis=1, count=self.width, bitorder="little").view(np.bool_)
        return np.take_along_axis(ones, homes, axis=1)

    def tally(self, reports: Reports) -> Ints:
        """A bit that is one counts as a report of local hashing with this member and bucket."""
        return self.hashes.tally_rows(self._pieces([reports]))[0]

    def _aggregate(self, reports: Reports | Iterable[Reports], spec_hash: str) -> Aggregate:
        """All reports together, since what members share is done once."""
        if not isinstance(reports, (np.ndarray, np.generic, Iterable)):
            return super()._aggregate(reports, spec_hash)
        several = [reports] if isinstance(reports, (np.ndarray, np.generic)) else reports
        tally, n = self.hashes.tally_rows(self._pieces(self._reports(part) for part in several))
        return Aggregate(n, tally, spec_hash, self.check_tally)

    def _pieces(self, parts: Iterable[Reports]) -> Iterator[Piece]:
        """A few reports at a time."""
        return (self._parts(part[at : at + _ROWS]) for part in parts for at in range(0, part.size, _ROWS))

    def publics(self) -> Sequence[int]:
        """Some members of the family."""
        return [0, 1, 40_000, MEMBERS - 1]

    def public(self, report: Any) -> int:
        """The member of a report."""
        return int(report["member"])

    def outputs(self, public: Any = None) -> Reports:
        """All rows of bits."""
        check_few(1 << self.width, self.k)
        numbers = np.arange(1 << self.width, dtype="<u8")
        out = np.empty(numbers.size, self.report_dtype)
        out["member"] = self.publics()[0] if public is None else public
        out["bits"] = numbers.view(np.uint8).reshape(-1, 8)[:, : -(-self.width // 8)]
        return out

    def weight(self, report: Reports, value: int) -> int:
        p, q = self.bit_thresholds
        home = int(self._functions.buckets[int(report["member"]) + int(self._functions.places[value])])
        ones = int.from_bytes(report["bits"].tobytes(), "little")  # a whole number: this is asked of every output
        own = ones >> home & 1
        others = ones.bit_count() - own
        return int((p if own else SCALE - p) * q**others * (SCALE - q) ** (self.width - 1 - others))

    def _log_prob(self, reports: Reports, values: Values) -> Floats:
        p, q = self.bit_thresholds
        own = self.supports(reports, values)
        others = np.bitwise_count(reports["bits"]).sum(axis=1, dtype=np.int64) - own
        logs = [math.log(ones / SCALE) for ones in (p, SCALE - p, q, SCALE - q)]
        return np.where(own, logs[0], logs[1]) + others * logs[2] + (self.width - 1 - others) * logs[3]

    def scores(self, reports: Reports) -> Floats:
        return np.asarray(self.support_matrix(reports) * self.exact_epsilon(), dtype=np.float64)

    def exact_epsilon(self) -> float:
        """The loss of a one in one value's bucket and a zero in the other's, where a member parts them."""
        p, q = self.bit_thresholds
        return exact.log_ratio(p * (SCALE - q), q * (SCALE - p))

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """Exact under an ideal hash: given how many buckets have a one, values fall into one of them independently."""
        w, p, chances, set_ = self.width, self.p_star, self._ones_elsewhere, np.arange(self.width)
        j = np.arange(self.k)[:, None]
        favoured = p * ((1 - (1 + set_) / w) ** j) @ chances
        plain = (1 - p) * ((1 - set_ / w) ** np.maximum(j - 1, 0) * (set_ / w)) @ chances
        plain[0] = 0.0
        empty = (1 - p) * float((1 - set_ / w) ** (self.k - 1) @ chances)
        return success.first_supported(shares(prior, self.k), favoured, plain, empty)

    @cached_property
    def _ones_elsewhere(self) -> Floats:
        """How likely 0..width-1 of the other buckets have a one."""
        return bit_counts(self.width - 1, self.bit_chances[1])

    @cached_property
    def kinds_of_reports(self) -> KindsOfReports:
        """By the own bit, and by how many of the other buckets have a one."""
        chances, share = self._ones_elsewhere, np.arange(self.width) / (self.width - 1)
        own, far = np.repeat([0, 1], self.width), (1 - self.collision) * share
        both = np.concatenate([(1 - self.p_star) * chances, self.p_star * chances])
        return KindsOfReports(both / both.sum(), own, np.concatenate([far, far + self.collision]))

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return self.kinds_of_reports.tallies(counts[None], 1, rng)[0]
