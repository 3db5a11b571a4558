"""What the planner recommends makes sense: for requests of every kind, and for those where it did not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import HushError
from hush.mechanisms.tunable import Choices, Family
from hush.planning import balance, verdicts
from hush.planning.families import tunable
from hush.planning.improvement import at_budget
from hush.planning.measures import meets, number_of, numbers_of
from hush.planning.named import Named
from hush.planning.objectives import OBJECTIVES
from hush.planning.plan import Choice, Plan
from hush.planning.search import tells
from hush.planning.wishes import MATTERS, METRICS, Wishes
from tests.conftest import PURE_NAMES

pytestmark = pytest.mark.slow

REQUESTS, AT_ONCE = 500, 10
RIVALS = 40
LEVELS = tuple(verdicts.WORDS)
QUICK = tuple(name for name, each in OBJECTIVES.items() if each.quick)


def draw_request(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a request that a person might make, or that somebody makes who wants to see what happens."""
    k = int(rng.choice((2, 3, 5, 8, 13, 20, 50, 100, 300, 1000)))
    n = int(10 ** rng.uniform(2, 7))
    metric = str(rng.choice(sorted(METRICS)))
    worst = bool(rng.random() < 0.3)
    asked: dict[str, Any] = {"k": k, "n": n, "metric": metric, "worst": worst}
    if rng.random() < 0.5:
        epsilon = rng.uniform(0.1, 5.0)
        squared = 1 / math.sinh(epsilon / 2) ** 2 / n
        error = {"mse": squared, "mae": math.sqrt(squared * 2 / math.pi), "margin": 1.96 * math.sqrt(squared)}[metric]
        asked["error"] = min(error, 1.0)
    if rng.random() < 0.4:
        asked["max_asr"] = float(np.exp(rng.uniform(math.log(min(1.3 / k, 0.7)), 0.0)))
    if rng.random() < 0.5:
        asked["max_epsilon"] = float(rng.choice((0.2, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0, 20.0)))
    if rng.random() < 0.2:
        asked["max_bits"] = int(rng.integers(k.bit_length(), 200))
    matters = sorted(MATTERS)
    if rng.random() < 0.35:
        names = [name for name in ("error", *QUICK) if k <= 100 or name != "information"]
        chosen = rng.choice(names, rng.integers(2, 6), replace=False).tolist()
        chosen += [] if set(chosen) & set(balance.ERRORS) else ["error"]
        asked["objectives"] = tuple(chosen)
    if not asked.keys() & {"max_asr", "max_epsilon"}:
        matters = [each for each in matters if each not in {"accuracy", "manipulation"}]
    if rng.random() < 0.5:
        asked["matters"] = str(rng.choice(matters))
    return asked


def draw_rival(rng: np.random.Generator, wishes: Wishes, first: Choice) -> hush.FrequencyOracle | None:
    """Draw another mechanism, parameter or smaller budget, at an ε that is no larger."""
    epsilon = first.numbers["epsilon"] * math.exp(-float(rng.exponential(0.3)))
    try:
        if rng.random() < 0.2:
            return at_budget(first.mechanism, epsilon)
        offers = [each for each in tunable(wishes.k) if isinstance(each, Family | Choices)]
        if rng.random() < 0.6:
            offer = offers[rng.integers(len(offers))]
            if isinstance(offer, Family):
                value = offer.written(float(rng.choice(offer.grid(wishes.k))))
            else:
                value = offer.values[rng.integers(len(offer.values))]
            return Named(offer.mechanism, wishes, ((offer.parameter, value),)).make(epsilon)
        return hush.registry()[str(rng.choice(PURE_NAMES))](k=wishes.k, epsilon=epsilon)
    except (HushError, TypeError):
        return None


def assert_sensible(plan: Plan, rng: np.random.Generator) -> None:
    """Assert that nothing is nearly as good and much better in something, and that weaknesses are said first."""
    w, first = plan.wishes, plan.first
    rivals = [choice.mechanism for choice in plan.choices[1:]]
    rivals += [m for m in (draw_rival(rng, w, first) for _ in range(RIVALS)) if m is not None]
    own = LEVELS.index(first.protection)
    for m in rivals:
        epsilon = number_of(m, "epsilon", w)
        if not epsilon <= balance.NEAR * first.numbers["epsilon"] or not meets(m, w):
            continue
        numbers = numbers_of(m, w)
        sound = LEVELS.index(verdicts.protection(epsilon, numbers["asr"], w.k)) <= own and tells(m, w)
        assert not (sound and balance.beats(w, numbers, first.numbers)), (m, numbers, first.numbers)
    sentence = plan.why.partition(". ")[0]
    assert (first.verdict in sentence) == (first.protection != "well"), sentence
    assert first.useful == (not any(each in sentence.lower() for each in ("none tells", "no choice gives"))), sentence
    assert first.numbers["asr"] <= verdicts.MAX_ASR or (w.error is not None and first.protection == "hardly")
    if w.error is None:
        assert first.numbers["epsilon"] <= (1.0 if w.max_epsilon is None else w.max_epsilon)


@pytest.mark.parametrize("chunk", range(REQUESTS // AT_ONCE))
def test_random_requests_get_sensible_recommendations(chunk: int) -> None:
    for i in range(AT_ONCE):
        rng = np.random.default_rng([33, chunk, i])
        asked = draw_request(rng)
        plan = hush.plan(**asked)
        if plan.feasible:
            try:
                assert_sensible(plan, rng)
            except AssertionError as error:
                raise AssertionError(f"hush.plan(**{asked})") from error
