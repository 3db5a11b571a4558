"""The envelope: every byte matters, and nothing but an envelope is one."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from hush.collect.envelope import MOST_RECORDS, Envelope, EnvelopeError, body, longest_body, new_id, opened

GOOD: dict[str, Any] = {
    "collection": "00" * 16,
    "spec_hash": "11" * 32,
    "batch": "22" * 16,
    "period": 3,
    "build": "app/1",
    "size": 2,
    "records": b"abcd",
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("collection", "00" * 15),
        ("collection", "0G" * 16),
        ("collection", "AB" * 16),
        ("spec_hash", ""),
        ("batch", None),
        ("period", -1),
        ("period", 2**31),
        ("period", 1.0),
        ("build", "b" * 65),
        ("build", "line\nbreak"),
        ("build", " app"),
        ("size", 0),
        ("size", 3),
        ("records", b""),
        ("records", bytes(2 * MOST_RECORDS + 2)),
    ],
)
def test_a_field_that_breaks_its_rule_is_named(field: str, value: object) -> None:
    with pytest.raises(EnvelopeError) as caught:
        Envelope(**{**GOOD, field: value})
    assert caught.value.parameter in {field, "records"}
    assert caught.value.remedy


def test_the_most_records_are_taken() -> None:
    made = Envelope(**{**GOOD, "records": bytes(2 * MOST_RECORDS)})
    assert Envelope.from_bytes(made.to_bytes()).number == MOST_RECORDS


def test_every_prefix_and_every_longer_text_is_refused() -> None:
    data = Envelope(**GOOD).to_bytes()
    for length in range(len(data)):
        with pytest.raises(EnvelopeError):
            Envelope.from_bytes(data[:length])
    with pytest.raises(EnvelopeError):
        Envelope.from_bytes(data + b"x")


def test_every_changed_byte_is_refused_or_is_another_envelope_with_another_digest() -> None:
    made = Envelope(**GOOD)
    data = made.to_bytes()
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        try:
            read = Envelope.from_bytes(changed)
        except EnvelopeError:
            continue
        assert read != made
        assert read.digest != made.digest
        assert read.to_bytes() == changed


@pytest.mark.parametrize("key", ["", "k", "k" * 64])
def test_the_key_stands_before_the_envelope_and_is_no_part_of_it(key: str) -> None:
    data = Envelope(**GOOD).to_bytes()
    assert opened(body(key, data)) == (key, data)
    plain = {"envelope": base64.b64encode(data).decode(), **({"key": key} if key else {})}
    assert opened(json.dumps(plain).encode()) == (key, data)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x41" + b"k" * 65,
        b"\x05key",
        b"{",
        b"{}",
        b"[]",
        b'{"envelope": 1}',
        b'{"envelope": "*"}',
        b'{"envelope": "AA==", "more": 1}',
        b'{"envelope": "AA==", "key": 5}',
        b'{"envelope": "AA==", "envelope": "AA=="}',
        b'{"envelope": "AA==", "key": "' + b"k" * 65 + b'"}',
        b"{" * 100_000,
        b"\x02\xff\xff",
    ],
)
def test_what_was_not_sent_that_way_is_refused(sent: bytes) -> None:
    with pytest.raises(EnvelopeError) as caught:
        Envelope.from_bytes(opened(sent)[1])
    assert caught.value.remedy


def test_a_key_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(EnvelopeError, match="64"):
        body("k" * 65, b"")


def test_ids_are_new() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000


def test_arbitrary_bytes_are_read_as_themselves_or_refused() -> None:
    """Mutations of good envelopes; whatever is taken is written back byte for byte."""
    rng = random.Random(5)
    taken = 0
    for _ in range(5000):
        data = bytearray(Envelope(**GOOD).to_bytes())
        for _ in range(rng.randrange(3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        try:
            read = Envelope.from_bytes(bytes(data))
        except EnvelopeError:
            continue
        taken += 1
        assert read.to_bytes() == bytes(data)
    assert taken > 500


@pytest.mark.parametrize(
    "data",
    [
        b'{"envelope":[' + b"[]," * 10_000 + b"[]]}",
        b"{" + b",".join(b'"%x":1' % i for i in range(10_000)) + b"}",
        b'{"envelope":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        b'{"envelope":"' + b"A" * 10_000 + b'\\ud83d\\ude00"}',
        b'{"envelope":"' + b"A" * 10_000 + "😀".encode() + b'"}',
    ],
)
def test_json_that_would_cost_more_than_its_text_is_not_even_parsed(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(text: str) -> None:
        raise AssertionError("it was parsed")

    monkeypatch.setattr("hush.strict_json.loads", parsed)
    with pytest.raises(EnvelopeError, match="nothing else"):
        opened(data)


def test_slashes_may_be_escaped_as_some_languages_do() -> None:
    envelope = base64.b64decode("//8/" * 8)
    assert opened(b'{"envelope": "' + b"\\/\\/8\\/" * 8 + b'"}') == ("", envelope)


def test_the_longest_body_is_the_longest_envelope_in_json() -> None:
    data = Envelope("0" * 32, "1" * 64, "2" * 32, 3, "b" * 64, 2, bytes(200_000)).to_bytes()
    whole = {"key": "k" * 64, "envelope": base64.b64encode(data).decode()}
    assert len(json.dumps(whole)) <= longest_body(2) < len(data) * 1.4
