"""How likely the best guess is right, given each report: the attack averaged over its own coin.

Under a uniform prior the best guess is any of the values that a report favours most, all alike. So given the report it
is right with probability one over their number if the true value is among them, and never otherwise. These kernels
count those values without a matrix of scores.
"""

from __future__ import annotations

import numpy as np

from hush.kernels.compiled import kernel

_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


@kernel
def of_bits(bits, values, k, out):
    """Unary reports favour the values whose bit is one; all values alike when none is."""
    for i in range(values.size):
        size = 0
        for j in range(bits.shape[1]):
            size += _ONES[bits[i, j]]
        if size == 0:
            out[i] = 1.0 / k
        else:
            own = (bits[i, values[i] >> 3] >> np.uint8(values[i] & 7)) & 1
            out[i] = own / size


@kernel
def of_members(subsets, values, out):
    """Subsets favour their members."""
    for i in range(values.size):
        own = False
        for j in range(subsets.shape[1]):
            own |= np.int64(subsets[i, j]) == values[i]
        out[i] = own / subsets.shape[1]


@kernel
def of_steps(steps, lowest, rank, values, out):
    """Noisy vectors favour the coordinates whose step has the highest rank."""
    k = steps.shape[1]
    for i in range(values.size):
        best = rank[steps[i, 0] - lowest]
        ties = 0
        for j in range(k):
            here = rank[steps[i, j] - lowest]
            if here > best:
                best = here
                ties = 0
            ties += here == best
        own = rank[steps[i, values[i]] - lowest] == best
        out[i] = own / ties
