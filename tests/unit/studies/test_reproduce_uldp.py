"""The study of utility-optimized privacy made again: its people, its two readings, its runs and its checks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import norm

import hush
from hush.utility import BalancedLH, UtilityOracle, theory, total_error, uHR, uLH, uRAP, uSS, uUE
from hush_studies import Part, Table, studies
from hush_studies.uldp import (
    checks_together,
    computed,
    curves,
    empirical,
    measured,
    panels,
    people,
    readings,
    runs,
    together,
)
from tests.reproduced import small_tables, unsound

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduce_uldp")]  # one process computes the tables
ULDP = studies()["uldp"]
RARE = 1e-9
"""The chance of a false alarm of each statistical test here."""


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[Table, float]]:
    return small_tables(ULDP.parts)


@pytest.fixture(scope="module")
def tables(told: dict[str, tuple[Table, float]]) -> dict[str, Table]:
    return {name: table for name, (table, _) in told.items()}


# What the study holds.


def test_the_study_has_all_figures() -> None:
    wanted = [
        *(f"figure-{i}" for i in (1, 3, 4, 5, 6)),
        "table-2",
        *(f"figure-{i}" for i in (7, 8, 9)),
        "true-loss",
        "theorem-6",
    ]
    assert [part.id for part in ULDP.parts] == wanted
    assert [part.id for part in ULDP.parts if not part.empirical] == ["figure-1", "figure-3", "true-loss"]


@pytest.mark.parametrize("part", ULDP.parts, ids=lambda part: part.id)
def test_every_part_computes_draws_and_checks(part: Part, told: dict[str, tuple[Table, float]]) -> None:
    table, progress = told[part.id]
    assert progress == pytest.approx(1.0)
    assert Table.read(table.csv()).rows == table.rows
    assert isinstance(part.draw(table), Figure)
    found = part.check(table)
    assert found
    assert [check for check in found if not check.passed] == []
    assert unsound(found) == []


def test_known_numbers(tables: dict[str, Table]) -> None:
    found = {check.claim: check for part in ULDP.parts for check in part.check(tables[part.id])}
    for claim, verdict in {
        "Census, ε = 0.5: p of uRAP": "matches",
        "Census, ε = 5: p of uUE": "differs",
        "Normal, ε = 0.5: z* of uUE": "matches",
        "MSE of uUE over uRAP": "differs",
        "MSE of uHR over that of uSS": "not told by the paper",
        "uHR, from ε = 3.5 to 5: MSE at 5 over that at 3.5": "not told by the paper",
        "MAE of uUE over uLH": "not told by the paper",
        "measured MSE is the exact variance": "ours against ours",
        "uLH with the printed z: true loss beyond ε": "differs",
        "uWheel with the printed z: true loss beyond ε": "differs",
    }.items():
        assert found[claim].verdict == verdict, claim
    less = "equation 28: error of uUE over that of uRAP"
    assert found[f"Normal, ε = 0.5, {less}"].computed == "3878 against 3664"
    assert found[f"Foursquare, ε = 0.5, {less}"].computed == "428 against 401"
    assert "57.5" in found["s = 25, θ = 0.95, ε = 5: equation 49: distance from the best g"].computed


def test_what_depends_on_hadamard_response_or_on_made_up_people_is_not_told(tables: dict[str, Table]) -> None:
    """Nothing about uHR, MAE, F1 or NDCG is ever said to match the paper or to differ from it."""
    found = [check for part in ULDP.parts for check in part.check(tables[part.id])]
    loose = [check for check in found if any(word in check.claim for word in ("uHR", "MAE of u", "F1", "NDCG"))]
    assert len(loose) == 14
    assert {check.verdict for check in loose} == {"not told by the paper"}


def test_table_2_is_read_in_two_ways_and_judged_in_neither(tables: dict[str, Table]) -> None:
    part = ULDP.part("table-2")
    assert part is not None
    average, first = part.check(tables["table-2"])[-2:]
    assert [check.verdict for check in (average, first)] == ["not told by the paper"] * 2
    assert (len(average.numbers), average.holds, average.computed[:7]) == (12, False, "2 of 12")
    assert (len(first.numbers), first.holds, first.computed[:8]) == (12, True, "12 of 12")


@pytest.mark.parametrize(("name", "column"), [("figure-4", "mse"), ("figure-8", "mae"), ("table-2", "off")])
def test_runs_that_break_their_law_do_not_pass(name: str, column: str, tables: dict[str, Table]) -> None:
    """One cell far from where it should be."""
    part, table = ULDP.part(name), tables[name]
    assert part is not None
    rows, at = [list(row) for row in table.rows], table.columns.index(column)
    rows[5][at] += 40 * rows[5][table.columns.index(f"{column}_stderr")]  # type: ignore[operator]
    wrong = Table(table.columns, [tuple(row) for row in rows])
    failed = [check for check in part.check(wrong) if not check.passed]
    assert len(failed) == 1
    assert failed[0].verdict == "ours against ours"


# People.


@pytest.mark.parametrize(
    ("name", "n", "k", "s", "theta"),
    [
        ("Foursquare", 419_959, 625, 25, 0.95),
        ("Census", 2_458_285, 1200, 424, 0.56),
        ("Drug", 215_063, 10, 3, 0.78),
        ("Normal", 99_732, 1000, 230, 0.77),
        ("MSNBC", 989_818, 17, 4, 0.91),
        ("Adult age", 48_842, 100, 35, 0.96),
    ],
)
def test_people_have_the_shapes_that_are_printed(name: str, n: int, k: int, s: int, theta: float) -> None:
    crowd = people.people(name)
    assert (crowd.n, crowd.setting.k, crowd.setting.s) == (n, k, s)
    assert round(crowd.theta, 2) == theta
    assert crowd.frequencies.sum() == pytest.approx(1.0)
    assert bool(crowd.source) == (name in people.REAL)  # those that were made up have no source


def test_sensitive_values_are_the_named_ones() -> None:
    pages, ages = hush.datasets.msnbc(), people.people("Adult age")
    assert [pages.domain.labels[i] for i in people.people("MSNBC").sensitive] == [
        "opinion",
        "health",
        "business",
        "bbs",
    ]
    assert ages.sensitive == tuple(range(65, 100))


def test_a_share_of_sensitive_values_grows_from_the_own_ones() -> None:
    crowd = people.people("Drug")
    sizes = [crowd.with_share(share).sensitive for share in empirical.SHARES]
    assert [len(each) for each in sizes] == list(range(1, 11))
    assert all(set(less) < set(more) for less, more in itertools.pairwise(sizes))
    assert sizes[2] == crowd.sensitive
    assert crowd.with_share(1.0).theta == 0.0


# Readings.


def test_the_paper_is_read_as_printed() -> None:
    normal = people.MechanismSetting(1000, tuple(range(230)), 0.77)
    sets, bits, hashed = (readings.paper(name, normal, 0.5) for name in readings.PROPOSED)
    assert isinstance(sets, uSS)
    assert sets.omega == 87
    assert isinstance(bits, uUE)
    assert bits.p == pytest.approx(0.500130, abs=1e-6)
    assert isinstance(hashed, uLH)
    assert hashed.g == 3
    assert [round(u.z_star, 4) for u in (sets, bits, hashed)] == [0.197, 0.0028, 0.1791]
    assert all(readings.paper(name, normal, 0.5).z == "paper" for name in readings.MECHANISMS)
    rappor = readings.paper("uRAP", normal, 0.5)
    assert isinstance(rappor, uRAP)
    assert rappor.z_star == pytest.approx(1 - math.exp(-0.25))
    assert readings.made("uSS", "without z", normal, 0.5).z == "none"
    hadamard = readings.paper("uHR", normal, 0.5)
    assert isinstance(hadamard, uHR)
    assert hadamard.blocks == 1


@pytest.mark.parametrize("name", readings.MECHANISMS)
@pytest.mark.parametrize(
    "at", [people.MechanismSetting(6, (0, 1, 2), 0.6), people.MechanismSetting(40, tuple(range(12)), 0.9)], ids=str
)
def test_ours_keeps_epsilon_and_is_no_worse_than_what_does(name: str, at: people.MechanismSetting) -> None:
    for epsilon in (0.5, 2.0):
        u, printed = readings.ours(name, at, epsilon), readings.paper(name, at, epsilon)
        assert u.exact_epsilon() <= epsilon * (1 + 1e-12)
        safe = printed.exact_epsilon() <= epsilon * (1 + 1e-12)
        assert safe == (name not in ("uLH", "uWheel"))
        if safe:
            assert total_error(u, at.theta) <= total_error(printed, at.theta) * (1 + 1e-9)


@pytest.mark.parametrize("name", readings.MECHANISMS)
def test_one_sensitive_value_and_all_of_them_are_read_too(name: str) -> None:
    for reading in readings.READINGS:
        one = readings.made(name, reading, people.MechanismSetting(5, (2,), 0.8), 1.0)
        every = readings.made(name, reading, people.MechanismSetting(5, tuple(range(5)), 0.0), 1.0)
        assert (one.s, every.s) == (1, 5)
        assert str(every.guarantee) == "1-LDP"


def test_true_losses_are_those_of_the_errata(tables: dict[str, Table]) -> None:
    rows = tables["true-loss"].where(reading="paper", mechanism="uLH", people="Foursquare", epsilon=2.0)
    u = readings.paper("uLH", people.people("Foursquare").setting, 2.0)
    assert isinstance(u, uLH)
    assert u.g is not None
    assert rows.numbers("true_epsilon")[0] == pytest.approx(theory.true_loss_hashing(25, 2.0, u.g), abs=1e-7)
    assert rows.numbers("true_epsilon")[0] > 2.4


def test_bits_of_hashing_are_counted_with_and_without_the_hash_function() -> None:
    u = uLH(k=20, epsilon=1.0, sensitive=tuple(range(10)), g=4, z="paper", reveal="pair")
    assert computed.plain_bits(u) == 6  # 4 + 10 + 40 outputs
    assert u.bits > 60
    assert (
        computed.plain_bits(uSS(k=20, epsilon=1.0, sensitive=tuple(range(10)), omega=3, reveal="pair")) == 11
    )  # 120 + 10 + 1200 outputs


# Runs.

SENSITIVE = (1, 2, 4, 5, 7)
COUNTS = np.array([30, 5, 60, 10, 0, 25, 3, 40, 20])
BATCHED: list[UtilityOracle] = [
    uSS(k=9, epsilon=1.0, sensitive=SENSITIVE, omega=2, reveal="pair"),
    uSS(k=9, epsilon=2.0, sensitive=SENSITIVE, omega=1, reveal="alone"),
    uLH(k=9, epsilon=1.0, sensitive=SENSITIVE, g=2, z="balanced", reveal="alone"),
    uLH(k=9, epsilon=2.0, sensitive=SENSITIVE, g=3, z="balanced", reveal="pair"),
    uHR(k=9, epsilon=1.0, sensitive=SENSITIVE, blocks=2),
    uHR(k=9, epsilon=1.0, sensitive=SENSITIVE, z="paper"),
]


def exact_covariance(u: UtilityOracle) -> np.ndarray:
    """Of the estimate, from all outputs of one report and their exact weights."""
    outputs = u.outputs()
    told = np.stack([u.decode(u.tally(y[None]), 1) for y in outputs])
    total = np.zeros((u.k, u.k))
    for value, number in enumerate(COUNTS):
        law = np.array([u.copies(y) * u.weight(y, value) / u.denominator for y in outputs])
        mean = law @ told
        total += number * ((told * law[:, None]).T @ told - np.outer(mean, mean))
    return total / COUNTS.sum() ** 2


@pytest.mark.parametrize("u", BATCHED, ids=repr)
def test_runs_drawn_at_once_have_the_law_of_the_reports(u: UtilityOracle) -> None:
    """Means, variances and covariances over 1,500 runs: 9 + 45 normal scores, at 1e-9 in all.

    Over hash functions outputs cannot be listed: there, 200 runs drawn one at a time stand for the exact law.
    """
    many, n, limit = 1_500, int(COUNTS.sum()), float(norm.isf(RARE / (2 * 54)))
    found = runs.estimates(u, COUNTS, many, hush.seeded(7))
    exact = u.variances(COUNTS / n, n)
    assert (np.abs(found.mean(axis=0) - COUNTS / n) <= limit * np.sqrt(exact / many) + 1e-12).all()
    if isinstance(u, uLH):
        single = np.stack([u.decode(u.simulate(COUNTS, rng=hush.seeded([8, i])).tally, n) for i in range(200)])
        expected, noise = np.cov(single.T), math.sqrt(2 / 200 + 2 / many)
    else:
        expected, noise = exact_covariance(u), math.sqrt(2 / many)
        assert np.diag(expected) == pytest.approx(exact, rel=1e-6, abs=1e-12)
    scale = np.sqrt(np.outer(exact, exact)) * noise + 1e-12
    assert (np.abs(np.cov(found.T) - expected) <= limit * scale).all()
    assert np.diag(np.cov(found.T)) == pytest.approx(exact, rel=limit * math.sqrt(2 / many), abs=1e-12)


def test_buckets_of_uneven_sizes_are_drawn_by_size() -> None:
    """s = 5 and g = 2: buckets of 3 and of 2 values, whose tallies are supports of whole buckets."""
    base = BalancedLH(k=5, epsilon=1.0, g=2)
    drawn = runs._buckets(base, np.full((300, 5), 20), 300, hush.seeded(7))
    assert set(drawn.sum(axis=1) // 200) == {1}  # from 2 to 3 members a report
    assert (drawn.sum(axis=1) >= 200).all()
    assert (drawn.sum(axis=1) <= 300).all()


def test_runs_repeat_by_seed_alone() -> None:
    first = measured.measured.__wrapped__("uLH", "ours", "Drug", 2.0, 5, 7)
    assert measured.measured.__wrapped__("uLH", "ours", "Drug", 2.0, 5, 7) == first
    assert measured.measured.__wrapped__("uLH", "ours", "Drug", 2.0, 5, 8).mse != first.mse


def test_frequent_values() -> None:
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    both = np.stack([truth, truth[::-1]])
    assert [each.tolist() for each in measured.frequent(both, truth, top=2)] == [[1.0, 0.0], [pytest.approx(1.0), 0.0]]
    swapped = measured.frequent(np.array([[0.3, 0.4, 0.2, 0.1]]), truth, top=2)
    discount = 1 / math.log2(3)
    assert swapped == (1.0, pytest.approx((1 + 2 * discount) / (2 + discount)))


# Collaborative sampling.


def test_what_the_first_people_tell_has_the_law_that_table_2_is_held_against() -> None:
    """400 runs of Drug: the mean of |error| and the mean itself, at 1e-9 each."""
    found = together.told("uSS", "paper", "Drug", 1.0, 400, 7)
    crowd = people.people("Drug")
    star, mean = together.law("uSS", "paper", crowd, 1.0)
    error = (found.theta - crowd.theta) / crowd.theta
    spread = mean * math.sqrt(math.pi / 2)
    limit = float(norm.isf(RARE / 2))
    assert abs(error.mean()) < limit * spread / 20
    assert abs(np.abs(error).mean() - mean) < limit * spread * math.sqrt(1 - 2 / math.pi) / 20
    assert star == pytest.approx(readings.paper("uSS", people.MechanismSetting(10, (0, 1, 2), 0.0), 1.0).z_star)


def test_all_reports_together_beat_the_rest_alone() -> None:
    """Where ε is large, who was drawn matters more than noise."""
    ours, paper = (together.told("uSS", reading, "Drug", 5.0, 60, 7) for reading in ("ours", "paper"))
    assert paper.mse.mean() > 1.3 * ours.mse.mean()
    assert paper.mse.mean() > 1.3 * paper.mse_rest.mean()


def test_table_2_is_whole() -> None:
    assert set(checks_together.PRINTED) == set(readings.PROPOSED)
    assert all(len(each) == len(people.SYNTHETIC) for each in checks_together.PRINTED.values())


# Drawings.


def test_no_error_of_collaborative_sampling_is_cut_off(tables: dict[str, Table]) -> None:
    table = tables["figure-6"]
    ratio = table.numbers("mse") / table.numbers("mse_known")
    figure = panels.estimated(table)
    limits = np.array([axes.get_ylim() for axes in figure.axes])
    assert limits[:, 0].min() < ratio.min()
    assert limits[:, 1].max() > ratio.max()
    for axes in figure.axes:
        shown = np.concatenate([np.asarray(line.get_ydata(), np.float64) for line in axes.lines])
        assert axes.get_ylim()[0] <= shown.min()
        assert shown.max() <= axes.get_ylim()[1]


def test_ratios_beyond_a_panel_are_marked(tables: dict[str, Table]) -> None:
    table = tables["figure-5"]
    figure = curves.shares(table)
    base = {
        (row[0], row[5]): row[table.columns.index("mse_expected")]
        for row in table.where(reading="paper", mechanism="uSS").rows
    }
    ratio = [row[table.columns.index("mse_expected")] / base[row[0], row[5]] for row in table.rows]  # type: ignore[operator]
    marked = sum(
        np.size(line.get_xdata())
        for axes in figure.axes
        for line in axes.lines
        if not line.get_clip_on() and line.get_marker() in ("^", "v")
    )
    assert marked == sum(each > 14 or each < 0.4 for each in ratio)


def test_f1_and_ndcg_have_standard_errors(tables: dict[str, Table]) -> None:
    table = tables["figure-9"]
    runs = table.numbers("runs")
    for name in ("f1", "ndcg"):
        mean, error = table.numbers(name), table.numbers(f"{name}_stderr")
        assert (error >= 0).all()
        assert (error <= np.sqrt(mean * (1 - mean) / (runs - 1)) + 1e-9).all(), "of numbers between 0 and 1"
    assert all(0 < axes.get_ylim()[0] < axes.get_ylim()[1] < 1 for axes in curves.tops(table).axes)


def test_theorem_6_holds_for_those_that_it_speaks_of(tables: dict[str, Table]) -> None:
    table = tables["theorem-6"]
    for name in ("uSS", "uUE", "uLH"):
        over = table.where(mechanism=name).numbers("mse") / table.where(mechanism=name).numbers("rate")
        assert (over > 1).all()
        assert over.max() < 2 * over.min()
    worse = table.where(mechanism="uRR", epsilon=0.5)
    over = worse.numbers("mse") / worse.numbers("rate")
    assert over[-1] / over[0] > 0.8 * worse.numbers("s")[-1] / worse.numbers("s")[0]
