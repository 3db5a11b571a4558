"""The pages of collections in a real browser, before a real collector, with real reports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import hush
from hush.collect import Collector
from tests.collectors import Served, opened
from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, Seen, pictured
from tests.system.workbench.running import opened as visited

PLACES = ["museum", "park", "pool", "home"]
SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), hush.Domain(labels=PLACES))


def crowd(n: int) -> list[str]:
    """So many people, four in ten of whom were in the park."""
    return (["park"] * 4 + ["home"] * 3 + ["pool"] * 2 + ["museum"]) * (n // 10)


def quiet(seen: Seen) -> None:
    """See that nothing went wrong; a link that hands over a file ends as a request that was broken off, by itself."""
    seen.problems = [each for each in seen.problems if "/collection/file/" not in each]
    seen.quiet()


def margin(page: Any) -> float:
    """The widest margin, as the page says it."""
    said = page.locator(".answer").first.inner_text()
    return float(re.search(r"known within ±([0-9.]+) points", said)[1])


def test_from_nothing_to_a_chain_of_collections(
    admin_context: Any, workbench: RunningWorkbench, served: Served, pictures: Path, tmp_path: Path
) -> None:
    seen = visited(admin_context, f"{workbench.url}/collections/new")
    page = seen.page

    # What is not right is told beside its field.
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_text("Answers must be given.").wait_for()

    page.get_by_label("Name", exact=True).fill("Outings")
    page.get_by_label("Answers", exact=True).fill("\n".join(PLACES))
    page.get_by_label("People expected").fill("500")
    page.get_by_label("Widest margin that is useful").fill("8")
    page.get_by_text("From 500 people, expect a margin of ±16.8 points").wait_for()
    assert grave(page) == []
    pictured(page, pictures, "collection-new")
    page.get_by_role("button", name="Make the draft").click()
    page.wait_for_url(re.compile(r"/collection\?id="))

    # The planner refuses, and says what would do; a new draft takes the place of the old one.
    page.get_by_role("button", name="Open it", exact=True).click()
    page.get_by_role("heading", name="Too much noise for so few people").wait_for()
    pictured(page, pictures, "collection-refused")
    assert grave(page) == []
    first = page.url
    page.get_by_role("button", name="Expect 2,211 people instead").click()
    page.wait_for_url(lambda url: "/collection?id=" in url and url != first)
    page.get_by_role("button", name="Open it", exact=True).click()
    page.get_by_text("People can report.").wait_for()
    id = page.url.rpartition("=")[2]
    assert served.ask("GET", f"/v1/collections/{first.rpartition('=')[2]}").status_code == 404

    # A key, and people who answer with the client of Python.
    page.get_by_role("button", name="Issue a key for devices").click()
    key = page.locator(".note code").inner_text()
    assert key.startswith("hush-ingest-")
    assert key in page.get_by_label("Python", exact=True).inner_text()
    address = f"{served.url}/v1/collections/{id}"
    margins = []
    with Collector(address, home=tmp_path / "answers", key=key) as outings:
        for part in range(1, 4):
            answers = crowd(500 * part)
            people = outings.people([f"{part}-{i}" for i in range(len(answers))])
            assert {each.state for each in people.answer(answers).receipts} == {"accepted"}
            n = 500 * sum(range(part + 1))
            page.get_by_text(f"{n:,} of 2,211").wait_for()
            page.locator("figcaption", has_text=f"{n:,} reports").first.wait_for()
            margins.append(margin(page))
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] < 0.6 * margins[0]
    page.get_by_role("heading", name="How the error bars shrink").wait_for()
    shown = page.get_by_role("img", name=re.compile("Estimated share of each answer"))
    assert shown.count() == 1

    # What is refused is told by its reason.
    assert served.send(opened_of(served, id), b"\0").status_code == 400
    page.get_by_role("cell", name="This is not what the interface takes").wait_for()
    assert grave(page) == []
    page.wait_for_timeout(400)
    pictured(page, pictures, "collection-open")

    # Files.
    with page.expect_download() as file:
        page.get_by_role("link", name="Reports (Parquet)").click()
    assert pq.read_table(file.value.path()).num_rows == 3000
    with page.expect_download() as file:
        page.get_by_role("button", name="Estimate (CSV)").click()
    assert Path(file.value.path()).read_text().startswith("label,frequency")

    # Close, and let another follow.
    page.get_by_role("button", name="Close it", exact=True).click()
    page.get_by_role("button", name="Yes, close it").click()
    page.get_by_text("Nobody can report any more.").wait_for()
    page.get_by_role("link", name="Make the next one").click()
    page.wait_for_url(re.compile("follows="))
    page.get_by_label("Budget ε of one answer").fill("0.7")
    page.get_by_label("People expected").fill("6000")
    page.get_by_text("It gives what was asked for.").wait_for()
    pictured(page, pictures, "collection-next")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_text("Whoever answers once in each of these 2 collections spends ε = 1.7 in all.").wait_for()
    pictured(page, pictures, "collection-chain")
    page.get_by_role("button", name="Delete the draft").click()
    page.get_by_role("button", name="Yes, delete it").click()
    page.wait_for_url(f"{workbench.url}/collections")
    page.get_by_role("link", name=re.compile("Outings")).first.wait_for()
    assert grave(page) == []
    quiet(seen)


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
    seen.page.get_by_role("heading", name="Sign in to see the collections").wait_for()
    assert grave(seen.page) == []
    pictured(seen.page, pictures, "collections-nobody")
    hidden = opened(served, spec=SPEC, name="Hidden")
    page = visited(context, f"{workbench.url}/collection?id={hidden.id}").page
    page.get_by_role("heading", name="Hidden").wait_for()
    assert page.locator("figcaption").count() == 0
    quiet(seen)
