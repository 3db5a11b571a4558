"""Audits of more than one report of one value: a report about a whole tuple, and all reports of a person over time.

`TupleTarget` numbers the tuples of a collection, so that two of them are told apart like two values. `SequenceTarget`
takes tau reports of one client about one unchanging value as a single record. Reports come from the samplers that
clients use, and log-ratios from the exact laws. The attacks are those of Arcolezi and Gambs, "Revealing the true cost
of locally differentially private protocols" (PoPETs 2024): algorithm 3 for fake data, algorithm 2 for sequences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks import longitudinal as over_time
from hush.attacks.ties import CELLS
from hush.attacks.tuples import collection
from hush.audit.inputs import HistoryInputs, Inputs, TupleInputs, Values
from hush.audit.target import MOST, Claim, Target
from hush.errors import ParameterError, ReportError, Unsaid, message
from hush.guarantee import ULDP, Guarantee
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.multidim import Multidim
from hush.people.columns import kind
from hush.randomness import CHUNK
from hush.types import Bools, Floats, Reports

_SUBSETS, _RANDOM = 8, 4  # pairs of tuples that are compared: by which attributes change, and at random
_CHUNK_BYTES = 1 << 26  # reports drawn at a time by one thread, where a record is long


@dataclass(frozen=True)
class TupleTarget(Target):
    """One report about a whole tuple; the claim is what the collection guarantees, which for RS+FD is epsilon'.

    Args:
        m: SPL, SMP, RSFD or RSRFD.
        changed: In how many attributes two tuples differ that are told apart, at most; in all if left out.

    Values are numbers of tuples, the last attribute counting fastest.

    >>> from hush.multidim import RSFD
    >>> target = TupleTarget(RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR"))
    >>> target.k, target.index((1, 3)), target.values(8), target.first_pair
    (10, 8, (1, 3), (0, 9))
    >>> round(target.claim.epsilon, 3)
    1.49
    """

    m: Multidim
    changed: int | None = None
    threaded = True
    seedable = True
    lawful = True

    def __post_init__(self) -> None:
        collection(self.m)
        TupleInputs(tuple(self.m.sizes), self.changed)
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

    @cached_property
    def inputs(self) -> TupleInputs:
        """Every tuple."""
        return TupleInputs(tuple(self.m.sizes), self.changed)

    @cached_property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What the collection guarantees for any two tuples; for those that differ in fewer, its true loss."""
        promise = _claim(self.m.guarantee)
        if promise is None or self.changed in (None, self.m.d):
            return promise
        return replace(promise, epsilon=min(promise.epsilon, self.exact_epsilon()))

    @property
    def screened(self) -> bool:  # type: ignore[override]
        """Of Hush's own collections the conformance suite has seen every tuple."""
        return from_outside(type(self.m))

    @property
    def first_pair(self) -> tuple[int, int]:  # type: ignore[override]
        """All first values and all last values: two tuples that differ in every attribute that may change."""
        return 0, self.inputs.farthest

    @property
    def likely_pairs(self) -> list[tuple[int, int]]:
        """The first pair, the same of other attributes, and some pairs at random, since values may not be alike."""
        d, most = self.m.d, self.m.d if self.changed is None else self.changed
        rng = np.random.default_rng(0)
        chosen = list(itertools.islice(itertools.combinations(range(d), most), _SUBSETS))
        pairs = [(0, self.index([k - 1 if j in some else 0 for j, k in enumerate(self.m.sizes)])) for some in chosen]
        for _ in range(_RANDOM):
            some = set(rng.choice(d, most, replace=False).tolist())
            first = [int(rng.integers(k)) for k in self.m.sizes]
            shift = [int(rng.integers(1, k)) if j in some else 0 for j, k in enumerate(self.m.sizes)]
            second = [(v + s) % k for v, s, k in zip(first, shift, self.m.sizes, strict=True)]
            pairs.append((self.index(first), self.index(second)))
        return list(dict.fromkeys(pairs))

    @property
    def identity(self) -> dict[str, Any]:
        """The spec, thresholds included, and its hash."""
        return {**super().identity, "multidim": self.m.to_dict(), "spec_hash": self.m.spec_hash}

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """How many reports may be drawn at a time."""
        return _chunk(self.m.report_dtype.itemsize)

    def index(self, values: npt.ArrayLike) -> int:
        """The number of a tuple."""
        return self.inputs.position(values)

    def values(self, index: int) -> tuple[int, ...]:
        """The tuple of a number."""
        return self.inputs.at(index)

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

    def guessed(self, first: int) -> str:
        """That the attack's guess fits the first tuple, in words."""
        how = (
            "of an attribute at random" if self.m.hides else "of the attribute that is named" if self.m.samples else ""
        )
        return f"the best guess{how and ' '}{how} fits {self.inputs.said(first)}"

    def exact_epsilon(self) -> float:
        """The true worst loss between two tuples that can be compared, from the integer thresholds."""
        return self.m.exact_epsilon(self.changed)


@dataclass(frozen=True)
class SequenceTarget(Target):
    """All of tau reports of one client about one value that does not change, or a history of values, as one record.

    Args:
        protocol: A protocol with kept answers, or `Repeated`.
        tau: How many reports; `Repeated` and histories say so themselves.
        histories: Two histories to tell apart, in place of values that do not change.

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
    histories: tuple[tuple[int, ...], ...] | None = None
    threaded = True
    seedable = True
    lawful = True

    def __post_init__(self) -> None:
        if not isinstance(self.protocol, (Longitudinal, Repeated)):
            rule, remedy = "must report over time", "pass e.g. LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)"
            raise ParameterError(message("protocol", rule, type(self.protocol), remedy))
        if self.histories is not None:
            given = HistoryInputs(self.histories, self.protocol.k)
            rounds = given.rounds
            if given.size != 2:
                rule = "must be two, of which the claim speaks"
                raise ParameterError(message("histories", rule, Unsaid(f"{given.size}"), "audit two at a time"))
            if self.tau not in (None, rounds):
                rule = f"must be {rounds}, as the histories are long"
                raise ParameterError(message("tau", rule, self.tau, "leave it out"))
            object.__setattr__(self, "tau", rounds)
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

    @cached_property
    def inputs(self) -> Inputs:
        """Values that do not change, or the histories."""
        k = self.protocol.k
        return Values(k, self._rounds) if self.histories is None else HistoryInputs(self.histories, k)

    @property
    def unit(self) -> str:
        """All reports of one person."""
        return f"{self._rounds} report{'s'[: self._rounds > 1]} of one person"

    @property
    def screened(self) -> bool:  # type: ignore[override]
        """Of Hush's own protocols the conformance suite has seen every value."""
        return from_outside(type(self.protocol)) or from_outside(type(self._one))

    @property
    def name(self) -> str:  # type: ignore[override]
        """The protocol's name, and how many reports."""
        return f"{self.protocol.title}, {self._rounds} report{'s'[: self._rounds > 1]}"

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of values, or of histories."""
        return self.inputs.size

    @cached_property
    def claim(self) -> Claim | None:  # type: ignore[override]
        """What so many reports of an unchanging value promise: at most epsilon_permanent where answers are kept.

        Of two histories, their true loss by the law; None where that is no promise.
        """
        if self.histories is None:
            return _claim(self.protocol.sequence_guarantee(self._rounds))
        try:
            loss = self.exact_epsilon()
        except ParameterError:  # too many reports to enumerate, or a delta
            return over_histories(self.protocol, self.histories)
        return Claim(loss) if loss <= MOST else None

    @property
    def identity(self) -> dict[str, Any]:
        """The protocol's spec, thresholds included, and the number of reports."""
        asked = {} if self.histories is None else {"histories": [list(each) for each in self.histories]}
        return {
            "target": self.name,
            "k": self.protocol.k,
            "tau": self._rounds,
            **asked,
            "sequence": self.protocol.plain,
        }

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """One record for the whole sequence."""
        return np.dtype([("rounds", self._one.report_dtype, (self._rounds,))])

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """How many sequences may be drawn at a time."""
        return _chunk(self.report_dtype.itemsize)

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """Sequences of new clients, all about one value that does not change, or one history."""
        made = self.protocol.collect(np.broadcast_to(self._held(value), (size, self._rounds)), rng=rng)
        return np.ascontiguousarray(made).view(self.report_dtype)[:, 0]

    def _held(self, value: int) -> npt.NDArray[Any]:
        """What one person holds, round by round."""
        return np.full(self._rounds, value) if self.histories is None else np.array(self.inputs.at(value))

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
        step = max(1, CELLS // (self._rounds * self.protocol.k))
        blocks = [array[at : at + step] for at in range(0, len(array), step)]
        parts = [self._log_ratio(block, first, second) for block in blocks]
        return np.concatenate(parts or [np.zeros(0)])

    def _log_ratio(self, block: Reports, first: int, second: int) -> Floats:
        if self.histories is None:
            return self.protocol.sequence_log_ratio(block, first, second)
        held = (np.broadcast_to(self._held(each), block.shape) for each in (first, second))
        ones, twos = (self.protocol.sequence_log_prob(block, each) for each in held)
        return _difference(ones, twos)

    def guesses(self, reports: Reports, first: int, coin: np.random.Generator) -> Bools:
        """Whether the value with the most support over all rounds is the first; ties are broken by the coin.

        Algorithm 2. Noisy histograms have no support: their coordinates are added up, as in the paper.
        """
        if self.histories is not None:
            rule = "must be another than the attack on a value that does not change, for histories"
            raise ParameterError(message("method", rule, "attack", "use 'likelihood'"))
        forms = self._one.forms

        def votes(part: Reports) -> npt.ArrayLike:
            vectors = forms.vectors(part)
            return forms.votes(part) if vectors is None else vectors

        return over_time.most_voted(self.rounds(reports), self.protocol.k, votes, coin) == first

    def exact_epsilon(self) -> float:
        """The true worst loss of so many reports of an unchanging value, or between the two histories."""
        if self.histories is None:
            return self.protocol.sequence_epsilon(self._rounds)
        first, second = self.histories
        return self.protocol.history_epsilon(first, second)


def over_histories(protocol: Longitudinal | Repeated, histories: Sequence[Sequence[int]]) -> Claim | None:
    """A bound of the loss between two histories; None where there is none.

    Fresh reports lose in all rounds together what they promise. Kept answers hide what a value is, and when it changes
    only as far as there is fresh noise.
    """
    first, second = (np.array(each) for each in histories)
    if isinstance(protocol, Repeated):
        return _claim(protocol.guarantee)
    same = np.array_equal(first[:, None] == first, second[:, None] == second)
    bound = protocol.history_bound(first.size) if same else protocol.any_histories_bound(first.size)
    return Claim(bound) if bound <= MOST else None


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
