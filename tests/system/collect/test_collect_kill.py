"""A collector that is killed again and again; `python -m tests.kill_server` is the long run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import kill_server


@pytest.mark.slow
def test_a_killed_collector_has_every_acknowledged_batch_once(tmp_path: Path) -> None:
    found = kill_server.run(str(tmp_path / "killed.db"), 10, 5)
    assert found["kills"] == 10
    assert found["kept"] == found["sent"] == found["acknowledged"] > 100


def test_the_judge_finds_a_batch_that_is_lost_or_was_never_sent(tmp_path: Path) -> None:
    store = str(tmp_path / "judged.db")
    id, spec, key = kill_server.collection(store)
    sent = kill_server.Sent(key, "")
    sent.bodies["ab" * 16] = b""
    sent.acknowledged.add("ab" * 16)
    with pytest.raises(AssertionError, match="1 acknowledged batches are lost"):
        kill_server.judged(store, id, spec, sent)
