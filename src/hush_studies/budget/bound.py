"""Figure 4.1: how likely a binary total is missed, by the printed bound, a better one, exactly, and in simulations."""

from __future__ import annotations

import math

import numpy as np

from hush.analysis import capacity as forms
from hush.mechanisms.direct import GRR
from hush.planning import capri
from hush.randomness import seeded
from hush_studies.budget.cells import seed_of
from hush_studies.study import Advance, Settings, Table, rows_of

N = 1000
PRINTED = {
    (500, 100, 0.4): ("0.037", "0"),
    (500, 600, 0.8): ("0.148", "0.012"),
    (400, 500, 0.4): ("0.588", "0.108"),
    (500, 100, 0.1): ("0.975", "0"),
    (500, 200, 0.1): ("1.000", "0"),
}
"""By cap, total and budget: Chebyshev's bound and the simulated probability, as the thesis has them."""

CURVES = {"b": (500, 600), "c": (400, 500), "d": (500, 500)}
"""Panels: cap and total."""

COLUMNS = (
    "panel", "n", "cap", "total", "epsilon", "chebyshev", "cantelli", "exact", "simulated", "simulated_stderr", "runs",
)  # fmt: skip


def variance(epsilon: float, n: int = N) -> float:
    """Of the estimated total of a binary domain: npq / (p - q)²."""
    p = math.exp(epsilon) / (math.exp(epsilon) + 1)
    return n * p * (1 - p) / (2 * p - 1) ** 2


def chebyshev(cap: float, total: float, epsilon: float) -> float | None:
    """As printed, whichever of cap and total is larger; None where they are equal, and it divides by zero."""
    return None if cap == total else variance(epsilon) / (total - cap) ** 2


def missed(cap: int, total: int, epsilon: float) -> float:
    """The exact probability of a false negative; none where the total does not exceed the cap."""
    if total <= cap:
        return 0.0
    return capri.law(GRR(k=2, epsilon=epsilon), capri.population([N - total, total])).at_most(cap)


def simulated(cap: int, total: int, epsilon: float, runs: int, seed: int) -> float:
    """The share of drawn collections whose estimate does not exceed a cap that the total exceeds."""
    if total <= cap:
        return 0.0
    m, rng = GRR(k=2, epsilon=epsilon), seeded(seed_of(seed, cap, total, epsilon))
    ones = rng.binomial(total, m.p_star, runs) + rng.binomial(N - total, m.q_star, runs)
    estimates = (ones - N * m.q_star) / (m.p_star - m.q_star)
    return float(np.mean(estimates <= cap + 1e-9))


def compute(settings: Settings, advance: Advance) -> Table:
    """The scenarios of panel a, and the curves of the others."""
    runs = 2_000 if settings.quick else 50_000
    budgets = np.linspace(0.1, 2.0, 6 if settings.quick else 20).round(6).tolist()
    cases = [("a", *scenario) for scenario in PRINTED]
    cases += [(panel, *at, epsilon) for panel, at in CURVES.items() for epsilon in budgets]
    rows = []
    for panel, cap, total, epsilon in cases:
        exact, seen = missed(cap, total, epsilon), simulated(cap, total, epsilon, runs, settings.seed)
        cantelli = forms.cantelli(variance(epsilon), total - cap) if total > cap else None
        noise = math.sqrt(exact * (1 - exact) / runs)
        bound = chebyshev(cap, total, epsilon)
        rows.append([panel, N, cap, total, epsilon, bound, cantelli, exact, seen, noise, runs])
        advance(1 / len(cases))
    return rows_of(COLUMNS, rows)
