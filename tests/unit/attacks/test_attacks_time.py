"""Attacks on collections over time, against exact enumeration of all sequences."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.analysis.most_support import direct
from hush.attacks import changes, pools
from hush.attacks import longitudinal as attacks
from hush.attacks.longitudinal import expected_majority
from hush.attacks.reconstruction import reconstruct
from hush.errors import HushError, ParameterError, ReportError
from hush.longitudinal import LGRR, LOSUE, LSOUE, LSUE, OLOLOHA, BiLOLOHA, Longitudinal, Memoized, Repeated, dBitFlipPM
from tests.conftest import NAMES, example
from tests.unit.attacks.test_poisoning import Table

SMALL: list[Any] = [
    Repeated(hush.GRR(k=3, epsilon=0.8), 3),
    Repeated(hush.GRR(k=5, epsilon=0.3), 4),
    Repeated(hush.OUE(k=3, epsilon=0.8), 3),
    Repeated(hush.SUE(k=2, epsilon=0.8), 5),
    Repeated(hush.SS(k=4, epsilon=0.5), 3),
    Repeated(hush.HR(k=3, epsilon=1.0), 3),
    Repeated(Table(k=3, epsilon=1.0), 3),
    LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0),
    LGRR(k=4, epsilon_permanent=1.0, epsilon_report=0.4),
    LSUE(k=3, epsilon_permanent=2.0, epsilon_report=1.0),
    LOSUE(k=2, epsilon_permanent=2.0, epsilon_report=0.5),
    LSOUE(k=2, epsilon_permanent=2.0, epsilon_report=0.5),
    Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)),
    Memoized(mechanism=hush.OUE(k=3, epsilon=1.0)),
]


def named(m: Any) -> str:
    return (
        f"{type(m).__name__}-{getattr(getattr(m, 'mechanism', m), 'k', '')}-{type(getattr(m, 'mechanism', m)).__name__}"
    )


def one(m: Any) -> hush.FrequencyOracle:
    return m.mechanism if isinstance(m, Repeated) else m.first_report


def sequences(m: Any, tau: int | None = None) -> np.ndarray:
    """Every sequence of reports."""
    outputs, rounds = one(m).outputs(), tau or getattr(m, "tau", 3)
    places = np.array(list(itertools.product(range(len(outputs)), repeat=rounds)))
    return outputs[places]


def probabilities(m: Any, every: np.ndarray) -> np.ndarray:
    """Of every sequence for every unchanging value, from exact integer weights for fresh reports."""
    if isinstance(m, Repeated):
        outputs = one(m).outputs()
        weights = {y.tobytes(): [one(m).weight(y, v) / one(m).denominator for v in range(m.k)] for y in outputs}
        return np.array([np.prod([weights[y.tobytes()] for y in row], axis=0) for row in every])
    return np.exp(np.stack([m.sequence_log_prob(every, v) for v in range(m.k)], axis=1))


def reached(chances: np.ndarray, guesses: np.ndarray) -> float:
    return float(chances[np.arange(len(guesses)), guesses].sum())


# Sequences of one value.


@pytest.mark.parametrize("m", SMALL, ids=named)
@pytest.mark.parametrize("skewed", [False, True])
def test_the_likelihood_attack_is_the_best_there_is(m: Any, skewed: bool) -> None:
    every = sequences(m)
    chances = probabilities(m, every)
    assert chances.sum(axis=0) == pytest.approx(np.ones(m.k))
    prior = None if not skewed else np.arange(m.k, 0, -1.0) ** 2
    belief = np.full(m.k, 1 / m.k) if prior is None else prior / prior.sum()
    seen = attacks.likelihood(m, every, np.zeros(len(every), np.int64), prior, rng=hush.seeded(7))
    best = (chances * belief).max(axis=1).sum()
    assert reached(chances * belief, seen.guesses) == pytest.approx(best, rel=1e-9)
    assert seen.chance_level == pytest.approx(belief.max())
    if seen.expected is not None:
        assert seen.expected == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("m", SMALL, ids=named)
def test_the_majority_is_counted_right_and_never_better(m: Any) -> None:
    every = sequences(m)
    chances = probabilities(m, every) / m.k
    votes = np.zeros((len(every), m.k))
    for column in every.T:
        score = one(m).scores(np.ascontiguousarray(column))
        votes += score > score.min(axis=1, keepdims=True)  # two levels, or the argmax of a table
    if isinstance(one(m), Table):
        votes = sum(
            (s := one(m).scores(np.ascontiguousarray(c))) == s.max(axis=1, keepdims=True) for c in every.T
        ).astype(float)
    best = votes == votes.max(axis=1, keepdims=True)
    due = (chances * best / best.sum(axis=1, keepdims=True)).sum()  # averaged over the coin
    assert due <= chances.max(axis=1).sum() + 1e-12
    seen = attacks.majority(m, every, np.zeros(len(every), np.int64), rng=hush.seeded(7))
    assert best[np.arange(len(every)), seen.guesses].all()
    if seen.expected is not None:
        assert seen.expected == pytest.approx(due, rel=1e-9)


def test_where_there_is_a_formula() -> None:
    known = [m for m in SMALL if expected_majority(m, 3) is not None]
    assert len(known) == len(SMALL) - 3  # not for subsets, Hadamard response and a table from outside
    assert expected_majority(OLOLOHA(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 3) is None
    assert expected_majority(OLOLOHA(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 1) is not None
    assert direct(100, 0.1, 301) is None
    assert expected_majority(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 301) is None


def test_formulas_at_large_sizes() -> None:
    """Limits: one report is randomized response itself, many reports leave no doubt, and kept answers do."""
    assert direct(100, 0.013, 1) == pytest.approx(0.013, rel=1e-12)
    assert direct(4, 0.6, 300) == pytest.approx(1.0, abs=1e-9)
    assert direct(1000, 0.001, 300) == pytest.approx(0.001, rel=1e-9)  # no information
    fresh = Repeated(hush.OUE(k=1000, epsilon=1.0), 500)
    assert expected_majority(fresh, 500) == pytest.approx(1.0, abs=1e-9)
    kept = LGRR(k=10, epsilon_permanent=1.0, epsilon_report=0.6)
    assert expected_majority(kept, 300) == pytest.approx(hush.GRR(k=10, epsilon=1.0).p_star, rel=1e-3)
    assert expected_majority(LSUE(k=10, epsilon_permanent=1.0, epsilon_report=0.6), 3000) == pytest.approx(
        hush.SUE(k=10, epsilon=1.0).asr(), rel=1e-3
    )


def index_first(value: int, k: int, epsilon: float, tau: int) -> float:
    """How often an argmax that takes the first of equals is right about people who hold a value, exactly."""
    p = hush.GRR(k=k, epsilon=epsilon).p_star
    term = [((1 - p) / (k - 1)) ** i / math.factorial(i) for i in range(tau + 1)]
    total = 0.0
    for c in range(tau + 1):
        others = np.eye(1, tau + 1)[0]
        for v in set(range(k)) - {value}:  # the values before it must have less, those after it no more
            most = c - 1 if v < value else c
            others = np.convolve(others, [x if i <= most else 0.0 for i, x in enumerate(term)])[: tau + 1]
        total += math.comb(tau, c) * p**c * math.factorial(tau - c) * others[tau - c]
    return total


def test_the_position_of_ties_is_worth_more_than_the_reports() -> None:
    """Erratum 13: GRR, k = 100, five reports, epsilon 0.25."""
    p = hush.GRR(k=100, epsilon=0.25).p_star
    assert round(direct(100, p, 5), 4) == 0.0130
    assert round(index_first(0, 100, 0.25, 5), 4) == 0.0588
    assert round(index_first(1, 100, 0.25, 5), 4) == 0.0565
    assert round(index_first(99, 100, 0.25, 5), 4) == 0.0016
    every = [index_first(v, 7, 0.25, 4) for v in range(7)]
    assert np.mean(every) == pytest.approx(direct(7, hush.GRR(k=7, epsilon=0.25).p_star, 4), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_one_round_is_reconstruction(name: str) -> None:
    m = example(name, 5, 1.0)
    values = np.arange(400) % 5
    reports = m.privatize(values, rng=hush.seeded(1))
    single = Repeated(m, 1)
    plain = reconstruct(m, reports, values, rng=hush.seeded(2))
    seen = attacks.likelihood(single, reports[:, None], values, rng=hush.seeded(2))
    score = m.scores(reports)
    best = score >= score.max(axis=1, keepdims=True) - 1e-9
    rows = np.arange(400)
    assert best[rows, plain.guesses].all()
    assert best[rows, seen.guesses].all()
    assert seen.expected == plain.expected
    counted = attacks.majority(single, reports[:, None], values, rng=hush.seeded(2))
    if name == "ServerTHE":  # support says less than the numbers do
        assert counted.expected is None
    else:
        assert best[rows, counted.guesses].all()
        assert counted.expected == plain.expected


def test_sums_of_noise_are_guessed_by_their_largest() -> None:
    m = Repeated(hush.SHE(k=4, epsilon=1.0), 6)
    values = np.arange(200) % 4
    reports = m.collect(np.repeat(values[:, None], 6, axis=1), rng=hush.seeded(1))
    sums = reports["steps"].sum(axis=1)
    seen = attacks.averaging(m, reports, values, rng=hush.seeded(2))
    assert (sums[np.arange(200), seen.guesses] == sums.max(axis=1)).all()


# Changes.

CHANGING: list[Any] = [
    Repeated(hush.GRR(k=3, epsilon=0.8), 3),
    Repeated(hush.OUE(k=2, epsilon=0.8), 3),
    LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0),
    LSUE(k=3, epsilon_permanent=2.0, epsilon_report=1.0),
    Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)),
]


def brute(m: Any, every: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of every row of reports without a change, and with one, summed over all histories."""
    tau = every.shape[1]
    still, moved = np.zeros(len(every)), np.zeros(len(every))
    for v in range(m.k):
        still += prior[v] * np.exp(m.sequence_log_prob(every, v))
        for w in range(m.k):
            for at in range(1, tau):
                if v != w:
                    history = np.tile([v] * at + [w] * (tau - at), (len(every), 1))
                    chance = prior[v] * prior[w] / (1 - prior[v]) / (tau - 1)
                    moved += chance * np.exp(m.sequence_log_prob(every, history))
    return still, moved


