"""What is answered: each number against the planner's own, and each way out planned again."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

import hush
from hush.workbench.plan import Mistakes, Question, answered, takes_long
from hush.workbench.plan.axes import front
from hush.workbench.plan.question import AVERAGE

FIRST = Question(people=20_000, points=1.0, answers=12)


def test_the_recommendation_is_the_planners():
    """Its words have its numbers, rounded so that nobody is promised too much."""
    answer, plan = answered(FIRST), hush.plan(n=20_000, k=12, error=0.01, worst=True)
    assert answer.made == plan.first.spec
    assert answer.recommended is not None
    assert answer.recommended.numbers == plan.first.numbers
    assert [option.name for option in answer.options] == [choice.name for choice in plan.choices]
    use, error, guess = answer.headline
    assert f"ε = {plan.first.numbers['epsilon']:g}." in use
    assert "From 20,000 people, each percentage is then within ±1 point" in error
    assert "is right 23.6 times in 100; 8.33 by luck alone" in guess
    assert 0.235 < plan.first.mechanism.asr() <= 0.236


def test_alternatives_gain_something_and_give_something_up():
    """Two or three, compared with the recommendation by both numbers."""
    for question in (FIRST, replace(FIRST, held=AVERAGE), Question(people=5_000, points=None, answers=6, epsilon=1.0)):
        answer = answered(question)
        assert 2 <= len(answer.alternatives) <= 3
        assert answer.recommended not in answer.alternatives
        for option in answer.alternatives:
            assert option.gains
            assert option.gives_up
            assert option.when.startswith("Worth a thought if")
            assert all(" instead of " in words for words in (*option.gains, *option.gives_up))


def test_what_nobody_should_promise_is_no_alternative():
    """An ε that one would be warned of, beside one that is none."""
    answer = answered(Question(people=10_000, points=2.0, answers=6))
    assert answer.caution == ""
    assert max(option.numbers["epsilon"] for option in answer.options) > 4
    assert answer.alternatives
    assert max(option.numbers["epsilon"] for option in answer.alternatives) <= 4


def test_a_gain_is_a_gain():
    """What is said to be smaller is smaller."""
    answer = answered(replace(FIRST, held=AVERAGE))
    assert answer.recommended is not None
    for option in answer.alternatives:
        for words in option.gains:
            if words.startswith("a smaller ε"):
                assert option.numbers["epsilon"] < answer.recommended.numbers["epsilon"]
            if words.startswith("fewer right guesses"):
                assert option.numbers["asr"] < answer.recommended.numbers["asr"]


def test_another_row_can_be_chosen():
    """All that is said and handed out is then of that one; what is no row is refused in words."""
    answer = answered(replace(FIRST, chosen="grr"))
    assert answer.made.mechanism.name() == "GRR"
    assert answer.chosen is not None
    assert answer.chosen.name == "GRR"
    assert "generalized randomized response (GRR)" in answer.headline[0]
    assert answer.why.startswith("You chose GRR in place of")
    with pytest.raises(Mistakes) as caught:
        answered(replace(FIRST, chosen="nothing"))
    assert "must name a row" in caught.value.by_field["chosen"]


@pytest.mark.parametrize(
    "question",
    [
        replace(FIRST, epsilon=1.0),
        replace(FIRST, guesses=20.0),
        replace(FIRST, epsilon=0.5, guesses=10.0, points=0.2),
        Question(people=100, points=0.1, answers=5),
        Question(people=2_000, points=1.0, answers=5, sensitive=(0,), epsilon=1.0),
        Question(people=2_000, points=2.0, answers=12, rounds=6, epsilon=1.0),
    ],
)
def test_every_way_out_leads_out(question):
    """Where nothing meets a wish, each way that is told is one that something meets."""
    answer = answered(question)
    assert not answer.feasible
    assert answer.ways_out
    assert answer.headline == ("Nothing meets this wish as it is.",)
    for way in answer.ways_out:
        assert way.words.endswith(".")
        assert answered(way.question).feasible, way.words


def test_who_asks_too_few_is_told_how_many_would_do():
    """A number of people, an error and an ε."""
    said = " ".join(way.words for way in answered(replace(FIRST, epsilon=1.0)).ways_out)
    assert "Accept ε = 2.36 instead of 1." in said
    assert "points instead of ±1." in said
    assert "people instead of 20,000." in said


def test_shuffling_adds_what_the_library_says():
    """For these people, and less the fewer report."""
    answer = answered(FIRST)
    shuffling = answer.shuffling
    assert shuffling is not None
    mechanism = answer.made.mechanism
    central = dict(zip(shuffling.people, shuffling.epsilon, strict=True))
    from hush.planning.shuffling import shuffled_epsilon

    assert central[20_000] == shuffled_epsilon(mechanism, 20_000, 1e-6).epsilon
    assert list(shuffling.epsilon) == sorted(shuffling.epsilon, reverse=True)
    assert "mixes all 20,000 reports" in shuffling.words[0]


def test_as_many_people_as_can_be_said_are_planned_for():
    """What shuffling adds is then not asked for even more of them."""
    most = Question(people=10**12, points=1.0, answers=4)
    answer = answered(most)
    assert answer.feasible
    assert answer.shuffling is not None
    assert max(answer.shuffling.people, default=most.people) == most.people


def test_one_person_is_no_people():
    """Whoever tries the smallest number reads a sentence, too."""
    assert answered(Question(people=1, points=50.0, answers=2)).headline[1].startswith("From 1 person, ")


def test_few_people_gain_nothing_by_shuffling():
    """And are told so."""
    answer = answered(Question(people=5, points=60.0, answers=3))
    assert answer.shuffling is not None
    assert answer.shuffling.words == ("Mixing the reports of only 5 people would add nothing that can be proved.",)


def test_a_promise_that_protects_little_is_warned_of():
    """Before it is made to anybody; else there is no warning."""
    assert answered(FIRST).caution == ""
    assert "hardly a protection" in answered(Question(people=3_000, points=1.0, answers=200)).caution
    assert "More than half" in answered(Question(people=1_000, points=2.0, answers=3)).caution


def test_only_what_is_sensitive_needs_less():
    """The least ε of any such mechanism that reaches the error, beside one that protects everything."""
    question = Question(people=20_000, points=1.0, answers=5, sensitive=(0, 1))
    answer = answered(question)
    assert answer.recommended is not None
    plain = next(option for option in answer.alternatives if option.name.endswith("all protected"))
    assert answer.recommended.numbers["epsilon"] < plain.numbers["epsilon"]
    assert answer.recommended.numbers["error"] <= 0.01
    assert answer.made.mechanism.guarantee == hush.ULDP(answer.recommended.numbers["epsilon"], (0, 1))
    smaller = hush.uRR(k=5, epsilon=round(answer.recommended.numbers["epsilon"] - 0.01, 2), sensitive=(0, 1))
    assert 1.959964 * smaller.forms.worst_variance(20_000) ** 0.5 > 0.01
    every = answered(replace(question, chosen=plain.name))
    assert every.made.mechanism.guarantee == hush.LDP(plain.numbers["epsilon"])
    assert "protects every answer" in every.headline[0]


def test_rounds_are_planned_as_a_survey():
    """With a person's total, and a warning where changes are not hidden."""
    question = Question(people=20_000, points=2.0, answers=12, rounds=6)
    told: list[float] = []
    answer, plan = (
        answered(question, told.append),
        hush.survey(attributes=(12,), n=20_000, rounds=6, error=0.02, worst=True),
    )
    assert answer.made == plan.first.spec
    assert told[-1] == 1.0
    assert "In every one of 6 rounds" in answer.headline[1]
    assert "answers change from round to round" in answer.caution
    assert {option.name for option in answer.alternatives} <= {choice.name for choice in plan.choices}
    held = answered(replace(question, changing=True))
    assert held.made.mechanism.kind == "frequency"


