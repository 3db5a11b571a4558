"""The algorithms run as printed, beside what they should find: the table behind the errata of the thesis."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hush.planning import optimus
from hush.randomness import seeded
from hush_studies.budget import printed
from hush_studies.budget.cells import CERTAINTY, Effort, cell, lost, method, seed_of, threshold
from hush_studies.budget.searched import domain
from hush_studies.study import Advance, Settings, Table, rows_of

TAU, PROTOCOL = 0.7, "GRR"
LAX, UNSURE = -0.6, 0.2
"""A coefficient that any budget keeps, and a certainty below one half."""

LEAST, MOST, C = 100, 1000, 1.0
"""Runs of DBS: the thesis prints C only."""

COLUMNS = (
    "algorithm", "question", "tau", "pi", "epsilon_printed", "share_printed", "epsilon_corrected", "share_corrected",
    "width", "steps", "lowest", "probability",
)  # fmt: skip


def _simulate(people: str, seed: int) -> printed.Simulate:
    """The same random numbers at every budget."""

    def draw(epsilon: float, runs: int) -> Any:
        return lost(people, PROTOCOL, epsilon, runs, seeded(seed_of(seed, "printed", people)))

    return draw


def _hopeless(epsilon: float, runs: int) -> Any:
    """Losses of a question that no budget answers: a tenth too large."""
    return np.full(runs, threshold(TAU) * 1.1)


@cache
def _share(people: str, epsilon: float, tau: float, runs: int, seed: int) -> float:
    """Of fresh collections at a budget that keep a coefficient."""
    losses = lost(people, PROTOCOL, epsilon, runs, seeded(seed_of(seed, "share", people, round(epsilon, 9))))
    return float(np.mean(losses <= threshold(tau)))


def compute(settings: Settings, advance: Advance) -> Table:
    """A row for every algorithm and question."""
    people, seed = domain(settings), settings.seed
    runs, checked = (100, 300) if settings.quick else (500, 4000)
    simulate, omega, pi = _simulate(people, seed), threshold(TAU), CERTAINTY
    effort = Effort(runs, checked)

    def found(how: Any, at: float = TAU, sure: float = pi) -> float | None:
        epsilon = cell(people, PROTOCOL, at, sure, how, effort, seed).epsilon
        return None if np.isnan(epsilon) else epsilon

    def literal(epsilon: float, number: int) -> Any:
        return 1 - simulate(epsilon, number)

    lax = threshold(LAX)
    bs, usual = optimus.BS(), f"τ ≥ {TAU:g}"
    cases: list[tuple[str, str, float, float, Callable[[], printed.EndedAt], Callable[[], float | None]]] = [
        ("BS", usual, TAU, pi, lambda: printed.binary(simulate, omega, pi, runs), lambda: found(bs)),
        ("BS, τ as the loss", usual, TAU, pi, lambda: printed.binary(literal, TAU, pi, runs), lambda: found(bs)),
        (
            "BS, a small π", usual, TAU, UNSURE,
            lambda: printed.binary(simulate, omega, UNSURE, runs), lambda: found(bs, sure=UNSURE),
        ),
        ("BS, no answer", "impossible", TAU, pi, lambda: printed.binary(_hopeless, omega, pi, runs), lambda: None),
        (
            "RBS, g = 4", usual, TAU, pi,
            lambda: printed.binary(simulate, omega, pi, runs, g=4.0), lambda: found(method("RBS")),
        ),
        (
            "RBS, g = 2", usual, TAU, pi,
            lambda: printed.binary(simulate, omega, pi, 50, g=2.0), lambda: found(optimus.RBS(g=5.0)),
        ),
        (
            "DBS", usual, TAU, pi,
            lambda: printed.dynamic(simulate, omega, pi, LEAST, MOST, C), lambda: found(method("DBS")),
        ),
        (
            "MPass", usual, TAU, pi,
            lambda: printed.passes(simulate, omega, pi, runs // 2, 3, 10.0), lambda: found(optimus.MPass(passes=3)),
        ),
        (
            "MPass, no answer", "impossible", TAU, pi,
            lambda: printed.passes(_hopeless, omega, pi, runs, 3, 10.0), lambda: None,
        ),
        (
            "MPass, any budget", f"τ ≥ {LAX:g}", LAX, pi,
            lambda: printed.passes(simulate, lax, pi, 50, 2, 10.0), lambda: found(optimus.MPass(passes=2), LAX),
        ),
        (
            "Bayes", usual, TAU, pi,
            lambda: printed.EndedAt(printed.mean_met(simulate, omega, runs), 0.0, 16),
            lambda: found(optimus.Bayes(initial=10, iterations=10)),
        ),
    ]  # fmt: skip
    rows = []
    for name, question, tau, sure, as_printed, corrected in cases:
        ended, right = as_printed(), corrected()
        shares = [
            None if at is None else 0.0 if question == "impossible" else _share(people, at, tau, checked, seed)
            for at in (ended.epsilon, right)
        ]
        last = [ended.width, ended.steps, ended.lowest, ended.probability]
        rows.append([name, question, tau, sure, ended.epsilon, shares[0], right, shares[1], *last])
        advance(1 / len(cases))
    return rows_of(COLUMNS, rows)
