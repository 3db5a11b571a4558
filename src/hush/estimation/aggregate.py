"""What a server keeps: the number of reports and an additive tally.

Aggregates of one spec form a commutative monoid: merging is addition, in any order and grouping. The bytes are
little-endian: 4 magic, u2 version, 32 spec hash, u8 n, u1 dimensions, u8 each, the tally as i8, and a CRC-32 of all
that comes before.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush.errors import SpecError, Unsaid, message

_MAGIC = b"HUSH"
_VERSION = 1
_MOST = 2**62
_HEAD = struct.Struct("<4sH32sQB")


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The tally of n reports under one spec.

    Args:
        n: Number of reports.
        tally: Additive integers, their meaning known to the mechanism.
        spec_hash: SHA-256 of the spec's canonical JSON, in hex.
    """

    n: int
    tally: npt.NDArray[np.int64]
    spec_hash: str

    def __add__(self, more: Aggregate) -> Aggregate:
        if not isinstance(more, Aggregate):
            return NotImplemented
        if self.spec_hash != more.spec_hash or self.tally.shape != more.tally.shape:
            raise SpecError(
                message(
                    "aggregate",
                    f"must come from the spec {self.spec_hash[:12]}",
                    more.spec_hash[:12],
                    "merge only aggregates of one collection",
                )
            )
        return Aggregate(self.n + more.n, self.tally + more.tally, self.spec_hash)

    def __radd__(self, start: object) -> Aggregate:
        return self if start == 0 else NotImplemented  # what sum() starts from

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Aggregate)
            and (self.n, self.spec_hash) == (other.n, other.spec_hash)
            and np.array_equal(self.tally, other.tally)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """The aggregate as bytes, for files and the wire."""
        shape = self.tally.shape
        head = _HEAD.pack(_MAGIC, _VERSION, bytes.fromhex(self.spec_hash), self.n, len(shape))
        body = head + struct.pack(f"<{len(shape)}Q", *shape) + self.tally.astype("<i8").tobytes()
        return body + struct.pack("<I", zlib.crc32(body))

    @classmethod
    def from_bytes(cls, data: bytes) -> Aggregate:
        """The aggregate that `to_bytes` wrote; anything else raises SpecError."""
        if len(data) < _HEAD.size + 4 or data[:4] != _MAGIC:
            raise SpecError(
                message("aggregate", "must be bytes written by to_bytes", Unsaid("others"), "check the file")
            )
        _, version, digest, n, dimensions = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise SpecError(message("aggregate version", f"must be {_VERSION}", version, "upgrade hush"))
        body, (checksum,) = data[:-4], struct.unpack("<I", data[-4:])
        if zlib.crc32(body) != checksum:
            raise SpecError(message("aggregate", "must be intact", f"{len(data)} bytes", "fetch it again"))
        at = _HEAD.size + 8 * dimensions
        shape = struct.unpack_from(f"<{dimensions}Q", body, _HEAD.size) if at <= len(body) else ()
        if n > _MOST or not 1 <= dimensions <= 3 or math.prod(shape) * 8 != len(body) - at or 0 in shape:
            raise SpecError(message("aggregate", "must hold its whole tally", f"{len(data)} bytes", "fetch it again"))
        tally = np.frombuffer(body, "<i8", offset=at).astype(np.int64).reshape(shape)
        return cls(n, tally, digest.hex())
