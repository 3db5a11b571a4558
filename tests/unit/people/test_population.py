"""One class says who takes part: counted, drawn, estimated or clipped."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush import Domain, Population
from hush.errors import ParameterError
from hush.estimation.population import estimated
from hush.people.clipping import up_to, with_amounts
from hush.people.population import apportioned
from hush.planning import capri, trials
from hush.planning.optimus.population import population

COUNTS = np.array([50, 30, 20, 0])


def test_counts_are_people() -> None:
    people = Population(COUNTS, Domain(labels=["0", "10", "20", "30"]), "some")
    assert (people.n, people.k, people.total, people.mean) == (100, 4, 700.0, 7.0)
    assert np.bincount(people.values(), minlength=4).tolist() == COUNTS.tolist()
    assert sorted(people.values(hush.seeded(1))) == people.values().tolist() != people.values(hush.seeded(1)).tolist()
    assert people.held().sum() == sum(block.sum() for block in people.blocks(7)) == 700
    assert [block.size for block in people.blocks(40)] == [40, 40, 20]
    assert people.draw(hush.seeded(1)) is people is people.whole() is people.drawing(None)


def test_who_is_drawn_has_no_counts_before() -> None:
    people = Population(COUNTS, name="some").drawing(1000)
    assert (people.n, people.name) == (1000, "some")
    assert people.frequencies.tolist() == [0.5, 0.3, 0.2, 0.0]
    with pytest.raises(ParameterError, match=r"^counts must be fixed"):
        people.counts  # noqa: B018 (it raises)
    drawn = people.draw(hush.seeded(3))
    assert (drawn.n, drawn.drawn) == (1000, None)
    assert drawn.counts.tolist() != people.whole().counts.tolist() == [500, 300, 200, 0]


def test_amounts_up_to_a_limit_keep_the_true_total() -> None:
    people = Population(np.array([5, 3, 1]), Domain(size=3, values=[0, 300, 10])).up_to(50)
    assert people.counts.tolist() == [5, 4]
    assert (people.expected, people.total, people.clipped) == (40.0, 910.0, 3)
    assert people.up_to(50).total == 910.0
    for most in (-1.0, 5.0, True):
        with pytest.raises(ParameterError, match=r"^most must leave at least two amounts"):
            people.up_to(most)


def test_whoever_a_collection_estimated_can_be() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    spec = hush.Spec(m, Domain(labels=["a", "b", "c", "d"]))
    people = estimated(spec.estimate(spec.simulate(COUNTS, rng=hush.seeded(5))))
    assert (people.n, people.estimated, people.domain) == (100, True, spec.domain)
    assert people.frequencies.min() >= 0
    assert people.frequencies.sum() == pytest.approx(1.0)
    whole = people.whole()
    assert whole.n == 100
    assert abs(whole.counts - 100 * people.frequencies).max() < 1


def test_planners_take_them_as_they_are() -> None:
    people = Population(COUNTS, Domain(size=4, values=[0, 1, 5, 7]), "some")
    assert capri.population(people).total == capri.population(COUNTS, domain=people.domain).total == 130.0
    assert capri.population(people.up_to(5)).clipped == 0
    assert population(people, None).counts.tolist() == COUNTS.tolist()
    assert population(people, 7).drawn == population(people.drawing(7), None).drawn == 7
    with pytest.raises(ParameterError, match=r"^domain must have 4 values, got 3"):
        capri.population(people, domain=Domain(size=3))


def test_shares_become_whole_people() -> None:
    shares = np.random.default_rng(1).dirichlet(np.ones(30))
    for n in (0, 1, 29, 1000):
        counts = apportioned(shares, n)
        assert counts.sum() == n
        assert abs(counts - n * shares).max() < 1


def test_people_go_by_the_labels_of_another_domain() -> None:
    people = Population(np.array([3, 5]), Domain(labels=["yes", "no"]))
    assert people.ordered_as(Domain(labels=["no", "maybe", "yes"])).counts.tolist() == [5, 0, 3]
    rule = "^counts, row 2 must have one of the spec's 2 labels, once, got "
    with pytest.raises(ParameterError, match=rule + "another one"):
        people.ordered_as(Domain(labels=["yes", "maybe"]))
    with pytest.raises(ParameterError, match=rule + "one again"):
        Population(np.array([3, 5]), Domain(labels=["7", "7.0"])).ordered_as(Domain(labels=[7, 8]))
    plain = Population(COUNTS)
    assert plain.ordered_as(Domain(size=9)) is plain


def test_values_above_a_limit_leave_the_domain() -> None:
    amounts = [0.0, 10.0, 300.0]
    whole = with_amounts(Domain(labels=["none", "some", "much"], sensitive=[2]), amounts)
    assert (whole.labels, whole.values) == (("none", "some", "much"), (0.0, 10.0, 300.0))
    left = up_to(whole, amounts, 50)
    assert (left.labels, left.values, left.sensitive) == (("none", "some"), (0.0, 10.0), (1,))
    assert up_to(whole, amounts, None) is whole is up_to(whole, amounts, 300)
    assert with_amounts(Domain(size=3), [0, 1, 2]) == Domain(size=3)
    assert with_amounts(Domain(size=3), [0, 2.5, 7]).labels == (0, 2.5, 7)
    assert with_amounts(Domain(size=3), [1, 1, 7]).values == (1.0, 1.0, 7.0)


def test_trials_hold_what_is_measured_beside_what_is_expected() -> None:
    spec, runs = hush.Spec(hush.OUE(k=4, epsilon=1.0)), []
    found, last = trials.of_frequencies(spec, Population(100 * COUNTS), 400, hush.seeded(3), runs.append)
    assert len(runs) == 400
    assert last.n == 100 * COUNTS.sum()
    assert abs(found["mse"] - found["analytic_variance"]) < 6 * found["mse_stderr"]
    assert abs(found["asr"] - found["asr_expected"]) < 6 * found["asr_stderr"]
    mean = hush.Spec(hush.Duchi(low=0.0, high=3.0, epsilon=1.0))
    told = trials.of_mean(mean, Population(100 * COUNTS), 400, hush.seeded(3), runs.append)
    assert (told["mean"], told["total"], told["clipped"]) == (0.7, 7000.0, 0)
    assert abs(told["mse"] - told["analytic_variance"]) < 6 * told["mse_stderr"]
    assert trials.of_mean(mean, Population(COUNTS), 1, hush.seeded(3), runs.append)["mse_stderr"] is None
