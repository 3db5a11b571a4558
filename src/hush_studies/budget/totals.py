"""Tables of CAPRI: figures 5.7 to 5.9, 6.6 and 6.7."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from hush.mechanisms.direct import GRR
from hush.mechanisms.registry import registry
from hush.mechanisms.subset import SS
from hush.people import Population
from hush.planning import capacity, capri
from hush.randomness import seeded
from hush_studies.budget.cells import seed_of
from hush_studies.budget.people import clients
from hush_studies.study import Advance, Settings, Table, rows_of

NAMES = {"GRR": "GRR", "RAPPOR": "SUE", "OUE": "OUE", "SS": "SS", "Duchi": "Duchi"}
"""The protocols of the thesis, and two more: subsets, and a mean."""

THESIS = ("GRR", "RAPPOR", "OUE")
LOWEST, HIGHEST, PRECISION = 0.001, 10.0, 0.01
RUNS = 50_000

CAPS = {
    ("Water", "tp"): (1_200_000, 1_300_000, 1_400_000),
    ("Water", "fp"): (1_800_000, 1_900_000, 2_000_000),
    ("Synthetic", "tp"): (120_000, 140_000, 160_000),
    ("Synthetic", "fp"): (240_000, 260_000, 280_000),
}
"""By clients and metric; the thesis prints one of them, 1.8 million."""

_THRESHOLDS = {"tp": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99), "fp": (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)}
_SPARSE = {"tp": (0.6, 0.99), "fp": (0.01, 0.3, 0.4)}

REPEATED = (1_308_000, 0.95)
"""Cap and threshold of a true positive in figure 5.8, which the thesis does not print: the answer is its 0.636."""

REPEATS = 100
PANELS: dict[str, tuple[str, tuple[int, ...], tuple[float, ...]]] = {
    "a": ("tp", (13_000,), (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)),
    "b": ("fp", (18_000,), (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)),
    "c": ("tp", (7_000, 9_000, 11_000, 13_000, 15_000), (0.8,)),
    "d": ("fp", (18_000, 20_000, 22_000, 24_000, 26_000), (0.1,)),
}
"""Of figure 5.9: metric, caps and thresholds."""


def answer(
    name: str, people: str, cap: float, metric: str, threshold: float, *, method: str = "exact", seed: int = 0
) -> capri.CapacityAnswer:
    """A budget for a total."""
    return capacity(
        NAMES[name],
        clients(people),
        cap=cap,
        metric=metric,
        threshold=threshold,
        method=method,
        runs=RUNS,
        lowest=LOWEST,
        highest=HIGHEST,
        confirm=0,
        rng=seeded(seed_of(seed, name, people, cap, metric, threshold, method)),
    )


def thresholds(settings: Settings, advance: Advance) -> Table:
    """Figure 5.7: the budget over thresholds, exactly and by CAPRI, for several caps."""
    chosen = _SPARSE if settings.quick else _THRESHOLDS
    cases = [
        (*key, cap, level)
        for key, caps in CAPS.items()
        for cap in caps[:: 2 if settings.quick else 1]
        for level in chosen[key[1]]
    ]
    rows = []
    for people, metric, cap, level in cases:
        exact = answer("GRR", people, cap, metric, level)
        simulated = answer("GRR", people, cap, metric, level, method="capri", seed=settings.seed)
        told = [people, clients(people).n, clients(people).total, metric, cap, level, "GRR"]
        rows.append([*told, exact.epsilon, exact.probability, simulated.epsilon, simulated.probability])
        advance(1 / len(cases))
    columns = ("people", "n", "total", "metric", "cap", "threshold", "protocol")
    return rows_of((*columns, "epsilon", "probability", "epsilon_capri", "probability_capri"), rows)


@cache
def chance(epsilon: float, cap: float) -> float:
    """Of a true positive, for the water meters under GRR."""
    people = clients("Water")
    return 1 - capri.law(GRR(k=people.k, epsilon=epsilon), people).at_most(cap)


def expected(runs: int, cap: float = REPEATED[0], threshold: float = REPEATED[1]) -> dict[float, float]:
    """The exact law of what Algorithm 7 answers: at each budget, how many runs are right is binomial."""
    from scipy.stats import binom

    found: dict[float, float] = {}
    waiting = [(LOWEST, HIGHEST, 1.0)]
    while waiting:
        low, high, weight = waiting.pop()
        if weight < 1e-9:
            continue
        if low > high - PRECISION:
            found[high] = found.get(high, 0.0) + weight
            continue
        middle = (low + high) / 2
        holds = float(binom.sf(math.ceil(threshold * runs - 1e-9) - 1, runs, chance(middle, cap)))
        waiting += [(low, middle, weight * holds), (middle, high, weight * (1 - holds))]
    return dict(sorted(found.items()))


def most_agreement(runs: int) -> float:
    """The largest probability of one answer near 0.636 that any cap and threshold give, for so many runs.

    An answer is likeliest where the true budget lies in the middle of its cell.
    """
    low, high = (LOWEST + (HIGHEST - LOWEST) * cell / 1024 for cell in (64, 65))
    people, middle = clients("Water"), (low + high) / 2
    deviation = math.sqrt(variance(GRR(k=people.k, epsilon=middle), people))
    caps = [people.total - z * deviation for z in (1.2, 1.4, 1.6, 1.8)]
    return max(max(expected(runs, cap, chance(middle, cap)).values()) for cap in caps)


def repeats(settings: Settings, advance: Advance) -> Table:
    """Figure 5.8: what CAPRI answers, a hundred times, with more and more runs."""
    rows: list[list[Any]] = []
    numbers = (500, 50_000) if settings.quick else (500, 1_000, 5_000, 15_000, 30_000, 50_000)
    for runs in numbers:
        seen: Counter[float] = Counter()
        rng = seeded(seed_of(settings.seed, "repeats", runs))
        for _ in range(REPEATS):
            seen[_bisected(runs, rng)] += 1
            advance(1 / len(numbers) / REPEATS)
        law = expected(runs)
        shown = sorted(set(seen) | {each for each, weight in law.items() if weight > 5e-4})
        rows += [[runs, each, seen[each], REPEATS * law.get(each, 0.0), REPEATS] for each in shown]
    return rows_of(("num_runs", "epsilon", "count", "expected", "repeats"), rows)


def _bisected(runs: int, rng: np.random.Generator) -> float:
    """Algorithm 7, where the number of runs that satisfy is drawn from its law."""
    low, high = LOWEST, HIGHEST
    while low <= high - PRECISION:
        middle = (low + high) / 2
        holds = rng.binomial(runs, chance(middle, REPEATED[0])) >= REPEATED[1] * runs - 1e-9
        low, high = (low, middle) if holds else (middle, high)
    return high


def protocols(settings: Settings, advance: Advance) -> Table:
    """Figure 5.9: protocols compared, with subsets and a mean beside those of the thesis."""
    rows, cases = [], []
    for panel, (metric, caps, levels) in PANELS.items():
        every: Sequence[tuple[int, float]] = [(cap, level) for cap in caps for level in levels]
        few = every[: 3 if panel == "a" else 1 : 2] if settings.quick else every
        names = [name for name in NAMES if name != "SS" or not settings.quick]
        cases += [(panel, metric, cap, level, name) for cap, level in few for name in names]
    for panel, metric, cap, level, name in cases:
        found = answer(name, "Few", cap, metric, level)
        told = [panel, clients("Few").n, clients("Few").total, metric, cap, level, name, found.reading]
        rows.append([*told, found.epsilon, found.probability, *_spread(name, found, settings)])
        advance(1 / len(cases))
    columns = ("panel", "n", "total", "metric", "cap", "threshold", "protocol", "estimates")
    return rows_of((*columns, "epsilon", "probability", "deviation", "deviation_drawn", "draws"), rows)


def _spread(name: str, found: capri.CapacityAnswer, settings: Settings) -> list[float | None]:
    """The deviation of the estimated total, by formula and of drawn collections; for frequencies only."""
    people = clients("Few")
    if found.epsilon is None or found.reading == "mean":
        return [None, None, None]
    m = registry()[NAMES[name]](k=people.k, epsilon=found.epsilon)
    draws = 100 if name == "SS" else 500 if settings.quick else 2_000
    rng = seeded(seed_of(settings.seed, "totals", name, found.epsilon))
    return [math.sqrt(variance(m, people)), float(capri.law(m, people).draw(draws, rng).std(ddof=1)), draws]


def variance(m: Any, people: Population) -> float:
    """Of the estimated total, by formula: independent bits, randomized response, or subsets."""
    a, held, p, q = people.amounts, people.counts, m.p_star, m.q_star
    whole, squares = a.sum(), np.square(a).sum()
    if isinstance(m, GRR):
        each = (p - q) * a**2 + q * squares - ((p - q) * a + q * whole) ** 2
    elif isinstance(m, SS):
        k, size = m.k, m.omega
        own = p * (size - 1) / (k - 1) - p * q
        pair = (p * (size - 1) * (size - 2) + (1 - p) * size * (size - 1)) / ((k - 1) * (k - 2)) - q**2
        rest, rest_squares = whole - a, squares - a**2
        each = a**2 * p * (1 - p) + rest_squares * q * (1 - q) + 2 * a * rest * own + (rest**2 - rest_squares) * pair
    else:
        each = a**2 * p * (1 - p) + (squares - a**2) * q * (1 - q)
    return float(held @ each) / (p - q) ** 2


CAP = 1_800_000
"""Of figures 6.6 and 6.7; the thesis does not print its own."""

WAYS = {"CAPRI": "capri", "CAPRI-R": "capri-r", "Bayes": "bayes", "exact": "exact"}


@cache
def _warm() -> None:
    """Import what is needed before anything is timed."""
    import sklearn.gaussian_process  # noqa: F401

    capacity("GRR", [30, 20], cap=10, metric="tp", threshold=0.9, method="capri", runs=1000, confirm=0, rng=seeded(0))


@cache
def compared(name: str, level: float, way: str, seed: int) -> capri.CapacityAnswer:
    """One budget of figure 6.6."""
    _warm()
    return answer(name, "Enlarged", CAP, "tp", level, method=WAYS[way], seed=seed)


def ways(settings: Settings, advance: Advance) -> Table:
    """Figures 6.6 and 6.7: CAPRI, its relaxed variant, Bayesian optimisation, and ours."""
    levels = (0.9,) if settings.quick else (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
    cases = [(name, level, way) for name in ("GRR", "RAPPOR") for level in levels for way in WAYS]
    rows = []
    for name, level, way in cases:
        found = compared(name, level, way, settings.seed)
        told = [name, clients("Enlarged").n, CAP, level, way, found.epsilon, found.probability]
        rows.append([*told, len(found.evidence), sum(each.runs for each in found.evidence), found.seconds])
        advance(1 / len(cases))
    columns = ("protocol", "n", "cap", "threshold", "method", "epsilon", "probability")
    return rows_of((*columns, "budgets", "runs", "seconds"), rows)
