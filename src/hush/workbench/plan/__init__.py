"""Plan: from a wish in sentences to one recommendation, its alternatives, and something to leave with.

    question = read({"points": "1", "people": "20,000", "answers": "12"})      # what a form or a link says
    answer = answered(question)                                                # words, numbers, the spec
    script(answer), notebook(answer), handout(answer).to_html(), query(question)

Nothing here knows of a web page: it is what the page says and hands out.
"""

from __future__ import annotations

from hush.workbench.plan.answer import Answer, Option, WayOut
from hush.workbench.plan.asking import answered, takes_long
from hush.workbench.plan.handout import handout
from hush.workbench.plan.link import query
from hush.workbench.plan.notebook import notebook
from hush.workbench.plan.question import Mistakes, Question
from hush.workbench.plan.reading import read
from hush.workbench.plan.script import script

__all__ = [
    "Answer",
    "Mistakes",
    "Option",
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
