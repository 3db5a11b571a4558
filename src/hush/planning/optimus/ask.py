"""`hush.planning.budget`: how small may the budget be?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from hush.errors import ParameterError, message
from hush.kernels.workers import THREADS, Workers
from hush.planning.optimus import losses
from hush.planning.optimus.answer import BudgetAnswer
from hush.planning.optimus.bayes import Bayes
from hush.planning.optimus.binary import BS, DBS, RBS
from hush.planning.optimus.direct import Direct
from hush.planning.optimus.found import Method, enough_runs
from hush.planning.optimus.multipass import MPass
from hush.planning.optimus.population import population
from hush.planning.optimus.question import BudgetQuestion, budgets, maker
from hush.planning.optimus.question import probability as checked_probability
from hush.planning.optimus.trials import BudgetTrials
from hush.randomness import source

METHODS: dict[str, type[Method]] = {cls.name: cls for cls in (Direct, BS, RBS, DBS, MPass, Bayes)}
"""Every way of searching by name."""


def budget(
    mechanism: object,
    people: object,
    *,
    n: int | None = None,
    loss: str | losses.Own = "kendall",
    threshold: float,
    probability: float = 0.9,
    method: str | Method = "direct",
    epsilon: tuple[float, float] | None = None,
    runs: int | None = None,
    top: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    rng: Any = None,
    progress: Callable[[float], None] | None = None,
    engine: Workers = THREADS,
) -> BudgetAnswer:
    """The smallest epsilon with Pr[loss <= threshold] >= probability.

    Args:
        mechanism: A registered name, a class, or a function of epsilon that makes a mechanism: for frequencies or, with
            the loss "mean", for means, whose range is that of the amounts if `parameters` do not say another.
        people: Counts, one for each value; weights, with n beside them: n people are then drawn anew for every run,
            and the loss compares with the weights; a dataset; or an earlier Estimate, projected and drawn from too.
        n: How many people report, where they are drawn.
        loss: "l1", "l2", "max", "kendall", "f1", "ndcg", "kl", "emd" or "mean" (see `losses`); or a function of the
            true frequencies and one raw estimate that returns a number.
        threshold: The largest loss that is accepted.
        probability: How sure that must be, strictly between 0 and 1.
        method: "direct", "BS", "RBS", "DBS", "MPass" or "Bayes"; or one with its parameters, as in `RBS(g=5)`.
        epsilon: The least and the largest budget to consider; 0.001 and 20 if left out, or what the mechanism takes.
        runs: Simulated collections at a budget, at most; 1000 if left out, and more for "direct", which stops early.
        top: How many of the most frequent values "f1" and "ndcg" look at; 10 if left out.
        parameters: What the mechanism takes besides k and epsilon.
        rng: `hush.seeded(7)` to repeat an answer.
        progress: Is told how far the search has come, from 0 to 1.
        engine: Who simulates: the threads of this machine, or `hush.engine.ray.connect()`; a loss of your own is
            measured here in any case.

    >>> import hush
    >>> answer = budget("OUE", hush.datasets.msnbc(), loss="l1", threshold=0.001, rng=hush.seeded(7))
    >>> answer.feasible, answer.interval[0] <= answer.epsilon <= answer.interval[1]
    (True, True)
    """
    start = time.perf_counter()
    searching = _method(method)
    who = population(people, n)
    name, make, most = maker(mechanism, who, parameters)
    low, high = budgets(epsilon, most)
    loss_name, measure, largest_loss = losses.asked(loss, who, threshold, top)
    question = BudgetQuestion(
        name=name,
        make=make,
        people=who,
        loss=loss_name,
        measure=measure,
        threshold=largest_loss,
        probability=checked_probability(probability),
        low=low,
        high=high,
        threaded=isinstance(loss, str),
    )
    question.mechanism(low)  # a range that the mechanism does not take is refused before anything is simulated
    made = question.mechanism(high)
    trials = BudgetTrials(question, source(rng), progress, engine)
    count = enough_runs(searching.usual_runs(made) if runs is None else runs)
    found = searching.search(trials, count)
    if progress is not None:
        progress(1.0)
    return BudgetAnswer(
        question=question,
        method=searching.name,
        epsilon=found.epsilon,
        refuted=found.refuted,
        confidence=found.confidence,
        evidence=tuple(trials.evidence),
        seconds=time.perf_counter() - start,
    )


def _method(method: object) -> Method:
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    if isinstance(method, (Direct, BS, RBS, DBS, MPass, Bayes)):
        return method
    rule = f"must be one of {', '.join(METHODS)}"
    raise ParameterError(message("method", rule, method, "use e.g. 'direct'"))
