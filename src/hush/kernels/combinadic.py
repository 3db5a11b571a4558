"""Subsets of 0..m-1 with omega members as one integer, in as many bits as C(m, omega) needs; of several m, too.

Members s_1 < ... < s_omega have the number T(s_1, 1) + ... + T(s_omega, omega). With T = C, the binomial coefficient,
this is the combinatorial number system, and the numbers are 0, 1, ... without gaps. It needs arithmetic on numbers as
long as the report. So beyond 2^57 T is C rounded up to a mantissa of 64 bits (as in Immink and Janssen, "Error
propagation assessment of enumerative coding schemes", 1999): a term is one word, added at its place. All that is
needed is T(s+1, i) >= T(s, i) + T(s, i-1), which makes terms below T(s+1, i) sum to less than it, so the largest that
fits is the next member. T = A (1 + s/2^55), with A <= C too small by less than 2^-56 of it, has that: the factor grows
by more than A can err. Rounding wastes less than 2^-32 of the numbers; those in the gaps are refused.

A = s!/(i! (s-i)!) comes from tables of 64-bit mantissas of s! and 1/s!, which truncate; below 2^57 it errs by less than
1/4, and the nearest integer is C itself. Everything is integer arithmetic, alike on every machine.

Subsets of several sizes share one range: numbers of the first come first, then those of the second, and so on.

Where there are few, all T(s, i) stand in a table. Then a number is read by one walk over all s from the largest down,
at each of which it has the next member, or not: a step a value, where a search takes dozens a member.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.words import HALF, LOW, ONE, ZERO

_EXACT = np.uint64(1 << 57)
_GROWTH = np.uint64(55 - 32)
_WORD = np.uint64(64)
_DOUBT = 1e-6
"""More than logarithms err, to base 2, of factorials up to 2^22."""
_MOST_LISTED = 1 << 17
"""Weights that a table holds, at most: more would not stay near the processor."""


@njit(nogil=True)
def _high(a, b):
    """The upper word of a product."""
    a1, a0, b1, b0 = a >> HALF, a & LOW, b >> HALF, b & LOW
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    return a1 * b1 + (middle >> HALF) + (((middle & LOW) + a0 * b1) >> HALF)


@njit(nogil=True)
def _weight(s, i, up, down, place):
    """T(s, i) for i >= 1, as a word and how many bits it is shifted up."""
    if s <= i:
        return (ONE if s == i else ZERO), 0
    word = _high(up[s], _high(down[i], down[s - i]))
    shift = place[s] - place[i] - place[s - i] - 126
    if shift < 0:
        whole = word >> np.uint64(-shift)
        if whole < _EXACT:
            return whole + ((word >> np.uint64(-shift - 1)) & ONE), 0
    word >>= ONE
    shift += 1
    word += ((word >> HALF) * np.uint64(s)) >> _GROWTH
    if shift < 0:
        return word >> np.uint64(-shift), 0
    return word, shift


@njit(nogil=True)
def _shifted_words(word, shift):
    """The place of a shifted word in a row of words, and the two words it covers."""
    bits = np.uint64(shift & 63)
    above = word >> (_WORD - bits) if bits > ZERO else ZERO
    return shift >> 6, word << bits, above


@njit(nogil=True)
def _add(number, at, low, above):
    number[at] += low
    carry = ONE if number[at] < low else ZERO
    at += 1
    above += carry  # the upper part of a shifted word is never full
    while above > ZERO:
        number[at] += above
        above = ONE if number[at] < above else ZERO
        at += 1


@njit(nogil=True)
def _subtract(number, at, low, above):
    borrow = ONE if number[at] < low else ZERO
    number[at] -= low
    at += 1
    above += borrow
    while above > ZERO:
        borrow = ONE if number[at] < above else ZERO
        number[at] -= above
        above = borrow
        at += 1


@njit(nogil=True)
def _reaches(number, last, word, shift):
    """Whether a number, whose words after `last` are zero, is at least the shifted word."""
    at, bits = shift >> 6, np.uint64(shift & 63)
    if at + 1 < last:
        return True
    if at > last:
        return word == ZERO
    above = number[at + 1] if at < last else ZERO
    if above >> bits > ZERO:
        return True
    seen = number[at] >> bits
    if bits > ZERO:
        seen |= above << (_WORD - bits)
    return seen >= word


@njit(nogil=True)
def _below(number, row):
    """Whether a number is below another."""
    for t in range(number.size - 1, -1, -1):
        if number[t] != row[t]:
            return number[t] < row[t]
    return False


@njit(nogil=True, error_model="numpy")
def _largest(number, last, i, most, up, down, place, logs):
    """The largest s from i to `most` with T(s, i) <= number, not zero: by logarithms, if they leave no doubt."""
    below = np.float64(number[last - 1]) if last > 0 else 0.0
    goal = 64.0 * last + np.log2(np.float64(number[last]) + 2.0**-64 * below) + logs[i]
    s = most
    for _ in range(3):  # Newton's method
        if s <= i:
            break
        slope = logs[s] - logs[s - 1] - logs[s - i] + logs[s - i - 1]
        step = (logs[s] - logs[s - i] - goal) / slope
        s = min(most, max(i, s - np.int64(np.ceil(step))))
        if step * step < s:
            break
    while s > i and logs[s] - logs[s - i] > goal + _DOUBT:
        s -= 1
    while s < most and logs[s + 1] - logs[s + 1 - i] < goal - _DOUBT:
        s += 1
    if logs[s] - logs[s - i] > goal - _DOUBT:
        while s > i and not _reaches(number, last, *_weight(s, i, up, down, place)):
            s -= 1
    if s < most and logs[s + 1] - logs[s + 1 - i] < goal + _DOUBT:
        while s < most and _reaches(number, last, *_weight(s + 1, i, up, down, place)):
            s += 1
    return s


@njit(nogil=True)
def _walk(number, last, most, omega, words, shifts, members):
    """Write the members of a number below `most`, from the table of all weights; the last word that is left of it."""
    s = most
    for i in range(omega, 0, -1):
        while last > 0 and number[last] == ZERO:
            last -= 1
        s -= 1
        while s >= i and not _reaches(number, last, words[i, s], shifts[i, s]):
            s -= 1
        if s >= i:
            _subtract(number, *_shifted_words(words[i, s], shifts[i, s]))
        members[i - 1] = s
    return last


@kernel
def list_weights(tables, words, shifts):
    """Fill a table with T(s, i), by i and s."""
    up, down, place, _ = tables
    for i in range(1, words.shape[0]):
        for s in range(words.shape[1]):
            words[i, s], shifts[i, s] = _weight(s, i, up, down, place)


@kernel
def rank(which, subsets, omegas, starts, tables, listed, codes):
    """Write the number of each ascending subset, the first entries of its row, into a row of bytes, the lowest first.

    `which` says which of the sizes each row belongs to; `listed` are all weights, or none.
    """
    up, down, place, _ = tables
    words, shifts = listed
    number = np.zeros(starts.shape[1], np.uint64)
    for row in range(subsets.shape[0]):
        j = np.int64(which[row]) if which.size > 0 else 0
        number[:] = starts[j]
        for i in range(omegas[j]):
            s = np.int64(subsets[row, i])
            if words.size > 0:
                _add(number, *_shifted_words(words[i + 1, s], shifts[i + 1, s]))
            else:
                _add(number, *_shifted_words(*_weight(s, i + 1, up, down, place)))
        for b in range(codes.shape[1]):
            codes[row, b] = (number[b >> 3] >> np.uint64(8 * (b & 7))) & np.uint64(255)


@kernel
def unrank(codes, sizes, omegas, starts, tables, listed, which, subsets):
    """Write which size each number belongs to and its ascending subset, then zeros; False at a number that has none."""
    up, down, place, logs = tables
    words, shifts = listed
    number = np.zeros(starts.shape[1], np.uint64)
    for row in range(codes.shape[0]):
        number[:] = ZERO
        for b in range(codes.shape[1]):
            number[b >> 3] |= np.uint64(codes[row, b]) << np.uint64(8 * (b & 7))
        low, high = 0, sizes.size
        while high - low > 1:
            middle = (low + high) // 2
            if _below(number, starts[middle]):
                high = middle
            else:
                low = middle
        if not _below(number, starts[low + 1]):
            return False
        if which.size > 0:
            which[row] = low
        borrow = ZERO
        for t in range(number.size):
            due = starts[low, t]
            rest = number[t] - due
            less = ONE if number[t] < due or rest < borrow else ZERO
            number[t] = rest - borrow
            borrow = less
        s, last = sizes[low], number.size - 1
        if words.size > 0:
            last = _walk(number, last, s, omegas[low], words, shifts, subsets[row])
        for i in range(0 if words.size > 0 else omegas[low], 0, -1):
            while last > 0 and number[last] == ZERO:
                last -= 1
            most = s - 1
            s = i - 1
            if last > 0 or number[0] > ZERO:
                s = _largest(number, last, i, most, up, down, place, logs)
            if s >= i:
                _subtract(number, *_shifted_words(*_weight(s, i, up, down, place)))
            subsets[row, i - 1] = s
        for t in range(last + 1):
            if number[t] != ZERO:
                return False
        subsets[row, omegas[low] :] = 0
    return True


@lru_cache(maxsize=2)
def _tables(size):
    """Mantissas of s! and 1/s! below a size, the places of the former, and logarithms to base 2."""
    up, down, place = [], [], []
    factorial, shift = 1 << 127, -127
    for s in range(size):
        factorial *= max(s, 1)
        extra = factorial.bit_length() - 128
        factorial >>= extra
        shift += extra
        up.append(factorial >> 64)
        down.append(min((1 << 191) // factorial, (1 << 64) - 1))
        place.append(shift + 64)
    mantissas = np.array(up, np.uint64)
    places = np.array(place, np.int64)
    return mantissas, np.array(down, np.uint64), places, np.log2(mantissas) + places


class Combinadic:
    """The code of subsets of 0..m-1 with omega members, for one m or several.

    >>> code = Combinadic((5,), (2,))
    >>> code.bits, code.encode(np.empty(0, int), np.array([[0, 1], [3, 4]]), 1).tolist()
    (4, [[0], [9]])
    """

    def __init__(self, sizes: Sequence[int], omegas: Sequence[int]) -> None:
        self.sizes, self.omegas = np.array(sizes, np.int64), np.array(omegas, np.int64)
        self._tables = _tables(1 << max(sizes).bit_length())
        starts = [0]
        for m, omega in zip(sizes, omegas, strict=True):
            word, shift = _weight(m, omega, *self._tables[:3])
            starts.append(starts[-1] + (int(word) << int(shift)))
        self.bits = (starts[-1] - 1).bit_length()
        words = -(-starts[-1].bit_length() // 64) + 2
        self._starts = np.stack([np.frombuffer(each.to_bytes(8 * words, "little"), "<u8") for each in starts])
        listed = (max(omegas) + 1, max(sizes)) if max(sizes) * max(omegas) <= _MOST_LISTED else (0, 0)
        self._listed = np.zeros(listed, np.uint64), np.zeros(listed, np.int64)
        list_weights(self._tables, *self._listed)

    def encode(self, which: np.ndarray, subsets: np.ndarray, width: int) -> np.ndarray:
        """Numbers of ascending subsets, each in a row of `width` bytes; an empty `which` means the first size."""
        codes = np.zeros((len(subsets), width), np.uint8)
        rank(
            which, subsets, self.omegas, self._starts, self._tables, self._listed, codes[:, : 8 * self._starts.shape[1]]
        )
        return codes

    def decode(self, codes: np.ndarray, which: np.ndarray, subsets: np.ndarray) -> bool:
        """Write the subset of every number into the rows; False when one of them is not a subset's."""
        return bool(unrank(codes, self.sizes, self.omegas, self._starts, self._tables, self._listed, which, subsets))


@lru_cache(maxsize=64)
def combinadic(sizes: tuple[int, ...], omegas: tuple[int, ...]) -> Combinadic:
    """The code, made once."""
    return Combinadic(sizes, omegas)
