"""The combinatorial number system: a subset of 0..m-1 with omega members as one integer below C(m, omega).

Members s_1 < ... < s_omega have the number C(s_1, 1) + ... + C(s_omega, omega), so the integers up to C(m, omega) - 1
are all used, and ceil(log2 C(m, omega)) bits are enough. An integer is written little-endian, in whole bytes.

Both directions walk s down from m-1 with B = C(s, i), i members still to place: B is compared with or added to the
number, then becomes C(s-1, i-1) = B i/s or C(s-1, i) = B (s-i)/s. B is an array of 32-bit limbs; the division is
exact, so it is a multiplication by the inverse of the odd part of s, from the lowest limb up, and a shift.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit

from hush.kernels.words import HALF, LOW, ONE, ZERO

TOP = np.uint64(63)


@njit(nogil=True)
def _scale(limbs, length, factor, odd, inverse, shift):
    """Multiply by factor, divide by odd times 2^shift, exactly; the new number of limbs."""
    carry, borrow = ZERO, ZERO
    for t in range(length):
        product = limbs[t] * factor + carry
        carry = product >> HALF
        rest = (product & LOW) - borrow
        quotient = ((rest & LOW) * inverse) & LOW
        borrow = ((quotient * odd) >> HALF) + (rest >> TOP)
        limbs[t] = quotient
    limbs[length] = (((carry - borrow) & LOW) * inverse) & LOW
    length += 1
    if shift > ZERO:
        for t in range(length - 1):
            limbs[t] = ((limbs[t] >> shift) | (limbs[t + 1] << (HALF - shift))) & LOW
        limbs[length - 1] >>= shift
    while length > 0 and limbs[length - 1] == ZERO:
        length -= 1
    return length


@njit(nogil=True)
def _less(number, limbs, length):
    """Whether the number is below the limbs (it may have more limbs than they, all to be looked at)."""
    for t in range(number.size - 1, length - 1, -1):
        if number[t] != ZERO:
            return False
    for t in range(length - 1, -1, -1):
        if number[t] != limbs[t]:
            return number[t] < limbs[t]
    return False


@njit(nogil=True)
def _add(number, limbs, length):
    carry = ZERO
    t = 0
    while t < length or carry != ZERO:
        total = number[t] + carry
        if t < length:
            total += limbs[t]
        number[t] = total & LOW
        carry = total >> HALF
        t += 1


@njit(nogil=True)
def _subtract(number, limbs, length):
    borrow = ZERO
    t = 0
    while t < length or borrow != ZERO:
        total = number[t] - borrow
        if t < length:
            total -= limbs[t]
        number[t] = total & LOW
        borrow = total >> TOP
        t += 1


@njit(nogil=True, cache=True)
def rank(subsets, m, omega, start, odd, inverse, shift, codes):
    """Write the number of each ascending subset, the first omega entries of its row, into a row of bytes."""
    size = start.size
    walking, number = np.zeros(size + 1, np.uint64), np.zeros(size + 1, np.uint64)
    for i in range(subsets.shape[0]):
        walking[:size] = start
        number[:] = ZERO
        length = size
        while length > 0 and walking[length - 1] == ZERO:
            length -= 1
        left, s = omega, m - 1
        while left > 0 and length > 0:
            if np.int64(subsets[i, left - 1]) == s:
                _add(number, walking, length)
                factor = np.uint64(left)
                left -= 1
            else:
                factor = np.uint64(s - left)
            length = _scale(walking, length, factor, odd[s], inverse[s], shift[s]) if factor > ZERO else 0
            s -= 1
        for b in range(codes.shape[1]):
            limb = b >> 2
            codes[i, b] = (number[limb] >> np.uint64(8 * (b & 3))) & np.uint64(255) if limb <= size else ZERO


@njit(nogil=True, cache=True)
def unrank(codes, m, omega, start, total, odd, inverse, shift, subsets):
    """Write the ascending subset of each number, then zeros; False when a number is C(m, omega) or more."""
    size = start.size
    walking, number = np.zeros(size + 1, np.uint64), np.zeros(max(size + 1, (codes.shape[1] + 3) // 4), np.uint64)
    for i in range(codes.shape[0]):
        walking[:size] = start
        number[:] = ZERO
        for b in range(codes.shape[1]):
            number[b >> 2] |= np.uint64(codes[i, b]) << np.uint64(8 * (b & 3))
        if not _less(number, total, total.size):
            return False
        length = size
        while length > 0 and walking[length - 1] == ZERO:
            length -= 1
        left, s = omega, m - 1
        while left > 0 and length > 0:
            if _less(number, walking, length):
                factor = np.uint64(s - left)
            else:
                _subtract(number, walking, length)
                subsets[i, left - 1] = s
                factor = np.uint64(left)
                left -= 1
            length = _scale(walking, length, factor, odd[s], inverse[s], shift[s]) if factor > ZERO else 0
            s -= 1
        for j in range(left):
            subsets[i, j] = j
        subsets[i, omega:] = 0
    return True


class Combinadic:
    """The code of subsets of 0..m-1 with omega members.

    >>> code = Combinadic(5, 2)
    >>> code.bits, code.encode(np.array([[0, 1], [3, 4]]), 1).tolist()
    (4, [[0], [9]])
    """

    def __init__(self, m: int, omega: int) -> None:
        total = math.comb(m, omega)
        self.m, self.omega = m, omega
        self.bits = (total - 1).bit_length()
        size = max(1, -(-total.bit_length() // 32))
        self._total = _limbs(total, size)
        self._start = _limbs(math.comb(m - 1, omega), size)
        steps = np.arange(m, dtype=np.uint64)
        steps[0] = 1
        self._shift = np.bitwise_count((steps & (~steps + ONE)) - ONE).astype(np.uint64)
        self._odd = steps >> self._shift
        inverse = self._odd.copy()  # right modulo 8; every step doubles the bits that are right
        for _ in range(4):
            inverse = (inverse * ((np.uint64(2) - self._odd * inverse) & LOW)) & LOW
        self._inverse = inverse

    def encode(self, subsets: np.ndarray, width: int) -> np.ndarray:
        """Numbers of ascending subsets, each in a row of `width` bytes."""
        codes = np.empty((len(subsets), width), np.uint8)
        rank(subsets, self.m, self.omega, self._start, self._odd, self._inverse, self._shift, codes)
        return codes

    def decode(self, codes: np.ndarray, subsets: np.ndarray) -> bool:
        """Write the subset of every number into the rows; False when one of them is not a subset's."""
        known = self._start, self._total, self._odd, self._inverse, self._shift
        return bool(unrank(codes, self.m, self.omega, *known, subsets))


@lru_cache(maxsize=256)
def combinadic(m: int, omega: int) -> Combinadic:
    """The code, made once."""
    return Combinadic(m, omega)


def _limbs(number: int, size: int) -> np.ndarray:
    return np.frombuffer(number.to_bytes(4 * size, "little"), "<u4").astype(np.uint64)
