"""Planning from a mean alone, held against all people who have it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hush
from hush.errors import ParameterError
from hush.exact.thresholds import SCALE
from hush.mechanisms.numeric.estimate import MeanEstimate
from hush.people import Domain, Population
from hush.planning import capacity, capri
from hush.planning.capri.means import OnlyMean, _bridge
from hush.planning.capri.question import question
from hush.planning.capri.who import tried_for
from hush.reports.capacity_in_words import decision
from hush.reports.history_in_words import told

MEANS = ("Duchi", "Piecewise", "Hybrid")
WATER = np.rint(980 * np.exp(-0.5 * ((np.arange(21) - 9) / 4) ** 2)).astype(int)
TOTAL = int(np.arange(21) @ WATER)
CAP = int(0.9 * TOTAL)


def domain(*amounts: float) -> Domain:
    return Domain(size=len(amounts), values=list(amounts))


def everybody(n: int, amounts: tuple[float, ...], total: float) -> Iterator[npt.NDArray[np.float64]]:
    """All people, one by one, with a total."""
    for held in combinations_with_replacement(amounts, n):
        if math.isclose(sum(held), total, abs_tol=1e-9):
            yield np.array(held)


def made(name: str, epsilon: float, amounts: tuple[float, ...], steps: int) -> Any:
    return getattr(hush, name)(low=min(amounts), high=max(amounts), epsilon=epsilon, steps=steps)


def wrong(m: Any, held: npt.ArrayLike, cap: float) -> float:
    """How likely the estimated total of people is on the other side of the cap."""
    amounts, counts = np.unique(np.asarray(held), return_counts=True)
    at_most = m.forms.total_law(amounts, counts).at_most(cap)
    return float(at_most if amounts @ counts > cap else 1 - at_most)


def of_coins(m: hush.Duchi, held: npt.ArrayLike, cap: float) -> tuple[float, float]:
    """The same for Duchi, person by person, and how many ones the nearest wrong number is away from the expected."""
    chances = [m.base / SCALE + m.slope / SCALE * (x - m.low) * m.steps / m.width for x in np.asarray(held)]
    law = np.ones(1)
    for p in chances:
        law = np.convolve(law, [1 - p, p])
    zero, one = (float(x) for x in m._says)
    ones = np.arange(law.size)
    totals = m.low * len(chances) + m.width / m.steps * (len(chances) * zero + ones * (one - zero))
    over = sum(np.asarray(held)) > cap
    bad = totals <= cap if over else totals > cap
    return float(law[bad].sum()), float(np.abs(ones[bad] - sum(chances)).min(initial=math.inf))


def held_by(people: Population) -> npt.NDArray[np.float64]:
    return np.repeat(people.amounts, people.counts)


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_moments_of_a_report_are_those_of_its_outputs(name: str, epsilon: float) -> None:
    m = made(name, epsilon, (-1.0, 2.0), 3)
    amounts = np.array([-1.0, 0.0, 0.3, 1.5, 2.0])  # on the grid, and between
    law = m.forms.chances(amounts)
    says = m.low + m.width / m.steps * m.decode(m.outputs())
    variance, third = m.forms.central(amounts)
    for i, amount in enumerate(amounts):
        assert law[:, i] @ says == pytest.approx(amount, abs=1e-9)
        assert law[:, i] @ (says - amount) ** 2 == pytest.approx(variance[i], rel=1e-9)
        assert law[:, i] @ (says - amount) ** 3 == pytest.approx(third[i], rel=1e-7, abs=1e-7 * variance[i] ** 1.5)


@pytest.mark.parametrize("epsilon", [0.2, 0.6, 0.7, 2.0, 6.0])
def test_variances_are_linear_in_squares(epsilon: float) -> None:
    """With the slopes that the module states, Hybrid's from the choice of the two."""
    away = (np.arange(9) - 4.0) ** 2
    duchi, piecewise, hybrid = (made(name, epsilon, (0.0, 8.0), 8) for name in MEANS)
    blind = Fraction(SCALE - piecewise.keep, SCALE) * piecewise.size / piecewise.outside
    odds, choose = float(blind / (1 - blind)), hybrid.choose / SCALE
    slopes = {duchi: -1.0, piecewise: odds, hybrid: choose * odds - (1 - choose)}
    for m, slope in slopes.items():
        found = m.forms.central(np.arange(9.0))[0]
        assert found - found[4] == pytest.approx(slope * away, rel=1e-6, abs=1e-9 * found[4])
    assert slopes[duchi] < 0 < slopes[piecewise]
    assert slopes[hybrid] == (-1.0 if epsilon < 0.61 else pytest.approx(0.0, abs=0.01))


