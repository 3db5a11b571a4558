"""People as somebody pastes them: how many hold each answer, or each amount."""

from __future__ import annotations

import re

from hush.people.domain import Label
from hush.workbench.plan.reading import MOST_LABELS, real, whole

_MOST_PEOPLE = 10**9
_CUT = re.compile(r"[\t,;:]")


def counts(text: str) -> tuple[tuple[Label, ...], tuple[int, ...]]:
    r"""Lines of an answer and how many people hold it.

    >>> counts("red: 300\ngreen: 1,200")
    (('red', 'green'), (300, 1200))
    """
    rows = [_row(i, line) for i, line in enumerate(filter(None, map(str.strip, text.splitlines())), 1)]
    if not 2 <= len(rows) <= MOST_LABELS:
        raise ValueError(f"Give 2 to {MOST_LABELS:,} lines, each an answer and how many people hold it: red: 300.")
    labels = tuple(label for label, _ in rows)
    if len(set(labels)) < len(labels):
        raise ValueError("Every answer must stand in one line only.")
    people = tuple(count for _, count in rows)
    if not 0 < sum(people) <= _MOST_PEOPLE:
        raise ValueError(f"All lines together must count 1 to {_MOST_PEOPLE:,} people.")
    return labels, people


def amounts(text: str) -> tuple[tuple[float, ...], tuple[int, ...]]:
    r"""Lines of an amount and how many people hold it.

    >>> amounts("0: 500\n10: 20")
    ((0.0, 10.0), (500, 20))
    """
    labels, people = counts(text)
    try:
        return tuple(real(str(label), -1e15, 1e15) for label in labels), people
    except ValueError:
        raise ValueError("Each line must begin with an amount, as in 10: 300.") from None


def _row(i: int, line: str) -> tuple[str, int]:
    cut = next(iter(_CUT.finditer(line)), None)
    if cut is None:
        raise ValueError(f"Line {i} must have an answer and a number of people, as in red: 300.")
    label, count = line[: cut.start()].strip(), line[cut.end() :].strip()
    try:
        return label, whole(count, 0, _MOST_PEOPLE)
    except ValueError:
        raise ValueError(f"Line {i} must end with a whole number of people, as in red: 300.") from None
