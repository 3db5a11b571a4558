"""Audits of more than one report of one value: a report about a whole tuple, and all reports of a person over time.

`TupleTarget` numbers the tuples of a collection, so that two of them are told apart like two values. `SequenceTarget`
takes tau reports of one client about one unchanging value as a single record. Reports come from the samplers that
clients use, and log-ratios from the exact laws. The attacks are those of Arcolezi and Gambs, "Revealing the true cost
of locally differentially private protocols" (PoPETs 2024): algorithm 3 for fake data, algorithm 2 for sequences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks import longitudinal as over_time
from hush.attacks._ties import CELLS
from hush.attacks._tuples import collection
from hush.audit.target import Claim, Target
from hush.errors import DomainError, ParameterError, ReportError, Unsaid, message
from hush.guarantee import ULDP, Guarantee
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.multidim import Multidim
from hush.people.columns import kind
from hush.randomness import CHUNK
from hush.types import Bools, Floats, Reports

_CHUNK_BYTES = 1 << 26  # reports drawn at a time by one thread, where a record is long


@dataclass(frozen=True)
class TupleTarget(Target):
    """One report about a whole tuple; the claim is what the collection guarantees, which for RS+FD is epsilon'.

    Args:
        m: SPL, SMP, RSFD or RSRFD.

    Values are numbers of tuples, the last attribute counting fastest.

    >>> from hush.multidim import RSFD
    >>> target = TupleTarget(RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR"))
    >>> target.k, target.index((1, 3)), target.values(8), target.first_pair
    (10, 8, (1, 3), (0, 9))
    >>> round(target.claim.epsilon, 3)
    1.49
    """

    m: Multidim
    threaded = True
    seedable = True

    def __post_init__(self) -> None:
        collection(self.m)
        if isinstance(self.m.guarantee, ULDP):
            rule, remedy = "must protect all values alike", "audit the mechanism of its one attribute itself"
            raise ParameterError(message("m", rule, str(self.m.guarantee), remedy))

    @property
    def name(self) -> str:  # type: ignore[override]
        """The collection's name."""
        return self.m.name()

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of tuples."""
        return math.prod(self.m.sizes)

    @property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What the collection guarantees for any two tuples."""
        return _claim(self.m.guarantee)

    @property
    def first_pair(self) -> tuple[int, int]:  # type: ignore[override]
        """All first values and all last values: two tuples that differ in every attribute."""
        return 0, self.k - 1

    @property
    def identity(self) -> dict[str, Any]:
        """The spec, thresholds included, and its hash."""
        return {"target": self.name, "k": self.k, "multidim": self.m.to_dict(), "spec_hash": self.m.spec_hash}

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """How many reports may be drawn at a time."""
        return _chunk(self.m.report_dtype.itemsize)

    def index(self, values: npt.ArrayLike) -> int:
        """The number of a tuple."""
        given = np.asarray(values)
        if given.shape != (self.m.d,) or given.dtype.kind not in "iu":
            rule = f"must be {self.m.d} integers, one for each attribute"
            raise ParameterError(message("values", rule, f"{kind(given)}, shape {given.shape}", "pass one tuple"))
        number = 0
        for j, (value, k) in enumerate(zip(given.tolist(), self.m.sizes, strict=True)):
            if not 0 <= value < k:
                raise DomainError(
                    message(f"attribute {j}", f"must lie in 0..{k - 1}", Unsaid("another value"), "check sizes")
                )
            number = number * k + value
        return number

    def values(self, index: int) -> tuple[int, ...]:
        """The tuple of a number."""
        number = rules.integer("index", index, 0, self.k - 1, "number tuples from 0, the last attribute fastest")
        found = []
        for k in reversed(self.m.sizes):
            number, value = divmod(number, k)
            found.append(value)
        return tuple(reversed(found))

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Reports of one tuple."""
        tuples = np.broadcast_to(np.array(self.values(value), np.int64), (size, self.m.d))
        reports: Reports = self.m.privatize(tuples, rng=rng)
        return reports

    def features(self, reports: Reports) -> Floats:
        """Every number and bit of the records; -1 in place of attributes that were not drawn, if the report says so."""
        if self.m.hides or not self.m.samples:
            return _numbers(reports)
        columns = [self.m.sampled(reports).argmax(axis=1).astype(np.float64)[:, None]]
        for rows, records in self.m.parts(reports):
            found = _numbers(records)
            part = np.full((reports.size, found.shape[1]), -1.0)
            part[rows] = found
            columns.append(part)
        return np.concatenate(columns, axis=1)

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each report is under the first tuple, in logarithm: exact, from the law of the whole."""
        ones, twos = (self.m.log_prob(reports, self.values(value)) for value in (first, second))
        return _difference(ones, twos)

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """Whether the attack names what the first tuple holds; ties are broken by the coin.

        With fake data it picks an attribute uniformly and a value that its part favours (algorithm 3). Of SMP it
        guesses the attribute that is named, of SPL every one, and all must be right.
        """
        alone = [
            (rows, component.forms.guess_chance(records, np.full(rows.size, value)))
            for (rows, records), component, value in zip(
                self.m.parts(reports), self.m.components, self.values(first), strict=True
            )
        ]
        right = np.zeros(reports.size) if self.m.samples else np.ones(reports.size)
        for rows, each in alone:
            if self.m.samples:
                right[rows] += each / self.m.d if self.m.hides else each
            else:
                right *= each
        return coin.random(reports.size) < right

    def exact_epsilon(self) -> float:
        """The true worst loss between two tuples, from the integer thresholds."""
        return self.m.exact_epsilon()


@dataclass(frozen=True)
class SequenceTarget(Target):
    """All of tau reports of one client about one value that does not change, as one record.

    Args:
        protocol: A protocol with kept answers, or `Repeated`.
        tau: How many reports; `Repeated` says so itself.

    >>> import hush
    >>> from hush.longitudinal import LGRR
    >>> target = SequenceTarget(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 2)
    >>> target.name, round(target.claim.epsilon, 4)
    ('LGRR, 2 reports', 1.6781)
    >>> target.draw(0, 5, hush.seeded(7)).shape
    (5,)
    """

    protocol: Longitudinal | Repeated
    tau: int | None = None
    threaded = True
    seedable = True

    def __post_init__(self) -> None:
        if not isinstance(self.protocol, (Longitudinal, Repeated)):
            rule, remedy = "must report over time", "pass e.g. LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)"
            raise ParameterError(message("protocol", rule, type(self.protocol), remedy))
        number = self.protocol.number_of_reports(self.tau)
        if isinstance(self._one.guarantee, ULDP):
            rule, remedy = "must protect all values alike, so that losses add up", "use e.g. hush.OUE"
            raise ParameterError(message("mechanism", rule, self._one, remedy))
        object.__setattr__(self, "tau", number)

    @property
    def _one(self) -> FrequencyOracle:
        """The law of one report."""
        return self.protocol.first_report

    @property
    def _rounds(self) -> int:
        return int(self.tau or 0)

    @property
    def unit(self) -> str:  # type: ignore[override]
        """All reports of one person."""
        return f"{self._rounds} reports of one person"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The protocol's name, and how many reports."""
        return f"{self.protocol.title}, {self._rounds} report{'s'[: self._rounds > 1]}"

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of values."""
        return self.protocol.k

    @cached_property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What so many reports of an unchanging value promise: at most epsilon_permanent where answers are kept."""
        return _claim(self.protocol.sequence_guarantee(self._rounds))

    @property
    def identity(self) -> dict[str, Any]:
        """The protocol's spec, thresholds included, and the number of reports."""
        return {"target": self.name, "k": self.k, "tau": self._rounds, "sequence": self.protocol.plain}

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """One record for the whole sequence."""
        return np.dtype([("rounds", self._one.report_dtype, (self._rounds,))])

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """How many sequences may be drawn at a time."""
        return _chunk(self.report_dtype.itemsize)

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Sequences of new clients, all about one value that does not change."""
        made = self.protocol.collect(np.full((size, self._rounds), value), rng=rng)
        return np.ascontiguousarray(made).view(self.report_dtype)[:, 0]

    def rounds(self, reports: Reports) -> Reports:
        """The reports of each sequence, shape (n, tau)."""
        array = np.asarray(reports)
        if array.dtype != self.report_dtype or array.ndim != 1:
            rule = f"must be one-dimensional with dtype {self.report_dtype}"
            raise ReportError(message("reports", rule, f"{kind(array)}, shape {array.shape}", "pass what draw gave"))
        return array["rounds"]

    def features(self, reports: Reports) -> Floats:
        """Every number and bit of all rounds."""
        return _numbers(reports)

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each sequence is under the first value, in logarithm: exact, kept answers summed over."""
        array = self.rounds(reports)
        for value in (first, second):
            rules.integer("value", value, 0, self.k - 1, "count values from 0")
        step = max(1, CELLS // (self._rounds * self.k))
        blocks = [array[at : at + step] for at in range(0, len(array), step)]
        parts = [self.protocol.sequence_log_ratio(block, first, second) for block in blocks]
        return np.concatenate(parts or [np.zeros(0)])

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """Whether the value with the most support over all rounds is the first; ties are broken by the coin.

        Algorithm 2. Noisy histograms have no support: their coordinates are added up, as in the paper.
        """
        forms = self._one.forms

        def votes(part: Reports) -> npt.ArrayLike:
            vectors = forms.vectors(part)
            return forms.votes(part) if vectors is None else vectors

        return over_time.most_voted(self.rounds(reports), self.k, votes, coin) == first

    def exact_epsilon(self) -> float:
        """The true worst loss of so many reports of an unchanging value."""
        return self.protocol.sequence_epsilon(self._rounds)


def _claim(promise: Guarantee) -> Claim | None:
    return None if promise is None else Claim(promise.epsilon, getattr(promise, "delta", 0.0))


def _chunk(size: int) -> int:
    """How many records of so many bytes are held at a time."""
    return max(1, min(CHUNK, _CHUNK_BYTES // size))


def _difference(ones: Floats, twos: Floats) -> Floats:
    """Of logarithms, zero where both are minus infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(ones == twos, 0.0, ones - twos)


def _numbers(reports: Reports, name: str = "") -> Floats:
    """All numbers of records, however deep, one row each; bits one by one."""
    n = len(reports)
    if reports.dtype.names is not None:
        columns = [_numbers(reports[each], each) for each in reports.dtype.names]
        return np.concatenate(columns, axis=1)
    flat = reports.reshape(n, math.prod(reports.shape[1:]))
    if name == "bits":
        flat = np.unpackbits(np.ascontiguousarray(flat), axis=1, bitorder="little")
    return flat.astype(np.float64)
