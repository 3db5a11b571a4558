"""The page Audit in a browser: asked, watched, cancelled, found again after a reload, kept as files, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hush
from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, opened, pictured, ready

pytestmark = pytest.mark.nightly

LONG = 120_000  # milliseconds: a process starts, and two cores are shared
TELLING = """
import random

def telling(value):
    print("no answer")
    return value if random.random() < 0.5 else random.randrange(4)

def crashing(value):
    raise RuntimeError("a secret of the code")
"""


@pytest.fixture
def entered(context: Any, workbench: RunningWorkbench) -> Any:
    """A browser that came by the printed link, and may run code."""
    page = context.new_page()
    page.goto(workbench.link)
    page.close()
    (workbench.log.parent / "audited_client.py").write_text(TELLING)
    return context


def press(page: Any) -> None:
    page.wait_for_timeout(200)  # no person is quicker than what a field tells, twenty times a second
    page.get_by_role("button", name="Audit it").click()


def test_a_bug_is_found_with_its_proof(context: Any, workbench: RunningWorkbench, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/audit")
    page = seen.page
    page.get_by_label("A bug that was shipped").check()
    page.get_by_label("Which bug?").select_option("LastNeverFake")
    press(page)
    page.get_by_role("heading", name="The claim is false.").wait_for(timeout=LONG)
    assert page.get_by_text("the code does not follow its law").is_visible()
    assert "and in 0 of" in page.locator(".facts").first.inner_text()
    assert grave(page) == []
    pictured(page, pictures, "audit-bug")
    seen.quiet()


def test_a_game_is_played_or_refused_beside_its_box(context: Any, workbench: RunningWorkbench, pictures: Path) -> None:
    seen = opened(context, f"{workbench.url}/audit?name=OUE&k=8&seed=7&methods=pools,reidentification")
    page = seen.page
    page.get_by_text("More: methods").click()
    other = page.get_by_label("reidentification", exact=True)
    press(page)
    page.locator(".field", has=other).get_by_text("which takes no tuples by a law that it states").wait_for()
    assert other.get_attribute("aria-invalid") == "true"
    assert page.get_by_role("progressbar").count() == 0
    assert grave(page) == []
    other.uncheck()
    press(page)
    page.get_by_text("the attacker is right").first.wait_for(timeout=LONG)
    facts = page.locator(".facts").first.inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "2 pools, the right one and the others" in facts
    assert "a blind guess is right in 50 %" in facts
    assert "of 90,000 games, and was right in" in facts
    assert page.get_by_text("What more reports would prove").count() == 0
    assert "methods=pools" in page.url
    assert "reidentification" not in page.url
    assert "--method pools" in page.locator("main").inner_text()
    assert page.locator(".field .wrong", has_text="tuples").count() == 0
    assert grave(page) == []
    pictured(page, pictures, "audit-game")
    seen.quiet()


def test_a_spec_is_audited_from_text_and_from_a_file(context: Any, workbench: RunningWorkbench, tmp_path: Path) -> None:
    seen = opened(context, f"{workbench.url}/audit")
    page = seen.page
    page.get_by_label("A spec, as a collection has it").check()
    page.get_by_label("The spec", exact=True).fill("no spec")
    press(page)
    page.get_by_text("must be JSON").wait_for()
    (tmp_path / "spec.json").write_text(hush.Spec(hush.GRR(k=4, epsilon=1.0)).to_json())
    page.get_by_label("Or a file with it").set_input_files(tmp_path / "spec.json")
    page.wait_for_function("document.querySelector('textarea').value.includes('GRR')")
    press(page)
    page.get_by_role("heading", name="No violation was found.").wait_for(timeout=LONG)
    assert page.get_by_text("What each method proves of GRR").count() == 1
    assert page.get_by_text("Audited: GRR").is_visible()
    for other in ("[1, 2]", "3", '{"format": "another"}', '{"hush": 1, "mechanism": {"type": "Nope"}, "domain": {}}'):
        page.get_by_label("The spec", exact=True).fill(other)
        press(page)
        page.locator("textarea[aria-invalid=true]").wait_for()
        page.get_by_text("Nothing was audited", exact=True).wait_for()
        assert page.locator(".q-notification").count() == 0, "it stands beside its field"
        assert not page.get_by_role("heading", name="No violation was found.").is_visible(), "that was another spec"
    seen.quiet()


def test_what_is_wrong_is_said_beside_its_field(context: Any, workbench: RunningWorkbench) -> None:
    seen = opened(context, f"{workbench.url}/audit")
    page = seen.page
    for label, wrong, words in (
        ("Number of values, k", "1", "must be an integer in 2"),
        ("Promised privacy loss of one report, ε", "-1", "must be a number from"),
        ("Reports of each of two values", "many", "must be a whole number"),
    ):
        field = page.get_by_label(label)
        right = field.input_value()
        field.fill(wrong)
        press(page)
        complaint = page.locator(".field", has=field).locator(".wrong")
        complaint.get_by_text(words).wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        field.fill(right)
    seen.quiet()


def test_a_long_audit_is_watched_and_cancelled(context: Any, workbench: RunningWorkbench) -> None:
    seen = opened(context, f"{workbench.url}/audit?name=SHE&k=64&trials=100000000")
    page = seen.page
    press(page)
    page.get_by_role("progressbar").wait_for(timeout=LONG)
    page.get_by_text("Asking SHE").wait_for(timeout=LONG)
    page.reload()
    ready(page)
    page.get_by_text("Asking SHE").wait_for(timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Audit of SHE was cancelled.").wait_for()
    assert page.get_by_role("button", name="Audit it").is_enabled()
    seen.quiet()


def test_code_is_audited_by_who_came_by_the_link(entered: Any, workbench: RunningWorkbench) -> None:
    seen = opened(entered, f"{workbench.url}/audit")
    page = seen.page
    page.get_by_label("Python code of mine").check()
    page.get_by_label("The function").fill("audited_client:telling")
    page.get_by_label("How many values it takes").fill("4")
    page.get_by_label("Reports of each of two values").fill("20000")
    press(page)
    page.get_by_role("heading", name="The claim is false.").wait_for(timeout=LONG)
    page.get_by_label("The function").fill("audited_client:crashing")
    press(page)
    page.get_by_text("must turn every value into a report").wait_for(timeout=LONG)
    assert "Traceback" not in page.content()
    seen.quiet()


def test_code_is_refused_to_others_whatever_their_browser_sends(context: Any, workbench: RunningWorkbench) -> None:
    (workbench.log.parent / "audited_client.py").write_text(TELLING)
    address = f"{workbench.url}/audit?way=code&name=audited_client:telling&k=4&claim=1"
    seen = opened(context, address)
    page = seen.page
    assert page.get_by_label("Python code of mine").count() == 0
    assert page.get_by_label("A mechanism of Hush").is_checked()
    page.evaluate("""() => {
        const radio = document.querySelector("input[type=radio]:not(:checked)");
        radio.value = "code";
        radio.checked = true;
        radio.dispatchEvent(new Event("change", {bubbles: true}));
    }""")
    press(page)
    page.get_by_text("way must be one of", exact=False).first.wait_for()
    assert page.get_by_role("progressbar").count() == 0
    seen.quiet()
