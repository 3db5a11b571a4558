"""Longitudinal samplers against the law of whole sequences, and the errors of estimates. False alarms: 1e-9 a test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hush
from hush.longitudinal import (
    LGRR,
    LOLOHA,
    LOSUE,
    LOUE,
    LSOUE,
    LSUE,
    BiLOLOHA,
    Longitudinal,
    Memoized,
    Repeated,
    dBitFlipPM,
)
from hush.statistics import FALSE_ALARM, counts_alarm
from hush.statistics import sigmas as z_limit

BUDGETS = {"epsilon_permanent": 2.0, "epsilon_report": 1.0}
PLAIN: list[Longitudinal] = [
    LGRR(k=3, **BUDGETS),
    *(cls(k=2, **BUDGETS) for cls in (LSUE, LOSUE, LOUE, LSOUE)),
    dBitFlipPM(k=3, epsilon_permanent=1.5, d=3),
    Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)),
]
HASHED: list[Longitudinal] = [
    BiLOLOHA(k=4, **BUDGETS),
    LOLOHA(k=6, **BUDGETS, g=3),
    dBitFlipPM(k=4, epsilon_permanent=1.5, d=1),
    dBitFlipPM(k=5, epsilon_permanent=1.5, d=2),
]
HISTORY = (0, 1, 0)


def codes(reports: np.ndarray) -> list[bytes]:
    """Whole sequences, each as bytes."""
    rows = np.ascontiguousarray(reports)
    return [row.tobytes() for row in rows]


def sequences(protocol: Longitudinal, tau: int) -> np.ndarray:
    """All that a client without public randomness may send."""
    outputs = protocol.first_report.outputs()
    return outputs[np.array(list(itertools.product(range(len(outputs)), repeat=tau)))]


def follows(protocol: Longitudinal, reports: np.ndarray) -> str:
    """How sequences of people with HISTORY differ from their law, over all that may be sent."""
    every = sequences(protocol, len(HISTORY))
    chances = np.exp(protocol.sequence_log_prob(every, np.tile(HISTORY, (len(every), 1))))
    place = {code: i for i, code in enumerate(codes(every))}
    seen = np.bincount([place[code] for code in codes(reports)], minlength=len(every))
    assert not seen[chances == 0].any()
    return counts_alarm(chances * len(reports), seen)


def follows_given_public(protocol: Longitudinal, reports: np.ndarray) -> str:
    """The same where part of a report is public: given it, a client's states are known, and its answers have a law."""
    public, core = protocol._undress(reports)
    states = protocol._states(public, np.tile(HISTORY, (len(reports), 1)))
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(states.tolist()):
        alike.setdefault(tuple(row), []).append(i)
    answers = protocol._answers()
    every = answers[np.array(list(itertools.product(range(len(answers)), repeat=len(HISTORY))))]
    place = {code: i for i, code in enumerate(codes(every))}
    for row, people in alike.items():
        chances = np.exp(protocol._likelihood(every, np.tile(row, (len(every), 1))))
        seen = np.bincount([place[code] for code in codes(core[people])], minlength=len(every))
        alarm = counts_alarm(chances * len(people), seen, comparisons=len(alike))
        if alarm:
            return alarm
    return ""


@pytest.mark.parametrize("protocol", PLAIN, ids=repr)
def test_collected_sequences_follow_their_law(protocol: Longitudinal, thorough: bool) -> None:
    reports = protocol.collect(np.tile(HISTORY, (100_000 if thorough else 40_000, 1)), rng=hush.seeded(7))
    assert follows(protocol, reports) == ""


@pytest.mark.parametrize("protocol", HASHED, ids=repr)
def test_collected_sequences_follow_their_law_given_what_is_public(protocol: Longitudinal, thorough: bool) -> None:
    reports = protocol.collect(np.tile(HISTORY, (100_000 if thorough else 40_000, 1)), rng=hush.seeded(7))
    assert follows_given_public(protocol, reports) == ""


@pytest.mark.parametrize("protocol", PLAIN + HASHED, ids=repr)
def test_clients_have_the_same_law(protocol: Longitudinal, thorough: bool) -> None:
    rng = hush.seeded(7)
    rows = []
    for _ in range(4_000 if thorough else 1_500):
        client = protocol.client(rng=rng)
        rows.append([client.report(value) for value in HISTORY])
    reports = np.array(rows, protocol.report_dtype)
    check = follows if protocol in PLAIN else follows_given_public
    assert check(protocol, reports) == ""


@pytest.mark.parametrize("protocol", PLAIN[:5], ids=repr)
def test_forgetting_what_was_kept_is_noticed(protocol: Longitudinal) -> None:
    """The check above has teeth: the same people with new answers in every round do not follow the law."""
    rounds = [protocol.collect(np.full((400_000, 1), v), rng=hush.seeded([7, t])) for t, v in enumerate(HISTORY)]
    assert follows(protocol, np.concatenate(rounds, axis=1)) != ""


