"""A generator that replays given words inside compiled code, and counts them; and reports made from such words.

What a browser makes from the same words must be the same bytes. Words that chance hardly ever brings are mixed in: a
threshold and its neighbours, halves that are equal, zeros and ones throughout.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import carray, cfunc, types
from randomgen import UserBitGenerator

from hush.randomness import keystream

_MOST = 1 << 20  # words and what stands before them: how many are taken, a half that is left, whether one is
_HEAD = 3


@cfunc(types.uint64(types.voidptr))
def _word(at: Any) -> Any:
    held = carray(at, (_MOST,), np.uint64)
    held[0] += np.uint64(1)
    return held[held[0] + np.uint64(_HEAD - 1)]


@cfunc(types.uint32(types.voidptr))
def _half(at: Any) -> Any:
    """The lower half of a word, then its upper one, as the generators of numpy have it."""
    held = carray(at, (_MOST,), np.uint64)
    if held[2]:
        held[2] = np.uint64(0)
        return np.uint32(held[1])
    held[0] += np.uint64(1)
    whole = held[held[0] + np.uint64(_HEAD - 1)]
    held[1], held[2] = whole >> np.uint64(32), np.uint64(1)
    return np.uint32(whole & np.uint64(0xFFFFFFFF))


@cfunc(types.double(types.voidptr))
def _no_number(at: Any) -> Any:
    return np.nan


class Replayed:
    """Words, one after the other. `rng` hands them out, `taken` says how many it has."""

    def __init__(self, words: Sequence[int]) -> None:
        self._held = np.zeros(_MOST, np.uint64)
        self._held[_HEAD : _HEAD + len(words)] = np.array(words, np.uint64)
        at = ctypes.c_void_p(self._held.ctypes.data)
        self.rng = np.random.Generator(UserBitGenerator.from_cfunc(_word, _word, _half, _no_number, at))

    @property
    def taken(self) -> int:
        """How many words have been used; a half that is left is not used."""
        assert not self._held[2]
        return int(self._held[0])


def mixed(name: str, thresholds: Sequence[int], length: int) -> list[int]:
    """Uniform words of a stream with this name, every eighth replaced by one that is rare."""
    key = hashlib.sha256(name.encode()).digest()[:16]
    words = [int(word) for word in keystream(key, 0, length)]
    near = (t + step for t in thresholds for step in (-1, 0, 1, 1 << 32))
    rare = [word % 2**64 for word in (0, 2**64 - 1, 2**32 - 1, 2**63, *near)]
    chosen = keystream(key, length, length)
    return [rare[int(c >> np.uint64(8)) % len(rare)] if c % 8 == 0 else w for w, c in zip(words, chosen, strict=True)]


def undecided(threshold: int) -> list[int]:
    """Words under which 64 bits stay open to the last: each is as the threshold's own bit."""
    return [2**64 - 1 if threshold >> level & 1 else 0 for level in range(63, -1, -1)]


def reports(m: Any, values: Sequence[float], words: Sequence[int]) -> tuple[list[str], int]:
    """The report of each value, one after the other, in hex; and how many words they took."""
    source = Replayed(words)
    return [made.tobytes().hex() for made in _made(m, values, source.rng)], source.taken


def _made(m: Any, values: Sequence[float], rng: np.random.Generator) -> Iterator[np.ndarray[Any, Any]]:
    if m.kind == "longitudinal":
        client = m.client(rng=rng)
        yield from (np.asarray(client.report(value)) for value in values)
    elif m.kind == "numeric":
        yield from (m.sample(*m.ticks([value]), rng) for value in values)
    else:
        yield from (m.sample(np.array([value]), rng) for value in values)
