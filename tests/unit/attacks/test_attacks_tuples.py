"""Attacks on reports about tuples, and re-identification, against exact enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hush
from hush.attacks import multidim as attacks
from hush.attacks import reidentification
from hush.attacks._gaps import Gaps
from hush.attacks.outcome import Outcome
from hush.attacks.reidentification import match_profiles, reidentify
from hush.errors import HushError, ParameterError, ReportError
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim

SIZES = (2, 3)
PRIORS = [[0.7, 0.3], [0.2, 0.5, 0.3]]
FAKES = [
    *(RSFD(sizes=SIZES, epsilon=1.5, variant=v) for v in RSFD.variants),
    RSFD(sizes=(3, 3, 2), epsilon=1.0, variant="GRR"),
    *(RSRFD(sizes=SIZES, epsilon=1.5, variant=v, priors=PRIORS) for v in RSRFD.variants),
    RSFD(sizes=SIZES, epsilon=1.0, variant=("GRR", "OUE-r")),
]
ALL = [
    *FAKES,
    SPL(sizes=SIZES, epsilon=2.0, mechanism="GRR"),
    SPL(sizes=SIZES, epsilon=2.0, mechanism=("OUE", "SS")),
    SMP(sizes=SIZES, epsilon=1.5, mechanism="GRR"),
    SMP(sizes=SIZES, epsilon=1.5, mechanism=("OUE", "HR")),
]


def named(m: Multidim) -> str:
    return f"{m.name()}{len(m.sizes)}-{'+'.join(getattr(m, 'variant', getattr(m, 'mechanism', ())))}"


def law(m: Multidim) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs, all tuples, and the probability of each output for each tuple."""
    outputs, tuples = m.outputs(), np.array(list(m.tuples()))
    chances = np.array([[m.copies(y) * m.weight(y, v) / m.denominator for v in tuples] for y in outputs])
    assert chances.sum(axis=0) == pytest.approx(np.ones(len(tuples)))
    return outputs, tuples, chances


def beliefs(m: Multidim, skewed: bool) -> list[np.ndarray]:
    shares = [np.arange(1.0, k + 1) if skewed else np.ones(k) for k in m.sizes]
    return [share / share.sum() for share in shares]


# One value of the tuple.


@pytest.mark.parametrize("m", ALL, ids=named)
@pytest.mark.parametrize("skewed", [False, True])
def test_the_likeliest_value_is_the_best_guess(m: Multidim, skewed: bool) -> None:
    outputs, tuples, chances = law(m)
    priors = beliefs(m, skewed)
    crowd = np.prod([prior[tuples[:, j]] for j, prior in enumerate(priors)], axis=0)
    truth = np.zeros((len(outputs), m.d), np.int64)
    seen = attacks.guess_likeliest(m, outputs, truth, priors if skewed else None, rng=hush.seeded(7))
    joint = chances * crowd
    held = np.stack([joint[:, tuples[:, j] == v].sum(axis=1) for j, k in enumerate(m.sizes) for v in range(k)], axis=1)
    reached = sum(joint[i, tuples[:, j] == v].sum() for i, (j, v) in enumerate(seen.guesses.tolist()))
    assert reached == pytest.approx(held.max(axis=1).sum(), rel=1e-9)
    assert seen.chance_level == pytest.approx(max(prior.max() for prior in priors))
    assert reached >= seen.chance_level - 1e-12


