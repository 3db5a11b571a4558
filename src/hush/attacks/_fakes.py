"""Fake reports: the ones with the largest sum over the targets, and uniform ones.

What does not matter for the gain is chosen so that a report looks ordinary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import manipulation
from hush.attacks import _modular
from hush.attacks._sums import best, outputs
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.family import MEMBERS
from hush.mechanisms.hashing.hashed import RING, Hashed, Words
from hush.mechanisms.histogram import NoisyHistogram, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.mechanisms.wheel import Wheel
from hush.types import Reports, Values

_TRIES = 1 << 16  # hash functions to look at before settling for the one that sends all values to one hash
_CELLS = 1 << 22  # numbers held at a time


@singledispatch
def maximal_reports(m: FrequencyOracle, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """Reports that decode to the largest sum over the targets; where several do, one at random."""
    return rng.choice(best(m, tuple(targets.tolist())), size)


@maximal_reports.register
def _(m: GRR, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    return rng.choice(targets, size).astype(m.report_dtype)


@maximal_reports.register
def _(m: SS, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """As many targets as fit; the other members are random."""
    inside = min(targets.size, m.omega)
    rest = np.setdiff1d(np.arange(m.k), targets)

    def subsets(rows: int) -> npt.NDArray[np.int64]:
        chosen = _members(targets, inside, rows, rng), _members(rest, m.omega - inside, rows, rng)
        return np.sort(np.concatenate(chosen, axis=1), axis=1)

    return _filled(m, "subset", size, subsets, m.packed)


@maximal_reports.register
def _(m: UE, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """Ones for all targets; the other bits make up for the number of ones that a genuine report has on average."""
    missing = m.p_star + (m.k - 1) * m.q_star - targets.size
    chance = max(0.0, missing / max(1, m.k - targets.size))

    def bits(rows: int) -> npt.NDArray[np.uint8]:
        ones = rng.random((rows, m.k)) < chance
        ones[:, targets] = True
        return np.packbits(ones, axis=1, bitorder="little")

    return _filled(m, "bits", size, bits)


@maximal_reports.register
def _(m: LH, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """All targets in the reported bucket, which may be any; of a public family, the buckets that hold most of them."""
    if m.hash == "family":
        sizes = m.bucket_sizes(targets)
        members, buckets = np.nonzero(sizes == sizes.max())
        pick = rng.integers(0, members.size, size)
        return m._packed([members[pick], buckets[pick]])
    bucket = rng.integers(0, m.g, size, dtype=np.uint64)
    start, _ = m._extent(bucket)
    a, shift = _gathered(m, RING // m.g, targets, size, rng)
    return m._packed([a, shift + start, bucket])


@maximal_reports.register
def _(m: Wheel, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """A point on the arcs of all targets; where on the ring does not matter."""
    b = rng.integers(0, RING, size, dtype=np.uint32)
    a, shift = _gathered(m, m.arc, targets, size, rng)
    return m._packed([np.uint32(0) - a, b, shift + b])


@maximal_reports.register
def _(m: NoisyHistogram, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """The highest step for all targets, and ordinary noise elsewhere."""
    reports = m.privatize(np.full(size, targets[0]), rng=rng)
    reports["steps"][:, targets] = m.grid.highest
    return np.asarray(reports)


@maximal_reports.register
def _(m: ServerTHE, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """Every target as a genuine owner's that exceeds the threshold, and ordinary noise elsewhere."""
    reports = m.privatize(np.full(size, targets[0]), rng=rng)
    own = m.grid.probabilities[::-1] * (m.grid.steps > m._limit)
    for target in targets:
        reports["steps"][:, target] = rng.choice(m.grid.steps, size, p=own / own.sum())
    return np.asarray(reports)


