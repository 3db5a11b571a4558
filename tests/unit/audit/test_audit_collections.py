"""Audits of whole tuples and of sequences: ratios against brute force, draws against the law, and what is proved."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import hush
from hush.attacks import longitudinal as over_time
from hush.attacks import multidim as over_tuples
from hush.audit import bounds, run
from hush.audit.collections import SequenceTarget, TupleTarget
from hush.audit.events import best_threshold
from hush.audit.target import Target
from hush.errors import HushError, ParameterError, ReportError
from hush.exact.thresholds import SCALE
from hush.longitudinal import LGRR, LOLOHA, LOSUE, LSUE, OLOLOHA, Memoized, Repeated, dBitFlipPM
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim

SIZES = (2, 3)
TUPLES = [
    SPL(sizes=SIZES, epsilon=2.0, mechanism=("GRR", "OUE")),
    SMP(sizes=SIZES, epsilon=1.5, mechanism=("OUE", "GRR")),
    *(RSFD(sizes=SIZES, epsilon=1.0, variant=v) for v in RSFD.variants),
    RSRFD(sizes=SIZES, epsilon=1.0, variant="GRR", priors=[[0.7, 0.3], [0.2, 0.8, 0.0]]),
    RSFD(sizes=(2, 2, 3), epsilon=0.7, variant=("GRR", "OUE-r", "GRR")),
]
ALARM = 1e-6
"""How often each of the tests of draws fails by chance."""


def named(m: Any) -> str:
    return m.name + str(m.m.sizes) if isinstance(m, TupleTarget) else m.name


def fits(counts: np.ndarray, chances: np.ndarray) -> bool:
    """Chi-square, at the stated false-alarm rate; nothing impossible was seen."""
    seen = chances > 0
    due = counts.sum() * chances[seen]
    assert due.min() > 5
    statistic = float(((counts[seen] - due) ** 2 / due).sum())
    return not counts[~seen].any() and statistic < chi2.isf(ALARM, seen.sum() - 1)


def numbered(reports: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Which output each report is."""
    at = {y.tobytes(): i for i, y in enumerate(outputs)}
    return np.bincount([at[y.tobytes()] for y in reports], minlength=len(outputs))


# Tuples.

TARGETS = [TupleTarget(m) for m in TUPLES]


@pytest.mark.parametrize("target", TARGETS, ids=named)
def test_tuples_are_numbered_in_order(target: TupleTarget) -> None:
    listed = list(target.m.tuples())
    assert target.k == len(listed)
    assert [target.index(values) for values in listed] == list(range(target.k))
    assert [target.values(i) for i in range(target.k)] == listed
    first, last = (target.values(i) for i in target.first_pair)
    assert all(a == 0 and b == k - 1 for a, b, k in zip(first, last, target.m.sizes, strict=True))


def test_numbers_are_exact_for_domains_of_any_size() -> None:
    target = TupleTarget(SMP(sizes=(10**3,) * 40, epsilon=1.0, mechanism="GRR"))
    assert target.k == 10**120
    assert target.values(target.k - 2) == (10**3 - 1,) * 39 + (10**3 - 2,)
    assert target.index([10**3 - 1] * 40) == target.first_pair[1]
    reports = target.draw(target.k - 1, 10, hush.seeded(7))
    assert np.isfinite(target.log_ratio(reports, *target.first_pair)).all()


@pytest.mark.parametrize("target", TARGETS, ids=named)
def test_ratios_of_tuples_are_those_of_the_integers(target: TupleTarget) -> None:
    m, outputs = target.m, target.m.outputs()
    for first, second in [target.first_pair, (0, 1), (target.k - 1, 1)]:
        pairs = [[m.weight(y, target.values(v)) for v in (first, second)] for y in outputs]
        possible = [any(pair) for pair in pairs]
        found = target.log_ratio(outputs, first, second)
        for pair, ratio in itertools.compress(zip(pairs, found, strict=True), possible):
            assert ratio == pytest.approx(math.log(pair[0]) - math.log(pair[1]), abs=1e-9)


