"""How many people have more than an amount: the same decision about a count, by enumeration and in words."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning import capacity, capri
from hush.reports.capacity_in_words import decision

AMOUNTS = [0.0, 5.0, 20.0, 60.0]
PEOPLE = [2, 1, 1, 1]


def domain() -> hush.Domain:
    return hush.Domain(size=4, values=AMOUNTS)


def enumerated(m: Any, above: float, cap: float) -> float:
    """The probability that the estimated number does not exceed the cap, over all lists of reports."""
    held = np.repeat(np.arange(4), PEOPLE)
    outputs, more = m.outputs(None), np.array(AMOUNTS) > above
    chances = np.array([[m.weight(y, v) for v in range(4)] for y in outputs], float) / m.denominator
    said = np.array([float(m.decode(m.tally(np.array([y], m.report_dtype)), 1) @ more) for y in outputs])
    found = 0.0
    for reports in itertools.product(range(len(outputs)), repeat=len(held)):
        if sum(said[y] for y in reports) <= cap + 1e-9:
            found += math.prod(chances[y, v] for y, v in zip(reports, held, strict=True))
    return found


@pytest.mark.parametrize("name", ["GRR", "SS"])
@pytest.mark.parametrize(("above", "cap"), [(5.0, 1.0), (19.9, 1.0), (20.0, 2.0), (0.0, 2.0), (59.0, 0.5)])
def test_probabilities_are_those_of_all_reports(name: str, above: float, cap: float) -> None:
    found = capacity(name, PEOPLE, cap=cap, threshold=0.3, domain=domain(), above=above, confirm=0)
    assert found.epsilon is not None
    assert found.total == sum(n for n, a in zip(PEOPLE, AMOUNTS, strict=True) if a > above)
    below = enumerated(hush.registry()[name](k=4, epsilon=found.epsilon), above, cap)
    assert found.probability == pytest.approx(below if found.total > cap else 1 - below, abs=1e-9)
    assert found.above == above
    assert found.to_dict()["above"] == above


def test_a_count_is_a_total_of_ones() -> None:
    counts = [400, 300, 200, 100]
    asked: dict[str, Any] = {"cap": 250, "threshold": 0.02, "confirm": 0}
    ones = hush.Domain(size=4, values=[0, 0, 1, 1])
    plain = capacity("OUE", counts, domain=ones, **asked)
    assert capacity("OUE", counts, domain=domain(), above=5, **asked).epsilon == plain.epsilon
    people = capri.population(counts, domain=domain(), above=5)
    assert (people.total, people.expected, people.n) == (300.0, 300.0, 1000)


def test_clipping_loses_nobody_above() -> None:
    counts = [400, 300, 200, 100]
    whole = capri.population(counts, domain=domain(), above=5)
    clipped = capri.population(counts, domain=domain(), most=20, above=5)
    assert (clipped.total, clipped.expected, clipped.clipped, clipped.k) == (whole.total, whole.total, 100, 3)
    with pytest.raises(ParameterError, match="above must be from 0 on, below 20"):
        capri.population(counts, domain=domain(), most=20, above=20)


@pytest.mark.parametrize("above", [math.nan, math.inf, "x", None, True, -1, 60, 1e9, [1, 2]])
def test_amounts_that_tell_nobody_apart_are_refused(above: Any) -> None:
    if above is None:
        assert capacity("GRR", PEOPLE, cap=30, threshold=0.3, domain=domain(), confirm=0).above is None
        return
    with pytest.raises(ParameterError, match="above must be"):
        capacity("GRR", PEOPLE, cap=1, threshold=0.3, domain=domain(), above=above)


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid"])
def test_means_count_nobody(name: str) -> None:
    with pytest.raises(ParameterError, match="must estimate frequencies, to count people above an amount"):
        capacity(name, PEOPLE, cap=1, threshold=0.3, domain=domain(), above=5)


def test_first_rounds_and_histories_count_too() -> None:
    counts = np.array([4000, 3000, 2000, 1000])
    asked: dict[str, Any] = {"cap": 2500, "threshold": 0.05, "above": 5, "domain": domain(), "rng": hush.seeded(7)}
    found = capri.first_round("OUE", counts, first=1.0, confirm=0, **asked)
    assert found.above == 5
    assert found.truth is not None
    assert found.truth.total == 3000
    assert abs(found.total - 3000) < 6 * 10_000**0.5 * 2
    steps = capri.over_time("OUE", [counts, counts[::-1]], first=1.0, **asked)
    assert [step.total for step in steps] == [3000.0, 7000.0]
    assert steps[1].planned is not None
    assert steps[1].outcome == "tp"


def test_sentences_speak_of_people_above() -> None:
    found = capacity("GRR", [400, 300, 200, 100], cap=250, threshold=0.1, domain=domain(), above=5, confirm=0)
    said = decision(found)[0]
    assert "the true number of people above 5, 300, exceeds the limit of 250" in said
    assert "total" not in said
    assert "whose number above 5 of 300 exceeds the cap of 250" in str(found)
