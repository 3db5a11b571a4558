"""What is answered: each number against the planner's own, and each way out planned again."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import hush
from hush.workbench.plan import Mistakes, Question, answered, read, takes_long
from hush.workbench.plan.axes import front
from hush.workbench.plan.link import fields
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
    assert "From 20,000 people, each percentage by itself is then within ±1 point" in error
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
        Question(people=13, points=4.67, answers=5, guesses=20.511),
        Question(people=2_000, points=1.0, answers=5, sensitive=(0, 1), epsilon=1.2345),  # no ε of three digits
        Question(people=89, points=29.5, answers=2, rounds=5, epsilon=0.6861, changing=True),
        Question(people=1, points=0.0222, answers=3, sensitive=(0, 1), epsilon=1.9),  # no error up to 100 points
        Question(people=3, points=1.54, answers=3, rounds=5, epsilon=0.89),
    ],
)
def test_every_way_out_leads_out(question):
    """Where nothing meets a wish, each way that is told is one that can be wished, and that something meets."""
    answer = answered(question)
    assert not answer.feasible
    assert answer.ways_out
    assert answer.headline == ("Nothing meets this wish as it is.",)
    for way in answer.ways_out:
        assert way.words.endswith(".")
        assert read(fields(way.question)) == way.question
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
    assert answer.shuffling.words == ("Mixing the reports of 5 people would add nothing that can be proved.",)


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


def test_nothing_is_beaten_over_time_by_what_shows_every_change():
    """Nor by an error that nobody asked for; a row is, where another is no worse, nor links more."""
    question = Question(people=3_000, points=4.0, answers=3, rounds=3)
    still = {option.name: option for option in answered(question).options}
    assert still["LGRR"].on_front
    assert still["Memoized GRR"].numbers["epsilon"] < still["LGRR"].numbers["epsilon"]
    assert still["GRR"].on_front  # which links nothing
    assert not still["LOSUE"].on_front
    moving = {option.name: option for option in answered(replace(question, changing=True)).options}
    assert moving["OLH"].numbers["error"] < moving["GRR"].numbers["error"] <= 0.04
    assert not moving["OLH"].on_front  # more ε and longer reports, for an error below the one that was asked for


def test_to_protect_everything_is_beaten_by_nothing_that_reveals():
    """However much less ε that needs."""
    answer = answered(Question(people=3_000, points=3.0, answers=5, sensitive=(0, 1), held=AVERAGE))
    assert next(option for option in answer.options if option.name.endswith("all protected")).on_front
    assert "on average over the answers if all are equally frequent" in answer.headline[1]


def test_losses_over_time_are_rounded_up():
    """Whoever reads "up to" is never told less."""
    question = Question(people=3_000, points=4.0, answers=3, rounds=3)
    plan = hush.survey(attributes=(3,), n=3_000, rounds=3, error=0.04, worst=True)
    for option, choice in zip(answered(question).options, plan.choices, strict=True):
        in_all, changing = option.row[3], option.row[4]
        assert choice.course.total * (1 - 1e-14) <= float(in_all)
        assert changing == "infinite" or choice.course.changing * (1 - 1e-14) <= float(changing.replace(",", ""))
        assert len(in_all) <= 7


def test_a_guess_that_was_simulated_says_so():
    """And how near it is; the wish says that answers change."""
    question = Question(people=3_000, points=5.0, answers=40, rounds=4, changing=True, held=AVERAGE)
    answer = answered(question)
    assert "asked 4 times, whose answers may change in between." in question.words
    assert "is right about " in answer.headline[2]
    assert "(simulated, ±" in answer.headline[2]
    assert answer.recommended is not None
    assert answer.recommended.row[6].startswith("≈ ")


@pytest.mark.parametrize("more", [{}, {"sensitive": (1,)}, {"rounds": 10_000}])
def test_what_tells_nothing_is_warned_of(more):
    """An error above 100 points; and numbers are as people write them, one among others or alone."""
    answer = answered(Question(people=1, points=None, answers=3, epsilon=0.001, **more))
    assert "such estimates tell nothing" in answer.caution or "if that can happen" in answer.caution
    said = " ".join([*answer.headline, answer.why, *(answer.shuffling.words if answer.shuffling else ())])
    assert " of 1 at " not in said
    assert "1 people" not in said
    assert "e+0" not in said
    assert "(simulated, ±0 " not in said


def test_no_error_is_said_to_be_nothing():
    """However small it is."""
    answer = answered(Question(people=10**12, points=None, answers=3, epsilon=30.0))
    assert "±0 points" not in answer.headline[1]
    assert "±0.0" in answer.headline[1]


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


def test_no_choice_is_better_than_what_is_possible():
    """The line goes through what meets the wish, where that lies between the points of its grid."""
    answer = answered(Question(people=5_000, points=2.0, answers=2))
    points, guesses = answer.curve.points, answer.curve.guesses
    for option in answer.options:
        error, guessed = 100 * option.numbers["error"], 100 * option.numbers["asr"]
        if points[0] <= error <= points[-1]:
            assert guessed >= np.interp(error, points, guesses) * (1 - 1e-9)


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


def test_the_plot_says_what_the_recommendation_says():
    """The same digits, rounded the same way, and names as they are written: uRR is no URR."""
    answer = answered(Question(people=3_000, points=3.0, answers=5, sensitive=(0, 1), held=AVERAGE))
    drawn = front(answer)
    assert "70.1 times in 100" in answer.headline[2]
    assert "The large point is uRR: ε = 0.849 and 70.1 right guesses in 100." in drawn.summary
    assert drawn.words.startswith(f"There are {len(answer.options)}. ")
