"""Compiled inner loops of longitudinal protocols: fresh noise on kept bits, and where a value is among the asked."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.unary import sliced
from hush.kernels.words import ZERO

EIGHT = np.uint64(8)


@kernel
def refresh(rng, kept, k, p, q, out):
    """Write k bits for each row of kept bits: a one stays with probability p / 2^64, a zero turns with q / 2^64.

    Words of a row: for each group of 64 bits, those that the ones need, then those that the zeros need.
    """
    source = rng.bit_generator
    width = kept.shape[1]
    groups = (k + 63) // 64
    last = ~ZERO >> np.uint64(-k % 64)
    for i in range(kept.shape[0]):
        for group in range(groups):
            wanted = last if group == groups - 1 else ~ZERO
            held = ZERO
            end = min(8 * group + 8, width)
            for byte in range(end - 1, 8 * group - 1, -1):
                held = (held << EIGHT) | np.uint64(kept[i, byte])
            drawn = sliced(source, p, held & wanted) | sliced(source, q, ~held & wanted)
            for byte in range(8 * group, end):
                out[i, byte] = drawn & np.uint64(255)
                drawn >>= EIGHT


@kernel
def positions(asked, values, out):
    """Where each value of a row stands in that row's ascending list; the list's length where it does not."""
    size = asked.shape[1]
    for i in range(values.shape[0]):
        for t in range(values.shape[1]):
            low, high = 0, size
            while low < high:
                middle = (low + high) // 2
                if np.int64(asked[i, middle]) < values[i, t]:
                    low = middle + 1
                else:
                    high = middle
            out[i, t] = low if low < size and np.int64(asked[i, low]) == values[i, t] else size
