"""In a real browser, against a real collector: an answer is made once and counts once, whatever becomes of the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import hush
from hush.collect.envelope import Envelope, body
from hush.collect.envelope import opened as unpacked
from tests.collectors import Opened, Served, opened
from tests.system.browser.conftest import SWITCHES
from tests.system.browser.needed import chromium
from tests.system.browser.profiles import running
from tests.system.browser.site import Site, answered, joined, kept, refused
from tests.waiting import wait_until

SPEC = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "other"], other="other"))
BATCHES = "**/batches"


@pytest.fixture
def one(served: Served) -> Opened:
    return opened(served, spec=SPEC)


@pytest.fixture
def ask(site: Site, one: Opened) -> Callable[[Any], Any]:
    """A page of a context that has joined the collection."""

    def asking(context: Any) -> Any:
        page = site.visit(context)
        joined(page, url_of(one), key=one.key)
        return page

    return asking


def url_of(one: Opened) -> str:
    return f"{one.url}{one.path}"


def counted(served: Served, one: Opened, n: int) -> None:
    """So many reports are there, and no more."""
    assert served.settled(one, n)["n"] == n
    assert served.ask("GET", one.path).json()["n"] == n


def without_network(page: Any) -> None:
    """Let all requests of a page's scripts fail."""
    page.evaluate("() => { window.honest = fetch; window.fetch = () => Promise.reject(new TypeError('gone')); }")


def with_network(page: Any) -> None:
    page.evaluate("() => { window.fetch = honest; }")


def postponed(page: Any) -> None:
    """Let what waits be due in an hour."""
    page.evaluate(
        """() => new Promise((resolve) => {
            indexedDB.open("hush").onsuccess = ({ target: { result: db } }) => {
                const store = db.transaction("hush", "readwrite").objectStore("hush");
                store.get("hush").onsuccess = ({ target: { result } }) => {
                    for (const each of result.waiting) each.due = Date.now() / 1000 + 3000;
                    store.put(result, "hush").onsuccess = () => { db.close(); resolve(); };
                };
            };
        })"""
    )


def test_an_answer_arrives_and_only_then_is_something_stored(
    context: Any, site: Site, served: Served, one: Opened
) -> None:
    page = site.visit(context)
    told = joined(page, url_of(one), key=one.key)
    assert (told["labels"], told["hash"], told["period"]) == (["cat", "dog", "other"], one.spec.hash, 0)
    assert told["loss"]["declared"] == 1
    assert page.evaluate("indexedDB.databases()") == []
    receipt = answered(page, "axolotl")  # which is other
    assert receipt["state"] == "accepted"
    counted(served, one, 1)
    made = Envelope.from_bytes(bytes.fromhex(receipt["envelope"]))
    assert (made.collection, made.spec_hash, made.batch) == (one.id, one.spec.hash, receipt["batch"])
    assert made.build == f"hush-js/{hush.__version__}"
    assert answered(page, None) == {**receipt, "envelope": None}
    assert "value must be the first of this period" in refused(page, "collection.answer('cat')")
    assert page.evaluate("collection.spent()")["total"] == 1
    state = kept(page)
    assert state["waiting"] == []
    assert "axolotl" not in str(state)


def test_two_tabs_that_answer_at_once_spend_once(
    context: Any, ask: Callable[[Any], Any], served: Served, one: Opened
) -> None:
    tabs = [ask(context) for _ in range(3)]
    for tab in tabs:
        tab.evaluate("() => { window.pending = collection.answer('dog'); }")
    receipts = [tab.evaluate("pending.then(({ envelope, ...rest }) => rest)") for tab in tabs]
    assert receipts[0]["state"] == "accepted"
    assert receipts == [receipts[0]] * 3
    assert [tab.evaluate("collection.spent()")["answers"] for tab in tabs] == [1] * 3
    counted(served, one, 1)


def test_offline_and_back(context: Any, ask: Callable[[Any], Any], served: Served, one: Opened) -> None:
    page = ask(context)
    context.set_offline(True)
    receipt = answered(page, "dog")
    assert (receipt["state"], receipt["reason"]) == ("waiting", "unreachable")
    postponed(page)  # so that nothing but the event sends it
    context.set_offline(False)
    page.wait_for_function("() => collection.flush().then(({ waiting }) => waiting === 0)")
    counted(served, one, 1)
    assert answered(page, "dog") == {**receipt, "state": "accepted", "reason": "", "envelope": None}


def test_a_tab_killed_between_randomizing_and_sending_loses_nothing(
    context: Any, ask: Callable[[Any], Any], served: Served, one: Opened
) -> None:
    held: list[bytes] = []
    page = ask(context)
    page.route(BATCHES, lambda route: held.append(route.request.post_data_buffer))  # and never goes on
    page.evaluate("() => { collection.answer('dog'); }")
    wait_until(lambda: page.wait_for_timeout(10) or held)
    crashed(page)
    sent = sent_by(context)
    again = ask(context)
    receipt = answered(again, "dog")
    assert receipt["state"] == "accepted"
    assert sent == held
    assert receipt["batch"] == Envelope.from_bytes(unpacked(held[0])[1]).batch
    counted(served, one, 1)


