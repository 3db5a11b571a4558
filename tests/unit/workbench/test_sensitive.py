"""What the distinction gains: the numbers are those of the utility-optimized mechanisms, directly asked."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.utility import MECHANISMS, PLAIN, total_error
from hush.workbench.sensitive import MarkedAnswers, answers_in, distinguished, protected, revealed
from hush.workbench.sensitive.words import headline, parts

Z95 = 1.959963984540054
DRINKS = answers_in("tea\ncoffee\nwater\n*beer\n* cannabis\njuice\n")


def test_answers_are_read_line_by_line() -> None:
    assert DRINKS.labels == ("tea", "coffee", "water", "beer", "cannabis", "juice")
    assert DRINKS.sensitive == {"beer", "cannabis"}
    assert DRINKS.domain.sensitive == (3, 4)
    assert DRINKS.marking(["tea", "gone"]).sensitive == {"tea"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "from 2 to 1,000"),
        ("one", "got 1; add some"),
        ("a\nb\n\na", "the same on lines 1 and 4"),
        ("a\n*a", "the same on lines 1 and 2"),
        ("a\n*\nb", "after the asterisk, got line 2"),
        ("a\n" + "b" * 201, "at most 200 letters, got 201 on line 2"),
        ("\n".join(map(str, range(1001))), "got 1,001; merge some"),
    ],
)
def test_what_is_no_list_of_answers_is_said_in_words(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=r"^Answers must") as refused:
        answers_in(text)
    assert said in str(refused.value)


def test_some_but_not_all_must_be_sensitive() -> None:
    with pytest.raises(ParameterError, match="mark at least one"):
        _ = MarkedAnswers(("a", "b")).domain
    with pytest.raises(ParameterError, match="all 2 marked"):
        _ = MarkedAnswers(("a", "b"), frozenset("ab")).domain
    lacking = [MarkedAnswers(("a", "b"), frozenset(marked)).lacking for marked in ("", "a", "ab")]
    assert [each and each[0] for each in lacking] == ["Nothing is marked yet", None, "All answers are marked"]


@pytest.mark.parametrize("theta", [None, 0.2, 0.9])
def test_errors_with_the_distinction_are_those_of_the_mechanisms(theta: float | None) -> None:
    found = distinguished(DRINKS.domain, 1.0, 20_000, theta)
    share = 4 / 6 if theta is None else theta
    assert found.theta == pytest.approx(share)
    frequencies = np.full(6, share / 4)
    frequencies[[3, 4]] = (1 - share) / 2
    assert {type(option.mechanism) for option in found.options} == {*MECHANISMS}
    for option in found.options:
        u = option.mechanism
        assert option.distinct.overall == pytest.approx(Z95 * math.sqrt(total_error(u, share, 20_000) / 6), rel=1e-9)
        variances = u.variances(frequencies, 20_000)
        assert option.distinct.sensitive == pytest.approx(Z95 * math.sqrt(variances[[3, 4]].mean()))
        assert option.distinct.other == pytest.approx(Z95 * math.sqrt(variances[[0, 1, 2, 5]].mean()))
        everything = type(u)(k=6, epsilon=1.0, sensitive=range(6))
        assert everything.guarantee == hush.LDP(1.0)
        plain = everything.variances(frequencies, 20_000)
        assert option.same.overall == pytest.approx(Z95 * math.sqrt(plain.mean()))
        assert option.fewer == pytest.approx(plain.mean() / variances.mean())
    assert [o.distinct.overall for o in found.options] == sorted(o.distinct.overall for o in found.options)


def test_without_the_distinction_stands_the_best_that_protects_everything() -> None:
    found = distinguished(DRINKS.domain, 1.0, 20_000)
    ways = [cls(k=6, epsilon=1.0).variances(np.full(6, 1 / 6), 20_000).mean() for cls in PLAIN]
    assert found.plain_margins.overall == pytest.approx(Z95 * math.sqrt(min(ways)))
    assert found.fewer == pytest.approx(min(ways) / (found.best.distinct.overall / Z95) ** 2)


def test_the_spec_of_each_mechanism_protects_what_was_marked() -> None:
    found = distinguished(DRINKS.domain, 1.0, 20_000)
    for option in found.options:
        spec = hush.Spec.from_json(hush.Spec(option.mechanism, found.domain).to_json())
        assert spec.mechanism.guarantee == hush.ULDP(1.0, (3, 4))
        assert spec.domain.labels == DRINKS.labels
    assert found.option("uHR").name == "uHR"
    assert found.option("nobody") is found.best


def test_sentences_tell_what_is_gained_protected_and_revealed() -> None:
    found = distinguished(DRINKS.domain, 1.0, 20_000, 0.7)
    assert "Protecting only the 2 sensitive answers" in headline(found)
    assert f"{found.fewer:.3g} times as many people" in headline(found)
    assert parts(found.best).startswith(f"{found.best.name}: a sensitive answer ±")
    said = protected(found.best.mechanism)
    assert "at most 2.72 times likelier" in said[0]
    assert "is 1;" in said[1]


def test_how_much_is_revealed_is_what_reports_reveal() -> None:
    found = distinguished(DRINKS.domain, 1.0, 20_000, 0.7)
    u = found.best.mechanism
    people = np.repeat(np.arange(6), [3500, 3500, 3500, 3000, 3000, 3500])
    reports = u.privatize(people, rng=hush.seeded(1))
    hidden = u.protected(reports)
    assert hidden[np.isin(people, [3, 4])].all()
    rate = 1 - hidden[~np.isin(people, [3, 4])].mean()
    assert rate == pytest.approx(u.z_star, abs=6 * math.sqrt(0.25 / 14_000))
    among = np.isin(people[hidden], [3, 4]).mean()
    told = 0.3 / (0.3 + 0.7 * (1 - u.z_star))
    assert among == pytest.approx(told, abs=6 * math.sqrt(0.25 / hidden.sum()))
    said = " ".join(revealed(u, 0.7))
    assert f"{100 * u.z_star:.1f} %" in said
    assert f"{100 * told:.1f} %" in said
    assert "30 % of people" in said


def test_where_nothing_is_gained_it_is_said() -> None:
    nearly = hush.Domain(size=3, sensitive=[0, 1])
    found = distinguished(nearly, 8.0, 1000, 0.0)
    assert found.fewer < 1.005 or "times as many people" in headline(found)
    assert ("gains nothing" in headline(found)) == (found.fewer < 1.005)
