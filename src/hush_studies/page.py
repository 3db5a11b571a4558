"""The index page of a study's folder: every figure beside its numbers and what the paper prints about it."""

from __future__ import annotations

from collections.abc import Sequence

from hush.reports.page import Html, heading, page, paragraph, table, tag
from hush_studies.check import Check, Verdict
from hush_studies.folder import Made
from hush_studies.study import Settings, Study

NAME = "index.html"


def index(study: Study, made: Sequence[Made], settings: Settings, again: str = "") -> str:
    """The page; it shows the pictures that lie beside it.

    Args:
        study: Whose page it is.
        made: The parts that are there.
        settings: How they were made.
        again: The command that makes the missing ones.
    """
    checks = [check for each in made for check in each.checks]
    body = [paragraph(study.title, "lead"), paragraph(study.about), *_missing(study, made, again)]
    body += [paragraph(_summary(checks, settings)), _legend()]
    for each in made:
        body += _section(each)
    return page(f"Reproduced: {study.name}", body, f"The paper: {study.source}.")


def _missing(study: Study, made: Sequence[Made], again: str) -> list[Html]:
    there = {each.part.id for each in made}
    left = [part.id for part in study.parts if part.id not in there]
    if not left:
        return []
    how = ["; ", tag("code", again), " goes on"] if again else []
    said = f"{len(there)} of {len(study.parts)} parts are here. Not made yet: {', '.join(left)}"
    return [paragraph(tag("b", said, *how, "."))]


def _summary(checks: Sequence[Check], settings: Settings) -> str:
    count = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    unexpected = sum(not check.passed for check in checks)
    size = " This is the quick, small version." if settings.quick else ""
    return (
        f"Of {len(checks)} checks, {count[Verdict.MATCHES]} match the paper and {count[Verdict.DIFFERS]} differ from "
        f"it; {count[Verdict.UNTOLD]} cannot be judged, since the paper does not tell enough; in {count[Verdict.OURS]} "
        f"both sides are ours. {unexpected} came out otherwise than is known. Seed {settings.seed}.{size}"
    )


def _legend() -> Html:
    return paragraph(
        "Each check has its rule and its tolerance, chosen by kind before the number: for exact numbers half a unit of "
        "the last printed digit, for printed bounds none, for simulated numbers as many standard errors as chance "
        "exceeds once in a million times, for words such as “similar” a tenth."
    )


def _section(each: Made) -> list[Html]:
    part = each.part
    image = Html(f'<img src="{part.id}.png" alt="{part.title}">')
    numbers = tag("a", f"{part.id}.csv", href=f"{part.id}.csv")
    caption = tag("figcaption", f"{len(each.table.rows):,} rows in ", numbers, f"; {part.kind}, {each.seconds:.1f} s.")
    shown = [heading(f"{part.id.capitalize().replace('-', ' ')}: {part.title}")]
    shown.append(tag("figure", tag("div", image, class_="scroll", tabindex="0"), caption))
    shown += [paragraph(part.note)] if part.note else []
    shown += [paragraph(f"People: {each.people}.")] if each.people else []
    return [*shown, _checked(each.checks)] if each.checks else shown


def _checked(checks: Sequence[Check]) -> Html:
    """Verdicts first, where a narrow window still shows them."""
    rows = [
        [
            tag("td", tag("b", check.verdict), _small(check.remark), class_="" if check.passed else "miss"),
            tag("td", check.claim, _small(check.source)),
            check.printed,
            tag("td", check.rule.words, _small(f"tolerance: {check.rule.allowance}")),
            check.computed,
        ]
        for check in checks
    ]
    return tag("div", table(["verdict", "claim", "printed", "matches when", "computed"], rows), class_="words")


def _small(words: str) -> Html:
    return tag("small", f" {words}") if words else Html("")
