"""The demo page of a collector, from the question to the crowd: nothing leaves it but what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import hush
from tests.collectors import Served, opened
from tests.golden.write_demo import LABELS
from tests.system.browser.axe import grave

pytestmark = pytest.mark.nightly

PHONE = {"width": 360, "height": 740}
HURRIED = """{
    const wait = setTimeout;
    window.setTimeout = (work, milliseconds) => wait(work, milliseconds / 100);
    window.requestAnimationFrame = (work) => wait(() => work(performance.now()));
}"""
"""Lets pauses and frames of a page go by a hundred times as fast."""
DESKTOP = {"width": 1280, "height": 800}


@contextmanager
def visiting(browser: Any, served: Served, query: str = "", **more: Any) -> Iterator[Any]:
    """The page, in which nothing may go wrong, and from which nothing may go elsewhere."""
    context = browser.new_context(**{"reduced_motion": "reduce", **more})
    context.add_init_script("Math.random = () => { throw new Error('not secure'); };")
    if more.get("reduced_motion") == "no-preference":
        context.add_init_script(HURRIED)
    page, wrong, failed, taken = context.new_page(), [], set(), set()
    page.on("console", lambda each: wrong.append(f"{each.type}: {each.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: failed.add(request.url))
    page.on("response", lambda answer: taken.add(answer.url) if answer.ok else None)
    page.on("request", lambda request: page.asked.append((request.method, request.url)))
    page.asked = []
    page.goto(f"{served.url}/demo{query}")
    page.locator("html[data-ready]").wait_for()
    yield page
    assert wrong == []
    assert failed <= taken  # Chromium at times calls a request aborted whose answer was read to its end
    assert all(url.startswith((f"{served.url}/", "data:,")) for _, url in page.asked)
    context.close()


def flip(page: Any, answer: str) -> None:
    page.get_by_label(answer).check()
    page.get_by_role("button", name="Flip the coins").click()
    page.locator("#crowd-part:not([hidden])").wait_for()


def crowd(page: Any) -> list[dict[str, float]]:
    """What is estimated of each answer."""
    page.get_by_role("button", name=re.compile("thousand")).click()
    page.locator("#settled:not(:empty)").wait_for()
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#crowd [data-truth]')].map((row) => ({ ...row.dataset }))"
    )
    return [{name: float(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize("mechanism", ["A coin for each answer", "One coin"])
def test_from_the_question_to_the_crowd(browser: Any, served: Served, mechanism: str, motion: str) -> None:
    """Estimates are within 6.5 standard errors of the truth: false-alarm rate 1e-9 for the four answers together."""
    with visiting(browser, served, reduced_motion=motion) as page:
        assert "Nothing is sent." in page.locator("#where").inner_text()
        page.get_by_label(mechanism).check()
        flip(page, "Forest")
        shown = page.locator("#bytes dt").inner_text()
        assert re.fullmatch("0[0-9a-f]", shown)
        report = int(shown, 16)
        said = [LABELS[report]] if mechanism == "One coin" else [x for v, x in enumerate(LABELS) if report >> v & 1]
        assert all(f"“{label}”" in page.locator("#bytes dd").inner_text() for label in said)
        assert "cannot move by more than e1 = 2.72" in page.locator("#factor").inner_text().replace("\n", "")
        rows = crowd(page)
        assert page.locator("#number").inner_text() == "1,001"
        assert abs(sum(row["truth"] for row in rows) - 1) < 1e-12
        for row in rows:
            assert row["low"] < row["estimate"] < row["high"]
            deviation = (row["high"] - row["low"]) / 2 / 1.96
            assert abs(row["estimate"] - row["truth"]) < 6.5 * deviation, row
        assert all(method == "GET" for method, _ in page.asked)


def test_odds_are_those_of_the_report(browser: Any, served: Served) -> None:
    with visiting(browser, served) as page:
        page.get_by_label("One coin").check()
        flip(page, "Museum")
        said = int(page.locator("#bytes dt").inner_text(), 16)
        m = hush.GRR(k=4, epsilon=1.0)
        rows = page.locator("#odds li")
        for value in range(4):
            after = m.p_star if value == said else m.q_star
            assert f"25.0 % → {100 * after:.1f} %" in rows.nth(value).inner_text().replace("\n", " ")
        page.locator("#suspicion").fill("90")
        own = 0.9 * (m.p_star if said == 2 else m.q_star)
        total = own + (0.1 / 3) * (1 - (m.p_star if said == 2 else m.q_star))
        assert f"90.0 % → {100 * own / total:.1f} %" in rows.nth(2).inner_text().replace("\n", " ")


def test_coins_can_be_flipped_again_and_more_visitors_join(browser: Any, served: Served) -> None:
    with visiting(browser, served) as page:
        flip(page, "Sea")
        seen = set()
        for _ in range(60):  # with 16 reports, all alike at a rate of less than 1e-9
            if len(seen) > 1:
                break
            page.get_by_role("button", name="Flip again").click()
            page.locator("#crowd-part:not([hidden])").wait_for()
            seen.add(page.locator("#bytes dt").inner_text())
        assert len(seen) > 1
        before = crowd(page)
        after = crowd(page)
        assert page.locator("#number").inner_text() == "11,001"
        assert all(b["high"] - b["low"] > 2 * (a["high"] - a["low"]) for a, b in zip(after, before, strict=True))
        page.get_by_role("button", name="Start over").click()
        assert page.locator("#number").inner_text() == "1"


def test_an_answer_to_a_collection_is_sent_once(browser: Any, served: Served) -> None:
    spec = hush.Spec(hush.OLH(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "none"]))
    one = opened(served, spec=spec, name="Which pet?")
    with visiting(browser, served, f"?collection={one.path}&key={one.key}") as page:
        assert "is sent to “Which pet?”" in page.locator("#where").inner_text()
        flip(page, "dog")
        assert "It was sent, and taken." in page.locator("#left").inner_text()
        assert one.id in page.locator("#bytes").inner_text().replace(" ", "")
        assert page.get_by_role("button", name="Flip the coins").is_disabled()
        crowd(page)
        assert [url for method, url in page.asked if method == "POST"] == [one.address]
    assert served.settled(one, 1)["n"] == 1
    assert served.ask("GET", one.path).json()["n"] == 1


@pytest.mark.parametrize("second", ["dog", "cat"])
def test_who_comes_back_is_told_and_nothing_more_is_sent(browser: Any, served: Served, second: str) -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "none"]))
    one = opened(served, spec=spec)
    with visiting(browser, served, f"?collection={one.path}&key={one.key}") as page:
        flip(page, "dog")
        page.reload()
        page.locator("html[data-ready]").wait_for()
        page.get_by_label(second).check()
        page.get_by_role("button", name="Flip the coins").click()
        page.get_by_role("status").filter(has_text="You have answered this question already").wait_for()
        assert not page.locator("#coins-part").is_visible()
        assert [method for method, _ in page.asked].count("POST") == 1
    assert served.settled(one, 1)["n"] == 1


def test_flipping_again_is_about_the_same_answer(browser: Any, served: Served) -> None:
    with visiting(browser, served) as page:
        flip(page, "Sea")
        page.get_by_label("Cinema").check()
        page.get_by_role("button", name="Flip again").click()
        page.locator("#crowd-part:not([hidden])").wait_for()
        assert "That of “Sea” shows 1" in page.locator("#rule").inner_text()


def test_a_collection_that_cannot_be_asked_is_said_and_nothing_is_sent(browser: Any, served: Served) -> None:
    spec = hush.Spec(hush.GRR(k=3, epsilon=6.0), hush.Domain(labels=["cat", "dog", "none"]))
    one = opened(served, spec=spec)
    with visiting(browser, served, f"?collection={one.path}&key={one.key}") as page:
        assert "maximum must be at least 6" in page.locator("#where").inner_text()
        flip(page, "Sea")
        crowd(page)
        assert all(method == "GET" for method, _ in page.asked)
    assert served.ask("GET", one.path).json()["n"] == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_it_is_accessible_and_fits(browser: Any, served: Served, scheme: str, viewport: dict[str, int]) -> None:
    with visiting(browser, served, color_scheme=scheme, viewport=viewport) as page:
        assert grave(page) == []
        flip(page, "Cinema")
        crowd(page)
        assert grave(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_it_is_used_by_keyboard_alone(browser: Any, served: Served) -> None:
    with visiting(browser, served) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        for _ in range(3):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#crowd-part:not([hidden])").wait_for()
        assert page.evaluate("() => document.activeElement.id") == "coins-title"
        for _ in range(3):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#settled:not(:empty)").wait_for()
