"""The element that asks a question, in a page of another origin, against a real collector."""

from __future__ import annotations

from typing import Any

import pytest

import hush
from tests.collectors import Opened, Served, opened
from tests.system.browser.axe import grave
from tests.system.browser.site import Site

pytestmark = pytest.mark.nightly

PETS = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "none"]))
_ADD = """async ([script, attributes]) => {
    await import(script);
    const element = document.createElement("hush-question");
    window.told = [];
    for (const name of ["hush-answered", "hush-declined", "hush-error"]) {
        document.addEventListener(name, ({ detail }) => {
            told.push([name, detail?.receipt?.state ?? detail?.error?.message ?? ""]);
        });
    }
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    document.body.append(element);
}"""


def asking(context: Any, site: Site, one: Opened, *, question: str = "Which pet do you have?", src: str = "") -> Any:
    """A page with the element."""
    page = site.visit(context)
    attributes = {"src": src or f"{one.url}{one.path}", "key": one.key, "question": question}
    page.evaluate(_ADD, [f"{one.url}/client/{hush.__version__}/question.js", attributes])
    return page


def told(page: Any) -> list[list[str]]:
    found: list[list[str]] = page.evaluate("() => told")
    return found


def status(page: Any, text: str) -> None:
    page.get_by_role("status").filter(has_text=text).wait_for()


def none_counted(served: Served, one: Opened) -> None:
    assert served.ask("GET", one.path).json()["n"] == 0


def test_an_answer_is_counted_and_what_left_is_shown(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    page = asking(context, site, one)
    group = page.get_by_role("group", name="Which pet do you have?")
    group.wait_for()
    assert "factor of at most 2.72 (ε = 1)" in page.locator("[part=promise]").inner_text()
    group.get_by_label("dog").check()
    page.get_by_role("button", name="Send my randomized answer").click()
    status(page, "Only the randomized answer was sent.")
    assert told(page) == [["hush-answered", "accepted"]]
    assert served.settled(one, 1)["n"] == 1
    page.get_by_text("What left this device").click()
    shown = page.locator("dl").inner_text()
    assert one.id in shown
    assert PETS.hash in shown
    assert one.key not in shown
    assert "of which 1 byte depends on the answer" in page.locator("[part=explanation]").inner_text()


def test_it_is_answered_by_keyboard_alone(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    page = asking(context, site, one)
    page.get_by_role("radio").first.wait_for()
    for key in ("Tab", "Space", "ArrowDown", "Tab", "Enter"):
        page.keyboard.press(key)
    status(page, "Only the randomized answer was sent.")
    assert page.evaluate("() => document.activeElement.shadowRoot.activeElement.role") == "status"
    assert served.settled(one, 1)["n"] == 1


def test_who_declines_sends_and_stores_nothing(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    page = asking(context, site, one)
    page.get_by_role("button", name="I would rather not say").click()
    status(page, "Nothing was sent")
    assert told(page) == [["hush-declined", ""]]
    assert page.get_by_role("radio").count() == 0
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    none_counted(served, one)


def test_nothing_is_sent_before_something_is_chosen(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    page = asking(context, site, one)
    page.get_by_role("button", name="Send my randomized answer").click()
    assert page.get_by_role("radio").count() == 3
    assert told(page) == []
    none_counted(served, one)


def test_many_answers_are_a_list_and_numbers_a_field(context: Any, site: Site, served: Served) -> None:
    many = hush.Spec(hush.OUE(k=20, epsilon=1.0), hush.Domain(labels=[f"place {i}" for i in range(20)]))
    one = opened(served, spec=many)
    page = asking(context, site, one)
    page.get_by_role("combobox").select_option("place 17")
    page.get_by_role("button", name="Send").click()
    status(page, "was sent")
    assert served.settled(one, 1)["n"] == 1

    mean = opened(served, spec=hush.Spec(hush.Piecewise(low=0.0, high=24.0, epsilon=1.0)))
    page = asking(context, site, mean, question="How many hours did you sleep?")
    field = page.get_by_role("spinbutton")
    field.fill("25")
    page.get_by_role("button", name="Send").click()
    assert told(page) == []
    field.fill("7.5")
    page.get_by_role("button", name="Send").click()
    status(page, "was sent")
    assert served.settled(mean, 1)["n"] == 1


def test_who_has_answered_is_told_so(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    for answer, text in (("dog", "was sent"), ("dog", "was sent"), ("cat", "You have answered this already")):
        page = asking(context, site, one)
        page.get_by_label(answer).check()
        page.get_by_role("button", name="Send").click()
        status(page, text)
        assert page.get_by_role("radio").count() == 0
    ((name, message),) = told(page)
    assert (name, message.partition(",")[0]) == ("hush-error", "value must be the first of this period")
    assert served.settled(one, 1)["n"] == 1


def test_what_is_typed_must_be_an_answer(context: Any, site: Site, served: Served) -> None:
    labels = [f"place {i}" for i in range(501)]
    for other in (None, "elsewhere"):
        domain = hush.Domain(labels=labels, other=other)
        one = opened(served, spec=hush.Spec(hush.OLH(k=domain.size, epsilon=1.0), domain))
        page = asking(context, site, one)
        field = page.get_by_role("combobox")
        field.fill("nowhere")
        page.get_by_role("button", name="Send").click()
        if other is None:
            status(page, "none of the answers")
            assert told(page) == []
            none_counted(served, one)
            field.fill("place 500")
            page.get_by_role("button", name="Send").click()
        status(page, "was sent")
        assert served.settled(one, 1)["n"] == 1


def test_what_goes_wrong_is_said_and_told(context: Any, site: Site, served: Served) -> None:
    one = opened(served, spec=PETS)
    page = asking(context, site, one, src=f"{one.url}/v1/collections/{'0' * 32}")
    status(page, "url must lead to a collection")
    ((name, message),) = told(page)
    assert name == "hush-error"
    assert message.startswith("url must lead to a collection")

    loud = opened(served, spec=hush.Spec(hush.GRR(k=3, epsilon=4.0)))
    page = asking(context, site, loud)
    status(page, "maximum must be at least 4")
    assert page.get_by_role("radio").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(browser: Any, site: Site, served: Served, scheme: str) -> None:
    one = opened(served, spec=PETS)
    context = browser.new_context(color_scheme=scheme, viewport={"width": 360, "height": 740})
    page = asking(context, site, one)
    page.get_by_label("cat").check()
    assert grave(page) == []
    page.get_by_role("button", name="Send").click()
    page.get_by_text("What left this device").click()
    assert grave(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    context.close()
