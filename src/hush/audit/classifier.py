"""An event learned from reports alone, for code that states no law.

Candidates are fitted to one half of the reports (`hush.audit.candidates`); the other half says which of them, and from
which score on, promises most. What is proved is proved on fresh reports, so that a poor choice proves less than it
might, but never too much.

A limit: whoever reads (seed, bucket) without knowing the hash function learns nothing from hashed reports, and neither
do trees. Show the auditor which values a report supports: the support of a report is a function of it, so what is
proved of it holds for the report. That is done here for mechanisms of Hush, and by `hush.audit.adapters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from hush.audit.candidates import Boosted, Candidate, Fit, Outputs, rows_for
from hush.audit.events import Threshold
from hush.audit.foreign import ForeignTarget
from hush.audit.reading import ReportTable, table
from hush.audit.target import MechanismTarget, Target
from hush.mechanisms.pure import PureOracle
from hush.types import Floats, Reports

Reader = Callable[[Reports], ReportTable]

CLEAR = 1.0
"""What promises so much more than was claimed is enough: there is no need to look for something more intricate."""

MOST_HELD = 60_000
"""Reports of each value that choose among candidates, at most."""

CAUTIOUS, LAX, BOLD = 0.003, 0.1, 0.5
"""Error rates of each of two probabilities behind a promise. An event that the first chooses can be relied on. A rare
event has too few counts for that: what the others choose is worth its trials, since a false hope costs only them."""

_LEVELS = 400  # that are tried
_EDGE = 0.05  # that trees must have over what is faster and can be put in words
_LEAST = 20  # reports to learn from
_BLOCK = 1 << 13  # reports that are scored at a time


@dataclass(frozen=True)
class Learned:
    """An event that reports show.

    Args:
        read: How reports are read.
        candidate: What scores them.
        threshold: From which score on.
        hope: The loss that it proves with little confidence.
    """

    read: Reader
    candidate: Candidate
    threshold: Threshold
    hope: float = 0.0

    def shows(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Whether each report shows the event."""
        parts = [self._block(reports[at : at + _BLOCK]) for at in range(0, len(reports), _BLOCK)]
        return np.concatenate(parts)

    def _block(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return self.tested(self.read(reports))

    def tested(self, table: ReportTable) -> npt.NDArray[np.bool_]:
        """Whether each report that was read shows it."""
        score = self.candidate.score(table)
        return np.asarray((-score if self.swapped else score) >= self.threshold.level)

    @property
    def swapped(self) -> bool:
        """Whether the event is likely under the second value."""
        return self.threshold.swapped

    @property
    def promise(self) -> float:
        """The loss that it proves on the reports among which it was chosen, which is too much, since it was."""
        return self.threshold.promise

    @property
    def words(self) -> str:
        """The event."""
        level = -self.threshold.level if self.swapped else self.threshold.level
        return self.candidate.words(level, self.swapped)


def hypotheses(
    target: Target,
    ones: list[Reports],
    twos: list[Reports],
    pair: tuple[int, int],
    *,
    delta: float = 0.0,
    thorough: bool = True,
) -> list[Learned]:
    """Events among the reports that the claim speaks of: the one that promises to prove most, and bolder ones.

    Args:
        target: What made the reports.
        ones: Reports of the first value, by the chunk.
        twos: Reports of the second.
        pair: The two values.
        delta: Slack of the claim.
        thorough: Whether to boost trees, too, where nothing simpler shows clearly that the claim is false.
    """
    read = reader(target)
    ones, twos, lift = _inside(target, ones, twos, pair)
    size = min(sum(len(chunk) for chunk in part) for part in (ones, twos))
    if size < _LEAST:
        return [Learned(read, _Nothing(), Threshold(0.0, lift < 0, abs(lift)))]
    fitted, held_of = halves(size, len(read(ones[0][:256]).paths()))
    fit = Fit(*(_tables(read, part, 0, fitted) for part in (ones, twos)))
    half = size // 2  # what is fitted to one half, which may carry marks of its own, must show in the other
    held = [_tables(read, part, half, half + held_of) for part in (ones, twos)]
    enough = target.allowed(pair) + CLEAR
    best: tuple[Candidate, Threshold] = _Nothing(), Threshold(0.0, False, 0.0)
    scored: list[Scored] = []
    for candidates, edge, last in _stages(fit, thorough):
        new = [Scored.of(each, held) for each in candidates]
        found = _best(new, delta, CAUTIOUS, lift)
        best = found if found[1].promise > best[1].promise + edge else best
        scored += [each for each in new if not isinstance(each.candidate, Boosted)]
        if best[1].promise > enough or (last and fit.tell_all and _known(fit.outputs, held)):
            break
    hoped = [_best(scored, delta, doubt, lift) for doubt in (LAX, BOLD)]
    chosen = [Learned(read, *best, max(best[1].promise, hoped[0][1].promise))] if best[1].promise > 0.0 else []
    if best[1].promise <= enough:  # else there is no need for more
        chosen += [Learned(read, each, replace(at, promise=0.0), hoped[0][1].promise) for each, at in hoped]
    telling = [event for event in chosen if not isinstance(event.candidate, _Nothing)]
    return _different(telling, held) or [Learned(read, *best)]


def halves(size: int, width: int) -> tuple[int, int]:
    """Of so many reports of each value, how many candidates are fitted to, and how many choose among them."""
    return min(size // 2, rows_for(width)), min(size - size // 2, MOST_HELD)


def _different(events: list[Learned], held: list[list[ReportTable]]) -> list[Learned]:
    """Events that do not show in just the same reports."""
    kept: dict[bytes, Learned] = {}
    for event in events:
        shown = np.concatenate([event.tested(table) for part in held for table in part])
        kept.setdefault(bytes([event.swapped]) + np.packbits(shown).tobytes(), event)
    return list(kept.values())


def _known(outputs: Outputs | None, held: list[list[ReportTable]]) -> bool:
    """Whether the outputs of one half come again in the other; those that carry a mark of their time do not."""
    tables = [table for part in held for table in part]
    return outputs is not None and sum(outputs.known_in(table) for table in tables) > 0.9 * sum(t.size for t in tables)


def _stages(fit: Fit, thorough: bool) -> Iterator[tuple[Iterable[Candidate], float, bool]]:
    """Candidates, the simplest first, what they must have over those before, and whether outputs may be all there is.

    A column by itself is looked at even then: it adds up what rare outputs have in common.
    """
    yield [] if fit.outputs is None else [fit.outputs], 0.0, False
    yield fit.singles(), 0.0, True
    yield fit.pairs(), 0.0, True
    yield fit.together(), _EDGE / 2, True
    if thorough:
        yield fit.boosted(), _EDGE, True


@dataclass(frozen=True)
class Scored:
    """What a candidate says of the reports that were held back: ascending, of each value."""

    candidate: Candidate
    first: Floats
    second: Floats

    @classmethod
    def of(cls, candidate: Candidate, held: list[list[ReportTable]]) -> Scored:
        """The candidate's scores."""
        first, second = (np.sort(np.concatenate([candidate.score(t) for t in part])) for part in held)
        return cls(candidate, first, second)


def _best(scored: list[Scored], delta: float, doubt: float, lift: float) -> tuple[Candidate, Threshold]:
    """The most promising candidate, and from which score on."""
    best: tuple[Candidate, Threshold] = _Nothing(), Threshold(0.0, False, 0.0)
    for each in scored:
        ways = ((False, each.first, each.second, lift), (True, -each.second[::-1], -each.first[::-1], -lift))
        for swapped, high, low, more in ways:
            level, promise = _level(high, low, delta, doubt)
            if promise + more > best[1].promise:
                best = each.candidate, Threshold(level, swapped, promise + more)
    return best


def _inside(
    target: Target, ones: list[Reports], twos: list[Reports], pair: tuple[int, int]
) -> tuple[list[Reports], list[Reports], float]:
    """The reports that the claim speaks of, and how much more often the first value gives one, in logarithm."""
    if target.spoken(ones[0][:1], pair) is None:
        return ones, twos, 0.0
    kept = [[chunk[target.spoken(chunk, pair)] for chunk in part] for part in (ones, twos)]
    shares = [
        (sum(map(len, inside)) + 1) / (sum(map(len, part)) + 1) for inside, part in zip(kept, (ones, twos), strict=True)
    ]
    return kept[0], kept[1], float(np.log(shares[0] / shares[1]))


def _level(high: Floats, low: Floats, delta: float, doubt: float) -> tuple[float, float]:
    """The score from which on these reports would prove most by themselves, and what they would prove.

    An event that does well by chance is rare, and so it proves little; enough doubt keeps it from being chosen.
    """
    from scipy.special import betainccinv, betaincinv

    levels = np.unique(high)
    if levels.size > _LEVELS:
        levels = np.unique(np.quantile(high, np.linspace(0, 1, _LEVELS), method="lower"))
    hits, false_hits = (part.size - np.searchsorted(part, levels, side="left") for part in (high, low))
    least = betaincinv(hits, high.size - hits + 1, doubt)
    most = np.where(false_hits < low.size, betainccinv(false_hits + 1, np.maximum(low.size - false_hits, 1), doubt), 1)
    proved = np.log(np.maximum(least - delta, 1e-300) / most)
    at = int(np.argmax(proved))
    return float(levels[at]), float(proved[at])


def reader(target: Target) -> Reader:
    """How reports of this target are read."""
    if isinstance(target, ForeignTarget):
        return target.table
    if isinstance(target, MechanismTarget):
        return partial(_of_mechanism, target)
    return lambda reports: table(target.features(reports), target.inputs.labels)


def _of_mechanism(target: MechanismTarget, reports: Reports) -> ReportTable:
    """The record's numbers, and which values it supports unless every one has a number there already."""
    m = target.mechanism
    if not isinstance(m, PureOracle) or m.coordinates(reports[:1]) is not None:
        return table(reports, m.k)
    return table(reports, m.k, {"support of": lambda value: m.supports(reports, np.full(reports.size, value))})


def tables_of(read: Reader, chunks: list[Reports]) -> list[ReportTable]:
    """All reports, read, a block at a time."""
    return _tables(read, chunks, 0, sum(map(len, chunks)))


def _tables(read: Reader, chunks: list[Reports], start: int, stop: int) -> list[ReportTable]:
    """Reports number start..stop, read, a block at a time."""
    found, at = [], 0
    for chunk in chunks:
        part = chunk[max(start - at, 0) : max(stop - at, 0)]
        found += [read(part[i : i + _BLOCK]) for i in range(0, len(part), _BLOCK)]
        at += len(chunk)
    return found


class _Nothing(Candidate):
    """All reports are the same."""

    def score(self, table: ReportTable) -> Floats:
        return np.zeros(table.size)

    def words(self, level: float, below: bool) -> str:
        return "any report"