def test_an_acknowledgement_that_is_lost_counts_nothing_twice(
    context: Any, ask: Callable[[Any], Any], served: Served, one: Opened
) -> None:
    held: list[bytes] = []

    def taken(route: Any) -> None:
        held.append(route.request.post_data_buffer)
        assert route.fetch().status == 200
        route.abort()

    page = ask(context)
    page.route(BATCHES, taken)
    assert answered(page, "dog")["reason"] == "unreachable"
    postponed(page)
    counted(served, one, 1)
    crashed(page)
    sent = sent_by(context)
    again = ask(context)
    with_due(again)
    assert again.evaluate("collection.flush()")["waiting"] == 0
    assert set(sent) == set(held)
    counted(served, one, 1)


def test_a_browser_that_is_killed_loses_nothing(
    tmp_path: Path, playwright: Any, ask: Callable[[Any], Any], served: Served, one: Opened
) -> None:
    with running(playwright, chromium(), SWITCHES, tmp_path) as first:
        page = ask(first.context)
        without_network(page)
        receipt = answered(page, "dog")
        assert receipt["state"] == "waiting"
        first.kill()
    files = [each.read_bytes() for each in (tmp_path / "Default" / "IndexedDB").rglob("*") if each.is_file()]
    assert any(bytes.fromhex(receipt["envelope"]) in each for each in files)  # as the client promises
    with running(playwright, chromium(), SWITCHES, tmp_path) as second:
        page = ask(second.context)
        assert page.evaluate("collection.spent()")["total"] == 1  # as the browser promises
        page.wait_for_function("() => collection.flush().then(({ waiting }) => waiting === 0)")
        counted(served, one, 1)
    # The collector has this very envelope: it answers 409 to another one with its id, and counts one with another id.
    assert served.send(one, body(one.key, bytes.fromhex(receipt["envelope"]))).status_code == 200
    counted(served, one, 1)


@pytest.mark.parametrize("leaving", ["close", "navigate", "hide"])
@pytest.mark.parametrize("keepalive", [True, False])
def test_what_waits_goes_when_the_page_does(
    context: Any, ask: Callable[[Any], Any], served: Served, one: Opened, leaving: str, keepalive: bool
) -> None:
    """By fetch; where that cannot outlive a page, by a beacon, which acknowledges nothing."""
    page = ask(context)
    without_network(page)
    receipt = answered(page, "dog")
    postponed(page)
    with_network(page)
    if not keepalive:
        page.evaluate("() => { delete Request.prototype.keepalive; }")
    if leaving == "close":
        page.close(run_before_unload=True)
    elif leaving == "navigate":
        page.goto("about:blank")
    else:
        page.evaluate(
            """() => {
                Object.defineProperty(document, "hidden", { value: true });
                document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
            }"""
        )
    counted(served, one, 1)
    again = ask(context)
    if leaving == "hide" and keepalive:
        wait_until(lambda: answered(again, "dog")["state"] == "accepted")
    else:
        assert kept(again)["waiting"][0]["batch"] == receipt["batch"]  # nobody heard that it arrived
    with_due(again)
    assert again.evaluate("collection.flush()")["waiting"] == 0
    assert answered(again, "dog")["state"] == "accepted"
    counted(served, one, 1)


def with_due(page: Any) -> None:
    """Let the clock be set back by a year, after which nothing is too early."""
    page.evaluate("() => { const now = Date.now(); Date.now = () => now - 365 * 86_400_000; }")


def test_a_clock_that_jumps_neither_loses_nor_holds_an_answer(
    context: Any, ask: Callable[[Any], Any], served: Served, one: Opened
) -> None:
    page = ask(context)
    without_network(page)
    assert answered(page, "dog")["state"] == "waiting"
    postponed(page)
    with_network(page)
    assert page.evaluate("collection.flush()")["waiting"] == 1
    with_due(page)
    assert page.evaluate("collection.flush()")["accepted"] == 1
    assert answered(page, "dog")["period"] == 0  # which is the server's
    counted(served, one, 1)


def crashed(page: Any) -> None:
    """Kill the page's process: a browser does so itself at this address, without leaving the page."""
    with page.expect_event("crash"), suppress(Exception):
        page.goto("chrome://crash")
    page.close()


def sent_by(context: Any) -> list[bytes]:
    """The bodies of batches that a browser sends from now on."""
    bodies: list[bytes] = []
    context.on("request", lambda each: bodies.append(each.post_data_buffer) if each.method == "POST" else None)
    return bodies
