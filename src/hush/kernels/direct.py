"""Randomized response over 0..size-1, for values and for hash buckets.

Words of a report: one decides whether to keep; if not, `bounded` picks one of the others.
"""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel
from hush.kernels.words import bounded, word


@kernel
def respond(rng, values, size, keep, reject, out):
    """Write the kept value, or a uniform other one."""
    source = rng.bit_generator
    others = np.uint64(size - 1)
    for i in range(values.size):
        if word(source) < keep:
            out[i] = values[i]
        else:
            other = bounded(source, others, reject)
            out[i] = other + np.uint64(other >= np.uint64(values[i]))


@kernel
def histogram(reports, tally):
    """Count the reports by value."""
    for i in range(reports.size):
        tally[reports[i]] += 1