def test_the_largest_ratio_is_the_claim_for_fakes() -> None:
    """epsilon', and not epsilon, is what two tuples that differ everywhere lose."""
    for variant in RSFD.variants:
        target = TupleTarget(RSFD(sizes=(3, 3), epsilon=1.0, variant=variant))
        assert target.claim is not None
        worst = target.log_ratio(target.m.outputs(), *target.first_pair).max()
        assert worst == pytest.approx(target.claim.epsilon, abs=1e-9) == pytest.approx(math.log(2 * math.e - 1))
        assert target.exact_epsilon() == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize("target", TARGETS, ids=named)
def test_drawn_tuples_follow_the_law(target: TupleTarget) -> None:
    """Chi-square over all outputs; false alarm 1e-6 for each of two tuples."""
    m, outputs = target.m, target.m.outputs()
    for i, value in enumerate(target.first_pair):
        chances = np.array([m.weight(y, target.values(value)) / m.denominator for y in outputs])
        assert fits(numbered(target.draw(value, 60_000, hush.seeded([7, i])), outputs), chances)


@pytest.mark.parametrize("target", TARGETS, ids=named)
def test_the_attack_on_tuples_is_right_as_often_as_it_should(target: TupleTarget) -> None:
    """Given each output, 4000 times over: uniform over the attributes and over each part's support. 7 sigma."""
    m, outputs = target.m, target.m.outputs()
    first = 1
    values = target.values(first)
    hits = target.guesses(np.repeat(outputs, 4000), first, hush.seeded(7)).reshape(-1, 4000).mean(axis=1)
    for y, share in zip(outputs, hits, strict=True):
        assert abs(share - _right(m, y, values)) < 7 * math.sqrt(0.25 / 4000)


def _right(m: Multidim, report: Any, values: tuple[int, ...]) -> float:
    def named_right(j: int, part: Any) -> float:
        component = m.components[j]
        support = component.support_matrix(np.asarray(part, component.report_dtype)[None])[0]  # type: ignore[attr-defined]
        return float(support[values[j]] / support.sum() if support.any() else 1 / component.k)

    if isinstance(m, SMP):
        return named_right(*m._record(report))
    alone = [named_right(j, report[f"a{j}"]) for j in range(m.d)]
    return math.prod(alone) if isinstance(m, SPL) else sum(alone) / m.d


def test_the_attack_on_fakes_is_algorithm_3() -> None:
    """As often right as the one of `hush.attacks`, on the same reports; 7 sigma."""
    target = TupleTarget(RSFD(sizes=(4, 4, 4), epsilon=2.0, variant="OUE-r"))
    reports = target.draw(21, 40_000, hush.seeded(7))
    assert target.values(21) == (1, 1, 1)
    plain = over_tuples.guess_blindly(target.m, reports, np.ones((40_000, 3), np.int64), rng=hush.seeded(8))  # type: ignore[arg-type]
    share = target.guesses(reports, 21, hush.seeded(9)).mean()
    assert abs(share - plain.success) < 7 * math.sqrt(0.5 / 40_000)


@pytest.mark.parametrize("target", TARGETS, ids=named)
def test_features_tell_all_reports_apart(target: TupleTarget) -> None:
    outputs = target.m.outputs()
    rows = target.features(outputs)
    assert rows.shape[0] == len(outputs) == len(np.unique(rows, axis=0))


# Sequences.


def kept(size: int, rounds: tuple[int, int], answers: np.ndarray, state: int) -> float:
    """Randomized response twice: the sum over what was kept."""
    keep, again = (t / SCALE for t in rounds)

    def response(p: float, x: int, y: int) -> float:
        return p if x == y else (1 - p) / (size - 1)

    return sum(
        response(keep, state, memo) * math.prod(response(again, memo, int(y)) for y in answers) for memo in range(size)
    )


