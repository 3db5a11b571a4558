"""Plan: from a wish in sentences to one recommendation, its alternatives, and something to leave with.

    question = read({"points": "1", "people": "20,000", "answers": "12"})      # what a form or a link says
    answer = answered(question)                                                # words, numbers, the spec
    script(answer), notebook(answer), handout(answer).to_html(), query(question)

Nothing here knows of a web page: it is what the page says and hands out.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hush.workbench.plan.answer import Answer, PlanOption, WayOut
    from hush.workbench.plan.asking import answered, takes_long
    from hush.workbench.plan.handouts import handout
    from hush.workbench.plan.link import query
    from hush.workbench.plan.notebooks import notebook
    from hush.workbench.plan.question import Mistakes, Question
    from hush.workbench.plan.reading import read
    from hush.workbench.plan.scripts import script

__all__ = [
    "Answer",
    "Mistakes",
    "PlanOption",
    "Question",
    "WayOut",
    "answered",
    "handout",
    "notebook",
    "query",
    "read",
    "script",
    "takes_long",
]

_PLACES = {
    "answer": ("Answer", "PlanOption", "WayOut"),
    "asking": ("answered", "takes_long"),
    "handouts": ("handout",),
    "link": ("query",),
    "notebooks": ("notebook",),
    "question": ("Mistakes", "Question"),
    "reading": ("read",),
    "scripts": ("script",),
}


def __getattr__(name: str) -> Any:
    """All of it, imported when first asked for: a form needs no planner."""
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{place}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
