"""Tables from exact variances and exact losses: figures 1 and 3, and what the printed z really spends."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from hush.utility import UtilityOracle, theory, total_error
from hush.utility.named import uLH, uWheel
from hush_studies.study import Advance, Settings, Table, rows_of
from hush_studies.uldp.people import MechanismSetting, chosen, people
from hush_studies.uldp.readings import MECHANISMS, READINGS, budgets, made, parameter

DESCRIBED = ("mechanism", "reading", "epsilon", "parameter", "z", "reveal", "z_star", "true_epsilon")

FIRST = {"k": 1200, "theta": 0.5, "epsilon": 2.0}
"""The setting of figure 1, of which the paper says only that s is large."""

SIZES = (2, 3, 5, 10, 20, 50, 100, 200, 400, 700, 1000)
SCENARIOS = tuple((s, theta) for s in (5, 50, 500) for theta in (0.5, 0.9))
"""Of figure 3, with 1000 values in all; the paper's are not in its text."""


def described(name: str, reading: str, u: UtilityOracle) -> list[Any]:
    """What a row says of a mechanism."""
    return [name, reading, u.epsilon, parameter(u), u.z, u.reveal, u.z_star, u.exact_epsilon()]


def plain_bits(u: UtilityOracle) -> int:
    """Bits of a report as the paper counts outputs: local hashing without its hash function."""
    others = u.k - u.s
    if isinstance(u, uLH) and u.g is not None:
        outputs = u.g + others + (u.g * others if u.reveal == "pair" else 0)
        return (outputs - 1).bit_length()
    return u.bits


def first(settings: Settings, advance: Advance) -> Table:
    """Figure 1: error and bits as more and more values are sensitive."""
    k, theta, epsilon = int(FIRST["k"]), FIRST["theta"], FIRST["epsilon"]
    rows, sizes = [], SIZES[::3] if settings.quick else SIZES
    for s in sizes:
        at = MechanismSetting(k, tuple(range(s)), theta)
        for name, reading in product(MECHANISMS, READINGS):
            u = made(name, reading, at, epsilon)
            rows.append([k, s, theta, *described(name, reading, u), total_error(u, theta), u.bits, plain_bits(u)])
        advance(1 / len(sizes))
    return rows_of(("d", "s", "theta", *DESCRIBED, "mse", "bits", "bits_without_hash"), rows)


def scenarios(settings: Settings, advance: Advance) -> Table:
    """Figure 3: the error of one report over the budget, and equation 28 for those that it speaks of."""
    rows, pairs = [], SCENARIOS[1::2] if settings.quick else SCENARIOS
    for s, theta in pairs:
        at = MechanismSetting(1000, tuple(range(s)), theta)
        for epsilon, name, reading in product(budgets(settings.quick), MECHANISMS, READINGS):
            u = made(name, reading, at, epsilon)
            values = [total_error(u, theta), equation_28(u, theta)]
            rows.append([at.k, s, theta, *described(name, reading, u), *values])
        advance(1 / len(pairs))
    return rows_of(("d", "s", "theta", *DESCRIBED, "mse", "equation_28"), rows)


def equation_28(u: UtilityOracle, theta: float) -> float | None:
    """For pure mechanisms that send pairs, or reveal nothing from disguise."""
    p, q = (getattr(u.base, name, None) for name in ("p_star", "q_star"))
    if p is None or q is None or u.reveal == "alone":
        return None
    return float(theory.mean_squared_error(u.s, theta, p, q, u.z_star))


def losses(settings: Settings, advance: Advance) -> Table:
    """What uLH and uWheel really spend with the printed z, and by closed form."""
    rows = []
    names = chosen(settings.quick)
    for name in names:
        at = people(name).setting
        for epsilon, each, reading in product(budgets(settings.quick), ("uLH", "uWheel"), READINGS):
            u = made(each, reading, at, epsilon)
            rows.append([name, at.k, at.s, *described(each, reading, u), _closed(u)])
        advance(1 / len(names))
    return rows_of(("people", "d", "s", *DESCRIBED, "closed_form"), rows)


def _closed(u: UtilityOracle) -> float | None:
    if u.z != "paper":
        return None
    if isinstance(u, uLH) and u.g is not None:
        return theory.true_loss_hashing(u.s, u.epsilon, u.g)
    return theory.true_loss_wheel(u.s, u.epsilon, u.coverage) if isinstance(u, uWheel) and u.coverage else None


def spread(u: UtilityOracle, frequencies: Any, n: int) -> tuple[float, float]:
    """The exact mean squared error, and the sum of all standard deviations."""
    variances = u.variances(frequencies, n)
    return float(variances.sum()), float(np.sqrt(variances).sum())
