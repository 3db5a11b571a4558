"""Arithmetic in finite fields, as small tables for compiled code.

An element of the field of order p^e is a number below it whose digits in base p are the coefficients of a
polynomial, reduced by the Conway polynomial of that order (so the field is the same everywhere). In a prime field it
is the remainder itself. Vectors are numbers too, digit by digit in base q; where the field is small, products are
tabulated for several digits at a time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hush.analysis.projective import characteristic, points

Table = npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint64]

CONWAY = {
    4: 7, 8: 11, 16: 19, 32: 37, 64: 91, 128: 131, 256: 285, 512: 529, 1024: 1135, 9: 17, 27: 34, 81: 137, 243: 250,
    729: 908, 25: 47, 125: 143, 625: 747, 49: 94, 343: 641, 121: 200, 169: 327, 289: 564, 361: 705, 529: 1017,
    841: 1539, 961: 1863,
}  # fmt: skip
"""Order of a field that is not prime: its polynomial, whose coefficients are the digits in base p."""

_BLOCK = 256


class Field(NamedTuple):
    """What kernels need of a field; tables that a prime field does without are empty."""

    q: np.uint64
    differences: Table
    """[a, b] is a - b; empty for a prime field."""
    products: Table
    """[a, b] is the sum of the products of the digits of two blocks; empty for a prime beyond 256."""
    block: np.uint64
    """How many vectors a block of digits can be: the size of `products`, or q."""
    digits: int
    """Digits in a block."""
    flipped: Table
    """A block with its digits in reverse; empty where a block is one digit."""


class Space(NamedTuple):
    """A vector space over a field, with its projective points in order of rank."""

    field: Field
    t: int
    powers: Words
    """q^0 .. q^t, and further up to a block of digits."""
    starts: Words
    """How many points have fewer digits after their leading one than 0, 1 .. t."""


@lru_cache(maxsize=16)
def field(q: int) -> Field:
    """The field of a prime power order."""
    p = characteristic(q)
    prime = p == q
    differences = np.zeros((0, 0), np.uint16) if prime else _differences(q, p)
    if q > _BLOCK:
        products = np.zeros((0, 0), np.uint16) if prime else _powers_table(q, p)
        return Field(np.uint64(q), differences, products, np.uint64(q), 1, np.zeros(0, np.uint16))
    single = _remainders(q) if prime else _powers_table(q, p)
    products, digits = single, 1
    while products.shape[0] * q <= _BLOCK:
        products = _longer(products, single, differences, q)
        digits += 1
    return Field(np.uint64(q), differences, products, np.uint64(products.shape[0]), digits, _flipped(q, digits))


@lru_cache(maxsize=64)
def space(q: int, t: int) -> Space:
    """The geometry of t dimensions over the field of order q."""
    made = field(q)
    powers = np.array([q**i for i in range(max(t, made.digits) + 1)], np.uint64)
    starts = np.array([points(q, i) for i in range(t + 1)], np.uint64)
    return Space(made, t, powers, starts)


def _remainders(q: int) -> Table:
    """Products in a prime field."""
    return np.asarray(np.multiply.outer(np.arange(q), np.arange(q)) % q, np.uint16)


def _digits(numbers: npt.NDArray[Any], base: int, count: int) -> npt.NDArray[np.int64]:
    """Digits of numbers, the lowest first, along a new last axis."""
    return np.asarray(numbers[..., None] // base ** np.arange(count) % base, np.int64)


def _differences(q: int, p: int) -> Table:
    """Differences in a field that is not prime, digit by digit."""
    table = np.zeros((q, q), np.uint16)
    weight = 1
    while weight < q:
        digit = np.arange(q) // weight % p
        table += np.asarray(np.subtract.outer(digit, digit) % p * weight, np.uint16)
        weight *= p
    return table


def _powers_table(q: int, p: int) -> Table:
    """Products in a field that is not prime: every element but zero is a power of x."""
    top = q // p
    reduction = _digits(np.array(CONWAY[q] - q), p, q.bit_length())
    weights = p ** np.arange(reduction.size)
    powers = [1]
    for _ in range(q - 2):
        carry, rest = divmod(powers[-1], top)
        moved = (_digits(np.array(rest * p), p, reduction.size) - carry * reduction) % p
        powers.append(int(moved @ weights))
    logarithms = np.zeros(q, np.int64)
    logarithms[powers] = np.arange(q - 1)
    table = np.array(powers)[np.add.outer(logarithms, logarithms) % (q - 1)]
    table[0] = table[:, 0] = 0
    return np.asarray(table, np.uint16)


def _longer(block: Table, single: Table, differences: Table, q: int) -> Table:
    """The products of blocks with one more digit, the new one lowest: a sum is a difference from the negative."""
    size = block.shape[0]
    high = np.repeat(np.repeat(block, q, axis=0), q, axis=1)
    low = np.tile(single, (size, size))
    if differences.size:
        return differences[high, differences[0, low]]
    return np.asarray((high + low) % q, np.uint16)


def _flipped(q: int, digits: int) -> Table:
    """Blocks with their digits in reverse."""
    return np.asarray(_digits(np.arange(q**digits), q, digits)[:, ::-1] @ q ** np.arange(digits), np.uint16)
