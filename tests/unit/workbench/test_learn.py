"""What the page Learn says is what Hush computes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.attacks import poisoning
from hush.workbench.learn import budget, coins, crowd, limits, odds, quiz, text


def test_two_coins_are_randomized_response() -> None:
    m = coins.mechanism()
    assert coins.law()["no"] == {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
    assert coins.loss() == pytest.approx(math.log(3), abs=1e-15)
    assert m.p_star == pytest.approx(float(coins.honest()), abs=1e-15)
    assert m.exact_epsilon() <= coins.loss()


def test_tails_never_ask_for_the_truth() -> None:
    for second in (coins.HEADS, coins.TAILS):
        assert coins.said("yes", coins.TAILS, second) == coins.said("no", coins.TAILS, second)


def test_a_report_moves_odds_by_the_same_factor_whatever_was_known() -> None:
    m = coins.mechanism()
    for before in (0.01, 0.3, 0.5, 0.97):
        found = odds.moved(m, before)
        assert found.odds_after / found.odds_before == pytest.approx(float(coins.factor()))
        away = odds.moved(m, before, report=1)
        assert away.odds_before / away.odds_after == pytest.approx(float(coins.factor()))
        assert away.after < before < found.after
    assert odds.moved(m, 0.1).sentence == "10 of 100 cases before the report, in 25 after it."
    assert odds.moved(m, 0.1).odds == "from 1:9 to 1:3"


def test_belief_follows_bayes_for_more_answers() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    found = odds.moved(m, 0.4, answer=2)
    likely = np.array([m.q_star, m.q_star, m.p_star, m.q_star])
    prior = np.array([0.2, 0.2, 0.4, 0.2])
    assert found.after == pytest.approx((likely * prior)[2] / (likely * prior).sum())
    assert found.factor == pytest.approx(math.e)


def test_certainty_is_never_rounded_to() -> None:
    assert odds.of_hundred(0.9999999) == "99.99"
    assert float(odds.of_hundred(1e-9)) > 0


def test_a_crowd_is_counted_by_its_reports_and_the_truth_is_kept_apart() -> None:
    found = crowd.InventedCrowd(("a", "b", "c"), 1.0, rng=hush.seeded(7))
    assert sum(found.shares) == pytest.approx(1.0)
    found.answer(2)
    for size in crowd.STEPS:
        found.join(size - found.n)
        assert found.standing().n == size
    standing = found.standing()
    assert sum(standing.truth) == pytest.approx(1.0)
    assert standing.reach < 0.03
    assert standing.off < 0.05  # five standard errors


def test_error_bars_shrink_as_people_join() -> None:
    found = crowd.settled(0.3, coins.mechanism(), [100, 400, 1600, 6400], hush.seeded(7))
    reaches = [each.reach for each in found]
    assert reaches == sorted(reaches, reverse=True)
    assert reaches[0] / reaches[-1] == pytest.approx(8, rel=0.15)
    assert [each.n for each in found] == [100, 400, 1600, 6400]


def test_error_bars_hold_the_truth_as_often_as_they_say() -> None:
    rng, held = hush.seeded(7), 0
    for _ in range(200):
        standing = crowd.settled(0.3, coins.mechanism(), [500], rng)[0]
        held += standing.low[0] <= standing.truth[0] <= standing.high[0]
    assert held >= 168  # of 200 at 0.95: below by chance once in 10^9


def test_a_visitors_own_report_counts_for_one() -> None:
    plain, more = (crowd.InventedCrowd(("a", "b"), 1.0, (0.5, 0.5), hush.seeded(7)) for _ in range(2))
    more.answer(1)
    for each in (plain, more):
        each.join(1000)
    assert more.n == plain.n + 1
    with pytest.raises(hush.HushError):
        more.answer(2)


def test_reports_lie_between_nobody_and_everybody() -> None:
    m = coins.mechanism()
    assert crowd.reported(m, 0.0) == pytest.approx(0.25)
    assert crowd.reported(m, 1.0) == pytest.approx(0.75)


def test_a_larger_budget_hides_less_and_shows_more() -> None:
    found = [budget.bought(epsilon) for epsilon in (budget.LEAST, 0.5, 1.0, 2.0, 4.0, budget.MOST)]
    assert [each.guess for each in found] == sorted(each.guess for each in found)
    assert [each.reach for each in found] == sorted((each.reach for each in found), reverse=True)
    assert [found[0].name, found[-1].name] == ["very private", "nearly open"]
    assert found[2].guess == hush.GRR(k=4, epsilon=1.0).asr()
    assert "47.6 times in 100; by luck alone, 25 times" in found[2].sentences[1]


def test_repeating_adds_up_and_tells() -> None:
    m = coins.mechanism()
    guesses = [limits.guessed_after(m, times) for times in limits.TIMES]
    assert guesses == sorted(guesses)
    assert guesses[0] == pytest.approx(m.asr())
    assert limits.guessed_after(m, 3) == pytest.approx(0.75**3 + 3 * 0.75**2 * 0.25)
    assert "loses 7.7 in all" in limits.repeating(m, 7)


def test_fakes_gain_what_the_attack_gains() -> None:
    m = limits.example()
    assert limits.faked(m, 0.02, 0.1) == poisoning.gain(m, [0], fraction=0.02, frequency=0.1)
    assert limits.faked(m, 0.02, 0.1) > 0.02 * 0.9


def test_right_answers_of_the_quiz_are_right() -> None:
    m = coins.mechanism()
    one, many, error, again = quiz.puzzles()
    assert "25 in 100" in one.options[one.right]
    assert many.options[many.right] == "30 %"
    assert error.options[error.right] == f"{quiz.people_for(m, 10_000, 0.5):,}" == "40,000"
    assert m.variance(40_000, 0.3) == pytest.approx(m.variance(10_000, 0.3) / 4)
    assert again.options[again.right].startswith("99.9")
    for puzzle in quiz.puzzles():
        assert len({*puzzle.options}) == len(puzzle.options)
        assert puzzle.judged(puzzle.right).startswith("Right.")
        assert puzzle.options[puzzle.right] in puzzle.judged(1 - puzzle.right)


def test_the_words_have_the_computed_numbers() -> None:
    found = {section.id: section for section in text.sections()}
    assert list(found) == ["question", "coins", "report", "crowd", "epsilon", "limits", "quiz"]
    assert "3 in 4 end with the truth" in found["coins"].after[0]
    assert "by a factor of 3, and by no more" in found["report"].after[0]
    assert "25 % of all reports" in found["crowd"].before[0]
    words = sum(len(part.split()) for section in found.values() for part in (*section.before, *section.after))
    words += sum(len(said.split()) for _, said in text.limits_said(30))
    assert words < 900  # five minutes, with time to try things
