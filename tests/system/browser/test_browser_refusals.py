"""In a real browser: what a page refuses, in words, and what it never says; nothing is spent where something fails."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hush
from hush.collect.envelope import Envelope
from tests.system.browser.conftest import SWITCHES
from tests.system.browser.needed import chromium
from tests.system.browser.profiles import running
from tests.system.browser.scripted import ID, Answer, Scripted, problem, scripted
from tests.system.browser.site import Site, answered, joined, kept, refused
from tests.waiting import wait_until

pytestmark = pytest.mark.nightly

SPEC = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "bird"]))
JOIN = "hush.join(given[0])"


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted(SPEC) as made:
        yield made


@pytest.fixture
def page(context: Any, site: Site) -> Any:
    return site.visit(context)


# Hostile servers.


def test_thresholds_that_lose_more_than_is_declared_are_refused(page: Any, server: Scripted) -> None:
    """ε = 1 is declared, with the thresholds of 20."""
    server.view["spec"]["mechanism"]["thresholds"] = dict(hush.GRR(k=3, epsilon=20.0).to_dict()["thresholds"])
    server.view["spec_hash"] = hashed(page, server.view["spec"])
    told = refused(page, JOIN, server.url)
    assert told.startswith("epsilon must be no less than the thresholds lose, got 1; ")
    assert server.sent == []


def test_more_than_the_pages_maximum_is_refused(page: Any, server: Scripted) -> None:
    told = refused(page, "hush.join(given[0], { maximum: 0.9 })", server.url)
    assert told == "maximum must be at least 1 for an answer, got 0.9; or raise it"


def test_another_hash_and_a_spec_that_changes_are_refused(page: Any, server: Scripted) -> None:
    other = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["dog", "cat", "bird"]))
    server.view["spec_hash"] = other.hash
    assert f"spec must have the hash {other.hash}, got {SPEC.hash}" in refused(page, JOIN, server.url)
    server.view["spec_hash"] = SPEC.hash
    pinned = refused(page, f"hush.join(given[0], {{ spec: '{other.hash}' }})", server.url)
    assert f"spec must have the hash {other.hash}, got {SPEC.hash}" in pinned
    joined(page, server.url, spec=SPEC.hash)
    assert answered(page, "dog")["state"] == "accepted"
    server.view.update(spec=other.to_dict(), spec_hash=other.hash)
    assert f"spec must have the hash {SPEC.hash}, got {other.hash}" in refused(page, JOIN, server.url)


def test_a_redirect_is_not_followed(page: Any, server: Scripted) -> None:
    with scripted(SPEC) as other:
        server.instead = 302, {}, {"location": other.url}
        assert "url must lead to a collection" in refused(page, JOIN, server.url)
        server.instead = None
        joined(page, server.url)
        server.answer = lambda _: (307, {}, {"location": f"{other.url}/batches"})
        receipt = answered(page, "dog")
        assert (receipt["state"], receipt["reason"]) == ("waiting", "unreachable")
        assert other.heads == []


def test_an_answer_that_names_another_batch_acknowledges_nothing(page: Any, server: Scripted) -> None:
    joined(page, server.url)
    server.answer = lambda made: (200, {"batch": ID, "period": made.period, "accepted": 1}, {})
    assert answered(page, "dog")["reason"] == "not-a-collector"
    server.answer = lambda _: (200, b"<html>Log in to the hotel</html>", {"content-type": "text/html"})
    page.evaluate("() => { const now = Date.now(); Date.now = () => now - 365 * 86_400_000; }")
    told = page.evaluate("collection.flush()")
    assert (told["waiting"], told["reason"]) == (1, "not-a-collector")
    assert len(kept(page)["waiting"]) == 1
    assert len(set(server.sent)) == 1


def test_a_server_that_asks_to_wait_is_left_alone(page: Any, site: Site, server: Scripted) -> None:
    """Also while the page is closed, and on the next visit."""
    joined(page, server.url)
    server.answer = lambda _: problem(503, "busy", **{"retry-after": "100"})
    assert answered(page, "dog")["reason"] == "busy"
    page.goto("about:blank")
    again = site.visit(page.context)
    joined(again, server.url)
    told = again.evaluate("collection.flush()")
    assert (told["waiting"], told["reason"]) == (1, "busy")
    assert 90 < told["due"] <= 200
    assert len(server.heads) == 2  # the spec and the batch, once


def test_a_server_that_does_not_answer_keeps_no_other_waiting(page: Any, server: Scripted) -> None:
    done, late = threading.Event(), list[bool]()

    def slow(_: Envelope) -> Answer:
        late.append(not done.wait(600))
        return problem(503, "busy")

    other = ID[::-1]
    with scripted(SPEC, id=other, chain=[other]) as quick:
        server.answer = slow
        joined(page, server.url)
        page.evaluate("() => { collection.answer('dog'); }")
        wait_until(lambda: page.wait_for_timeout(10) or server.sent)
        joined(page, quick.url.replace(ID, other))
        assert answered(page, "dog")["state"] == "accepted"
        assert late == []  # it is still being waited for
        done.set()
        wait_until(lambda: late == [False])


def test_a_limit_along_a_chain_holds_whatever_is_told_later(page: Any, server: Scripted) -> None:
    for period in range(3):
        server.view["period"] = period
        joined(page, server.url, maximumChain=2)
        if period < 2:
            assert answered(page, "dog")["state"] == "accepted"
    assert "maximumChain must be at least 3 for an answer, got 2" in refused(page, "collection.answer('dog')")
    assert len(server.sent) == 2


def test_permanent_answers_are_kept_from_period_to_period(page: Any) -> None:
    protocol = hush.longitudinal.Memoized(mechanism=hush.OUE(k=64, epsilon=1.0))
    with scripted(hush.Spec(protocol)) as server:
        for period in range(4):
            server.view["period"] = period
            joined(page, server.url, timesKnown=True)
            assert answered(page, 7 if period < 3 else 8)["state"] == "accepted"
        reports = [bytes(each)[-8:] for each in server.sent]
        assert reports[0] == reports[1] == reports[2] != reports[3]
        server.view["period"] = 4
        joined(page, server.url)
        assert "loss must have a bound" in refused(page, "collection.answer(7)")
        assert page.evaluate("collection.spent()")["total"] is None


# What leaves the page.


def test_neither_cookies_nor_the_page_are_told(context: Any, site: Site, server: Scripted) -> None:
    context.add_cookies([{"name": "who", "value": "ann", "url": server.url}])
    page = site.visit(context, f"{site.url}a-secret-page?person=ann")
    joined(page, server.url)
    answered(page, "dog")
    assert len(server.heads) == 2
    for head in server.heads:
        assert not head.keys() & {"cookie", "referer", "authorization"}
        assert not [value for value in head.values() if "secret" in value or "ann" in value]
    assert server.heads[1]["content-type"] == "text/plain"
    assert set(server.heads[1]) - set(server.heads[0]) == {"content-length", "content-type"}
    assert "access-control-request-method" not in server.heads[1]  # nor is there a preflight


def test_a_page_without_tls_is_refused(context: Any, site: Site, server: Scripted) -> None:
    page = site.visit(context, site.plain)
    told = refused(page, JOIN, server.url)
    assert told == "page must have WebCrypto, Web Locks and IndexedDB, got less; use https, or pass a store"
    assert server.heads == []


def test_a_server_without_tls_is_refused(page: Any) -> None:
    told = refused(page, JOIN, f"http://plain.example/v1/collections/{ID}")
    assert told.startswith("url must be https://HOST/v1/collections/ID, got http://plain.example/")


# Storage.


def test_a_full_disk_refuses_and_nothing_is_spent_or_sent(context: Any, site: Site, server: Scripted) -> None:
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": site.url.rstrip("/"), "quotaSize": 100})
    page.goto(site.url)
    page.wait_for_function("window.ready")
    joined(page, server.url)
    assert (
        refused(page, "collection.answer('dog')") == "storage must have room, got QuotaExceededError; nothing was spent"
    )
    assert server.sent == []
    session.send("Storage.overrideQuotaForOrigin", {"origin": site.url.rstrip("/")})
    assert page.evaluate("collection.spent()")["total"] == 0
    assert answered(page, "dog")["state"] == "accepted"


def test_a_page_that_may_store_nothing_is_refused(page: Any, site: Site, server: Scripted) -> None:
    """In a frame without an origin."""
    page.evaluate(
        """(url) => {
            const frame = Object.assign(document.createElement("iframe"), { src: url });
            frame.sandbox = "allow-scripts";
            document.body.append(frame);
        }""",
        site.url,
    )
    wait_until(lambda: page.wait_for_timeout(10) or len(page.frames) == 2)
    frame = page.frames[1]
    frame.wait_for_function("window.ready")
    assert refused(frame, JOIN, server.url) == "storage must have room, got SecurityError; nothing was spent"
    assert server.sent == []


def test_a_store_that_cannot_be_opened_is_not_taken_for_an_empty_one(page: Any, server: Scripted) -> None:
    """A browser that ends the opening of what is there says what it says where a page ends the making of it."""
    server.answer = lambda _: problem(503, "busy")
    joined(page, server.url)
    assert answered(page, "dog")["state"] == "waiting"
    page.evaluate(
        """() => {
            window.honest = IDBFactory.prototype.open;
            IDBFactory.prototype.open = () => {
                const opening = { error: new DOMException("closing", "AbortError") };
                setTimeout(() => opening.onerror());
                return opening;
            };
        }"""
    )
    for asked in ("flush", "spent"):
        told = refused(page, f"collection.{asked}()")
        assert told == "storage must have room, got AbortError; nothing was spent"
    page.evaluate("() => { IDBFactory.prototype.open = honest; }")
    assert page.evaluate("collection.flush()")["waiting"] == 1
    assert page.evaluate("collection.spent()")["total"] == 1


def test_a_browser_that_stores_nothing_for_anyone_is_refused(
    tmp_path: Path, playwright: Any, site: Site, server: Scripted
) -> None:
    """By its settings: sites may keep no data."""
    settings = tmp_path / "Default" / "Preferences"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
    with running(playwright, chromium(), SWITCHES, tmp_path) as made:
        page = site.visit(made.context)
        told = refused(page, JOIN, server.url)
    assert re.fullmatch(r"storage must have room, got \w+Error; nothing was spent", told)
    assert server.sent == []


def test_what_a_person_leaves_is_forgotten_but_for_what_was_spent(page: Any, server: Scripted) -> None:
    joined(page, server.url)
    server.answer = lambda _: problem(503, "busy", **{"retry-after": "100"})
    answered(page, "dog")
    page.evaluate("collection.leave()")
    state = kept(page)
    assert state["waiting"] == []
    assert state["collections"][ID]["answered"]["tag"] == ""
    assert state["protocols"][0]["answers"] == {ID: 1}
    assert "collection must be open, got left" in refused(page, "collection.answer('dog')")


def hashed(page: Any, plain: Any) -> str:
    """The hash of a spec, as the client computes it."""
    told: str = page.evaluate(
        "(plain) => import('/clients/javascript/src/bytes.js').then(({ hashed }) => hashed(plain))", plain
    )
    return told
