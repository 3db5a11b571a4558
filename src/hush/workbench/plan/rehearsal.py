"""A collection rehearsed in Python, step by step: what a script and a notebook are made of.

Values are made up, randomized as devices do it, counted as a server does it, and the estimates are held against what
is known to be true. What is read is the spec itself, so that it is the collection that was planned, letter by letter.
"""

from __future__ import annotations

import json
import pprint
from dataclasses import dataclass

from hush.mechanisms.spec import Spec
from hush.workbench.plan.answer import Answer
from hush.workbench.plan.question import Question

_MOST_PEOPLE = 100_000
_MOST_CELLS = 20_000_000
_MOST_ROUNDS = 3
_SHOWN = 20
_IS_ALL = "The spec is all that clients, a server and an auditor need. Its hash says which it is."
_HALVES = "Each answer is half as frequent as the one before, down to a floor."
_SECURE = "Only reports leave a device. The randomness is secure, so that every run differs."


@dataclass(frozen=True)
class Rehearsed:
    """A title, what it does in words, and the lines that do it."""

    title: str
    words: str
    code: str


def steps(answer: Answer) -> list[Rehearsed]:
    """All steps, in order; each goes on with what the ones before have named."""
    spec, q = answer.made, answer.question
    people = min(q.people, _MOST_PEOPLE, _MOST_CELLS // q.answers)
    fewer = "" if people == q.people else f" It has {people:,} of them, so that it ends soon."
    return [
        Rehearsed("The collection", _IS_ALL, _spec(answer, spec)),
        Rehearsed(
            "What it promises", "Computed from the whole numbers that the sampler works with.", _promise(spec, q)
        ),
        Rehearsed("Made-up people", f"{_HALVES}{fewer}", _people(people)),
        Rehearsed("On their devices", _SECURE, _devices(spec, q.rounds)),
        Rehearsed("At the server", "Reports are counted, and estimates come with their 95 % intervals.", _server(spec)),
    ]


def _spec(answer: Answer, spec: Spec) -> str:
    plain = pprint.pformat(json.loads(answer.spec), width=110, sort_dicts=True)
    return f"""import numpy as np

import hush

SPEC = {plain}
spec = hush.Spec.from_dict(SPEC)
assert spec.hash == {spec.hash!r}
print(spec.mechanism)"""


def _promise(spec: Spec, question: Question) -> str:
    if spec.mechanism.kind == "longitudinal":
        return """first = spec.mechanism.first_report
print(f"One report: {first.guarantee}, exactly {first.exact_epsilon():.6f}")"""
    said = """m = spec.mechanism
print(f"One report: {m.guarantee}, exactly {m.exact_epsilon():.6f}")
print(f"The best guess of a value is right {100 * m.asr():.4g} times in 100; {100 / m.k:.4g} by luck alone")"""
    if len(question.sensitive) < 2:
        return said
    return f"""{said}
sensitive = {list(question.sensitive)}
asr = m.asr(np.bincount(sensitive, minlength=m.k) / len(sensitive))
luck = 100 / len(sensitive)
print(f"Of a sensitive one {{100 * asr:.4g}} times, if it is known to be one; {{luck:.4g}} by luck alone")"""


def _people(people: int) -> str:
    return f"""labels = [spec.domain.label(i) for i in range(spec.domain.size)]
shares = np.maximum(0.5 ** np.arange(len(labels)), 0.02)
shares /= shares.sum()
truth = np.random.default_rng().multinomial({people}, shares)
values = [label for label, count in zip(labels, truth, strict=True) for _ in range(count)]"""


def _devices(spec: Spec, rounds: int) -> str:
    if spec.mechanism.kind == "longitudinal":
        few = min(rounds, _MOST_ROUNDS)
        return f"""rounds = {few}  # of {rounds}; everybody keeps their answer here
reports = spec.privatize([[value] * rounds for value in values])
print(f"{{len(reports):,}} people, {{rounds}} reports each; the first: {{reports[0]}}")"""
    return """reports = spec.privatize(values)
print(f"{len(reports):,} reports, {reports.nbytes:,} bytes in all; the first: {reports[0]}")"""


def _server(spec: Spec) -> str:
    first = "[0]  # of the first round" if spec.mechanism.kind == "longitudinal" else ""
    return f"""estimate = spec.estimate(spec.aggregate(reports)){first}
low, high = estimate.interval(0.95)
print(f"{{'answer':>20}}  {{'truth':>7}}  {{'estimate':>8}}  95 % interval")
for i in range(min({_SHOWN}, len(labels))):
    print(
        f"{{str(labels[i])[:20]:>20}}  {{truth[i] / len(values):7.2%}}  {{estimate.frequencies[i]:8.2%}}"
        f"  {{low[i]:.2%}} to {{high[i]:.2%}}"
    )
inside = np.mean((low <= truth / len(values)) & (truth / len(values) <= high))
print(f"{{inside:.0%}} of these intervals hold the truth; over many collections, 95 % do")"""