@pytest.mark.parametrize("m", FAKES, ids=named)
def test_the_blind_attack_follows_algorithm_3(m: Any) -> None:
    """Every output many times: attributes uniform, values uniform over the support; exact success as expected."""
    outputs, tuples, chances = law(m)
    often = np.repeat(outputs, 400)
    seen = attacks.guess_blindly(m, often, np.zeros((often.size, m.d), np.int64), rng=hush.seeded(7))
    picked = seen.guesses[:, 0]
    assert (np.abs(np.bincount(picked, minlength=m.d) - often.size / m.d) < 7 * math.sqrt(often.size)).all()
    success = 0.0
    for j, component in enumerate(m.components):
        part = np.ascontiguousarray(often[m._fields[j]])
        support = component.support_matrix(part)
        support[~support.any(axis=1)] = True
        mine = picked == j
        assert support[mine, seen.guesses[mine, 1]].all()
        uniform = component.support_matrix(np.ascontiguousarray(outputs[m._fields[j]])).astype(float)
        uniform[uniform.sum(axis=1) == 0] = 1.0
        uniform /= uniform.sum(axis=1, keepdims=True)
        success += (uniform[:, tuples[:, j]] * chances).sum() / len(tuples) / m.d
    assert seen.expected == pytest.approx(success, rel=1e-9)
    assert seen.chance_level == 1 / min(m.sizes)


def test_a_tie_between_attributes_is_broken_at_random() -> None:
    m = RSFD(sizes=(3, 3), epsilon=1.0, variant="GRR")
    reports = np.repeat(m.outputs()[:1], 4000)
    seen = attacks.guess_likeliest(m, reports, np.zeros((4000, 2), np.int64), rng=hush.seeded(7))
    assert abs(int((seen.guesses[:, 0] == 0).sum()) - 2000) < 7 * math.sqrt(1000)
    assert (seen.guesses[:, 1] == 0).all()


# Which attribute was sampled.


@pytest.mark.parametrize("m", FAKES, ids=named)
@pytest.mark.parametrize("skewed", [False, True])
def test_the_sampled_attribute_is_guessed_as_well_as_it_can_be(m: Any, skewed: bool) -> None:
    outputs = m.outputs()
    priors = beliefs(m, skewed)
    joint = np.empty((len(outputs), m.d))  # of each attribute being sampled, and the output
    for j in range(m.d):
        joint[:, j] = 1 / m.d
        for i, (name, fake) in enumerate(zip(m._fields, m.fakes, strict=True)):
            for at, y in enumerate(outputs):
                real = sum(p * fake.real.weight(y[name], v) for v, p in enumerate(priors[i])) / fake.real.denominator
                joint[at, j] *= real if i == j else fake.weight(y[name]) / fake.denominator
    assert joint.sum() == pytest.approx(1.0)
    seen = attacks.find_sampled(
        m, outputs, np.zeros(len(outputs), np.int64), priors if skewed else None, rng=hush.seeded(7)
    )
    assert joint[np.arange(len(outputs)), seen.guesses].sum() == pytest.approx(joint.max(axis=1).sum(), rel=1e-9)
    assert seen.chance_level == 1 / m.d


def test_uniform_fakes_hide_the_sampled_attribute_and_zeros_do_not() -> None:
    def best(variant: str) -> float:
        m = RSFD(sizes=SIZES, epsilon=3.0, variant=variant)
        outputs, _, chances = law(m)
        posterior = m.sampled(outputs)
        return float((chances.mean(axis=1) * posterior.max(axis=1)).sum())

    assert best("GRR") == pytest.approx(0.5)
    assert best("OUE-r") == pytest.approx(0.5)
    assert best("OUE-z") > 0.6


@pytest.mark.parametrize("m", [*FAKES, ALL[-1], ALL[-2]], ids=named)
def test_collected_reports_are_those_of_privatize_with_what_was_sampled(m: Any) -> None:
    tuples = np.stack([hush.seeded(3).integers(0, k, 500) for k in m.sizes], axis=1)
    reports, sampled = attacks.collect(m, tuples, rng=hush.seeded(7))
    assert (reports == m.privatize(tuples, rng=hush.seeded(7))).all()
    assert set(sampled.tolist()) == set(range(m.d))
    if isinstance(m, SMP):
        assert (reports["attribute"] == sampled).all()
        assert attacks.find_sampled(m, reports, sampled).success == 1.0


