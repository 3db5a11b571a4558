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
from hush.audit.reading import Table, table
from hush.audit.target import MechanismTarget, Target
from hush.mechanisms._base import Reports
from hush.mechanisms._pure import PureOracle

Floats = npt.NDArray[np.float64]
Reader = Callable[[Reports], Table]

CLEAR = 1.0
"""What promises so much more than was claimed is enough: there is no need to look for something more intricate."""

_MOST_HELD = 60_000  # of each value, to choose among candidates
_DOUBT, _LAX = 0.003, 0.1  # error rate of each of two probabilities behind a promise
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
    """

    read: Reader
    candidate: Candidate
    threshold: Threshold

    def shows(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Whether each report shows the event."""
        parts = [self._block(reports[at : at + _BLOCK]) for at in range(0, len(reports), _BLOCK)]
        return np.concatenate(parts)

    def _block(self, reports: Reports) -> npt.NDArray[np.bool_]:
        score = self.candidate.score(self.read(reports))
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


def learned(
    target: Target,
    ones: list[Reports],
    twos: list[Reports],
    pair: tuple[int, int],
    *,
    delta: float = 0.0,
    thorough: bool = True,
) -> Learned:
    """The event that promises to prove most, among the reports that the claim speaks of.

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
        return Learned(read, _Nothing(), Threshold(0.0, lift < 0, abs(lift)))
    width = len(read(ones[0][:256]).paths())
    fitted = min(size // 2, rows_for(width))
    fit = Fit(*(_tables(read, part, 0, fitted) for part in (ones, twos)))
    half = size // 2  # what is fitted to one half, which may carry marks of its own, must show in the other
    held = [_tables(read, part, half, half + min(size - half, _MOST_HELD)) for part in (ones, twos)]
    enough = np.inf if target.claim is None else target.claim.epsilon + CLEAR
    best: tuple[Candidate, Threshold] = _Nothing(), Threshold(0.0, False, 0.0)
    scored: list[tuple[Candidate, list[Floats]]] = []
    for candidates, edge in _stages(fit, thorough):
        new = [(each, [np.concatenate([each.score(t) for t in part]) for part in held]) for each in candidates]
        found = _best(new, delta, _DOUBT, lift)
        best = found if found[1].promise > best[1].promise + edge else best
        if best[1].promise > enough or (fit.tell_all and _known(fit.outputs, held)):
            break
        scored += new
    if best[1].promise == 0.0:  # nothing can be expected, but a rare event may still be worth its trials
        candidate, threshold = _best([each for each in scored if not isinstance(each[0], Boosted)], delta, _LAX, lift)
        best = candidate, replace(threshold, promise=0.0)
    return Learned(read, *best)


def _known(outputs: Outputs | None, held: list[list[Table]]) -> bool:
    """Whether the outputs of one half come again in the other; those that carry a mark of their time do not."""
    tables = [table for part in held for table in part]
    return outputs is not None and sum(outputs.known_in(table) for table in tables) > 0.9 * sum(t.size for t in tables)


def _stages(fit: Fit, thorough: bool) -> Iterator[tuple[Iterable[Candidate], float]]:
    """Candidates, the simplest first, and what the next ones must have over those before."""
    yield [] if fit.outputs is None else [fit.outputs], 0.0
    yield fit.singles(), 0.0
    yield fit.pairs(), 0.0
    yield fit.together(), _EDGE / 2
    if thorough:
        yield fit.boosted(), _EDGE


def _best(
    scored: list[tuple[Candidate, list[Floats]]], delta: float, doubt: float, lift: float
) -> tuple[Candidate, Threshold]:
    """The most promising candidate, and from which score on."""
    best: tuple[Candidate, Threshold] = _Nothing(), Threshold(0.0, False, 0.0)
    for candidate, (first, second) in scored:
        for swapped, high, low, more in ((False, first, second, lift), (True, -second, -first, -lift)):
            level, promise = _level(np.sort(high), np.sort(low), delta, doubt)
            if promise + more > best[1].promise:
                best = candidate, Threshold(level, swapped, promise + more)
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
    return lambda reports: table(target.features(reports), target.k)


def _of_mechanism(target: MechanismTarget, reports: Reports) -> Table:
    """The record's numbers, and which values it supports unless every one has a number there already."""
    m = target.mechanism
    if not isinstance(m, PureOracle) or m.coordinates(reports[:1]) is not None:
        return table(reports, m.k)
    return table(reports, m.k, {"support of": lambda value: m.supports(reports, np.full(reports.size, value))})


def _tables(read: Reader, chunks: list[Reports], start: int, stop: int) -> list[Table]:
    """Reports number start..stop, read, a block at a time."""
    found, at = [], 0
    for chunk in chunks:
        part = chunk[max(start - at, 0) : max(stop - at, 0)]
        found += [read(part[i : i + _BLOCK]) for i in range(0, len(part), _BLOCK)]
        at += len(chunk)
    return found


class _Nothing(Candidate):
    """All reports are the same."""

    def score(self, table: Table) -> Floats:
        return np.zeros(table.size)

    def words(self, level: float, below: bool) -> str:
        return "any report"
