"""From what a form or a link says to a question, and back."""

from __future__ import annotations

import pickle
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hush.workbench.plan import Mistakes, Question, query, read
from hush.workbench.plan.link import LONGEST, fields
from hush.workbench.plan.question import AVERAGE

FULL = {"points": "1", "people": "20,000", "answers": "12"}


def test_a_sentence_is_read_as_people_write_it():
    """Thousands apart, by commas or spaces; all answers are protected, and each percentage is held to the error."""
    question = read({"points": " 1.5 ", "people": "20 000", "answers": "12"})
    assert question == Question(people=20_000, points=1.5, answers=12)
    assert question.error == 0.015
    assert question.worst
    assert question.domain.size == 12
    assert read({"points": "1", "people": "1,234,567", "answers": "12"}).people == 1_234_567
    assert read({"points": "1", "people": "10,00,000", "answers": "12"}).people == 1_000_000


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"people": ""}, "people", "how many people"),
        ({"people": "many"}, "people", "must be a number"),
        ({"people": "2.5"}, "people", "whole number"),
        ({"people": "0"}, "people", "from 1 to"),
        ({"people": "1e400"}, "people", "finite"),
        ({"answers": ""}, "answers", "or list them"),
        ({"answers": "1"}, "answers", "from 2 to"),
        ({"points": "0"}, "points", "above 0"),
        ({"points": "101"}, "points", "at most 100"),
        ({"points": ""}, "points", "how exact"),
        ({"points": "0,5"}, "points", "must have a point before its decimals"),
        ({"epsilon": "1,5"}, "epsilon", "must have a point before its decimals"),
        ({"people": "20,00"}, "people", "must have a point before its decimals"),
        ({"people": "many, many"}, "people", "must be a number"),
        ({"held": "some"}, "held", "one of"),
        ({"guesses": "3"}, "guesses", "Luck alone is right 8.33 times in 100"),
        ({"epsilon": "0"}, "epsilon", "above 0"),
        ({"matters": "luck"}, "matters", "one of"),
        ({"matters": "accuracy"}, "matters", "More ε always helps"),
        ({"rounds": "0"}, "rounds", "from 1 to"),
        ({"labels": "a"}, "labels", "at least two"),
        ({"labels": "a\na"}, "labels", "distinct"),
        ({"labels": "\n".join(map(str, range(5_001)))}, "labels", "at most 5,000"),
        ({"other": "rest"}, "other", "List the answers first"),
        ({"sensitive": "12"}, "sensitive", "a number from 0 to 11"),
        ({"labels": "a\nb\nc", "sensitive": "d"}, "sensitive", "“d” must be one of the answers"),
        ({"labels": "a\nb", "sensitive": "a, b"}, "sensitive", "leave this empty"),
        ({"sensitive": "1", "rounds": "2"}, "sensitive", "ask once"),
        ({"sensitive": "1", "guesses": "50"}, "guesses", "bound ε instead"),
        ({"sensitive": "1", "matters": "bits"}, "matters", "least ε matters"),
        ({"rounds": "2", "guesses": "50"}, "guesses", "bound ε instead"),
        ({"rounds": "2", "matters": "bits"}, "matters", "least total ε"),
    ],
)
def test_what_is_wrong_is_said_of_its_field(said, field, words):
    """In words, beside nothing else."""
    with pytest.raises(Mistakes) as caught:
        read({**FULL, **said})
    assert list(caught.value.by_field) == [field]
    assert words in caught.value.by_field[field]
    assert caught.value.by_field[field].endswith(".")


def test_all_mistakes_are_told_at_once():
    """Nobody corrects one field after the other."""
    with pytest.raises(Mistakes) as caught:
        read({"points": "-1", "people": "x", "answers": ""})
    assert set(caught.value.by_field) == {"points", "people", "answers"}
    assert pickle.loads(pickle.dumps(caught.value)).by_field == caught.value.by_field


def test_labels_take_the_place_of_their_number():
    """One a line, or by commas in one line; the answer for everything else is one more."""
    question = read({"points": "1", "people": "9", "labels": "red, green", "other": "rest"})
    assert question.labels == ("red", "green", "rest")
    assert question.answers == question.domain.size == 3
    assert question.domain.other == "rest"
    assert read({"points": "1", "people": "9", "labels": "a, b\nc"}).labels == ("a, b", "c")


def test_sensitive_answers_are_found_by_name_or_number():
    """A label with commas is one label."""
    said = {"points": "1", "people": "9", "labels": "a, b\nc\nd"}
    assert read({**said, "sensitive": "a, b"}).sensitive == (0,)
    assert read({**said, "sensitive": "d, c"}).sensitive == (1, 2)
    assert read({**FULL, "sensitive": "0, 3"}).sensitive == (0, 3)


LABELS = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=9).filter(
        lambda text: text == text.strip() and not text.isnumeric() and "." not in text
    ),
    min_size=3,
    max_size=6,
    unique=True,
)


@given(
    labels=st.none() | LABELS,
    points=st.none() | st.floats(0.01, 50).map(lambda x: float(f"{x:.6g}")),
    people=st.integers(1, 10**9),
    epsilon=st.floats(0.1, 9).map(lambda x: float(f"{x:.6g}")),
    average=st.booleans(),
)
def test_a_link_asks_the_same_again(labels, points, people, epsilon, average):
    """Whatever was asked is read from the link as it was."""
    question = Question(
        people=people,
        points=points,
        answers=5 if labels is None else len(labels),
        labels=None if labels is None else tuple(labels),
        epsilon=epsilon,
        held=AVERAGE if average else "each",
        chosen="tuned SS",
    )
    link = query(question)
    assert link is not None
    assert read(dict(parse_qsl(link))) == question


def test_a_link_keeps_every_digit():
    """Of numbers that no twelve digits write."""
    question = Question(people=10**12, points=7 / 3, answers=12, guesses=100 / 7, epsilon=1e-5 / 3)
    assert read(fields(question)) == question


def test_a_link_keeps_what_is_sensitive_and_how_often():
    """Lists, too."""
    first = Question(people=9, points=1.0, answers=3, labels=("a, b", "c", "d"), sensitive=(0, 2))
    assert read(fields(first)) == first
    second = Question(people=9, points=1.0, answers=30, epsilon=2.0, rounds=12, changing=True)
    assert read(fields(second)) == second


def test_a_list_that_is_too_long_has_no_link():
    """Rather than one that some browser cuts."""
    long = tuple(f"a rather long answer, number {i}" for i in range(400))
    assert query(Question(people=9, points=1.0, answers=400, labels=long)) is None
    assert len(query(Question(people=9, points=1.0, answers=400)) or "") < LONGEST


def test_the_answer_for_everything_else_can_be_sensitive():
    """It is one of the answers, though the list does not have it."""
    question = read({"points": "3", "people": "5000", "labels": "tea\nbeer", "other": "rest", "sensitive": "rest"})
    assert question.labels == ("tea", "beer", "rest")
    assert question.sensitive == (2,)
