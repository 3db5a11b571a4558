"""Objectives of any mechanism, fronts over parameters and budgets, and the choice of a parameter."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hush
from hush.analysis.reidentification import nearest_profile, profile_match
from hush.errors import ParameterError
from hush.planning.fronts import SELECTORS, front, sweep, tune
from hush.planning.objectives import OBJECTIVES, Setting, measured, objective
from hush.statistics import mean_alarm
from tests.conftest import example


@pytest.mark.parametrize("wanted", OBJECTIVES)
def test_every_objective_of_every_mechanism_is_a_number(name: str, wanted: str) -> None:
    m = example(name, 12, 1.0)
    value = objective(wanted).measure(m, Setting(n=1000, targets=2))
    if name == "LHO" and wanted == "epsilon":
        assert value == math.inf
    else:
        assert 0 < value < math.inf


def test_kinds_are_those_of_equation_22() -> None:
    assert {each.kind for each in OBJECTIVES.values()} == {"P", "U", "S", "C"}


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "OLH", "SHE", "Wheel", "HR"])
@pytest.mark.parametrize(("wanted", "rises"), [("asr", True), ("mse", False), ("mae", False), ("information", False)])
def test_more_budget_means_more_attack_and_less_error(name: str, wanted: str, rises: bool) -> None:
    along = [objective(wanted).measure(example(name, 30, e), Setting(n=500)) for e in (0.25, 0.5, 1.0, 2.0, 3.0, 4.0)]
    assert (np.diff(along) > 0).all() if rises else (np.diff(along) < 0).all()


@pytest.mark.parametrize("people", [1, 2, 7, 40])
@pytest.mark.parametrize("sizes", [[2], [3, 2], [4, 4, 3]])
def test_re_identification_agrees_with_counting_tables(sizes: list[int], people: int) -> None:
    share = 1 / math.prod(sizes)
    others = range(people)
    chance = sum(math.comb(people - 1, j) * share**j * (1 - share) ** (people - 1 - j) / (1 + j) for j in others)
    assert profile_match([0.5] * len(sizes), sizes, people) == pytest.approx(0.5 ** len(sizes) * chance, rel=1e-12)


def test_re_identification_by_the_attack_itself() -> None:
    """Two attributes, reconstructed and matched; false alarm 1 in 10^6 (five standard errors)."""
    first, second = hush.GRR(k=5, epsilon=2.0), hush.OUE(k=4, epsilon=2.0)
    people, rounds, rng = 6, 20_000, hush.seeded(5)
    table = np.stack([rng.integers(0, 5, (rounds, people)), rng.integers(0, 4, (rounds, people))], axis=2)
    guesses = [m.attack(m.privatize(table[:, 0, j], rng=rng), rng=rng) for j, m in enumerate((first, second))]
    fits = (table[:, :, 0] == guesses[0][:, None]) & (table[:, :, 1] == guesses[1][:, None])
    chance = np.where(fits[:, 0], 1 / np.maximum(fits.sum(axis=1), 1), 0.0)  # the right one among those who fit
    expected = profile_match([first.asr(), second.asr()], [5, 4], people)
    assert abs(chance.mean() - expected) < 5 * chance.std() / math.sqrt(rounds)


def test_the_nearest_profile_by_the_attack_itself() -> None:
    """Whoever shares most attributes with the guesses; false alarm 1 in 10^6 (five standard errors)."""
    m, people, rounds, rng = hush.GRR(k=5, epsilon=1.0), 8, 30_000, hush.seeded(6)
    table = rng.integers(0, 5, (rounds, people, 3))
    guesses = np.stack([m.attack(m.privatize(table[:, 0, j], rng=rng), rng=rng) for j in range(3)], axis=1)
    shared = (table == guesses[:, None, :]).sum(axis=2)
    most = shared == shared.max(axis=1, keepdims=True)
    chance = most[:, 0] / most.sum(axis=1)
    expected = nearest_profile([m.asr()] * 3, [5] * 3, people)
    assert abs(chance.mean() - expected) < 5 * chance.std() / math.sqrt(rounds)
    assert expected > 1 / people


def test_no_information_is_a_blind_guess() -> None:
    for people in (1, 3, 1000, 10**9):
        assert nearest_profile([0.01] * 4, [100] * 4, people) == pytest.approx(1 / people, rel=1e-6)


def test_a_unique_profile_in_a_huge_table_is_found_as_often_as_it_is_reconstructed() -> None:
    assert profile_match([0.9] * 40, [1000] * 40, 10**9) == pytest.approx(0.9**40, rel=1e-12)


def test_server_work_counts_counters() -> None:
    assert hush.GRR(k=100, epsilon=1.0).forms.server_work == hush.HR(k=100, epsilon=1.0).forms.server_work == 1
    assert hush.SS(k=100, epsilon=1.0, omega=9).forms.server_work == 9
    assert hush.OLH(k=100, epsilon=1.0).forms.server_work == hush.SHE(k=100, epsilon=1.0).forms.server_work == 100


def test_server_work_given_public_randomness_is_what_reports_touch() -> None:
    """Members of the residues' subsets, as blocks are drawn alike; ones among bits. False alarm 1e-9 for the bits."""
    m = hush.MSS(k=20, epsilon=1.0, moduli=(9, 14))
    residues = sum(m.moduli)
    reports = m.privatize(np.arange(400) % 20, rng=hush.seeded(7))
    blocks, touched = reports["block"], [np.count_nonzero(m.tally(reports[i : i + 1])[:residues]) for i in range(400)]
    means = [np.mean(np.array(touched)[blocks == b]) for b in range(2)]
    assert m.forms.server_work == np.mean(means)
    sketch = hush.CMS(k=20, epsilon=1.0, width=16)
    ones = np.bitwise_count(sketch.privatize(np.arange(20_000) % 20, rng=hush.seeded(7))["bits"]).sum(axis=1)
    assert not mean_alarm(ones.astype(float), sketch.forms.server_work, 16.0)