@pytest.mark.parametrize("m", CHANGING, ids=named)
@pytest.mark.parametrize("skewed", [False, True])
def test_the_score_of_a_change_is_the_exact_ratio(m: Any, skewed: bool) -> None:
    every = sequences(m)
    prior = np.arange(1.0, m.k + 1) if skewed else np.ones(m.k)
    prior /= prior.sum()
    still, moved = brute(m, every, prior)
    assert still.sum() == pytest.approx(1.0)
    assert moved.sum() == pytest.approx(1.0)
    score = changes.change_score(m, every, prior)
    assert (np.isinf(score) == (still == 0)).all()
    sure = still > 0
    assert score[sure] == pytest.approx(np.log(moved[sure] / still[sure]), abs=1e-9)


@pytest.mark.parametrize(
    "m",
    [
        BiLOLOHA(k=5, epsilon_permanent=2.0, epsilon_report=1.0),
        OLOLOHA(k=4, epsilon_permanent=2.0, epsilon_report=1.0),
        dBitFlipPM(k=5, epsilon_permanent=1.0, d=2),
        dBitFlipPM(k=4, epsilon_permanent=1.0, d=4),
    ],
    ids=named,
)
def test_values_that_share_a_state_hide_their_change(m: Longitudinal) -> None:
    """Random people, changed and not, with hash functions or lists of buckets of their own."""
    rng = hush.seeded(7)
    histories = np.repeat(rng.integers(0, m.k, (60, 1)), 4, axis=1)
    histories[::2, 2:] = rng.integers(0, m.k, (30, 1))
    reports = m.collect(histories, rng=rng)
    prior = np.arange(1.0, m.k + 1) / np.arange(1.0, m.k + 1).sum()
    still, moved = brute(m, reports, prior)
    score = changes.change_score(m, reports, prior)
    assert (np.isinf(score) == (still == 0)).all()
    sure = still > 0
    assert sure.any()
    assert score[sure] == pytest.approx(np.log(moved[sure] / still[sure]), abs=1e-9)


