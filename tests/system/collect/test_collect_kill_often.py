"""A collector that is killed ten times in a row, with each store."""

from __future__ import annotations

import pytest

from tests import kill_server

pytestmark = pytest.mark.nightly


def test_a_collector_that_is_killed_often_has_every_acknowledged_batch_once(store_url: str) -> None:
    found = kill_server.run(store_url, 10, 5)
    assert found["kills"] == 10
    assert found["kept"] == found["sent"] == found["acknowledged"] > 100