def test_what_was_sampled_is_told_by_reports_almost_without_noise() -> None:
    m = RSFD(sizes=(50, 50), epsilon=20.0, variant="GRR")
    tuples = np.stack([hush.seeded(3).integers(0, 50, 2000) for _ in range(2)], axis=1)
    reports, sampled = attacks.collect(m, tuples, rng=hush.seeded(7))
    shown = np.stack([reports["a0"], reports["a1"]], axis=1)
    rows = np.arange(2000)
    assert (shown[rows, sampled] == tuples[rows, sampled]).all()
    assert (shown[rows, 1 - sampled] == tuples[rows, 1 - sampled]).mean() < 0.1


# Re-identification.

TABLE = np.array([[0, 0], [1, 2], [0, 1], [1, 2]])
PARTIAL = np.array([[0, -1], [1, 2], [-1, -1], [-1, 0]])


@pytest.mark.parametrize("m", [m for m in ALL if m.d == 2], ids=named)
@pytest.mark.parametrize("table", [TABLE, PARTIAL], ids=["full", "partial"])
@pytest.mark.parametrize("top", [1, 2, 4])
def test_nobody_points_better(m: Multidim, table: np.ndarray, top: int) -> None:
    outputs, tuples, chances = law(m)
    priors = beliefs(m, True)
    crowd = np.prod([prior[tuples[:, j]] for j, prior in enumerate(priors)], axis=0)
    person = np.empty((len(outputs), len(table)))
    for i, row in enumerate(table):
        fits = ((tuples == row) | (row == -1)).all(axis=1)
        person[:, i] = chances[:, fits] @ (crowd[fits] / crowd[fits].sum())
    seen = reidentify(m, outputs, table, np.zeros(len(outputs), np.int64), top=top, priors=priors, rng=hush.seeded(7))
    assert seen.guesses.shape == (len(outputs), top)
    reached = np.take_along_axis(person, seen.guesses, axis=1).sum() / len(table)
    due = np.sort(person, axis=1)[:, ::-1][:, :top].sum() / len(table)
    assert reached == pytest.approx(due, rel=1e-9)
    assert seen.chance_level == top / 4
    if top == 4:
        assert seen.success == 1.0


@pytest.mark.parametrize("m", [ALL[-4], ALL[-2], FAKES[0]], ids=named)
def test_collections_add_up(m: Multidim) -> None:
    outputs, tuples, chances = law(m)
    pairs = np.array(list(itertools.product(range(len(outputs)), repeat=2)))
    at = [int(np.nonzero((tuples == row).all(axis=1))[0][0]) for row in TABLE]
    person = chances[pairs[:, 0]][:, at] * chances[pairs[:, 1]][:, at]
    seen = reidentify(m, outputs[pairs], TABLE, np.zeros(len(pairs), np.int64), rng=hush.seeded(7))
    reached = np.take_along_axis(person, seen.guesses, axis=1).sum()
    assert reached == pytest.approx(person.max(axis=1).sum(), rel=1e-9)


# Gaps and several collections: an unknown value is the same in all of them.

THREE = RSFD(sizes=(3, 3, 2), epsilon=1.0, variant="GRR")
HALF = RSRFD(sizes=SIZES, epsilon=1.5, variant="GRR", priors=[[1.0, 0.0], [0.5, 0.5, 0.0]])
GAPS = {
    2: np.array([[0, -1], [1, 2], [-1, -1], [-1, 0], [1, -1], [1, 2]]),
    3: np.array([[0, -1, 1], [1, 2, -1], [-1, -1, -1], [-1, -1, 0], [2, 2, 1], [-1, 0, -1], [-1, -1, 0]]),
}


def jointly(m: Multidim, at: np.ndarray, table: np.ndarray, priors: list[np.ndarray]) -> np.ndarray:
    """The probability of each row of outputs for each person, by brute force over all tuples."""
    _, tuples, chances = law(m)
    together = np.prod([chances[column] for column in at.T], axis=0)
    found = []
    for row in table:
        crowd = ((tuples == row) | (row == -1)).all(axis=1).astype(float)
        for j in np.nonzero(row == -1)[0]:
            crowd *= priors[j][tuples[:, j]]
        found.append(together @ crowd)
    return np.stack(found, axis=1)


