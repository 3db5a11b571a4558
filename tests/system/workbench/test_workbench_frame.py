"""What is around every page, and what it stands on, in a real browser: fields, charts, files, jobs, faults."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, Seen, opened, pictured, ready, running

pytestmark = pytest.mark.nightly

EXAMPLES = "tests.system.workbench.examples"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWorkbench]:
    """A workbench with the tests' own pages, which takes small files and no collector."""
    pytest.importorskip("nicegui")
    with running(tmp_path_factory.mktemp("examples"), "--most-upload", 5000, pages=EXAMPLES) as made:
        yield made


@pytest.fixture
def example(examples: RunningWorkbench, context: Any) -> Iterator[Seen]:
    """The page with every control."""
    seen = opened(context, f"{examples.url}/example")
    yield seen
    seen.quiet()


def said(seen: Seen, words: str) -> None:
    """Wait until the page says something."""
    seen.page.get_by_test_id("said").get_by_text(words, exact=True).wait_for()


def pressed(seen: Seen, name: str) -> None:
    """Press a button."""
    seen.page.get_by_role("button", name=name, exact=True).click()


def test_every_page_of_the_navigation_loads_without_a_word_in_the_console(
    workbench: RunningWorkbench, admin_context: Any
) -> None:
    first = opened(admin_context, workbench.url)
    paths = [each.get_attribute("href") for each in first.page.locator("nav[aria-label='Pages'] a").all()]
    for path in ("/sign-in", *paths):
        seen = opened(admin_context, f"{workbench.url}{path}")
        assert seen.page.locator("h1").count() == 1, path
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        seen.quiet()
        seen.page.close()


def test_the_keyboard_skips_to_the_page_and_reaches_the_theme(example: Seen) -> None:
    page = example.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to what this page is about"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.classList.contains('nicegui-content')")
    assert page.locator("nav a[aria-current='page']").inner_text() == "Example"


def test_light_and_dark_are_remembered(examples: RunningWorkbench, example: Seen) -> None:
    page = example.page
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    pressed(example, "Switch between light and dark")
    page.wait_for_function(f"{background} === 'rgb(23, 26, 33)'")
    page.goto(f"{examples.url}/slow")
    ready(page)
    page.wait_for_function(f"{background} === 'rgb(23, 26, 33)'")


def test_the_system_decides_where_nobody_did(examples: RunningWorkbench, browser: Any) -> None:
    made = browser.new_context(color_scheme="dark")
    seen = opened(made, f"{examples.url}/example")
    seen.page.wait_for_function("getComputedStyle(document.body).backgroundColor === 'rgb(23, 26, 33)'")
    seen.quiet()
    made.close()


def test_on_a_phone_the_menu_opens_and_nothing_is_cut_off(examples: RunningWorkbench, browser: Any) -> None:
    made = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    seen = opened(made, f"{examples.url}/example")
    page = seen.page
    link = page.locator("nav[aria-label='Pages']").get_by_role("link", name="Slow")
    assert not link.is_visible()
    menu = page.get_by_role("button", name="Menu")
    assert menu.get_attribute("aria-expanded") == "false"
    menu.tap()
    link.wait_for(state="visible")
    assert menu.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    seen.quiet()
    made.close()


def test_every_control_and_chart_is_within_reach_of_everyone(example: Seen, pictures: Path) -> None:
    page = example.page
    assert grave(page) == []
    page.evaluate("Quasar.Dark.set(true)")
    assert grave(page) == []
    page.evaluate("Quasar.Dark.set(false)")
    for name in ("How many answers?", "ε", "Mechanism", "Answers", "A CSV file", "Name"):
        assert page.get_by_label(name, exact=True).count() == 1, name
    assert page.get_by_role("button", name="Only an icon").count() == 1
    assert page.get_by_role("img", name=re.compile("^Shares. Most people read news")).count() == 1
    page.get_by_text("Show as table").first.click()
    table = page.get_by_role("table", name="Shares")
    assert table.get_by_role("rowheader").all_inner_texts() == ["news", "sports", "<b>weather</b>", "other"]
    pictured(page, pictures, "example")


