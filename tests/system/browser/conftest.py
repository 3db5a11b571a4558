"""One browser, one web site and one collector for the tests of a file; each test has a context of its own.

Playwright keeps an event loop running in this thread: it ends with the file, or no other test could run one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collectors import Served, in_thread
from tests.system.browser.needed import chromium, missing
from tests.system.browser.site import Site, serving
from tests.tiers import group_by_file

SWITCHES = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP plain.example 127.0.0.1",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of a file in one process: they share a browser."""
    group_by_file(items, Path(__file__).parent)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """What drives browsers."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright", "pip install playwright")
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[Any]:
    """The one browser; each test has a context of its own."""
    made = playwright.chromium.launch(executable_path=chromium(), args=list(SWITCHES))
    yield made
    made.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The collector."""
    with in_thread(tmp_path_factory.mktemp("collector")) as made:
        yield made


@pytest.fixture(scope="module")
def site(served: Served) -> Iterator[Site]:
    """The web site whose pages ask, at another origin."""
    with serving(served.url) as made:
        yield made


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser that knows nothing yet, and in which nothing may draw from what is not secure."""
    made = browser.new_context()
    made.add_init_script("Math.random = () => { throw new Error('not secure'); };")
    yield made
    made.close()
