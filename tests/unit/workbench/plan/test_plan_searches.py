"""Searches for a budget, as jobs run them, and what they are told."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import hush
from hush.planning import capri
from hush.planning.optimus.losses import f1
from hush.workbench.plan import Mistakes
from hush.workbench.plan.budgets import LOSSES, read_budget, search_budget
from hush.workbench.plan.capacities import read_capacity, search_capacity
from hush.workbench.plan.counted import amounts, counts
from hush.workbench.plan.searched import named_mechanisms

BUDGET = {
    "mechanism": "GRR",
    "loss": "l1",
    "amount": "2",
    "sure": "90",
    "shape": "zipf",
    "answers": "5",
    "people": "10,000",
}
CAPACITY = {"mechanism": "GRR", "cap": "12,000", "wrong": "1", "counts": "0: 5000\n1: 3000\n5: 1500\n10: 300"}


def quiet(share: float, words: str = "") -> None:
    """Progress that nobody looks at."""


def test_the_smallest_budget_that_is_enough():
    """With words, what was tried, and the spec at it; the wish is kept there, and not at half of it."""
    wish, told = read_budget(BUDGET), []
    found = search_budget(lambda share, words="": told.append(share), wish)
    assert found.epsilon is not None
    assert told == sorted(told)
    assert f"GRR with ε = {found.epsilon:.4g} is enough" in found.words[0]
    assert list(found.tried) == sorted(set(found.tried))
    assert hush.Spec.from_json(found.spec).mechanism == hush.GRR(k=5, epsilon=found.epsilon)
    shares = dict(zip(found.tried, found.shares, strict=True))
    assert shares[found.epsilon] >= wish.sure
    assert pickle.loads(pickle.dumps(found)) == found
    crowd, rng = wish.population, hush.seeded(11)

    def kept(epsilon: float) -> float:
        m = hush.GRR(k=5, epsilon=epsilon)
        loss = [
            np.abs(m.estimate(m.simulate(crowd.counts, rng=rng)).frequencies - crowd.frequencies).mean()
            for _ in range(400)
        ]
        return float(np.mean(np.array(loss) <= 0.02))

    assert kept(found.epsilon) > 0.84  # 0.9 less four standard errors
    assert kept(found.epsilon / 2) < 0.84


@pytest.mark.parametrize("found", range(1, 11))
def test_so_many_of_ten_are_enough(found):
    """Eight where 80 % are wanted: what just keeps the wish loses no more than the threshold, to the last digit."""
    wish = read_budget({**BUDGET, "loss": "f1", "amount": f"{10 * found}", "answers": "20"})
    truth = np.arange(20.0) / 190
    estimate = truth.copy()
    estimate[10 : 20 - found] = 0.0
    assert f1(truth, 0, 10)(estimate[None])[0] <= wish.threshold
    estimate[19] = 0.0
    assert f1(truth, 0, 10)(estimate[None])[0] > wish.threshold


@pytest.mark.parametrize(("loss", "amount", "threshold"), [("max", 1, 0.01), ("kendall", 5, 0.1), ("f1", 90, 0.1)])
def test_what_people_say_is_what_is_searched_for(loss, amount, threshold):
    """Points, percent of pairs, and percent that are found."""
    assert loss in LOSSES
    wish = read_budget({**BUDGET, "loss": loss, "amount": str(amount)})
    assert wish.threshold == pytest.approx(threshold)


def test_no_budget_is_enough_for_too_few():
    """And the page says what to do, without options of a command."""
    found = search_budget(quiet, read_budget({**BUDGET, "mechanism": "OUE", "people": "20", "amount": "0.1"}))
    assert found.epsilon is None
    assert found.spec == ""
    assert "Ask more people" in found.words[1]
    assert "--" not in " ".join(found.words)


def test_counts_take_the_place_of_a_shape():
    """With their labels in the spec."""
    wish = read_budget({**BUDGET, "shape": "counts", "counts": "a: 500\nb, 3,000\nc\t40", "answers": "", "people": ""})
    assert wish.labels == ("a", "b", "c")
    assert wish.population.counts.tolist() == [500, 3000, 40]
    assert (wish.answers, wish.people) == (3, 3540)


def test_an_alarm_is_wrong_as_seldom_as_wished():
    """By the law of the estimated total; the spec knows the amounts."""
    wish = read_capacity(CAPACITY)
    assert wish.total == 13_500
    found = search_capacity(quiet, wish)
    again = capri.capacity(
        "GRR", list(wish.counts), domain=hush.Domain(size=4, values=[0, 1, 5, 10]), cap=12_000, threshold=0.01
    )
    assert found.epsilon == again.epsilon
    assert "decides wrongly with probability 0.009969" in found.words[0]
    assert "where always naming the most frequent one does 51 %" in found.words[-1]
    assert hush.Spec.from_json(found.spec).domain.values == (0.0, 1.0, 5.0, 10.0)


def test_a_mean_tells_a_total_too():
    """With a mechanism for numbers."""
    found = search_capacity(quiet, read_capacity({**CAPACITY, "mechanism": "Piecewise"}))
    assert found.epsilon is not None
    assert hush.Spec.from_json(found.spec).mechanism.name() == "Piecewise"


def test_a_total_at_its_limit_cannot_be_told():
    """It is the limit that has to move."""
    with pytest.raises(Mistakes) as caught:
        search_capacity(quiet, read_capacity({**CAPACITY, "cap": "13500"}))
    assert list(caught.value.by_field) == ["cap"]


@pytest.mark.parametrize(
    ("reads", "said", "field"),
    [
        (read_budget, {**BUDGET, "mechanism": "Nothing"}, "mechanism"),
        (read_budget, {**BUDGET, "amount": ""}, "amount"),
        (read_budget, {**BUDGET, "sure": "100"}, "sure"),
        (read_budget, {**BUDGET, "shape": "round"}, "shape"),
        (read_budget, {**BUDGET, "people": "0"}, "people"),
        (read_budget, {**BUDGET, "shape": "counts", "counts": "a: 5"}, "counts"),
        (read_capacity, {**CAPACITY, "cap": "much"}, "cap"),
        (read_capacity, {**CAPACITY, "wrong": "0"}, "wrong"),
        (read_capacity, {**CAPACITY, "counts": "few: 5\nmany: 6"}, "counts"),
    ],
)
def test_what_cannot_be_searched_is_said_of_its_field(reads, said, field):
    """In words."""
    with pytest.raises(Mistakes) as caught:
        reads(said)
    assert list(caught.value.by_field) == [field]


@pytest.mark.parametrize("text", ["", "a: 1", "a\nb", "a: 1\na: 2", "a: x\nb: 2", "a: 0\nb: 0"])
def test_counts_that_are_none_are_refused(text):
    """With an example of what would do, or the rule."""
    with pytest.raises(ValueError, match=r"red: 300|one line only|1 to 1,000,000,000"):
        counts(text)


def test_amounts_may_be_negative():
    """As a balance is."""
    assert amounts("-5: 10\n7.5; 20") == ((-5.0, 7.5), (10, 20))


def test_mechanisms_that_need_more_are_not_offered():
    """Each one that is can be made from k and ε, or from a range and ε."""
    for name in named_mechanisms():
        assert hush.registry()[name](k=4, epsilon=1.0).k == 4
    assert not {"uRR", "AGM"} & set(named_mechanisms())
