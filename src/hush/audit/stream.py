"""Trials by the chunk: on all cores, in bounded memory, and the same whatever the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hush.audit.checkpoint import Checkpoint
from hush.audit.independence import Runs
from hush.audit.target import Target
from hush.kernels import chunks
from hush.kernels.workers import THREADS, Workers
from hush.randomness import seeded, source
from hush.types import Bools, Reports

Labels = npt.NDArray[np.int64]
Progress = Callable[[float], None]
Result = TypeVar("Result")

_TOGETHER = 16
"""Chunks between two looks at the clock, the progress bar and the interrupt key."""


@dataclass(frozen=True)
class Event:
    """Something that a report may show.

    Args:
        words: What it is.
        test: Whether each report shows it; the generator is for events with a coin of their own.
    """

    words: str
    test: Callable[[Reports, np.random.Generator], Bools]


@dataclass(frozen=True)
class Stream:
    """Reports of one value, numbered in chunks.

    Args:
        target: What makes them.
        value: The value.
        root: A seed, from which every chunk has its own; None to draw as real clients do.
        number: Which of the audit's streams this is.
    """

    target: Target
    value: int
    root: int | None
    number: int

    def chunk(self, at: int, size: int) -> tuple[Reports, np.random.Generator]:
        """The chunk of that number, and a generator for the event's coin."""
        if self.root is None:
            return self.target.draw(self.value, size, None), source(None)
        reports = self.target.draw(self.value, size, seeded([self.root, self.number, at]))
        return reports, seeded([self.root, self.number, at, 1])

    def sample(self, size: int) -> list[Reports]:
        """All of so many reports, by the chunk."""
        return self._each(0, size, lambda at, many: self.chunk(at, many)[0])

    def count(
        self,
        events: Sequence[Event],
        trials: int,
        checkpoint: Checkpoint,
        progress: Progress | None = None,
        engine: Workers = THREADS,
    ) -> list[int]:
        """How many of so many trials show each event, going on from where the checkpoint stands."""
        size = self.target.chunk

        def tested(at: int) -> list[int]:
            reports, coin = self.chunk(at, min(size, trials - at * size))
            return [int(np.count_nonzero(event.test(reports, coin))) for event in events]

        step = _TOGETHER * size
        done, hits = checkpoint.standing(self.number, len(events), trials, step)
        if progress is not None and done:
            progress(done)
        left = range(-(-done // size), -(-trials // size))
        counted = engine.map(tested, left) if self.target.threaded else map(tested, left)
        for at, found in zip(left, counted, strict=True):
            hits, stop = np.add(hits, found).tolist(), min((at + 1) * size, trials)
            if stop % step == 0 or stop == trials:
                checkpoint.save(self.number, stop, hits)
                if progress is not None:
                    progress(stop - done)
                done = stop
        return hits

    def _each(self, start: int, stop: int, work: Callable[[int, int], Result]) -> list[Result]:
        return _by_chunk(self.target, self.target.chunk, start, stop, work)


@dataclass(frozen=True)
class Mixture:
    """Reports of several values, asked for in random order, so that nothing but its value tells a report apart.

    Foreign code may number its reports, stamp them with the time or its process. If it were asked for one value after
    the other, such marks would look like a leak, and hide a real one.

    Args:
        target: What makes them.
        values: The values.
        root: A seed, from which every chunk has its own; None to draw as real clients do.
        number: Which of the audit's streams this is.
    """

    target: Target
    values: tuple[int, ...]
    root: int | None
    number: int

    def chunk(self, at: int, size: int) -> list[Reports]:
        """The chunk of that number: so many reports of each value."""
        order, reports = self._mixed(at, size)
        return [reports[order == i] for i in range(len(self.values))]

    def _mixed(self, at: int, size: int) -> tuple[Labels, Reports]:
        """The chunk as it was drawn, and whose report each is, as a position among the values."""
        rng = None if self.root is None else seeded([self.root, self.number, at])
        order = source(rng).permutation(np.repeat(np.arange(len(self.values)), size))
        return order, self.target.draws(np.array(self.values)[order], rng)

    def labelled(self, size: int, progress: Progress | None = None) -> list[tuple[Labels, Reports]]:
        """So many reports of each value, by the chunk, and whose each is."""

        def made(at: int, many: int) -> tuple[Labels, Reports]:
            found = self._mixed(at, many)
            if progress is not None:
                progress(len(found[0]))
            return found

        return _by_chunk(self.target, self._share, 0, size, made)

    def sample(self, size: int) -> list[list[Reports]]:
        """So many reports of each value, by the chunk; the second half is drawn when the first is done."""
        halves = [size // 2, size - size // 2]
        shift = -(-halves[0] // self._share) * self._share
        chunked = _by_chunk(self.target, self._share, 0, halves[0], self.chunk)
        chunked += _by_chunk(self.target, self._share, shift, shift + halves[1], self.chunk)
        return [[parts[i] for parts in chunked] for i in range(len(self.values))]

    def count(self, events: Sequence[Event], trials: int, progress: Progress | None = None) -> dict[int, list[Runs]]:
        """How many of so many trials of each value show each event, and in how many runs."""

        def tested(at: int, many: int) -> list[list[Bools]]:
            return [[event.test(reports, source(None)) for event in events] for reports in self.chunk(at, many)]

        found = {value: [Runs() for _ in events] for value in self.values}
        for start in range(0, trials, _TOGETHER * self._share):
            stop = min(start + _TOGETHER * self._share, trials)
            for chunk in _by_chunk(self.target, self._share, start, stop, tested):
                for value, shown in zip(self.values, chunk, strict=True):
                    for runs, each in zip(found[value], shown, strict=True):
                        runs.add(each)
            if progress is not None:
                progress(len(self.values) * (stop - start))
        return found

    @property
    def _share(self) -> int:
        """Reports of one value in a chunk."""
        return max(1, self.target.chunk // len(self.values))


def _by_chunk(target: Target, size: int, start: int, stop: int, work: Callable[[int, int], Result]) -> list[Result]:
    """Call work(chunk number, size) on every chunk, on several threads where the target allows it."""

    def of(first: int, last: int) -> Result:
        return work((start + first) // size, last - first)

    if target.threaded:
        return chunks.each(stop - start, size, of)
    return [of(at, min(at + size, stop - start)) for at in range(0, stop - start, size)]
