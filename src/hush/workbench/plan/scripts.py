"""A script that rehearses the planned collection, to run as it is and to build on."""

from __future__ import annotations

import textwrap

from hush.workbench.plan.answer import Answer
from hush.workbench.plan.rehearsal import steps


def script(answer: Answer) -> str:
    """The text of the script; it needs nothing but hush."""
    parts = (f"{_comment(f'{step.title}. {step.words}')}\n{step.code}\n" for step in steps(answer))
    return "\n".join([f'"""{_head(answer)}"""\n', *parts])


def _head(answer: Answer) -> str:
    said = [
        answer.question.words,
        " ".join(answer.headline),
        f"Planned by: {answer.command}",
        f"In Python: {answer.call}",
    ]
    wrapped = [textwrap.fill(each, 110, break_long_words=False, break_on_hyphens=False) for each in said]
    return "\n\n".join(wrapped).replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + "\n"


def _comment(words: str) -> str:
    return textwrap.fill(words, 110, initial_indent="# ", subsequent_indent="# ")