@pytest.mark.parametrize("design", ["exact", "paper"])
def test_the_front_over_subset_sizes_chooses_what_the_adaptive_one_does(design: str) -> None:
    paper = {"objectives": ("asr", "variance")} if design == "paper" else {}
    found = front(sweep(hush.SS, k=100, epsilon=4.0, omega=range(1, 100)), **paper)
    assert found.points.shape == (99, 2)
    chosen = found.mechanisms[found.select("weighted")]
    assert chosen.omega == hush.ASS(k=100, epsilon=4.0, design=design).omega  # type: ignore[attr-defined]
    assert found.kept[found.select("utopia")]


def test_a_front_over_mechanisms_budgets_and_four_objectives() -> None:
    crowd = [
        *sweep(hush.OUE, k=20, epsilon=[0.5, 1.0]),
        *sweep(hush.GRR, k=20, epsilon=[0.5, 1.0]),
        hush.SHE(k=20, epsilon=0.5),
    ]
    found = front(crowd, ("asr", "mse", "gain", "bits"), Setting(n=1000))
    assert found.kept[2:4].all()  # nothing is shorter than GRR
    for m, row in zip(found.mechanisms, found.points, strict=True):
        assert row.tolist() == measured(m, found.objectives, Setting(n=1000)).tolist()
    assert {found.select(each) for each in SELECTORS if each != "elbow"} <= set(np.nonzero(found.kept)[0].tolist())


def test_one_mechanism_is_its_own_front() -> None:
    found = front([hush.GRR(k=3, epsilon=1.0)])
    assert found.kept.tolist() == [True]
    assert {found.select(each) for each in SELECTORS} == {0}


