"""What section 6.1.3 says of the adversary, held against exact success and against attacks on everybody's report."""

from __future__ import annotations

import numpy as np

from hush_studies import agreement, rule
from hush_studies.budget.checks_search import span
from hush_studies.budget.exposed import MEASURES, PROTOCOLS
from hush_studies.check import Check, OfPeople, ours, paper, untold
from hush_studies.study import Table

_CLIENTS = OfPeople("how the clients' amounts spread is not printed")


def guesses(table: Table) -> list[Check]:
    """Figure 6.1: attack success is the same for all amounts, so that it does not depend on the clients."""
    asr = np.array([table.where(protocol=name).numbers("asr") for name in PROTOCOLS])
    mse = np.array([table.where(protocol=name).numbers("mse") for name in PROTOCOLS])
    order, distance = _ordered(asr), _ordered(1 / mse)
    gain = table.numbers("asr_informed") / table.numbers("asr")
    up, typically = rule.above(0), rule.mostly()
    return [
        paper("steps of the ASR from one ε to the next", "grows", up, np.diff(asr).ravel(), span(np.diff(asr), 3),
              "6.1.3"),
        untold("steps of the MSE from one ε to the next", "falls", rule.below(0), np.diff(mse).ravel(),
               span(np.diff(mse), 3), "6.1.3", _CLIENTS),
        paper("budgets at which the ASR falls from GRR over OUE to RAPPOR", "typically", typically, order.mean(),
              _of(order), "6.1.3"),
        untold("budgets at which the MSE rises from GRR over OUE to RAPPOR", "typically", typically, distance.mean(),
               _of(distance), "6.1.3", _CLIENTS),
        agree(table, "asr", "attacked reports of everybody: ASR"),
        ours("ASR of who knows how amounts are spread, over that of who does not, the largest", "more", rule.above(1),
             gain.max(), span(gain), "ours"),
    ]  # fmt: skip


def _ordered(found: np.ndarray) -> np.ndarray:
    """Where it falls from GRR over OUE to RAPPOR, in the order of `PROTOCOLS`."""
    return np.asarray((found[0] > found[2]) & (found[2] > found[1]))


def _of(cases: np.ndarray) -> str:
    return f"{int(cases.sum())} of {cases.size}"


def agree(table: Table, name: str, claim: str) -> Check:
    """A measured share against its exact value."""
    score = np.abs(table.numbers(f"{name}_measured") - table.numbers(name)) / table.numbers(f"{name}_stderr")
    return agreement.agree(claim, score)


def limits(table: Table) -> list[Check]:
    """Figures 6.2 to 6.5."""
    found = {each: np.array([table.where(protocol=name).numbers(each) for name in PROTOCOLS]) for each in MEASURES}
    steps = np.concatenate([np.diff(each).ravel() for each in found.values()])
    ordered = np.concatenate([_ordered(each) for each in found.values()])
    limit, low = int(table.column("limit")[0]), float(table.numbers("epsilon").min())
    blind, least = (limit + 1) / 41, found["recall"][:, 0]
    claim = f"ε = {low:g}: recall over that of a blind guess, {blind:.3f}"
    return [
        untold("steps of all three from one ε to the next", "grow", rule.above(0), steps, span(steps, 3), "6.1.3",
               _CLIENTS),
        untold("cases in which they fall from GRR over OUE to RAPPOR", "generally", rule.mostly(), ordered.mean(),
               _of(ordered), "6.1.3", _CLIENTS),
        untold(claim, "low", rule.at_least(1), least / blind, span(least, 3), "6.1.3", _CLIENTS),
        agree(table, "recall", "attacked reports of everybody: recall"),
    ]  # fmt: skip
