"""What a search for the budget of a capacity decision found, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hush.guarantee import LDP
from hush.planning.capri import CapacityAnswer, Exposure, Truth
from hush.planning.relax import up
from hush.reports.budget_in_words import unprotected
from hush.reports.words import many, number, percent, rounded

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


WHO = {
    "even": "as alike as possible",
    "apart": "as far apart as possible",
    "between": "at two amounts between the most alike and the farthest apart",
}
"""Who of all people with a mean needs the largest budget."""


def decision(answer: CapacityAnswer, before: str = "earlier") -> list[str]:
    """The answer in words; the round that estimated the people, if one did, is called so."""
    over = answer.total > answer.cap
    what = _asked_of(answer)
    known = f"the {what}, as the {before} round estimates it" if answer.estimated else f"the true {what}"
    setting = f"{many(answer.n, 'person reports', 'people report')}, and {known}, {answer.total:,.12g}, "
    setting += f"{'exceeds' if over else 'stays within'} the {'capacity' if answer.above is None else 'limit'} of "
    setting += f"{answer.cap:,.12g}"
    chance = chance_beside(answer.probability, answer.threshold)
    bound = "at least" if answer.metric in ("tp", "tn") else "below"
    if answer.epsilon is None:
        best = answer.best
        nearest = "" if best is None or best.satisfied else f" The nearest was {chance} at ε = {best.epsilon:.6g}."
        none = (
            f"No budget is enough for {answer.mechanism}, where {setting}: {_spaced(answer.reason)}. Wanted: that the "
            f"estimate {_DOES[answer.metric]} with a probability {bound} {answer.threshold:g}.{nearest}"
        )
        return [" ".join([none, *_remarks(answer, before)])]
    seen = "the people" if answer.spread is None else "people with the mean"
    whom = f" for {seen} that the {before} round saw" if answer.estimated else ""
    if answer.reason:
        hint = "" if answer.metric == "error" else " With --outcome error, whichever mistake is possible is bounded."
        why = _spaced(answer.reason)
        said = [f"Any budget is enough{whom}, even ε = {answer.epsilon:.12g}, where {setting}: {why}.{hint}"]
    else:
        said = [
            f"{answer.mechanism} with ε = {answer.epsilon:.12g} is enough{whom}. Where {setting}, the estimate "
            f"{_DOES[answer.metric]} {_how_often(answer)}."
        ]
    return [" ".join([*said, *_remarks(answer, before)]), *_checks(answer)]


def _asked_of(answer: CapacityAnswer) -> str:
    """What is compared with the capacity."""
    return "total" if answer.above is None else f"number of people above {answer.above:,.12g}"


def _remarks(answer: CapacityAnswer, before: str) -> list[str]:
    """What else there is to say in the same breath."""
    said: list[str] = []
    if answer.spread is not None:
        said.append(f"The {before} round told a mean, and not who holds what. {needing(answer.spread)}")
    elif answer.estimated:
        what = "total" if answer.above is None else "number"
        said.append(f"The {before} round's {what} is that of the nearest counts that are possible, none negative.")
    if answer.epsilon is None:
        return said
    if answer.truth is not None:
        kept = "kept" if answer.truth.satisfied else "not kept"
        chance = chance_beside(answer.truth.probability, answer.threshold)
        said.append(
            f"For the people as they are, {_truly(answer.truth, answer.above)}, that probability is {chance}: the wish "
            f"is {kept}."
        )
        if answer.truth.clipped:
            said.append(f"{many(answer.truth.clipped, 'person was', 'people were')} clipped, in either round.")
    if answer.clipped and answer.above is None:
        clipped = many(answer.clipped, "person was", "people were")
        said.append(f"{clipped} clipped, which takes {answer.total - answer.expected:,.12g} away.")
    if answer.raised is not None:
        said.append(f"By chance, simulated collections ended the search at {answer.raised:.4g}, which is too little.")
    failed = [e.epsilon for e in answer.evidence if not e.satisfied and not e.runs and e.epsilon > answer.epsilon]
    if failed:
        said.append(f"More is not always better here, since estimates are coarse: ε = {max(failed):.6g} is not enough.")
    if answer.spent:
        said.append(f"With the {before} round's {answer.spent:g}, a person spends {answer.total_epsilon:.12g}.")
    return said


def needing(spread: str) -> str:
    """For whom of all people with a mean a budget is planned.

    >>> needing("apart")
    'The budget is planned for people who are as far apart as possible, who of all with that mean need the most.'
    """
    if spread == "any":
        return "It makes no difference here."
    return f"The budget is planned for people who are {WHO[spread]}, who of all with that mean need the most."


def _truly(truth: Truth, above: float | None) -> str:
    if above is None:
        return f"whose total is {truth.total:,.12g}"
    return f"of whom {truth.total:,.12g} are above {above:,.12g}"


def _checks(answer: CapacityAnswer) -> list[str]:
    """How well the law is known, and what simulated collections did."""
    said = [_known(answer)] if answer.law in _KNOWN and not answer.reason else []
    seen = answer.confirmation
    if seen is not None:
        whose = "" if answer.truth is None else ", of the people as they are"
        said.append(
            f"Of {seen.runs:,} collections that were simulated at this budget{whose}, {seen.hits:,} did "
            f"(95 % interval {number(seen.low, 3)} to {number(seen.high, 3)})."
        )
    return said


def _known(answer: CapacityAnswer) -> str:
    at = answer.best
    if answer.law == "near" and at is not None and not at.runs and at.high > at.probability:
        return (
            f"The probability is right to within {at.high - at.probability:.0e}, which is proved, and is allowed for."
        )
    return _KNOWN[answer.law].format(answer.mechanism)


def rehearsals(plans: Sequence[CapacityAnswer]) -> list[str]:
    """What other first rounds would have planned."""
    if len(plans) < 2:
        return []
    budgets = sorted(plan.epsilon for plan in plans if plan.epsilon is not None and not plan.reason)
    free = sum(plan.epsilon is not None and bool(plan.reason) for plan in plans)
    if not budgets and not free:
        return [f"Of {len(plans)} first rounds that were simulated, none found a budget that is enough."]
    found = []
    if budgets:
        same = budgets[0] == budgets[-1]
        ends = f"ε = {budgets[0]:.12g}" if same else f"from ε = {budgets[0]:.12g} to {budgets[-1]:.12g}"
        found.append(f"{len(budgets)} found a budget, {ends}")
    if free:
        least = min(plan.epsilon for plan in plans if plan.epsilon is not None and plan.reason)
        found.append(f"{free} found any budget enough, even ε = {least:.12g}")
    chosen = {plan.epsilon for plan in plans if plan.epsilon is not None}
    differ = len({plan.epsilon for plan in plans}) > 1
    luck = "Much hangs on the luck of the first round. Of {} that" if differ else "Of {} first rounds that"
    kept = sum(plan.truth is not None and plan.truth.satisfied for plan in plans)
    these = f"{kept or 'none'} of these budgets keep{'s' if kept == 1 else ''}"
    if len(chosen) == 1:
        these = f"that budget {'keeps' if kept else 'does not keep'}"
    return [
        f"{luck.format(len(plans))} were simulated, {', '.join(found)}, and {these} the wish for the people as they "
        "are."
    ]


def _how_often(answer: CapacityAnswer) -> str:
    """How likely the outcome is at the answer, as the method knows it."""
    chance = chance_beside(answer.probability, answer.threshold)
    bound = "at least" if answer.metric in ("tp", "tn") else "below"
    best = answer.best
    if best is not None and best.runs:
        share = chance_beside(best.hits / best.runs, answer.threshold)
        exact = f" (95 % interval {number(best.low, 3)} to {number(best.high, 3)})"
        if best.exact is not None:
            exact = f" (the exact probability is {chance})"
        return f"in {share} of {best.runs:,} simulated collections, which is {bound} {answer.threshold:g}{exact}"
    how = {"normal": "if it were normal, ", "cantelli": "by Cantelli's bound, ", "chebyshev": "by Chebyshev's bound, "}
    said = f"with probability {chance}"
    if answer.method in ("cantelli", "chebyshev"):
        said = f"with a probability of {'at most' if bound == 'below' else bound} {chance}"
    return f"{said}, {how.get(answer.method, '')}which is {bound} {answer.threshold:g}"


def promised(m: Any, spent: float) -> str:
    """What a report promises, and whom, where that is not everybody; it is not all where another round spent some."""
    promise = m.guarantee
    said = "no guarantee" if promise is None else str(promise)
    if isinstance(promise, LDP):
        said += (
            f", a report being at most {up(math.exp(promise.epsilon)):.4g} times likelier from one amount than from "
        )
        said += "another"
    return f"For {'this report' if spent else 'each person'} that means {said}. {unprotected(promise)}"


def exposed(seen: Exposure) -> str:
    """What the budget means for a person."""
    said = (
        f"Whoever knows how many people hold each amount, and sees a report, names its sender's amount "
        f"{percent(rounded(seen.asr, 3))} of the time, where always naming the most frequent one does "
        f"{percent(rounded(seen.blind, 3))}; the guess is off by {math.sqrt(seen.mse):.3g} (root mean square"
        f"{f', of {seen.reports:,} simulated reports' if seen.reports else ''})."
    )
    if seen.limit is None:
        return said
    if math.isnan(seen.recall):
        return f"{said} Nobody is at or below {seen.limit:g}."
    if math.isnan(seen.precision):
        return f"{said} Nobody is guessed to be at or below {seen.limit:g} (recall 0 %)."
    return (
        f"{said} Of those guessed to be at or below {seen.limit:g}, {percent(rounded(seen.precision, 3))} are "
        f"(precision); of those who are, {percent(rounded(seen.recall, 3))} are guessed (recall); "
        f"F = {seen.f_score:.3f}."
    )


def _spaced(reason: str) -> str:
    return reason.replace("epsilon ", "ε = ")


def chance_beside(probability: float, threshold: float) -> str:
    """With four digits, or as many as tell it from the threshold.

    >>> chance_beside(0.03, 0.01), chance_beside(0.00999995, 0.01)
    ('0.03', '0.00999995')
    """
    said = (f"{probability:.{digits}g}" for digits in range(4, 17))
    return next((each for each in said if float(each) != threshold), f"{probability:g}")
