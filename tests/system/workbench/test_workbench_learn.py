"""The page Learn in a browser: coins stay there, sliders answer, and the crowd answers the last question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hush.workbench.learn import coins, quiz
from tests.system.workbench.running import RunningWorkbench, opened

pytestmark = pytest.mark.nightly

_FORCED = "(bits) => { crypto.getRandomValues = (array) => { array[0] = bits; return array; }; }"


def sent(page: Any) -> list[str]:
    """Everything that goes out on the socket from now on."""
    found: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: found.append(str(frame))))
    return found


def test_coins_fall_in_the_browser_by_the_law_that_is_told(context: Any, workbench: RunningWorkbench) -> None:
    page = context.new_page()
    told = sent(page)
    page.goto(f"{workbench.url}/learn")
    page.wait_for_function("window.socket && window.socket.connected")
    form = page.locator("form[data-law]")
    form.get_by_role("button", name="Flip the coins").click()
    form.get_by_text("Choose your true answer first").wait_for()
    before = len(told)
    for truth in coins.ANSWERS:
        form.get_by_label(truth.capitalize()).check()
        for bits in range(4):
            page.evaluate(_FORCED, bits)
            first, second = (coins.HEADS if bits >> at & 1 else coins.TAILS for at in range(2))
            form.get_by_role("button", name="Flip the coins").click()
            report = coins.said(truth, first, second)
            form.locator("[data-said]", has_text=f"your report is “{report}”").or_(
                form.locator("[data-said]", has_text=f"Your report is “{report}”")
            ).wait_for()
    assert form.locator("[data-tally]").inner_text() == "6 of your 8 reports were the truth."
    assert not [each for each in told[before:] if "event" in each]  # the answer and the coins stayed where they are


def test_real_coins_come_from_the_secure_source(context: Any, workbench: RunningWorkbench) -> None:
    seen = opened(context, f"{workbench.url}/learn")
    page = seen.page
    page.evaluate("""() => {
        window.drawn = 0;
        const draw = crypto.getRandomValues.bind(crypto);
        crypto.getRandomValues = (array) => { window.drawn++; return draw(array); };
    }""")
    form = page.locator("form[data-law]")
    form.get_by_label("No").check()
    for _ in range(40):
        form.get_by_role("button", name="Flip the coins").click()
    same = int(form.locator("[data-tally]").inner_text().split()[0])
    assert page.evaluate("window.drawn") == 40
    assert 10 < same < 40  # of 40 at 3/4; otherwise by chance once in 10^5, or if coins do not fall
    seen.quiet()


def test_only_the_report_leaves_the_browser(context: Any, workbench: RunningWorkbench) -> None:
    page = context.new_page()
    told = sent(page)
    page.goto(f"{workbench.url}/learn")
    page.wait_for_function("window.socket && window.socket.connected")
    page.get_by_label(quiz.READ[3]).check()
    page.evaluate("""() => {
        crypto.getRandomValues = (array) => array.fill(0);  // words of zero: whatever was answered is kept
    }""")
    before = len(told)
    page.get_by_role("button", name="Randomize my answer").click()
    page.get_by_text(f"Your report names “{quiz.READ[3]}”").wait_for()
    events = [each for each in told[before:] if '"event"' in each]
    assert len(events) == 1
    args = json.loads(events[0][events[0].index("[") :])[1]["args"]
    assert [json.loads(each) for each in args] == [[3]]  # one byte, the report; no answer, no coin


def test_parts_are_reached_by_their_links(context: Any, workbench: RunningWorkbench) -> None:
    seen = opened(context, f"{workbench.url}/learn")
    page = seen.page
    parts = page.get_by_role("navigation", name="Parts of this page")
    parts.get_by_role("link", name="What ε buys").click()
    page.wait_for_function("document.querySelector('.parts a[href=\"#epsilon\"]').ariaCurrent === 'true'")
    assert page.locator("#epsilon h2").is_visible()
    seen.quiet()


def test_a_report_that_is_none_is_refused_in_words(context: Any, workbench: RunningWorkbench) -> None:
    seen = opened(context, f"{workbench.url}/learn")
    page = seen.page
    page.evaluate("""() => document.querySelector("form[data-mechanism]").dispatchEvent(
        new CustomEvent("report", { bubbles: true, detail: [250] }))""")
    page.get_by_text("must be one byte below 4").wait_for()
    seen.quiet()
