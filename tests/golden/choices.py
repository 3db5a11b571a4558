"""What mechanisms choose for themselves, over a grid of settings: every processor must choose the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import hush
from hush.longitudinal import OLOLOHA
from hush.mechanisms.adaptive import STRATEGIES
from hush.mechanisms.chosen import choices

SIZES = (2, 3, 10, 64, 100, 1_000, 20_000)
BUDGETS = (0.01, 0.3, 1.0, 2.0, 4.0, 7.5, 12.0, 25.0)
NAMES = ("SS", "HR", "PGR", "OLH", "THE", "ServerTHE", "Wheel", "ASS", "AUE", "ALH", "ATHE")


def settings() -> Iterator[tuple[str, type[Any], dict[str, Any]]]:
    """Labels, classes and parameters."""
    for k, epsilon in itertools.product(SIZES, BUDGETS):
        for name in NAMES:
            for design in designs(name):
                yield name, hush.registry()[name], {"k": k, "epsilon": epsilon, **design}
        for name in ("ALH", "OLH"):
            for design in designs(name):
                yield name, hush.registry()[name], {"k": k, "epsilon": epsilon, "hash": "family", **design}
        if epsilon <= 20:
            yield "AOLH", hush.AOLH, {"k": k, "epsilon": epsilon, "delta": 1e-3 * min(epsilon, 1.0)}
            yield "OLOLOHA", OLOLOHA, {"k": k, "epsilon_permanent": epsilon, "epsilon_report": epsilon / 2}
    for name, strategy, (k, epsilon) in itertools.product(NAMES[-4:], STRATEGIES, ((5, 1.0), (60, 3.0), (300, 8.0))):
        for design in designs(name):
            given = {"k": k, "epsilon": epsilon, "strategy": strategy, **design}
            yield name, hush.registry()[name], given
            yield name, hush.registry()[name], {**given, "search": "grid"}
    for epsilon, delta in ((0.5, 1e-8), (1.0, 1e-5), (4.0, 1e-5), (8.0, 1e-3)):
        yield "AGM", hush.AGM, {"k": 4, "epsilon": epsilon, "delta": delta}
    for k, epsilon in ((30, 2.0), (100, 4.0), (150, 1.0)):
        yield "MSS", hush.MSS, {"k": k, "epsilon": epsilon}
    for cls, epsilon, z in itertools.product(hush.utility.MECHANISMS, (0.5, 1.0, 4.0), ("exact", "constant", "none")):
        for reveal in ({"reveal": "pair"}, {"reveal": "alone"}) if cls is not hush.uHR else ({},):
            given = {"k": 25, "epsilon": epsilon, "sensitive": range(10), "theta": 0.77, "z": z, **reveal}
            yield cls.name(), cls, given


def designs(name: str) -> tuple[dict[str, Any], ...]:
    """The paper's design, and the default since version 0.2."""
    return ({"design": "paper"}, {"design": "exact"}) if name in NAMES[-4:] else ({},)


def label(name: str, given: dict[str, Any]) -> str:
    """Describe a setting in words, without the defaults of version 0.1."""
    told = {key: value for key, value in given.items() if key != "sensitive" and value not in ("paper", "pair")}
    return " ".join([name, *(f"{key}={value}" for key, value in told.items())])


def made(cls: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """What is chosen in a setting: numbers, and lists of them."""
    m = cls(**given)
    return {n: list(x) if isinstance(x, tuple) else x for n, x in choices(m).items() if n not in given}


def chosen() -> dict[str, dict[str, Any]]:
    """All settings."""
    return {label(name, given): made(cls, given) for name, cls, given in settings()}