@pytest.mark.parametrize("amounts", [(0, 1, 2, 3), (0, 1, 2, 3, 4), (0, 10, 300), (-2, 0.5, 1, 7), (0.1, 0.2, 0.3)])
def test_nobody_is_more_alike_or_farther_apart(amounts: tuple[float, ...]) -> None:
    """In the sense of all convex functions: of sums over people of |x - a|, for every a."""
    n, seen = 5, 0
    for total in {round(sum(held), 9) for held in combinations_with_replacement(amounts, n)}:
        known = OnlyMean(n, total, domain(*amounts))
        even, apart = held_by(known.even), held_by(known.apart)
        assert known.total == pytest.approx(total, abs=1e-9)
        assert even.size == apart.size == n
        for crowd in (even, apart):
            assert crowd.sum() == pytest.approx(total, abs=1e-9)
            assert min(amounts) <= crowd.min() <= crowd.max() <= max(amounts)
            assert sum(x not in amounts for x in crowd) <= 1
        places = np.linspace(min(amounts), max(amounts), 29)
        least, most = (np.abs(crowd[:, None] - places).sum(axis=0) for crowd in (even, apart))
        for held in everybody(n, amounts, total):
            own = np.abs(held[:, None] - places).sum(axis=0)
            assert (least <= own + 1e-9).all()
            assert (own <= most + 1e-9).all()
            seen += 1
    assert seen == math.comb(n + len(amounts) - 1, n)


def test_a_mean_beyond_the_amounts_is_the_nearest_possible() -> None:
    assert OnlyMean(7, -3.0, domain(0, 1, 4)).total == 0
    assert OnlyMean(7, 99.0, domain(0, 1, 4)).total == 28
    assert OnlyMean(7, 12.4, domain(0, 1, 4)).total == 12
    assert OnlyMean(3, 0.44, domain(0.1, 0.2, 0.3)).total == pytest.approx(0.4)
    uneven = OnlyMean(3, 1.234, domain(0, 1, math.pi))  # without a lattice, every total is
    assert uneven.total == 1.234
    for beyond in (-3.0, 99.0):
        m = made("Hybrid", 2.0, (0.0, 4.0), 4)
        assert list(OnlyMean(7, beyond, domain(0, 1, 4)).hardest(m, 5.0)) == ["even"]  # all people there are


