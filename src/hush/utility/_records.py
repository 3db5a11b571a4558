"""How the records of utility-optimized mechanisms are written and read: in place, a block at a time.

A record is a byte for its kind, the base record, and the value. Blocks are small enough to stay in the cache between
the steps that they go through together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hush.errors import ReportError, message
from hush.estimation import possible
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hashing import LH
from hush.mechanisms.hashing.forms import LocalHashingForms
from hush.mechanisms.hashing.hashed import Affine
from hush.mechanisms.hashing.mechanism import TABLED
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.randomness import chunk_generator
from hush.types import Ints, Reports, Values
from hush.utility._revelation import Leveled, Silent

if TYPE_CHECKING:
    from hush.utility.oracle import UtilityOracle

PROTECTED, ALONE, PAIR = 0, 1, 2
"""Kinds of report: a base report; a value; both."""

BLOCK_BYTES = 1 << 20
"""Part of what a seed means: reports of a block are made together."""

SAME_WORK = UE, SS
"""Base mechanisms beside whose own words those of a disguise weigh little: sensitive values take as long as others."""


def rows_of(reports: Reports) -> npt.NDArray[np.uint8]:
    """Records as rows of bytes; their own where they lie together."""
    return np.ascontiguousarray(reports).view(np.uint8).reshape(reports.size, reports.dtype.itemsize)


def block_rows(dtype: np.dtype[Any]) -> int:
    """How many records are worked on together."""
    return max(1, BLOCK_BYTES // dtype.itemsize)


def write(u: UtilityOracle, values: Values, rng: np.random.Generator, out: Reports) -> None:
    """Randomize values into records that lie together."""
    from hush.kernels import utility as kernels
    from hush.kernels.words import rejection

    n, revelation = values.size, u._revelation
    shown = np.uint8(PAIR if u.reveal == "pair" else ALONE)
    law = u._inner, u.s, rejection(u.s), np.uint64(revelation.hide - 1)
    if isinstance(u.base, SAME_WORK):
        kernels.idle(chunk_generator(bytes(16)), values, *law[:3])  # any key: nothing that it draws is used
    bits = u.base.forms.bit_thresholds
    if bits is not None and isinstance(revelation, Leveled):
        own, other = (np.uint64(chance) for chance in bits)
        masked = other if isinstance(revelation, Silent) else own
        kernels.unary_reports(rng, values, *law, own, masked, other, revelation.by_size, shown, rows_of(out))
        return
    kind, luck = np.empty(n, np.uint8), np.empty(n, np.uint64)
    inner, hidden = np.empty(n, np.int64), np.empty(n, np.int64)
    sent, disguises = kernels.disguise(rng, values, *law, kind, inner, hidden, luck)
    inner, hidden = inner[:sent], hidden[:disguises]
    based = np.ascontiguousarray(u._base_reports(inner, hidden, rng))
    threshold = revelation.thresholds(based, hidden) if disguises else np.zeros(1, np.uint64)
    kernels.pack(kind, values, luck, threshold, shown, rows_of(based), rows_of(out))
    if u._open:
        alone = np.nonzero(out["kind"] == ALONE)[0]  # all have a base report, in order
        rows_of(out)[alone, 1 : 1 + u._open] = rows_of(based)[alone, : u._open]


def affine(base: FrequencyOracle) -> int:
    """How many bytes at the beginning of a base record tell its hash function (a, b); none for other mechanisms."""
    names = base.report_dtype.names or ()
    known = isinstance(base, Affine) and getattr(base, "_family", None) is None
    return sum(base.report_dtype[name].itemsize for name in names[:2]) if known else 0


def only_open(based: Reports, known: int) -> Reports:
    """Base records of which only so many bytes are left."""
    out = np.zeros(based.size, based.dtype)
    rows_of(out)[:, :known] = rows_of(based)[:, :known]
    return out


def revealed(u: UtilityOracle, reports: Reports) -> tuple[int, Ints]:
    """How many records hold a value alone, and how often each value is revealed, once all is known to be in order."""
    from hush.kernels.utility import revealed_values

    most = PAIR if u._may_pair else ALONE if u._others.size else PROTECTED
    counts = np.zeros(u.k, np.int64)
    width = u.base.report_dtype.itemsize
    rows = rows_of(reports)
    alone = revealed_values(reports["kind"], reports["value"], rows, u._open, width, most, u._inner, counts)
    if alone < 0:
        rule = "must be a base report, a value that is not sensitive, or both, and zero elsewhere"
        raise ReportError(message("reports", rule, "another", "check the spec they were made with"))
    return alone, counts


def apart(u: UtilityOracle, reports: Reports) -> tuple[Reports, Ints]:
    """Base records, and how often each value is revealed."""
    from hush.kernels.utility import unpack

    alone, counts = revealed(u, reports)
    based = np.empty(reports.size - alone, u.base.report_dtype)
    unpack(rows_of(reports), rows_of(based))
    return based, counts


def tally(u: UtilityOracle, reports: Reports) -> tuple[Ints, Ints, int]:
    """The base tally, how often each value is revealed, and how often alone."""
    forms = u.base.forms
    if isinstance(forms, LocalHashingForms) and not forms.m._family and forms.m.g <= TABLED:
        return _hashed_tally(u, forms.m, reports)
    based, counts = apart(u, reports)
    return u.base.tally(based), counts, reports.size - based.size


def split(u: UtilityOracle, tally: Ints) -> tuple[Ints, Ints, int]:
    """Of a tally: the base's, how often each value that is not sensitive was revealed, and how often alone."""
    others = u._others.size
    return tally[: -1 - others].reshape(u.base._empty().shape), tally[-1 - others : -1], int(tally[-1])


def check_tally(u: UtilityOracle, tally: Ints, n: int) -> None:
    """Values are revealed alone, or beside a base report where that may be; everybody else sends a base report."""
    base, revealed, alone = split(u, tally)
    possible.within(tally[-1:], 0, n if revealed.size else 0, "values sent alone")
    possible.within(revealed, 0, n, "revealed values")
    possible.summing(revealed, alone, n if u._may_pair else alone, "revealed values")
    u.base.check_tally(base, n - alone)


def _hashed_tally(u: UtilityOracle, base: LH, reports: Reports) -> tuple[Ints, Ints, int]:
    """With hash functions of people's own, all that a tally needs is read straight from the records."""
    from hush.kernels.hashing import support_counts
    from hush.kernels.utility import hash_intervals

    alone, counts = revealed(u, reports)
    based, (starts, sizes) = reports["base"], base._buckets
    columns = [np.empty(reports.size, np.uint32) for _ in range(3)]
    sent = hash_intervals(reports["kind"], based["a"], based["b"], based["bucket"], starts, sizes, *columns)
    if sent < 0:
        base.validate(based)  # says what is wrong
    factor, offset, length = (column[:sent] for column in columns)
    supported = np.zeros(base.k, np.int64)
    support_counts(factor, offset, length, base._keys, supported)
    return supported, counts, alone


def based_at(u: UtilityOracle, reports: Reports, places: Ints) -> Reports:
    """The base records at some places."""
    width = u.base.report_dtype.itemsize
    rows = rows_of(reports)[places, 1 : 1 + width]
    return np.ascontiguousarray(rows).reshape(-1).view(u.base.report_dtype)