@pytest.mark.parametrize("m", [*(m for m in ALL if m.d == 2), HALF, THREE], ids=named)
@pytest.mark.parametrize("top", [1, 3])
@pytest.mark.parametrize("skewed", [False, True])
def test_gaps_are_the_same_values_in_all_collections(m: Multidim, top: int, skewed: bool) -> None:
    """Exactly: over all pairs of reports, nobody points right more often."""
    outputs, priors, table = m.outputs(), beliefs(m, skewed), GAPS[m.d]
    at = np.array(list(itertools.product(range(len(outputs)), repeat=2)))
    person = jointly(m, at, table, priors)
    seen = reidentify(m, outputs[at], table, np.zeros(len(at), np.int64), top=top, priors=priors, rng=hush.seeded(7))
    reached = np.take_along_axis(person, seen.guesses, axis=1).sum()
    assert reached == pytest.approx(np.sort(person, axis=1)[:, -top:].sum(), rel=1e-9)


@pytest.mark.parametrize("m", [*FAKES, HALF], ids=named)
@pytest.mark.parametrize("collections", [2, 3, 9])
@pytest.mark.parametrize("uneven", [False, True])
def test_both_ways_to_fill_gaps_are_bayes(m: Any, collections: int, uneven: bool) -> None:
    """The scores themselves, up to a constant for each row, against brute force; some values with no belief at all."""
    outputs, table = m.outputs(), GAPS[m.d]
    priors = [np.array([0.7, 0.3, 0.0][:k] if uneven else [1 / k] * k) for k in m.sizes]
    at = hush.seeded(3).integers(0, len(outputs), (200, collections))
    person = jointly(m, at, table, priors)
    at, person = at[(person > 0).all(axis=1)], person[(person > 0).all(axis=1)]
    assert len(at) >= 4
    due = np.log(person) - np.log(person[:, :1])
    gaps = Gaps(table, tuple(priors))
    collected = [m.likelihoods(np.ascontiguousarray(column)) for column in outputs[at].T]
    rows = gaps._distinct[1]
    for scores in (gaps.over_values(collected)[:, rows], gaps.over_sets(collected)[:, rows], gaps.scores(collected)):
        assert scores - scores[:, :1] == pytest.approx(due, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("collections", [3, 12])
def test_every_way_is_taken_where_it_is_shorter(collections: int) -> None:
    """Three collections go over sets, twelve over values; both point as brute force does, up to ties."""
    m = RSFD(sizes=(10, 9), epsilon=2.0, variant="GRR")
    rng = hush.seeded(7)
    table = np.array([[0, -1], [-1, 1], [-1, -1], [2, 2]])
    gaps = Gaps(table, tuple(np.full(k, 1 / k) for k in m.sizes))
    assert (gaps.by_sets(collections) < gaps.by_values) == (collections == 3)
    people = rng.integers(0, 4, 2000)
    held = np.where(table[people] == -1, rng.integers(0, 9, (2000, 2)), table[people])
    reports = np.stack([m.privatize(held, rng=rng) for _ in range(collections)], axis=1)
    each = [np.stack([m.log_prob(column, v) for v in m.tuples()], axis=1) for column in reports.T.copy()]
    logs = np.sum(each, axis=0)
    tuples = np.array(list(m.tuples()))
    fits = [((tuples == row) | (row == -1)).all(axis=1) for row in table]
    person = np.stack([np.log(np.exp(logs[:, fit]).mean(axis=1)) for fit in fits], axis=1)
    guesses = reidentify(m, reports, table, people, rng=rng).guesses
    assert np.take_along_axis(person, guesses, axis=1)[:, 0] == pytest.approx(person.max(axis=1), abs=1e-8)


def test_a_table_with_too_many_gaps_is_refused_only_for_many_collections_of_fakes() -> None:
    sizes = (10,) * 8
    table, people = np.array([[-1] * 7 + [3], [0] * 8]), np.array([0, 1])
    held = np.array([[1] * 7 + [3], [0] * 8])

    def sought(m: Multidim, collections: int) -> Outcome:
        reports = np.stack([m.privatize(held, rng=hush.seeded(c)) for c in range(collections)], axis=1)
        return reidentify(m, reports, table, people, rng=hush.seeded(7))

    fakes = RSFD(sizes=sizes, epsilon=3.0, variant="GRR")
    assert sought(fakes, 1).n == sought(fakes, 6).n == 2
    assert sought(SPL(sizes=sizes, epsilon=40.0), 20).success == sought(SMP(sizes=sizes, epsilon=9.0), 20).success == 1
    with pytest.raises(ParameterError, match="at most 4194304 terms to add up over unknown values for 20 collections"):
        sought(fakes, 20)


def test_tuples_too_many_to_number_are_found_all_the_same() -> None:
    """Forty attributes; all but two are known. Over values and over sets, the same."""
    m = RSFD(sizes=(4,) * 40, epsilon=1.0, variant="GRR")
    table = np.array([[-1, -1] + [1] * 38, [2] * 40, [-1] + [0] * 39])
    gaps = Gaps(table, tuple(np.array([0.1, 0.2, 0.3, 0.4]) for _ in m.sizes))
    reports = m.privatize(np.ones((50, 40), np.int64), rng=hush.seeded(7)).reshape(10, 5)
    collected = [m.likelihoods(np.ascontiguousarray(column)) for column in reports.T]
    assert gaps.over_values(collected) == pytest.approx(gaps.over_sets(collected), abs=1e-9)


def test_reports_that_nobody_can_have_sent_point_at_anybody() -> None:
    """A value that is never a fake, in both parts."""
    report = np.zeros((1, 2), HALF.report_dtype)
    report["a0"], report["a1"] = 1, 2
    for table in (TABLE, GAPS[2]):
        seen = {int(reidentify(HALF, report, table, [0], rng=hush.seeded(i)).guesses[0, 0]) for i in range(60)}
        assert seen == set(range(len(table)))


@pytest.mark.parametrize("top", [1, 2])
@pytest.mark.parametrize(
    "m", [SPL(sizes=SIZES, epsilon=2.0, mechanism="GRR"), SMP(sizes=SIZES, epsilon=1.5, mechanism="GRR")], ids=named
)
def test_matching_succeeds_as_expected(m: Any, top: int) -> None:
    """Exactly: a report of randomized response is its own guess; whoever fits shares the places equally."""
    outputs, tuples, chances = law(m)
    at = [int(np.nonzero((tuples == row).all(axis=1))[0][0]) for row in TABLE]
    due = 0.0
    for i, y in enumerate(outputs):
        if isinstance(m, SPL):
            fits = (TABLE[:, 0] == int(y["a0"])) & (TABLE[:, 1] == int(y["a1"]))
        else:
            j, value = m._record(y)
            fits = TABLE[:, j] == int(value)
        if fits.any():
            due += (chances[i, at] * fits * min(1, top / fits.sum())).sum() / len(TABLE)
    people = np.arange(4)
    seen = match_profiles(m, m.privatize(TABLE, rng=hush.seeded(1)), TABLE, people, top=top, rng=hush.seeded(7))
    assert seen.expected == pytest.approx(due, rel=1e-9)
    assert seen.guesses.shape == (4, top)


def test_matching_points_at_those_who_fit() -> None:
    m = SPL(sizes=(4, 4), epsilon=40.0, mechanism="GRR")
    table = np.array([[0, 1], [0, 1], [2, 3], [2, -1], [3, 3]])
    reports = m.privatize([[0, 1], [2, 3], [2, 2], [1, 1]], rng=hush.seeded(1))
    seen = match_profiles(m, reports, table, [0, 2, 3, 4], top=3, rng=hush.seeded(7))
    rows = [sorted(row) for row in seen.guesses.tolist()]
    assert rows == [[-1, 0, 1], [-1, 2, 3], [-1, -1, 3], [-1, -1, -1]]
    assert seen.success == 0.75
    assert seen.expected is None
    assert reidentification.UNKNOWN == -1


def test_several_reports_of_an_attribute_are_put_together() -> None:
    m = SMP(sizes=(4, 4), epsilon=1.0, mechanism="GRR")
    reports = np.zeros((1, 5), m.report_dtype)
    reports["record"][0, :, 0] = [3, 1, 3, 2, 1]
    reports["attribute"][0] = [0, 0, 0, 1, 1]
    table = [[3, 2], [3, 1], [1, 2], [0, 0]]
    seen = {int(match_profiles(m, reports, table, [0], rng=hush.seeded(i)).guesses[0, 0]) for i in range(40)}
    assert seen == {0, 1}  # 3 was reported twice; 2 and 1 once each


# Bad input.

M = SMP(sizes=(2, 3), epsilon=1.0, mechanism="GRR")
R = M.privatize([[0, 0], [1, 2]], rng=hush.seeded(1))
F = FAKES[0]
FR = F.privatize([[0, 0], [1, 2]], rng=hush.seeded(1))


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (ParameterError, lambda: attacks.guess_blindly(M, R, [[0, 0], [1, 2]])),  # type: ignore[arg-type]
        (ParameterError, lambda: attacks.guess_blindly(F, FR, [[0, 0]])),
        (ParameterError, lambda: attacks.guess_blindly(F, FR[:0], np.zeros((0, 2), np.int64))),
        (HushError, lambda: attacks.guess_likeliest(M, R, [[0, 3], [0, 0]])),
        (ParameterError, lambda: attacks.guess_likeliest(M, R, [0, 1])),
        (ParameterError, lambda: attacks.guess_likeliest(hush.GRR(k=2, epsilon=1.0), R, [[0, 0], [1, 2]])),  # type: ignore[arg-type]
        (ParameterError, lambda: attacks.guess_likeliest(M, R, [[0, 0], [1, 2]], [[1, 1]])),
        (ReportError, lambda: attacks.guess_likeliest(M, FR, [[0, 0], [1, 2]])),
        (ParameterError, lambda: attacks.find_sampled(SPL(sizes=(2, 3), epsilon=1.0), FR, [0, 1])),
        (ParameterError, lambda: attacks.find_sampled(F, FR, [0])),
        (HushError, lambda: attacks.find_sampled(F, FR, [0, 2])),
        (ParameterError, lambda: attacks.collect(SPL(sizes=(2, 3), epsilon=1.0), [[0, 0]])),
        (ParameterError, lambda: attacks.collect(F, [[0.5, 0]])),
        (ParameterError, lambda: reidentify(M, R, [[0, 0]], [0])),
        (ParameterError, lambda: reidentify(M, R, [[0, 0]], [0, 0], top=2)),
        (ParameterError, lambda: reidentify(M, R, [[0, 0]], [0, 0], top=0)),
        (ParameterError, lambda: reidentify(M, R, [[0, 0]], [0, 0], top=1.0)),  # type: ignore[arg-type]
        (HushError, lambda: reidentify(M, R, [[0, 0]], [0, 1])),
        (HushError, lambda: reidentify(M, R, [[0, 3]], [0, 0])),
        (HushError, lambda: reidentify(M, R, [[-2, 0]], [0, 0])),
        (ParameterError, lambda: reidentify(M, R, [[0, 0, 0]], [0, 0])),
        (ParameterError, lambda: reidentify(M, R, np.zeros((0, 2), np.int64), [0, 0])),
        (ParameterError, lambda: reidentify(M, R, [[0.0, math.nan]], [0, 0])),
        (ReportError, lambda: reidentify(M, R[:0], [[0, 0]], [])),
        (ReportError, lambda: reidentify(M, FR, [[0, 0]], [0, 0])),
        (ReportError, lambda: reidentify(M, np.zeros((2, 2, 2), M.report_dtype), [[0, 0]], [0, 0])),
        (ParameterError, lambda: reidentify(hush.GRR(k=2, epsilon=1.0), R, [[0, 0]], [0, 0])),  # type: ignore[arg-type]
        (ParameterError, lambda: match_profiles(F, FR, [[0, 0]], [0, 0])),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused(error: type[HushError], act: Any) -> None:
    with pytest.raises(error):
        act()
