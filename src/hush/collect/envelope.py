"""A batch of reports, as it travels and as it is kept: one self-describing envelope of bytes.

All integers are little-endian:

    4   magic, "HSHB"
    2   version, 1
    16  the collection's id
    32  SHA-256 of the spec's canonical JSON
    16  the batch's own id, random
    4   the period that its reports are of
    1   how long the client's build is, 0 to 64
        the client's build, UTF-8
    4   how many records there are, 1 to 100,000
    4   the size of one record
        the records, one after the other

What is sent is the key that lets it in, behind its length in one byte, and then the envelope; without a key, one zero
byte. The key is no part of the envelope, nor of its digest: the same batch may be sent again with a new key. A key is
at most 64 bytes long, so a body that begins with "{" is JSON: `{"key": …, "envelope": …}`, in base64.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
import struct
from dataclasses import dataclass
from functools import cached_property

from hush import strict_json
from hush.errors import HushError, Message, Unsaid, message

MAGIC = b"HSHB"
VERSION = 1
MOST_RECORDS = 100_000
LONGEST_BUILD = 64
LONGEST_KEY = 64
MOST_PERIODS = 1 << 31
_HEAD = struct.Struct("<4sH16s32s16sIB")
_COUNTS = struct.Struct("<II")
LONGEST_HEAD = 1 + LONGEST_KEY + _HEAD.size + LONGEST_BUILD + _COUNTS.size
"""What comes before the records, at most, the key included."""

_AROUND = 1024
"""Bytes that may stand around key and envelope in JSON."""
_MOST_QUOTES = 8
"""Around the names and values of a body in JSON."""
_FEW, _PIECE = 1 << 15, 2047

_BUILD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/ -]*|")


def longest_body(size: int) -> int:
    """Bytes of the longest body, for records of a size: one in JSON, whose envelope is in base64."""
    return (LONGEST_HEAD + MOST_RECORDS * size) * 4 // 3 + _AROUND


class EnvelopeError(HushError, ValueError):
    """Bytes that are no envelope; what they lack."""


@dataclass(frozen=True)
class Envelope:
    """A batch of reports of one period.

    Args:
        collection: The collection's id, 32 hexadecimal digits.
        spec_hash: SHA-256 of the collection's spec, 64 hexadecimal digits.
        batch: The batch's own id, 32 hexadecimal digits; `new_id()` draws one.
        period: The number of the period.
        build: Which release of a client made it, as in "shop-app/3.1".
        size: Bytes of one record.
        records: All of them, one after the other.
    """

    collection: str
    spec_hash: str
    batch: str
    period: int
    build: str
    size: int
    records: bytes

    def __post_init__(self) -> None:
        for name, digits in (("collection", 32), ("spec_hash", 64), ("batch", 32)):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) != digits or not re.fullmatch(r"[0-9a-f]*", value):
                rule = f"must be {digits} hexadecimal digits"
                raise EnvelopeError(message(name, rule, value, "use small letters, and all digits"))
        if not isinstance(self.period, int):
            raise EnvelopeError(_period(self.period))
        if self.size < 1 or len(self.records) % self.size or not 1 <= self.number <= MOST_RECORDS:
            rule = f"must be 1 to {MOST_RECORDS} whole records"
            got = Unsaid(f"{len(self.records)} bytes for records of {self.size}")
            raise EnvelopeError(message("records", rule, got, "send fewer at a time"))
        self._check()

    def _check(self) -> None:
        """What neither bytes nor lengths make certain."""
        if not 0 <= self.period < MOST_PERIODS:
            raise EnvelopeError(_period(self.period))
        if len(self.build) > LONGEST_BUILD or not _BUILD.fullmatch(self.build):
            rule = f"must be at most {LONGEST_BUILD} letters, digits, spaces or . _ + / -, a letter or digit first"
            raise EnvelopeError(message("build", rule, Unsaid("another text"), "use e.g. shop-app/3.1"))

    @property
    def number(self) -> int:
        """How many records there are."""
        return len(self.records) // self.size

    def to_bytes(self) -> bytes:
        """The envelope."""
        build = self.build.encode()
        ids = bytes.fromhex(self.collection), bytes.fromhex(self.spec_hash), bytes.fromhex(self.batch)
        head = _HEAD.pack(MAGIC, VERSION, *ids, self.period, len(build))
        return head + build + _COUNTS.pack(self.number, self.size) + self.records

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the envelope: what tells a batch that is sent again from another one."""
        return hashlib.sha256(self.to_bytes()).digest()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Envelope:
        """The envelope that `to_bytes` wrote, all of it and nothing more."""
        if len(data) < _HEAD.size or data[:4] != MAGIC:
            raise EnvelopeError(_lacking("must begin with HSHB and a whole head", data, "see the layout in the docs"))
        _, version, collection, spec_hash, batch, period, length = _HEAD.unpack_from(data)
        if version != VERSION:
            raise EnvelopeError(message("envelope version", f"must be {VERSION}", version, "upgrade the server"))
        at = _HEAD.size + length
        if length > LONGEST_BUILD or len(data) < at + _COUNTS.size:
            raise EnvelopeError(_lacking("must hold its build and its counts", data, "send it whole"))
        number, size = _COUNTS.unpack_from(data, at)
        if number < 1 or number > MOST_RECORDS or size < 1 or len(data) - at - _COUNTS.size != number * size:
            rule = "must be exactly as long as its counts say, with 1 to 100,000 records"
            raise EnvelopeError(_lacking(rule, data, "send it whole, and no more than that"))
        try:
            build = bytes(data[_HEAD.size : at]).decode()
        except UnicodeDecodeError:
            raise EnvelopeError(_lacking("must have a build in UTF-8", data, "use letters and digits")) from None
        made = object.__new__(cls)  # whose fields have the right shape, being cut from bytes
        made.__dict__.update(
            collection=collection.hex(),
            spec_hash=spec_hash.hex(),
            batch=batch.hex(),
            period=period,
            build=build,
            size=size,
            records=bytes(data[at + _COUNTS.size :]),
            digest=_sha256(data),
        )
        made._check()
        return made


