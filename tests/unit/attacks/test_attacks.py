"""One report: outcomes, ties, reconstruction and distinguishing, against exact enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import hush
from hush.attacks import ties
from hush.attacks.distinguishing import distinguish, total_variation
from hush.attacks.outcome import Outcome, scored
from hush.attacks.reconstruction import reconstruct
from hush.errors import DomainError, HushError, ParameterError, ReportError
from hush.estimation.intervals import proportion
from hush.longitudinal import LGRR, Repeated, dBitFlipPM
from tests.conftest import NAMES as EVERY
from tests.conftest import example
from tests.unit.attacks.test_poisoning import Table

GRIDS = {"SHE", "ServerTHE", "GM", "AGM"}
NAMES = sorted(n for n in EVERY if n not in GRIDS)
HASHED = {"LH", "BLH", "OLH", "ALH", "ABLH", "AOLH", "LHO", "Wheel", "CMS", "HCMS"}


def law(m: hush.FrequencyOracle, public: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Outputs, and the probability of each (copies included) for every value, shape (outputs, k)."""
    outputs = m.outputs(public)
    rows = [[m.copies(y) * m.weight(y, v) / m.denominator for v in range(m.k)] for y in outputs]
    return outputs, np.array(rows)


# Outcomes and ties.


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (7, 50), (499, 1000)])
def test_intervals_are_those_of_clopper_and_pearson(hits: int, n: int) -> None:
    right = np.arange(n) < hits
    seen = scored(np.zeros(n, np.int64), right, 0.25)
    due = binomtest(hits, n).proportion_ci(0.95)
    assert seen.interval == pytest.approx((due.low, due.high), abs=1e-12)
    wide = binomtest(hits, n).proportion_ci(0.999)
    assert seen.within(0.999) == pytest.approx((wide.low, wide.high), abs=1e-12)
    assert (seen.success, seen.n, seen.chance_level, seen.expected) == (hits / n, n, 0.25, None)


def test_an_outcome_is_frozen_and_speaks_plainly() -> None:
    seen = scored(np.arange(4), np.array([True, True, False, True]), 0.25, 0.5)
    with pytest.raises(AttributeError):
        seen.success = 1.0  # type: ignore[misc]
    assert str(seen) == "0.75 of 4 (95 %: 0.1941 to 0.9937); by chance 0.25; expected 0.5"
    assert "guesses" not in repr(seen)
    assert isinstance(seen, Outcome)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2, math.nan, "0.9", None])
def test_levels_are_checked(level: Any) -> None:
    with pytest.raises(ParameterError):
        proportion(1, 2, level)


