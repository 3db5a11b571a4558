"""One path through each page of the workbench, for `make test`; `make nightly` also runs the files of the pages."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq

import hush
from hush.collect import Collector
from hush.workbench.explore.numbers import explored
from hush.workbench.learn import quiz
from tests.collectors import Served
from tests.system.workbench.axe import grave
from tests.system.workbench.conftest import sign_in
from tests.system.workbench.running import RunningWorkbench, opened, pictured, ready
from tests.system.workbench.running import opened as visited
from tests.system.workbench.test_workbench_audit import LONG, press
from tests.system.workbench.test_workbench_collections_pages import PLACES, crowd, margin, opened_of, quiet
from tests.system.workbench.test_workbench_data import TABLE, tried
from tests.system.workbench.test_workbench_explore import captioned
from tests.system.workbench.test_workbench_plan import heading, planned
from tests.system.workbench.test_workbench_sensitive import shown


def test_signing_in_takes_a_new_number_and_signing_out_forgets(
    workbench: RunningWorkbench, served: Served, context: Any
) -> None:
    page = context.new_page()
    page.goto(f"{workbench.url}/sign-in")
    before = [each["value"] for each in context.cookies() if each["name"] == "hush-session"]
    sign_in(context, workbench, served.admin)
    after = [each["value"] for each in context.cookies() if each["name"] == "hush-session"]
    assert before != after
    page.goto(workbench.url)
    assert page.get_by_text("Administrator").count() == 1
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").wait_for()
    assert httpx.get(workbench.url, cookies={"hush-session": after[0]}).text.count("Administrator") == 0


def test_the_start_page_loads_and_leads_to_every_page(
    workbench: RunningWorkbench, context: Any, pictures: Path
) -> None:
    seen = opened(context, workbench.url)
    page = seen.page
    assert page.evaluate("document.documentElement.lang") == "en-US"
    assert page.title() == "Hush workbench"
    places = page.locator("nav[aria-label='Pages'] a")
    cards = page.locator("a.card")
    assert places.count() == cards.count()
    for i in range(places.count()):
        assert places.nth(i).get_attribute("href") == cards.nth(i).get_attribute("href")
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    assert grave(page) == []
    for file in pictured(page, pictures, "start"):
        assert file.stat().st_size > 5000
    seen.quiet()


def test_a_sentence_is_answered_in_words(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    page.get_by_text("Nothing is planned yet").wait_for()
    assert grave(page) == []
    pictured(page, pictures, "plan-empty")
    page.get_by_label("Percentage points").fill("2")
    page.get_by_label("People", exact=True).fill("10,000")
    page.get_by_label("Number of answers").fill("6")
    page.get_by_role("button", name="Plan it").click()
    heading(seen, "Recommended").wait_for()
    spec = planned(n=10_000, k=6, error=0.02)
    told = page.locator(".answer").inner_text()
    assert f"ε = {spec.mechanism.epsilon:g}" in told
    assert "From 10,000 people, each percentage by itself is then within ±" in told
    assert re.search(r"is right [\d.]+ times in 100; 16.7 by luck alone", told)
    assert 1 <= page.locator("article.card").filter(has_text="Gives up").count() <= 3
    page.wait_for_function("location.search === '?points=2&people=10000&answers=6'")
    assert grave(page) == []
    for file in pictured(page, pictures, "plan"):
        assert file.stat().st_size > 20_000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen.quiet()


def test_a_column_is_tried_to_the_end(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = tried(workbench, context, "drinks.csv", TABLE, "drink")
    page = seen.page
    assert "Pilot or public data only" in page.locator(".note.warning").inner_text()
    said = page.locator(".answer").inner_text()
    assert "2,000 people, 4 different values" in said
    assert "1 row is empty" in said
    assert "seed 7" in page.locator("main").inner_text()
    with page.expect_download() as handed:
        page.get_by_role("button", name="Download the figures").click()
    rows = [
        row for row in csv.DictReader(io.StringIO(Path(handed.value.path()).read_text())) if row["mechanism"] == "GRR"
    ]
    m = hush.GRR(k=4, epsilon=1.0)
    due = m.estimate(m.simulate([800, 600, 400, 200], rng=hush.seeded(7)))
    assert [float(row["estimate"]) for row in rows] == due.frequencies.tolist()
    assert [row["value"] for row in rows] == ["tea", "coffee", "water", "zebramilk"]
    assert grave(page) == []
    pictured(page, pictures, "data")
    seen.quiet()


def test_marking_changes_what_is_gained_and_the_spec_has_it(
    workbench: RunningWorkbench, context: Any, pictures: Path
) -> None:
    seen = shown(workbench, context)
    page = seen.page
    page.get_by_label("milk", exact=True).check()
    page.get_by_text("Protecting only the 4 sensitive answers").wait_for()
    assert page.get_by_label("Answers, one a line").input_value().endswith("* milk")
    page.get_by_label("Budget of a sensitive answer, ε").press("ArrowRight")
    page.get_by_text("privacy loss of ε = 1.1").wait_for()
    with page.expect_download() as handed:
        page.get_by_role("button", name="Download the spec").click()
    spec = hush.Spec.from_json(Path(handed.value.path()).read_text())
    assert spec.domain.labels == ("tea", "coffee", "water", "juice", "beer", "wine", "spirits", "milk")
    assert spec.mechanism.guarantee == hush.ULDP(1.1, (4, 5, 6, 7))
    assert grave(page) == []
    pictured(page, pictures, "sensitive")
    seen.quiet()


def test_a_mechanism_is_audited_to_the_end_and_survives_a_reload(
    context: Any, workbench: RunningWorkbench, pictures: Path, tmp_path: Path
) -> None:
    seen = opened(context, f"{workbench.url}/audit")
    page = seen.page
    assert page.get_by_text("Nothing was audited yet").is_visible()
    assert grave(page) == []
    pictured(page, pictures, "audit-empty")
    page.get_by_label("Number of values, k").fill("8")
    page.get_by_text("More: methods").click()
    page.get_by_label("Seed, to repeat it").fill("7")
    press(page)
    found = page.get_by_role("heading", name="No violation was found.")
    found.wait_for(timeout=LONG)
    assert "k=8" in page.url
    page.reload()
    ready(page)
    found.wait_for(timeout=LONG)
    assert page.get_by_label("Number of values, k").input_value() == "8"
    assert page.get_by_text("By the law that the code states, it is 1.").first.is_visible()
    assert grave(page) == []
    pictured(page, pictures, "audit")
    with page.expect_download() as coming:
        page.get_by_role("button", name="The numbers, JSON").click()
    coming.value.save_as(tmp_path / "audit.json")
    told = json.loads((tmp_path / "audit.json").read_text())
    law = hush.audit.run(hush.OUE(k=8, epsilon=1.0), "exact")
    assert [each["method"] for each in told["audits"]] == ["likelihood", "exact"]
    assert told["audits"][1]["epsilon_lower"] == law.epsilon_lower
    with page.expect_download() as coming:
        page.get_by_role("button", name="The report, a page").click()
    coming.value.save_as(tmp_path / "audit.html")
    assert "<title>Audit of OUE</title>" in (tmp_path / "audit.html").read_text()
    seen.quiet()


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


def test_sliders_move_every_number(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    captioned(page, "k = 20, ε = 1 and n = 20,000")
    assert page.locator(".explored tbody tr").count() == len(explored())
    page.get_by_label("Budget, ε").press("ArrowRight")
    captioned(page, "ε = 1.1")
    page.wait_for_selector("[type=range][aria-valuetext='1.1']")
    page.get_by_label("Answers, k").press("ArrowLeft")
    captioned(page, "k = 15, ε = 1.1")
    page.get_by_label("People, n").press("ArrowRight")
    captioned(page, "n = 30,000")
    assert "more private" in page.locator("main").inner_text()
    assert "With 30,000 people" in page.locator(".answer").first.inner_text()
    assert grave(page) == []
    pictured(page, pictures, "explore")
    seen.quiet()


def test_the_page_is_read_to_its_end_and_the_crowd_answers(
    context: Any, workbench: RunningWorkbench, pictures: Path
) -> None:
    seen = opened(context, f"{workbench.url}/learn")
    page = seen.page
    assert grave(page) == []
    page.get_by_text("Yes seems likely in 10 of 100 cases before the report, in 25 after it.").wait_for()
    belief = page.get_by_label("How likely somebody holds your answer")
    belief.focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    page.get_by_text("Yes seems likely in 25 of 100 cases before the report, in 50 after it.").wait_for()
    page.get_by_label("ε, for a question with four answers").press("Home")
    page.get_by_text("right 27 times in 100; by luck alone, 25 times").wait_for()
    page.get_by_role("button", name="Ask other people").click()
    for number, puzzle in enumerate(quiz.puzzles()):
        page.locator(".puzzle").nth(number).get_by_label(puzzle.options[puzzle.right], exact=True).check()
        page.locator(".puzzle").nth(number).get_by_text("Right.").wait_for()
    page.get_by_role("button", name="Randomize my answer").click()
    page.get_by_text("Choose an answer first").wait_for()
    page.get_by_label(quiz.READ[2]).check()
    page.get_by_role("button", name="Randomize my answer").click()
    page.get_by_text("The crowd's answer:").wait_for(timeout=60_000)
    page.get_by_text("Yours was one of 20,000 reports").wait_for()
    page.wait_for_timeout(500)
    assert grave(page) == []
    pictured(page, pictures, "learn")
    seen.quiet()