def _sha256(data: bytes | memoryview) -> bytes:
    """SHA-256, of a few kilobytes in pieces: Python lets other threads run during longer ones, and waits for them."""
    if len(data) > _FEW:
        return hashlib.sha256(data).digest()
    found, view = hashlib.sha256(), memoryview(data)
    for at in range(0, len(data), _PIECE):
        found.update(view[at : at + _PIECE])
    return found.digest()


def new_id() -> str:
    """A random id of 128 bits."""
    return secrets.token_hex(16)


def body(key: str, envelope: bytes) -> bytes:
    """What is sent: the key, where there is one, and the envelope."""
    word = key.encode()
    _word(word)
    return bytes([len(word)]) + word + envelope


def opened(data: bytes) -> tuple[str, bytes | memoryview]:
    """The key and the envelope's bytes, of what was sent, binary or JSON; binary ones are not copied."""
    if data[:1] == b"{":
        return _from_json(data)
    if not data or data[0] > LONGEST_KEY or len(data) <= data[0]:
        raise EnvelopeError(
            _lacking("must begin with the length of its key, 0 to 64", data, "send one zero byte first")
        )
    return _word(data[1 : 1 + data[0]]), memoryview(data)[1 + data[0] :]


def _from_json(data: bytes) -> tuple[str, bytes]:
    remedy = 'send {"key": "…", "envelope": "…"}'
    if not _cheap(data):
        rule = "must have key and envelope and nothing else, in ASCII, with no escape but that of a slash"
        raise EnvelopeError(_lacking(rule, data, remedy))
    try:
        plain = strict_json.loads(data.decode())
    except (ValueError, RecursionError):
        raise EnvelopeError(_lacking("must be JSON where it begins with {", data, remedy)) from None
    if not isinstance(plain, dict) or not plain.keys() <= {"key", "envelope"}:
        raise EnvelopeError(_lacking("must have key and envelope and nothing else", data, remedy))
    key, text = plain.get("key", ""), plain.get("envelope")
    if not isinstance(key, str) or not isinstance(text, str):
        raise EnvelopeError(_lacking("must have an envelope in base64, and a key that is text", data, remedy))
    try:
        envelope = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise EnvelopeError(_lacking("must have an envelope in base64", data, remedy)) from None
    return _word(key.encode()), envelope


def _cheap(data: bytes) -> bool:
    """Whether JSON takes no more memory than its text. No key has been seen yet, and lists of lists take thirty times
    as much; one wide letter makes all of a text four times as wide.
    """
    nested = data.count(b'"') > _MOST_QUOTES or data.count(b"{") > 1 or b"[" in data
    return not nested and data.isascii() and data.count(b"\\") == data.count(b"\\/")


def _word(key: bytes) -> str:
    if len(key) > LONGEST_KEY or not key.isascii():
        rule, got = f"must be at most {LONGEST_KEY} characters of ASCII", Unsaid("another one")
        raise EnvelopeError(message("key", rule, got, "use the ingest key that the collection has"))
    return key.decode("ascii")


def _period(got: object) -> Message:
    rule, remedy = f"must be an integer in 0..{MOST_PERIODS - 1}", "take the one that the server hands out"
    return message("period", rule, got, remedy)


def _lacking(rule: str, data: bytes | memoryview, remedy: str) -> Message:
    return message("envelope", rule, Unsaid(f"{len(data)} bytes"), remedy)
