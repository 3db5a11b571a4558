"""Compiled draws of many integers from one law. Words of a draw: those of `bounded`, or one for an alias table."""

from __future__ import annotations

from typing import Any

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.words import ONE, bounded, word


@kernel
def uniform(rng: Any, size: Any, reject: Any, out: Any) -> None:
    """Fill `out` with uniform integers below `size`."""
    source = rng.bit_generator
    bound = np.uint64(size)
    for i in range(out.size):
        out[i] = bounded(source, bound, reject)


@kernel
def tabled(rng: Any, table: Any, low_bits: Any, out: Any) -> None:
    """Fill `out` with outcomes of an alias table from `hush.kernels.noise.alias_table`."""
    source = rng.bit_generator
    shift = np.uint64(low_bits)
    m = np.uint64(64 - low_bits)
    low = (ONE << m) - ONE
    for i in range(out.size):
        drawn = word(source)
        cell = drawn >> shift
        entry = table[cell]
        # All compared bits at the top, ones below: less than the entry exactly when less than its threshold.
        out[i] = cell if ((drawn << m) | low) < entry else entry & low
