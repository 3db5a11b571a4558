"""What a server keeps: the number of reports and an additive tally.

Aggregates of one spec form a commutative monoid: merging is addition, in any order and grouping. The bytes are
little-endian: 4 magic, u2 version, 32 spec hash, u8 n, u1 dimensions, u8 each, the tally as i8, and a CRC-32 of all
that comes before.

Bytes may come from anybody, and what a tally can be, only its mechanism knows. So an aggregate that a mechanism made
or checked carries that knowledge; one that comes from bytes, or from another process, is a stranger until
it is merged with such a one, checked, or estimated from, and an impossible one is refused there.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.estimation.possible import MOST_REPORTS, added

Rule = Callable[[npt.NDArray[np.int64], int], None]
"""Refuses a tally that a number of reports cannot give."""

_MAGIC = b"HUSH"
_VERSION = 1
_HEAD = struct.Struct("<4sH32sQB")


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The tally of n reports under one spec.

    Args:
        n: Number of reports.
        tally: Additive integers, their meaning known to the mechanism.
        spec_hash: SHA-256 of the spec's canonical JSON, in hex.
        rule: What its mechanism knows of tallies; None for a stranger's. It does not travel.
    """

    n: int
    tally: npt.NDArray[np.int64]
    spec_hash: str
    rule: Rule | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"n": self.n, "tally": self.tally, "spec_hash": self.spec_hash, "rule": None}

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
        rule = self.rule or more.rule
        for part in (self, more):
            if rule is not None and part.rule is None:
                rule(part.tally, part.n)
        if self.n + more.n > MOST_REPORTS:
            got = Unsaid(f"{self.n + more.n} reports")
            raise SpecError(message("aggregate", f"must count at most {MOST_REPORTS}", got, "merge fewer aggregates"))
        return Aggregate(self.n + more.n, added(self.tally, more.tally), self.spec_hash, rule)

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
        if not isinstance(data, (bytes, bytearray, memoryview)) or len(data) < _HEAD.size + 4 or data[:4] != _MAGIC:
            got = Unsaid("others" if isinstance(data, (bytes, bytearray, memoryview)) else f"a {type(data).__name__}")
            raise SpecError(message("aggregate", "must be bytes written by to_bytes", got, "check the file"))
        _, version, digest, n, dimensions = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise SpecError(message("aggregate version", f"must be {_VERSION}", version, "upgrade hush"))
        body, (checksum,) = data[:-4], struct.unpack("<I", data[-4:])
        if zlib.crc32(body) != checksum:
            raise SpecError(message("aggregate", "must be intact", f"{len(data)} bytes", "fetch it again"))
        at = _HEAD.size + 8 * dimensions
        shape = struct.unpack_from(f"<{dimensions}Q", body, _HEAD.size) if at <= len(body) else ()
        if n > MOST_REPORTS or not 1 <= dimensions <= 3 or math.prod(shape) * 8 != len(body) - at or 0 in shape:
            raise SpecError(message("aggregate", "must hold its whole tally", f"{len(data)} bytes", "fetch it again"))
        tally = np.frombuffer(body, "<i8", offset=at).astype(np.int64).reshape(shape)
        return cls(n, tally, digest.hex())


def belonging(aggregate: object, spec_hash: str, shape: tuple[int, ...], rule: Rule, *, least: int = 0) -> Aggregate:
    """The aggregate, no longer a stranger; refused if it is of another spec, or if no reports can give it.

    Args:
        aggregate: What is said to be one.
        spec_hash: That of the spec.
        shape: Of the spec's tallies.
        rule: Refuses a tally that a number of reports cannot give.
        least: How many reports it must hold.
    """
    if not isinstance(aggregate, Aggregate):
        remedy = "pass m.aggregate(reports)"
        raise ParameterError(message("aggregate", "must be an Aggregate", type(aggregate), remedy))
    if aggregate.spec_hash != spec_hash:
        due, remedy = f"must come from the spec {spec_hash[:12]}", "use the spec that made the reports"
        raise SpecError(message("aggregate", due, aggregate.spec_hash[:12], remedy))
    tally, n = aggregate.tally, aggregate.n
    if not isinstance(tally, np.ndarray) or tally.dtype != np.int64 or tally.shape != shape:
        got = Unsaid(f"{getattr(tally, 'dtype', type(tally).__name__)}, shape {np.shape(tally)}")
        due = f"must have a tally of shape {shape}, of 64-bit integers"
        raise SpecError(message("aggregate", due, got, "fetch it again"))
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n <= MOST_REPORTS:
        raise SpecError(message("aggregate", f"must count 0 to {MOST_REPORTS} reports", n, "fetch it again"))
    rule(tally, int(n))
    if n < least:
        raise ParameterError(message("aggregate", "must hold at least one report", 0, "collect reports first"))
    return Aggregate(int(n), tally, spec_hash, rule)