def test_the_front_is_drawn_where_options_differ():
    """Each option once, the chosen one standing out, in numbers that are shown in the table."""
    answer = answered(FIRST)
    drawn = front(answer)
    names = [name for _, _, _, labels, _ in drawn.series for name in labels]
    assert sorted(names) == sorted(option.name for option in answer.options)
    assert (drawn.x, drawn.y) == ("ε, smaller is more private", "right guesses in 100")
    chosen = [labels[at] for _, _, _, labels, at in drawn.series if at is not None]
    assert chosen == ["tuned PGR"]
    assert all(len(option.row) == len(answer.header) for option in answer.options)


def test_another_error_costs_fewer_guesses():
    """The larger the error, the fewer guesses are right."""
    curve = answered(FIRST).curve
    assert list(curve.points) == sorted(curve.points)
    assert list(curve.guesses) == sorted(curve.guesses, reverse=True)
    assert curve.points[0] < 1 < curve.points[-1]


def test_answers_travel_between_processes():
    """As jobs hand them over."""
    answer = answered(FIRST)
    assert pickle.loads(pickle.dumps(answer)) == answer


@pytest.mark.parametrize(
    ("question", "long"),
    [(FIRST, False), (replace(FIRST, answers=500), True), (replace(FIRST, rounds=2), True)],
)
def test_what_takes_seconds_is_known(question, long):
    """So that a page can make it a job."""
    assert takes_long(question) is long
