"""Hash functions for fake reports: those that send all targets to one interval of hashes."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.analysis import manipulation
from hush.mechanisms.fakes import CELLS
from hush.mechanisms.hashing.hashed import RING, Hashed, Words
from hush.types import Values

_TRIES = 1 << 16  # hash functions to look at before settling for the one that sends all values to one hash


def gathered(m: Hashed, length: int, targets: Values, size: int, rng: np.random.Generator) -> tuple[Words, Words]:
    """Hash functions x -> a x + shift that send the keys of all targets below `length`.

    Random ones are looked at first, since they look ordinary. If none will do, a = 0 sends all keys to one hash.
    """
    rate = manipulation.gathering(length / RING, targets.size)
    tries = min(_TRIES, CELLS // targets.size)
    a, first, span = (np.zeros(1, np.int64) for _ in range(3))
    if rate * tries >= 1:
        tried = rng.integers(0, RING, min(tries, 64 + math.ceil(4 * size / rate)))
        starts, spans = arcs(tried.astype(np.uint32)[:, None] * m._keys[targets])
        fits = spans < length
        if fits.any():
            a, first, span = tried[fits], starts[fits], spans[fits]
    pick = rng.integers(0, a.size, size)
    room = rng.integers(0, length - span[pick])
    return a[pick].astype(np.uint32), ((room - first[pick]) % RING).astype(np.uint32)


def arcs(hashes: npt.NDArray[np.uint32]) -> tuple[Values, Values]:
    """Where the shortest arc of the ring with all hashes of a row starts, and how far from there it ends."""
    ordered = np.sort(hashes, axis=1).astype(np.int64)
    following = np.append(ordered[:, 1:], ordered[:, :1] + RING, axis=1)
    widest = np.argmax(following - ordered, axis=1)[:, None]
    before, after = (np.take_along_axis(side, widest, axis=1)[:, 0] for side in (ordered, following))
    return after % RING, RING - (after - before)
