"""Log-likelihood of whole sequences of reports: a mixture over what the client kept, for each state it was in.

A state is what a client keeps one answer for: its value, or the bucket of its value. `states` has the shape of the
reports, (n, tau). Reports of one person in one state share what was kept, so they form a block; blocks are
independent. A person whose value never changes has one block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.exact.thresholds import SCALE
from hush.longitudinal._rounds import Bits
from hush.types import Floats, Ints

_CELLS = 1 << 22


@dataclass(frozen=True)
class SortedReports:
    """Reports put in order of person and state."""

    order: Ints
    """Which report of its person comes at each place, shape (n, tau)."""
    starts: Ints
    """Where each block starts, in the flattened order."""
    lengths: Ints
    states: Ints
    people: Ints
    """The first block of each person."""

    @classmethod
    def of(cls, states: Ints) -> SortedReports:
        """The blocks of people's states, of shape (n, tau)."""
        n, tau = states.shape
        order = np.argsort(states, axis=1, kind="stable")
        inline = np.take_along_axis(states, order, axis=1)
        new = np.ones((n, tau), np.bool_)
        new[:, 1:] = inline[:, 1:] != inline[:, :-1]
        starts = np.flatnonzero(new)
        lengths = np.diff(starts, append=n * tau)
        people = np.searchsorted(starts, np.arange(n) * tau)
        return cls(order.astype(np.int64), starts, lengths, inline.ravel()[starts], people)

    def put(self, reports: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reports of shape (n, tau), in order, flattened; what a report holds stays together."""
        rows = np.arange(len(reports))[:, None]
        ordered = reports[rows, self.order]
        return ordered.reshape(-1, *ordered.shape[2:])

    def joined(self, parts: Floats) -> Floats:
        """Sums over the blocks of each person."""
        return np.asarray(np.add.reduceat(parts, self.people), np.float64)


def direct(reports: Ints, states: Ints, size: int, keep: int, again: int) -> Floats:
    """Randomized response twice: keep and again are thresholds out of 2^64, over `size` values.

    A value that is reported c times in a block of length m weighs p^c q^(m-c) if it was kept. Values that were not
    reported all weigh the same, so only those that were need a term of their own.
    """
    if reports.size == 0:
        return np.zeros(len(reports))
    blocks = SortedReports.of(states * size + reports)  # runs of one report within one state
    runs_state, runs_report = np.divmod(blocks.states, size)
    first = np.ones(runs_state.size, np.bool_)
    first[1:] = runs_state[1:] != runs_state[:-1]
    first[blocks.people] = True
    heads = np.flatnonzero(first)
    own = runs_report == runs_state
    log_own, log_other = _log(keep), _log(SCALE - keep) - math.log(size - 1)
    log_same, log_differs = _log(again), _log(SCALE - again) - math.log(size - 1)
    terms = np.where(own, log_own, log_other) + blocks.lengths * (log_same - log_differs)
    seen = np.logaddexp.reduceat(terms, heads)
    missed = 1 - np.add.reduceat(own.astype(np.int64), heads)  # whether the state itself was never reported
    others = size - np.diff(heads, append=own.size) - missed
    with np.errstate(divide="ignore"):
        unseen = np.log(missed * math.exp(log_own) + others * math.exp(log_other))
    lengths = np.add.reduceat(blocks.lengths, heads)
    parts = np.logaddexp(seen, unseen) + lengths * log_differs
    return np.asarray(np.add.reduceat(parts, np.searchsorted(heads, blocks.people)), np.float64)


def bits(rows: npt.NDArray[np.uint8], states: Ints, size: int, before: Bits, after: Bits) -> Floats:
    """Bits twice: rows of shape (n, tau, bytes) hold `size` bits each; a state of `size` owns none of them."""
    n, tau = states.shape
    out = np.empty(n)
    step = max(1, _CELLS // (tau * size))
    for start in range(0, n, step):
        part = slice(start, start + step)
        out[part] = _bits(rows[part], states[part], size, before, after)
    return out


def _bits(rows: npt.NDArray[np.uint8], states: Ints, size: int, before: Bits, after: Bits) -> Floats:
    blocks = SortedReports.of(states)
    shown = np.unpackbits(blocks.put(rows), axis=1, count=size, bitorder="little")
    ones = np.add.reduceat(shown, blocks.starts, axis=0, dtype=np.int64)
    lengths = blocks.lengths
    parts = _looked_up(ones, lengths, before[1], after).sum(axis=1)
    owning = np.flatnonzero(blocks.states < size)
    mine = ones[owning, blocks.states[owning]]
    own, other = (_kept_bit(mine, lengths[owning], chance, after) for chance in before)
    parts[owning] += own - other
    return blocks.joined(parts)


def _looked_up(ones: Ints, lengths: Ints, chance: int, after: Bits) -> Floats:
    """`_kept_bit` of a row of counts for each length, from a table where it is smaller than the rows."""
    sizes, at = np.unique(lengths, return_inverse=True)
    counts = np.arange(int(sizes[-1]) + 1)
    if sizes.size * counts.size > ones.size:
        return _kept_bit(ones, lengths[:, None], chance, after)
    table = _kept_bit(counts[None], sizes[:, None], chance, after)  # where a count exceeds its length, never read
    return np.asarray(table[at[:, None], ones], np.float64)


def bit_scores(rows: npt.NDArray[np.uint8], size: int, before: Bits, after: Bits) -> Floats:
    """Log-likelihood of every unchanging value, up to a constant for each person, shape (n, size)."""
    n, tau = rows.shape[:2]
    ones = np.zeros((n, size), np.int64)
    for t in range(tau):
        ones += np.unpackbits(np.ascontiguousarray(rows[:, t]), axis=1, count=size, bitorder="little")
    counts = np.arange(tau + 1)
    own, other = (_kept_bit(counts, np.full(tau + 1, tau), chance, after) for chance in before)
    return np.asarray((own - other)[ones], np.float64)


def _kept_bit(ones: Ints, length: Ints, chance: int, after: Bits) -> Floats:
    """Log-probability of a bit's course: a kept one with this chance, a kept zero otherwise."""
    zeros = length - ones
    kept = _log(chance) + ones * _log(after[0]) + zeros * _log(SCALE - after[0])
    lost = _log(SCALE - chance) + ones * _log(after[1]) + zeros * _log(SCALE - after[1])
    return np.asarray(np.logaddexp(kept, lost), np.float64)


def constant(reports: npt.NDArray[Any], blocks: SortedReports) -> npt.NDArray[np.bool_]:
    """Whether all reports of a block are the same record."""
    flat = np.ascontiguousarray(blocks.put(reports)).reshape(-1)
    raw = flat.view(np.uint8).reshape(flat.size, -1)
    leader = np.repeat(blocks.starts, blocks.lengths)
    same = (raw == raw[leader]).all(axis=1)
    return np.asarray(np.logical_and.reduceat(same, blocks.starts), np.bool_)


def _log(threshold: int) -> float:
    """The logarithm of a probability out of 2^64."""
    return math.log(threshold) - 64 * math.log(2)
