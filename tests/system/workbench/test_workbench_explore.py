"""Explore in a real browser."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

import hush
from hush.workbench.explore.numbers import explored
from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, opened, pictured

pytestmark = pytest.mark.nightly


def captioned(page: Any, words: str) -> None:
    """Wait until the table says what it shows."""
    page.wait_for_function(f"document.querySelector('.explored caption')?.textContent.includes({words!r})")


def test_dark_stays_dark_when_numbers_change(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    page.get_by_role("button", name="Switch between light and dark").click()
    page.wait_for_selector("body.body--dark")
    page.get_by_label("Budget, ε").press("ArrowRight")
    captioned(page, "ε = 1.1")
    page.get_by_role("button", name="Make a report").click()
    page.wait_for_selector(".hexes")
    assert page.locator("body.body--dark").count() == 1
    seen.quiet()


def test_the_table_is_sorted_by_its_headings(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    bits = page.get_by_role("button", name="Bits", exact=True)
    bits.click()
    page.wait_for_selector("th[aria-sort=ascending] [data-sort=bits]")
    assert page.evaluate("document.activeElement.dataset.sort") == "bits"
    shown = [
        int(each.replace(",", "")) for each in page.locator(".explored tbody tr td:nth-child(6)").all_inner_texts()
    ]
    assert shown == sorted(shown)
    page.locator("[data-sort=bits]").press("Enter")
    page.wait_for_selector("th[aria-sort=descending] [data-sort=bits]")
    again = [
        int(each.replace(",", "")) for each in page.locator(".explored tbody tr td:nth-child(6)").all_inner_texts()
    ]
    assert again == sorted(again, reverse=True)
    seen.quiet()


def test_between_positions_all_come_in_the_end(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    page.get_by_text("Numbers between the sliders' positions").click()
    page.get_by_label("ε", exact=True).fill("1.07")
    captioned(page, "ε = 1.07")
    page.wait_for_function(f"document.querySelectorAll('.explored tbody tr').length >= {len(explored()) - 1}")
    page.wait_for_selector("[type=range][aria-valuetext='1.07']")  # and not the nearest position
    seen.quiet()


def test_no_result_is_shown_for_an_input_that_is_wrong(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    captioned(page, "k = 20, ε = 1 and n = 20,000")
    page.get_by_role("button", name="Make a report").click()
    page.wait_for_selector(".hexes")
    page.get_by_text("Numbers between the sliders' positions").click()
    nothing = page.get_by_text("Nothing to show for what is written")
    for wrong, words in (("99", "must be at most 10"), ("0,5", "must be"), ("nan", "must be"), ("", "must be")):
        page.get_by_label("ε", exact=True).fill(wrong)
        page.get_by_text(words).first.wait_for()
        nothing.wait_for()
        assert not page.locator(".explored").is_visible()
        assert not page.get_by_role("button", name="Download the table").is_visible()
    page.get_by_label("People, n").press("ArrowRight")
    page.get_by_text("30,000", exact=True).wait_for()
    assert nothing.is_visible(), "another input is right, and this one still wrong"
    assert grave(page) == []
    page.get_by_label("Budget, ε").press("ArrowRight")
    captioned(page, "k = 20, ε = 1.1 and n = 30,000")
    assert page.locator(".explored").is_visible()
    assert not nothing.is_visible()
    assert page.get_by_label("ε", exact=True).get_attribute("aria-invalid") is None
    page.get_by_text("No report yet").wait_for()
    seen.quiet()


def test_a_report_goes_when_its_numbers_do(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    none, bytes_ = page.get_by_text("No report yet"), page.locator(".hexes")
    changes = (
        lambda: page.get_by_label("Budget, ε").press("ArrowRight"),
        lambda: page.get_by_label("Mechanism", exact=True).select_option("GRR"),
        lambda: page.get_by_label("The person's answer, from 0").fill("4"),
    )
    for change in changes:
        page.get_by_role("button", name="Make a report").click()
        bytes_.wait_for()
        change()
        none.wait_for()
        assert not bytes_.is_visible()
    page.get_by_role("button", name="Make a report").click()
    page.get_by_text("A report of GRR on answer 4, with k = 20 and ε = 1.1").wait_for()
    page.get_by_label("Answers, k").press("Home")
    page.get_by_text("must be at most 1, since").wait_for()
    seen.quiet()


def test_a_report_is_shown_byte_by_byte(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    page = seen.page
    page.get_by_text("No report yet").wait_for()
    page.locator("[data-pick=OLH]").click()
    page.wait_for_selector("tr.chosen [data-pick=OLH]")
    assert page.get_by_label("Mechanism", exact=True).input_value() == "OLH"
    page.get_by_role("button", name="Make a report").click()
    page.wait_for_selector(".hexes")
    raw = bytes.fromhex("".join(page.locator(".hexes span").all_inner_texts()))
    m = hush.OLH(k=20, epsilon=1.0)
    assert len(raw) == m.report_dtype.itemsize
    assert "factor of the hash function" in page.locator("main").inner_text()
    page.get_by_label("The person's answer, from 0").fill("20")
    page.get_by_text("must be at most 19").wait_for()
    assert grave(page) == []
    pictured(page, pictures, "explore-report")
    seen.quiet()


def test_the_table_can_be_taken_away(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/explore")
    with seen.page.expect_download() as handed:
        seen.page.get_by_role("button", name="Download the table").click()
    rows = list(csv.DictReader(io.StringIO(Path(handed.value.path()).read_text())))
    assert {row["name"] for row in rows} == {*explored()}
    grr = next(row for row in rows if row["name"] == "GRR")
    assert float(grr["asr"]) == hush.GRR(k=20, epsilon=1.0).asr()
    seen.quiet()
