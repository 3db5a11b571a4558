"""The page for a privacy officer: the statement of the planned collection, with the wish it was planned for."""

from __future__ import annotations

from hush.errors import ParameterError, Unsaid, message
from hush.reports import Statement, statement
from hush.workbench.plan.answer import Answer


def handout(answer: Answer, date: str | None = None) -> Statement:
    """The statement; write it with `to_html`, `to_pdf` or `to_markdown`.

    Args:
        answer: A plan that something meets.
        date: A date to write on it.
    """
    if not answer.feasible:
        rule, remedy = "must be one that something meets", "take one of the ways out"
        raise ParameterError(message("answer", rule, Unsaid("one that nothing does"), remedy))
    said = [answer.question.words, *([answer.caution] if answer.caution else [])]
    if answer.question.rounds > 1:  # the total, where a statement speaks of one report alone, and what all of them tell
        total, _, guess = answer.headline
        said.insert(1, guess if answer.kind == "longitudinal" else f"{total} {guess}")
    return statement(answer.made, n=answer.question.people, reports=answer.question.rounds, asked=said, date=date)
