"""Every closed form against the enumeration: what a companion overrides must be what its base answers.

A comparison is of one question that `m.forms` answers. It is made where a companion overrides the answer and the
enumeration can give one, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.testing.problem import ConformanceError


@dataclass(frozen=True)
class Comparison:
    """One question to the forms of a mechanism.

    Args:
        name: The method or property of `Forms` that it is about.
        problem: What differs between two forms of one mechanism, asked with a seed; the empty string if nothing does.
    """

    name: str
    problem: Callable[[Forms, Forms, int], str]


COMPARISONS: list[Comparison] = []
"""Of all questions; each aspect adds its own."""


def overridden(forms: Forms, name: str) -> bool:
    """Whether a companion answers a question in its own way."""
    return getattr(type(forms), name) is not getattr(Forms, name)


def check_forms(m: FrequencyOracle, seed: int) -> None:
    """Every answer that the mechanism's companion overrides agrees with the enumeration."""
    general = Forms(m)
    for each in COMPARISONS:
        if overridden(m.forms, each.name) and (problem := each.problem(m.forms, general, seed)):
            raise ConformanceError(f"{m}: {each.name} of its forms differs from the enumeration: {problem}")
