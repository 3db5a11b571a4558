"""One browser, one collector and one workbench for the tests of a file; each test has a context of its own.

    def test_something(workbench, context):
        seen = opened(context, f"{workbench.url}/plan")      # from tests.system.workbench.running
        seen.page.get_by_label("...").fill("...")
        seen.quiet()                                         # no console error, no request to another machine
        assert grave(seen.page) == []                        # from tests.system.workbench.axe
        pictured(seen.page, pictures, "plan")                # files to look at

`admin_context` is signed in as an administrator, `reader_context` as a reader. `HUSH_PICTURES=folder` keeps pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collectors import Served, in_process
from tests.system.browser.conftest import SWITCHES
from tests.system.browser.needed import chromium, missing
from tests.system.workbench.running import RunningWorkbench, running
from tests.tiers import group_by_file


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of a file in one process: they share a browser, a collector and a workbench."""
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
    """The one browser; whatever is not this machine cannot be reached from it."""
    offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    kept = [each for each in SWITCHES if not each.startswith("--host-resolver-rules")]
    made = playwright.chromium.launch(executable_path=chromium(), args=[*kept, offline])
    yield made
    made.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A collector, in a process of its own."""
    with in_process(tmp_path_factory.mktemp("collector")) as made:
        yield made


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory, served: Served) -> Iterator[RunningWorkbench]:
    """A workbench before that collector, as `hush workbench --collector URL --allow-code` starts it."""
    pytest.importorskip("nicegui")
    with running(tmp_path_factory.mktemp("workbench"), "--collector", served.url, "--allow-code") as made:
        yield made


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser that knows nothing yet."""
    yield from _context(browser)


@pytest.fixture
def admin_context(browser: Any, workbench: RunningWorkbench, served: Served) -> Iterator[Any]:
    """A browser that is signed in with an administrator's token."""
    for made in _context(browser):
        sign_in(made, workbench, served.admin)
        yield made


@pytest.fixture
def reader_context(browser: Any, workbench: RunningWorkbench, served: Served) -> Iterator[Any]:
    """A browser that is signed in with a reader's token."""
    for made in _context(browser):
        sign_in(made, workbench, served.token("reader"))
        yield made


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where pictures go: a folder that is named by HUSH_PICTURES, to look at them, or else one that goes."""
    folder = Path(os.environ.get("HUSH_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sign_in(context: Any, workbench: RunningWorkbench, token: str) -> None:
    """Sign in, as a person does."""
    page = context.new_page()
    page.goto(f"{workbench.url}/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{workbench.url}/")
    page.close()


def _context(browser: Any) -> Iterator[Any]:
    made = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    made.set_default_timeout(60_000)
    yield made
    made.close()
