"""What is collected over many rounds: one row a person, one column a round, and an aggregate for each round."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.errors import ReportError, message
from hush.estimation import Aggregate
from hush.kernels import chunks
from hush.mechanisms.collected import Tallied
from hush.people.columns import all_reports, kind
from hush.randomness import CHUNK, chunk_generator, chunk_keys
from hush.types import Ints, Reports

_CHUNK_BYTES = 1 << 24  # reports of one chunk of people


class Rounds:
    """Reports of several rounds, whose law in any one of them is known."""

    if TYPE_CHECKING:

        @property
        def first_report(self) -> Tallied:
            """The law of any one report."""

    @property
    def _length(self) -> int | None:
        """How many reports there are of one person; None if any number will do."""
        return None

    def aggregate(self, reports: Reports) -> list[Aggregate]:
        """One aggregate for each round; those of several parts of the crowd are merged round by round."""
        return self._aggregate(reports, self.first_report.spec_hash)

    def _aggregate(self, reports: Reports, spec_hash: str) -> list[Aggregate]:
        columns = self._reports(reports).T
        return [self.first_report._aggregate(np.ascontiguousarray(column), spec_hash) for column in columns]

    def _belonging(self, aggregate: Iterable[Aggregate], spec_hash: str) -> list[Aggregate]:
        return [self.first_report._belonging(each, spec_hash) for each in aggregate]

    def _reports(self, reports: Reports) -> Reports:
        """Reports of shape (n, tau)."""
        array, dtype = all_reports(reports), self.first_report.report_dtype
        if array.dtype != dtype or not self._shaped(array):
            rule = f"must have shape (n, {self._length or 'tau'}) and dtype {dtype}"
            raise ReportError(message("reports", rule, f"{kind(array)}, shape {array.shape}", "pass what collect gave"))
        return array

    def _shaped(self, array: npt.NDArray[np.generic]) -> bool:
        return array.ndim == 2 and (array.shape[1] > 0 if self._length is None else array.shape[1] == self._length)


class Collecting(Rounds):
    """A protocol that makes the reports of many people, each with answers of their own, chunk by chunk."""

    if TYPE_CHECKING:

        @property
        def report_dtype(self) -> np.dtype[Any]:
            """The record that one report is."""

        def _values(self, values: npt.ArrayLike) -> Ints:
            """What people hold, one row a person and one column a round."""

        def _encoded(self, values: object, labels: Any) -> tuple[Ints, bool]:
            """What labels stand for."""

    @abstractmethod
    def _together(self, values: Ints, rng: np.random.Generator) -> Reports:
        """All reports of some people."""

    def collect(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Reports:
        """Reports of n people over tau rounds, shape (n, tau), each person with answers of their own.

        Args:
            values: Integers in 0..k-1, one row a person, one column a round; of tuples, shape (n, tau, d).
            rng: Left out, the randomness is cryptographically secure. `hush.seeded(7)` is for simulation; its
                result does not depend on the number of threads.
        """
        checked = self._values(values)
        reports = np.empty(checked.shape[:2], self.report_dtype)

        def keep(start: int, stop: int, made: Reports) -> None:
            reports[start:stop] = made

        self._stream(checked, rng, keep)
        return reports

    def simulate(self, values: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> list[Aggregate]:
        """What `aggregate(collect(values))` gives, without ever holding all reports."""
        checked = self._values(values)
        first = self.first_report
        total = [first._empty() for _ in range(checked.shape[1])]
        lock = threading.Lock()

        def add(start: int, stop: int, made: Reports) -> None:
            tallies = [first.tally(np.ascontiguousarray(column)) for column in made.T]
            with lock:
                for t, tally in enumerate(tallies):
                    total[t] = total[t] + tally

        self._stream(checked, rng, add)
        return [Aggregate(len(checked), tally, first.spec_hash, first.check_tally) for tally in total]

    def keys_of(self, n: int, rounds: int) -> int:
        """How many chunk keys the reports of so many people in so many rounds take."""
        return -(-n // self._people(rounds))

    def _people(self, rounds: int) -> int:
        """How many share a chunk."""
        return max(1, min(CHUNK, _CHUNK_BYTES // self.report_dtype.itemsize) // rounds)

    def _stream(self, values: Ints, rng: np.random.Generator | None, use: Any) -> None:
        """Make reports chunk by chunk of people, on all cores, one key for each chunk."""
        n, tau = values.shape[:2]
        people, keys = self._people(tau), chunk_keys(rng, self.keys_of(n, tau))

        def work(start: int, stop: int) -> None:
            use(start, stop, self._together(values[start:stop], chunk_generator(keys[start // people])))

        chunks.each(n, people, work)

    def _reported(self, values: Ints, rng: np.random.Generator | None) -> Reports:
        return self.collect(values, rng=rng)

    def _simulated(self, people: Any, labels: Any, spec_hash: str, rng: np.random.Generator | None) -> list[Aggregate]:
        drawn = self.simulate(self._encoded(people, labels)[0], rng=rng)
        return [Aggregate(each.n, each.tally, spec_hash, each.rule) for each in drawn]
