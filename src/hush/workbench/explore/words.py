"""What the table says, in sentences, and its rows as a table to take away."""

from __future__ import annotations

import csv
import io

from hush.reports.statements import lay
from hush.reports.words import many, number, percent
from hush.workbench.explore.numbers import DELTA, FAKES
from hush.workbench.explore.table import Explored, ExploredRow

_FAR = 2
MEANINGS = {
    "margin": "Half the width of a 95 % interval of an estimated percentage, on average over the answers.",
    "asr": "How often the best guess of one person's answer from the report is right, all answers equally likely.",
    "gain": f"What {percent(FAKES)} of fake reports add to the percentage of the one answer that they promote.",
    "bits": "Information in one report, public randomness included.",
}
"""Of each column."""


def points(share: float) -> str:
    """A difference of shares in percentage points.

    >>> points(0.0123), points(0.5), points(2.5), points(1234.5)
    ('1.23', '50.0', '250', '123,450')
    """
    hundred = 100 * share
    return f"{hundred:,.0f}" if hundred >= 1000 else number(hundred, 3)


def margin(share: float) -> str:
    r"""Half of an interval, in percentage points.

    >>> margin(0.0123)
    '±\xa01.23'
    """
    return f"±\u00a0{points(share)}"


def summary(found: Explored) -> list[str]:
    """The best in each column, in sentences.

    >>> from hush.workbench.explore.table import explore
    >>> print(summary(explore(10, 1.0, 10_000))[-1])
    The shortest report is that of PGR: 4 bits in 1 byte.
    """
    accurate, guessed, moved, short = (found.best(column) for column in ("margin", "asr", "gain", "bits"))
    right, luck, of = lay.guesses(guessed.asr, 1 / found.k)
    bits = f"{many(short.bits, 'bit', 'bits')} in {many(short.size, 'byte', 'bytes')}"
    said = [
        f"With {many(found.n, 'person', 'people')}, {accurate.name} errs least: a percentage is known to "
        f"{margin(accurate.margin)} points.",
        f"From a report of {guessed.name} the best guess of one person's answer is right {right} times in {of}; "
        f"{luck} by luck alone.",
        f"Fakes, {percent(FAKES)} of all reports, move {moved.name} least: by {points(moved.gain)} points.",
        f"The shortest report is that of {short.name}: {bits}.",
    ]
    if accurate.margin >= 0.5:
        said[0] += " That tells hardly anything: take more people, a larger ε or fewer answers."
    return said


def pictured(found: Explored) -> tuple[list[ExploredRow], str]:
    """The rows that a picture has room for, those with at most twice the least error, and how to read it."""
    most = _FAR * found.best("margin").margin
    rows = [row for row in found.rows if row.margin <= most]
    far = [row.name for row in found.rows if row.margin > most]
    said = "Left is more accurate, below is harder to attack. Choose a point to see its bytes."
    if far:
        verb = "lies" if len(far) == 1 else "lie"
        said += f" {', '.join(far)} {verb} far to the right, with more than twice the least error."
    return rows, said


def promise(row: ExploredRow, epsilon: float) -> str:
    """What a report of it promises."""
    return f"({epsilon:g}, {DELTA:g})-LDP" if row.approximate else f"{epsilon:g}-LDP"


def as_csv(found: Explored) -> str:
    """The table as a CSV file, with all digits that are known."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ("name", "full_name", "family", "margin", "asr", "gain", "bits", "size", "on_front")
    writer.writerow(["k", "epsilon", "delta", "n", *columns])
    for row in found.rows:
        circumstances = [found.k, found.epsilon, DELTA if row.approximate else 0, found.n]
        writer.writerow([*circumstances, *(getattr(row, column) for column in columns)])
    return out.getvalue()
