"""In a real browser: the script with its hash, and the page that the documentation shows."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

import hush
from tests.collectors import Opened, Served, opened
from tests.system.browser.site import ROOT, Site, script

SPEC = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "bird"]))
DOCUMENTED = (ROOT / "docs" / "browser.md").read_text("utf-8")


def test_a_page_can_hold_the_script_to_its_hash(context: Any, site: Site, served: Served) -> None:
    address = script(served.url)
    (integrity,) = (
        each["integrity"]
        for each in httpx.get(f"{served.url}/client").json()["scripts"]
        if address.endswith(each["path"])
    )
    wrong = integrity[:10] + ("A" if integrity[10] != "A" else "B") + integrity[11:]
    for hash, loads in ((integrity, True), (wrong, False)):
        page = context.new_page()
        page.goto(f"{site.url}empty")
        page.evaluate(
            """([address, integrity]) => {
                const made = Object.assign(document.createElement("script"), { type: "importmap" });
                made.textContent = JSON.stringify({ imports: { hush: address }, integrity: { [address]: integrity } });
                document.head.append(made);
            }""",
            [address, hash],
        )
        told = page.evaluate("import('hush').then(({ version }) => version, () => 'refused')")
        assert told == (hush.__version__ if loads else "refused")


def shown(context: Any, site: Site, one: Opened) -> Any:
    """The page of the documentation, whose collector is the one that runs here."""
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    (text,) = (each for each in re.findall(r"```html\n(.*?)```", DOCUMENTED, re.S) if "<form>" in each)
    for written, real in (
        (re.escape("https://collect.example.org/client/0.2.0/hush.js"), script(one.url)),
        (r"https://collect\.example\.org/v1/collections/\w+", f"{one.url}{one.path}"),
        ("hush-ingest-0a1b2c3d-EXAMPLE", one.key),
    ):
        text, number = re.subn(written, real, text)
        assert number == 1
    page.goto(f"{site.url}empty")
    page.set_content(text)
    page.get_by_label("dog").wait_for()
    return page


def test_the_documented_page_asks_and_says_what_became_of_it(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=SPEC)
    page = shown(context, site, one)
    status = page.get_by_role("status")
    page.get_by_role("button", name="Answer").click()  # with nothing chosen
    assert status.inner_text() == ""
    page.get_by_label("dog").check()
    page.get_by_role("button", name="Answer").click()
    status.filter(has_text="Thank you.").wait_for()
    assert page.get_by_role("button").count() == 0
    again = shown(context, site, one)
    again.get_by_label("cat").check()
    again.get_by_role("button", name="Answer").click()
    again.get_by_role("status").filter(has_text="value must be the first of this period").wait_for()
    assert served.settled(one, 1)["n"] == 1


def test_the_documented_page_takes_a_no(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=SPEC)
    page = shown(context, site, one)
    page.get_by_role("button", name="Rather not").click()
    page.get_by_role("status").filter(has_text="Nothing was sent.").wait_for()
    assert page.get_by_role("button").count() == 0
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert served.ask("GET", one.path).json()["n"] == 0
