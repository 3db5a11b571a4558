"""The pages of collections in a real browser, before a real collector, with real reports."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import hush
from tests.collectors import Served, in_process, opened
from tests.system.workbench.axe import grave
from tests.system.workbench.conftest import sign_in
from tests.system.workbench.running import RunningWorkbench, Seen, pictured, running
from tests.system.workbench.running import opened as visited

pytestmark = pytest.mark.nightly

PLACES = ["museum", "park", "pool", "home"]
SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), hush.Domain(labels=PLACES))


def crowd(n: int) -> list[str]:
    """So many people, four in ten of whom were in the park."""
    return (["park"] * 4 + ["home"] * 3 + ["pool"] * 2 + ["museum"]) * (n // 10)


def quiet(seen: Seen) -> None:
    """See that nothing went wrong; a link that hands over a file ends as a request that was broken off, by itself."""
    seen.problems = [each for each in seen.problems if "/collection/file/" not in each]
    seen.quiet()


@contextmanager
def asking(text: str) -> Iterator[str]:
    """The address of a web site with one page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode() if self.path == "/" else b"")

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{site.server_address[1]}/"
        finally:
            site.shutdown()


def margin(page: Any) -> float:
    """The widest margin, as the page says it."""
    said = page.locator(".answer").first.inner_text()
    return float(re.search(r"known within ±([0-9.]+) points", said)[1])


def test_a_collector_without_collections_says_what_to_do(browser: Any, tmp_path: Path) -> None:
    """To an administrator, who can make one, and to a reader, who cannot."""
    with in_process(tmp_path) as empty, running(tmp_path, "--collector", empty.url) as workbench:
        for token, words in (
            (empty.admin, "Make one"),
            (empty.token("reader"), "Whoever has an administrator's token"),
        ):
            context = browser.new_context()
            sign_in(context, workbench, token)
            seen = visited(context, f"{workbench.url}/collections")
            seen.page.get_by_text("There is no collection yet").wait_for()
            assert words in seen.page.locator("main").inner_text()
            quiet(seen)
            context.close()


def opened_of(served: Served, id: str) -> Any:
    """A collection that there is, for `Served.send`."""
    from tests.collectors import Opened

    return Opened(id, "", served.url, SPEC)


def test_the_list_changes_by_itself_and_fits_a_phone(
    admin_context: Any, workbench: RunningWorkbench, served: Served, pictures: Path
) -> None:
    one = opened(served, spec=SPEC, name="Weather", target_n=4000)
    seen = visited(admin_context, f"{workbench.url}/collections")
    card = seen.page.get_by_role("link", name=re.compile("Weather"))
    card.get_by_text("0 of 4,000 reports").wait_for()
    assert served.send(one, one.body(crowd(1000))).status_code == 200
    card.get_by_text("1,000 of 4,000 reports").wait_for()
    assert grave(seen.page) == []
    pictured(seen.page, pictures, "collections")
    quiet(seen)


def test_a_reader_sees_estimates_and_can_change_nothing(
    reader_context: Any, workbench: RunningWorkbench, served: Served
) -> None:
    one = opened(served, spec=SPEC, name="For readers")
    assert served.send(one, one.body(crowd(1000))).status_code == 200
    seen = visited(reader_context, f"{workbench.url}/collection?id={one.id}")
    page = seen.page
    page.locator("figcaption", has_text="1,000 reports").first.wait_for()
    for words in ("Close it", "Make the next one", "Issue a key", "Reports (Parquet)"):
        assert page.get_by_text(words).count() == 0
    with page.expect_download() as file:
        page.get_by_role("link", name="Sums (.hush)").click()
    assert hush.Aggregate.from_bytes(Path(file.value.path()).read_bytes()).n == 1000
    page.goto(f"{workbench.url}/collections/new")
    page.get_by_text("Only an administrator can make collections").wait_for()
    quiet(seen)


def test_who_is_not_signed_in_is_told_what_to_do(
    context: Any, workbench: RunningWorkbench, served: Served, pictures: Path
) -> None:
    seen = visited(context, f"{workbench.url}/collections")
    seen.page.get_by_text("Sign in to see the collections").wait_for()
    assert grave(seen.page) == []
    pictured(seen.page, pictures, "collections-nobody")
    hidden = opened(served, spec=SPEC, name="Hidden")
    page = visited(context, f"{workbench.url}/collection?id={hidden.id}").page
    page.get_by_role("heading", name="Hidden").wait_for()
    assert page.locator("figcaption").count() == 0
    quiet(seen)


