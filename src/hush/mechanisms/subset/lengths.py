"""How many bits reports take that are subsets: exact, without huge integers where a logarithm will do."""

from __future__ import annotations

import math
from collections.abc import Sequence

_FEW = 32
"""Up to this many members, or values that are none, numbers of subsets are short and exact."""


def subset_bits(m: int, omega: int) -> int:
    """Bits that tell all subsets of omega out of m apart.

    >>> subset_bits(5, 2), subset_bits(2**20, 1), subset_bits(22_000, 2_622)
    (4, 20, 11588)
    """
    return joint_bits((m,), (omega,))


def joint_bits(moduli: Sequence[int], omegas: Sequence[int]) -> int:
    """Bits that tell all subsets apart, of several sizes.

    >>> joint_bits((7, 11, 5), (2, 4, 1))
    9
    """
    if all(min(w, m - w) <= _FEW for m, w in zip(moduli, omegas, strict=True)):
        return _exact(moduli, omegas)
    bits, error = _logarithm(moduli, omegas)
    return _exact(moduli, omegas) if abs(bits - round(bits)) <= error else math.ceil(bits)


def joint_bytes(moduli: Sequence[int], omegas: Sequence[int]) -> int:
    """Bytes of the number that `hush.kernels.combinadic` writes, whose range is larger by up to 2^-32 if it is long."""
    bits = joint_bits(moduli, omegas)
    if bits > 56 and bits % 8 == 0:
        bits = math.ceil(_logarithm(moduli, omegas)[0] + 1e-6)
    return max(1, -(-bits // 8))


def _exact(moduli: Sequence[int], omegas: Sequence[int]) -> int:
    return (sum(map(math.comb, moduli, omegas)) - 1).bit_length()


def _logarithm(moduli: Sequence[int], omegas: Sequence[int]) -> tuple[float, float]:
    """Of the number of subsets, to base 2, and how much it may be wrong by."""
    each = [
        (math.lgamma(m + 1) - math.lgamma(w + 1) - math.lgamma(m - w + 1)) / math.log(2)
        for m, w in zip(moduli, omegas, strict=True)
    ]
    top = max(each)
    error = 1e-9 + 1e-14 * math.lgamma(max(moduli) + 1)
    return top + math.log2(math.fsum(2 ** (bits - top) for bits in each)), error
