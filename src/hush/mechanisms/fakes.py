"""Fake reports of any mechanism, by enumeration of its outputs; and rows of reports, made some at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.analysis.manipulation import Targets
from hush.exact.enumeration import enumerated
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle

CELLS = 1 << 22
"""Numbers held at a time."""


def all_outputs(m: FrequencyOracle) -> tuple[Reports, Floats]:
    """One report of each kind, for each public randomness that the mechanism lists, and its share of all reports."""
    found = enumerated(m)
    copies = [np.array([float(number) for number in listing.copies]) for listing in found]
    shares = [each / (each.sum() * len(found)) for each in copies]
    return np.concatenate([listing.reports for listing in found]), np.concatenate(shares)


@lru_cache(maxsize=32)
def best_outputs(m: FrequencyOracle, targets: tuple[int, ...]) -> Reports:
    """The reports with the largest sum over the targets."""
    sums = m.forms.decoded_sums(np.array(targets))
    return all_outputs(m)[0][np.isclose(sums, sums.max(), rtol=1e-9, atol=1e-12)]


def largest_sum(decoded: Floats, targets: Targets) -> Floats:
    """In each row, the sum over the targets, or over so many values with the largest."""
    chosen = np.sort(decoded, axis=-1)[..., -targets:] if isinstance(targets, int) else decoded[..., targets]
    return np.asarray(chosen.sum(axis=-1), np.float64)


def in_rows(
    m: FrequencyOracle,
    field: str,
    size: int,
    make: Callable[[int], npt.NDArray[Any]],
    pack: Callable[[npt.NDArray[Any]], Reports] | None = None,
) -> Reports:
    """Reports whose only field is made some rows at a time, at a cost of k numbers a row; or which are packed."""
    out = np.empty(size, m.report_dtype)
    rows = max(1, CELLS // m.k)
    for at in range(0, size, rows):
        stop = min(at + rows, size)
        if pack is None:
            out[field][at:stop] = make(stop - at)
        else:
            out[at:stop] = pack(make(stop - at))
    return out


def with_ones(m: FrequencyOracle, targets: Values, chance: Floats, size: int, rng: np.random.Generator) -> Reports:
    """Reports of a bit for each value: ones for all targets, and elsewhere with these probabilities."""

    def bits(rows: int) -> npt.NDArray[np.uint8]:
        ones = rng.random((rows, m.k)) < chance
        ones[:, targets] = True
        return np.packbits(ones, axis=1, bitorder="little")

    return in_rows(m, "bits", size, bits)


def fair_bits(m: FrequencyOracle, size: int, rng: np.random.Generator) -> Reports:
    """Reports of a bit for each value, every second one of which is one."""
    out = np.frombuffer(rng.bytes(size * m.report_dtype.itemsize), m.report_dtype).copy()
    out["bits"][:, -1] &= 0xFF >> (-m.k % 8)
    return out


def members(pool: Values, chosen: int, rows: int, rng: np.random.Generator) -> Values:
    """So many different members of the pool, at random, for each row."""
    if chosen == 0:
        return np.empty((rows, 0), np.int64)
    return pool[np.argpartition(rng.random((rows, pool.size)), chosen - 1, axis=1)[:, :chosen]]
