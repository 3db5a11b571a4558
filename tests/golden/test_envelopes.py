"""Batches are the bytes that they were, and what is none is refused."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from hush.collect.envelope import Envelope, EnvelopeError, body, opened
from tests.golden.write_envelopes import CASES, FILE, WRONG

STORED = json.loads(FILE.read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[2] / "docs" / "batches.md"


def packed(case: dict[str, Any]) -> bytes:
    """The layout once more, as the page says it."""
    build = case["build"].encode()
    records = bytes.fromhex(case["records"])
    ids = b"".join(bytes.fromhex(case[name]) for name in ("collection", "spec_hash", "batch"))
    counts = struct.pack("<II", len(records) // case["size"], case["size"])
    return b"HSHB\x01\x00" + ids + struct.pack("<IB", case["period"], len(build)) + build + counts + records


def test_every_case_is_stored() -> None:
    assert STORED["good"].keys() == CASES.keys()
    assert STORED["wrong"].keys() == WRONG.keys()


@pytest.mark.parametrize("name", STORED["good"])
def test_bytes_are_what_they_were(name: str) -> None:
    case = STORED["good"][name]
    data = bytes.fromhex(case["bytes"])
    assert data == packed(case)
    read = Envelope.from_bytes(data)
    assert read.to_bytes() == data
    assert read.digest == hashlib.sha256(data).digest() == bytes.fromhex(case["digest"])
    fields = ("collection", "spec_hash", "batch", "period", "build", "size")
    assert {field: getattr(read, field) for field in fields} == {field: case[field] for field in fields}
    assert read.records == bytes.fromhex(case["records"])
    assert opened(bytes.fromhex(case["sent"])) == ("key-1", data)
    assert body("key-1", data).hex() == case["sent"]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_envelope_is_refused(name: str) -> None:
    with pytest.raises(EnvelopeError):
        Envelope.from_bytes(WRONG[name])


def test_the_example_on_the_page_is_an_envelope() -> None:
    block = PAGE.read_text(encoding="utf-8").partition("```text\n4853")[2].partition("```")[0]
    data = bytes.fromhex("4853" + "".join(re.split(r"\s{2,}", line)[0] for line in block.splitlines()))
    read = Envelope.from_bytes(data)
    assert (read.period, read.build, read.records) == (7, "shop-app/3.1", b"\x01\x03")
