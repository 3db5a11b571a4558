"""Reports that are a bit for each value: how they are laid out, counted and listed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hush.errors import ReportError, message
from hush.exact.enumeration import check_few
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.types import Ints, Reports


@dataclass(frozen=True, kw_only=True)
class BitRecords(FrequencyOracle):
    """What reports k bits, one for each value, whatever their law."""

    unit: ClassVar[int] = SCALE
    """What the probabilities of a one are out of."""

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """ceil(k/8) bytes; bit v is byte v>>3, bit v&7; unused bits are zero."""
        return np.dtype([("bits", "u1", (-(-self.k // 8),))])

    @property
    def denominator(self) -> int:
        """A unit for each bit."""
        return self.unit**self.k

    @property
    def bits(self) -> int:
        return self.k

    def bit_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """The bits of each report, shape (n, k)."""
        rows = np.ascontiguousarray(reports["bits"])
        return np.unpackbits(rows, axis=1, count=self.k, bitorder="little").view(np.bool_)

    def tally(self, reports: Reports) -> Ints:
        counts = positional_counts(np.ascontiguousarray(reports["bits"]))
        if counts[self.k :].any():
            raise ReportError(message("reports", f"must have zeros after bit {self.k - 1}", "ones", "check their spec"))
        return counts[: self.k]

    def outputs(self, public: Any = None) -> Reports:
        check_few(1 << self.k, self.k)
        numbers = np.arange(1 << self.k, dtype="<u8")
        out = np.empty(numbers.size, self.report_dtype)
        out["bits"] = numbers.view(np.uint8).reshape(-1, 8)[:, : -(-self.k // 8)]
        return out


def positional_counts(rows: npt.NDArray[np.uint8]) -> Ints:
    """How often each bit position is one, over rows of bytes; bit v is byte v>>3, bit v&7.

    Rows are laid end to end into longer ones of whole 64-byte lines, so that any width runs at full speed.
    """
    from hush.kernels.unary import positional

    n, width = rows.shape
    together = 64 // math.gcd(width, 64)
    whole = n - n % together
    counts = np.zeros((together * width, 8), np.int64)
    if whole:
        words = rows[:whole].reshape(-1).view("<u8").reshape(whole // together, -1)
        lanes = np.zeros((8, words.shape[1]), np.uint64)
        held = np.zeros((8, words.shape[1], 8), np.int64)
        positional(words, lanes, held)
        counts += held.transpose(1, 2, 0).reshape(-1, 8)
    total = counts.reshape(together, width * 8).sum(axis=0)
    rest = np.unpackbits(rows[whole:], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return np.asarray(total + rest, dtype=np.int64)
