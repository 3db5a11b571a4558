"""What a reader tries, part by part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nicegui import ui

from hush.workbench import charts, controls, prose
from hush.workbench.learn import browser, budget, coins, crowd, limits, odds, text

_SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_FIRST_SHARE = 30


def flip() -> None:
    """The reader's own coins, in the reader's own browser."""
    ui.html(browser.coins_form(), sanitize=False)
    prose.note(
        "The coins fall in your browser, from its source of secure randomness. Neither they nor your answer are sent "
        "anywhere: the server of this page does not know them."
    )


def believe() -> None:
    """What somebody believes before and after a report of yes."""
    m = coins.mechanism()
    report = controls.choice("Your report says", {"0": "Yes", "1": "No"}, "0", on_change=lambda _: show())
    before = controls.slider(
        "How likely somebody holds your answer to be yes, before they see it",
        10,
        least=1,
        most=99,
        shown=lambda value: f"{value:.0f} in 100",
        ends=("they doubt it", "they are nearly sure"),
        on_change=lambda _: show(),
    )
    with ui.element("div").classes("beliefs"):
        places = [ui.html("", sanitize=False) for _ in range(2)]
    words = prose.paragraph("")
    words.props('role="status"')

    def show() -> None:
        found = odds.moved(m, (before.value or 10) / 100, report=int(report.value or 0))
        for place, share, when in zip(places, (found.before, found.after), ("Before", "After"), strict=True):
            place.content = _people(share, f"{when} the report: yes in {odds.of_hundred(share)} of 100 cases")
        words.text = f"Yes seems likely in {found.sentence} The odds moved {found.odds}."

    show()


def _people(share: float, words: str) -> str:
    """A hundred dots, some of them full."""
    full = round(100 * share)
    dots = "".join(f"<i{' class=is' if at < full else ''}></i>" for at in range(100))
    return f"<p class='small muted'>{words}</p><div class='people' aria-hidden='true'>{dots}</div>"


def count() -> None:
    """A collection as it grows."""
    share = controls.slider(
        "How many of all people truly hold yes",
        _FIRST_SHARE,
        least=0,
        most=100,
        shown=lambda value: f"{value:.0f} in 100",
        on_change=lambda _: show(),
    )
    chart = charts.lines(
        "Estimated share of yes, as people answer", _lines(_FIRST_SHARE), x="people", y="% yes", log_x=True
    )
    with ui.element("div").classes("side"):
        controls.button("Ask other people", lambda: show())

    async def show() -> None:
        wanted = share.value or 0
        lines = await asyncio.to_thread(_lines, wanted)
        chart.show(lines, summary=_settled(lines))

    chart.show(lines := _lines(_FIRST_SHARE), summary=_settled(lines))


def _lines(share: float) -> list[charts.Line]:
    found = crowd.settled(share / 100, coins.mechanism(), _SIZES)
    sizes = [each.n for each in found]
    percents = [
        [100 * each[0] for each in row]
        for row in zip(*((s.estimate, s.low, s.high, s.truth) for s in found), strict=True)
    ]
    estimate, low, high, truth = percents
    return [
        charts.Line("estimate, with 95 % error bars", sizes, estimate, low, high),
        charts.Line("truth", sizes, truth, dashed=True),
    ]


def _settled(lines: list[charts.Line]) -> str:
    estimate, truth = lines
    first, last = (estimate.high[at] - estimate.low[at] for at in (0, -1))
    return (
        f"After {estimate.x[0]:,} reports the share is known within ±{first / 2:.2g} points, after {estimate.x[-1]:,} "
        f"within ±{last / 2:.2g}: {estimate.y[-1]:.1f} % by the reports, {truth.y[-1]:.1f} % in truth. "
        "Nobody's answer is known."
    )


def buy() -> None:
    """What a budget gives, for four answers."""
    epsilon = controls.slider(
        "ε, for a question with four answers",
        1.0,
        least=budget.LEAST,
        most=budget.MOST,
        step=0.1,
        shown=lambda value: f"{value:.1f}, {budget.bought(round(value, 1)).name}",
        ends=(budget.PRIVATE, budget.EXACT),
        on_change=lambda _: show(),
    )
    with ui.element("div").classes("answer stack").props('role="status"'):
        said = [prose.paragraph("") for _ in range(3)]

    def show() -> None:
        for place, words in zip(said, budget.bought(round(epsilon.value or 1.0, 1)).sentences, strict=True):
            place.text = words

    show()


def leave_open() -> None:
    """What no report protects from."""
    times = controls.slider(
        "How often somebody is asked the same question",
        2,
        least=0,
        most=len(limits.TIMES) - 1,
        shown=lambda at: _times(limits.TIMES[int(at)]),
        on_change=lambda _: show(),
    )
    places = []
    with ui.element("dl").classes("facts"):
        for title, _ in text.limits_said(limits.TIMES[2]):
            prose.text("dt", title)
            places.append(prose.text("dd"))

    def show() -> None:
        for place, (_, words) in zip(places, text.limits_said(limits.TIMES[int(times.value or 0)]), strict=True):
            place.text = words

    show()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


TRIED: dict[str, Callable[[], None]] = {
    "coins": flip,
    "report": believe,
    "crowd": count,
    "epsilon": buy,
    "limits": leave_open,
}
"""What is tried in each part."""
