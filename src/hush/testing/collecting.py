"""What every collection owes, whatever a person holds: reports that merge, travel, and are drawn anew."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np

from hush.errors import HushError
from hush.estimation import Aggregate
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.multidim.base import Multidim
from hush.randomness import seeded
from hush.testing.problem import ConformanceError, expect, expect_refusal
from hush.types import Reports

Collection = FrequencyOracle | Multidim | Numeric


def merge(m: Collection, reports: Reports) -> None:
    """Merged parts equal the whole, in any order, and survive the wire."""
    whole = m.aggregate(reports)
    parts = [m.aggregate(reports[i::3]) for i in range(3)]
    expect(parts[2] + parts[0] + parts[1] == whole, m, "merged aggregates differ from the whole")
    expect(m.aggregate(iter(np.array_split(reports, 4))) == whole, m, "a stream aggregates differently")
    expect(Aggregate.from_bytes(whole.to_bytes()) == whole, m, "an aggregate does not survive its bytes")
    expect(whole + m.aggregate(reports[:0]) == whole, m, "an empty aggregate is not neutral")


def let_pass(m: Collection, real: Aggregate) -> None:
    """`check_tally` does not refuse what reports gave."""
    try:
        m.check(Aggregate(real.n, real.tally, m.spec_hash))
    except HushError as error:
        raise ConformanceError(f"{m}: check_tally refuses a real tally: {error}") from error


def record(m: Collection, sampled: Any, n: int) -> None:
    """`sample` gave the very records: a float would be cut to an integer on its way into a report, without a word."""
    made = np.asarray(sampled)
    expect(made.dtype == m.report_dtype, m, f"sample gives {made.dtype}, not the report_dtype {m.report_dtype}")
    expect(made.shape == (n,), m, f"sample gives the shape {made.shape} for {n} values")


def count_records(reports: Reports) -> Counter[bytes]:
    """Count equal reports, by their bytes."""
    flat, size = np.ascontiguousarray(reports), reports.dtype.itemsize
    if 0 < size <= 8:  # as integers, which sort much faster than bytes
        padded = np.zeros((flat.size, 8), np.uint8)
        padded[:, :size] = flat.view(np.uint8).reshape(flat.size, size)
        words, numbers = np.unique(padded.view(np.uint64).ravel(), return_counts=True)
        kinds = words.view(np.uint8).reshape(-1, 8)[:, :size]
    else:
        kinds, numbers = np.unique(flat.view(f"V{size}"), return_counts=True)
    return Counter({kind.tobytes(): int(number) for kind, number in zip(kinds, numbers, strict=True)})


def travel(m: Collection, values: Any, seed: int) -> None:
    """It survives pickling and hashing; its reports survive their bytes."""
    twin = pickle.loads(pickle.dumps(m))
    expect(twin == m and hash(twin) == hash(m), m, "pickling changes it")
    reports = m.privatize(values, rng=seeded(seed))
    fits = reports.dtype == m.report_dtype and reports.shape == (len(values),)
    expect(fits, m, "reports have another dtype or shape")
    wire = np.frombuffer(reports.tobytes(), m.report_dtype)
    expect(m.aggregate(wire) == m.aggregate(reports), m, "reports do not survive their bytes")
    expect(m.bits <= 8 * m.report_dtype.itemsize, m, "a report holds fewer bits than `bits`")


def draw_anew(m: Collection, values: Any, seed: int) -> None:
    """The same seed gives the same reports; without one, calls differ, unless nearly everybody reports the truth."""
    first = m.privatize(values, rng=seeded(seed))
    expect(bool((m.privatize(values, rng=seeded(seed)) == first).all()), m, "the same seed gave other reports")
    differing = int((m.privatize(values, rng=seeded(seed + 1)) != first).sum())
    secure = [m.privatize(values) for _ in range(2)]
    same = bool((secure[0] == secure[1]).all())
    expect(differing < 100 or not same, m, "two calls without a seed gave the same reports")


def refuse(m: Collection, values: list[Any], stranger: Aggregate) -> None:
    """Bad values, floats for reports, nothing to estimate from, and an aggregate of another spec are refused."""
    expect(m.privatize([]).shape == (0,), m, "no values must give no reports")
    for bad in values:
        expect_refusal(m, lambda bad=bad: m.privatize(bad), f"privatize accepted {bad}")  # type: ignore[misc]
    expect_refusal(m, lambda: m.aggregate(np.zeros(3, "f4")), "aggregate accepted floats")
    expect_refusal(m, lambda: m.estimate(m.aggregate(m.privatize([]))), "estimate accepted zero reports")
    expect_refusal(m, lambda: m.estimate(stranger), "estimate accepted an aggregate of another spec")