def test_small_ratios_do_not_cancel() -> None:
    """Two equal reports almost without noise: a difference of sums in doubles would show nothing, or less."""
    m = Repeated(hush.GRR(k=3, epsilon=40.0), 2)
    seen = float(changes.change_score(m, np.zeros((1, 2), m.mechanism.report_dtype))[0])
    p, q = m.mechanism.p_star, m.mechanism.q_star
    assert seen == pytest.approx(math.log((4 * p * q + 2 * q * q) / 6 / ((p * p + 2 * q * q) / 3)), rel=1e-12)
    assert seen < -39


def test_different_answers_prove_a_change() -> None:
    m = Memoized(mechanism=hush.OUE(k=4, epsilon=1.0))
    histories = np.repeat(np.arange(4).repeat(100)[:, None], 5, axis=1)
    histories[:200, 3:] = (histories[:200, 3:] + 1) % 4
    changed = np.arange(400) < 200
    reports = m.collect(histories, rng=hush.seeded(7))
    seen = changes.answer_differs(m, reports, changed)
    assert (seen.promised, seen.false_positives[0]) == (0.0, 0.0)
    differs = [any(a != b for a, b in itertools.pairwise(row)) for row in reports["bits"].reshape(400, 5).tolist()]
    assert seen.guesses.astype(bool).tolist() == differs
    assert seen.success == (seen.detected[0] + 1) / 2
    assert seen.chance_level == 0.5
    assert "falsely accused 0 (95 %: 0 to 0.01828), promised 0" in str(seen)
    better = changes.likelihood_ratio(m, reports, changed, rate=0.01, rng=hush.seeded(8))
    assert better.guesses[differs].all()
    alone = changes.answer_differs(m, reports[:200], changed[:200])
    assert alone.false_positives is None
    assert "accused nobody" in str(alone)


