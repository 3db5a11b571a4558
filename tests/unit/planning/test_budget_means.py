"""The budget of a mean: held against the exact law of the estimated total, and against all reports of few people."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning import budget, optimus
from hush.planning.optimus.drawing import estimates
from hush.planning.optimus.population import population
from hush.reports.budget_in_words import meaning, paragraphs

PEOPLE = hush.Population(np.array([3000, 2000, 1500, 500]), hush.Domain(size=4, values=[0.0, 1.0, 2.5, 10.0]))


def kept(m: Any, people: hush.Population, threshold: float) -> float:
    """The exact probability that the mean is off by at most the threshold."""
    law, n, total = m.forms.total_law(people.amounts, people.counts), people.n, people.total
    slack = 1e-9 * n  # what is just off by the threshold counts as within
    return float(law.at_most(total + n * threshold + slack) - law.at_most(total - n * threshold - slack))


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid", "OUE"])
def test_what_is_shown_holds_by_the_exact_law(name: str) -> None:
    """Both claims of an answer are wrong once in twenty searches at most; these seeds' are right."""
    found = budget(name, PEOPLE, loss="mean", threshold=0.3, probability=0.8, rng=hush.seeded(7))
    assert found.epsilon is not None
    assert found.refuted is not None
    assert kept(found.mechanism, PEOPLE, 0.3) >= 0.8 > kept(found.question.mechanism(found.refuted), PEOPLE, 0.3)


@pytest.mark.parametrize("method", ["BS", "RBS", "DBS", "MPass", "Bayes"])
def test_every_search_finds_about_the_same(method: str) -> None:
    found = budget("Piecewise", PEOPLE, loss="mean", threshold=0.3, probability=0.8, method=method, rng=hush.seeded(7))
    assert found.epsilon is not None
    assert abs(kept(found.mechanism, PEOPLE, 0.3) - 0.8) < 0.08  # six deviations of a thousand runs


@pytest.mark.parametrize("name", ["Duchi", "Piecewise"])
def test_draws_are_those_of_all_reports(name: str) -> None:
    """Two people of Duchi, and of a coarse Piecewise: the share within the threshold, six deviations wide."""
    people = hush.Population(np.array([1, 1]), hush.Domain(size=2, values=[0.0, 1.0]))
    m: Any = hush.registry(kind="numeric")[name](low=0.0, high=1.0, epsilon=2.0, steps=1)
    outputs = np.asarray(m.outputs())
    says, chances = m.decode(outputs), m.chances(np.array([0, 1]))
    exact = sum(
        chances[i, 0] * chances[j, 1]
        for i, j in itertools.product(range(outputs.size), repeat=2)
        if abs((says[i] + says[j]) / 2 - 0.5) <= 0.4
    )
    rows = estimates(m, people, 40_000, hush.seeded(7))
    assert rows.shape == (40_000, 1)
    share = float((np.abs(rows[:, 0] - 0.5) <= 0.4).mean())
    assert abs(share - exact) <= 6 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-12


def test_people_who_are_drawn_add_to_the_error() -> None:
    """Both variances fall as one over the number of people: of 700, their difference is as easy to see as of 7000."""
    weights = PEOPLE.frequencies
    drawn = hush.Population(weights, PEOPLE.domain, drawn=700)
    same = hush.Population(PEOPLE.counts // 10, PEOPLE.domain)
    m = hush.Hybrid(low=0.0, high=10.0, epsilon=2.0, steps=20)
    fixed, anew = (estimates(m, people, 3000, hush.seeded(7))[:, 0] for people in (same, drawn))
    spread = float(weights @ (PEOPLE.amounts - PEOPLE.mean) ** 2) / 700
    assert anew.var() - fixed.var() == pytest.approx(spread, abs=6 * 2 * fixed.var() * math.sqrt(2 / 3000))
    many = hush.Population(weights, PEOPLE.domain, drawn=7000)
    found = budget("Hybrid", many, loss="mean", threshold=0.4, rng=hush.seeded(7))
    assert found.feasible


def test_an_oracle_loses_the_mean_of_what_its_frequencies_say() -> None:
    measure = optimus.LOSSES["mean"].build(np.array([0.5, 0.5, 0.0]), 10, 1)
    assert measure(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])).tolist() == [0.0, 1.5]
    people = population(PEOPLE, None)
    assert people.amounts.tolist() == [0.0, 1.0, 2.5, 10.0]


def test_a_range_may_be_wider_than_the_amounts() -> None:
    asked: dict[str, Any] = {"loss": "mean", "threshold": 0.3, "probability": 0.8}
    near = budget("Duchi", PEOPLE, rng=hush.seeded(7), **asked)
    wide = {"low": -10.0, "high": 30.0, "steps": 80}
    far = budget("Duchi", PEOPLE, parameters=wide, rng=hush.seeded(7), **asked)
    assert near.mechanism is not None
    assert (near.mechanism.parameters["low"], near.mechanism.parameters["high"]) == (0.0, 10.0)
    assert far.epsilon is None or (near.epsilon is not None and far.epsilon > near.epsilon)


def test_sentences_speak_of_the_mean() -> None:
    found = budget("Piecewise", PEOPLE, loss="mean", threshold=0.5, rng=hush.seeded(7))
    assert meaning(found.question) == "the mean is off by at most 0.5"
    assert "names the person's value" not in " ".join(paragraphs(found))


def test_other_losses_need_frequencies_and_a_mean_two_amounts() -> None:
    with pytest.raises(ParameterError, match="must estimate frequencies for the loss kendall"):
        budget("Duchi", PEOPLE, threshold=0.3)
    alike = hush.Population(np.array([5, 5]), hush.Domain(size=2, values=[1.0, 1.0]))
    with pytest.raises(ParameterError, match="two different amounts"):
        budget("Duchi", alike, loss="mean", threshold=0.3)
    with pytest.raises(ParameterError, match="parameters must be what Duchi takes"):
        budget("Duchi", PEOPLE, loss="mean", threshold=0.3, parameters={"g": 3})
    words = hush.Population(np.array([5, 5]), hush.Domain(labels=["yes", "no"]))
    with pytest.raises(ParameterError, match="must have values that are amounts"):
        budget("OUE", words, loss="mean", threshold=0.3)
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="threshold"):
            budget("Duchi", PEOPLE, loss="mean", threshold=bad)


def test_a_range_that_does_not_hold_the_amounts_is_refused() -> None:
    with pytest.raises(ParameterError, match="parameters must have low and high that hold all amounts, from 0 to 3"):
        hush.budget("Duchi", [5, 5, 5, 5], loss="mean", threshold=0.5, parameters={"low": 1.0, "high": 3.0})
