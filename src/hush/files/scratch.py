"""Where rows wait: a temporary file that nobody else can open, read or find.

It has no name in its folder, so it is gone when the process is, however that ends. What is in it is encrypted, since
the disk keeps blocks of deleted files: AES-128 in counter mode, under a key from the operating system that stays in
memory and serves this file alone. A block's place in the file is its counter, and no place is written twice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.randomness import chunk_keys, keystream

_BLOCK = 16
_WORD = 8
_PART = 1 << 20
"""Bytes that are encrypted at a time, so that they stay in the processor's cache."""


class Place(NamedTuple):
    """Where some bytes lie in the file."""

    start: int
    size: int


class Scratch:
    """An encrypted file without a name, made when something is first put there.

    Args:
        folder: Where there is room for it; the system's folder of temporary files if left out.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = Path(tempfile.gettempdir()) if folder is None else folder
        self._key = chunk_keys(None, 1)[0]
        self._file: IO[bytes] | None = None  # unbuffered: closing a full one would try again
        self._end = 0

    def close(self) -> None:
        """Give the room back."""
        if self._file is not None:
            self._file.close()

    def append(self, data: Any) -> Place:
        """Put bytes there; what is read of them later may be a part."""
        plain = np.frombuffer(data, np.uint8)
        place = Place(self._end, plain.size)
        self._end += -(-place.size // _BLOCK) * _BLOCK  # whatever comes of it, no place is written twice
        with self._room() as file:
            file.seek(place.start)
            for at in range(0, place.size, _PART):
                rest = self._crypted(plain[at : at + _PART], place.start + at).data.cast("B")
                while rest:
                    rest = rest[file.write(rest) :]
        return place

    def read(self, place: Place) -> npt.NDArray[np.uint8]:
        """The bytes that were put there."""
        first = place.start // _BLOCK * _BLOCK
        with self._room() as file:
            file.seek(first)
            data = file.read(place.start - first + place.size)
        found = self._crypted(np.frombuffer(data, np.uint8), first).view(np.uint8)
        return found[place.start - first :][: place.size]

    def _crypted(self, data: npt.NDArray[np.uint8], start: int) -> npt.NDArray[np.uint64]:
        """Bytes from the start of a block on, filled up to whole words."""
        words = -(-data.size // _WORD)
        whole = data if data.size == words * _WORD else np.append(data, np.zeros(words * _WORD - data.size, np.uint8))
        return whole.view(np.uint64) ^ keystream(self._key, start // _BLOCK, words)

    @contextmanager
    def _room(self) -> Iterator[IO[bytes]]:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 (see close)
            yield self._file
        except OSError as error:
            rule = "must be a folder with room for a file without a name, in which rows wait to be shuffled"
            remedy = f"{error.strerror or error}, at {self._end:,} bytes; name another folder with --temporary"
            raise ParameterError(message("--temporary", rule, Unsaid(repr(str(self._folder))), remedy)) from None
