"""Where random words come from.

A client's randomness is AES-128 in counter mode, keyed afresh from the operating system for every chunk of
values. Nothing is kept between two calls, so no process, thread or call can ever share or repeat a stream.
Seeded generators are for simulation and tests, and make the same stream of chunk keys on any number of threads.
"""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING

import numpy as np

from hush.errors import ParameterError, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

CHUNK = 65_536
"""Values that share one key: the unit of work, and of reproducibility."""

_KEY_BYTES = 16


def seeded(seed: int | Sequence[int]) -> np.random.Generator:
    """A reproducible generator, for simulation and tests; never for real clients.

    >>> int(seeded(7).integers(100)) == int(seeded(7).integers(100))
    True
    """
    whole = seed if isinstance(seed, (list, tuple)) else [seed]
    if not whole or not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) and s >= 0 for s in whole):
        raise ParameterError(message("seed", "must be a non-negative integer, or several", seed, "use e.g. 7"))
    return _generator(np.random.SeedSequence(whole).generate_state(2, np.uint64).tobytes())


def source(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator to draw from: the one given, or a new one keyed by the operating system."""
    return _generator(os.urandom(_KEY_BYTES)) if rng is None else _checked(rng)


def chunk_keys(rng: np.random.Generator | None, chunks: int) -> list[bytes]:
    """One key for each chunk: from the operating system, or from a seeded generator."""
    size = chunks * _KEY_BYTES
    whole = os.urandom(size) if rng is None else _checked(rng).bytes(size)
    return [whole[i : i + _KEY_BYTES] for i in range(0, size, _KEY_BYTES)]


def standing(rng: np.random.Generator, runs: int, keys: int) -> Iterator[np.random.Generator]:
    """The generator as it stands before each of so many runs, of which each draws so many chunk keys, and no more.

    So whoever does a run draws what it would have drawn after all those before it.

    >>> rng = seeded(7)
    >>> first, second = standing(seeded(7), 2, 3)
    >>> chunk_keys(rng, 3) == chunk_keys(first, 3), chunk_keys(rng, 3) == chunk_keys(second, 3)
    (True, True)
    """
    for _ in range(runs):
        yield copy.deepcopy(rng)
        chunk_keys(rng, keys)


def chunk_generator(key: bytes) -> np.random.Generator:
    """The generator of one chunk: AES in counter mode under this key, counter zero."""
    return _generator(key)


def keystream(key: bytes, block: int, words: int) -> npt.NDArray[np.uint64]:
    """Words of the stream under a key, from a block of two of them on: what encrypts, and what decrypts.

    >>> key = bytes(16)
    >>> bool((keystream(key, 3, 4) == keystream(key, 0, 10)[6:]).all())
    True
    """
    from randomgen import AESCounter

    return np.asarray(AESCounter(key=int.from_bytes(key, "little"), counter=block).random_raw(words), np.uint64)


def _generator(key: bytes) -> np.random.Generator:
    from randomgen import AESCounter

    return np.random.Generator(AESCounter(key=int.from_bytes(key, "little")))


def _checked(rng: np.random.Generator) -> np.random.Generator:
    if not isinstance(rng, np.random.Generator):
        raise ParameterError(
            message("rng", "must be a numpy Generator", rng, "pass hush.seeded(7), or leave it out to be secure")
        )
    return rng
