"""From a question to its answer, whichever planner knows it."""

from __future__ import annotations

from collections.abc import Callable

from hush.errors import HushError
from hush.workbench.plan import once, partial, rounds
from hush.workbench.plan.answer import Answer
from hush.workbench.plan.question import Mistakes, Question

_QUICK = 24
"""Up to so many answers, a plan takes about half a second."""

_FIELDS = {
    "n": "people",
    "error": "points",
    "k": "answers",
    "domain": "labels",
    "labels": "labels",
    "max_asr": "guesses",
    "max_epsilon": "epsilon",
    "matters": "matters",
    "sensitive": "sensitive",
    "rounds": "rounds",
    "chosen": "chosen",
}
"""Which field of a form a parameter of the planner is."""


def takes_long(question: Question) -> bool:
    """Whether the answer takes seconds, and should be a job."""
    return question.rounds > 1 or question.answers > _QUICK


def answered(question: Question, progress: Callable[[float], None] | None = None) -> Answer:
    """The answer; what the planner refuses is said of the field that it is about.

    Raises:
        Mistakes: In words, by field.
    """
    try:
        if question.sensitive:
            return partial.answered(question)
        if question.rounds > 1:
            return rounds.answered(question, progress)
        return once.answered(question)
    except Mistakes:
        raise
    except HushError as error:
        field = _FIELDS.get(error.parameter or "", "")
        if not field:
            raise
        raise Mistakes({field: f"This {error.rule}; {error.remedy}."}) from error


def answered_job(progress: Callable[[float], None], question: Question) -> Answer:
    """The same as a job of the workbench."""
    progress(0.02)
    return answered(question, progress)
