"""Longitudinal protocols against the enumeration of small cases: laws, losses, likelihoods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.exact.thresholds import SCALE
from hush.longitudinal import (
    LGRR,
    LOLOHA,
    LOSUE,
    LOUE,
    LSOUE,
    LSUE,
    OLOLOHA,
    BiLOLOHA,
    Longitudinal,
    Memoized,
    Repeated,
    dBitFlipPM,
    printed,
)
from hush.longitudinal.unary import LUE

Law = dict[int, dict[int, Fraction]]
UNARY = [LSUE, LOSUE, LOUE, LSOUE]
BUDGETS = {"epsilon_permanent": 2.0, "epsilon_report": 0.9}


def response(size: int, keep: int) -> Law:
    """Randomized response over 0..size-1, from its threshold."""
    p, q = Fraction(keep, SCALE), Fraction(SCALE - keep, SCALE * (size - 1))
    return {v: {y: p if y == v else q for y in range(size)} for v in range(size)}


def flips(bits: int, p: int, q: int, rows: dict[int, int]) -> Law:
    """Independent bits: one with probability p where the row has a one, with q where it has none."""

    def chance(row: int, y: int) -> Fraction:
        terms = [Fraction(p if row >> j & 1 else q, SCALE) for j in range(bits)]
        return math.prod((t if y >> j & 1 else 1 - t for j, t in enumerate(terms)), start=Fraction(1))

    return {v: {y: chance(row, y) for y in range(1 << bits)} for v, row in rows.items()}


def laws(protocol: Longitudinal) -> tuple[Law, Law]:
    """The permanent round, by state, and the fresh round, by permanent answer, from the thresholds alone."""
    if isinstance(protocol, LGRR | LOLOHA):
        size = protocol.first_report.size
        return tuple(response(size, keep) for keep in protocol.first_report.rounds)  # type: ignore[return-value]
    if isinstance(protocol, LUE):
        k, (before, after) = protocol.k, protocol.first_report.rounds
        return flips(k, *before, {v: 1 << v for v in range(k)}), flips(k, *after, {x: x for x in range(1 << k)})
    assert isinstance(protocol, dBitFlipPM)
    d, flip = protocol.d, protocol.first_report.flip
    rows = {**{j: 1 << j for j in range(d)}, d: 0}
    same = {x: {y: Fraction(x == y) for y in range(1 << d)} for x in range(1 << d)}
    return flips(d, SCALE - flip, flip, rows), same


def enumerated(protocol: Longitudinal, states: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """Probability of every sequence of answers, for a history of states: a mixture over what is kept."""
    keep, fresh = laws(protocol)
    held = sorted(set(states))
    found: dict[tuple[int, ...], Fraction] = {}
    for answers in itertools.product(fresh, repeat=len(states)):
        total = Fraction(1)
        for state in held:
            times = [t for t, s in enumerate(states) if s == state]
            total *= sum(chance * math.prod(fresh[x][answers[t]] for t in times) for x, chance in keep[state].items())
        found[answers] = total
    return found


def dressed(protocol: Longitudinal, answers: list[tuple[int, ...]], public: np.ndarray) -> np.ndarray:
    """Reports that show these answers."""
    core = np.array(answers)
    if isinstance(protocol, LUE | dBitFlipPM):
        return protocol._dress(np.tile(public, (len(core), 1)), protocol._answers()[core])
    return protocol._dress(np.tile(public, (len(core), 1)), core.astype(protocol._answers().dtype))


def placed(protocol: Longitudinal) -> tuple[np.ndarray, list[int]]:
    """Something public under which the states of all values are known."""
    public = protocol._draw(1, hush.seeded(5))
    return public, protocol._states(public, np.arange(protocol.k)[None])[0].tolist()


SMALL = [
    LGRR(k=2, **BUDGETS),
    LGRR(k=3, **BUDGETS),
    *(cls(k=k, **BUDGETS) for cls in UNARY for k in (2, 3)),
    BiLOLOHA(k=3, **BUDGETS),
    LOLOHA(k=5, **BUDGETS, g=3),
    dBitFlipPM(k=3, epsilon_permanent=1.5, d=1),
    dBitFlipPM(k=3, epsilon_permanent=1.5, d=2),
    dBitFlipPM(k=2, epsilon_permanent=1.5, d=2),
]


@pytest.mark.parametrize("protocol", SMALL, ids=repr)
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_likelihood_of_a_sequence_is_the_mixture_over_what_is_kept(protocol: Longitudinal, tau: int) -> None:
    public, states = placed(protocol)
    for value in range(protocol.k):
        due = enumerated(protocol, (states[value],) * tau)
        assert sum(due.values()) == 1
        stated = np.exp(protocol.sequence_log_prob(dressed(protocol, list(due), public), value))
        assert stated == pytest.approx([float(p) for p in due.values()], rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("protocol", SMALL, ids=repr)
@pytest.mark.parametrize("history", [(0, 1), (0, 1, 0), (1, 1, 0), (1, 0, 1)])
def test_likelihood_of_a_history_that_changes(protocol: Longitudinal, history: tuple[int, ...]) -> None:
    public, states = placed(protocol)
    due = enumerated(protocol, tuple(states[v] for v in history))
    reports = dressed(protocol, list(due), public)
    stated = np.exp(protocol.sequence_log_prob(reports, np.tile(history, (len(reports), 1))))
    assert stated == pytest.approx([float(p) for p in due.values()], rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("protocol", SMALL, ids=repr)
def test_scores_are_likelihoods_up_to_a_constant(protocol: Longitudinal) -> None:
    values = np.repeat(np.arange(40)[:, None] % protocol.k, 4, axis=1)
    reports = protocol.collect(values, rng=hush.seeded(3))
    whole = np.stack([protocol.sequence_log_prob(reports, v) for v in range(protocol.k)], axis=1)
    scores = protocol.sequence_scores(reports)
    assert scores - scores[:, :1] == pytest.approx(whole - whole[:, :1], abs=1e-9)


@pytest.mark.parametrize("protocol", SMALL, ids=repr)
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_loss_of_a_sequence_equals_enumeration(protocol: Longitudinal, tau: int) -> None:
    keep, _ = laws(protocol)
    by_state = [enumerated(protocol, (state,) * tau) for state in keep]
    worst = max(
        Fraction(max(law[y] for law in by_state), min(law[y] for law in by_state))
        for y in by_state[0]
        if any(law[y] for law in by_state)
    )
    loss = protocol.sequence_epsilon(tau)
    assert loss == pytest.approx(math.log(worst), abs=1e-13)
    assert loss >= math.log(worst) - 1e-15


@pytest.mark.parametrize("protocol", [p for p in SMALL if not isinstance(p, dBitFlipPM)], ids=repr)
def test_law_of_one_report_is_the_chain_of_two_rounds(protocol: Longitudinal) -> None:
    """Exactly: p* and q* as in p1 p2 + (1 - p1) q2, q1 p2 + (1 - q1) q2, and their counterpart over many values."""
    first = protocol.first_report
    public, states = placed(protocol)
    for value in range(protocol.k):
        due = enumerated(protocol, (states[value],))
        reports = dressed(protocol, list(due), public)[:, 0]
        for report, chance in zip(reports, due.values(), strict=True):
            assert Fraction(first.weight(report, value), first.denominator) == chance


LIMITED: dict[
    object, Callable[[float], float]
] = {  # with s = e^(epsilon_permanent/2), how large e^epsilon_report may be
    LOUE: lambda s: (2 * s * s + 1) / 3,
    LSOUE: lambda s: s * (2 * s + 1) / (s + 2),
}


@pytest.mark.parametrize("cls", [LGRR, *UNARY, BiLOLOHA, OLOLOHA])
@pytest.mark.parametrize("k", [2, 3, 1000])
@pytest.mark.parametrize("epsilon_permanent", [0.01, 1.0, 4.0, 16.0])
def test_losses_reach_their_budgets_and_never_exceed_them(
    cls: Callable[..., Longitudinal], k: int, epsilon_permanent: float
) -> None:
    for alpha in (0.05, 0.3, 0.5, 0.6, 0.95):
        epsilon_report = alpha * epsilon_permanent
        if cls in LIMITED and epsilon_report > math.log(LIMITED[cls](math.exp(epsilon_permanent / 2))):
            with pytest.raises(ParameterError, match="epsilon_report must be at most"):
                cls(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report)
            continue
        protocol = cls(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report)
        assert epsilon_report - 1e-8 <= protocol.first_report.exact_epsilon() <= epsilon_report
        assert protocol.sequence_epsilon(1) == pytest.approx(protocol.first_report.exact_epsilon(), abs=1e-14)
        course = [protocol.sequence_epsilon(tau) for tau in (1, 2, 3, 10, 1000, 10**6, math.inf)]
        assert course == sorted(course)
        assert epsilon_permanent - 1e-8 <= course[-1] <= epsilon_permanent


def test_one_report_is_as_good_as_one_round_with_eps_1() -> None:
    for k, epsilon_permanent, epsilon_report in ((2, 1.0, 0.5), (9, 2.0, 0.7), (100, 5.0, 4.9)):
        pairs = [
            (
                LGRR(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report),
                hush.GRR(k=k, epsilon=epsilon_report),
            ),
            (
                LSUE(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report),
                hush.SUE(k=k, epsilon=epsilon_report),
            ),
            (
                LOSUE(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report),
                hush.OUE(k=k, epsilon=epsilon_report),
            ),
            (
                LOLOHA(k=k, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report, g=5),
                hush.LH(k=k, epsilon=epsilon_report, g=5),
            ),
        ]
        for two, one in pairs:
            assert two.first_report.p_star == pytest.approx(one.p_star, rel=1e-12)
            assert two.first_report.q_star == pytest.approx(one.q_star, rel=1e-12)


def test_osue_has_the_least_variance_of_the_four() -> None:
    variances = {cls: cls(k=20, epsilon_permanent=2.0, epsilon_report=1.0).first_report.variance() for cls in UNARY}
    assert min(variances, key=variances.__getitem__) is LOSUE


@pytest.mark.parametrize(("epsilon_permanent", "epsilon_report"), [(1.0, 0.5), (3.0, 1.5), (4.0, 3.9), (5.0, 1.0)])
def test_optimal_hash_range_has_the_least_variance(epsilon_permanent: float, epsilon_report: float) -> None:
    chosen = OLOLOHA(k=1000, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report)
    tried = {
        g: LOLOHA(
            k=1000, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report, g=g
        ).first_report.variance()
        for g in range(2, 80)
    }
    assert chosen.first_report.variance() == pytest.approx(min(tried.values()), rel=2e-3)
    assert abs(chosen.g - min(tried, key=tried.__getitem__)) <= 1


# What the literature prints.


def test_printed_second_round_leaves_budget_unused() -> None:
    """Its ratio leaves out the values that are neither true nor reported; enumeration shows what one report loses."""
    for size, epsilon_permanent, epsilon_report in ((2, 2.0, 1.0), (3, 2.0, 1.0), (5, 1.0, 0.4)):
        a, b = math.exp(epsilon_permanent), math.exp(epsilon_report)
        again = (a * b - 1) / (a - b)
        keep, fresh = (response(size, int(SCALE * r / (r + size - 1))) for r in (a, again))
        law = [sum(keep[v][x] * fresh[x][0] for x in range(size)) for v in range(size)]
        loss = math.log(max(law) / min(law))
        assert printed.first_loss(size, epsilon_permanent, epsilon_report) == pytest.approx(loss, abs=1e-12)
        assert (loss < epsilon_report - 0.05) == (size > 2)


@pytest.mark.parametrize(("epsilon_permanent", "epsilon_report"), [(1.0, 0.5), (2.0, 0.6), (4.0, 2.0), (5.0, 4.0)])
def test_printed_hash_range_minimises_the_printed_variance(epsilon_permanent: float, epsilon_report: float) -> None:
    def variance(g: int) -> float:
        p = math.exp(printed.first_loss(g, epsilon_permanent, epsilon_report))
        p /= p + g - 1
        return (1 / g) * (1 - 1 / g) / (p - 1 / g) ** 2

    chosen = printed.hash_range(epsilon_permanent, epsilon_report)
    assert variance(chosen) <= 1.01 * min(variance(g) for g in range(2, 200))


def test_osue_equals_its_printed_second_round() -> None:
    epsilon_permanent, epsilon_report = 2.5, 1.2
    a, b = math.exp(epsilon_permanent), math.exp(epsilon_report)
    _, (p, q) = LOSUE(k=4, epsilon_permanent=epsilon_permanent, epsilon_report=epsilon_report).first_report.rounds
    assert p / SCALE == pytest.approx((1 - a * b) / (b - a - a * b + 1), rel=1e-12)
    assert p + q == SCALE


def test_a_single_bit_may_carry_the_whole_budget() -> None:
    one, two = (dBitFlipPM(k=6, epsilon_permanent=1.0, d=d).first_report for d in (1, 2))
    assert math.log(one.p / one.q) == pytest.approx(1.0, abs=1e-12)
    assert math.log(two.p / two.q) == pytest.approx(0.5, abs=1e-12)
    half = dBitFlipPM(k=6, epsilon_permanent=0.5, d=1).first_report  # as printed for a budget of 1
    assert half.flip == two.flip
    assert half.exact_epsilon() == pytest.approx(0.5, abs=1e-12)


# Histories that change.


def changed(protocol: Longitudinal) -> float:
    """The loss between two histories through all states, each a cyclic shift of the other."""
    k = protocol.k
    return protocol.history_epsilon(list(range(k)), [(v + 1) % k for v in range(k)])


@pytest.mark.parametrize("cls", [LGRR, *UNARY])
def test_each_kept_answer_can_lose_its_budget(cls: Callable[..., Longitudinal]) -> None:
    """With hardly any fresh noise, one report of each value in turn is nearly the worst case."""
    epsilon_report = 1.0 if cls in (LGRR, LSUE, LOSUE) else 0.5
    near = cls(k=3, epsilon_permanent=1.0, epsilon_report=0.999 * epsilon_report)
    assert changed(near) == pytest.approx(3 * near.epsilon_report, abs=1e-9)
    assert changed(near) <= near.epsilon_worst == 3.0
    if epsilon_report == 1.0:
        assert changed(near) >= 0.99 * near.epsilon_worst


def test_worst_case_of_hashed_and_asked_protocols() -> None:
    """Of states: whether the bucket of a value changes with it depends on what is public."""
    assert LOLOHA(k=50, epsilon_permanent=1.5, epsilon_report=0.5, g=4).epsilon_states == 6.0
    assert LOLOHA(k=3, epsilon_permanent=1.5, epsilon_report=0.5, g=4).epsilon_states == 4.5
    asked = dBitFlipPM(k=3, epsilon_permanent=1.0, d=2)  # two asked buckets, and none of them
    assert changed(asked) == pytest.approx(asked.epsilon_worst, abs=1e-9)
    assert asked.epsilon_worst == 2.0
    everything = dBitFlipPM(k=3, epsilon_permanent=1.0, d=3)
    assert changed(everything) == pytest.approx(everything.epsilon_worst, abs=1e-9)
    single = dBitFlipPM(k=2, epsilon_permanent=1.0, d=1)
    assert changed(single) == pytest.approx(single.epsilon_worst, abs=1e-9)
    assert single.epsilon_worst == 2.0


def test_when_a_value_changes_is_not_protected_by_kept_answers() -> None:
    protocol = LGRR(k=2, epsilon_permanent=0.5, epsilon_report=0.25)
    losses = []
    for half in range(1, 8):
        stays, moves = [0] * (2 * half), [0] * half + [1] * half
        losses.append(protocol.history_epsilon(stays, moves))
        assert losses[-1] <= 2 * half * protocol.epsilon_fresh
    assert losses == sorted(losses)
    assert losses[-1] > protocol.epsilon_worst
    assert Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)).history_epsilon([0, 0], [0, 1]) == math.inf
    assert dBitFlipPM(k=3, epsilon_permanent=1.0, d=2).history_epsilon([0, 0], [0, 1]) == math.inf


def test_a_hash_function_that_joins_values_shows_less_of_a_change_or_more() -> None:
    """Histories that change together may still differ once hashed: the worst hash function counts."""
    protocol, direct = (
        BiLOLOHA(k=4, epsilon_permanent=0.5, epsilon_report=0.25),
        LGRR(k=2, epsilon_permanent=0.5, epsilon_report=0.25),
    )
    together = protocol.history_epsilon([0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3])
    placings = [[a] * 3 + [b] * 3 for a in (0, 1) for b in (0, 1)]
    worst = max(direct.history_epsilon(one, other) for one in placings for other in placings)
    assert together == pytest.approx(worst, abs=1e-12)
    assert together > protocol.epsilon_states
    assert protocol.history_epsilon([0] * 6, [2] * 6) == pytest.approx(protocol.sequence_epsilon(6), abs=1e-12)


def changing_together(k: int, tau: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Two histories whose values are equal at the same pairs of times: of each kind, one against all."""
    for first in itertools.product(range(k), repeat=tau):
        seen = list(dict.fromkeys(first))
        if seen != sorted(seen) or seen[-1] != len(seen) - 1:
            continue
        for image in itertools.permutations(range(k), len(seen)):
            yield first, tuple(image[v] for v in first)


