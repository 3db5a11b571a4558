"""What section 6.3 says of collaborative sampling (figure 6 and table 2), held against what came out."""

from __future__ import annotations

import math

import numpy as np

from hush.reproduce.study import Check, Table
from hush.reproduce.uldp.checks import span
from hush.reproduce.uldp.checks_measured import agree, stated, synthetic
from hush.reproduce.uldp.people import SYNTHETIC, people
from hush.reproduce.uldp.readings import BUDGETS, paper
from hush.reproduce.uldp.together import law

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
    mine, ours = synthetic(stated(table)), synthetic(table.where(reading="ours"))
    last = mine.where(epsilon=max(mine.column("epsilon")))
    most = last.numbers("mse") / last.numbers("mse_known")
    rest, whole, best = (
        float(np.mean(rows.numbers(column) / rows.numbers("mse_known")))
        for rows, column in ((mine, "mse_rest"), (mine, "mse"), (ours, "mse"))
    )
    said = f"{span(most)} at ε = 5; {whole:.2f} on average"
    claim = "MSE with θ told over MSE with θ known, for the 95 %"
    return [
        Check(claim, "close to 1", f"{rest:.2f} on average", abs(rest - 1.05) < 0.1, source="6.3"),
        Check("… for everybody's frequencies", "close to 1", said, bool(most.max() < 1.15), right=False, source="6.3"),
        Check("… and with the reports of all", "≈ 1", f"{best:.2f} on average", abs(best - 1) < 0.1, source="ours"),
    ]


def off(table: Table) -> list[Check]:
    """Table 2 and z*, by the law of what the first step tells; the runs must follow it."""
    checks = [agree(table, "off", "off_expected", "measured |θ̂ - θ|/θ follows its law")]
    at = people("Normal").setting
    for name, printed in {"uSS": "0.20", "uUE": "0.0028", "uLH": "0.18"}.items():
        checks.append(Check.number(f"Normal, ε = 0.5: z* of {name}", printed, paper(name, at, 0.5).z_star, "6.3"))
    averaged = 0
    for mechanism, numbers in PRINTED.items():
        for name, printed in zip(SYNTHETIC, numbers, strict=True):
            found = 100 * np.array([law(mechanism, "paper", people(name), epsilon)[1] for epsilon in BUDGETS])
            first, mean = float(found[0]), float(found.mean())
            noise = _SPREAD * math.sqrt(float(np.square(found).sum())) / found.size
            told = float(printed)
            averaged += abs(told - mean) < 3 * noise / math.sqrt(_RUNS)
            holds = mean - 3 * noise <= told <= first * (1 + 3 * _SPREAD / math.sqrt(_RUNS))
            said = f"from {mean:.2f} (average over ε) to {first:.2f} (ε = 0.5)"
            claim = f"{name}, {mechanism}: |θ̂ - θ|/θ in %, within sampling error"
            checks.append(Check(claim, printed, said, holds, source="table 2"))
    said = f"so {averaged} of 12, within three standard errors of {_RUNS} runs"
    claim = "table 2 is the average over ε from 0.5 to 5"
    checks.append(Check(claim, "12 of 12", said, averaged == 12, right=False, source="6.3"))
    return checks
