"""An audit as a figure and as a page that a privacy officer can file."""

from __future__ import annotations

import datetime
import json
import math
import platform
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from hush import __version__
from hush.audit import AuditResult
from hush.reports import page
from hush.reports.audit_in_words import GAMES, LEADS, gravest, meanings
from hush.reports.figures import png
from hush.reports.panels import figure_of, head, prepare, say
from hush.reports.theme import DARK, LIGHT, Theme


def figure(results: Sequence[AuditResult], *, theme: Theme = LIGHT) -> Figure:
    """The proved loss of each method as a bar, and the claim as a line."""
    drawn = figure_of(7.5, 1.4 + 0.55 * len(results), theme)
    axes = drawn.subplots()
    prepare(axes, theme, "x")
    finite = [r.epsilon_lower for r in results if math.isfinite(r.epsilon_lower)]
    claimed = results[0].claimed
    longest = max([*finite, claimed or 0.0, 1e-3])
    for at, result in enumerate(results):
        length = min(result.epsilon_lower, 1.25 * longest)
        axes.barh(at, length, height=0.6, color=theme.series[1 if result.violated else 0])
        label = "∞" if math.isinf(result.epsilon_lower) else f"{result.epsilon_lower:.4g}"
        inside = length > 0.2 * longest
        at_end: dict[str, Any] = {"x": length - 0.01 * longest, "ha": "right", "color": theme.ground}
        beyond: dict[str, Any] = {"x": length + 0.01 * longest, "ha": "left", "color": theme.ink}
        axes.text(y=at, s=label, va="center", fontsize=9, **(at_end if inside else beyond))
    if claimed is not None and math.isfinite(claimed):
        axes.axvline(claimed, color=theme.ink, linewidth=1.4, linestyle="--")
        axes.text(claimed, -0.62, f" claimed {claimed:g}", fontsize=9, color=theme.ink, va="bottom")
    axes.set_yticks(range(len(results)))
    axes.set_yticklabels([r.method for r in results], color=theme.ink)
    axes.set(ylim=(len(results) - 0.4, -0.9), xlim=(0, 1.35 * longest))
    axes.set_xlabel(f"privacy loss of {results[0].unit} that is proved, ε", color=theme.faint)
    say(drawn.suptitle, f"Audit of {results[0].target}", **head(theme))
    return drawn


def page_of(results: Sequence[AuditResult]) -> str:
    """One self-contained HTML page: verdict, proof, method, and how to repeat it."""
    first = results[0]
    worst = gravest(results)
    rows = [
        [
            r.method,
            "–" if r.claimed is None else f"{r.claimed:g}",
            "∞" if math.isinf(r.epsilon_lower) else f"{r.epsilon_lower:.6g}",
            r.confidence,
            f"{r.trials:,}" if r.trials else "–",
            "–" if r.counts is None else f"{r.counts[0]:,} / {r.counts[1]:,}",
            r.verdict,
        ]
        for r in results
    ]
    body = [
        page.paragraph(f"{LEADS[worst.verdict]}{worst.statement}"),
        page.picture(
            png(figure(results)),
            png(figure(results, theme=DARK)),
            "Proved loss of each method",
            "Proved loss and claim",
        ),
        page.heading("What was counted"),
        page.table(
            (
                "method",
                "claimed ε",
                "proved ε",
                "confidence",
                _trials(results),
                "hits",
                "verdict",
            ),
            rows,
        ),
        page.heading("What is proved"),
        *[page.paragraph(f"{r.method}: {r.statement}") for r in results],
        *_witnesses(results),
        *_tried(results),
        page.heading("What these words mean"),
        page.definitions(meanings(results)),
        page.heading("What was audited, and how"),
        page.definitions(_identity(results)),
        *[page.paragraph(note) for note in dict.fromkeys(note for r in results for note in r.notes)],
    ]
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return page.page(
        f"Audit of {first.target}", body, f"hush {__version__}, Python {platform.python_version()}, {today}"
    )


def _trials(results: Sequence[AuditResult]) -> str:
    """What is counted of each: of a game, there are no two values."""
    if any(r.method in GAMES for r in results):
        return "trials"
    looked = results[0].screening
    return f"trials of each {looked.asked.one if looked else 'value'}"


def _witnesses(results: Sequence[AuditResult]) -> list[page.Html]:
    """The events that prove something."""
    found = [r for r in results if r.witness is not None and r.epsilon_lower > 0]
    told = [page.paragraph(f"{r.method}: {r.witness}.") for r in found]
    return [page.heading("Witnesses"), *told] if told else []


def _tried(results: Sequence[AuditResult]) -> list[page.Html]:
    """Which values and events were tried, and what would have been found."""
    looked = [page.paragraph(f"{r.method}: {r.looked}") for r in results if r.looked is not None]
    events = [
        [r.method, e.witness.two, e.witness.event, f"{e.counts[0]:,}", f"{e.counts[1]:,}",
         f"{e.epsilon_lower:.6g}"]
        for r in results for e in r.tried
    ]  # fmt: skip
    looks = [r.screening for r in results if r.screening is not None]
    pairs = {each.pair: (each, s) for s in looks for each in s.pairs}
    compared = [
        [" and ".join(map(s.asked.said, pair)), each.event, f"{each.promise:.4g}"] for pair, (each, s) in pairs.items()
    ]
    body = [page.heading("What was tried"), *looked] if looked else []
    if events:
        whose = looks[0].asked.many if looks else "compared"
        names = ("method", whose, "event", "hits of the first", "of the second", "proved ε")
        body.append(page.table(names, events))
    if compared:
        body.append(page.table((f"{looks[0].asked.many} compared", "most telling event", "ε it promised"), compared))
    return body


def _identity(results: Sequence[AuditResult]) -> dict[str, str]:
    """Everything that is needed to repeat it."""
    about = {name: value for result in results for name, value in result.about.items() if name != "method"}
    spec = about.pop("mechanism", None)
    if spec is not None:
        about["spec"] = json.dumps(spec, sort_keys=True)
    if about.get("seed") is None:
        about["seed"] = "none: reports were made as real clients make them, and another run will count others"
    return {name.replace("_", " "): str(value) for name, value in about.items()}