TOGETHER: list[tuple[Longitudinal, bool]] = [
    (LGRR(k=3, epsilon_permanent=1.0, epsilon_report=0.5), True),
    (LOSUE(k=3, epsilon_permanent=1.0, epsilon_report=0.9), True),
    (Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)), True),
    (BiLOLOHA(k=2, epsilon_permanent=1.0, epsilon_report=0.5), True),
    (BiLOLOHA(k=3, epsilon_permanent=1.0, epsilon_report=0.9), False),
    (LOLOHA(k=4, epsilon_permanent=0.5, epsilon_report=0.4, g=3), False),
    (dBitFlipPM(k=2, epsilon_permanent=1.0, d=1), True),
    (dBitFlipPM(k=3, epsilon_permanent=1.0, d=2), True),
    (dBitFlipPM(k=3, epsilon_permanent=1.0, d=3), True),
    (dBitFlipPM(k=3, epsilon_permanent=1.0, d=1), False),
    (dBitFlipPM(k=4, epsilon_permanent=1.0, d=2), False),
]


@pytest.mark.parametrize(("protocol", "bounded"), TOGETHER, ids=repr)
def test_histories_whose_values_change_together_lose_no_more_than_is_said(
    protocol: Longitudinal, bounded: bool
) -> None:
    for tau in (1, 2, 3):
        worst = max(protocol.history_epsilon(*pair) for pair in changing_together(protocol.k, tau))
        assert worst <= protocol.history_bound(tau) + 1e-9
        if bounded:
            assert worst <= protocol.epsilon_states + 1e-9
    assert (protocol.epsilon_worst == protocol.epsilon_states) == bounded
    assert math.isinf(protocol.epsilon_worst) != bounded
    assert protocol.history_bound(1) == protocol.epsilon_report
    if bounded:
        assert protocol.history_bound(10**6) == protocol.epsilon_worst


