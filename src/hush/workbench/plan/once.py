"""One report a person, all answers protected: the planner's answer, in words."""

from __future__ import annotations

import shlex
from functools import lru_cache

import hush
from hush.mechanisms.settings import chosen
from hush.planning.plan import Choice, Plan
from hush.planning.relax import Relaxation
from hush.workbench.plan import compare, words
from hush.workbench.plan.answer import Answer, PlanOption, WayOut
from hush.workbench.plan.curve import curve
from hush.workbench.plan.question import Question
from hush.workbench.plan.shuffling import shuffling
from hush.workbench.plan.ways import asking_more, changed

HEADER = ("", "settings", "ε", "± points", "right guesses in 100", "liars gain, points", "bits", "counters", "front")


def answered(question: Question) -> Answer:
    """The answer."""
    plan = planned(_wishes(question))
    if not plan.feasible:
        ways = tuple(way for each in plan.relaxations for way in _ways_out(question, each))
        return Answer(
            question, ("Nothing meets this wish as it is.",), _why_not(plan, ways), ways_out=ways, curve=curve(plan)
        )
    options = _options(plan)
    at = words.picked(options, question.chosen)
    choice, option = plan.choices[at], options[at]
    worth = [i for i, each in enumerate(plan.choices) if each.worth_a_thought]
    return Answer(
        question,
        headline(question, option),
        plan.why if at == 0 else _instead(option, options[0]),
        options,
        compare.thoughts(options, worth),
        option,
        HEADER,
        words.told(choice.spec, question),
        shuffling(choice.mechanism, question.people),
        curve(plan),
        spec=choice.spec.to_json(),
        call=call(question, option),
        command=command(question, option),
        caution=words.caution(option.numbers, 1 / question.answers),
    )


@lru_cache(maxsize=32)
def planned(wishes: tuple[tuple[str, object], ...]) -> Plan:
    """The plan; the last few are kept, since choosing another row asks for the same again."""
    return hush.plan(**dict(wishes))  # type: ignore[arg-type]


def _wishes(question: Question) -> tuple[tuple[str, object], ...]:
    q = question
    given = {
        "n": q.people,
        "domain": q.domain,
        "error": q.error,
        "worst": q.worst,
        "max_asr": None if q.guesses is None else q.guesses / 100,
        "max_epsilon": q.epsilon,
        "matters": q.matters,
    }
    return tuple(given.items())


def headline(question: Question, option: PlanOption) -> tuple[str, ...]:
    """The recommendation, in three sentences."""
    numbers = option.numbers
    return (
        f"Use {option.title} with ε = {words.epsilon(numbers['epsilon'])}.",
        f"From {words.people(question.people)}, {words.within(question, numbers['error'], then='then ')}",
        f"From one report, {words.guessed(numbers['asr'], 1 / question.answers)}.",
    )


def _options(plan: Plan) -> tuple[PlanOption, ...]:
    first = plan.first
    return tuple(_option(each, first) for each in plan.choices)


def _option(choice: Choice, first: Choice) -> PlanOption:
    gains, gives_up, when = compare.compared(choice.numbers, first.numbers) if choice is not first else ((), (), "")
    return PlanOption(
        choice.name,
        words.named(type(choice.mechanism)),
        dict(choice.numbers),
        gains,
        gives_up,
        choice.on_front,
        _row(choice),
        when,
    )


def _row(choice: Choice) -> tuple[str, ...]:
    n = choice.numbers
    own = ", ".join(f"{name} = {_setting(value)}" for name, value in chosen(choice.mechanism).items())
    return (
        choice.name,
        own or "–",
        words.epsilon(n["epsilon"]),
        words.hundred(n["error"]),
        words.hundred(n["asr"]),
        words.hundred(n["gain"]),
        f"{n['bits']:,.0f}",
        f"{n['work']:,.0f}",
        "yes" if choice.on_front else "no",
    )


def _setting(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _instead(option: PlanOption, first: PlanOption) -> str:
    """What the visitor chose, beside what is recommended."""
    gains = f" gains {words.listed(option.gains)};" if option.gains else " gains nothing by a tenth;"
    losses = f" it gives up {words.listed(option.gives_up)}" if option.gives_up else " it gives up nothing by a tenth"
    return f"You chose {option.name} in place of {first.name}. It{gains}{losses}."


def _why_not(plan: Plan, ways: tuple[WayOut, ...]) -> str:
    most, guesses = plan.wishes.largest_epsilon, plan.wishes.max_asr
    bounds = "" if guesses is None else f", with {100 * guesses:g} right guesses in 100 or fewer"
    some = " One of these would do; the smallest change is first." if ways else ""
    return f"No mechanism reaches it with ε up to {most:g}{bounds}.{some}"


def _ways_out(question: Question, way: Relaxation) -> tuple[WayOut, ...]:
    """A relaxation as wishes that can be planned again."""
    changes: dict[str, float] = {}
    for name, (_, possible) in way.changes.items():
        match name:
            case "error":
                changes["points"] = words.up(100 * possible)
            case "asr":
                changes["guesses"] = min(words.up(100 * possible), 100.0)
            case _:
                changes["epsilon"] = words.up(possible)
    return *changed(question, changes), *asking_more(question, way.people)


def call(question: Question, option: PlanOption) -> str:
    """The same question in Python."""
    q = question
    domain = f"k={q.answers}" if q.labels is None else "domain=domain"
    said = [f"n={q.people}", domain]
    said += [] if q.error is None else [f"error={q.error:.12g}"]
    said += ["worst=True"] if q.worst else []
    said += [] if q.guesses is None else [f"max_asr={q.guesses / 100:.12g}"]
    said += [] if q.epsilon is None else [f"max_epsilon={q.epsilon:.12g}"]
    said += [] if q.matters == "balance" else [f"matters={q.matters!r}"]
    return f"hush.plan({', '.join(said)})"


def command(question: Question, option: PlanOption) -> str:
    """The same question at the command line; the answers, where they have labels, are in a file."""
    q = question
    said = ["hush", "plan", "--n", str(q.people)]
    said += ["--k", str(q.answers)] if q.labels is None else ["--domain", "answers.txt"]
    said += [] if q.other is None else ["--other", q.other]
    said += [] if q.points is None else ["--error", f"{q.points:.12g}%"]
    said += ["--worst"] if q.worst else []
    said += [] if q.guesses is None else ["--max-asr", f"{q.guesses:.12g}%"]
    said += [] if q.epsilon is None else ["--max-epsilon", f"{q.epsilon:.12g}"]
    said += [] if q.matters == "balance" else ["--matters", q.matters]
    said += ["--choose", option.name] if q.chosen else []
    return shlex.join([*said, "--spec-out", "spec.json"])