def kept_bits(protocol: Any, rows: np.ndarray, value: int) -> float:
    """Bits twice: each bit by itself, the sum over what was kept."""
    (p, q), (p_again, q_again) = protocol.first_report.rounds
    total = 1.0
    for bit in range(protocol.k):
        one = (p if bit == value else q) / SCALE
        seen = [(int(row["bits"][bit // 8]) >> bit % 8) & 1 for row in rows]
        high = math.prod(p_again / SCALE if y else 1 - p_again / SCALE for y in seen)
        low = math.prod(q_again / SCALE if y else 1 - q_again / SCALE for y in seen)
        total *= one * high + (1 - one) * low
    return total


def by_hand(target: SequenceTarget, row: np.ndarray, value: int) -> float:
    """The probability of a sequence, given what is public in it."""
    protocol: Any = target.protocol
    if isinstance(protocol, Repeated):
        one = protocol.mechanism
        return math.prod(one.weight(y, value) / one.denominator for y in row)
    if isinstance(protocol, LGRR):
        return kept(protocol.k, protocol.first_report.rounds, row, value)
    if isinstance(protocol, LOLOHA):
        public = np.array([[row["a"][0], row["b"][0]]], np.uint32)
        state = int(protocol._states(public, np.array([[value]]))[0, 0])
        return kept(protocol.g, protocol.first_report.rounds, row["bucket"], state)
    if isinstance(protocol, (LOSUE, LSUE)):
        return kept_bits(protocol, row, value)
    one = protocol.first_report
    return one.weight(row[0], value) / one.denominator if all(y == row[0] for y in row) else 0.0


SEQUENCES = [
    SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), 3),
    SequenceTarget(LOSUE(k=3, epsilon_permanent=2.0, epsilon_report=1.0), 3),
    SequenceTarget(LSUE(k=3, epsilon_permanent=2.0, epsilon_report=0.7), 2),
    SequenceTarget(LOLOHA(k=9, epsilon_permanent=2.0, epsilon_report=1.0, g=3), 3),
    SequenceTarget(dBitFlipPM(k=5, epsilon_permanent=1.0, d=2), 3),
    SequenceTarget(Memoized(mechanism=hush.OUE(k=3, epsilon=1.0)), 3),
    SequenceTarget(Repeated(hush.GRR(k=3, epsilon=1.0), 3)),
    SequenceTarget(Repeated(hush.OUE(k=3, epsilon=1.0), 2), 2),
    SequenceTarget(Repeated(hush.SS(k=5, epsilon=1.0), 2)),
]


@pytest.mark.parametrize("target", SEQUENCES, ids=named)
def test_ratios_of_sequences_sum_over_what_was_kept(target: SequenceTarget) -> None:
    reports = np.concatenate([target.draw(v, 40, hush.seeded([7, v])) for v in range(3)])
    due = [
        math.log(by_hand(target, row, 0) / by_hand(target, row, 1))
        for row in target.rounds(reports)
    ]  # fmt: skip
    assert target.log_ratio(reports, 0, 1) == pytest.approx(due, abs=1e-9)
    assert target.log_ratio(reports, 1, 0) == pytest.approx([-ratio for ratio in due], abs=1e-9)


@pytest.mark.parametrize("target", SEQUENCES, ids=named)
def test_no_sequence_loses_more_than_the_claim(target: SequenceTarget) -> None:
    """Nor is the claim more than epsilon_permanent, and it is reached by some sequence where there are few."""
    assert target.claim is not None
    reports = np.concatenate([target.draw(v, 20_000, hush.seeded([7, v])) for v in range(2)])
    worst = np.abs(target.log_ratio(reports, 0, 1)).max()
    assert worst <= target.claim.epsilon + 1e-9
    assert worst == pytest.approx(target.exact_epsilon(), abs=1e-9)
    if not isinstance(target.protocol, Repeated):
        assert target.claim.epsilon <= target.protocol.epsilon_permanent


@pytest.mark.parametrize("target", [SEQUENCES[0], SEQUENCES[6], SEQUENCES[7]], ids=named)
def test_drawn_sequences_follow_the_law(target: SequenceTarget) -> None:
    """Chi-square over all sequences; false alarm 1e-6 for each of two values."""
    one: Any = target._one
    outputs = one.outputs()
    every = outputs[np.array(list(itertools.product(range(len(outputs)), repeat=target.tau or 0)))]
    for value in (0, 1):
        chances = np.array([by_hand(target, row, value) for row in every])
        assert chances.sum() == pytest.approx(1.0)
        assert fits(numbered(target.rounds(target.draw(value, 60_000, hush.seeded([7, value]))), every), chances)


@pytest.mark.parametrize("target", SEQUENCES, ids=named)
def test_the_attack_on_sequences_is_algorithm_2(target: SequenceTarget) -> None:
    reports = target.draw(1, 2000, hush.seeded(7))
    plain = over_time.majority(target.protocol, target.rounds(reports), np.ones(2000, np.int64), rng=hush.seeded(8))
    assert (target.guesses(reports, 1, hush.seeded(8)) == (plain.guesses == 1)).all()
    assert not (target.guesses(reports, 1, hush.seeded(8)) & target.guesses(reports, 0, hush.seeded(8))).any()


def test_noisy_histograms_are_added_up() -> None:
    target = SequenceTarget(Repeated(hush.SHE(k=5, epsilon=1.0), 10))
    reports = target.draw(2, 500, hush.seeded(7))
    summed = target.rounds(reports)["steps"].sum(axis=1).argmax(axis=1)
    assert (target.guesses(reports, 2, hush.seeded(8)) == (summed == 2)).mean() > 0.99


def test_names_claims_and_records() -> None:
    assert [each.name for each in SEQUENCES[5:7]] == ["Memoized OUE, 3 reports", "GRR, 3 reports"]
    assert SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), 1).name == "LGRR, 1 report"
    assert SEQUENCES[6].claim == hush.audit.Claim(3.0)
    assert SequenceTarget(Repeated(hush.LHO(k=5, g=3), 2)).claim is None
    noisy = SequenceTarget(Repeated(hush.AGM(k=5, epsilon=1.0, delta=1e-3), 4)).claim
    assert noisy is not None
    assert noisy.epsilon == 4.0
    assert noisy.delta == pytest.approx(4e-3)
    targets: list[TupleTarget | SequenceTarget] = [*SEQUENCES, *TARGETS]
    for each in targets:
        reports = each.draw(0, 3, hush.seeded(7))
        assert reports.shape == (3,)
        assert (reports == each.draw(0, 3, hush.seeded(7))).all()
        assert each.features(reports).shape[0] == 3
        assert each.draw(1, 2, None).dtype == reports.dtype
        assert each.identity["target"] == each.name
        assert 1 <= each.chunk * reports.itemsize <= 1 << 26
    assert SequenceTarget(Repeated(hush.SHE(k=1000, epsilon=1.0), 250)).chunk == 67