def test_fields_tell_the_server_and_the_server_fields(example: Seen) -> None:
    page = example.page
    k = page.get_by_label("How many answers?")
    k.fill("20,000")
    said(example, "k 20000")
    k.fill("1")
    said(example, "k None")
    page.get_by_text("must be at least 2").wait_for()
    assert k.get_attribute("aria-invalid") == "true"
    k.fill("5")
    said(example, "k 5")
    assert k.get_attribute("aria-invalid") is None
    slider = page.get_by_label("ε", exact=True)
    slider.press("ArrowRight")
    said(example, "ε 1.1")
    page.wait_for_function("document.querySelector('input[type=range]').getAttribute('aria-valuetext') === '1.1'")
    page.get_by_label("Mechanism").select_option("GRR")
    said(example, "mechanism GRR")
    page.get_by_label("As a list").check()
    said(example, "list")
    page.get_by_label("Shuffle").uncheck()
    said(example, "False")
    page.get_by_label("Answers", exact=True).fill("x\ny")
    said(example, "x y")
    assert k.input_value() == "5", "what was written stays, whatever the server changes elsewhere"
    pressed(example, "Change all")
    page.wait_for_function("document.querySelector('select').value === 'GRR'")
    page.wait_for_function("[...document.querySelectorAll('input')].some((each) => each.value === '77')")
    assert slider.input_value() == "3"
    assert page.get_by_label("As a list").is_checked()


def test_what_is_typed_fast_is_not_taken_away(example: Seen) -> None:
    field = example.page.get_by_label("Name", exact=True)
    field.press_sequentially("abcdefghijklmnopqrstuvwxyz0123456789", delay=5)
    said(example, "abcdefghijklmnopqrstuvwxyz0123456789")
    assert field.input_value() == "abcdefghijklmnopqrstuvwxyz0123456789"


def test_charts_are_drawn_and_redrawn(example: Seen) -> None:
    page = example.page
    first = page.locator("figure.chart").first
    first.locator("svg").wait_for()
    assert first.locator("svg path[fill='var(--series-0)']").count() >= 4
    pressed(example, "Draw others")
    page.get_by_text("Only x.").wait_for()
    page.get_by_text("Show as table").first.click()
    assert page.get_by_role("table", name="Shares").get_by_role("cell").all_inner_texts()[-1] == "5.5"


