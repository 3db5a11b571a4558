"""A permalink: everything that was asked, in the query of an address."""

from __future__ import annotations

from urllib.parse import urlencode

from hush.workbench.plan.question import EACH, Question

LONGEST = 8_000
"""Characters of a query that every browser, proxy and mail program takes."""


def fields(question: Question) -> dict[str, str]:
    """What was said, field by field; what is as it is when nothing is said is left out. `read` reads it again.

    >>> fields(Question(people=20_000, points=1.0, answers=12))
    {'points': '1', 'people': '20000', 'answers': '12'}
    """
    q = question
    named = q.labels is not None
    said = {
        "points": _written(q.points),
        "held": "" if q.held == EACH else q.held,
        "people": str(q.people),
        "answers": "" if named else str(q.answers),
        "labels": "\n".join(map(str, q.labels)) if q.labels is not None else "",
        "other": q.other or "",
        "sensitive": "\n".join(str(q.domain.label(i)) for i in q.sensitive),
        "guesses": _written(q.guesses),
        "epsilon": _written(q.epsilon),
        "matters": "" if q.matters == "balance" else q.matters,
        "rounds": "" if q.rounds == 1 else str(q.rounds),
        "changing": "1" if q.changing else "",
        "chosen": q.chosen,
    }
    return {name: text for name, text in said.items() if text}


def _written(number: float | None) -> str:
    """A number with all digits that it has, so that the same one is read."""
    return "" if number is None else repr(float(number)).removesuffix(".0")


def query(question: Question) -> str | None:
    """The query of a link to this question; None where its labels are too long for an address.

    >>> query(Question(people=20_000, points=1.0, answers=12))
    'points=1&people=20000&answers=12'
    """
    made = urlencode(fields(question))
    return made if len(made) <= LONGEST else None