@pytest.mark.parametrize(
    ("weights", "exact", "grid"), [(None, 0.816129, 0.818182), ([0.5, 0.5], 0.816129, 0.818182), ([0, 1], 0.5, 0.5)]
)
def test_tuning_finds_the_papers_grid_point_and_the_continuous_optimum(
    weights: list[float] | None, exact: float, grid: float
) -> None:
    points, paper = np.linspace(0.5, 1, 100)[:-1], ("asr", "variance")
    make = lambda p: hush.UE(k=100, epsilon=4.0, p=p)  # noqa: E731
    assert tune(make, points, paper, weights=weights, search="grid").p == pytest.approx(grid, abs=1e-6)  # type: ignore[attr-defined]
    assert tune(make, points, paper, weights=weights).p == pytest.approx(exact, abs=1e-5)  # type: ignore[attr-defined]


@pytest.mark.parametrize("w_asr", [0.0, 0.5, 0.9])
def test_tuning_finds_what_the_adaptive_mechanism_chooses(w_asr: float) -> None:
    points = np.linspace(0.5, 1, 100)[:-1]
    found = tune(lambda p: hush.UE(k=100, epsilon=4.0, p=p), points, weights=[w_asr, 1 - w_asr])
    assert found.p == pytest.approx(hush.AUE(k=100, epsilon=4.0, w_asr=w_asr).p, abs=1e-5)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: front([]), "mechanisms"),
        (lambda: front([hush.GRR(k=3, epsilon=1.0)], ("asr",)), "objectives"),
        (lambda: front([hush.GRR(k=3, epsilon=1.0)], ("asr", "asr")), "objectives"),
        (lambda: front([hush.GRR(k=3, epsilon=1.0)], ("asr", "speed")), "objective"),
        (lambda: front([hush.GRR(k=3, epsilon=1.0)]).select("best"), "strategy"),
        (lambda: Setting(n=0), "n"),
        (lambda: Setting(fakes=2.0), "fakes"),
        (lambda: Setting(fakes=math.nan), "fakes"),
        (lambda: Setting(targets=0), "targets"),
        (lambda: Setting(worst=True, frequencies=[0.5, 0.5]), "frequencies"),
        (lambda: tune(lambda p: hush.UE(k=3, epsilon=1.0, p=p), []), "grid"),
        (lambda: tune(lambda p: hush.UE(k=3, epsilon=1.0, p=p), [0.7, 0.6]), "grid"),
        (lambda: tune(lambda p: hush.UE(k=3, epsilon=1.0, p=p), [0.6, 0.7], weights=[0, 0]), "weights"),
        (lambda: tune(lambda p: hush.UE(k=3, epsilon=1.0, p=p), [0.6, 0.7], weights=[1, -1]), "weights"),
        (lambda: tune(lambda p: hush.UE(k=3, epsilon=1.0, p=p), [0.6, 0.7], search="best"), "search"),
    ],
)
def test_bad_input_names_the_parameter(call: object, name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must"):
        call()  # type: ignore[operator]


def test_a_front_of_more_than_four_objectives() -> None:
    """By brute force over all pairs of rows."""
    names = ("asr", "attribute", "pools", "changes", "reidentification", "mse", "gain", "bits")
    given = [example(name, 12, epsilon) for name in ("GRR", "OUE", "SS", "OLH", "HR") for epsilon in (0.5, 1.0, 2.0)]
    found = front(given, names, Setting(n=1000, collections=2, observed=4))
    assert found.points.shape == (15, 8)
    for i, row in enumerate(found.points):
        beaten = any((other <= row).all() and (other < row).any() for other in found.points)
        assert found.kept[i] == (not beaten)
    assert found.kept[found.select("weighted")]
    assert found.kept[found.select("tchebycheff")]


def test_circumstances_of_inference_are_checked() -> None:
    for name, value in (("observed", 1), ("parts", 1), ("parts", 2.5), ("loyalty", -0.1), ("loyalty", math.nan)):
        with pytest.raises(ParameterError, match=name):
            Setting(**{name: value})
