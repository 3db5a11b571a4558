"""Sensitive values in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hush
from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, Seen, opened, pictured

pytestmark = pytest.mark.nightly


def shown(workbench: RunningWorkbench, context: Any) -> Seen:
    """The page, with its first result."""
    seen = opened(context, f"{workbench.url}/sensitive")
    seen.page.get_by_text("Protecting only the 3 sensitive answers").wait_for()
    return seen


def test_another_mechanism_is_described_and_taken_away(workbench: RunningWorkbench, context: Any) -> None:
    seen = shown(workbench, context)
    page = seen.page
    page.get_by_label("Mechanism", exact=True).select_option("uHR")
    page.get_by_text("uHR: a sensitive answer").wait_for()
    u = hush.uHR(k=8, epsilon=1.0, sensitive=[4, 5, 6], theta=0.7)
    page.get_by_text(f"with a chance of {100 * u.z_star:.1f} %").wait_for()
    with page.expect_download() as handed:
        page.get_by_role("button", name="Download the spec").click()
    assert hush.Spec.from_json(Path(handed.value.path()).read_text()).mechanism.name() == "uHR"
    seen.quiet()


def test_answers_are_pasted_with_their_marks(workbench: RunningWorkbench, context: Any) -> None:
    seen = shown(workbench, context)
    page = seen.page
    page.get_by_label("Answers, one a line").fill("\n".join(f"{'*' if i < 20 else ''}answer {i}" for i in range(100)))
    page.get_by_text("Protecting only the 20 sensitive answers").wait_for()
    page.get_by_text("The others are marked by an asterisk").wait_for()
    assert page.get_by_label("answer 3", exact=True).is_checked()
    seen.quiet()


def test_what_is_wrong_is_said_beside_the_field_and_mended(
    workbench: RunningWorkbench, context: Any, pictures: Path
) -> None:
    seen = shown(workbench, context)
    page = seen.page
    answers = page.get_by_label("Answers, one a line")
    answers.fill("tea\ntea")
    page.get_by_text("the same on lines 1 and 2").wait_for()
    answers.fill("tea\ncoffee")
    page.get_by_text("Nothing is marked yet").wait_for()
    pictured(page, pictures, "sensitive-none")
    page.get_by_label("tea", exact=True).check()
    page.get_by_text("Protecting only the 1 sensitive answer").wait_for()
    page.get_by_label("coffee", exact=True).check()
    page.get_by_text("All answers are marked").wait_for()
    page.get_by_label("People", exact=True).fill("many")
    page.get_by_text("must be a whole number").wait_for()
    seen.quiet()


def test_no_result_is_shown_for_an_input_that_is_wrong(workbench: RunningWorkbench, context: Any) -> None:
    """What stood there is of another input: it goes, the spec to take away with it, and comes back."""
    seen = shown(workbench, context)
    page = seen.page
    answers, people = page.get_by_label("Answers, one a line"), page.get_by_label("People", exact=True)
    results, nothing = page.get_by_text("Protecting only the 3 sensitive answers"), page.get_by_text("Nothing to show")
    people.fill("many")
    nothing.wait_for()
    assert not results.is_visible()
    assert not page.get_by_role("button", name="Download the spec").is_visible()
    page.get_by_label("Budget of a sensitive answer, ε").press("ArrowRight")
    page.get_by_text("1.1", exact=True).wait_for()
    assert nothing.is_visible(), "another input is right, and this one still wrong"
    assert grave(page) == []
    people.fill("5,000")
    results.wait_for()
    assert not nothing.is_visible()
    whole = answers.input_value()
    answers.fill(f"{whole}\ntea")
    nothing.wait_for()
    assert not results.is_visible()
    assert page.locator("fieldset.boxes input").count() == 0
    answers.fill(whole)
    results.wait_for()
    assert page.locator("fieldset.boxes input").count() == 8
    seen.quiet()