def test_the_buckets_asked_about_are_uniform_and_say_nothing_of_the_value() -> None:
    protocol = dBitFlipPM(k=6, epsilon_permanent=1.0, d=2)
    pairs = list(itertools.combinations(range(6), 2))
    for value in (0, 5):
        reports = protocol.collect(np.full((60_000, 1), value), rng=hush.seeded([7, value]))
        shown = [tuple(row) for row in reports["buckets"][:, 0].tolist()]
        seen = np.array([shown.count(pair) for pair in pairs])
        assert counts_alarm(np.full(len(pairs), 60_000 / len(pairs)), seen, comparisons=2) == ""


ESTIMATED: list[Longitudinal] = [
    LGRR(k=5, **BUDGETS),
    LSUE(k=12, **BUDGETS),
    LOSUE(k=12, **BUDGETS),
    LOUE(k=12, **BUDGETS),
    LSOUE(k=12, **BUDGETS),
    LOLOHA(k=12, **BUDGETS, g=4),
    dBitFlipPM(k=12, epsilon_permanent=1.0, d=3),
]


@pytest.mark.parametrize("protocol", ESTIMATED, ids=repr)
def test_estimates_are_unbiased_with_the_variance_stated(protocol: Longitudinal) -> None:
    """Many small crowds, of whom 30 % hold value 0; a variance of so many normal estimates is nearly chi-square."""
    crowds, n, tau = 1500, 200, 3
    share = np.where(np.arange(n) < 0.3 * n, 0, 1 + np.arange(n) % (protocol.k - 1))
    values = np.repeat(np.tile(share, crowds)[:, None], tau, axis=1)
    reports = protocol.collect(values, rng=hush.seeded(7)).reshape(crowds, n, tau)
    first = protocol.first_report
    truth = np.bincount(share, minlength=protocol.k) / n

    def estimates(t: int) -> np.ndarray:
        return np.array([first.decode(first.tally(np.ascontiguousarray(crowd[:, t])), n) for crowd in reports])

    rounds = np.stack([estimates(t) for t in range(tau)])
    due = first.variances(truth, n)
    items = tau * protocol.k
    z = (rounds.mean(axis=1) - truth) / np.sqrt(due / crowds)
    assert np.abs(z).max() < z_limit(items)
    spread = rounds.var(axis=1, ddof=1) / due
    reach = z_limit(items) * np.sqrt(2 / crowds)
    assert np.abs(spread - 1).max() < 1.1 * reach
    if hasattr(protocol, "mean_variance"):
        averaged = rounds.mean(axis=0).var(axis=0, ddof=1)
        stated = np.array([protocol.mean_variance(tau, n, float(f)) for f in truth])
        assert np.abs(averaged / stated - 1).max() < 1.1 * reach
        assert (stated > due / tau).all()  # rounds share what is kept


def test_intervals_cover_in_every_round() -> None:
    protocol = LOSUE(k=10, **BUDGETS)
    values = np.random.default_rng(1).integers(0, 10, (20_000, 5)) % 7
    estimates = protocol.estimate(protocol.simulate(values, rng=hush.seeded(7)))
    for t, estimate in enumerate(estimates):
        truth = np.bincount(values[:, t], minlength=10) / len(values)
        low, high = estimate.interval(1 - FALSE_ALARM / 5, simultaneous=True)
        assert ((low <= truth) & (truth <= high)).all()


def test_memoization_bounds_what_averaging_reveals() -> None:
    """The best guess from many reports succeeds as often as from the permanent answer alone, no more."""
    protocol = LGRR(k=4, epsilon_permanent=1.0, epsilon_report=0.6)
    values = np.arange(40_000) % 4
    reports = protocol.collect(np.repeat(values[:, None], 200, axis=1), rng=hush.seeded(7))
    success = (protocol.attack(reports, rng=hush.seeded(8)) == values).mean()
    kept = hush.GRR(k=4, epsilon=1.0).p_star
    assert abs(success - kept) < z_limit() * np.sqrt(kept * (1 - kept) / values.size)


def test_ties_are_broken_at_random() -> None:
    """Five reports of a hundred values mostly tie; a guess that takes the first would favour small values."""
    repeated = Repeated(hush.GRR(k=100, epsilon=0.25), 5)
    values = np.zeros((60_000, 5), np.int64)
    guesses = repeated.attack(repeated.collect(values, rng=hush.seeded(7)), rng=hush.seeded(8))
    seen = np.bincount(guesses, minlength=100)
    others = np.full(99, seen[1:].sum() / 99)
    assert counts_alarm(others, seen[1:]) == ""
    assert abs(seen[0] / len(values) - 0.013) < 0.0005 + z_limit() * np.sqrt(0.013 / len(values))  # not 0.058