# What an audit proves.


def proved(target: Target, pair: tuple[int, int], trials: int, alpha: float) -> float:
    """An event chosen on a tenth of the reports and proved on fresh ones, as `hush.audit.run` does."""
    rules = {"alpha": alpha, "delta": 0.0, "bound": "paper"}
    parts = [target.draw(v, trials // 10, hush.seeded([1, v])) for v in pair]
    found = best_threshold(*(target.log_ratio(part, *pair) for part in parts), trials, **rules)  # type: ignore[arg-type, call-arg]
    sign = -1.0 if found.swapped else 1.0
    high, low = pair[::-1] if found.swapped else pair
    counts = [
        int((sign * target.log_ratio(target.draw(v, trials, hush.seeded([2, v])), *pair) >= found.level).sum())
        for v in (high, low)
    ]
    return bounds.epsilon_lower(counts[0], trials, counts[1], trials, alpha=alpha)


@pytest.mark.parametrize("variant", RSFD.variants)
def test_fake_data_loses_more_than_its_paper_claims(variant: str) -> None:
    """The statement is false with probability 1e-6 at most; nearly all of epsilon' is proved."""
    target = TupleTarget(RSFD(sizes=(3, 3), epsilon=1.0, variant=variant))
    found = proved(target, target.first_pair, 60_000, ALARM)
    assert target.claim is not None
    assert target.m.claimed_epsilon < found <= target.claim.epsilon


@pytest.mark.parametrize(
    "target",
    [
        SequenceTarget(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=0.5), 20),
        SequenceTarget(LOSUE(k=4, epsilon_permanent=2.0, epsilon_report=0.5), 20),
        SequenceTarget(OLOLOHA(k=4, epsilon_permanent=2.0, epsilon_report=0.5), 20),
    ],
    ids=named,
)
def test_sequences_lose_more_than_a_report_and_no_more_than_promised(target: SequenceTarget) -> None:
    """The proof is false with probability 1e-6 at most."""
    found = proved(target, (0, 1), 40_000, ALARM)
    assert target.claim is not None
    assert 2 * 0.5 < found <= target.claim.epsilon


@pytest.mark.parametrize("method", ["likelihood", "attack", "classifier"])
@pytest.mark.parametrize("target", [TARGETS[2], TARGETS[1], SEQUENCES[0], SEQUENCES[6]], ids=named)
def test_audits_run_on_them(target: Target, method: str) -> None:
    """Honest samplers keep the claim; false alarm 1e-6 for each."""
    found = run(target, method, trials=6_000, alpha=ALARM, rng=hush.seeded(7))
    assert not found.violated
    assert found.target == target.name
    if method == "likelihood":
        assert found.epsilon_lower > 0.4


# Bad input.

T, S = TARGETS[2], SEQUENCES[0]


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (ParameterError, lambda: TupleTarget(hush.GRR(k=2, epsilon=1.0))),  # type: ignore[arg-type]
        (HushError, lambda: T.index((0, 3))),
        (HushError, lambda: T.index((-1, 0))),
        (ParameterError, lambda: T.index((0,))),
        (ParameterError, lambda: T.index((0.0, math.nan))),
        (ParameterError, lambda: T.index(())),
        (ParameterError, lambda: T.values(6)),
        (ParameterError, lambda: T.values(-1)),
        (ParameterError, lambda: T.values(1.5)),  # type: ignore[arg-type]
        (ParameterError, lambda: T.draw(6, 10, None)),
        (ReportError, lambda: T.log_ratio(np.zeros(3), 0, 1)),
        (ParameterError, lambda: SequenceTarget(hush.GRR(k=2, epsilon=1.0), 2)),  # type: ignore[arg-type]
        (ParameterError, lambda: SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0))),
        (ParameterError, lambda: SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), 0)),
        (ParameterError, lambda: SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), -1)),
        (ParameterError, lambda: SequenceTarget(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), math.inf)),  # type: ignore[arg-type]
        (ParameterError, lambda: SequenceTarget(Repeated(hush.GRR(k=3, epsilon=1.0), 3), 2)),
        (HushError, lambda: S.draw(3, 10, None)),
        (ReportError, lambda: S.log_ratio(np.zeros((2, 3), np.uint8), 0, 1)),
        (ReportError, lambda: S.guesses(np.zeros(2), 0, hush.seeded(1))),
        (HushError, lambda: S.log_ratio(S.draw(0, 2, None), 0, 3)),
    ],
)
def test_bad_input_is_refused(error: type[HushError], act: Any) -> None:
    with pytest.raises(error):
        act()
