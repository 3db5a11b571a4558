"""Tallies of disguised people, drawn from their exact law, whatever their number.

Where z is the same for all reports, who reveals does not depend on the report: spread the disguised over the sensitive
values and let the base mechanism simulate them. Where z goes by size and all sets of one size are alike, draw how many
reports have each size, then walk the values: a report with r of its values still to come takes the next one with
probability r / (values left). Under an ideal hash that is exact for hashing too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.exact.thresholds import SCALE
from hush.types import Floats, Ints
from hush.utility._moments import output_chances, revealing_outputs
from hush.utility._revelation import Leveled, Revelation, Silent


def fast(revelation: Revelation) -> bool:
    """Whether a tally can be drawn without making reports of the disguised."""
    known = isinstance(revelation, Leveled) and (revelation.shape.alike or revelation.shape.numbered is not None)
    return revelation.constant is not None or known


def uniform_sets(sizes: Ints, rng: np.random.Generator) -> Ints:
    """How often each of s values is a member of uniform random sets, so many of each size 0..s."""
    s = sizes.size - 1
    waiting, tally = sizes.copy(), np.zeros(s, np.int64)
    for v in range(s):
        held = np.nonzero(waiting)[0]
        first, last = max(int(held[0]), 1) if held.size else 1, int(held[-1]) if held.size else 0
        if last < first:
            break
        slots = np.arange(first, last + 1)
        taken = rng.binomial(waiting[first : last + 1], np.minimum(slots / (s - v), 1.0))
        tally[v] = taken.sum()
        waiting[first : last + 1] -= taken
        waiting[first - 1 : last] += taken
    return tally


def disguised(revelation: Revelation, protected: int, pairs: int, rng: np.random.Generator) -> Ints:
    """The base tally of so many people in disguise who stay protected, and so many who reveal their value too."""
    base = revelation.base
    if isinstance(revelation, Silent):
        return rng.binomial(protected + pairs, revelation.unary.q_star, base.k).astype(np.int64)
    if revelation.constant is not None:
        spread = rng.multinomial(protected + pairs, np.full(base.k, 1 / base.k))
        return base._simulate(spread, rng)
    assert isinstance(revelation, Leveled)
    if revelation.shape.numbered is not None:
        return _both(output_chances(revelation), revealing_outputs(revelation), protected, pairs, rng)
    return uniform_sets(_both(revelation.shape.law, revelation.chances, protected, pairs, rng), rng)


def _both(law: Floats, reveals: Floats, protected: int, pairs: int, rng: np.random.Generator) -> Ints:
    """How many reports are of each kind, given that each of them reveals, or does not."""
    kept, shown = law * (1 - reveals), law * reveals
    counts = np.zeros(law.size, np.int64)
    for people, part in ((protected, kept), (pairs, shown)):
        if people:
            counts += rng.multinomial(people, part / part.sum())
    return counts


def revealing(revelation: Revelation, counts: Ints, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """For each value that is not sensitive: people who send it alone, in disguise with it, and in disguise only."""
    hidden: npt.NDArray[np.int64] = rng.binomial(counts, revelation.hide / SCALE).astype(np.int64)
    pairs: npt.NDArray[np.int64] = rng.binomial(hidden, min(max(revelation.mean, 0.0), 1.0)).astype(np.int64)
    return counts - hidden, pairs, hidden - pairs
