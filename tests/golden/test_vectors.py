"""Byte vectors: reports, aggregates and specs of this version and of earlier ones are still made and read the same."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError, SpecError
from tests.golden.write_vectors import FILE, OLD_FILE, VALUES, shared, spec_of

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
OLD_VECTORS = json.loads(OLD_FILE.read_text(encoding="utf-8"))
OLD_SPECS = json.loads(Path(__file__).with_name("specs-0.1.json").read_text(encoding="utf-8"))
NAMES = [name for name in VECTORS if name != "shared"]
SAID = {"ASS": "omega", "AUE": "p", "ALH": "g", "ATHE": "theta", "OLH": "g", "AOLH": "g", "AGM": "scale"}
"""What version 0.1 left unsaid."""


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
    assert_travels(VECTORS[name])
    assert spec_of(name).to_json() == VECTORS[name]["spec"]  # so what it chooses here, it chose there


@pytest.mark.parametrize("name", [name for name in OLD_VECTORS if name != "shared"])
def test_vector_of_version_0_1(name: str) -> None:
    assert_travels(OLD_VECTORS[name])


def assert_travels(stored: dict[str, Any]) -> None:
    """A spec is read as it was written, makes the same reports, and reads those and their aggregate."""
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


@pytest.mark.parametrize(("written", "due"), OLD_SPECS["mechanisms"])
def test_spec_of_version_0_1(written: str, due: str) -> None:
    spec = hush.Spec.from_json(written)
    assert (spec.to_json(), spec.hash) == (written, due)
    assert pickle.loads(pickle.dumps(spec.mechanism)) == spec.mechanism == hush.from_dict(spec.mechanism.to_dict())
    name = spec.mechanism.name()
    if name in SAID:
        chosen = getattr(spec.mechanism, SAID[name])
        anew = type(spec.mechanism)(**{**spec.mechanism.parameters, SAID[name]: chosen})
        assert anew.thresholds == spec.mechanism.thresholds
        assert hush.Spec(anew).hash != due  # today's spec tells the choice
        assert hush.from_dict(anew.to_dict()) == anew != spec.mechanism


@pytest.mark.parametrize(("written", "due"), OLD_SPECS["longitudinal"])
def test_protocol_of_version_0_1(written: str, due: str) -> None:
    protocol = hush.from_dict(json.loads(written))
    assert protocol.to_dict() == json.loads(written)
    assert protocol.spec_hash == due
    assert hush.from_dict(protocol.to_dict()) == protocol


@pytest.mark.parametrize(("written", "due"), OLD_SPECS["multidim"])
def test_collection_of_version_0_1(written: str, due: str) -> None:
    spec = hush.Spec.from_json(written)
    tuples = spec.mechanism
    assert (spec.to_json(), spec.hash, tuples.spec_hash) == (written, due, due)
    assert hush.from_dict(tuples.to_dict()) == tuples


@pytest.mark.parametrize("name", sorted(SAID))
def test_a_spec_that_leaves_its_choice_to_the_reader_is_refused(name: str) -> None:
    plain = spec_of(name).mechanism.to_dict()
    del plain[SAID[name]], plain["thresholds"]
    with pytest.raises(SpecError, match=f"^{SAID[name]} must be written out in a spec of {name}, got nothing"):
        hush.from_dict(plain)


@pytest.mark.parametrize("name", sorted(SAID))
def test_thresholds_of_an_old_spec_must_follow_from_a_choice(name: str) -> None:
    for change in ("1", "none", str(2**64), "-1"):
        plain = json.loads(OLD_VECTORS[name]["spec"])["mechanism"]
        entry = sorted(plain["thresholds"])[0]
        old = plain["thresholds"][entry]
        plain["thresholds"][entry] = str(int(old) - 1) if change == "1" else change
        with pytest.raises((SpecError, ParameterError)):
            hush.from_dict(plain)


@pytest.mark.parametrize("protocol", ["SMP", "SPL"])
@pytest.mark.parametrize(
    ("name", "options", "chosen"),
    [
        ("AGM", {"delta": 1e-6}, {"delta": 0.5}),  # another promise than the one that is written
        ("UE", {}, {"p": 0.9}),  # what its own spec would not tell
        ("UE", {"p": 0.7}, {"p": 0.9}),
        ("SS", {}, {}),  # left to the reader
        ("SS", {}, {"omega": None}),
        ("OLH", {}, {"g": 2, "hash": "family"}),
        ("OLH", {"g": 2}, {"g": 4}),
    ],
)
def test_a_collection_says_what_was_chosen_and_nothing_else(
    protocol: str, name: str, options: dict[str, Any], chosen: dict[str, Any]
) -> None:
    plain = {"protocol": protocol, "sizes": [4, 9], "epsilon": 1.0, "mechanism": [name] * 2, "options": options}
    with pytest.raises(ParameterError, match=r"^chosen must be what the mechanisms choose"):
        hush.from_dict({**plain, "chosen": [chosen] * 2})
