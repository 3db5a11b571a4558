"""Hadamard count-mean sketch (HCMS).

Apple's Differential Privacy Team, "Learning with Privacy at Scale" (2017): as the count-mean sketch, but of the noisy
row a device sends a single bit: one coefficient of its Hadamard transform, drawn at random. A coefficient of a bucket
is a parity of the bucket's bits, and these are linear over the public family: so coefficient and member together are a
member of the same family with two buckets, and the sketch is binary local hashing, but for the first coefficient, which
is the same for all buckets and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.analysis import success
from hush.errors import ReportError, message
from hush.estimation import Aggregate
from hush.exact import SCALE
from hush.mechanisms.forms import Forms
from hush.mechanisms.hashing.family import MEMBERS, MOST_BUCKETS, HashFamily
from hush.mechanisms.inference import shares
from hush.mechanisms.sketch.hadamard_forms import HadamardSketchForms
from hush.mechanisms.sketch.hashed import Sketch
from hush.mechanisms.two_level import TwoLevel
from hush.types import Ints, Reports, Values

_ROWS = 1 << 20  # reports looked at together


@dataclass(frozen=True, kw_only=True)
class HCMS(TwoLevel, Sketch):
    """Hash the value to one of ``width`` buckets, then send a noisy bit of its Hadamard transform.

    Args:
        k: Domain size, from 2 to 65,535.
        epsilon: Privacy loss of one report, in nats.
        width: Number of buckets, a power of two up to 256, which it is if left out: one report of so many says nothing.

    >>> m = HCMS(k=1000, epsilon=2.0)
    >>> m.report_dtype.itemsize, m.bits, round(m.q_star, 6)
    (4, 25, 0.501482)
    """

    full_name: ClassVar[str] = "Hadamard count-mean sketch"
    companion: ClassVar[type[Forms]] = HadamardSketchForms

    @property
    def _usual_width(self) -> int:
        return MOST_BUCKETS

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, 1

    @property
    def denominator(self) -> int:
        return SCALE

    @cached_property
    def binary(self) -> HashFamily:
        """The same functions with two buckets, the upper bit of their elements."""
        return HashFamily(self.k, 2)

    @cached_property
    def shifts(self) -> Ints:
        """For each coefficient but the first, how far on the member is under which its parity is the binary bucket.

        Over the elements whose only bit is i, at places 0..15, a parity is a window of 16 bits; every window but that
        of zeros is met once in the sequence of upper bits.
        """
        from hush.kernels.family import buckets, sequence

        whole = sequence()
        masks = np.arange(self.width, dtype=np.int64) << (17 - self.width.bit_length())
        wanted = (np.bitwise_count(masks[:, None] & whole[:16]) % 2).astype(np.int64) @ (1 << np.arange(16))
        seen = sum(buckets(2)[i : i + MEMBERS].astype(np.int64) << i for i in range(16))
        place = np.zeros(MEMBERS + 1, np.int64)
        place[seen] = np.arange(MEMBERS)
        return place[wanted]

    @property
    def agreement(self) -> Fraction:
        """Probability that two values have the same parity: under the first coefficient they always do."""
        told = Fraction(self.width - 1, self.width)
        return 1 - told + told * Fraction(self.binary.shared, MEMBERS)

    @property
    def q_star(self) -> float:
        """Another value has the same parity, which was kept, or another, which was not."""
        keep = Fraction(self.keep, SCALE)
        return float(self.agreement * keep + (1 - self.agreement) * (1 - keep))

    @property
    def _told(self) -> tuple[float, float]:
        """p* and q* of a report whose coefficient is not the first."""
        same = self.binary.shared / MEMBERS
        return self.p_star, same * self.p_star + (1 - same) * (1 - self.p_star)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """u2 member, u1 coefficient, u1 bit."""
        return np.dtype([("member", "<u2"), ("coefficient", "u1"), ("bit", "u1")])

    @property
    def bits(self) -> int:
        """A member, a coefficient and a bit."""
        return 16 + self.width.bit_length()

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        from hush.mechanisms.sketch.kernels import transformed

        columns = [np.empty(values.size, self.report_dtype[name]) for name in ("member", "coefficient", "bit")]
        at = self._functions
        transformed(rng, values, at.buckets, at.places, self.width, np.uint64(self.keep), *columns)
        return self.packed(*columns)

    def packed(self, member: npt.NDArray[Any], coefficient: npt.NDArray[Any], bit: npt.NDArray[Any]) -> Reports:
        """Reports from their parts."""
        out = np.empty(member.size, self.report_dtype)
        out["member"], out["coefficient"], out["bit"] = member, coefficient, bit
        return out

    def _parts(self, reports: Reports) -> list[npt.NDArray[Any]]:
        """Members, coefficients and bits, if they are well formed."""
        parts = [np.ascontiguousarray(reports[name]) for name in ("member", "coefficient", "bit")]
        for name, column, most in zip(("member", "coefficient", "bit"), parts, (MEMBERS, self.width, 2), strict=True):
            if column.size and (worst := int(column.max())) >= most:
                rule = f"must have a {name} below {most}"
                raise ReportError(message("reports", rule, worst, "check their spec"))
        return parts

    def validate(self, reports: Reports) -> None:
        """Cheaper than a tally."""
        self._parts(reports)

    def supports(self, reports: Reports, values: Values) -> npt.NDArray[np.bool_]:
        member, coefficient, bit = self._parts(reports)
        home = self._functions.buckets[member + self._functions.places[values]]
        return np.asarray(np.bitwise_count(home & coefficient) % 2 == bit)

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        member, coefficient, bit = self._parts(reports)
        homes = self._functions.buckets[member[:, None] + self._functions.places]
        return np.asarray(np.bitwise_count(homes & coefficient[:, None]) % 2 == bit[:, None])

    def tally(self, reports: Reports) -> Ints:
        return self._tallied([reports])[0]

    def _tallied(self, parts: Iterable[Reports]) -> tuple[Ints, int]:
        """Support counts of all reports, and their number: those of binary local hashing, and the first coefficient."""
        from hush.mechanisms.sketch.kernels import as_binary

        n = everything = 0

        def binary() -> Iterator[Reports]:
            nonlocal n, everything
            for rows in (part[at : at + _ROWS] for part in parts for at in range(0, part.size, _ROWS)):
                members, bits = np.empty(rows.size, np.uint16), np.empty(rows.size, np.uint8)
                many, all_ = as_binary(*self._parts(rows), self.shifts, members, bits)
                n, everything = n + rows.size, everything + all_
                out = np.empty(many, self.binary.report_dtype)
                out["member"], out["bucket"] = members[:many], bits[:many]
                yield out

        tally = self.binary.tally(binary())[0]
        return tally + everything, n

    def _aggregate(self, reports: Reports | Iterable[Reports], spec_hash: str) -> Aggregate:
        """All reports together, since what members share is done once."""
        if not isinstance(reports, (np.ndarray, np.generic, Iterable)):
            return super()._aggregate(reports, spec_hash)
        parts = [reports] if isinstance(reports, (np.ndarray, np.generic)) else reports
        tally, n = self._tallied(self._reports(part) for part in parts)
        return Aggregate(n, tally, spec_hash, self.check_tally)

    @cached_property
    def _parting(self) -> int:
        """The first member under which the parities of coefficient 1 part the first two values."""
        homes = self.buckets_of(np.arange(MEMBERS), np.arange(2))
        return int(np.argmax((homes[:, 0] ^ homes[:, 1]) & 1))

    def publics(self) -> Sequence[tuple[int, int]]:
        """Some members and coefficients; the first parts two values, the last says nothing."""
        return [(self._parting, 1), (1, self.width - 1), (40_000, self.width // 2), (MEMBERS - 1, 0)]

    def public(self, report: Any) -> tuple[int, int]:
        """The member and the coefficient of a report."""
        return int(report["member"]), int(report["coefficient"])

    def outputs(self, public: Any = None) -> Reports:
        """Both bits."""
        member, coefficient = self.publics()[0] if public is None else public
        return self.packed(np.full(2, member), np.full(2, coefficient), np.arange(2))

    def asr(self, prior: npt.ArrayLike | None = None) -> float:
        """That of binary local hashing, exact under an ideal hash; under the first coefficient, a blind guess."""
        belief, told = shares(prior, self.k), 1 - 1 / self.width
        guessed = success.first_supported(belief, *success.first_bit(self.k, *self._told))
        return told * guessed + (1 - told) * float(belief.max())

    def _simulate(self, counts: Ints, rng: np.random.Generator) -> Ints:
        return self.forms.tallies(counts[None], 1, rng)[0]
