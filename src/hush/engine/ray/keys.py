"""The keys of one job that writes: drawn once, kept in memory, and from then on derived.

A task that is done again must make the very same reports, or what two attempts leave behind tells more of a person than
one report does. So its randomness is AES in counter mode under a key that follows from the job's secret and from what
the task is about. The secret comes from the operating system, never leaves the driver, and is written nowhere; a task
is told its own key alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from hush.randomness import keystream

_SECRET, _KEY, _NONCE, _WORD = 32, 16, 16, 8

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class JobKeys:
    """Keys by what they are for; nothing that is printed or pickled of a job may hold its secret."""

    _secret: bytes = field(default_factory=lambda: os.urandom(_SECRET), repr=False)

    def of(self, purpose: str, number: int = 0) -> bytes:
        """The key of one thing, which tells nothing of any other: a keyed hash of what it is for.

        >>> keys = JobKeys()
        >>> keys.of("piece", 1) == keys.of("piece", 1), keys.of("piece", 1) == keys.of("bucket", 1)
        (True, False)
        """
        said = number.to_bytes(8, "little")
        return blake2b(said, key=self._secret, person=purpose.encode(), digest_size=_KEY).digest()

    def __getstate__(self) -> None:
        raise TypeError("the keys of a job stay with whoever began it")


def sealed(key: bytes, data: Bytes) -> Bytes:
    """Bytes that only holders of the key can read: nodes may keep them on a disk.

    A nonce of its own makes the key of each seal another one, so that nothing is ever sealed twice under the same.
    """
    nonce = os.urandom(_NONCE)
    return np.concatenate([np.frombuffer(nonce, np.uint8), _crypted(key, nonce, data)])


def unsealed(key: bytes, data: Bytes) -> Bytes:
    """What was sealed.

    >>> key = bytes(16)
    >>> unsealed(key, sealed(key, np.arange(21, dtype=np.uint8))).tolist() == list(range(21))
    True
    """
    return _crypted(key, data[:_NONCE].tobytes(), data[_NONCE:])


def _crypted(key: bytes, nonce: bytes, data: Bytes) -> Bytes:
    own = blake2b(nonce, key=key, person=b"seal", digest_size=_KEY).digest()
    return data ^ keystream(own, 0, -(-data.size // _WORD)).view(np.uint8)[: data.size]
