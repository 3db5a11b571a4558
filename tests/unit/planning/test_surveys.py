"""`hush.survey`: totals, errors and guesses are those of the exact formulas, and of simulated surveys.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.longitudinal import LGRR, LOSUE, Memoized, Repeated
from hush.multidim import LSMP, LSPL, RSFD, SMP, SPL
from hush.planning.budgets import budget, place
from hush.planning.objectives import Z95
from hush.planning.surveys import SurveyChoice, survey
from hush.planning.surveys.courses import Course, Fresh, FreshTuples, Kept
from hush.planning.surveys.search import guesses, share_of
from hush.statistics import sigmas

TUPLES: dict[str, Any] = {"attributes": (3, 5, 9), "n": 5_000, "rounds": 2}
VALUE: dict[str, Any] = {"attributes": [6], "n": 5_000, "rounds": 12}


@pytest.mark.parametrize("given", [TUPLES, VALUE, {**TUPLES, "rounds": 1}, {**VALUE, "changing": True}])
@pytest.mark.parametrize("metric", ["margin", "mse"])
def test_every_choice_has_the_least_round_budget_for_its_error(given: dict[str, Any], metric: str) -> None:
    error = 0.05 if metric == "margin" else 0.0007
    plan = survey(**given, error=error, metric=metric)
    assert plan.feasible
    for choice in plan.choices:
        assert choice.error == max(choice.errors) <= error * (1 + 1e-9)
        total = choice.course.total
        spent = min((budget(place(total) + i) for i in (0, 1)), key=lambda each: abs(each - total))
        less = choice.candidate.error(budget(place(spent) - 1), plan.wishes)
        assert less > error, choice.name


def test_fresh_reports_divide_the_total_and_never_exceed_it() -> None:
    plan = survey(**TUPLES, max_epsilon=1.7)
    fresh = [choice for choice in plan.choices if choice.course.way == "fresh every round"]
    assert {choice.course.layout for choice in fresh} == {"SPL", "SMP", "RSFD"}
    for choice in fresh:
        report = choice.mechanism.guarantee.epsilon
        assert Fraction(report) * 2 <= Fraction(1.7)
        assert choice.course.total == choice.course.changing == choice.course.changing_together
        assert 2 * report <= choice.course.total <= 1.7
        assert choice.total > 1.69
        assert not choice.course.pseudonym
    assert share_of(1.0, 3) * 3 <= 1.0


def test_fake_data_spends_its_true_loss() -> None:
    plan = survey(attributes=(3, 3), n=4_000, max_epsilon=1.0)
    fakes = [choice.mechanism for choice in plan.choices if choice.course.layout == "RSFD"]
    assert {m.variant for m in fakes} >= {("GRR", "GRR"), ("SUE-z", "SUE-z")}
    for m in fakes:
        assert m.exact_epsilon() <= 1.0
        assert m.amplified_epsilon == pytest.approx(1.0, abs=1e-6)
        assert m.claimed_epsilon < 0.7


def test_kept_answers_have_one_total_and_say_what_changes_cost() -> None:
    plan = survey(**VALUE, max_epsilon=2.0, report_share=0.25)
    rows = {choice.name: choice for choice in plan.choices}
    direct = rows["LGRR"].mechanism
    assert direct == LGRR(k=6, epsilon_permanent=2.0, epsilon_report=0.5)
    assert rows["LGRR"].course.total == 2.0 >= direct.sequence_epsilon(12)
    assert rows["LGRR"].course.changing == pytest.approx(0.5 + 11 * direct.epsilon_fresh)
    assert rows["LGRR"].course.changing_together == direct.history_bound(12)
    histories = product((0, 1), repeat=4)
    short = Kept(direct, 4)
    assert max(direct.history_epsilon([0] * 4, each) for each in histories) <= short.changing
    assert math.isinf(rows["Memoized GRR"].course.changing)
    assert rows["Memoized GRR"].mechanism == Memoized(mechanism=hush.GRR(k=6, epsilon=2.0))
    assert rows["OLOLOHA"].course.pseudonym == "the hash function in every report, which nobody else has"
    assert not rows["GRR"].course.pseudonym


def test_kept_tuples_spend_the_permanent_budget_on_one_attribute_or_share_it() -> None:
    plan = survey(**TUPLES, max_epsilon=2.0)
    rows = {
        (choice.course.layout, choice.mechanism.protocol): choice
        for choice in plan.choices
        if choice.course.way != "fresh every round"
    }
    one, all_of_them = rows["LSMP", ("LGRR",) * 3], rows["LSPL", ("LGRR",) * 3]
    assert one.mechanism == LSMP(sizes=(3, 5, 9), protocol="LGRR", epsilon_permanent=2.0, epsilon_report=1.0)
    assert one.course.total == all_of_them.course.total == 2.0
    assert one.mechanism.sequence_epsilon(2) <= 2.0
    worst = max(LGRR(k=k, epsilon_permanent=2.0, epsilon_report=1.0).epsilon_fresh for k in (3, 5, 9))
    assert one.course.changing == pytest.approx(1.0 + worst)
    parts = all_of_them.mechanism.components
    assert all_of_them.course.changing == pytest.approx(sum(each.epsilon_report + each.epsilon_fresh for each in parts))
    first = SMP(sizes=(3, 5, 9), epsilon=1.0, mechanism="GRR")
    assert one.course.variances(5_000, worst=False) == pytest.approx(first.round_variances(5_000), rel=1e-9)
    assert one.course.pseudonym.startswith("which of 3 attributes is reported")
    simulated = [each.rate for each in guesses(_Simulated(one.mechanism, 2), (3, 5, 9))]
    stderr = [each.stderr for each in guesses(_Simulated(one.mechanism, 2), (3, 5, 9))]
    exact = [
        sum(LGRR(k=k, epsilon_permanent=2.0, epsilon_report=1.0).most_voted(2) or 0 for _ in (0,)) for k in (3, 5, 9)
    ]
    for k, rate, error, known in zip((3, 5, 9), simulated, stderr, exact, strict=True):
        assert abs(rate - (known / 3 + 2 / 3 / k)) < sigmas(3) * error


class _Simulated(Kept):
    """A course that knows no formula."""

    def known_guesses(self) -> tuple[float | None, ...]:
        return (None, None, None)


def test_ways_that_show_every_change_come_last_and_not_at_all_where_values_change() -> None:
    plan = survey(**VALUE, error=0.05)
    endless = [math.isinf(choice.course.changing) for choice in plan.choices]
    assert endless == sorted(endless)
    assert not endless[0]
    changing = survey(**VALUE, error=0.05, changing=True)
    assert all(choice.total == choice.course.changing < math.inf for choice in changing.choices)
    assert changing.first.course.independent


def test_the_best_of_each_layout_and_way_is_worth_a_thought() -> None:
    plan = survey(**TUPLES, max_epsilon=3.0)
    kinds = [(choice.course.layout, choice.course.way) for choice in (plan.first, *plan.worth_a_thought)]
    assert len(set(kinds)) == len(kinds)
    assert {layout for layout, _ in kinds} >= {"SPL", "SMP", "RSFD"}
    for choice in plan.worth_a_thought:
        gains, losses = choice.beside(plan.first)
        assert gains or losses


@pytest.mark.parametrize("worst", [False, True])
def test_errors_are_those_of_the_exact_variances(worst: bool) -> None:
    n, sizes = 700, (3, 4)
    for m in (
        SMP(sizes=sizes, epsilon=1.0, mechanism="GRR"),
        SPL(sizes=sizes, epsilon=1.0),
        RSFD(sizes=sizes, epsilon=1.0),
    ):
        found = m.round_variances(n, worst=worst)
        for j, k in enumerate(sizes):
            if worst:
                grid = [m.variance(j, n=n, frequency=f) for f in np.linspace(0, 1, 2001)]
                assert max(grid) <= found[j] * (1 + 1e-12)
                assert found[j] == pytest.approx(max(grid), rel=1e-6)
            else:
                assert found[j] == pytest.approx(float(m.variances([np.full(s, 1 / s) for s in sizes], n)[j].mean()))
                assert all(
                    m.variances([np.eye(s)[0] for s in sizes], n)[j].mean() <= found[j] * (1 + 1e-12) for _ in (k,)
                )


COURSES: list[Course[Any]] = [
    FreshTuples(SMP(sizes=(3, 4), epsilon=1.5, mechanism="SS"), 3),
    FreshTuples(SPL(sizes=(3, 4), epsilon=3.0), 2),
    FreshTuples(RSFD(sizes=(3, 4), epsilon=1.0), 2),
    Fresh(hush.PGR(k=4, epsilon=1.0), 3),
    Kept(LOSUE(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 3),
    Kept(Memoized(mechanism=hush.GRR(k=4, epsilon=1.0)), 3),
    Kept(LSMP(sizes=(3, 4), epsilon_permanent=3.0, epsilon_report=1.5), 3),
    Kept(LSPL(sizes=(3, 4), epsilon_permanent=4.0, epsilon_report=2.0), 3),
]


@pytest.mark.parametrize("course", COURSES, ids=lambda course: course.title)
def test_a_simulated_round_is_off_as_promised(course: Course[Any]) -> None:
    """The squared error of every attribute in the last round, over surveys of people whose values stay."""
    n, runs, rounds = 300, 500, course.rounds
    sizes = getattr(course.mechanism, "sizes", (4,))
    tuples = np.stack([np.arange(n) % k for k in sizes], axis=1)
    rng, m = hush.seeded(5), course.mechanism
    squared = np.zeros((runs, len(sizes)))
    for run in range(runs):
        if isinstance(course, FreshTuples):
            estimates = m.estimate(m.simulate(tuples, rng=rng))
        else:
            over = Repeated(m, rounds) if isinstance(course, Fresh) else m
            values = np.repeat(tuples[:, None], rounds, axis=1)
            last = over.estimate(over.aggregate(over.collect(values if len(sizes) > 1 else values[:, :, 0], rng=rng)))[
                -1
            ]
            estimates = last if len(sizes) > 1 else [last]
        for j, (k, estimate) in enumerate(zip(sizes, estimates, strict=True)):
            truth = np.bincount(tuples[:, j], minlength=k) / n
            squared[run, j] = np.square(estimate.frequencies - truth).mean()
    promised = np.array(course.variances(n, worst=False))
    stderr = squared.std(axis=0) / math.sqrt(runs)
    assert (np.abs(squared.mean(axis=0) - promised) < sigmas(len(sizes)) * stderr).all()


@pytest.mark.parametrize(
    ("m", "rounds"), [(SMP(sizes=(2, 3), epsilon=1.2, mechanism="GRR"), 2), (SPL(sizes=(2, 3), epsilon=2.0), 2)]
)
def test_formulas_of_guesses_are_those_of_enumeration(m: Any, rounds: int) -> None:
    outputs = m.outputs()
    for j, k in enumerate(m.sizes):
        total = 0.0
        for seen in product(outputs, repeat=rounds):
            chance = np.zeros(k)
            for values in m.tuples():
                likely = math.prod(m.weight(each, values) * m.copies(each) / m.denominator for each in seen)
                chance[values[j]] += likely / math.prod(m.sizes)
            total += chance.max()
        assert m.best_guesses(rounds)[j] == pytest.approx(total, rel=1e-9)


def test_simulated_guesses_agree_with_formulas() -> None:
    known = Fresh(hush.GRR(k=5, epsilon=1.0), 6)
    exact = known.known_guesses()[0]

    class Unknown(Fresh):
        def known_guesses(self) -> tuple[float | None, ...]:
            return (None,)

    simulated = guesses(Unknown(known.mechanism, 6), (5,))[0]
    assert exact is not None
    assert abs(simulated.rate - exact) < sigmas() * simulated.stderr
    assert simulated.luck == 0.2


@pytest.mark.parametrize("make", [LSMP, LSPL])
def test_guesses_of_tuples_over_time_are_those_of_enumeration(make: Any) -> None:
    """Of two reports of LGRR for each attribute; one that was not drawn is guessed blindly."""
    m = make(sizes=(2, 3), epsilon_permanent=3.0, epsilon_report=1.5, protocol="LGRR")
    for j, (component, k) in enumerate(zip(m.components, m.sizes, strict=True)):
        every = np.array(list(product(range(k), repeat=2)), component.report_dtype)
        law = np.stack([np.exp(component.sequence_log_prob(every, value)) for value in range(k)], axis=1)
        told = law.max(axis=1).sum() / k
        due = told / 2 + 1 / (2 * k) if make is LSMP else told
        assert m.best_guesses(2)[j] == pytest.approx(due, rel=1e-9)


def test_hidden_draws_bound_guesses_from_below() -> None:
    guess = guesses(FreshTuples(RSFD(sizes=(2, 3), epsilon=2.0, variant="GRR"), 2), (2, 3))
    assert all(each.bound for each in guess)
    assert not any(each.bound for each in guesses(FreshTuples(RSFD(sizes=(2, 3), epsilon=2.0), 1), (2, 3)))


def test_nothing_within_the_budget_says_what_would_do() -> None:
    plan = survey(attributes=(7, 10), n=2_000, rounds=6, error=0.02, max_epsilon=0.5, changing=True)
    assert not plan.feasible
    assert isinstance(plan.least, SurveyChoice)
    assert isinstance(plan.nearest, SurveyChoice)
    assert plan.least.total > 0.5
    assert plan.nearest.total <= 0.5
    assert plan.people is not None
    again = survey(attributes=(7, 10), n=plan.people, rounds=6, error=0.02, max_epsilon=0.5, changing=True)
    assert again.feasible
    assert not survey(
        attributes=(7, 10), n=plan.people - 1 - plan.people // 50, rounds=6, error=0.02, max_epsilon=0.5, changing=True
    ).feasible
    with pytest.raises(ParameterError, match="must be feasible"):
        _ = plan.first


def test_labels_reach_the_spec() -> None:
    plan = survey(
        attributes={"age": ["young", "old"], "town": hush.Domain(labels=["a", "b", "c"])}, n=900, max_epsilon=2.0
    )
    spec = plan.first.spec
    assert spec.domain.names == ("age", "town")
    assert hush.Spec.from_json(spec.to_json()) == spec
    alone = survey(attributes={"town": ["a", "b", "c"]}, n=900, rounds=4, max_epsilon=2.0)
    assert alone.first.spec.domain.labels == ("a", "b", "c")
    assert hush.Spec.from_json(alone.first.spec.to_json()) == alone.first.spec


def test_the_margin_is_half_a_95_per_cent_interval() -> None:
    plan = survey(attributes=[4], n=1_000, rounds=2, max_epsilon=2.0)
    grr = next(choice for choice in plan.choices if choice.name == "GRR")
    assert grr.errors[0] == pytest.approx(Z95 * math.sqrt(hush.GRR(k=4, epsilon=1.0).variance(1_000, 0.25)))


def test_plain_data() -> None:
    told = survey(**VALUE, max_epsilon=2.0).to_dict()
    assert told["feasible"]
    last = told["choices"][-1]
    assert last["epsilon_changing"] is None
    assert last["linkable"]
    assert told["choices"][0]["guesses"][0]["luck"] == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"attributes": [3, 1]}, r"attributes\[1\] must be an integer in 2"),
        ({"attributes": []}, "attributes must list"),
        ({"attributes": "3,4"}, "attributes must list"),
        ({"attributes": [4]}, "attributes must be two or more, or rounds must be"),
        ({"attributes": {"a": 5}}, "attributes must have a domain or labels"),
        ({"attributes": [3, math.nan]}, r"attributes\[1\] must be an integer"),
        ({"rounds": 0}, "rounds must be an integer in 1"),
        ({"rounds": 1.5}, "rounds must be an integer in 1"),
        ({"n": 0}, "n must be an integer in 1"),
        ({"error": 0.0}, "error must be a number above"),
        ({"error": math.nan}, "error must be a number above"),
        ({"max_epsilon": math.inf}, "max_epsilon must be a number from"),
        ({"metric": "mae"}, "metric must be one of margin, mse"),
        ({"report_share": 1.0}, "report_share must be a number above 0 and below 1"),
    ],
)
def test_bad_input_is_named(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        survey(**{"attributes": (3, 4), "n": 100, **wrong})


def test_a_budget_of_many_digits_is_spent_to_the_end():
    """What reaches the error with all that is accepted does, though no rounder budget lies between the two."""
    bought = hush.survey(attributes=(5,), n=2_000, rounds=3, max_epsilon=1.2345, worst=True)
    for choice in bought.choices[:3]:
        plan = hush.survey(
            attributes=(5,), n=2_000, rounds=3, error=choice.error, max_epsilon=1.2345, worst=True, changing=False
        )
        assert choice.name in {each.name for each in plan.choices}
        assert all(each.error <= choice.error * (1 + 1e-12) for each in plan.choices)
        assert all(each.total <= 1.2345 for each in plan.choices)


@pytest.mark.parametrize("wish", [{"error": 1e-4, "n": 3}, {"n": 3, "max_epsilon": 40.0}])
def test_what_is_never_wrong_is_planned_too(wish):
    """At budgets near 40 an error is zero in doubles, which has no logarithm."""
    plan = hush.survey(attributes=(3,), rounds=5, worst=True, **wish)
    assert plan.feasible