@maximal_reports.register
def _(m: HR, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """One transform of the targets' rows gives what every output decodes to; the best ones share the fakes."""
    from hush.kernels.hadamard import walsh_hadamard

    rows = np.zeros((m.blocks, m.width), np.int64)
    rows[m._place(targets)] = 1
    for block in rows:
        walsh_hadamard(block)
    return rng.choice(np.flatnonzero(rows == rows.max()), size).astype(m.report_dtype)


@maximal_reports.register
def _(m: PGR, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """Messages that favour the most targets share the fakes."""
    wanted = np.zeros(m.k, np.int32)
    wanted[targets] = 1
    held = m.favoured_sums(wanted)
    return rng.choice(np.flatnonzero(held == held.max()), size).astype(m.report_dtype)


@maximal_reports.register
def _(m: MSS, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    return _modular.reports(m, targets, size, rng)


@singledispatch
def random_reports(m: FrequencyOracle, size: int, rng: np.random.Generator) -> Reports:
    """Reports drawn uniformly from all that there are."""
    reports, shares = outputs(m)
    return rng.choice(reports, size, p=shares)


@random_reports.register
def _(m: GRR, size: int, rng: np.random.Generator) -> Reports:
    return rng.integers(0, m.k, size, dtype=m.report_dtype)


@random_reports.register
def _(m: HR | PGR, size: int, rng: np.random.Generator) -> Reports:
    return rng.integers(0, m.size, size, dtype=m.report_dtype)


@random_reports.register
def _(m: SS, size: int, rng: np.random.Generator) -> Reports:
    def subsets(rows: int) -> Values:
        return np.sort(_members(np.arange(m.k), m.omega, rows, rng), axis=1)

    return _filled(m, "subset", size, subsets, m.packed)


@random_reports.register
def _(m: MSS, size: int, rng: np.random.Generator) -> Reports:
    return _modular.random(m, size, rng)


@random_reports.register
def _(m: UE, size: int, rng: np.random.Generator) -> Reports:
    out = np.frombuffer(rng.bytes(size * m.report_dtype.itemsize), m.report_dtype).copy()
    out["bits"][:, -1] &= 0xFF >> (-m.k % 8)
    return out


@random_reports.register
def _(m: LH | Wheel, size: int, rng: np.random.Generator) -> Reports:
    last = m.g if isinstance(m, LH) else RING
    if isinstance(m, LH) and m.hash == "family":
        return m._packed([rng.integers(0, MEMBERS, size), rng.integers(0, last, size)])
    a, b = (rng.integers(0, RING, size, dtype=np.uint32) for _ in range(2))
    return m._packed([a, b, rng.integers(0, last, size, dtype=np.uint64)])


@random_reports.register
def _(m: NoisyHistogram, size: int, rng: np.random.Generator) -> Reports:
    def steps(rows: int) -> npt.NDArray[np.int64]:
        return rng.integers(m.grid.lowest, m.grid.highest + 1, (rows, m.k))

    return _filled(m, "steps", size, steps)


def _filled(
    m: FrequencyOracle,
    field: str,
    size: int,
    make: Callable[[int], npt.NDArray[Any]],
    pack: Callable[[npt.NDArray[Any]], Reports] | None = None,
) -> Reports:
    """Reports whose only field is made some rows at a time, at a cost of k numbers a row; or which are packed."""
    out = np.empty(size, m.report_dtype)
    rows = max(1, _CELLS // m.k)
    for at in range(0, size, rows):
        stop = min(at + rows, size)
        if pack is None:
            out[field][at:stop] = make(stop - at)
        else:
            out[at:stop] = pack(make(stop - at))
    return out


def _members(pool: Values, chosen: int, rows: int, rng: np.random.Generator) -> Values:
    """So many different members of the pool, at random, for each row."""
    if chosen == 0:
        return np.empty((rows, 0), np.int64)
    return pool[np.argpartition(rng.random((rows, pool.size)), chosen - 1, axis=1)[:, :chosen]]


def _gathered(m: Hashed, length: int, targets: Values, size: int, rng: np.random.Generator) -> tuple[Words, Words]:
    """Hash functions x -> a x + shift that send the keys of all targets below `length`.

    Random ones are looked at first, since they look ordinary. If none will do, a = 0 sends all keys to one hash.
    """
    rate = manipulation.gathering(length / RING, targets.size)
    tries = min(_TRIES, _CELLS // targets.size)
    a, first, span = (np.zeros(1, np.int64) for _ in range(3))
    if rate * tries >= 1:
        tried = rng.integers(0, RING, min(tries, 64 + math.ceil(4 * size / rate)))
        starts, spans = _arcs(tried.astype(np.uint32)[:, None] * m._keys[targets])
        fits = spans < length
        if fits.any():
            a, first, span = tried[fits], starts[fits], spans[fits]
    pick = rng.integers(0, a.size, size)
    room = rng.integers(0, length - span[pick])
    return a[pick].astype(np.uint32), ((room - first[pick]) % RING).astype(np.uint32)


def _arcs(hashes: npt.NDArray[np.uint32]) -> tuple[Values, Values]:
    """Where the shortest arc of the ring with all hashes of a row starts, and how far from there it ends."""
    ordered = np.sort(hashes, axis=1).astype(np.int64)
    following = np.append(ordered[:, 1:], ordered[:, :1] + RING, axis=1)
    widest = np.argmax(following - ordered, axis=1)[:, None]
    before, after = (np.take_along_axis(side, widest, axis=1)[:, 0] for side in (ordered, following))
    return after % RING, RING - (after - before)
