"""Prime numbers."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt


@lru_cache(maxsize=8)
def primes(most: int) -> npt.NDArray[np.int64]:
    """Primes up to a number, by the sieve of Eratosthenes.

    >>> primes(20).tolist()
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    sieve = np.ones(most + 1, np.bool_)
    sieve[:2] = False
    for i in range(2, math.isqrt(most) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    found = np.flatnonzero(sieve)
    found.setflags(write=False)
    return found