def test_a_collector_that_goes_is_told_of_and_found_again_when_it_is_back(
    browser: Any, tmp_path: Path, pictures: Path
) -> None:
    for name in ("collector", "workbench"):
        (tmp_path / name).mkdir()
    with in_process(tmp_path / "collector") as served:
        one = opened(served, spec=SPEC, name="Now and then")
        assert served.send(one, one.body(crowd(1000))).status_code == 200
        served.settled(one, 1000)
        port = int(served.url.rpartition(":")[2])
        with running(tmp_path / "workbench", "--collector", served.url) as bench:
            context = browser.new_context()
            sign_in(context, bench, served.admin)
            seen, listed = (visited(context, f"{bench.url}{at}") for at in (f"/collection?id={one.id}", "/collections"))
            seen.page.locator("figcaption", has_text="1,000 reports").wait_for()
            listed.page.get_by_text("1,000 of 1,000,000 reports").wait_for()
            assert served.process is not None
            served.process.terminate()
            served.process.wait(30)
            for each in (seen, listed):
                each.page.get_by_role("heading", name="The collector cannot be reached").wait_for()
            assert "Not live." in seen.page.content()
            assert seen.page.locator("figcaption", has_text="1,000 reports").count() == 1  # which stays
            pictured(seen.page, pictures, "collection-gone")
            seen.page.get_by_role("button", name="Close it", exact=True).click()
            seen.page.get_by_role("button", name="Yes, close it").click()
            seen.page.get_by_role("alert").get_by_text("Nothing answers as a collector does").wait_for()
            with in_process(tmp_path / "collector", port=port) as again:
                for each in (seen, listed):
                    gone = each.page.get_by_role("heading", name="The collector cannot be reached")
                    gone.wait_for(state="hidden", timeout=30_000)
                assert again.send(one, one.body(crowd(500))).status_code == 200
                seen.page.locator("figcaption", has_text="1,500 reports").wait_for(timeout=30_000)
                listed.page.get_by_text("1,500 of 1,000,000 reports").wait_for()
            quiet(seen)
            quiet(listed)
            context.close()
            assert "Traceback" not in bench.logged()


def test_the_lines_for_a_web_page_ask_and_answer_as_they_stand(
    admin_context: Any, workbench: RunningWorkbench, served: Served
) -> None:
    one = opened(served, spec=SPEC, name="Where were you?")
    page = visited(admin_context, f"{workbench.url}/collection?id={one.id}").page
    page.get_by_role("button", name="Issue a key for devices").click()
    page.locator(".note code").wait_for()
    lines = page.get_by_label("A question in a web page").inner_text()
    with asking(f"<!doctype html><html lang=en><title>Pets</title>{lines}</html>") as address:
        asked = admin_context.new_page()
        asked.goto(address)
        asked.get_by_label("park").check()
        asked.get_by_role("button", name="Answer").click()
        assert served.settled(one, 1)["n"] == 1
    page.get_by_text("1 of 1,000,000").wait_for()


def test_without_a_collector_the_page_says_what_to_run(browser: Any, tmp_path: Path, pictures: Path) -> None:
    with running(tmp_path) as bench:
        context = browser.new_context()
        for path in ("/collections", "/collection", "/collections/new"):
            seen = visited(context, f"{bench.url}{path}")
            seen.page.get_by_text("hush serve --workbench").wait_for()
            assert grave(seen.page) == []
            quiet(seen)
        pictured(seen.page, pictures, "collections-none")
        context.close()


