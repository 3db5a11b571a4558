"""The demo's report: figures and a page that say in plain words what was promised, learned and leaked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from hush.people import Population
from hush.reports import figures
from hush.reports.outcome import MechanismOutcome
from hush.reports.page import Html, cards, definitions, heading, page, paragraph, picture, table, tag
from hush.reports.theme import DARK, LIGHT, Theme

Draw = Callable[[Theme], Figure]


def drawings(outcomes: Sequence[MechanismOutcome]) -> dict[str, Draw]:
    """The figures by file name, each drawn in a theme."""
    series = [each.series(outcomes[0].order) for each in outcomes]
    error, attack = "typical error, percentage points", "attacker guesses right, %"
    measures: dict[str, Sequence[float]] = {
        error: [each.expected_rmse * 100 for each in outcomes],
        attack: [each.mechanism.asr() * 100 for each in outcomes],
        "bytes in one report": [each.report_bytes for each in outcomes],
    }
    seen: dict[str, Sequence[float]] = {
        error: [each.rmse * 100 for each in outcomes],
        attack: [each.attack_rate * 100 for each in outcomes],
    }
    names = [each.name for each in outcomes]
    return {
        "estimates.png": lambda theme: figures.comparison(series, "Truth, and estimates from the noise", theme=theme),
        "errors.png": lambda theme: figures.errors(series, "How far off, with 95 % intervals", theme=theme),
        "trade-off.png": lambda theme: figures.trade_off(
            names, measures, "What is expected of each: less is better", seen=seen, theme=theme
        ),
    }


def build(data: Population, outcomes: Sequence[MechanismOutcome]) -> dict[str, bytes]:
    """Every file of the report folder, by name."""
    light = {name: figures.png(draw(LIGHT)) for name, draw in drawings(outcomes).items()}
    dark = {name: figures.png(draw(DARK)) for name, draw in drawings(outcomes).items()}
    return {**light, "index.html": write(data, outcomes, light, dark).encode()}


def write(
    data: Population, outcomes: Sequence[MechanismOutcome], light: dict[str, bytes], dark: dict[str, bytes]
) -> str:
    """The page."""
    epsilon = outcomes[0].mechanism.epsilon

    def shown(name: str, alternative: str, caption: str) -> Html:
        return picture(light[name], dark[name], alternative, caption)

    body = [
        paragraph(
            f"{data.n:,} visitors of a news site each hold one secret: the kind of page they read most. Every secret "
            "was randomized on its own before it was counted. Here is what the noisy reports still say about "
            "everybody, and how little they say about any one person.",
            "lead",
        ),
        cards((each.name, each.mechanism.forms.about, _facts(each)) for each in outcomes),
        heading("What the server learns"),
        shown(
            "estimates.png",
            "Estimated share of each category under each mechanism, over the true shares",
            "Grey bars are the truth, which no server saw. Points are estimates from randomized reports alone.",
        ),
        shown(
            "errors.png",
            "Estimate minus truth for each category and mechanism, with 95 % intervals",
            "The same estimates, less the truth. An interval that crosses the line at 0 holds the true value; about "
            "one in twenty should miss it.",
        ),
        _numbers(outcomes),
        heading("What it costs, and what it leaks"),
        shown(
            "trade-off.png",
            "Expected error, attack success and report size of each mechanism, and what this run gave",
            "Bars are exact expectations, and points what this run gave: chance alone moves the points from run to "
            "run, so compare the bars. An attacker who guesses without looking is right "
            f"{100 / data.k:.1f} % of the time.",
        ),
        heading("What the numbers mean"),
        definitions(_meanings(epsilon, data)),
    ]
    hashes = [part for each in outcomes for part in (f"{each.name} spec ", tag("code", each.spec_hash), ". ")]
    footer = tag("p", f"Data: {data.source}. ", *hashes)
    return page(f"{data.n:,} secrets, three ways to keep them", body, footer)


def _facts(each: MechanismOutcome) -> dict[str, object]:
    m = each.mechanism
    return {
        "exact ε": f"{m.exact_epsilon():.6f}",
        "typical error": f"{each.rmse * 100:.3f} points",
        "error expected": f"{each.expected_rmse * 100:.3f} points",
        "truth in interval": f"{int(each.covered.sum())} of {each.covered.size}",
        "attack succeeds": f"{each.attack_rate * 100:.2f} %",
        "attack expected": f"{m.asr() * 100:.2f} %",
        "bytes a report": f"{each.report_bytes:,}",
        "randomized in": f"{each.randomize_seconds:.3f} s",
        "reports a second": f"{each.reports_per_second / 1e6:.1f} million",
    }


def _numbers(outcomes: Sequence[MechanismOutcome]) -> Html:
    first = outcomes[0]
    ends = [each.interval for each in outcomes]

    def cell(i: int, j: int) -> Html:
        each, (lower, upper) = outcomes[j], ends[j]
        between = tag("small", f" {lower[i] * 100:.2f} … {upper[i] * 100:.2f}")
        class_ = "" if each.covered[i] else "miss"
        return tag("td", f"{each.estimate.frequencies[i] * 100:.2f} %", between, class_=class_)

    labels = first.estimate.labels
    rows = [
        [labels[i], f"{first.truth[i] * 100:.2f} %", *(cell(i, j) for j in range(len(outcomes)))] for i in first.order
    ]
    return table(["category", "truth", *(f"{each.name}, 95 % interval" for each in outcomes)], rows)


def _meanings(epsilon: float, data: Population) -> dict[str, object]:
    return {
        "Privacy loss ε": f"No report is more than e^{epsilon:g} = {math.exp(epsilon):.2f} times likelier under one "
        "category than under another, whoever looks and whatever else they know. The exact value is computed from the "
        "integers that the sampler compares its random words with, rounding included; it never exceeds what was asked.",
        "Estimate and interval": "Raw and unbiased: over many collections the errors cancel. Each 95 % interval holds "
        f"its true share 19 times in 20, so of {data.k} intervals about {0.95 * data.k:.0f} should. Red ones missed.",
        "Typical error": "The root of the mean squared difference between estimate and truth, in percentage points: of "
        "this run, and as is expected of any, exactly, from the variance. It shrinks with the square root of the "
        "number of people. One run says little about which mechanism is better; the expectation does.",
        "Attack succeeds": "How often the best possible attacker, who sees one report and finds all categories equally "
        f"likely beforehand, names the right one. Measured here on all {data.n:,} reports, beside the exact "
        f"expectation. Without any report the attacker is right once in {data.k}.",
        "Time": "To randomize everybody on this computer with cryptographically secure randomness, compilation left "
        "out. On people's own devices each makes just one report.",
    }
