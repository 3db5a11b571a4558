"""What section 6.1.3 says of the adversary, held against exact success and against attacks on everybody's report."""

from __future__ import annotations

import numpy as np

from hush.reproduce.budget.checks_search import FALSE_ALARM, span
from hush.reproduce.budget.exposed import MEASURES, PROTOCOLS
from hush.reproduce.study import Check, Table


def guesses(table: Table) -> list[Check]:
    """Figure 6.1."""
    asr = np.array([table.where(protocol=name).numbers("asr") for name in PROTOCOLS])
    mse = np.array([table.where(protocol=name).numbers("mse") for name in PROTOCOLS])
    grows = bool((np.diff(asr) > 0).all() and (np.diff(mse) < 0).all())
    ordered = bool((asr[0] > asr[2]).all() and (asr[2] > asr[1]).all())
    distances = bool((mse[0] < mse[2]).all() and (mse[2] < mse[1]).all())
    gain = table.numbers("asr_informed") / table.numbers("asr")
    return [
        Check("with ε, the ASR grows and the MSE falls", "always", _so(grows), grows, source="6.1.3"),
        Check("ASR: GRR, then OUE, then RAPPOR", "typically", _so(ordered), ordered, source="6.1.3"),
        Check("MSE: RAPPOR, then OUE, then GRR", "typically", _so(distances), distances, source="6.1.3"),
        agree(table, "asr", "attacked reports of everybody: ASR"),
        Check(
            "ASR of who knows how amounts are spread, over that of who does not", "not tried", span(gain),
            bool(gain.min() > 0.97 and gain.max() > 1.2), source="ours",
        ),
    ]  # fmt: skip


def _so(holds: bool) -> str:
    return "so" if holds else "not so"


def agree(table: Table, name: str, claim: str) -> Check:
    """A measured share against its exact value, by the normal law and for all cells together."""
    from scipy.stats import norm

    score = np.abs(table.numbers(f"{name}_measured") - table.numbers(name)) / table.numbers(f"{name}_stderr")
    limit = float(norm.isf(FALSE_ALARM / (2 * score.size)))
    said = f"|z| ≤ {score.max():.2f} in {score.size} cells"
    return Check(claim, f"|z| < {limit:.1f}", said, bool(score.max() < limit))


def limits(table: Table) -> list[Check]:
    """Figures 6.2 to 6.5."""
    found = {each: np.array([table.where(protocol=name).numbers(each) for name in PROTOCOLS]) for each in MEASURES}
    grows = all(bool((np.diff(each) > 0).all()) for each in found.values())
    ordered = all(bool((each[0] > each[2]).all() and (each[2] > each[1]).all()) for each in found.values())
    limit, low = int(table.column("limit")[0]), float(table.numbers("epsilon").min())
    blind, least = (limit + 1) / 41, found["recall"][:, 0]
    return [
        Check("all three grow with ε", "always", _so(grows), grows, source="6.1.3"),
        Check("GRR, then OUE, then RAPPOR", "generally", _so(ordered), ordered, source="6.1.3"),
        Check(
            f"ε = {low:g}: recall, where a blind guess has {blind:.3f}", "low", span(least, 3),
            bool((least > blind).all()), source="6.1.3",
        ),
        agree(table, "recall", "attacked reports of everybody: recall"),
    ]  # fmt: skip
