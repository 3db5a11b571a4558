"""The benchmark of the client for web pages, in Chromium: joins a real collector, whose module is cached for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks import browser as benchmark
from benchmarks.browser import engines

import hush
from tests.collectors import Served, opened
from tests.system.browser.site import script

pytestmark = pytest.mark.nightly


@pytest.fixture
def chromium(browser: Any) -> Iterator[engines.Chromium]:
    with engines.modules() as folder, engines.site(folder) as url:
        yield engines.Chromium(browser, url)


def test_a_mechanism_is_timed_and_a_collection_joined(chromium: engines.Chromium, served: Served) -> None:
    mechanism = hush.uSS(k=40, epsilon=1.0, sensitive=range(20))
    found = chromium.call("measure.js", "singles", mechanism.to_dict(), 20)
    assert found["size"] == mechanism.report_dtype.itemsize
    assert 0 <= found["median"] <= found["p99"] <= found["slowest"]
    one = opened(served, spec=hush.Spec(mechanism))
    joined = chromium.call("measure.js", "joined", f"{one.url}{one.path}", benchmark.CONSENT)
    assert joined["time"] > 0
    assert joined["epsilon"] == pytest.approx(1.0)


def test_the_second_visit_asks_nobody_for_the_module(chromium: engines.Chromium, served: Served) -> None:
    address = script(served.url)
    with chromium.visitor() as visitor:
        assert [visitor.fetched_again("load.js", "loaded", address) for _ in range(3)] == [True, False, False]
        assert visitor.call("load.js", "loaded", address)["time"] > 0
