"""The same words make the same reports, whoever makes them; and what a client must refuse, this one refuses."""

from __future__ import annotations

import json
import struct
from collections import Counter
from typing import Any

import pytest

import hush
from hush.collect.loss import loss
from hush.errors import HushError
from tests.golden.hostile import hostile
from tests.golden.mutated import losses
from tests.golden.replayed import cases
from tests.golden.replays import Replayed, reports
from tests.golden.write_replays import FILE, law, laws, lost

STORED: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
_LARGEST = 400_000


def test_every_case_is_stored_once() -> None:
    assert Counter(case.name for case in cases()) == Counter(STORED["replays"].keys())
    assert Counter(each.name for each in hostile()) == Counter(STORED["hostile"].keys())
    assert {name: entry["spec"] for name, entry in STORED["hostile"].items()} == {h.name: h.spec for h in hostile()}
    assert FILE.stat().st_size < _LARGEST  # a browser fetches it


def test_the_generator_hands_out_words_and_their_halves() -> None:
    source = Replayed([5 + (7 << 32), 2**64 - 1, 9])
    assert source.rng.integers(0, 1 << 32, 2, dtype="u4").tolist() == [5, 7]
    assert source.rng.integers(0, 2**64, 1, dtype="u8").tolist() == [2**64 - 1]
    assert source.taken == 2


@pytest.mark.parametrize("name", STORED["replays"])
def test_the_same_words_make_the_same_reports(name: str) -> None:
    stored = STORED["replays"][name]
    m = hush.from_dict(stored["spec"])
    words = struct.unpack(f"<{len(stored['words']) // 16}Q", bytes.fromhex(stored["words"]))
    assert reports(m, stored["values"], words) == (stored["reports"], len(words))
    assert {len(report) for report in stored["reports"]} == {2 * m.report_dtype.itemsize}
    assert lost(m) == stored["loss"]


@pytest.mark.parametrize("name", STORED["hostile"])
def test_what_must_be_refused_is_refused(name: str) -> None:
    with pytest.raises(HushError):
        loss(hush.Spec(hush.from_dict(STORED["hostile"][name]["spec"])))


def test_losses_of_other_thresholds_are_what_they_were() -> None:
    assert STORED["losses"] == losses()
    assert len(losses()) > 50
    assert {entry["spec"].get("mechanism") for entry in STORED["losses"].values()} >= {"GRR", "MSS", "RAPPOR", "uHR"}


def test_laws_are_what_they_were() -> None:
    assert list(STORED["laws"].values()) == list(laws())
    assert all(value == 2 for value in (entry["value"] for entry in STORED["laws"].values()))
    assert law(hush.GRR(k=4, epsilon=1.0), 2)["02"] == pytest.approx(hush.GRR(k=4, epsilon=1.0).p_star, rel=1e-15)
