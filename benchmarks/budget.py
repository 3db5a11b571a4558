"""The smallest budget under a constraint: one simulated collection beside the peer's, and whole questions.

A collection is 50,000 people over 200 values, from counts to estimates. The peer randomizes person by person; ours is
one of a thousand that a search draws together, each from the same law. Questions are of the largest size that is
promised: n = 10^7, k = 1000, a thousand runs at a budget. Decisions about a capacity are those of 98,513 households
that use 0 to 40 units of water, with 50,000 runs at a budget.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import hush
from benchmarks import report, timing
from benchmarks.peers import peers
from hush.planning import capacity, capri, optimus
from hush.planning.optimus import budget
from hush.planning.optimus.drawing import estimates
from hush.planning.optimus.population import population
from hush.types import Ints

K, PEOPLE, EPSILON, TOGETHER = 200, 50_000, 1.0, 1000
REQUIRED = {"GRR": None, "OUE": 1000, "OLH": 10_000}

SIZE, CROWD, RUNS = 1000, 10**7, 1000
LIMITS = {"direct": 2.0, "BS": 5.0, "RBS": 5.0, "DBS": 5.0, "MPass": 30.0, "Bayes": 30.0}
FAST, COSTLY = ("GRR", "OUE", "OLH"), ("SS", "HR", "PGR", "MSS")
MORE: dict[str, tuple[str, float, dict[str, Any]]] = {
    "ServerTHE": ("kendall", 0.3, {}),
    "SHE": ("kendall", 0.3, {}),
    "GM": ("l1", 0.003, {"delta": 1e-6}),
    "AGM": ("l1", 0.001, {"delta": 1e-6}),
    "uRR": ("kendall", 0.3, {"sensitive": tuple(range(250))}),
}
"""Others with a sampler in O(k): what is lost, how much of it is accepted, and their parameters."""
LOSSES = {"kendall": 0.3, "l1": 2e-5, "l2": 3e-5, "max": 0.001, "f1": 0.1, "ndcg": 0.01, "kl": 0.05, "emd": 2.0}

MORE_BUDGETS = 10
"""A search that tries so many more than the thesis says is another search."""

DECIDING = ("GRR", "SS", "OUE", "OLH", "SHE", "THE", "HR", "PGR", "MSS", "uSS", "Duchi", "Piecewise", "Hybrid")
DECIDED_WITHIN = 5.0
PLANNED_FROM = {"OUE": "counts", "Duchi": "a mean", "Piecewise": "a mean", "Hybrid": "a mean"}
"""What a round tells the next one, by mechanism."""


def run(quick: bool) -> list[report.Table]:
    """One collection, then whole questions."""
    return [_collections(quick), _questions(quick), _searches(quick), _decisions(quick), _rounds(quick)]


def _collections(quick: bool) -> report.Table:
    table = report.Table(
        "One simulated collection: 50,000 people over 200 values, ε = 1",
        ("protocol", "ours", "multi-freq-ldpy", "ratio", "required"),
        note="Ours is one of a thousand that are drawn together, on one thread.",
    )
    data = hush.datasets.zipf(K, PEOPLE)
    values, people = data.values().tolist(), population(data.counts, None)
    for name, required in report.progress(tuple(REQUIRED.items()), "collections"):
        m = hush.registry()[name](k=K, epsilon=EPSILON)
        peer = next(each for each in peers(name, K, EPSILON) if each.name == "multi-freq-ldpy")
        few = values[:: PEOPLE // 100]
        peer.server(peer.received(peer.client(few)))  # compiles
        estimates(m, people, 2, hush.seeded(1))
        slow = min(
            timing.seconds(lambda p=peer: p.server(p.received(p.client(values)))) for _ in range(1 if quick else 3)
        )
        ours = min(timing.seconds(lambda m=m: estimates(m, people, TOGETHER, hush.seeded(7))) for _ in range(5))
        ratio = slow / (ours / TOGETHER)
        table.add(
            name,
            f"{ours / TOGETHER * 1e6:.1f} µs",
            f"{slow:.2f} s",
            report.ratio(ratio),
            f"≥ {required:,}×" if required else "",
            missed=f"{report.ratio(ratio)} of {required:,}×" if required and ratio < required else "",
            seconds=ours / TOGETHER,
            reference_seconds=slow,
        )
    return table


def _questions(quick: bool) -> report.Table:
    table = report.Table(
        "The smallest budget: n = 10⁷, k = 1000, up to 1000 runs at a budget, Pr ≥ 0.9",
        ("question", "method", "ε", "time", "processor", "required"),
        note="SS, HR, PGR and MSS may take ten times as long. “processor” is the time of all threads together.",
    )
    data = hush.datasets.zipf(SIZE, CROWD)
    names = ("OUE",) if quick else (*FAST, *COSTLY)
    methods = ("direct", "BS") if quick else tuple(LIMITS)
    cases = [(name, "kendall", LOSSES["kendall"], method, {}) for name in names for method in methods]
    if not quick:
        cases += [("OUE", loss, x, "direct", {}) for loss, x in LOSSES.items() if loss != "kendall"]
    few = ("SHE",) if quick else tuple(MORE)
    cases += [(name, *MORE[name][:2], method, MORE[name][2]) for name in few for method in ("direct", "BS")]
    small = {"loss": "kendall", "threshold": 1.0, "method": "BS", "runs": 50}
    for name, more in {name: more for name, *_, more in cases}.items():  # compiles
        parameters = {**more, "sensitive": (0, 1)} if "sensitive" in more else more
        budget(name, [300, 200, 100], parameters=parameters, **small)
    for name, loss, threshold, method, more in report.progress(cases, "questions"):
        limit = LIMITS[method] * (10 if name in COSTLY else 1)
        busy = time.process_time()
        asked = {"loss": loss, "threshold": threshold, "method": method, "runs": RUNS, "parameters": more}
        answer = budget(name, data, rng=hush.seeded(7), **asked)
        busy = time.process_time() - busy
        table.add(
            f"{name}, {loss} ≤ {threshold:g}",
            method,
            f"{answer.epsilon:.3g}" if answer.epsilon else "none",
            f"{answer.seconds:.2f} s",
            f"{busy:.2f} s",
            f"< {limit:g} s",
            missed=f"{method} {answer.seconds:.2f} s" if answer.seconds >= limit else "",
            answer=answer.to_dict(),
        )
    return table


def _searches(quick: bool) -> report.Table:
    table = report.Table(
        "How many collections a search simulates: OUE, 20,000 people over 20 values, mean error ≤ 0.005, 1000 runs",
        ("method", "budgets, by the thesis", "budgets", "collections, by the thesis", "collections", "time"),
        note="By the thesis: section 4.1.6. Beyond it, a budget is tried again once it is rounded, and the end of the "
        "range where nothing holds; MPass tries none twice.",
    )
    data = hush.datasets.zipf(20, 20_000)
    ways: list[Any] = [optimus.BS(), optimus.RBS(), optimus.DBS(), optimus.MPass(passes=3 if quick else 5)]
    ways += [optimus.BS(precision=0.001), optimus.RBS(g=10), optimus.Bayes()][: 2 if quick else 3]
    for method in report.progress(ways, "searches"):
        said = optimus.complexity(method, runs=RUNS)
        found = budget("OUE", data, loss="l1", threshold=0.005, method=method, runs=RUNS, rng=hush.seeded(7))
        due = f"{said.most:,.0f}" if said.least == said.most else f"{said.least:,.0f} to {said.most:,.0f}"
        extra = len(found.evidence) - said.budgets
        table.add(
            repr(method),
            f"{said.budgets:.1f}",
            f"{len(found.evidence)}",
            due,
            f"{found.runs:,}",
            f"{found.seconds:.2f} s",
            missed=f"{method.name}: {extra:.0f} more budgets than printed" if extra > MORE_BUDGETS else "",
            budgets=len(found.evidence),
            budgets_printed=said.budgets,
            collections=found.runs,
            collections_printed=said.most,
            seconds=found.seconds,
        )
    return table


def _decisions(quick: bool) -> report.Table:
    table = report.Table(
        "The smallest budget that keeps Pr[missed exceedance] below 0.01: 98,513 people, 41 amounts, 50,000 runs",
        ("mechanism", "method", "ε", "time", "required"),
        note="With simulated collections at the answer, where they are cheap enough to say something.",
    )
    counts = _households()
    names, methods = (("GRR", "Duchi"), ("capri",)) if quick else (DECIDING, ("exact", "capri", "capri-r", "bayes"))
    for name in report.progress(names, "decisions"):
        parameters = {"sensitive": range(6)} if name.startswith("u") else {}
        asked = {"cap": 1_500_000, "metric": "fn", "threshold": 0.01, "runs": 50_000, "parameters": parameters}
        capacity(name, counts, confirm=0, **asked)  # compiles
        for method in methods:
            answer = capacity(name, counts, method=method, rng=hush.seeded(7), **asked)
            late = answer.seconds >= DECIDED_WITHIN
            table.add(
                name,
                method,
                f"{answer.epsilon:.4g}" if answer.epsilon else "none",
                f"{answer.seconds:.2f} s",
                f"< {DECIDED_WITHIN:g} s",
                missed=f"{name} by {method} {answer.seconds:.2f} s" if late else "",
                answer=answer.to_dict(),
            )
    return table


def _rounds(quick: bool) -> report.Table:
    table = report.Table(
        "Three rounds, each planned from the one before: 98,513 people, 41 amounts, wrong in at most 1 of 100",
        ("mechanism", "planned from", "for", "budgets", "both plans", "required"),
        note="Where only a mean is known, each budget is held against three crowds that have it. Processor time.",
    )
    counts = _households()
    days = [counts, counts, np.roll(counts, -3)]
    asked = {"cap": 1_500_000, "threshold": 0.01, "first": 0.2}
    for name in report.progress(tuple(PLANNED_FROM)[: 2 if quick else None], "rounds"):
        capri.over_time(name, days[:2], rng=hush.seeded(7), **asked)  # compiles
        start = time.process_time()
        steps = capri.over_time(name, days, rng=hush.seeded(7), **asked)
        taken = time.process_time() - start
        spreads = [step.planned.spread for step in steps if step.planned is not None]
        table.add(
            name,
            PLANNED_FROM[name],
            ", ".join(spread or "all" for spread in spreads),
            ", ".join(f"{step.epsilon:.4g}" for step in steps),
            f"{taken:.2f} s",
            f"< {DECIDED_WITHIN:g} s",
            missed=f"{name} {taken:.2f} s" if taken >= DECIDED_WITHIN else "",
            seconds=taken,
        )
    return table


def _households() -> Ints:
    """How many use each amount of water."""
    amounts = np.arange(41)
    shape = np.exp(-0.5 * ((amounts - 16.2) / 7.5) ** 2)
    return np.rint(98_511 * shape / shape.sum()).astype(int)
