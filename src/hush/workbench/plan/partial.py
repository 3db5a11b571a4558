"""One report a person, only some answers sensitive: the least ε of each utility-optimized mechanism, in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import hush
from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.spec import Spec
from hush.planning.budgets import least
from hush.planning.objectives import Z95
from hush.planning.wishes import ASSUMED_EPSILON, SEARCHED_EPSILON
from hush.utility import MECHANISMS, total_error
from hush.utility.named import NamedOracle
from hush.workbench.plan import compare, words
from hush.workbench.plan.answer import Answer, PlanOption, WayOut
from hush.workbench.plan.question import Question
from hush.workbench.plan.shuffling import shuffling
from hush.workbench.plan.ways import asking_more, changed

HEADER = ("", "reveals", "ε", "± points", "right guesses in 100 of a sensitive answer", "bits", "counters")
_LIKELY = 1.0
_ALIKE = 1e-9
_NOTHING = "nothing"
_HAIR = 1e-12  # in logarithms; an error is as wished within that


@dataclass(frozen=True)
class Way:
    """A mechanism at a budget, with its name and its numbers."""

    name: str
    mechanism: FrequencyOracle
    numbers: dict[str, float]
    reveals: str


def answered(question: Question) -> Answer:
    """The answer."""
    found = list(_found(question))
    ways = _ranked([way for way in found if way.numbers["epsilon"] <= _most(question)])
    if not ways:
        return _nothing(question, found)
    plain = _plain(question)
    every = [*ways, *plain]
    shown = [{**way.numbers, "revealed": float(way.reveals != _NOTHING)} for way in every]
    front = compare.undominated(shown, question.error)
    options = tuple(_option(way, ways[0], kept) for way, kept in zip(every, front, strict=True))
    at = words.picked(options, question.chosen)
    way, option = every[at], options[at]
    spec = Spec(way.mechanism, question.domain)
    worth = [*range(len(ways), len(every)), *(i for i in _unlike(ways) if front[i])]
    return Answer(
        question,
        _headline(question, option, way),
        _why(question, ways, plain),
        options,
        compare.thoughts(options, worth),
        option,
        HEADER,
        words.told(spec, question),
        shuffling(way.mechanism, question.people),
        spec=spec.to_json(),
        call=_call(question, option),
        command=_command(question, way),
        caution=words.caution(option.numbers, 1 / max(len(question.sensitive), 1)),
    )


def _most(question: Question) -> float:
    if question.epsilon is not None:
        return question.epsilon
    return ASSUMED_EPSILON if question.error is None else SEARCHED_EPSILON


def _found(question: Question) -> Iterator[Way]:
    """Of every mechanism the least budget that reaches the error; or all that is accepted."""
    for cls in MECHANISMS:
        for reveal in ("alone", "pair"):
            make = partial(_made, cls, question.answers, question.sensitive, reveal)
            try:
                at = _most(question) if question.error is None else _least(make, question)
                if at is None:
                    continue
                m = make(at)
            except HushError:  # some cannot send a value alone
                continue
            only = cls.reveal == "alone" or m.z_mean == 0  # where nothing is revealed beside a report, no pair is sent
            name = m.name() if only or reveal == "alone" else f"{m.name()}, in pairs"
            yield Way(name, m, _numbers(m, question), "a value alone" if reveal == "alone" else "beside a report")
            if only:
                break


def _made(cls: type[NamedOracle], k: int, sensitive: tuple[int, ...], reveal: str, epsilon: float) -> NamedOracle:
    return cls(k=k, epsilon=epsilon, sensitive=sensitive, reveal=reveal)


def _least(make: partial[NamedOracle], question: Question) -> float | None:
    """The least round budget that reaches the error; where the next one is more than is accepted, all that is."""
    wished = question.error or 1.0

    def excess(epsilon: float) -> float:
        return math.log(max(_error(make(epsilon), question), 1e-300) / wished) - _HAIR

    return least(excess, _LIKELY, question.epsilon)


def _error(m: FrequencyOracle, question: Question) -> float:
    """Half a 95 % interval: of the worst answer, or on average where all answers are equally frequent."""
    if question.worst:
        return Z95 * math.sqrt(m.forms.worst_variance(question.people))
    if isinstance(m, NamedOracle):
        return Z95 * math.sqrt(total_error(m, None, question.people) / m.k)
    return Z95 * math.sqrt(float(np.mean(m.variances(np.full(m.k, 1 / m.k), question.people))))


def _numbers(m: FrequencyOracle, question: Question) -> dict[str, float]:
    numbers = {
        "epsilon": 0.0 if m.guarantee is None else m.guarantee.epsilon,
        "error": _error(m, question),
        "bits": float(m.bits),
        "work": float(getattr(m, "base", m).forms.server_work),
    }
    sensitive = list(question.sensitive)
    if len(sensitive) > 1:
        prior = np.zeros(m.k)
        prior[sensitive] = 1 / len(sensitive)
        numbers["asr"] = m.asr(prior)
    return numbers


def _ranked(ways: list[Way]) -> list[Way]:
    """By ε, then error, then bits; what comes out as one before it is left out."""
    kept: list[Way] = []
    for way in sorted(ways, key=lambda way: (way.numbers["epsilon"], way.numbers["error"], way.numbers["bits"])):
        same = (all(abs(way.numbers[x] - other.numbers[x]) <= _ALIKE for x in way.numbers) for other in kept)
        if not any(same):
            kept.append(way)
    return kept


def _unlike(ways: list[Way]) -> list[int]:
    """Those that gain something by a tenth beside the first."""
    return [i for i, way in enumerate(ways) if i and compare.compared(way.numbers, ways[0].numbers)[0]]


def _plain(question: Question) -> list[Way]:
    """The one that protects every answer with the least ε, at the same wish."""
    made = hush.plan(
        n=question.people,
        k=question.answers,
        error=question.error,
        worst=question.worst,
        max_epsilon=_most(question),
        matters="accuracy" if question.error is None else "privacy",
    )
    if not made.feasible:
        return []
    m = made.first.mechanism
    return [Way(f"{made.first.name}, all protected", m, _numbers(m, question), _NOTHING)]


def _option(way: Way, first: Way, on_front: bool) -> PlanOption:
    gains, gives_up, when = compare.compared(way.numbers, first.numbers) if way is not first else ((), (), "")
    if way.reveals == _NOTHING:
        gains = ("every answer is protected, and none is ever revealed", *gains)
        when = "Worth a thought if it is not certain which answers will be sensitive."
    n = way.numbers
    row = (
        way.name,
        way.reveals,
        words.epsilon(n["epsilon"]),
        words.hundred(n["error"]),
        words.hundred(n["asr"]) if "asr" in n else "–",
        f"{n['bits']:,.0f}",
        f"{n['work']:,.0f}",
    )
    return PlanOption(way.name, words.named(type(way.mechanism)), n, gains, gives_up, on_front, row, when)


def _headline(question: Question, option: PlanOption, way: Way) -> tuple[str, ...]:
    n, some = option.numbers, len(question.sensitive)
    whom = f"the {some:,} sensitive answers" if some > 1 else "the one sensitive answer"
    promise = f"Use {option.title} with ε = {words.epsilon(n['epsilon'])}, which protects {whom} only."
    if way.reveals == _NOTHING:
        promise = f"Use {option.title} with ε = {words.epsilon(n['epsilon'])}, which protects every answer."
    said = [
        promise,
        f"From {words.people(question.people)}, {words.within(question, n['error'], then='then ', even=True)}",
    ]
    if "asr" in n:
        told = words.guessed(n["asr"], 1 / some, "which sensitive answer somebody gave")
        said.append(f"From one report, {told}.")
    if way.reveals != _NOTHING:
        said.append("Harmless answers may be revealed: people should be told which answers are protected.")
    return tuple(said)


def _why(question: Question, ways: list[Way], plain: list[Way]) -> str:
    own, among = ways[0], f" of {len(ways)}" if len(ways) > 1 else ""  # with one sensitive answer, all are the same
    if not plain:
        return f"{own.name} meets the wish, where no mechanism that protects every answer does."
    if question.error is None:
        ratio = (plain[0].numbers["error"] / own.numbers["error"]) ** 2
        return (
            f"{own.name} has the least error{among} at this ε. To protect every answer as exactly, "
            f"{words.rounded_up(ratio)} times as many people would be needed."
        )
    return (
        f"{own.name} needs the least ε{f'{among} that meet the wish' if among else ''}. To protect every answer would "
        f"need ε = {words.epsilon(plain[0].numbers['epsilon'])} ({plain[0].name.partition(',')[0]})."
    )


def _nothing(question: Question, found: list[Way]) -> Answer:
    """What could be met in place of a wish that cannot."""
    ways: list[WayOut] = []
    if found:
        ways += changed(question, {"epsilon": words.up(min(way.numbers["epsilon"] for way in found))})
    spent = list(_found(replace(question, points=None, epsilon=_most(question))))
    if spent and question.error is not None:
        nearest = min(way.numbers["error"] for way in spent)
        ways += changed(question, {"points": words.up(100 * nearest)})
        ways += asking_more(question, math.ceil(question.people * (nearest / question.error) ** 2 * (1 + 1e-9)))
    why = f"No mechanism reaches it with ε up to {_most(question):g}.{' One of these would do.' if ways else ''}"
    return Answer(question, ("Nothing meets this wish as it is.",), why, ways_out=tuple(ways))


def _call(question: Question, option: PlanOption) -> str:
    return f"hush.uldp(domain, {option.numbers['epsilon']:.12g}, n={question.people})"


def _command(question: Question, way: Way) -> str:
    q = question
    said = ["hush", "uldp", "--epsilon", f"{way.numbers['epsilon']:.12g}", "--n", str(q.people)]
    said += ["--k", str(q.answers)] if q.labels is None else ["--domain", "answers.txt"]
    for i in q.sensitive:
        said += ["--sensitive", str(q.domain.label(i))]
    return shlex.join(said)
