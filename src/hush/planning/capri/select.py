"""`capacity`: the smallest budget that keeps a capacity decision right often enough."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.errors import ParameterError, message
from hush.mechanisms.numeric.base import Numeric
from hush.people.domain import Domain
from hush.planning.capri import search
from hush.planning.capri.answer import CapacityAnswer, Evidence
from hush.planning.capri.build import Given
from hush.planning.capri.laws import law
from hush.planning.capri.means import OnlyMean
from hush.planning.capri.population import Told, counted
from hush.planning.capri.question import CapacityQuestion, question
from hush.planning.capri.trial import Watch
from hush.planning.capri.who import Trials, fits, known, tried_for
from hush.planning.capri.worst import WorstTrials
from hush.planning.optimus.bayes import Bayes
from hush.planning.optimus.binary import BS, DBS, RBS
from hush.planning.optimus.multipass import MPass
from hush.randomness import source

METHODS = ("exact", "capri", "capri-r", "BS", "RBS", "DBS", "MPass", "bayes", "normal", "cantelli", "chebyshev")
"""How a budget is searched: by exact probabilities, by simulated collections (Algorithm 7, relaxed, the other searches
of Optimus by the names that they have there, or with a Gaussian process), or by what the variance alone says."""

_BOUNDS = ("normal", "cantelli", "chebyshev")
Searching = BS | RBS | DBS | MPass | Bayes
_SEARCHES: dict[str, Any] = {cls.name: cls for cls in (BS, RBS, DBS, MPass)}
_MOST_RUNS = 10**12
_CLOSE = 1e-4


def capacity(
    mechanism: Given,
    counts: Told | None = None,
    *,
    cap: float,
    metric: str = "error",
    threshold: float,
    values: npt.ArrayLike | None = None,
    domain: Domain | None = None,
    most: float | None = None,
    above: float | None = None,
    method: str | Searching = "exact",
    parameters: Mapping[str, Any] | None = None,
    runs: int = 50_000,
    lowest: float = 0.001,
    highest: float = 10.0,
    precision: float | None = None,
    relaxation: float | None = None,
    confirm: int | None = None,
    spent: float = 0.0,
    rng: np.random.Generator | None = None,
    watch: Watch | None = None,
) -> CapacityAnswer:
    """The smallest epsilon that bounds how often "the total exceeds the cap" is decided wrongly (or rightly).

    The server estimates how many people hold each value (or, with a numeric mechanism, the mean), adds up, and
    compares with the cap (`capri.exceeds`). Budgets of at most four digits are looked at; the answer meets the
    constraint as it stands.

    Args:
        mechanism: A name, a class, a mechanism whose other parameters are kept, or a function of epsilon. A frequency
            oracle, or one of Duchi, Piecewise and Hybrid.
        counts: People of each value, an Estimate of an earlier collection, or a Population. Or a MeanEstimate, which
            tells a mean alone: the budget is then enough for all people of that mean, as `hush.planning.capri.means`
            says, and `spread` of the answer tells who of them need it.
        cap: The capacity. It must differ from the true total.
        metric: "fn" or "fp" must stay below the threshold, "tp" or "tn" must reach it; "error" is "fn" where the
            total exceeds the cap and "fp" where it does not.
        threshold: Strictly between 0 and 1.
        values: In place of counts, everybody's amount.
        domain: Its values are the amounts; 0, 1, 2, ... if left out.
        most: Clip larger amounts.
        above: Ask how many people have more than this amount, not for the total; the cap is how many there may be.
        method: One of `METHODS`, in any case; or a search of Optimus with its parameters, as in `optimus.RBS(g=5)`.
        parameters: Further parameters of the mechanism.
        runs: Simulated collections at each budget, for all methods that simulate; for "DBS", at most.
        lowest: The smallest budget to consider.
        highest: The largest.
        precision: How narrow the search ends; 0.01 for "capri", "capri-r", "BS", "RBS" and "DBS"; a share of the budget
            for others, a ten-thousandth if left out.
        relaxation: What "capri-r" keeps of the half it drops; below half the precision. A quarter of it if left out.
        confirm: Collections to simulate, from whole tallies, at the budget found. Left out, as many as take about a
            second, or none where these would be too few to say anything.
        spent: What an earlier round took from the same people.
        rng: `hush.seeded(7)` to repeat a simulation.
        watch: Called with the evidence of each budget tried.

    >>> found = capacity("GRR", [500, 500], cap=400, metric="fn", threshold=0.1, confirm=0)
    >>> found.epsilon
    0.4055
    """
    began = time.perf_counter()
    who = known(counts, values=values, domain=domain, most=most, above=above)
    held = who.apart if isinstance(who, OnlyMean) else who
    people = held if above is None else counted(held, above)
    asked = question(metric, threshold, cap, people)
    low, high = _range(lowest, highest)
    rules.integer("runs", runs, 1, _MOST_RUNS, "use e.g. 50_000")
    if confirm is not None:
        rules.integer("confirm", confirm, 0, 10**9, "use e.g. 1000, or 0 for none")
    if not 0 <= rules._real(spent) < np.inf:
        raise ParameterError(message("spent", "must be a number from 0 on", spent, "leave it out for nothing"))
    trials = tried_for(mechanism, who if isinstance(who, OnlyMean) else people, parameters, asked, source(rng), watch)
    example = trials.build(high)
    fits(example, who, above)
    name, searching = _method(method, precision)
    best, reason = _searched(trials, name, searching, low, high, runs, precision, relaxation)
    raised = None
    if best is not None and best.runs:
        ended, best = best.epsilon, _held(trials, best, high)
        raised = ended if best is None or best.epsilon > ended else None
        reason = _why(trials, high) if best is None else reason
    epsilon = None if best is None else best.epsilon
    confirmation = None if epsilon is None or asked.settled else trials.confirmed(epsilon, confirm)
    shown = best or max(trials.evidence, key=lambda e: -e.probability if asked.kept_small else e.probability)
    seen = confirmation or (shown if shown.runs else None)
    return CapacityAnswer(
        epsilon=epsilon,
        probability=shown.probability if shown.exact is None else shown.exact,
        interval=None if seen is None else (seen.low, seen.high),
        feasible=best is not None,
        reason=reason,
        mechanism=example.name(),
        reading="mean" if isinstance(example, Numeric) else "frequencies",
        method=name,
        metric=asked.metric,
        threshold=asked.threshold,
        cap=asked.cap,
        total=who.total if isinstance(who, OnlyMean) else people.total,
        expected=people.expected,
        clipped=people.clipped,
        n=people.n,
        spent=float(spent),
        evidence=tuple(trials.evidence),
        confirmation=confirmation,
        seconds=time.perf_counter() - began,
        raised=raised,
        estimated=people.estimated,
        above=None if above is None else float(above),
        spread=trials.spread(shown.epsilon) if isinstance(trials, WorstTrials) else None,
    )


def _searched(
    trials: Trials,
    method: str,
    searching: Searching | None,
    low: float,
    high: float,
    runs: int,
    precision: float | None,
    relaxation: float | None,
) -> tuple[Evidence | None, str]:
    """The evidence for the answer, or None; and what there is to say about it."""
    asked = trials.asked
    close = _CLOSE if method in ("exact", *_BOUNDS) else 0.01
    width = (
        close
        if precision is None or searching is not None
        else rules.number("precision", precision, 0.0, high, f"use e.g. {close}")
    )
    relaxed = width / 4 if relaxation is None else rules.number("relaxation", relaxation, 0.0, width / 2, "halve it")
    if asked.settled:
        first = trials.by_law(low)
        return (first if first.satisfied and not asked.tied else None), asked.settled
    if method == "exact":
        best = search.closed_in(trials.by_law, low, high, width)
        if best is None or best.epsilon > low:  # a smaller one may do, where more is sometimes worse
            least = search.lowered(trials.by_law, best or trials.evidence[-1], low, width, trials.clearly_fails)
            best = _sure(trials, least, high) if least.satisfied else None
    elif method in _BOUNDS:
        best = search.closed_in(trials.by_bound(method), low, high, width)
    elif method == "bayes":
        trial, fails = trials.by_runs(runs), asked.clearly_fails
        own = searching if isinstance(searching, Bayes) else Bayes()
        tries = {"first": own.initial, "more": own.iterations}
        best = search.modelled(trial, low, high, _goal(asked), runs, trials.rng, clearly_fails=fails, **tries)
    elif isinstance(searching, MPass):
        best = search.walked(trials.by_runs(runs), low, high, searching.passes, searching.g)
    elif isinstance(searching, RBS):
        best = search.bisected(trials.by_runs(runs), low, high, searching.precision, part=1 / searching.g)
    elif isinstance(searching, DBS):
        best = search.bisected(trials.by_runs(runs, searching), low, high, searching.precision)
    elif isinstance(searching, BS):
        best = search.bisected(trials.by_runs(runs), low, high, searching.precision)
    else:
        kept = relaxed if method == "capri-r" else 0.0
        best = search.bisected(trials.by_runs(runs), low, high, width, kept)
    return best, "" if best is not None else _why(trials, high)


def _method(given: object, precision: float | None) -> tuple[str, Searching | None]:
    """The name of a method and, where it is a search of Optimus, the search."""
    if isinstance(given, Searching):
        if precision is not None:
            rule = "must be left out beside a method that is given with its own parameters"
            raise ParameterError(message("precision", rule, precision, "give it to the method"))
        return ("bayes" if isinstance(given, Bayes) else given.name), given
    known = {name.lower(): name for name in METHODS}
    if not isinstance(given, str) or given.lower() not in known:
        raise ParameterError(message("method", f"must be one of {', '.join(METHODS)}", given, "use 'exact'"))
    name = known[given.lower()]
    own = _SEARCHES.get(name)
    if own is None:
        return name, None
    if precision is None:
        return name, own()
    if own is MPass:
        rule = "must be left out for MPass, whose last step is what it ends with"
        raise ParameterError(message("precision", rule, precision, "use e.g. optimus.MPass(passes=4)"))
    return name, own(precision=precision)


def _sure(trials: Trials, best: Evidence, high: float) -> Evidence | None:
    """The answer by the law in full, where a rough one was enough on the way."""
    if best.exact is not None or not law(trials.build(best.epsilon), trials.people).costly:
        return best
    found = trials.certified(best.epsilon)
    return found if found.satisfied else search.closed_in(trials.certified, best.epsilon, high, _CLOSE)


def _held(trials: Trials, best: Evidence, high: float) -> Evidence | None:
    """What was found by simulated collections, held against the law: chance may have ended the search too early.

    Then the smallest larger budget is looked for at which the law agrees. Where the law is not known, simulated
    collections have the last word, with their interval.
    """
    if best.law == "normal":
        return best
    if best.exact is not None and trials.asked.satisfied(best.exact):
        return best
    found = trials.certified(best.epsilon)
    if found.satisfied:
        both = replace(best, exact=found.exact, law=found.law)
        trials.evidence[trials.evidence.index(best)] = both
        trials.evidence.remove(found)
        return both
    return search.closed_in(trials.certified, best.epsilon, high, _CLOSE)


def _goal(asked: CapacityQuestion) -> float:
    from scipy.special import ndtri

    return float(ndtri(asked.threshold))


def _why(trials: Trials, high: float) -> str:
    people, asked = trials.people, trials.asked
    if people.clipped and (people.expected > asked.cap) != asked.over:
        return f"clipping moved the expected total to {people.expected:,.12g}, to the other side of the cap"
    return f"not even epsilon {high:g} does; the total is too near to the cap, or the people are too few"


def _range(lowest: float, highest: float) -> tuple[float, float]:
    low = rules.epsilon(lowest)
    high = rules.epsilon(highest)
    if low >= high:
        raise ParameterError(message("lowest", f"must be below highest, {high:g}", lowest, "use e.g. 0.001 and 10"))
    return low, high