def test_a_file_is_taken_whole_and_one_too_large_is_not(example: Seen) -> None:
    chosen = example.page.get_by_label("A CSV file")
    chosen.set_input_files([{"name": "people ü.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}])
    said(example, "people ü.csv: 8 bytes")
    chosen.set_input_files([{"name": "large.csv", "mimeType": "text/csv", "buffer": b"x" * 5001}])
    example.page.get_by_text("This file is too large").wait_for()
    chosen.set_input_files([{"name": "again.csv", "mimeType": "text/csv", "buffer": b"x" * 5000}])
    said(example, "again.csv: 5000 bytes")


def test_a_file_is_handed_over(example: Seen) -> None:
    with example.page.expect_download() as waiting:
        pressed(example, "Download")
    assert waiting.value.suggested_filename == "spec.json"
    assert json.loads(Path(waiting.value.path()).read_text()) == {"a": 1}


def test_what_breaks_a_rule_is_said_beside_its_field_or_in_the_page(example: Seen) -> None:
    page = example.page
    pressed(example, "Break a rule of a field")
    page.locator(".field", has=page.get_by_label("How many answers?")).get_by_text("must be an integer in 2").wait_for()
    assert page.locator(".q-notification").count() == 0
    pressed(example, "Break another rule")
    page.locator(".q-notification").get_by_text("epsilon must be").wait_for()


def test_a_fault_reaches_nobody_but_the_log(examples: RunningWorkbench, example: Seen) -> None:
    page = example.page
    pressed(example, "Break")
    shown = page.locator(".q-notification").get_by_text("Something went wrong here")
    shown.wait_for()
    number = re.search(r"fault ([0-9a-f]{8})", shown.inner_text())
    assert number is not None
    assert "secret-of-a-handler" not in page.content()
    assert "Traceback" not in page.content()
    assert f"fault {number[1]}" in examples.logged()
    assert "RuntimeError: secret-of-a-handler" in examples.logged()


@pytest.mark.parametrize(("path", "words"), [("/broken", "has it as fault"), ("/refused", "must be an integer in 2")])
def test_a_page_that_cannot_be_made_says_so(examples: RunningWorkbench, context: Any, path: str, words: str) -> None:
    page = context.new_page()
    answer = page.goto(f"{examples.url}{path}")
    assert answer.status == 500
    page.get_by_role("alert").get_by_text(words).wait_for()
    assert page.locator("nav[aria-label='Pages']").count() == 1
    assert "secret-of-a-page" not in page.content()
    assert "Traceback" not in page.content()
    assert grave(page) == []


def test_what_is_not_there_is_said_plainly(examples: RunningWorkbench, context: Any) -> None:
    page = context.new_page()
    answer = page.goto(f"{examples.url}/no/such/page")
    assert answer.status == 404
    assert page.get_by_role("heading", name="There is no such page").count() == 1
    assert grave(page) == []


def test_a_job_shows_how_far_it_is_and_its_result(example: Seen) -> None:
    page = example.page
    pressed(example, "Run a little")
    page.get_by_role("progressbar", name="Progress of Long work").wait_for()
    said(example, "result 10")
    assert page.get_by_role("progressbar").count() == 0


def test_a_job_survives_a_reload_and_can_be_cancelled(examples: RunningWorkbench, example: Seen) -> None:
    page = example.page
    pressed(example, "Run long")
    page.get_by_text("Drawing reports,").wait_for()
    assert "?job=" in page.url
    page.reload()
    ready(page)
    page.get_by_text("Drawing reports,").wait_for()
    running_now = examples.workers()
    assert running_now
    pressed(example, "Cancel")
    page.get_by_text("Long work was cancelled.").wait_for()
    end = time.monotonic() + 10
    while set(examples.workers()) & set(running_now):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.05)


def test_somebody_elses_job_is_not_found(examples: RunningWorkbench, example: Seen, browser: Any) -> None:
    pressed(example, "Run a little")
    example.page.wait_for_function("location.search.includes('job=')")
    other = browser.new_context()
    seen = opened(other, example.page.url)
    seen.page.wait_for_timeout(500)
    assert seen.page.get_by_test_id("said").inner_text() == "nothing yet"
    assert seen.page.get_by_role("progressbar").count() == 0
    other.close()
    said(example, "result 10")


def test_a_job_that_fails_says_so_in_words(examples: RunningWorkbench, example: Seen) -> None:
    pressed(example, "Run badly")
    example.page.get_by_text("Something went wrong; the log of the workbench has it under job").wait_for()
    assert "secret-of-a-job" not in example.page.content()
    assert "KeyError: 'secret-of-a-job'" in examples.logged()


def test_a_slow_page_keeps_nobody_waiting(examples: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{examples.url}/example")
    other = context.new_page()
    slow, answered = f"{examples.url}/slow", []
    context.on("response", lambda response: answered.append(response.url))
    with context.expect_event("request", lambda request: request.url == slow):
        other.evaluate(f"() => {{ window.open({json.dumps(slow)}); }}")
    seen.page.get_by_label("How many answers?").fill("9")
    said(seen, "k 9")
    assert slow not in answered
    while slow not in answered:
        context.wait_for_event("response")


def test_it_stops_at_once_and_leaves_no_job(tmp_path: Path, context: Any) -> None:
    with running(tmp_path, pages=EXAMPLES) as made:
        seen = opened(context, f"{made.url}/example")
        pressed(seen, "Run long")
        seen.page.get_by_text("Drawing reports,").wait_for()
        before = made.workers()
        assert before
        made.process.send_signal(signal.SIGTERM)
        assert made.process.wait(20) == 0
        assert not [pid for pid in before if os.path.exists(f"/proc/{pid}")]
        assert "Traceback" not in made.logged()
