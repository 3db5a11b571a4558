"""What a search for the smallest budget found, in sentences."""

from __future__ import annotations

import math

from hush.guarantee import LDP, ULDP
from hush.longitudinal.ledger import as_written
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.planning.optimus import BudgetAnswer
from hush.planning.optimus.question import BudgetQuestion
from hush.planning.relax import up
from hush.reports.words import many, percent, rounded


def paragraphs(answer: BudgetAnswer) -> list[str]:
    """The answer in words: what was shown, or what was only seen."""
    if answer.epsilon is None or answer.mechanism is None:
        return [_none(answer), _ways_out(answer)]
    said = _seen(answer) if answer.confidence is None else _shown(answer, answer.confidence)
    return [said, _exposed(answer.mechanism)]


def _shown(answer: BudgetAnswer, confidence: float) -> str:
    """An answer with a proof, and what is known of smaller budgets."""
    q, sure = answer.question, f"with {percent(confidence)} confidence"
    said = (
        f"{q.name} with ε = {plain(answer.epsilon)} is enough: {percent(q.probability)} of such collections, each from "
        f"{_crowd(q)}, keep to what was wanted: {meaning(q)}."
    )
    if answer.refuted is not None:
        return (
            f"{said} Tests show this, and that ε = {plain(answer.refuted)} is too little, {sure}; the smallest budget "
            "lies between the two, if a larger one is never worse."
        )
    if answer.epsilon == q.low:
        return f"{said} Tests show this {sure}; no smaller budget was asked for."
    return f"{said} Tests show this {sure}; no budget from ε = {plain(q.low)} on was shown to be too little."


def _seen(answer: BudgetAnswer) -> str:
    """An answer without a proof."""
    q, best = answer.question, answer.best
    low, high = (percent(rounded(each, 3)) for each in best.interval)
    return (
        f"{q.name} with ε = {plain(answer.epsilon)} seems to be enough: {best.satisfied:,} of {best.runs:,} simulated "
        f"collections, each from {_crowd(q)}, kept to what was wanted: {meaning(q)}. That is "
        f"{percent(rounded(best.share, 4))} (95 % interval {low} to {high}), where {percent(q.probability)} are "
        f"wanted. {answer.method} chose the budget by such runs, so that it may be a little too small; --method direct "
        "proves its answer."
    )


def _none(answer: BudgetAnswer) -> str:
    """That there is no answer, and whether that was shown."""
    q, best = answer.question, answer.best
    asked = f"from ε = {plain(q.low)} to {plain(q.high)}"
    seen = f"{percent(rounded(best.share, 4))} of {best.runs:,} simulated collections at ε = {plain(best.epsilon)}"
    seen, wanted = f"with {people(q)}, {seen} kept to it", f"Wanted: {meaning(q)}."
    if answer.undecided:
        return (
            f"No budget {asked} was shown to be enough for {q.name}, and the largest was not shown to be too little: "
            f"{seen}, too near to {percent(q.probability)} to tell. {wanted}"
        )
    said = f"No budget {asked} is enough for {q.name}: {seen}, and not {percent(q.probability)}. {wanted}"
    if answer.confidence is None:
        return said
    return f"{said} Tests show that ε = {plain(q.high)} is too little, with {percent(answer.confidence)} confidence."


def _ways_out(answer: BudgetAnswer) -> str:
    """What to do where no budget is enough."""
    q = answer.question
    m = q.mechanism(q.high)
    last = "or allow more with --max-epsilon"
    if q.high >= m.largest_epsilon:
        last = f"or choose another mechanism, since {q.name} takes no budget above {m.largest_epsilon:g}"
        last += f" and {m.beyond} does" if m.beyond else ""
    first = "Simulate more with --runs, ask" if answer.undecided else "Ask"
    return f"{first} more people, accept a larger loss, be content with a smaller probability, {last}."


def plain(epsilon: float | None) -> str:
    """A budget as it is: answers have four digits, ends of the range those that were given.

    >>> plain(5.816), plain(20.0), plain(0.123456)
    ('5.816', '20', '0.123456')
    """
    return f"{epsilon:.12g}"


def _exposed(m: FrequencyOracle | Numeric) -> str:
    """What the budget means for a person."""
    promise = "no guarantee" if m.guarantee is None else str(m.guarantee)
    if isinstance(m.guarantee, LDP):
        promise += (
            f", a report being at most {up(math.exp(m.guarantee.epsilon)):.4g} times likelier from one value than "
        )
        promise += "from another"
    if isinstance(m, Numeric):
        return f"For each person that means {promise}."
    return (
        f"For each person that means {promise}. {unprotected(m.guarantee)}Whoever sees a report names the person's "
        f"value {percent(rounded(m.asr()))} of the time; guessing blindly does {percent(rounded(1 / m.k))}."
    )


def unprotected(promise: object) -> str:
    """That a guarantee leaves some values out, where it does."""
    if not isinstance(promise, ULDP):
        return ""
    some = len(promise.sensitive)
    whom = "one sensitive value is" if some == 1 else f"{some:,} sensitive values are"
    return f"Only the {whom} protected; the others may be revealed. "


def windowed(epsilon: float, window: int) -> str:
    """What a window of a stream costs, where every round has a report with this budget.

    >>> windowed(0.1, 7)[:74]
    'Where every round of a stream has such a report, any 7 consecutive rounds '
    """
    cost = float(as_written(epsilon) * window)
    rounds = "a round costs" if window == 1 else f"any {window:,} consecutive rounds cost"
    return (
        f"Where every round of a stream has such a report, {rounds} ε = {plain(cost)} in all; a WindowLedger with that "
        "limit holds a device to it."
    )


def people(q: BudgetQuestion) -> str:
    """How many take part."""
    return many(q.people.n, "person", "people")


def _crowd(q: BudgetQuestion) -> str:
    return f"the same {people(q)}" if q.people.drawn is None else f"{people(q)} drawn anew"


def asked(q: BudgetQuestion) -> str:
    """What was asked of the search, in a sentence."""
    return f"The budget was looked for so that in {percent(q.probability)} of such collections {meaning(q)}."


def meaning(q: BudgetQuestion) -> str:
    """What the wish says, for somebody who has never heard of the loss."""
    x, (name, _, top) = q.threshold, q.loss.partition("@")
    points = f"{100 * x:.4g} percentage point{'' if x == 0.01 else 's'}"
    said = {
        "l1": f"frequencies are off by at most {points} on average",
        "l2": f"the root of the summed squared errors, over the number of values, is at most {x:g}",
        "max": f"no frequency is off by more than {points}",
        "kendall": f"{f'at most {percent(x / 2)} of all' if x else 'no'} pairs of values are in the wrong order (1 - τ "
        f"at most {x:g}; a tie counts half)",
        "f1": f"{f'at least {percent(1 - x)}' if x else 'all'} of the {top} most frequent values are found",
        "ndcg": f"the {top} values named as the most frequent score at least {1 - x:.4g} of the best score (NDCG)",
        "kl": f"the estimate diverges from the truth by at most {x:g} nats",
        "mean": f"the mean is off by at most {x:g}",
        "emd": f"people are on average misplaced by at most {x:g} steps of the ordered values",
    }
    return said.get(name, f"the loss is at most {x:g}")