@pytest.mark.parametrize("protocol", [each for each, _ in TOGETHER], ids=repr)
def test_no_two_histories_lose_more_than_one_report_and_fresh_noise_of_the_others(
    protocol: Longitudinal, thorough: bool
) -> None:
    """All pairs of histories, by enumeration, against the bound that is proved in docs/longitudinal.md."""
    fresh = protocol.epsilon_fresh
    for tau in (1, 2, 3):
        histories = list(itertools.product(range(protocol.k), repeat=tau))
        pairs = itertools.islice(itertools.combinations(histories, 2), 2000 if thorough else 500)
        worst = max(protocol.history_epsilon(*pair) for pair in pairs)
        bound = protocol.any_histories_bound(tau)
        assert worst <= bound + 1e-9
        assert protocol.history_bound(tau) <= bound
        if math.isfinite(fresh):
            exact = Fraction(protocol.epsilon_report) + (tau - 1) * Fraction(fresh)
            assert exact <= Fraction(bound) <= exact * (1 + Fraction(1, 10**15))
            assert tau == 1 or bound < tau * fresh
        else:
            assert math.isinf(bound) == (tau > 1)


def test_where_buckets_are_shared_no_bound_of_bucket_changes_holds_for_values() -> None:
    hashed = BiLOLOHA(k=4, epsilon_permanent=1.0, epsilon_report=0.5)
    assert hashed.epsilon_states == 2.0
    losses = [hashed.history_epsilon([0] * half + [1] * half, [2] * half + [3] * half) for half in range(1, 6)]
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(5.2768, abs=1e-4)
    assert losses[-1] - losses[-2] > 1.1  # and on it goes: no number bounds them all
    assert all(loss <= hashed.history_bound(2 * half) for half, loss in enumerate(losses, 1))
    for asked in (dBitFlipPM(k=3, epsilon_permanent=1.0, d=1), dBitFlipPM(k=4, epsilon_permanent=1.0, d=2)):
        assert max(asked.history_epsilon(*pair) for pair in changing_together(asked.k, 2)) == math.inf