def test_ties_are_broken_at_random_and_rounding_is_a_tie() -> None:
    score = np.tile([0.0, 1.0, 1.0 + 1e-12, 0.5, 1.0 - 1e-12], (30_000, 1))
    counts = np.bincount(ties.likeliest(score, hush.seeded(7)), minlength=5)
    assert counts[0] == counts[3] == 0
    assert (np.abs(counts[[1, 2, 4]] - 10_000) < 600).all()  # more than 7 sigma
    assert set(ties.likeliest(np.full((500, 3), -np.inf), hush.seeded(7)).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_the_top_holds_the_best_and_a_fair_share_of_ties(count: int) -> None:
    row = [3.0, 1.0, 1.0, -np.inf, 1.0, 0.0]  # ranks: 0; then 1, 2, 4; then 5; then 3
    chosen = ties.top(np.tile(row, (6000, 1)), count, hush.seeded(7))
    assert chosen.shape == (6000, count)
    assert all(len(set(r)) == count for r in chosen[:100].tolist())
    assert (chosen[:, 0] == 0).all()
    times = np.bincount(chosen.ravel(), minlength=6) / 6000
    due = [1.0, *([min(max(count - 1, 0), 3) / 3] * 2), float(count == 6), min(max(count - 1, 0), 3) / 3, count >= 5]
    assert np.abs(times - due).max() < 0.05  # more than 7 sigma
    scores = np.array(row)[chosen]
    assert (scores[:, 1:] <= scores[:, :-1]).all()


def test_batches_do_not_change_the_law_and_seeds_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    m = hush.OUE(k=6, epsilon=1.0)
    values = np.arange(600) % 6
    reports = m.privatize(values, rng=hush.seeded(1))
    whole = distinguish(m, reports, values % 2, 0, 1, rng=hush.seeded(2)).guesses
    assert (whole == distinguish(m, reports, values % 2, 0, 1, rng=hush.seeded(2)).guesses).all()
    monkeypatch.setattr(ties, "CELLS", 60)  # ten rows at a time
    cut = distinguish(m, reports, values % 2, 0, 1, rng=hush.seeded(2)).guesses
    decided = m.supports(reports, np.zeros(600, np.int64)) != m.supports(reports, np.ones(600, np.int64))
    assert (whole[decided] == cut[decided]).all()
    monkeypatch.setenv("HUSH_THREADS", "1")
    assert (cut == distinguish(m, reports, values % 2, 0, 1, rng=hush.seeded(2)).guesses).all()


# Reconstruction.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [None, [0.5, 0.3, 0.15, 0.05]])
def test_reconstruction_is_the_best_there_is(name: str, prior: list[float] | None) -> None:
    """Every output as a report: summed over the exact law, the guesses succeed as often as any could."""
    m = example(name, 4, 1.2)
    belief = np.full(4, 0.25) if prior is None else np.array(prior)
    for public in m.publics():
        outputs, chances = law(m, public)
        seen = reconstruct(m, outputs, np.zeros(len(outputs), np.int64), prior, rng=hush.seeded(7))
        joint = chances * belief
        reached = joint[np.arange(len(outputs)), seen.guesses].sum()
        assert reached == pytest.approx(joint.max(axis=1).sum(), rel=1e-12)
        assert seen.chance_level == belief.max()
        if len(m.publics()) == 1:
            assert seen.expected == pytest.approx(reached, rel=1e-9)
    assert seen.expected == m.asr(prior)


def test_a_mechanism_without_a_formula_has_no_expectation() -> None:
    class Secretive(Table):
        def asr(self, prior: Any = None) -> float:
            raise NotImplementedError

    m = Secretive(k=3, epsilon=1.0)
    seen = reconstruct(m, m.privatize([0, 1, 2], rng=hush.seeded(7)), [0, 1, 2])
    assert seen.expected is None
    assert Table(k=3, epsilon=1.0).asr() == pytest.approx(law(Table(k=3, epsilon=1.0))[1].max(axis=1).sum() / 3)


@pytest.mark.parametrize("name", NAMES)
def test_hardly_any_budget_leaves_chance(name: str) -> None:
    if name == "LHO":
        assert hush.LHO(k=4, g=4).asr() > 0.5  # no noise, no privacy
        return
    m = example(name, 4, 1e-6, delta=1e-12)
    seen = reconstruct(m, m.privatize([0, 1, 2, 3], rng=hush.seeded(7)), [0, 1, 2, 3])
    assert seen.expected == pytest.approx(0.25, abs=1e-6)
    assert total_variation(m, 0, 3) == pytest.approx(0.0, abs=1e-6)


# Distinguishing.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pair", [(0, 3), (2, 1), (0, 4)])
def test_distinguishing_reaches_total_variation(name: str, pair: tuple[int, int]) -> None:
    m = example(name, 5, 1.2)
    successes = []
    for public in m.publics():
        outputs, chances = law(m, public)
        seen = distinguish(m, outputs, np.full(len(outputs), pair[0]), *pair, rng=hush.seeded(7))
        both = chances[:, list(pair)] / 2
        successes.append(np.where(seen.guesses == pair[0], both[:, 0], both[:, 1]).sum())
        assert successes[-1] == pytest.approx(both.max(axis=1).sum(), rel=1e-12)
        assert seen.chance_level == 0.5
    if name not in HASHED:  # all of its public randomness was gone through
        assert seen.expected == pytest.approx(np.mean(successes), rel=1e-9)


@pytest.mark.parametrize("name", sorted(HASHED))
def test_total_variation_of_hashing_is_that_of_its_pairs(name: str) -> None:
    m = example(name, 9, 1.2)
    assert total_variation(m, 0, 8) == pytest.approx(m.p_star - m.q_star, rel=1e-12)


def test_total_variation_of_an_oracle_from_outside() -> None:
    m = Table(k=4, epsilon=1.0)
    _, chances = law(m)
    assert total_variation(m, 1, 2) == pytest.approx(np.maximum(chances[:, 1] - chances[:, 2], 0).sum(), rel=1e-12)


@pytest.mark.parametrize("name", ["SHE", "GM"])
def test_total_variation_of_a_noisy_histogram(name: str) -> None:
    """Two coordinates of the table, all pairs of steps."""
    m = example(name, 7, 0.9)
    null, own = m.grid.probabilities, m.grid.probabilities[::-1]
    ratio, order = m.grid.ratios, np.argsort(m.grid.ratios)
    # The pair (a, b) speaks for the first value where a's ratio exceeds b's: sums over b up to a, sorted.
    below = np.searchsorted(ratio[order], ratio, side="left")
    lower = np.concatenate([[[0.0], [0.0]], np.cumsum([null[order], own[order]], axis=1)], axis=1)[:, below]
    apart = (own * lower[0] - null * lower[1]).sum()
    assert total_variation(m, 0, 6) == pytest.approx(apart, rel=1e-9)


@pytest.mark.parametrize(("k", "d"), [(4, 1), (4, 2), (5, 4), (3, 3)])
def test_total_variation_of_asked_bits(k: int, d: int) -> None:
    m = dBitFlipPM(k=k, epsilon_permanent=1.3, d=d).first_report
    asked = list(itertools.combinations(range(k), d))
    apart = 0.0
    for buckets in asked:
        _, chances = law(m, buckets)
        apart += np.maximum(chances[:, 0] - chances[:, k - 1], 0).sum() / len(asked)
    assert total_variation(m, 0, k - 1) == pytest.approx(apart, rel=1e-9)


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "HR", "AGRR"])
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_total_variation_of_repeated_reports(name: str, tau: int) -> None:
    one = example(name, 3, 0.8)
    _, chances = law(one)
    for pair in ((0, 1), (0, 2)):
        grown = np.ones((1, 2))
        for _ in range(tau):
            grown = (grown[:, None, :] * chances[None, :, list(pair)]).reshape(-1, 2)
        due = np.maximum(grown[:, 0] - grown[:, 1], 0).sum()
        assert total_variation(Repeated(one, tau), *pair) == pytest.approx(due, rel=1e-9)


