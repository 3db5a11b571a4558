"""Byte vectors: reports, aggregates and specs of earlier versions are still made and read the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hush
from tests.golden.write_vectors import FILE, VALUES, shared

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
NAMES = [name for name in VECTORS if name != "shared"]


def test_every_mechanism_has_a_vector() -> None:
    assert {name for name in hush.registry() if ":" not in name} <= set(NAMES)


def test_words_and_keys() -> None:
    assert shared() == VECTORS["shared"]


def test_words_are_aes_in_counter_mode() -> None:
    """FIPS-197 appendix C.1: the key 00..0f; here the counter is zero, checked with another implementation."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(bytes(range(16))), modes.ECB()).encryptor()
    stream = b"".join(encryptor.update(block.to_bytes(16, "little")) for block in range(2))
    words = [f"{word:016x}" for word in np.frombuffer(stream, "<u8")]
    assert words == VECTORS["shared"]["words"]


@pytest.mark.parametrize("name", NAMES)
def test_vector(name: str) -> None:
    stored = VECTORS[name]
    spec = hush.Spec.from_json(stored["spec"])
    assert spec.to_json() == stored["spec"]
    assert spec.hash == stored["hash"]
    made = spec.privatize(spec.domain.decode(VALUES), rng=hush.seeded(7))
    assert [report.tobytes().hex() for report in made] == stored["reports"]
    read = np.frombuffer(bytes.fromhex("".join(stored["reports"])), spec.mechanism.report_dtype)
    aggregate = hush.Aggregate.from_bytes(bytes.fromhex(stored["aggregate"]))
    assert spec.aggregate(read) == aggregate
    assert aggregate.to_bytes().hex() == stored["aggregate"]
    assert np.allclose(spec.estimate(aggregate).frequencies, stored["frequencies"], rtol=1e-12)