EVERY: list[tuple[Longitudinal, int]] = [
    (LGRR(k=2, epsilon_permanent=2.0, epsilon_report=1.0), 7),
    (LGRR(k=5, epsilon_permanent=1.0, epsilon_report=0.7), 5),
    (LOLOHA(k=5, epsilon_permanent=1.0, epsilon_report=0.5, g=3), 5),
    (LOSUE(k=3, epsilon_permanent=1.0, epsilon_report=0.6), 4),
    (LSUE(k=2, epsilon_permanent=1.0, epsilon_report=0.6), 5),
    (Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)), 4),
    (dBitFlipPM(k=4, epsilon_permanent=1.0, d=2), 3),
]


@pytest.mark.parametrize(("protocol", "tau"), EVERY, ids=repr)
def test_what_is_alike_need_not_be_enumerated(protocol: Longitudinal, tau: int) -> None:
    """Against every sequence of reports, for whatever histories come: long blocks, short ones, shared ones."""
    rng = np.random.default_rng(14)
    answers = protocol._answers()
    every = np.array(list(itertools.product(range(len(answers)), repeat=tau)))
    for turn in range(12):
        first, second = rng.integers(0, protocol.k, (2, tau))
        if turn % 3 == 0:
            second = (first + 1) % protocol.k
        values = sorted({*first.tolist(), *second.tolist()})
        worst = 0.0
        for placing in protocol._placings(values):
            state = dict(zip(values, placing, strict=True))
            one, other = (
                protocol._likelihood(answers[every], np.tile([state[v] for v in history], (len(every), 1)))
                for history in (first.tolist(), second.tolist())
            )
            possible = np.isfinite(one) | np.isfinite(other)
            worst = max(worst, float(np.abs(one[possible] - other[possible]).max()))
        assert protocol.history_epsilon(first, second) == pytest.approx(worst, abs=1e-12)


