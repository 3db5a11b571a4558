"""The smallest budget for a capacity decision in a sentence, and the table behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hush.cli import _console, _grid
from hush.cli._asking import percent, rounded_up
from hush.cli._budget_table import thinned

if TYPE_CHECKING:
    from rich.console import Console

    from hush.planning.capri import Answer, Evidence, Exposure

_DOES = {
    "fn": "misses that",
    "fp": "raises a false alarm",
    "tp": "raises the alarm, as it should,",
    "tn": "gives the all-clear, as it should,",
    "error": "decides wrongly",
}

_KNOWN = {
    "near": "The law of {}'s estimate is known nearly, not exactly: these probabilities are right to about three "
    "digits, which simulated collections check.",
    "normal": "The law of {}'s estimate is not known: it is taken as normal, with a variance from simulated "
    "collections, so the budget may be a few percent off.",
}


def show(console: Console, answer: Answer, seen: Exposure | None, m: Any, k: int, people: str, seed: int) -> None:
    """The answer, what it means for one person, and what was found at every budget."""
    for paragraph in (*decision(answer), *([] if seen is None else [protected(m) + exposed(seen, k)])):
        console.print(_console.cell(paragraph), soft_wrap=True)
        console.print()
    rows = sorted({e.epsilon: e for e in answer.evidence}.values(), key=lambda e: e.epsilon)
    shown = thinned(rows, [e.epsilon for e in rows], answer.epsilon)
    wrong = "wrong decision" if answer.metric in ("tp", "tn", "error") else answer.metric.upper()
    simulated = any(e.runs for e in shown)
    names = ["ε", f"Pr[{answer.metric.upper()}]", *(["95 % interval"] if simulated else []), "± of the total"]
    names += [f"Cantelli, Pr[{wrong}]", f"Chebyshev, Pr[{wrong}]", ""]
    ranks = [0, 0, *([3] if simulated else []), 4, 1, 2, 0]
    columns = [_grid.Column(n, "right" if n else "left", r) for n, r in zip(names, ranks, strict=True)]
    title = f"{answer.mechanism}, {k:,} values, {people}, {answer.n:,} people"
    _grid.show(console, columns, [_cells(e, answer, simulated) for e in shown], title)
    more = len(answer.evidence) - len(shown)
    looked = f"{more:,} more budgets were tried, which --json lists. " if more > 0 else ""
    found = f"{looked}Method {answer.method}, {answer.seconds:.2g} s, seed {seed}."
    console.print(_console.cell(found, "dim"), soft_wrap=True)


def decision(answer: Answer) -> list[str]:
    """The answer in words."""
    over = answer.total > answer.cap
    known = "the true total" if not answer.spent else "the total, as the earlier round estimates it"
    setting = f"{answer.n:,} people report, and {known}, {answer.total:,.12g}, "
    setting += f"{'exceeds' if over else 'stays within'} the capacity of {answer.cap:,.12g}"
    chance = _chance(answer.probability, answer.threshold)
    bound = "at least" if answer.metric in ("tp", "tn") else "below"
    if answer.epsilon is None:
        best = answer.best
        nearest = "" if best is None else f" The nearest was {chance} at ε = {best.epsilon:.4g}."
        return [
            f"No budget is enough for {answer.mechanism}, where {setting}: {_spaced(answer.reason)}. Wanted: that the "
            f"estimate {_DOES[answer.metric]} with a probability {bound} {answer.threshold:g}.{nearest}"
        ]
    if answer.reason:
        hint = "" if answer.metric == "error" else " With --metric error, whichever mistake is possible is bounded."
        why = _spaced(answer.reason)
        return [f"Any budget is enough, even ε = {answer.epsilon:.4g}, where {setting}: {why}.{hint}"]
    said = [
        f"{answer.mechanism} with ε = {rounded_up(answer.epsilon)} is enough. Where {setting}, the estimate "
        f"{_DOES[answer.metric]} {_how_often(answer)}."
    ]
    if answer.clipped:
        said[0] += f" {answer.clipped:,} people were clipped, which takes {answer.total - answer.expected:,.12g} away."
    if answer.raised is not None:
        said[0] += f" By chance, simulated collections ended the search at {answer.raised:.4g}, which is too little."
    if answer.spent and answer.total_epsilon is not None:
        said[0] += f" With the earlier round's {answer.spent:g}, a person spends {rounded_up(answer.total_epsilon)}."
    said += [_KNOWN[answer.law].format(answer.mechanism)] if answer.law in _KNOWN else []
    seen = answer.confirmation
    if seen is not None:
        said.append(
            f"Of {seen.runs:,} collections that were simulated at this budget, {seen.hits:,} did "
            f"(95 % interval {_console.number(seen.low, 3)} to {_console.number(seen.high, 3)})."
        )
    return said


def _how_often(answer: Answer) -> str:
    """How likely the outcome is at the answer, as the method knows it."""
    chance = _chance(answer.probability, answer.threshold)
    bound = "at least" if answer.metric in ("tp", "tn") else "below"
    best = answer.best
    if best is not None and best.runs:
        share = _chance(best.hits / best.runs, answer.threshold)
        exact = f" (95 % interval {_console.number(best.low, 3)} to {_console.number(best.high, 3)})"
        if best.exact is not None:
            exact = f" (the exact probability is {chance})"
        return f"in {share} of {best.runs:,} simulated collections, which is {bound} {answer.threshold:g}{exact}"
    how = {"normal": "if it were normal, ", "cantelli": "by Cantelli's bound, ", "chebyshev": "by Chebyshev's bound, "}
    said = f"with probability {chance}"
    if answer.method in ("cantelli", "chebyshev"):
        said = f"with a probability of {'at most' if bound == 'below' else bound} {chance}"
    return f"{said}, {how.get(answer.method, '')}which is {bound} {answer.threshold:g}"


def protected(m: Any) -> str:
    """Whom a mechanism protects, where that is not everybody."""
    from hush.mechanisms.guarantee import ULDP

    promise = m.guarantee
    if not isinstance(promise, ULDP):
        return ""
    return f"Only the {len(promise.sensitive):,} sensitive values are protected; the others may be revealed. "


def exposed(seen: Exposure, k: int) -> str:
    """What the budget means for a person."""
    said = (
        f"Whoever sees a report names the person's amount {percent(float(f'{seen.asr:.2g}'))} of the time, where "
        f"guessing blindly does {percent(float(f'{1 / k:.2g}'))}; the guess is off by {math.sqrt(seen.mse):.3g} "
        f"(root mean square){_simulated(seen)}."
    )
    if seen.limit is None:
        return said
    if math.isnan(seen.precision) or math.isnan(seen.recall):
        return f"{said} Nobody is, or is guessed to be, at or below {seen.limit:g}."
    return (
        f"{said} Of those guessed to be at or below {seen.limit:g}, {percent(float(f'{seen.precision:.3g}'))} are "
        f"(precision); of those who are, {percent(float(f'{seen.recall:.3g}'))} are guessed (recall); "
        f"F = {seen.f_score:.3f}."
    )


def _simulated(seen: Exposure) -> str:
    if not seen.stderr:
        return ""
    return f", which simulated reports showed to within {percent(float(f'{2 * seen.stderr:.2g}'))}"


def _spaced(reason: str) -> str:
    return reason.replace("epsilon ", "ε = ")


def _chance(probability: float, threshold: float) -> str:
    """With four digits, or as many as tell it from the threshold.

    >>> _chance(0.03, 0.01), _chance(0.00999995, 0.01)
    ('0.03', '0.00999995')
    """
    said = (f"{probability:.{digits}g}" for digits in range(4, 17))
    return next((each for each in said if float(each) != threshold), f"{probability:g}")


def _cells(e: Evidence, answer: Answer, simulated: bool) -> list[Any]:
    here = e.epsilon == answer.epsilon
    verdict = "enough" if e.satisfied else "too little"
    texts = [f"{e.epsilon:.4g}", _chance(e.probability, answer.threshold)]
    if simulated:
        texts.append(f"{_console.number(e.low, 3)} – {_console.number(e.high, 3)}" if e.runs else _console.DASH)
    texts += [
        f"{e.deviation:,.0f}" if e.deviation >= 1000 else f"{e.deviation:.4g}",
        _console.number(min(e.cantelli, 1.0), 3),
        _console.number(min(e.chebyshev, 1.0), 3),
    ]
    texts.append(f"● {verdict}" if here else verdict)
    return [_console.cell(text, "bold" if here else "") for text in texts]
