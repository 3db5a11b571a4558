"""The index page of a study's folder: every figure beside its numbers and what the paper prints about it."""

from __future__ import annotations

from collections.abc import Sequence

from hush.reports.page import Html, heading, page, paragraph, table, tag
from hush.reproduce.folder import Made
from hush.reproduce.study import Check, Settings, Study

NAME = "index.html"


def index(study: Study, made: Sequence[Made], settings: Settings) -> str:
    """The page; it shows the pictures that lie beside it."""
    checks = [check for each in made for check in each.checks]
    body = [paragraph(study.title, "lead"), paragraph(study.about), paragraph(_summary(checks, settings))]
    for each in made:
        body += _section(each)
    return page(f"Reproduced: {study.name}", body, f"The paper: {study.source}.")


def _summary(checks: Sequence[Check], settings: Settings) -> str:
    right = sum(check.right and check.passed for check in checks)
    false = sum(not check.right and check.passed for check in checks)
    wrong = sum(not check.passed for check in checks)
    size = " This is the quick, small version." if settings.quick else ""
    return (
        f"Of {len(checks)} printed numbers and claims, {right} match, {false} are known to be false and come out so, "
        f"and {wrong} came out otherwise than they should. Seed {settings.seed}.{size}"
    )


def _section(each: Made) -> list[Html]:
    part = each.part
    image = Html(f'<img src="{part.id}.png" alt="{part.title}">')
    numbers = tag("a", f"{part.id}.csv", href=f"{part.id}.csv")
    caption = tag("figcaption", f"{len(each.table.rows):,} rows in ", numbers, f"; {part.kind}, {each.seconds:.1f} s.")
    shown = [heading(f"{part.id.capitalize().replace('-', ' ')}: {part.title}")]
    shown.append(tag("figure", tag("div", image, class_="scroll", tabindex="0"), caption))
    shown += [paragraph(part.note)] if part.note else []
    return [*shown, _checked(each.checks)] if each.checks else shown


def _checked(checks: Sequence[Check]) -> Html:
    rows = [
        [
            tag("td", check.claim, tag("small", f" {check.source}") if check.source else ""),
            check.printed,
            check.computed,
            tag("td", check.verdict, class_="" if check.passed else "miss"),
        ]
        for check in checks
    ]
    return table(["claim", "printed", "computed", "verdict"], rows)