def test_a_year_of_months_is_in_reach() -> None:
    moves, stays = [0] * 6 + [1] * 6, [0] * 12
    for k in (3, 10, 10**6):
        protocol = LGRR(k=k, epsilon_permanent=2.0, epsilon_report=1.0)
        assert protocol.epsilon_permanent < protocol.history_epsilon(stays, moves) < 12 * protocol.epsilon_fresh
        alone = protocol.history_epsilon(stays, [1] * 12)
        assert alone == pytest.approx(protocol.sequence_epsilon(12), abs=1e-12)
        swapped = protocol.history_epsilon(moves, [1] * 6 + [0] * 6)
        assert swapped == pytest.approx(2 * protocol.sequence_epsilon(6), abs=1e-12)
    bits = LOSUE(k=100, epsilon_permanent=2.0, epsilon_report=1.0)
    assert bits.history_epsilon(stays, [1] * 12) == pytest.approx(bits.sequence_epsilon(12), abs=1e-12)


def test_history_of_one_value_is_the_loss_of_a_sequence() -> None:
    for protocol in SMALL:
        loss = protocol.history_epsilon([0, 0], [1, 1])
        assert loss == pytest.approx(protocol.sequence_epsilon(2), abs=1e-12)
        assert protocol.history_epsilon([0, 1], [0, 1]) == 0.0


