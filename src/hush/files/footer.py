"""A long value in the metadata of a Parquet file, written piece by piece: Arrow would hold four copies of it.

A Parquet file ends in its footer, the footer's length in four bytes, and four letters. The footer is Thrift in the
compact protocol, where a text is its length, in groups of seven bits, and then its bytes; nothing in it tells where
something after the text stands. So a short mark can stand for the value while Arrow writes the file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hush.errors import ParameterError, message

MOST = (1 << 31) - 1
"""The most bytes of a footer, and of a text in it, that readers take."""
_LENGTH, _MAGIC = 4, b"PAR1"
_TAIL = _LENGTH + len(_MAGIC)


def fill(path: Path, mark: bytes, pieces: Sequence[bytes]) -> None:
    """Put a value, in pieces, where the mark stands: a value of the metadata, which stands nowhere else."""
    with path.open("r+b") as file:
        file.seek(-_TAIL, os.SEEK_END)
        size = int.from_bytes(file.read(_LENGTH), "little")
        start = file.seek(-_TAIL - size, os.SEEK_END)
        before, after = file.read(size).split(_varint(len(mark)) + mark)
        value = [_varint(sum(map(len, pieces))), *pieces]
        whole = len(before) + sum(map(len, value)) + len(after)
        if whole > MOST:
            rule, remedy = f"must take at most {MOST:,} bytes in a file of reports", "shorten its labels"
            raise ParameterError(message("spec", rule, whole, remedy))
        file.seek(start)
        for part in (before, *value, after, whole.to_bytes(_LENGTH, "little"), _MAGIC):
            file.write(part)
        file.truncate()


def _varint(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first, each but the last with a bit more."""
    groups = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
