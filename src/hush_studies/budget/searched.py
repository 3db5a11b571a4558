"""Tables of Optimus: figures 5.1 to 5.6, and what a collection costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from hush.planning import optimus
from hush_studies.budget.cells import (
    CERTAINTY,
    FULL,
    METHODS,
    PROTOCOLS,
    QUICK,
    Cell,
    Effort,
    Method,
    cell,
    collected,
    method,
)
from hush_studies.budget.people import crowd
from hush_studies.measure import average
from hush_studies.study import Advance, Settings, Table, rows_of

HEAD = ("people", "k", "n", "protocol", "tau", "pi", "method")
FOUND = ("epsilon", "low", "high", "share", "share_stderr", "budgets", "runs", "seconds")
EASE = {"MSNBC": 0.3, "Emoji": 3.0, "Few emojis": 3.0}
"""A budget for which one collection is timed; it hardly matters."""

_GRIDS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "MSNBC": (("GRR", "RAPPOR", "OUE", "BLH"), (0.1, 0.2, 0.3, 0.4, 0.5)),
    "Emoji": (("GRR", "RAPPOR", "OUE", "OLH"), (0.3, 0.5, 0.7, 0.9)),
}
_FEW: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "MSNBC": (("GRR",), (0.1, 0.5)),
    "Few emojis": (("GRR", "OLH"), (0.3, 0.9)),
}
_COST = {"direct": 1.0, "BS": 0.7, "RBS": 1.7, "DBS": 0.2, "MPass": 6.0, "Bayes": 3.2}


def effort(settings: Settings) -> Effort:
    """How much is simulated."""
    return QUICK if settings.quick else FULL


def domain(settings: Settings) -> str:
    """The emojis, or fewer."""
    return "Few emojis" if settings.quick else "Emoji"


def grid(people: str, settings: Settings) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The protocols and coefficients of a population."""
    return (_FEW if settings.quick else _GRIDS)[people]


def usual(name: str, settings: Settings) -> Method:
    """A method; in the small version MPass looks at fewer budgets."""
    return optimus.MPass(passes=3) if settings.quick and name == "MPass" else method(name)


def head(people: str, protocol: str, tau: float, pi: float, name: str) -> list[Any]:
    """What a row says of its question."""
    who = crowd(people)
    return [people, who.k, who.n, protocol, tau, pi, name]


def budgets(*, real: bool) -> Callable[[Settings, Advance], Table]:
    """Figures 5.1 and 5.2: what each method finds."""

    def compute(settings: Settings, advance: Advance) -> Table:
        people = "MSNBC" if real else domain(settings)
        rows = [[*told, *_plain(found)] for told, found in _answers(people, settings, advance)]
        return rows_of((*HEAD, *FOUND), rows)

    return compute


def times(*, real: bool) -> Callable[[Settings, Advance], Table]:
    """Figures 5.3 and 5.4: how long that took, and how long it would, if every report were made."""

    def compute(settings: Settings, advance: Advance) -> Table:
        people, rows = "MSNBC" if real else domain(settings), []
        for told, found in _answers(people, settings, advance):
            one = collection(people, str(told[3]), settings).seconds
            rows.append([*told, found.budgets, found.runs, found.seconds, one, one * found.runs])
        return rows_of((*HEAD, "budgets", "runs", "seconds", "one_collection", "seconds_by_reports"), rows)

    return compute


def _plain(found: Cell) -> list[float | None]:
    return [None if np.isnan(each) else each for each in astuple(found)]


def _answers(people: str, settings: Settings, advance: Advance) -> Iterable[tuple[list[Any], Cell]]:
    protocols, taus = grid(people, settings)
    whole = sum(_COST.values()) * len(protocols) * len(taus)
    for protocol in protocols:
        for tau in taus:
            for name in METHODS:
                found = cell(people, protocol, tau, CERTAINTY, usual(name, settings), effort(settings), settings.seed)
                yield head(people, protocol, tau, CERTAINTY, name), found
                advance(_COST[name] / whole)


def collection(people: str, protocol: str, settings: Settings) -> Any:
    """Whole collections of one protocol."""
    runs, many = (2, 100) if settings.quick else (12, 2000)
    return collected(people, protocol, EASE[people], runs, many, settings.seed)


def collections(settings: Settings, advance: Advance) -> Table:
    """One collection, report by report and from its exact law: time and loss."""
    rows = []
    for people, epsilon in (("MSNBC", EASE["MSNBC"]), (domain(settings), EASE[domain(settings)])):
        for protocol in PROTOCOLS:
            found = collection(people, protocol, settings)
            told = [people, crowd(people).k, crowd(people).n, protocol, epsilon]
            losses = [part for each in (found.losses, found.drawn) for part in (*average(each), each.size)]
            rows.append([*told, found.seconds, found.seconds_drawn, *losses])
            advance(0.5 / len(PROTOCOLS))
    columns = ("loss", "loss_stderr", "runs", "loss_drawn", "loss_drawn_stderr", "runs_drawn")
    return rows_of(("people", "k", "n", "protocol", "epsilon", "seconds_by_reports", "seconds_drawn", *columns), rows)


def certainties(settings: Settings, advance: Advance) -> Table:
    """Figure 5.5: what BS finds as π grows, with ours beside it at the ends."""
    protocols = ("OUE", "OLH") if settings.quick else _GRIDS["Emoji"][0]
    taus = (0.3, 0.9) if settings.quick else _GRIDS["Emoji"][1]
    pis = (0.5, 0.9) if settings.quick else (0.5, 0.6, 0.7, 0.8, 0.9)
    cases = [
        (protocol, tau, pi, name)
        for protocol in protocols
        for tau in taus
        for pi in pis
        for name in ("BS", "direct")
        if name == "BS" or (pi in (pis[0], pis[-1]) and not settings.quick)
    ]
    rows = []
    for protocol, tau, pi, name in cases:
        found = cell(domain(settings), protocol, tau, pi, method(name), effort(settings), settings.seed)
        rows.append([*head(domain(settings), protocol, tau, pi, name), *_plain(found)])
        advance(1 / len(cases))
    return rows_of((*HEAD, *FOUND), rows)


def _swept(settings: Settings) -> list[tuple[str, float, Method]]:
    quick = settings.quick
    relaxed: Sequence[int] = (3, 6, 10) if quick else range(3, 11)
    powers: Sequence[int] = (-6, 0, 6) if quick else range(-6, 7)
    numbers: Sequence[int] = (1, 10) if quick else (1, 5, 10, 15, 20, 30, 40, 50)
    found: list[tuple[str, float, Method]] = [("g", g, optimus.RBS(g=float(g))) for g in relaxed]
    found += [("C", 10.0**power, optimus.DBS(c=10.0**power)) for power in powers]
    found += [("iter_num", i, optimus.Bayes(initial=5 if quick else 20, iterations=i)) for i in numbers]
    found += [("init_points", i, optimus.Bayes(initial=i, iterations=5 if quick else 20)) for i in numbers]
    return found


def parameters(settings: Settings, advance: Advance) -> Table:
    """Figure 5.6: the methods' own parameters; Emoji, GRR, tau = 0.7."""
    rows, cases = [], _swept(settings)
    for name, value, how in cases:
        found = cell(domain(settings), "GRR", 0.7, CERTAINTY, how, effort(settings), settings.seed)
        rows.append([*head(domain(settings), "GRR", 0.7, CERTAINTY, how.name), name, value, *_plain(found)])
        advance(1 / len(cases))
    return rows_of((*HEAD, "parameter", "value", *FOUND), rows)
