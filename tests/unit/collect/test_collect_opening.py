"""The planner before a collection opens: margins that hold in simulations, and numbers that would do when taken."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hush
from hush.collect.opening import OpeningVerdict, budget_of, expected, verdict, with_budget
from hush.errors import Message, ParameterError
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec

RATE = 1e-9  # of a false alarm, a test
_SAID = ("k", "sizes", "low", "high", "sensitive")  # what whoever makes a spec says beside its budget
_LONGITUDINAL, _TUPLES = registry("longitudinal"), registry("multidim")

SPECS = {
    "OUE": Spec(hush.OUE(k=50, epsilon=0.5)),
    "OLH": Spec(hush.OLH(k=50, epsilon=0.5)),
    "HR, whose values differ": Spec(hush.HR(k=50, epsilon=0.5)),
    "uSS, ten sensitive": Spec(registry()["uSS"](k=50, epsilon=0.5, sensitive=tuple(range(10)))),
    "a mean": Spec(hush.Piecewise(low=0.0, high=1.0, epsilon=0.5)),
    "SMP": Spec(_TUPLES["SMP"](sizes=(4, 30), epsilon=0.5)),
    "RSFD": Spec(_TUPLES["RSFD"](sizes=(4, 30), epsilon=0.5)),
    "LGRR": Spec(_LONGITUDINAL["LGRR"](k=5, epsilon_permanent=2.0, epsilon_report=1.0)),
    "LOSUE": Spec(_LONGITUDINAL["LOSUE"](k=50, epsilon_permanent=1.0, epsilon_report=0.5)),
    "Memoized": Spec(_LONGITUDINAL["Memoized"](mechanism=hush.OUE(k=50, epsilon=0.5))),
    "LSMP": Spec(_LONGITUDINAL["LSMP"](sizes=(4, 30), epsilon_permanent=1.0, epsilon_report=0.5)),
}


def _judged(spec: Spec, n: int | None, error: float | None = 0.02) -> OpeningVerdict:
    return verdict(spec, target_n=n, wished_error=error)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("error", [0.02, None])
def test_what_it_says_would_do_does(spec: Spec, error: float | None) -> None:
    n = 10 if error is None else 100
    found = _judged(spec, n, error)
    assert not found.fits
    assert found.enough_n is not None
    assert found.enough_epsilon is not None
    assert _judged(spec, found.enough_n, error).fits
    assert not _judged(spec, found.enough_n - 1, error).fits
    other = Spec(with_budget(spec.mechanism, found.enough_epsilon), spec.domain)
    assert budget_of(other.mechanism) == found.enough_epsilon
    assert _judged(other, n, error).fits
    less = Spec(with_budget(spec.mechanism, found.enough_epsilon * 0.98), spec.domain)
    assert not _judged(less, n, error).fits
    assert isinstance(found.said, Message)
    assert f"{found.enough_n:,}" in found.said
    assert _as_told(spec.mechanism, found.said.remedy) == other.mechanism


def _as_told(m: Any, remedy: str) -> Any:
    """The mechanism that somebody makes who does what a remedy says, and changes nothing else."""
    told = {name: float(value) for name, value in re.findall(r"(epsilon\w*) = ([\d.]+)", remedy)}
    if isinstance(m.parameters.get("mechanism"), Collected):
        inner = m.parameters["mechanism"]
        return type(m)(mechanism=type(inner)(k=inner.k, epsilon=told["epsilon_permanent"]))
    known = {name: value for name, value in m.parameters.items() if name in _SAID}
    assert told.keys() == {name for name in m.parameters if name.startswith("epsilon")}
    return type(m)(**{**known, **told})


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_without_a_target_it_asks_for_one(spec: Spec) -> None:
    found = _judged(spec, None)
    assert not found.fits
    assert found.said.parameter == "target_n"
    assert found.said.value == "nothing"
    assert found.enough_n is not None
    assert _judged(spec, found.enough_n).fits


@pytest.mark.parametrize("name", ["OUE", "OLH", "HR, whose values differ", "uSS, ten sensitive"])
def test_an_empty_value_stays_within_the_margin_in_95_of_100_collections(name: str, thorough: bool) -> None:
    """Each simulated collections counts as inside or not: binomial, both tails together at 1e-9."""
    spec, n, runs = SPECS[name], 5_000, 2_000 if thorough else 800
    m, rng = spec.mechanism, hush.seeded(17)
    counts = np.full(m.k, n // (m.k - 1))
    counts[0], counts[-1] = 0, n - counts[1:-1].sum()
    margin = expected(spec, n)[0].margin
    inside = sum(abs(spec.estimate(spec.simulate(counts, rng=rng)).frequencies[0]) <= margin for _ in range(runs))
    law = stats.binom(runs, 0.95)
    low, high = law.ppf(RATE / 2), law.ppf(1 - RATE / 2)
    assert low - 0.01 * runs <= inside <= high + 0.01 * runs  # the normal law is within a hundredth here


def test_the_margin_is_half_of_the_interval_that_an_analyst_gets() -> None:
    spec, n = SPECS["OUE"], 20_000
    counts = np.full(50, n // 49)
    counts[0], counts[-1] = 0, n - counts[1:-1].sum()
    low, high = spec.estimate(spec.simulate(counts, rng=hush.seeded(1))).interval(0.95, method="normal")
    assert (high[0] - low[0]) / 2 == pytest.approx(expected(spec, n)[0].margin, rel=0.02)


def test_every_attribute_counts_by_itself() -> None:
    mechanism = _TUPLES["SMP"](sizes=(2, 40), epsilon=1.0)
    spec = Spec(mechanism, {"smokes": hush.Domain(size=2), "town": hush.Domain(size=40)})
    found = _judged(spec, 2_000, None)
    assert [each.attribute for each in found.margins] == ["smokes", "town"]
    assert [each.limit for each in found.margins] == [1 / 2, 1 / 40]
    assert [each.drowns for each in found.margins] == [False, True]
    assert not found.fits
    assert "of town" in found.said


def test_of_values_that_are_not_protected_nothing_is_asked() -> None:
    few, many = (registry()["uSS"](k=50, epsilon=0.5, sensitive=tuple(range(s))) for s in (10, 40))
    assert expected(Spec(few), 1_000)[0].margin < expected(Spec(many), 1_000)[0].margin
    assert not _judged(Spec(few), 1_000).fits  # though the others are shown almost as they are


def test_a_mean_is_judged_in_its_own_unit_and_by_half_its_range() -> None:
    spec = Spec(hush.Duchi(low=0.0, high=100.0, epsilon=1.0))
    assert expected(spec, 100)[0].limit == 50.0
    assert _judged(spec, 100_000, 1.0).fits
    assert not _judged(spec, 100, 1.0).fits
    assert not _judged(spec, 1, None).fits
    assert _judged(spec, 1_000, None).fits
    never = _judged(spec, 2, 1.0)  # even without noise this mechanism rounds to the ends of the range
    assert never.enough_epsilon is None
    assert "epsilon" not in never.said.remedy


def test_a_mechanism_without_a_budget_has_none_to_change() -> None:
    spec = Spec(registry()["LHO"](k=50, g=4))
    found = _judged(spec, 10)
    assert budget_of(spec.mechanism) is None
    assert found.enough_epsilon is None
    assert found.enough_n is not None


def test_what_a_mechanism_chose_it_chooses_anew_and_what_was_set_stays() -> None:
    assert with_budget(hush.OLH(k=50, epsilon=0.5), 3.0) == hush.OLH(k=50, epsilon=3.0)
    assert with_budget(hush.LH(k=50, epsilon=0.5, g=9), 3.0) == hush.LH(k=50, epsilon=3.0, g=9)
    assert with_budget(hush.SS(k=50, epsilon=0.5, omega=7), 3.0).omega == 7
    over_time = with_budget(_LONGITUDINAL["LOSUE"](k=5, epsilon_permanent=2.0, epsilon_report=0.5), 4.0)
    assert (over_time.epsilon_permanent, over_time.epsilon_report) == (4.0, 1.0)


@pytest.mark.parametrize("n", [0, -1, 1.5, math.nan, math.inf, "many", True])
def test_a_target_that_is_no_number_of_people_is_refused(n: object) -> None:
    with pytest.raises(ParameterError) as refused:
        _judged(SPECS["OUE"], n)  # type: ignore[arg-type]
    assert refused.value.parameter == "target_n"


@pytest.mark.parametrize("error", [0, -0.1, math.nan, math.inf, "small"])
def test_an_error_that_is_no_positive_number_is_refused(error: object) -> None:
    with pytest.raises(ParameterError) as refused:
        _judged(SPECS["OUE"], 100, error)  # type: ignore[arg-type]
    assert refused.value.parameter == "wished_error"


def test_it_is_plain_data() -> None:
    found = _judged(SPECS["SMP"], 100).to_dict()
    assert found["fits"] is False
    assert found["margins"][0].keys() == {"attribute", "margin", "limit"}
