"""Plan in a real browser: from a sentence to an answer, its alternatives, and everything one leaves with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hush
from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, Seen, opened, pictured, ready

pytestmark = pytest.mark.nightly

ASKED = "points=1&people=20000&answers=12"
LEFT = "Take it with you"


def asked(context: Any, workbench: RunningWorkbench, query: str, words: str = LEFT) -> Seen:
    """Open a link that asks something, and wait for its answer."""
    seen = opened(context, f"{workbench.url}/plan?{query}")
    heading(seen, words).wait_for(timeout=60_000)
    return seen


def heading(seen: Seen, words: str) -> Any:
    """A heading of the page."""
    return seen.page.get_by_role("heading", name=words, exact=True)


def kept(seen: Seen, name: str, folder: Path) -> Path:
    """Press a button that hands over a file; the file."""
    with seen.page.expect_download() as waiting:
        seen.page.get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def planned(**wishes: Any) -> hush.Spec:
    """What the library recommends."""
    return hush.plan(**wishes, worst=True).first.spec


def test_another_question_drops_the_one_that_is_still_sought(workbench: RunningWorkbench, context: Any) -> None:
    """Else its answer would come later, in place of the one that was asked for last, and under its address."""
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    sought = page.get_by_role("heading", name="Your plan", exact=True)
    page.get_by_label("Number of answers").first.fill("2,000")
    page.get_by_role("button", name="Plan it").click()
    sought.wait_for()
    page.get_by_label("Number of answers").first.fill("4")
    page.get_by_role("button", name="Plan it").click()
    heading(seen, LEFT).wait_for(timeout=60_000)
    assert not sought.is_visible()
    page.wait_for_function("location.search === '?points=1&people=20000&answers=4'")
    assert "25 by luck alone" in page.locator(".answer").inner_text()
    seen.quiet()


def test_back_leads_to_the_wish_before_and_forward_to_the_next(workbench: RunningWorkbench, context: Any) -> None:
    """Fields, answer and address go together; before the first wish stands the page as it opened."""
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    people, luck = page.get_by_label("People", exact=True), page.locator(".answer")
    for answers in ("4", "5", "5"):  # the same wish once more is no other place
        page.get_by_label("Number of answers").first.fill(answers)
        page.get_by_role("button", name="Plan it").click()
        luck.get_by_text(f"{100 / int(answers):g} by luck alone").wait_for()
    page.get_by_text("Say which risk you accept").click()
    page.get_by_label("Largest ε").fill("8")
    page.get_by_role("slider").press("ArrowLeft")
    page.get_by_text("99 in 100").wait_for()
    people.fill("30,000")
    page.get_by_role("button", name="Plan it").click()
    luck.get_by_text("From 30,000 people").wait_for()
    page.wait_for_function("location.search.endsWith('guesses=99&epsilon=8')")
    page.go_back()
    luck.get_by_text("From 20,000 people").wait_for()
    assert [people.input_value(), page.get_by_label("Largest ε").input_value()] == ["20,000", ""]
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "no limit"
    page.go_back()
    luck.get_by_text("25 by luck alone").wait_for()
    assert page.get_by_label("Number of answers").first.input_value() == "4"
    assert page.evaluate("location.search") == "?points=1&people=20000&answers=4"
    page.go_back()
    page.get_by_text("Nothing is planned yet").wait_for()
    assert (luck.count(), page.evaluate("location.search")) == (0, "")
    assert page.get_by_label("Number of answers").first.input_value() == "4", "what was typed is not lost"
    page.evaluate("history.go(3)")
    luck.get_by_text("From 30,000 people").wait_for()
    assert page.get_by_label("Largest ε").input_value() == "8"
    page.reload()
    ready(page)
    luck.get_by_text("From 30,000 people").wait_for()
    page.go_back()
    luck.get_by_text("From 20,000 people").wait_for()
    seen.quiet()


def test_back_finds_a_list_that_is_too_long_for_an_address(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    names = [f"a rather long answer, number {i}" for i in range(300)]
    page.get_by_text("Name the answers").click()
    page.get_by_label("Answers, one a line").fill("\n".join(names))
    page.get_by_label("Percentage points").fill("5")
    page.get_by_role("button", name="Plan it").click()
    heading(seen, LEFT).wait_for(timeout=60_000)
    page.get_by_label("Answers, one a line").fill("")
    page.get_by_label("Number of answers").first.fill("4")
    page.get_by_role("button", name="Plan it").click()
    page.get_by_text("25 by luck alone").first.wait_for()
    page.go_back()
    page.get_by_text("The list of answers is too long for a link").wait_for(timeout=60_000)
    assert page.get_by_label("Answers, one a line").input_value().split("\n") == names
    seen.quiet()


def test_the_start_page_leads_to_the_plan(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, workbench.url)
    seen.page.get_by_label("People", exact=True).fill("5000")
    seen.page.get_by_role("button", name="Plan it").click()
    seen.page.wait_for_url(f"{workbench.url}/plan?points=1&people=5000&answers=12")
    heading(seen, LEFT).wait_for()
    seen.quiet()


def test_mistakes_stand_beside_their_fields(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    page.get_by_label("People", exact=True).fill("many")
    page.get_by_role("button", name="Plan it").click()
    page.get_by_text("This must be a number.").wait_for()
    assert page.get_by_label("People", exact=True).get_attribute("aria-invalid") == "true"
    assert grave(page) == []
    other = opened(context, f"{workbench.url}/plan?points=1&people=20000&answers=12&chosen=nothing")
    other.page.get_by_text("must name a row of the table").first.wait_for()
    for each in (seen, other):
        each.quiet()


def test_an_alternative_is_chosen_and_left_again(workbench: RunningWorkbench, context: Any) -> None:
    seen = asked(context, workbench, ASKED + "&held=average")
    page = seen.page
    page.get_by_role("button", name="Choose GRR").click()
    heading(seen, "Your choice").wait_for()
    assert "chosen=GRR" in page.url
    assert "generalized randomized response (GRR)" in page.locator(".answer").inner_text()
    page.get_by_role("button", name="Back to the recommendation").click()
    heading(seen, "Recommended").wait_for()
    page.go_back()
    ready(page)
    heading(seen, "Your choice").wait_for()
    seen.quiet()


def test_the_whole_table_and_the_plot_have_every_option(workbench: RunningWorkbench, context: Any) -> None:
    seen = asked(context, workbench, ASKED)
    page = seen.page
    rows = len(hush.plan(n=20_000, k=12, error=0.01, worst=True).choices)
    page.get_by_text(f"The whole table, {rows} rows").click()
    whole = page.locator("table", has_text="Everything that meets the wish, best first")
    assert whole.locator("tbody tr").count() == rows
    drawn = page.get_by_role("img", name=re.compile("The mechanisms that meet the wish"))
    assert drawn.locator("svg").count() == 1
    page.get_by_text("Show as table").first.press("Enter")
    behind = page.locator("table", has_text="The mechanisms that meet the wish")
    assert behind.locator("tbody tr").count() == rows
    assert grave(page) == []
    seen.quiet()


def test_one_leaves_with_something(workbench: RunningWorkbench, context: Any, tmp_path: Path) -> None:
    seen = asked(context, workbench, "points=3&people=2000&labels=red%0Agreen%0Ablue&other=else")
    spec = planned(n=2000, domain=hush.Domain(labels=["red", "green", "blue"], other="else"), error=0.03)
    assert hush.read(kept(seen, "Spec (JSON)", tmp_path)) == spec
    script = kept(seen, "Script", tmp_path)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of these intervals hold the truth" in done.stdout
    notebook = json.loads(kept(seen, "Notebook", tmp_path).read_text())
    assert (notebook["nbformat"], notebook["cells"][0]["cell_type"]) == (4, "markdown")
    page = kept(seen, "Page (HTML)", tmp_path).read_text()
    assert spec.hash in page
    printed = context.new_page()
    printed.set_content(page)
    assert len(re.findall(rb"/Type /Page\b", printed.pdf(format="A4", prefer_css_page_size=True))) == 1
    paper = kept(seen, "Page (PDF)", tmp_path).read_bytes()
    assert paper.startswith(b"%PDF")
    assert paper.count(b"/Type /Page ") == 1
    seen.quiet()


def test_the_link_is_copied(workbench: RunningWorkbench, context: Any) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=workbench.url)
    seen = asked(context, workbench, ASKED)
    seen.page.get_by_role("button", name="Copy the link").click()
    seen.page.get_by_text("Copied").wait_for()
    assert seen.page.evaluate("navigator.clipboard.readText()") == f"{workbench.url}/plan?{ASKED}"
    seen.quiet()


def test_what_cannot_be_met_shows_ways_out(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = asked(context, workbench, ASKED + "&epsilon=1", "Not possible as it is")
    page = seen.page
    assert page.get_by_role("button", name=re.compile("^Plan that: Ask .* people")).count() == 1
    assert grave(page) == []
    pictured(page, pictures, "plan-not")
    page.get_by_role("button", name=re.compile("^Plan that: Accept ε")).click()
    heading(seen, "Recommended").wait_for()
    seen.quiet()


def test_rounds_are_a_job_with_progress(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = asked(context, workbench, "points=2&people=20000&answers=12&rounds=6")
    assert "In every one of 6 rounds" in seen.page.locator(".answer").inner_text()
    assert "job=" in seen.page.url
    seen.page.reload()
    ready(seen.page)
    heading(seen, LEFT).wait_for()
    assert grave(seen.page) == []
    pictured(seen.page, pictures, "plan-rounds")
    seen.quiet()


def test_only_some_answers_are_sensitive(workbench: RunningWorkbench, context: Any) -> None:
    seen = asked(context, workbench, "points=1&people=20000&labels=a%0Ab%0Ac%0Ad%0Ae&sensitive=a%0Ab")
    told = seen.page.locator(".answer").inner_text()
    assert "protects the 2 sensitive answers only" in told
    assert "Harmless answers may be revealed" in told
    seen.quiet()


def test_which_end_of_the_slider_is_private_is_said(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    seen.page.get_by_text("Say which risk you accept").click()
    slider = seen.page.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "no limit"
    assert seen.page.get_by_text("more private: a guess is luck").is_visible()
    assert seen.page.get_by_text("less private: no limit").is_visible()
    slider.focus()
    for _ in range(60):
        slider.press("ArrowLeft")
    seen.page.get_by_text("40 in 100").wait_for()
    seen.page.get_by_role("button", name="Plan it").click()
    heading(seen, LEFT).wait_for()
    assert "guesses=40" in seen.page.url
    seen.quiet()


def test_a_search_is_cancelled_and_another_ends(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    page = seen.page
    page.get_by_text("What is the smallest ε with which the results are good enough?").click()
    search = page.locator("details", has_text="What is the smallest ε with which")
    search.get_by_label("How many people").fill("3,000,000")
    search.get_by_label("How many answers").fill("1000")
    search.get_by_label("The number X").fill("0.01")
    search.get_by_role("button", name="Search").click()
    search.get_by_role("progressbar").wait_for()
    search.get_by_role("button", name="Cancel").click()
    search.get_by_text("Search for the smallest ε was cancelled.").wait_for()
    search.get_by_label("How many people").fill("20,000")
    search.get_by_label("How many answers").fill("12")
    search.get_by_label("The number X").fill("1")
    search.get_by_role("button", name="Search").click()
    search.get_by_text(re.compile(r"OUE with ε = [\d.]+ is enough")).wait_for(timeout=60_000)
    assert grave(page) == []
    pictured(page, pictures, "plan-search")
    page.reload()
    ready(page)
    page.get_by_text(re.compile(r"OUE with ε = [\d.]+ is enough")).wait_for()
    seen.quiet()


def test_a_total_is_told_from_its_limit(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/plan")
    seen.page.get_by_text("What is the smallest ε that tells whether a total exceeds a limit?").click()
    search = seen.page.locator("details", has_text="tells whether a total exceeds")
    search.get_by_role("button", name="Search").click()
    found = search.get_by_text(re.compile(r"GRR with ε = [\d.]+ is enough"))
    found.wait_for(timeout=60_000)
    search.get_by_label("Percent of wrong decisions").fill("none")
    search.get_by_role("button", name="Search").click()
    search.locator("input[aria-invalid=true]").wait_for()
    assert found.count() == 0, "that was found for another question"
    seen.quiet()


def test_an_administrator_creates_the_collection(
    workbench: RunningWorkbench, admin_context: Any, reader_context: Any, served: Any
) -> None:
    reading = asked(reader_context, workbench, ASKED)
    assert reading.page.get_by_role("button", name="Create the collection").count() == 0
    assert reading.page.get_by_text("needs an administrator's token").is_visible()
    seen = asked(admin_context, workbench, ASKED)
    page = seen.page
    page.get_by_role("button", name="Create the collection").click()
    page.get_by_text("Give it a name by which you will know it.").wait_for()
    page.get_by_label("Name of the collection").fill("Favourite colours")
    page.get_by_role("button", name="Create the collection").click()
    page.get_by_text("“Favourite colours” is a draft now").wait_for()
    from hush.collect.remote import Remote

    with Remote(served.url, served.admin, plaintext=True) as remote:
        (made,) = [each for each in remote.list() if each["name"] == "Favourite colours"]
        assert remote.show(made["id"], whole=True)["spec_hash"] == planned(n=20_000, k=12, error=0.01).hash
    for each in (reading, seen):
        each.quiet()


@pytest.mark.parametrize("query", ["points=<script>alert(1)</script>", "people=%00", "labels=%3Cb%3E%0A%3Ci%3E"])
def test_links_that_make_no_sense_are_answered_in_words(workbench: RunningWorkbench, context: Any, query: str) -> None:
    seen = opened(context, f"{workbench.url}/plan?{query}")
    seen.page.get_by_text("Something in the wish cannot be taken").wait_for()
    seen.quiet()
