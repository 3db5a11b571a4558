"""Whose a job is, in a real browser: it follows who signs in, not who signs out, and leaves room for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.collectors import Served
from tests.system.workbench.axe import grave
from tests.system.workbench.conftest import sign_in
from tests.system.workbench.running import RunningWorkbench, opened, ready, running

pytestmark = pytest.mark.nightly

BAR = "progress"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, served: Served) -> Iterator[RunningWorkbench]:
    """A workbench with the tests' own pages, before a collector; a visitor has two jobs at most."""
    folder, pages = tmp_path_factory.mktemp("jobs"), "tests.system.workbench.examples"
    with running(folder, "--collector", served.url, "--most-each", 2, "--most-jobs", 6, pages=pages) as made:
        yield made


def begun(context: Any, bench: RunningWorkbench) -> Any:
    """A page with a job that takes a minute."""
    page = opened(context, f"{bench.url}/example").page
    page.get_by_role("button", name="Run long").click()
    page.wait_for_function("location.search.includes('job=')")
    page.locator(BAR).wait_for()
    return page


def found(context: Any, address: str) -> bool:
    """Whether who opens a page finds the job that its address names."""
    page = opened(context, address).page
    page.wait_for_timeout(500)  # what is not there can only be waited for
    seen = bool(page.locator(BAR).is_visible())
    page.close()
    return seen


def sign_out(context: Any, bench: RunningWorkbench) -> None:
    """Sign out, as a person does, in another tab."""
    page = opened(context, bench.url).page
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").wait_for()
    page.close()


def cancelled(context: Any, bench: RunningWorkbench) -> None:
    """Cancel all that a visitor has."""
    page = opened(context, f"{bench.url}/jobs").page
    cancel = page.get_by_role("button", name="Cancel")
    while cancel.count():
        before = cancel.count()
        cancel.first.click()
        page.wait_for_function(f"document.querySelectorAll('article button').length < {before}")
    page.close()


def test_a_job_follows_who_signs_in(bench: RunningWorkbench, served: Served, context: Any, browser: Any) -> None:
    page = begun(context, bench)
    sign_in(context, bench, served.token("reader"))
    page.reload()
    ready(page)
    page.locator(BAR).wait_for()
    stranger = browser.new_context()
    assert not found(stranger, page.url)
    sign_in(stranger, bench, served.token("reader"))
    assert not found(stranger, page.url), "nobody else finds it by signing in"
    stranger.close()
    sign_out(context, bench)
    assert found(context, page.url), "nothing of it needed the token"
    cancelled(context, bench)


def test_what_was_started_signed_in_stays_behind_when_he_signs_out(
    bench: RunningWorkbench, served: Served, context: Any
) -> None:
    token = served.token("reader")
    sign_in(context, bench, token)
    page = begun(context, bench)
    address = page.url
    sign_out(context, bench)
    page.get_by_text("You signed out meanwhile").wait_for()
    assert not page.locator(BAR).is_visible()
    assert not found(context, address)
    listed = opened(context, f"{bench.url}/jobs").page
    listed.get_by_text("No jobs").wait_for()
    sign_in(context, bench, served.token("reader"))
    assert not found(context, address), "another token is somebody else's"
    sign_in(context, bench, token)
    assert found(context, address), "the same browser and the same token find it again"
    cancelled(context, bench)


def test_one_visitor_leaves_room_for_others(bench: RunningWorkbench, context: Any, browser: Any) -> None:
    for _ in range(2):
        begun(context, bench)
    third = opened(context, f"{bench.url}/example").page
    third.get_by_role("button", name="Run long").click()
    third.get_by_text("You have 2 jobs already, running or waiting: “Long work”, “Long work”.").wait_for()
    other = browser.new_context()
    begun(other, bench)
    cancelled(other, bench)
    other.close()
    jobs = opened(context, f"{bench.url}/jobs")
    assert jobs.page.get_by_role("article").count() == 2
    assert grave(jobs.page) == []
    jobs.page.get_by_role("link", name="Show it: Long work").first.click()
    ready(jobs.page)
    jobs.page.locator(BAR).wait_for()
    jobs.page.goto(f"{bench.url}/jobs")
    ready(jobs.page)
    cancel = jobs.page.get_by_role("button", name="Cancel: Long work")
    cancel.first.focus()
    jobs.page.wait_for_timeout(1200)  # it says how far they are meanwhile, and takes nobody from where he stands
    assert "Cancel" in jobs.page.evaluate("document.activeElement.ariaLabel")
    jobs.page.keyboard.press("Enter")
    jobs.page.get_by_text("Cancelled.").wait_for()
    third.get_by_role("button", name="Run a little").click()
    third.get_by_text("result 10").wait_for()
    cancelled(context, bench)
    jobs.quiet()
