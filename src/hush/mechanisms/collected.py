"""What mechanisms of every kind share: how one is told by its parameters and travels, and how its reports are counted.

A kind is a way to collect: frequencies of one value (`FrequencyOracle`), means of numbers (`Numeric`), frequencies of
several attributes (`Multidim`), a value over time (`Longitudinal`). Each says, in the methods that `Spec` asks for,
what labels mean to it; `Spec`, the registry and `from_dict` then take all of them alike.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hush import rules
from hush.errors import ReportError, SpecError, Unsaid, message
from hush.estimation import Aggregate
from hush.estimation.aggregate import belonging
from hush.estimation.possible import added
from hush.kernels import chunks
from hush.mechanisms.by_name import ByName
from hush.people import columns
from hush.people.domain import Domain
from hush.randomness import CHUNK, chunk_generator, chunk_keys
from hush.types import Ints, Reports

if TYPE_CHECKING:
    from hush.mechanisms.spec import Spec

_TALLY_BYTES = 1 << 24  # reports tallied at a time by one thread


def from_outside(cls: type) -> bool:
    """Whether a class is a user's own, or a bug of the museum. Ours are known by `hush`, or by where in it they are."""
    return cls.__module__.partition(".")[0] != "hush" or cls.__module__.startswith("hush.testing.")


