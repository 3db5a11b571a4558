"""Theorem 6: errors beside the minimax rate of ULDP, s/ε² for ε below 1 and s·e^ε/(e^ε − 1)² from there to log s.

The rate has no constant, so what can be held against it is how errors grow with s and ε. A mechanism is order-optimal
where its error over the rate stays between two constants.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from hush.randomness import seeded
from hush.types import Floats
from hush.utility import total_error
from hush_studies import rule
from hush_studies.check import Check, ours, paper
from hush_studies.frame import THEME, below, entitle, frame, label, mark
from hush_studies.study import Advance, Settings, Table, rows_of
from hush_studies.uldp.computed import DESCRIBED, described
from hush_studies.uldp.people import MechanismSetting
from hush_studies.uldp.readings import made
from hush_studies.uldp.runs import estimates
from hush_studies.uldp.strokes import COLOURS, SIGNS

NAMES = ("uRR", "uRAP", "uSS", "uUE", "uLH")
OPTIMAL = ("uSS", "uUE", "uLH")
"""Those whose base mechanism is order-optimal."""
SIZES = (25, 50, 100, 200, 400)
BUDGETS = (0.5, 1.5, 3.0)
PEOPLE, THETA, RUNS = 100_000, 0.5, 10
COLUMNS = (
    "d", "s", "theta", "n", *DESCRIBED, "rate", "mse", "mse_measured", "mse_stderr", "sensitive_part", "other_part",
)  # fmt: skip


def rate(s: int, epsilon: float) -> float:
    """The minimax rate for one report, without its constant.

    >>> rate(100, 0.5), round(rate(100, 2.0), 3)
    (400.0, 18.102)
    """
    return s / epsilon**2 if epsilon < 1 else s * math.exp(epsilon) / math.expm1(epsilon) ** 2


def rates(settings: Settings, advance: Advance) -> Table:
    """Exact and measured errors of each mechanism as the paper has it, over s and the budget."""
    sizes = SIZES[::2] if settings.quick else SIZES
    cells = [(s, epsilon) for s, epsilon in product(sizes, BUDGETS) if epsilon < math.log(s)]
    rows = []
    for s, epsilon in cells:
        at = MechanismSetting(2 * s, tuple(range(s)), THETA)
        counts = np.full(2 * s, PEOPLE // (2 * s), np.int64)
        n = int(counts.sum())
        for place, name in enumerate(NAMES):
            u = made(name, "paper", at, epsilon)
            rng = seeded([settings.seed, 6, s, round(10 * epsilon), place])
            squares = ((estimates(u, counts, RUNS, rng) - counts / n) ** 2).sum(axis=1)
            measured, stderr = float(squares.mean()), float(squares.std(ddof=1) / math.sqrt(RUNS))
            z = u.z_star
            p, q = u.base.p_star, u.base.q_star  # type: ignore[attr-defined]
            parts = [s * q * (1 - q) / (p - q) ** 2, THETA * (1 - z) / z]
            told = [rate(s, epsilon) / n, total_error(u, THETA, n), measured, stderr, *parts]
            rows.append([at.k, s, THETA, n, *described(name, "paper", u), *told])
        advance(1 / len(cells))
    return rows_of(COLUMNS, rows)


def draw(table: Table) -> Figure:
    """Errors over the rate: a line that is level is order-optimal."""
    budgets = sorted(set(table.numbers("epsilon").tolist()))
    title = "Error over the minimax rate (theorem 6), as in the paper"
    figure, panels = frame(1, len(budgets), title, tall=3.4, sharey=True)
    for axes, epsilon in zip(panels[0], budgets, strict=True):
        for name in NAMES:
            rows = table.where(mechanism=name, epsilon=epsilon)
            s, bound = rows.numbers("s"), rows.numbers("rate")
            axes.plot(s, rows.numbers("mse") / bound, color=COLOURS[name], lw=1.4)
            axes.errorbar(
                s, rows.numbers("mse_measured") / bound, yerr=2 * rows.numbers("mse_stderr") / bound,
                fmt=SIGNS[name], color=COLOURS[name], ms=4, elinewidth=0.8,
            )  # fmt: skip
        axes.axhline(1, color=THEME.ink, ls="--", lw=1.2)
        axes.set(xscale="log", yscale="log")
        sizes = sorted(set(table.numbers("s").astype(int).tolist()))
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        entitle(axes, f"ε = {epsilon:g}")
    label(panels, "sensitive values s", "MSE over the rate")
    marks = [mark(name, COLOURS[name], marker=SIGNS[name], ms=4, lw=1.4) for name in NAMES]
    below(figure, [*marks, mark("the rate, without its constant", THEME.ink, ls="--", lw=1.2)])
    return figure


def checks(table: Table) -> list[Check]:
    """What theorem 6 and its proof say."""
    powers = {name: _powers(table, name) for name in NAMES}
    good = np.concatenate([powers[name] for name in OPTIMAL])
    best = Table(table.columns, [row for row in table.rows if row[COLUMNS.index("mechanism")] in OPTIMAL])
    over = best.numbers("mse") / best.numbers("rate")
    share = table.numbers("other_part") / table.numbers("sensitive_part")
    away = (table.numbers("mse_measured") - table.numbers("mse")) / table.numbers("mse_stderr")
    unsafe = np.array([float(each) for each in powers["uRR"]])
    return [
        paper("uSS, uUE and uLH: error grows as this power of s", "order-optimal", rule.alike(1), good,
              f"{good.min():.3f} to {good.max():.3f}", "theorem 6"),
        paper("uRR: error grows as this power of s, at least", "not order-optimal", rule.above(1), unsafe,
              f"{unsafe.min():.2f} to {unsafe.max():.2f}", "1"),
        paper("error of other values over that of sensitive ones, in the proof", "less than 1", rule.below(1), share,
              f"≤ {share.max():.3f}", "theorem 6"),
        ours("uSS, uUE and uLH: largest error over the rate, over the smallest", "bounded", rule.at_most(4),
             over.max() / over.min(), f"{over.min():.2f} to {over.max():.2f} times the rate", "theorem 6"),
        ours("measured errors, in standard errors from the exact ones", "equal", rule.by_chance(away.size, RUNS - 1),
             away, f"at most {np.abs(away).max():.1f}", "ours"),
    ]  # fmt: skip


def _powers(table: Table, name: str) -> Floats:
    """The power of s that the error grows as, at each budget."""
    found = []
    for epsilon in sorted(set(table.numbers("epsilon").tolist())):
        rows = table.where(mechanism=name, epsilon=epsilon)
        s, errors = rows.numbers("s"), rows.numbers("mse")
        found.append(math.log(errors[-1] / errors[0]) / math.log(s[-1] / s[0]))
    return np.array(found)