# Errors of averages.


@pytest.mark.parametrize("cls", [LGRR, *UNARY, BiLOLOHA, OLOLOHA])
@pytest.mark.parametrize("frequency", [0.0, 0.3, 1.0])
def test_variance_of_an_average_lies_between_both_rounds_and_the_permanent_one(
    cls: Callable[..., LGRR], frequency: float
) -> None:
    protocol = cls(k=7, epsilon_permanent=2.0, epsilon_report=1.0)
    course = [protocol.mean_variance(tau, 100, frequency) for tau in (1, 2, 10, math.inf)]
    assert course[0] == pytest.approx(protocol.first_report.variance(100, frequency), rel=1e-9)
    assert course == sorted(course, reverse=True)
    if cls is LGRR:
        assert course[-1] == pytest.approx(hush.GRR(k=7, epsilon=2.0).variance(100, frequency), rel=1e-9)
    if cls in (LSUE, LOSUE):
        once = (hush.SUE if cls is LSUE else hush.OUE)(k=7, epsilon=2.0)
        assert course[-1] == pytest.approx(once.variance(100, frequency), rel=1e-9)


def test_attack_success_of_asked_bits_under_any_prior() -> None:
    """The closed form against the sum over all lists of buckets and all rows of bits."""
    for k, d in ((4, 1), (4, 2), (5, 3), (4, 4), (3, 2)):
        m = dBitFlipPM(k=k, epsilon_permanent=1.3, d=d).first_report
        lists = list(itertools.combinations(range(k), d))
        for prior in (np.full(k, 1 / k), np.arange(1, k + 1) / (k * (k + 1) / 2), np.eye(k)[0] * 0.9 + 0.1 / k):
            due = 0.0
            for asked in lists:
                for y in m.outputs(asked):
                    due += max(prior[v] * m.weight(y, v) / m.denominator for v in range(k)) / len(lists)
            assert m.asr(prior) == pytest.approx(due, rel=1e-12)


