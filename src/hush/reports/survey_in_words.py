"""The plan of a survey, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hush.files.clients.account import account
from hush.planning.surveys import SurveyChoice, SurveyPlan
from hush.reports.words import many, number

_FEW = 8


def title(made: SurveyPlan) -> str:
    """Who is asked what, how often, and what is wished."""
    w = made.wishes
    few = w.d <= _FEW and len(set(w.sizes)) > 1
    sizes = ", ".join(f"{k:,}" for k in w.sizes) if few else _span(w.sizes)
    asked = f"{w.d} attributes of {sizes} values" if w.d > 1 else f"{sizes} values"
    rounds = f", {w.rounds:,} rounds" if w.rounds > 1 else ""
    wished = [] if w.error is None else [f"error {w.error:.6g}"]
    wished += [] if w.max_epsilon is None else [f"total epsilon {w.max_epsilon:.6g}"]
    wished += ["values that change"] if w.changing else []
    return f"{w.n:,} {'person' if w.n == 1 else 'people'}, {asked}{rounds}" + (
        f": {', '.join(wished)}" if wished else ""
    )


def _span(sizes: Sequence[int]) -> str:
    """From the fewest values to the most."""
    return " to ".join(dict.fromkeys(f"{k:,}" for k in (min(sizes), max(sizes))))


def asked(made: SurveyPlan) -> str:
    """What was asked of the planner, in a sentence."""
    return f"The collection was planned as a survey: {title(made)}."


def told(made: SurveyPlan, choice: SurveyChoice | None) -> list[str]:
    """What was asked, and how well the smallest group is known, for a statement."""
    return [asked(made), *([] if choice is None else smallest_group(choice))]


def smallest_group(choice: SurveyChoice) -> list[str]:
    """How well the smallest group is known, where there are groups."""
    few, w = choice.errors_in_smallest_group, choice.wishes
    if few is None or w.smallest_group is None:
        return []
    where = f" of {called(choice, few.index(max(few)))}" if w.d > 1 else ""
    people = many(w.smallest_group, "person", "people")
    said = f"In the smallest group ({people}) a frequency{where} is known to {_error(choice, max(few))}."
    needed = choice.people_needed
    if w.error is None or needed is None or w.reached(max(few)):
        return [said]
    return [f"{said} For {_error(choice, w.error)} a group needs {many(needed, 'person', 'people')} at this ε."]


def why(made: SurveyPlan) -> str:
    """The recommendation and its lead; or what would do where nothing does."""
    return _recommended(made) if made.feasible else _impossible(made)


def _recommended(made: SurveyPlan) -> str:
    first = made.first
    said = f"{first.name} is recommended ({_way(first)}), at a total ε of {number(first.total, 3)}"
    if len(made.choices) == 1:
        return f"{said}, the only way that meets the wishes.{_beyond(made)}"
    return f"{said}: {_lead(made)}.{_beyond(made)}"


def _beyond(made: SurveyPlan) -> str:
    """What other layouts and ways would need."""
    rows = [f"{each.name} ({_way(each)}) {number(each.total, 3)}" for each in made.beyond]
    return f" Others need more than the budget: {', '.join(rows)}." if rows else ""


def _lead(made: SurveyPlan) -> str:
    w, many = made.wishes, len(made.choices)
    what = "least error" if w.error is None else "least total ε"
    hidden = any(math.isinf(each.course.changing) for each in made.choices) and math.isfinite(
        made.first.course.changing
    )
    among = " among those that do not show every change of a value" if hidden else ""
    return f"it has the {what} of {many} that meet the wishes{among}, or is within 1 % of it and shorter"


def _impossible(made: SurveyPlan) -> str:
    w = made.wishes
    said = ["Nothing reaches the error within the budget."]
    if made.least is not None:
        least = made.least
        said.append(f"{least.name} ({_way(least)}) would need a total ε of {number(least.total, 3)}.")
    else:
        said.append("No total ε up to 40 would do.")
    if made.nearest is not None:
        near = made.nearest
        said.append(f"With ε = {w.spent:g}, {near.name} ({_way(near)}) has an error of {_error(near, near.error)}.")
        if made.people is not None:
            said.append(f"It would need {made.people:,} people for the wished one.")
    return " ".join(said)


def paragraphs(made: SurveyPlan, choice: SurveyChoice) -> list[str]:
    """What the choice promises for a round, for a person, and over time."""
    said = []
    if made.wishes.assumes_epsilon:
        said.append("No wish bounds the budget, so a total ε of 1 is assumed: say --error or --max-epsilon.")
    if choice is not made.choices[0]:
        gains, losses = choice.beside(made.first)
        gained = f" gains {', '.join(gains)} and" if gains else ""
        said.append(f"You choose {choice.name}, which{gained} gives up {', '.join(losses) or 'nothing, within 10 %'}.")
    said += [_known(choice), *smallest_group(choice), _person(choice), _guessed(choice)]
    if made.wishes.rounds > 1:
        said += [*_limit(choice), _rounds(choice), _links(choice)]
    return said


def _known(choice: SurveyChoice) -> str:
    w = choice.wishes
    where = f" of {called(choice, choice.worst_attribute)}, the worst attribute," if w.d > 1 else ""
    each = "In every round a frequency" if w.rounds > 1 else "A frequency"
    lost = number(choice.course.epsilon_report, 3)
    return f"{each}{where} is known to {_error(choice, choice.error)}; one report loses ε = {lost}."


def _person(choice: SurveyChoice) -> str:
    """What a person loses over everything."""
    course, w = choice.course, choice.wishes
    everything = f"over all {w.rounds:,} rounds and attributes" if w.d > 1 else f"over all {w.rounds:,} rounds"
    if w.rounds == 1:
        return f"A person loses ε = {number(course.total, 3)} over all attributes."
    if course.changing == course.total:
        return f"A person loses ε = {number(course.total, 3)} {everything}, whether values change or not."
    same = "change at the same times" + (", each for itself," if w.d > 1 else "")
    still = f"A person whose values never change loses ε = {number(course.total, 3)} {everything}."
    if math.isinf(course.changing):
        together = ""
        if math.isfinite(course.changing_together):
            together = f"; between two whose values {same} it is ε = {number(course.changing_together, 3)}"
        return (
            f"{still} When a value changes is plain to see: for people whose values change there is no bound{together}."
        )
    return (
        f"{still} For people whose values change, ε = {number(course.changing, 3)} is a bound whatever the times, and "
        f"ε = {number(course.changing_together, 3)} where two people's values {same.rstrip(',')}."
    )


def _limit(choice: SurveyChoice) -> list[str]:
    """The limit with which people can report in every round, where it is not the total that was planned with."""
    charged, rounds = account(choice.spec, choice.wishes.rounds).spent, choice.wishes.rounds
    if charged is None or charged <= choice.course.total:
        return []
    enough = math.ceil(charged * 10) / 10
    return [
        f"`hush privatize --limit` counts what values lose that may change: {enough:g} lets everybody report in all "
        f"{rounds:,} rounds, {number(choice.course.total, 3)} does not."
    ]


def _guessed(choice: SurveyChoice) -> str:
    guess, w = choice.guess, choice.wishes
    which = called(choice, guess.attribute) if w.d > 1 else "value"
    seen = f"all {w.rounds:,} reports of a person whose values never change" if w.rounds > 1 else "a report"
    how = "at least " if guess.bound else ""
    near = f" (simulated, ± {100 * 1.96 * guess.stderr:.1g} points)" if guess.stderr else ""
    often = f"{how}{rate(guess.rate)} of the time{near}"
    return f"Who sees {seen} names their {which} {often}; luck alone, {rate(guess.luck)}."


def _rounds(choice: SurveyChoice) -> str:
    if choice.course.independent:
        return (
            "Noise is fresh in every round: errors of rounds are independent, and a mean over rounds is better known."
        )
    return (
        "People keep noise from round to round: errors of rounds are not independent, and a mean over rounds still has "
        "the noise that was kept."
    )


def _links(choice: SurveyChoice) -> str:
    words = choice.course.pseudonym
    if not words:
        return (
            "Nothing in the reports links those of one person; whoever collects them with names or addresses can still "
            "put them together, and all numbers above are for that."
        )
    return (
        f"Reports of one person show {words}, again and again, and can be linked by it. No ε counts that: say so to "
        "people."
    )


def called(choice: SurveyChoice, attribute: int) -> str:
    """The name of an attribute, or its number."""
    names = list(choice.labels) if isinstance(choice.labels, Mapping) else []
    return str(names[attribute]) if names else f"attribute {attribute + 1}"


def rate(chance: float) -> str:
    """A chance in per cent."""
    return f"{100 * chance:.3g} %"


def loss(epsilon: float) -> str:
    """A loss; infinite ones in a word."""
    return "infinite" if math.isinf(epsilon) else number(epsilon, 3)


def _way(choice: SurveyChoice) -> str:
    w = choice.wishes
    return "once" if w.rounds == 1 else choice.course.way


def _error(choice: SurveyChoice, error: float) -> str:
    return f"an MSE of {error:.3g}" if choice.wishes.metric == "mse" else f"±{100 * error:.3g} points at 95 %"