@dataclass(frozen=True, kw_only=True)
class Collected(metaclass=ByName):
    """A mechanism of any kind: a frozen dataclass whose fields are its parameters."""

    kind: ClassVar[str]
    """What `hush.registry` calls its kind."""
    full_name: ClassVar[str] = ""
    """What its short name stands for."""
    largest_epsilon: ClassVar[float] = rules.MAX_EPSILON
    """The largest budget that it is defined for."""
    beyond: ClassVar[str] = ""
    """Who takes larger budgets, where it does not."""
    word: ClassVar[str] = "mechanism"
    """What its name is called in a spec."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Parameters that have another name in specs, where it stays: by that name, the one that they have in Python."""

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    @classmethod
    def name(cls) -> str:
        """The registered name; module:Class for a mechanism from outside."""
        return f"{cls.__module__}:{cls.__qualname__}" if from_outside(cls) else cls.__name__

    @property
    @abstractmethod
    def report_dtype(self) -> np.dtype[Any]:
        """The record that one report is."""

    # How it travels.

    @property
    def thresholds(self) -> Mapping[str, int | str]:
        """The integers that the sampler compares random words with; part of the spec."""
        return {}

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `hush.from_dict` reads; thresholds are strings, since JSON numbers are doubles."""
        exact = {name: str(t) for name, t in self.thresholds.items()}
        written = {new: old for old, new in self.renamed.items()}
        plain = {written.get(name, name): value for name, value in self.parameters.items()}
        return {self.word: self.name(), **plain, "thresholds": exact}

    @classmethod
    def _read(cls, entries: dict[str, Any]) -> dict[str, Any]:
        """The parameters behind the entries that `to_dict` wrote for them."""
        for name in cls.renamed.values():
            if name in entries:
                rule, remedy = "must have the name that specs have for it", "pass what to_dict gave"
                raise SpecError(message(name, rule, Unsaid("its name in Python"), remedy))
        return {cls.renamed.get(name, name): item for name, item in entries.items()}

    @cached_property
    def spec_hash(self) -> str:
        """The hash of the spec that has this mechanism and no labels."""
        from hush.mechanisms.spec import Spec

        return Spec(self).hash

    # What a spec asks for.

    @abstractmethod
    def _labels(self, given: Any) -> Any:
        """What a spec of this mechanism has for labels, checked; those of none given."""

    @abstractmethod
    def _spec(self, labels: Any) -> dict[str, Any]:
        """The spec with these labels, as plain data."""

    def _told_labels(self, entry: str, plain: Any) -> Any:
        """The labels that a spec has in one of its entries."""
        return Domain.from_dict(plain) if entry == "domain" else None

    @abstractmethod
    def _encoded(self, values: Any, labels: Any) -> tuple[Any, bool]:
        """Labels as what the mechanism takes, and whether they are those of one person alone."""

    @abstractmethod
    def _reported(self, values: Any, rng: np.random.Generator | None) -> Reports:
        """Reports of what `_encoded` gave."""

    def _one_round(self, labels: Any) -> Spec | None:
        """The spec of reports that are tallied together, where that is another one."""
        return None

    @abstractmethod
    def _aggregate(self, reports: Any, spec_hash: str) -> Any:
        """Tally reports of a spec."""

    @abstractmethod
    def _belonging(self, aggregate: Any, spec_hash: str) -> Any:
        """The aggregate itself; refused if it is of another spec, or if no reports of this one give it."""

    @abstractmethod
    def _estimate(self, aggregate: Any, labels: Any, spec_hash: str) -> Any:
        """What an analyst reads of an aggregate of a spec."""

    @abstractmethod
    def _simulated(self, people: Any, labels: Any, spec_hash: str, rng: np.random.Generator | None) -> Any:
        """The aggregate of a population, without holding its reports."""


class Tallied(Collected):
    """A mechanism whose reports add up to one tally."""

    _block_bytes: ClassVar[int] = 1 << 19
    """Reports made at a time: small enough to stay in the cache until they are copied out."""

    @abstractmethod
    def tally(self, reports: Reports) -> Ints:
        """An additive summary of reports; raises ReportError on a malformed one."""

    def check_tally(self, tally: Ints, n: int) -> None:
        """Refuse a tally that n reports cannot give, by what `hush.estimation.possible` has; here nothing is known."""

    def _made(self, n: int, rng: np.random.Generator | None, sample: Callable[[slice, Any], Reports]) -> Reports:
        """Reports of n people, on all cores: a key for each chunk of them, and what `sample` makes of each part."""
        reports = np.empty(n, self.report_dtype)
        raw = reports.view(f"V{reports.dtype.itemsize}")  # whole records are copied faster than their fields
        keys = chunk_keys(rng, -(-n // CHUNK))
        rows = max(1, self._block_bytes // self.report_dtype.itemsize)

        def work(start: int, stop: int) -> None:
            drawing = chunk_generator(keys[start // CHUNK])
            for at in range(start, stop, rows):
                block = slice(at, min(at + rows, stop))
                made = np.asarray(sample(block, drawing), self.report_dtype)
                raw[block] = np.ascontiguousarray(made).view(raw.dtype)

        chunks.each(n, CHUNK, work)
        return reports

    def aggregate(self, reports: Reports | Iterable[Reports]) -> Aggregate:
        """Tally reports, on all cores; an iterator of arrays is consumed one by one, in bounded memory."""
        return self._aggregate(reports, self.spec_hash)

    def _aggregate(self, reports: Reports | Iterable[Reports], spec_hash: str) -> Aggregate:
        if not isinstance(reports, (np.ndarray, np.generic, Iterable)):
            rule = "must be an array or an iterator of arrays"
            remedy = "pass what privatize gave, or a frame of it to spec.aggregate; collect a lazy one"
            raise ReportError(message("reports", rule, type(reports), remedy))
        total, n = self._empty(), 0
        rows = min(1 << 18, max(1 << 12, _TALLY_BYTES // self.report_dtype.itemsize))
        for part in [reports] if isinstance(reports, (np.ndarray, np.generic)) else reports:
            checked = self._reports(part)
            total = added(total, *chunks.each(checked.size, rows, lambda a, b, c=checked: self.tally(c[a:b])))  # type: ignore[misc]
            n += checked.size
        return Aggregate(n, total, spec_hash, self.check_tally)

    def _empty(self) -> Ints:
        return self.tally(np.zeros(0, self.report_dtype)).astype(np.int64)

    def _reports(self, reports: Reports) -> Reports:
        array = np.atleast_1d(columns.all_reports(reports))
        if array.dtype != self.report_dtype or array.ndim != 1:
            rule = f"must be one-dimensional with dtype {self.report_dtype}"
            got = f"{columns.kind(array)}, shape {array.shape}"
            raise ReportError(message("reports", rule, got, "read them with np.frombuffer(data, m.report_dtype)"))
        return array

    def validate(self, reports: Reports) -> None:
        """Raise ReportError if a record is malformed."""
        self.tally(self._reports(reports))

    def _validated(self, reports: Reports) -> Reports:
        self.validate(array := self._reports(reports))
        return array

    def check(self, aggregate: Aggregate) -> Aggregate:
        """The aggregate itself; refused if it is of another spec, or if no reports of this one give it."""
        return self._belonging(aggregate, self.spec_hash)

    def _belonging(self, aggregate: Aggregate, spec_hash: str, least: int = 0) -> Aggregate:
        return belonging(aggregate, spec_hash, self._empty().shape, self.check_tally, least=least)

    @abstractmethod
    def privatize(self, values: Any, *, rng: np.random.Generator | None = None) -> Any:
        """Randomize: one report each, shape (n,), dtype `report_dtype`; one person alone gives one report."""

    def _reported(self, values: Any, rng: np.random.Generator | None) -> Reports:
        made: Reports = self.privatize(values, rng=rng)
        return made

    def _streamed(self, n: int, held: Callable[[int, int], Any], rng: np.random.Generator | None) -> Ints:
        """The tally of real reports of n people, made part by part; `held` gives what some of them hold."""
        total = self._empty()
        for start in range(0, n, 16 * CHUNK):
            people = held(start, min(start + 16 * CHUNK, n))
            total = added(total, self.aggregate(self.privatize(people, rng=rng)).tally)
        return total

    def _of_people(self, people: Any, spec_hash: str, rng: np.random.Generator | None) -> Aggregate:
        """The aggregate of people, what each holds being one row."""
        tally = self._streamed(len(people), lambda a, b: people[a:b], rng)
        return Aggregate(len(people), tally, spec_hash, self.check_tally)