def test_repetition_adds_up() -> None:
    mechanism = hush.OUE(k=3, epsilon=0.7)
    repeated = Repeated(mechanism, 3)
    assert repeated.guarantee == hush.LDP(pytest.approx(2.1))
    assert repeated.guarantee.epsilon >= 3 * Fraction(0.7)
    outputs = mechanism.outputs()
    reports = outputs[np.array(list(itertools.product(range(len(outputs)), repeat=3)))]
    logs = np.stack([repeated.sequence_log_prob(reports, v) for v in range(3)], axis=1)
    assert np.exp(logs).sum(axis=0) == pytest.approx([1.0] * 3)
    assert (logs.max(axis=1) - logs.min(axis=1)).max() == pytest.approx(repeated.exact_epsilon(), abs=1e-12)
    history = np.tile([0, 1, 2], (len(reports), 1))
    parts = sum(mechanism.log_prob(reports[:, t], t) for t in range(3))
    assert repeated.sequence_log_prob(reports, history) == pytest.approx(parts)
    slack = Repeated(hush.AGRR(k=3, epsilon=0.5, delta=1e-4), 4).guarantee
    assert (slack.epsilon, slack.delta) == pytest.approx((2.0, 4e-4))
    assert Repeated(hush.LHO(k=3, g=2), 2).guarantee is None
    assert Repeated(hush.LHO(k=3, g=2), 2).exact_epsilon() == math.inf