# Pools.


def test_habits() -> None:
    mixed = pools.habits([[0, 2], [1]], 3, loyalty=0.8, popularity=[6, 3, 1])
    assert mixed == pytest.approx(np.array([[0.8 * 6 / 7 + 0.12, 0.06, 0.8 / 7 + 0.02], [0.12, 0.86, 0.02]]))
    assert (pools.habits([[0], [1]], 2, loyalty=0.0) == 0.5).all()


@pytest.mark.parametrize("one", [hush.GRR(k=3, epsilon=1.0), hush.OUE(k=3, epsilon=1.0), Table(k=3, epsilon=1.0)])
@pytest.mark.parametrize("prior", [None, [0.7, 0.3]])
def test_pool_inference_is_the_best_there_is(one: hush.FrequencyOracle, prior: list[float] | None) -> None:
    m = Repeated(one, 2)
    behaviour = pools.habits([[0, 1], [2]], 3, loyalty=0.7)
    every = sequences(m)
    chances = np.zeros((len(every), 2))
    for values in itertools.product(range(3), repeat=2):
        seen = np.exp(m.sequence_log_prob(every, np.tile(values, (len(every), 1))))
        chances += seen[:, None] * behaviour[:, list(values)].prod(axis=1)
    belief = np.array([0.5, 0.5] if prior is None else prior)
    outcome = pools.infer(m, every, np.zeros(len(every), np.int64), behaviour, prior, rng=hush.seeded(7))
    assert chances.sum(axis=0) == pytest.approx([1, 1])
    joint = chances * belief
    assert reached(joint, outcome.guesses) == pytest.approx(joint.max(axis=1).sum(), rel=1e-9)
    assert outcome.chance_level == belief.max()


def test_pools_of_one_value_are_values() -> None:
    m = Repeated(hush.OLH(k=4, epsilon=1.0), 5)
    values = np.arange(200) % 4
    reports = m.collect(np.repeat(values[:, None], 5, axis=1), rng=hush.seeded(7))
    score = m.sequence_scores(reports)
    seen = pools.infer(m, reports, values, np.eye(4), rng=hush.seeded(8))
    assert score[np.arange(200), seen.guesses] == pytest.approx(score.max(axis=1))


