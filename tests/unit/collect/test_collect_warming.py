"""What has to be compiled for a collection is, before the first report of it comes."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import hush
from hush.collect import warming
from hush.mechanisms.spec import Spec
from tests.collectors import SPEC, in_thread, opened
from tests.relays import in_thread as relay_in_thread
from tests.unit.collect.test_collect_opening import SPECS


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The specs of which everything was done once."""
    found, real = list[str](), warming._tried

    def noted(spec: Spec) -> None:
        real(spec)
        found.append(spec.hash)

    monkeypatch.setattr(warming, "_tried", noted)
    return found


def test_it_is_ready_when_a_collection_opens_and_when_a_server_or_a_relay_starts(
    tmp_path: Path, tried: list[str]
) -> None:
    with in_thread(tmp_path) as served:
        made = served.ask("POST", "/v1/collections", json={"spec": SPEC.to_dict(), "name": "a draft"})
        assert (made.status_code, tried) == (201, [])
        one = opened(served)
        assert tried == [SPEC.hash]
        opened(served, spec=hush.Spec(hush.OUE(k=9, epsilon=1.0)))
    tried.clear()
    with in_thread(tmp_path) as served:
        assert len(tried) == 2  # and nothing of the draft, nor of a second collection of the same kind
        with relay_in_thread(tmp_path, served, [one.id]):
            assert tried[2:] == [SPEC.hash]


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_it_is_done_for_every_kind(spec: Spec) -> None:
    warming._tried(spec.one_round)


def test_what_fails_is_left_to_the_first_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(spec: Spec) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(warming, "_tried", broken)
    with caplog.at_level(logging.WARNING), in_thread(tmp_path) as served:
        one = opened(served)
        assert served.send(one, one.body([0])).status_code == 200
    assert "nothing could be prepared" in caplog.text
