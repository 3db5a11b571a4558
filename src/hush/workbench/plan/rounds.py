"""The same people asked again and again: the survey planner's answer, in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hush
from hush.planning.objectives import Z95
from hush.planning.surveys import SurveyChoice, SurveyPlan
from hush.planning.surveys.courses import Course
from hush.planning.surveys.search import Guess
from hush.reports import survey_in_words
from hush.workbench.plan import compare, words
from hush.workbench.plan.answer import Answer, PlanOption, Shuffling, WayOut
from hush.workbench.plan.question import Question
from hush.workbench.plan.ways import asking_more, changed

HEADER = (
    "",
    "over time",
    "ε a report",
    "ε in all",
    "ε if answers change",
    "± points",
    "right guesses in 100",
    "bits",
    "linkable",
)
_NOT_SHUFFLED = (
    "What mixing the reports would add is proved for one report a person. Here people report again and again, and "
    "nothing is claimed."
)
_ATTRIBUTE = "answer"
_EXACT = 1e-6
"""A simulation whose error is below this may as well be none: after many rounds it is rounding alone."""
_WORTHLESS = 6.0
"""A total ε above this protects nobody to speak of."""


def answered(question: Question, progress: Callable[[float], None] | None = None) -> Answer:
    """The answer."""
    plan = _planned(question, progress)
    if not plan.feasible:
        why = survey_in_words.why(plan)
        return Answer(question, ("Nothing meets this wish as it is.",), why, ways_out=_ways_out(question, plan))
    few = [0, *(i for i, each in enumerate(plan.choices) if each.worth_a_thought)]
    at = _place(plan, question.chosen)
    known = {*few, at}
    rows = [_option(each, plan.first, i in known) for i, each in enumerate(plan.choices)]
    front = compare.undominated([_weighed(*each) for each in zip(rows, plan.choices, strict=True)], question.error)
    options = tuple(replace(row, on_front=kept) for row, kept in zip(rows, front, strict=True))
    choice, option = plan.choices[at], options[at]
    return Answer(
        question,
        _headline(question, choice, option),
        survey_in_words.why(plan) if at == 0 else " ".join(survey_in_words.paragraphs(plan, choice)[:1]),
        options,
        compare.thoughts(options, few[1:]),
        option,
        HEADER,
        words.told(choice.spec, question),
        Shuffling((_NOT_SHUFFLED,)),
        spec=choice.spec.to_json(),
        call=_call(question),
        command=_command(question, option),
        caution=_caution(question, choice, option),
    )


def _planned(question: Question, progress: Callable[[float], None] | None) -> SurveyPlan:
    q = question
    return hush.survey(
        attributes={_ATTRIBUTE: q.domain} if q.labels is not None else (q.answers,),
        n=q.people,
        rounds=q.rounds,
        error=q.error,
        worst=q.worst,
        max_epsilon=q.epsilon,
        changing=q.changing,
        progress=progress,
    )


def _place(plan: SurveyPlan, chosen: str) -> int:
    return words.picked([PlanOption(each.name, each.name, {}) for each in plan.choices], chosen)


def _option(choice: SurveyChoice, first: SurveyChoice, known: bool) -> PlanOption:
    course = choice.course
    numbers = {"epsilon": choice.total, "error": choice.error, "bits": float(course.bits)}
    numbers |= {"changing": course.changing} if math.isfinite(course.changing) else {}
    if known:
        numbers["asr"] = choice.guess.rate
    gains, gives_up, when = ((), (), "") if choice is first or not known else _beside(choice, first, numbers)
    row = (
        choice.name,
        course.way,
        words.epsilon(course.epsilon_report),
        words.epsilon(course.total),
        _changing(course),
        words.hundred(choice.error),
        _rate(choice.guess) if known else "–",
        f"{course.bits:,}",
        "yes" if course.pseudonym else "no",
    )
    return PlanOption(choice.name, _called(choice), numbers, gains, gives_up, True, row, when)


def _weighed(row: PlanOption, choice: SurveyChoice) -> dict[str, float]:
    """All that can be held against a way: what it shows where answers change, and what links reports, too."""
    course = choice.course
    return {**row.numbers, "changing": course.changing, "linked": float(bool(course.pseudonym))}


def _beside(
    choice: SurveyChoice, first: SurveyChoice, numbers: dict[str, float]
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    own = {"epsilon": first.total, "error": first.error, "bits": float(first.course.bits), "asr": first.guess.rate}
    gains, gives_up, when = compare.compared(numbers, own)
    plain_gains, plain_losses = choice.beside(first)
    more = tuple(_SAID[each] for each in plain_gains if each in _SAID)
    less = tuple(_SAID[each] for each in plain_losses if each in _SAID)
    unlinked = "nothing links reports" in plain_gains
    return (*more, *gains), (*less, *gives_up), _UNLINKED if unlinked else when


_UNLINKED = "Worth a thought if reports of one person must not be linked to each other."
_SAID = {
    "nothing links reports": "nothing in the reports links those of one person",
    "less shown by changes": "less is shown when an answer changes",
    "reports can be linked": "reports of one person can be linked",
    "every change is plain to see": "every change of an answer is plain to see",
    "more shown by changes": "more is shown when an answer changes",
}
"""What the survey planner says of changes and links, for people."""


def _changing(course: Course[Any]) -> str:
    """The loss where answers change, rounded up, since it is a bound."""
    if course.changing == course.total:
        return words.epsilon(course.total)
    return "infinite" if math.isinf(course.changing) else words.rounded_up(course.changing)


def _rate(guess: Guess) -> str:
    """How many of 100 guesses are right."""
    return f"{'≈ ' if guess.stderr > _EXACT else ''}{words.hundred(guess.rate)}"


def _guessed(guess: Guess) -> str:
    """How often the best guess is right, and how near that is where it was simulated."""
    said = words.guessed(guess.rate, guess.luck)
    if guess.stderr <= _EXACT:
        return said
    return f"{said.replace('is right ', 'is right about ')} (simulated, ±{words.points(Z95 * guess.stderr)})"


def _called(choice: SurveyChoice) -> str:
    return words.named(type(choice.mechanism))


def _headline(question: Question, choice: SurveyChoice, option: PlanOption) -> tuple[str, ...]:
    course, guess = choice.course, choice.guess
    how = {"fresh every round": "with fresh noise in every round"}.get(course.way, f"where answers are {course.way}")
    total = f"Use {option.title}, {how}, with ε = {words.epsilon(course.total)} in all for a person whose answer stays"
    if course.changing == course.total:
        total += " or changes."
    elif math.isinf(course.changing):
        total += "; every change of an answer is plain to see."
    else:
        total += f", and up to {_changing(course)} where it changes."
    return (
        total,
        f"In every one of {question.rounds:,} rounds with {words.people(question.people)}, "
        f"{words.within(question, choice.error)}",
        f"From all {question.rounds:,} reports of one person, {_guessed(guess)}.",
    )


def _caution(question: Question, choice: SurveyChoice, option: PlanOption) -> str:
    course = choice.course
    if not question.changing and course.changing > max(_WORTHLESS, course.total):
        lost = "every change is plain to see" if math.isinf(course.changing) else f"ε reaches {_changing(course)}"
        return (
            f"This holds for people whose answers stay as they are. Where answers change from round to round, {lost}: "
            "if that can happen, say so above, and plan again."
        )
    return words.caution(option.numbers, choice.guess.luck)


def _ways_out(question: Question, plan: SurveyPlan) -> tuple[WayOut, ...]:
    ways: list[WayOut] = []
    if plan.least is not None:
        ways += changed(question, {"epsilon": words.up(plan.least.total)})
    if plan.nearest is not None and question.points is not None:
        ways += changed(question, {"points": words.up(100 * plan.nearest.error)})
    return (*ways, *asking_more(question, plan.people))


def _call(question: Question) -> str:
    q = question
    said = [f"attributes={f'{{{_ATTRIBUTE!r}: domain}}' if q.labels is not None else (q.answers,)}", f"n={q.people}"]
    said += [f"rounds={q.rounds}"]
    said += [] if q.error is None else [f"error={q.error:.12g}"]
    said += ["worst=True"] if q.worst else []
    said += [] if q.epsilon is None else [f"max_epsilon={q.epsilon:.12g}"]
    said += ["changing=True"] if q.changing else []
    return f"hush.survey({', '.join(said)})"


def _command(question: Question, option: PlanOption) -> str:
    q = question
    said = ["hush", "plan", "--n", str(q.people), "--rounds", str(q.rounds)]
    said += ["--k", str(q.answers)] if q.labels is None else ["--domain", "answers.txt"]
    said += [] if q.other is None else ["--other", q.other]
    said += [] if q.points is None else ["--error", f"{q.points:.12g}%"]
    said += ["--worst"] if q.worst else []
    said += [] if q.epsilon is None else ["--max-epsilon", f"{q.epsilon:.12g}"]
    said += ["--changing"] if q.changing else []
    said += ["--choose", option.name] if q.chosen else []
    return shlex.join([*said, "--spec-out", "spec.json"])