def test_votes_count_guesses_in_pools() -> None:
    m = Repeated(hush.GRR(k=4, epsilon=1.0), 3)
    reports = np.array([[0, 1, 2], [3, 2, 0], [2, 2, 2]], m.mechanism.report_dtype)
    assert pools.votes(m, reports, [0, 1, 1], [[0, 1], [2, 3]], rng=hush.seeded(7)).guesses.tolist() == [0, 1, 1]


# Bad input.

M = Repeated(hush.GRR(k=4, epsilon=1.0), 2)
R = M.collect([[0, 0], [1, 1], [2, 2]], rng=hush.seeded(1))
H = pools.habits([[0, 1], [2, 3]], 4)
KEPT = LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (ParameterError, lambda: attacks.majority(hush.GRR(k=4, epsilon=1.0), R, [0, 1, 2])),  # type: ignore[arg-type]
        (ReportError, lambda: attacks.majority(M, R[:, :1], [0, 1, 2])),
        (ReportError, lambda: attacks.majority(M, R + np.uint8(9), [0, 1, 2])),
        (ParameterError, lambda: attacks.majority(M, R, [0, 1])),
        (ParameterError, lambda: attacks.majority(M, R[:0], [])),
        (ParameterError, lambda: attacks.likelihood(M, R[:0], [])),
        (ParameterError, lambda: attacks.likelihood(M, R, [0, 1, 2], [1, 2])),
        (HushError, lambda: attacks.likelihood(M, R, [0, 1, 4])),
        (ParameterError, lambda: attacks.averaging(M, R, [0, 1, 2])),
        (ParameterError, lambda: changes.answer_differs(M, R, [True, False, True])),  # type: ignore[arg-type]
        (ParameterError, lambda: changes.answer_differs(KEPT, R, [True, False, True])),
        (ParameterError, lambda: changes.likelihood_ratio(M, R, [1, 0, 1])),
        (ParameterError, lambda: changes.likelihood_ratio(M, R, [True, False])),
        (ParameterError, lambda: changes.likelihood_ratio(M, R[:0], np.zeros(0, bool))),
        (ParameterError, lambda: changes.likelihood_ratio(M, R, [True, False, True], rate=0.0)),
        (ParameterError, lambda: changes.likelihood_ratio(M, R, [True, False, True], rate=1.0)),
        (ParameterError, lambda: changes.likelihood_ratio(M, R, [True, False, True], rate=math.nan)),
        (ParameterError, lambda: changes.change_score(KEPT, R[:, :1])),
        (ParameterError, lambda: changes.change_score(hush.GRR(k=4, epsilon=1.0), R)),  # type: ignore[arg-type]
        (ParameterError, lambda: pools.infer(KEPT, R, [0, 1, 1], H)),  # type: ignore[arg-type]
        (ParameterError, lambda: pools.infer(M, R, [0, 1, 1], H[:, :3])),
        (ParameterError, lambda: pools.infer(M, R, [0, 1, 1], H[:1])),
        (ParameterError, lambda: pools.infer(M, R, [0, 1, 1], [[1, 0], [1]])),
        (ParameterError, lambda: pools.infer(M, R, [0, 1, 1], -H)),
        (HushError, lambda: pools.infer(M, R, [0, 1, 2], H)),
        (ParameterError, lambda: pools.votes(M, R, [0, 1, 1], [[0, 1]])),
        (ParameterError, lambda: pools.votes(M, R, [0, 1, 1], [[0, 1], []])),
        (ParameterError, lambda: pools.votes(M, R, [0, 1, 1], "ab")),
        (HushError, lambda: pools.habits([[0], [4]], 4)),
        (ParameterError, lambda: pools.habits([[0], [1]], 1)),
        (ParameterError, lambda: pools.habits([[0], [1]], 4, loyalty=1.5)),
        (ParameterError, lambda: pools.habits([[0], [1]], 2, popularity=[1, 0])),
    ],
)
def test_bad_input_is_refused(error: type[HushError], act: Any) -> None:
    with pytest.raises(error):
        act()