def test_an_edge_of_the_hull_is_above_all_pairs() -> None:
    rng = hush.seeded(7)
    for size in (2, 3, 8, 30):
        at, height = np.sort(rng.uniform(-5, 5, size)), rng.normal(size=size)
        for mean in (*rng.uniform(at[0], at[-1], 20), at[0], at[-1], at[size // 2]):
            low, high = _bridge(at, height, mean)
            assert at[low] <= mean <= at[high]

            def there(i: int, j: int, mean: float = mean, at: Any = at, height: Any = height) -> float:
                part = (mean - at[i]) / (at[j] - at[i])
                return float((1 - part) * height[i] + part * height[j])

            pairs = [(i, j) for i in range(size) for j in range(i + 1, size) if at[i] <= mean <= at[j]]
            assert there(low, high) == pytest.approx(max(there(i, j) for i, j in pairs), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.4, 1.5, 4.0])
@pytest.mark.parametrize("amounts", [(0, 1, 2, 3), (0, 1, 5)])
def test_under_duchi_people_as_alike_as_can_be_are_the_worst(epsilon: float, amounts: tuple[float, ...]) -> None:
    """For all people of every total, wherever wrong numbers of ones are two or more away: as it is proved."""
    n, seen = 7, 0
    m = made("Duchi", epsilon, tuple(map(float, amounts)), int(max(amounts)))
    for total in {sum(held) for held in combinations_with_replacement(amounts, n)}:
        even = held_by(OnlyMean(n, total, domain(*amounts)).even)
        for cap in np.linspace(-0.6, 1.6, 23) * n * max(amounts) + 0.003:
            worst, away = of_coins(m, even, cap)
            assert worst == pytest.approx(wrong(m, even, cap), abs=1e-10)
            for held in everybody(n, amounts, total):
                chance, near = of_coins(m, held, cap)
                assert near == pytest.approx(away)
                if away >= 2:
                    assert chance <= worst + 1e-12
                    seen += 1
    assert seen > 100


ENUMERATED = [
    (4, (0, 1, 2, 3), 5, 1.4),
    (6, (0, 1, 2, 3), 9, 4.3),
    (6, (0, 1, 2, 3), 4, 10.2),
    (5, (0, 1, 2, 3, 4), 12, 5.1),
    (6, (0, 1, 5), 9, 20.3),
    (12, (0, 1, 2), 10, 4.2),
]


@pytest.mark.parametrize(
    ("name", "more", "n", "amounts", "total", "cap"),
    [
        *(("Duchi", 0.0, *case) for case in ENUMERATED),
        *(("Piecewise", 0.002, *case) for case in ENUMERATED),
        *(("Hybrid", 0.04, *case) for case in ENUMERATED[:2]),
    ],
)
def test_nobody_with_the_mean_decides_wrongly_more_often(
    name: str, more: float, n: int, amounts: tuple[float, ...], total: float, cap: float
) -> None:
    """At the budget that is answered, but for the few percent that the page on capacities admits."""
    seen = MeanEstimate(total / n, 0.1, n)
    found = capacity(name, seen, cap=cap, threshold=0.1, domain=domain(*amounts), highest=20.0, confirm=0)
    assert found.total == total
    at = 20.0 if found.epsilon is None else found.epsilon
    m = made(name, at, tuple(map(float, amounts)), int(max(amounts)))
    chances = [wrong(m, held, cap) for held in everybody(n, amounts, total)]
    assert found.best is not None
    off = found.best.high - found.best.low  # of a law that is nearly known
    if found.epsilon is None:
        assert max(chances) >= 0.1  # so that no budget is right
    else:
        assert max(chances) <= 0.1 * (1 + more) + off
        if amounts != (0, 1, 5):  # of which none may be what is left for one person to hold
            smaller = made(name, 0.99 * at, tuple(map(float, amounts)), int(max(amounts)))
            assert max(wrong(smaller, held, cap) for held in everybody(n, amounts, total)) > 0.1 - off


def test_the_variance_does_not_tell_who_is_the_worst_under_hybrid() -> None:
    """Why there is a third crowd: neither the most alike nor the farthest apart decide wrongly most often."""
    m = made("Hybrid", 2.0, (0.0, 3.0), 3)
    chances = {tuple(held): wrong(m, held, 4.0) for held in everybody(6, (0, 1, 2, 3), 9)}
    crowds = OnlyMean(6, 9.0, domain(0, 1, 2, 3)).hardest(m, 4.0)
    own = {name: chances[tuple(held_by(people))] for name, people in crowds.items()}
    assert max(own["even"], own["apart"]) < 0.99 * max(chances.values())
    assert own["between"] == max(chances.values())


def test_the_worst_of_all_decides_at_every_budget() -> None:
    known = OnlyMean(900, 1300.0, domain(0, 1, 2, 3))
    asked = question("error", 0.05, 1100.0, known.apart)
    for name in MEANS:
        trials = tried_for(name, known, None, asked, hush.seeded(7))
        for epsilon in (0.3, 1.0, 3.0):
            tried = trials.by_law(epsilon)
            m = trials.build(epsilon)
            chances = {w: wrong(m, held_by(p), 1100.0) for w, p in known.hardest(m, 1100.0).items()}  # type: ignore[arg-type]
            assert tried.probability == pytest.approx(max(chances.values()), rel=1e-9)
            assert chances[trials.spread(epsilon)] == max(chances.values())  # type: ignore[union-attr]
    wanted = question("tp", 0.95, 1100.0, known.apart)
    right, bad = (tried_for("Piecewise", known, None, each, hush.seeded(7)).by_law(1.0) for each in (wanted, asked))
    assert right.probability == pytest.approx(1 - bad.probability, abs=1e-12)


@pytest.mark.parametrize(("name", "spread"), [("Duchi", "even"), ("Piecewise", "apart")])
def test_every_method_plans_for_the_worst(name: str, spread: str) -> None:
    known = OnlyMean(900, 1300.0, domain(0, 1, 2, 3))
    wish: dict[str, Any] = {"cap": 1100, "threshold": 0.05, "confirm": 0}
    exact = capacity(name, known, **wish)
    assert exact.spread == spread
    for method in ("capri", "DBS", "normal", "cantelli"):
        found = capacity(name, known, method=method, runs=4000, rng=hush.seeded(7), **wish)
        assert found.spread == spread
        assert found.epsilon is not None
        assert exact.epsilon is not None
        assert found.epsilon > 0.95 * exact.epsilon


@pytest.mark.parametrize("name", MEANS)
def test_a_first_round_of_means_plans_the_next(name: str) -> None:
    wish: dict[str, Any] = {"cap": CAP, "threshold": 0.02}
    found = capri.first_round(name, WATER, first=0.5, rng=hush.seeded(7), **wish)
    seen = capri.estimated(name, capri.population(WATER), 0.5, rng=hush.seeded(7))
    assert isinstance(seen, OnlyMean)
    assert (seen.n, seen.k) == (WATER.sum(), 21)
    assert found.total == seen.total == round(seen.estimated)
    assert found.epsilon == capacity(name, seen, confirm=0, **wish).epsilon
    assert (found.spent, found.estimated, found.reading) == (0.5, True, "mean")
    assert found.spread in ("even", "apart", "between")
    assert found.to_dict()["spread"] == found.spread
    assert found.truth is not None
    assert found.truth.total == TOTAL
    own = wrong(made(name, float(found.epsilon or 0), (0.0, 20.0), 20), np.repeat(np.arange(21.0), WATER), CAP)
    assert found.truth.probability == pytest.approx(own, rel=1e-6)
    plans = capri.first_rounds(name, WATER, first=0.5, rounds=3, rng=hush.seeded(7), **wish)
    assert plans[0].epsilon == found.epsilon
    assert len({plan.total for plan in plans}) == 3


@pytest.mark.parametrize("name", MEANS)
def test_a_collection_of_means_is_right_on_average(name: str) -> None:
    """400 simulated rounds, of which the mean is within 5 standard errors: a false alarm once in a million."""
    people = capri.population([30, 50, 20], domain=domain(0, 1, 4))
    rng = hush.seeded(7)
    totals = [capri.estimated(name, people, 1.0, rng=rng).estimated for _ in range(400)]  # type: ignore[union-attr]
    law = capri.law(made(name, 1.0, (0.0, 4.0), 4), people)
    assert abs(np.mean(totals) - people.total) < 5 * math.sqrt(law.variance / 400)
    assert np.var(totals) == pytest.approx(law.variance, rel=0.4)


@pytest.mark.parametrize("name", MEANS)
def test_over_time_each_mean_plans_the_next(name: str) -> None:
    history = [WATER, WATER, np.roll(WATER, -4)]
    steps = capri.over_time(name, history, cap=CAP, threshold=0.02, first=1.0, rng=hush.seeded(7))
    assert [step.total for step in steps] == [np.arange(21) @ counts for counts in history]
    assert steps[0].planned is None
    for before, step in pairwise(steps):
        assert step.planned is not None
        assert step.planned.total == round(before.estimated)
        seen = OnlyMean(int(WATER.sum()), before.estimated, Domain(size=21))
        assert step.planned.epsilon == capacity(name, seen, cap=CAP, threshold=0.02, confirm=0).epsilon
        assert step.epsilon == (step.planned.epsilon or 10.0)
        assert step.planned.spread is not None
        assert step.outcome == ("t" if (step.estimated > CAP) == (step.total > CAP) else "f") + (
            "p" if step.estimated > CAP else "n"
        )
    assert steps[-1].spent == pytest.approx(sum(step.epsilon for step in steps))
    assert "planned for people who are" in told(steps, ["a", "b", "c"], name)
    assert steps[1].to_dict()["planned"]["spread"] == steps[1].planned.spread  # type: ignore[union-attr]


def test_over_time_outliers_are_clipped_on_the_device() -> None:
    steps = capri.over_time("Duchi", [WATER] * 2, cap=CAP, threshold=0.02, first=2.0, most=15, rng=hush.seeded(7))
    assert [step.clipped for step in steps] == [WATER[16:].sum()] * 2
    assert steps[1].planned is not None
    clipped = float(np.minimum(np.arange(21), 15) @ WATER)
    m = made("Duchi", 2.0, (0.0, 15.0), 15)
    law = m.forms.total_law(np.arange(16.0), np.append(WATER[:15], WATER[15:].sum()))
    assert law.mean == clipped
    assert abs(steps[0].estimated - clipped) < 5 * math.sqrt(law.variance)  # a false alarm once in a million


def test_a_mean_that_equals_the_cap_plans_nothing() -> None:
    found = capacity("Duchi", OnlyMean(90, 120.0, domain(0, 1, 2)), cap=120, threshold=0.05)
    assert (found.epsilon, found.spread) == (None, "any")
    assert "equals the cap" in found.reason
    any_budget = capacity("Duchi", OnlyMean(90, 120.0, domain(0, 1, 2)), cap=100, metric="fp", threshold=0.05)
    assert (any_budget.epsilon, any_budget.spread) == (0.001, "any")


def test_negative_amounts_and_caps() -> None:
    known = OnlyMean(400, 800.0, domain(-5, 0, 2, 5))  # the mean is next to amounts that are not negative
    found = capacity("Duchi", known, cap=-300, threshold=0.05, confirm=0)
    assert found.epsilon is not None
    assert found.spread == "even"


def test_ones_and_zeros_are_counted() -> None:
    wish: dict[str, Any] = {"cap": 250, "threshold": 0.05, "above": 0}
    found = capacity("Duchi", [700, 300], confirm=0, **wish)
    assert (found.total, found.above, found.spread) == (300, 0.0, None)
    assert found.epsilon == capacity("Duchi", [700, 300], cap=250, threshold=0.05, confirm=0).epsilon
    first = capri.first_round("Duchi", [700, 300], first=3.0, rng=hush.seeded(7), **wish)
    assert (first.spread, first.above) == ("any", 0.0)  # of ones and zeros, the mean says all
    assert first.epsilon == capacity("Duchi", [1000 - int(first.total), int(first.total)], confirm=0, **wish).epsilon
    steps = capri.over_time("Piecewise", [[700, 300]] * 2, first=3.0, rng=hush.seeded(7), **wish)
    assert steps[1].total == 300
    seen = MeanEstimate(0.3, 0.01, 1000, low=0.0, high=1.0, steps=1)
    assert capacity("Duchi", seen, confirm=0, **wish).epsilon == found.epsilon
    with pytest.raises(ParameterError, match="above must be from 0 on, below 1"):
        capacity("Duchi", seen, cap=250, threshold=0.05, above=1)
    for call in (capri.first_round, lambda name, counts, **more: capri.over_time(name, [counts] * 2, **more)):
        with pytest.raises(ParameterError, match="must estimate frequencies, to count people above an amount"):
            call("Duchi", [5, 3, 2], first=1.0, cap=4, threshold=0.1, above=0)


def test_a_mean_of_an_earlier_collection_is_planned_from() -> None:
    m = hush.Piecewise(low=0.0, high=20.0, steps=20, epsilon=1.0)
    seen = m.estimate(m.simulate(np.repeat(np.arange(21.0), WATER), rng=hush.seeded(7)))
    found = capacity("Piecewise", seen, cap=CAP, threshold=0.02, spent=1.0, confirm=0)
    same = capacity(m, seen, cap=CAP, threshold=0.02, domain=Domain(size=21), confirm=0)
    assert found.epsilon == same.epsilon
    assert (found.total, found.n, found.spread, found.spent) == (round(seen.total), WATER.sum(), "apart", 1.0)
    assert capri.only_mean(seen).amounts.tolist() == list(range(21))
    tenths = capri.only_mean(MeanEstimate(0.42, 0.01, 10, low=0.0, high=1.0, steps=10))
    assert tenths.amounts.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert tenths.total == 4.2
    assert capacity("Duchi", tenths, cap=3, threshold=0.3, confirm=0).total == 4.2
    assert capri.only_mean(tenths, domain(0, 0.5, 1)).total == 4.0


def test_a_plan_that_would_need_more_than_a_mean_is_refused() -> None:
    seen, held = MeanEstimate(1.2, 0.1, 50), domain(0, 1, 2)
    wish: dict[str, Any] = {"cap": 40, "threshold": 0.1, "domain": held}
    with pytest.raises(ParameterError, match="mechanism must estimate a mean, since no more is known of these people"):
        capacity("OUE", seen, **wish)
    with pytest.raises(ParameterError, match="most must be left out where only a mean is known"):
        capacity("Duchi", seen, most=1, **wish)
    with pytest.raises(ParameterError, match="above must be left out where only a mean is known"):
        capacity("Duchi", seen, above=1, **wish)
    with pytest.raises(ParameterError, match="counts must be left out beside values"):
        capacity("Duchi", seen, values=[1, 2], **wish)
    with pytest.raises(ParameterError, match="must count the people of each value, which a mean does not tell"):
        capri.population(seen)
    for bad in (MeanEstimate(math.nan, 0.1, 5), MeanEstimate(math.inf, 0.1, 5)):
        with pytest.raises(ParameterError, match="counts must have a finite mean"):
            capacity("Duchi", bad, **wish)
    with pytest.raises(ParameterError, match="counts must be an integer"):
        capacity("Duchi", MeanEstimate(1.0, 0.1, 0), **wish)
    with pytest.raises(ParameterError, match="must have two different amounts for a mean"):
        capri.only_mean(seen, domain(1, 1))
    with pytest.raises(ParameterError, match="must be a Domain"):
        capri.only_mean(seen, [0, 1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must have amounts up to 1e100"):
        capri.only_mean(seen, domain(0, 1e200))
    with pytest.raises(ParameterError, match="must be given where a mean has a grid"):
        capri.only_mean(MeanEstimate(0.5, 0.1, 5, steps=10**7))


def test_huge_crowds_are_planned_as_well() -> None:
    known = OnlyMean(10**12, 1.2345e13, Domain(size=41))
    found = capacity("Duchi", known, cap=1.2e13, threshold=0.01, confirm=0)
    assert found.total == 1.2345e13
    assert known.even.n == known.apart.n == 10**12
    assert found.epsilon is not None


def test_words_tell_for_whom_it_is_planned() -> None:
    known = OnlyMean(900, 1300.0, domain(0, 1, 2, 3))
    found = capacity("Piecewise", known, cap=1100, threshold=0.05, confirm=0)
    said = decision(found, "first")[0]
    assert "is enough for people with the mean that the first round saw" in said
    assert "The first round told a mean, and not who holds what." in said
    assert "planned for people who are as far apart as possible, who of all with that mean need the most." in said
    assert "none negative" not in said
    pair = capacity("Duchi", OnlyMean(900, 300.0, domain(0, 1)), cap=200, threshold=0.05, confirm=0)
    assert "It makes no difference here." in decision(pair)[0]


def test_a_step_whose_amounts_cancel_is_judged_by_how_large_they_are() -> None:
    """A total that rounding leaves a hair above its cap does not exceed it."""
    step = capri.Step(0, 1.0, 1.0, 0.0, 1.4e-14, 0.0, None, size=50.0)
    assert step.outcome == "tn"
    assert capri.Step(0, 1.0, 1.0, 0.0, 1.4e-14, 0.0, None).outcome == "fp"
    (seen,) = capri.over_time("GRR", [[5, 5]], cap=1, threshold=0.1, first=1.0, domain=hush.Domain(2, values=[-3, 3]))
    assert seen.size == 30.0
    assert "size" not in seen.to_dict()
