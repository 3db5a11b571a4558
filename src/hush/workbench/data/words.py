"""What came out on these people, in sentences, and all figures as a table to take away."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from hush.people import Population
from hush.reports.statements import lay
from hush.reports.words import many, percent, shortened
from hush.workbench.cells import safe_cell
from hush.workbench.data.column import CountedColumn
from hush.workbench.data.trying import LEVEL, TriedMechanism
from hush.workbench.explore.numbers import DELTA
from hush.workbench.explore.words import margin, points

_LABEL = 40


def told(column: CountedColumn, people: Population) -> str:
    """What is in the column.

    >>> import numpy as np
    >>> column = CountedColumn("drink", {"tea": 3, "coffee": 1}, 2)
    >>> print(told(column, column.kept()))
    Column drink: 4 people, 2 different values; the most frequent, “tea”, 75 % of them. 2 rows are empty and left out.
    """
    top = max(column.counts, key=lambda label: column.counts[label])  # of the column: the rest taken as one is none
    share = round(column.counts[top] / column.rows, 4)
    said = (
        f"Column {column.name}: {many(column.rows, 'person', 'people')}, "
        f"{many(len(column.counts), 'different value', 'different values')}; the most frequent, "
        f"“{shortened(top, _LABEL)}”, {percent(share)} of them."
    )
    if people.k < len(column.counts):
        said += f" The {people.k - 1:,} most frequent are kept, and the others counted as one."
    if column.missing:
        verb = "row is" if column.missing == 1 else "rows are"
        said += f" {column.missing:,} {verb} empty and left out."
    return said


def result(one: TriedMechanism, people: Population) -> list[str]:
    """What one mechanism gave: errors, intervals, and the attacker."""
    k, worst = people.k, one.worst
    right, luck, of = lay.guesses(one.attack, one.luck)
    return [
        f"Estimates are off by {points(one.typical)} points as a rule, and by {points(float(one.errors[worst]))} at "
        f"most, for “{shortened(people.domain.label(worst), _LABEL)}”; error bars reach "
        f"{margin(one.half_width)} points.",
        f"{one.covered:,} of {k:,} intervals of {percent(LEVEL)} hold the truth.",
        f"Who knows these shares guesses one person's value right {right} times in {of} from the report, and {luck} "
        "times without it.",
    ]


def comparison(trials: Sequence[TriedMechanism]) -> str:
    """Which of several erred least, and from which the least can be guessed; error bars, since luck moves errors."""
    accurate = min(trials, key=lambda one: one.half_width)
    guessed = min(trials, key=lambda one: one.attack)
    right, _, of = lay.guesses(guessed.attack, guessed.luck)
    said = f"{accurate.name} has the shortest error bars here, {margin(accurate.half_width)} points on average."
    if guessed.name != accurate.name and guessed.attack < accurate.attack - 5e-4:
        other, _, _ = lay.guesses(accurate.attack, accurate.luck)
        said += (
            f" {guessed.name} gives attackers least: {right} right guesses in {of}, where {accurate.name} gives "
            f"them {other}."
        )
    return said


def figures(trials: Iterable[TriedMechanism], people: Population) -> str:
    """Truth, estimate and interval of every value under every mechanism, as a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ("mechanism", "epsilon", "delta", "n", "seed", "value", "count", "truth", "estimate", "low", "high")
    writer.writerow([*names, "level", "attack_success", "attack_without_report"])
    for one in trials:
        delta = DELTA if hasattr(one.mechanism, "delta") else 0
        start = [one.name, one.mechanism.epsilon, delta, people.n, one.seed]
        for i in range(people.k):
            numbers = [float(part[i]) for part in (one.truth, one.estimate, one.low, one.high)]
            row = [safe_cell(people.domain.label(i)), int(people.counts[i]), *numbers]
            writer.writerow([*start, *row, LEVEL, one.attack, one.luck])
    return out.getvalue()