@pytest.mark.parametrize("pair", [(0, 2), (0, 1), (4, 5)])
def test_total_variation_of_hadamard_response_with_blocks(pair: tuple[int, int]) -> None:
    """Values of one block share outputs, those of two do not."""
    m = hush.HR(k=6, epsilon=1.0, blocks=2)
    _, chances = law(m)
    assert total_variation(m, *pair) == pytest.approx(np.maximum(chances[:, pair[0]] - chances[:, pair[1]], 0).sum())
    grown = (chances[:, None, list(pair)] * chances[None, :, list(pair)]).reshape(-1, 2)
    due = np.maximum(grown[:, 0] - grown[:, 1], 0).sum()
    assert total_variation(Repeated(m, 2), *pair) == pytest.approx(due, rel=1e-9)


def test_total_variation_where_nothing_is_known() -> None:
    assert total_variation(Repeated(hush.SHE(k=4, epsilon=1.0), 2), 0, 1) is None
    assert total_variation(Repeated(hush.GRR(k=4, epsilon=1.0), 5000), 0, 1) is None
    assert total_variation(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 0, 1) is None


def test_sequences_are_told_apart() -> None:
    """All sequences of a protocol with kept answers: no guess is better."""
    m = LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0)
    every = np.array(list(itertools.product(range(3), repeat=3)), m.report_dtype)
    seen = distinguish(m, every, np.zeros(len(every), np.int64), 0, 2, rng=hush.seeded(7))
    chances = np.exp(np.stack([m.sequence_log_prob(every, v) for v in (0, 2)], axis=1))
    reached = np.where(seen.guesses == 0, chances[:, 0], chances[:, 1]).sum()
    assert reached == pytest.approx(chances.max(axis=1).sum(), rel=1e-12)
    assert seen.expected is None


# Bad input.

M = hush.GRR(k=4, epsilon=1.0)
REPORTS = M.privatize([0, 1, 2, 3], rng=hush.seeded(1))


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (ParameterError, lambda: reconstruct(M, REPORTS, [0, 1])),
        (ParameterError, lambda: reconstruct(M, REPORTS[:0], [])),
        (ParameterError, lambda: reconstruct("GRR", REPORTS, [0, 1, 2, 3])),  # type: ignore[arg-type]
        (DomainError, lambda: reconstruct(M, REPORTS, [0, 1, 2, 4])),
        (DomainError, lambda: reconstruct(M, REPORTS, [0, 1, 2, -1])),
        (ParameterError, lambda: reconstruct(M, REPORTS, [0.0, 1.0, 2.0, math.nan])),
        (ParameterError, lambda: reconstruct(M, REPORTS, [0, 1, 2, 3], [1, 0])),
        (ParameterError, lambda: reconstruct(M, REPORTS, [0, 1, 2, 3], [0, 0, 0, 0])),
        (ParameterError, lambda: reconstruct(M, REPORTS, [0, 1, 2, 3], rng=7)),  # type: ignore[arg-type]
        (ReportError, lambda: reconstruct(M, np.array([0, 1]), [0, 1])),
        (ReportError, lambda: reconstruct(M, np.array([9], "u1"), [0])),
        (ParameterError, lambda: distinguish(M, REPORTS, [0, 1, 2, 3], 0, 1)),
        (ParameterError, lambda: distinguish(M, REPORTS, [0] * 4, 0, 0)),
        (ParameterError, lambda: distinguish(M, REPORTS, [0] * 4, 0, 4)),
        (ParameterError, lambda: distinguish(M, REPORTS, [0] * 4, -1, 2)),
        (ParameterError, lambda: distinguish(M, REPORTS, [0] * 4, 0.0, 2)),  # type: ignore[arg-type]
        (ParameterError, lambda: distinguish(M, REPORTS[:0], [], 0, 1)),
        (ParameterError, lambda: distinguish("GRR", REPORTS, [0] * 4, 0, 1)),  # type: ignore[arg-type]
        (ReportError, lambda: distinguish(M, REPORTS.astype("u4"), [0] * 4, 0, 1)),
        (ReportError, lambda: distinguish(Repeated(M, 2), REPORTS, [0] * 4, 0, 1)),
    ],
)
def test_bad_input_is_refused(error: type[HushError], act: Any) -> None:
    with pytest.raises(error):
        act()


def test_errors_do_not_repeat_a_value() -> None:
    with pytest.raises(ParameterError, match="another one at position 2"):
        distinguish(M, REPORTS, [0, 1, 2, 3], 0, 1)