def test_every_kind_of_question_has_its_own_fields(
    admin_context: Any, workbench: RunningWorkbench, served: Served, pictures: Path, tmp_path: Path
) -> None:
    seen = visited(admin_context, f"{workbench.url}/collections/new")
    page = seen.page
    page.get_by_label("Name", exact=True).fill("Ages")
    page.get_by_label("What does a person hold?").select_option("numeric")
    page.get_by_label("Highest number").fill("-5")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_text(re.compile("Highest number must be .*, got -5")).wait_for()
    page.get_by_label("Highest number").fill("99")
    page.get_by_label("People expected").fill("many")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_text("Something is not right yet").wait_for()
    page.get_by_text("must be a whole number").wait_for()
    page.get_by_label("People expected").fill("20,000")
    page.get_by_label("Widest margin that is useful").fill("0.5")
    page.get_by_text("±0.5 was asked for").wait_for()
    page.get_by_label("Widest margin that is useful").fill("")  # it may be left empty
    page.get_by_text("±49.5 is half of the range").wait_for()
    page.get_by_text("From 20,000 people, expect a margin of").wait_for()

    page.get_by_label("What does a person hold?").select_option("longitudinal")
    page.get_by_label("Budget ε of all answers").wait_for()
    page.get_by_label("What does a person hold?").select_option("multidim")
    page.get_by_label("Questions", exact=True).fill("sex: f, m\nage: young, old")
    page.get_by_text("SMP over 2 attributes").wait_for()
    page.get_by_label("What does a person hold?").select_option("frequency")
    page.get_by_label("Mechanism").select_option("LH")
    page.get_by_label("Further settings", exact=True).fill("g=2")
    page.get_by_label("Answers", exact=True).fill("a\nb\nc")
    page.get_by_text("LH over 3 answers").wait_for()
    page.get_by_text("Time, keys, readers and what is kept").click()
    page.get_by_label("Anyone may read estimates").check()
    page.get_by_label("A period lasts").fill("2")
    page.get_by_label("Unit").select_option("hours")
    assert grave(page) == []
    pictured(page, pictures, "collection-new-all")

    # A spec from a file counts instead.
    file = tmp_path / "spec.json"
    file.write_text(hush.Spec(hush.GRR(k=3, epsilon=0.5)).to_json())
    page.get_by_label("Paste or upload a spec").check()
    page.get_by_label("Or a file").set_input_files(file)
    page.get_by_text("GRR over 3 answers, ε = 0.5").wait_for()
    page.get_by_role("button", name="Make the draft").click()
    page.wait_for_url(re.compile(r"/collection\?id="))
    page.get_by_role("heading", name="Ages").wait_for()
    made = served.ask("GET", f"/v1/collections/{page.url.rpartition('=')[2]}").json()
    assert (made["period_seconds"], made["public"], made["target_n"]) == (7200, True, 20_000)
    assert made["spec"] == hush.Spec(hush.GRR(k=3, epsilon=0.5)).to_dict()
    quiet(seen)


def test_a_draft_that_the_planner_refuses_opens_only_when_asked_twice(
    admin_context: Any, workbench: RunningWorkbench, served: Served
) -> None:
    made = served.ask(
        "POST", "/v1/collections", json={"spec": SPEC.to_dict(), "name": "Few", "target_n": 50, "wished_error": 0.01}
    ).json()
    seen = visited(admin_context, f"{workbench.url}/collection?id={made['id']}")
    page = seen.page
    page.get_by_text("the noise drowns what you want to see").wait_for()
    page.get_by_role("button", name="Open it", exact=True).click()
    page.get_by_role("button", name="Open it all the same").click()
    page.get_by_role("button", name="No, leave it").click()
    assert served.ask("GET", f"/v1/collections/{made['id']}").json()["status"] == "draft"
    page.get_by_role("button", name="Open it all the same").click()
    page.get_by_role("button", name="Yes, open it").click()
    page.get_by_text("It was opened against the planner's advice.").wait_for()
    assert served.ask("GET", f"/v1/collections/{made['id']}").json()["forced"] is True
    quiet(seen)


def test_a_file_is_for_the_session_whose_page_it_is_on(
    admin_context: Any, context: Any, workbench: RunningWorkbench, served: Served
) -> None:
    one = opened(served, spec=SPEC, name="Ours")
    page = visited(admin_context, f"{workbench.url}/collection?id={one.id}").page
    address = page.get_by_role("link", name="Reports (Parquet)").get_attribute("href")
    assert admin_context.request.get(f"{workbench.url}{address}").ok
    assert context.request.get(f"{workbench.url}{address}").status == 403
    token = page.evaluate("document.documentElement.outerHTML + JSON.stringify(localStorage) + document.cookie")
    assert served.admin not in token
