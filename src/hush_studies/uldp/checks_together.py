"""What section 6.3 says of collaborative sampling (figure 6 and table 2), held against what came out."""

from __future__ import annotations

import math

import numpy as np

from hush_studies import agreement, rule
from hush_studies.check import Check, ours, paper, untold
from hush_studies.study import Table
from hush_studies.uldp.checks import span
from hush_studies.uldp.checks_measured import stated, synthetic
from hush_studies.uldp.people import SYNTHETIC, people
from hush_studies.uldp.readings import BUDGETS
from hush_studies.uldp.readings import paper as as_printed
from hush_studies.uldp.together import law

PRINTED = {
    "uSS": ("1.23", "0.40", "1.51", "2.45"),
    "uUE": ("3.35", "4.38", "1.79", "18.09"),
    "uLH": ("0.83", "0.41", "1.26", "2.90"),
}
"""Table 2, in percent."""

_SPREAD = math.sqrt(math.pi / 2 - 1)  # of the absolute value of a normal variable, over its mean
_RUNS = 50


def estimated(table: Table) -> list[Check]:
    """Figure 6."""
    mine, best = synthetic(stated(table)), synthetic(table.where(reading="ours"))
    last = mine.where(epsilon=max(mine.column("epsilon")))
    most = last.numbers("mse") / last.numbers("mse_known")
    rest, whole, all_reports = (
        _average(rows, column) for rows, column in ((mine, "mse_rest"), (mine, "mse"), (best, "mse"))
    )
    claim = "MSE with θ told over MSE with θ known, {}"
    return [
        paper(claim.format("for the 95 %, on average over people, mechanisms and ε"), "close", _close(rest[1]), rest[0],
              f"{rest[0]:.2f}", "6.3"),
        untold(claim.format("for everybody's frequencies, ε = 5"), "close", rule.alike(), most,
               f"{span(most)}; {whole[0]:.2f} on average over ε", "6.3", "whose frequencies are estimated is not said",
               known=False),
        ours(claim.format("with the reports of all, on average"), "close", _close(all_reports[1]), all_reports[0],
             f"{all_reports[0]:.2f}", "ours"),
    ]  # fmt: skip


def _average(rows: Table, column: str) -> tuple[float, float]:
    """The mean over all cells of an error over that with θ known, and its standard error."""
    known = rows.numbers("mse_known")
    noise = rows.numbers(f"{column}_stderr") / known
    return float(np.mean(rows.numbers(column) / known)), math.sqrt(float(np.square(noise).sum())) / noise.size


def _close(stderr: float) -> rule.Rule:
    """As the word says it, of measured numbers."""
    return rule.between(1 - rule.WORD, 1 + rule.WORD, stderr=stderr, words="it is within a tenth of 1, but for chance")


def off(table: Table) -> list[Check]:
    """Table 2 and z*, by the law of what the first step tells; the runs must follow it."""
    checks = [agreement.averages(table, "off", "off_expected", "measured |θ̂ - θ|/θ follows its law")]
    at = people("Normal").setting
    for name, printed in {"uSS": "0.20", "uUE": "0.0028", "uLH": "0.18"}.items():
        checks.append(Check.number(f"Normal, ε = 0.5: z* of {name}", printed, as_printed(name, at, 0.5).z_star, "6.3"))
    laws = {
        (name, mechanism): 100 * np.array([law(mechanism, "paper", people(name), epsilon)[1] for epsilon in BUDGETS])
        for mechanism in PRINTED
        for name in SYNTHETIC
    }
    told = [float(each) for numbers in PRINTED.values() for each in numbers]
    first = np.array([found[0] for found in laws.values()])
    mean = np.array([found.mean() for found in laws.values()])
    noise = _SPREAD * np.array([math.sqrt(float(np.square(found).sum())) / found.size for found in laws.values()])
    for reading, law_of, error, known in (
        ("the average over ε from 0.5 to 5", mean, noise, False),
        ("the value at ε = 0.5", first, _SPREAD * first, True),
    ):
        score = np.abs(np.array(told) - law_of) / (error / math.sqrt(_RUNS))
        chance = rule.by_chance(score.size)
        near = int((score <= chance.tolerance).sum())
        shown = ", ".join(f"{printed:g}: {value:.2f}" for printed, value in zip(told, law_of, strict=True))
        claim = f"table 2, if it is {reading}: |θ̂ - θ|/θ in %"
        why = "at which ε, or averaged over which, is not said"
        checks.append(
            untold(claim, "12 numbers", chance, score, f"{near} of 12 ({shown})", "table 2", why, known=known)
        )
    return checks
