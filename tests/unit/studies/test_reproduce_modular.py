"""The study of modular subset selection made again: its sampler, its two readings of the attack, its checks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import norm

import hush
import hush_studies
from hush.mechanisms.forms import Forms
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.simulation.subsets import drawn_members
from hush_studies import Check, Part, Table
from hush_studies.modular import (
    STUDY,
    attacks,
    checks,
    checks_formulas,
    corrections,
    curves,
    measured,
    panels_formulas,
    printed,
    runtime,
    settings,
)
from hush_studies.modular.exact import mean_error
from hush_studies.study import rows_of
from tests.reproduced import small_tables, unsound

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduce_modular")]  # one process computes the tables
RARE = 1e-9
"""The chance of a false alarm of each statistical test here."""


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[Table, float]]:
    """Every part's table, smaller still than the quick version, and how far its progress went."""
    with pytest.MonkeyPatch.context() as change:
        change.setattr(settings, "_QUICK_LARGE", 1_000)
        change.setattr(settings, "FEW", 5)
        change.setattr("hush_studies.modular.tables.LARGE", 2_048)
        return small_tables(STUDY.parts)


@pytest.fixture(scope="module")
def tables(told: dict[str, tuple[Table, float]]) -> dict[str, Table]:
    return {name: table for name, (table, _) in told.items()}


def found(name: str, table: Table) -> dict[str, Check]:
    part = STUDY.part(name)
    assert part is not None
    return {check.claim: check for check in part.check(table)}


def changed(table: Table, row: int, column: str, by: float) -> Table:
    """With one number made larger."""
    rows, at = [list(each) for each in table.rows], table.columns.index(column)
    rows[row][at] += by  # type: ignore[operator]
    return Table(table.columns, [tuple(each) for each in rows])


# What the study holds.


def test_the_study_has_all_figures() -> None:
    wanted = {f"figure-{i}" for i in range(1, 10)} | {"table-1", "table-2", "corrections"}
    assert {part.id for part in STUDY.parts} == wanted
    assert {part.id for part in STUDY.parts if not part.empirical} == {"table-1", "figure-2"}
    assert hush_studies.studies()["modular"] is STUDY


@pytest.mark.parametrize("part", STUDY.parts, ids=lambda part: part.id)
def test_every_part_computes_draws_and_checks(part: Part, told: dict[str, tuple[Table, float]]) -> None:
    table, progress = told[part.id]
    assert progress == pytest.approx(1.0)
    assert Table.read(table.csv()).rows == table.rows
    assert isinstance(part.draw(table), Figure)
    verdicts = part.check(table)
    assert verdicts
    assert unsound(verdicts) == []
    assert [check for check in verdicts if not check.passed] == []


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("figure-1", ("protocol", "k", "people", "epsilon", "mse", "mse_stderr", "mse_expected", "mse_printed")),
        ("figure-2", ("bits", "bits_printed", "bits_abstract", "condition")),
        ("figure-3", ("dra", "dra_stderr", "dra_expected", "dra_mean", "dra_printed", "dra_knowing")),
        ("table-2", ("seconds", "seconds_sd", "seconds_printed", "messages")),
        ("corrections", ("about", "printed", "right", "measured")),
    ],
)
def test_tables_have_what_figures_show(name: str, columns: tuple[str, ...], tables: dict[str, Table]) -> None:
    assert set(columns) <= set(tables[name].columns)


@pytest.mark.parametrize(
    ("name", "claim", "said", "verdict"),
    [
        ("corrections", "k = 30, ε = 1, n = 3,000: equation 3 over the exact error", ("0.0019", "0.4067"), "differs"),
        (
            "corrections",
            "k = 30, ε = 1, n = 3,000: the exact error over theorem 3's bound",
            ("≤ 0.256", "0.4067"),
            "differs",
        ),
        ("corrections", "k = 100, moduli 29 31 37 41: κ over theorem 4's bound", ("≤ 3.93", "104"), "differs"),
        ("corrections", "q = 5, t = 3, k = 8, ε = 4: equation 15 over the exact DRA", ("0.7119", "0.6000"), "differs"),
        (
            "corrections",
            "m = 9, ε = 0.5: variance of the number of members, by the printed covariance",
            ("0", "-6; by the exact one 0"),
            "differs",
        ),
        ("table-1", "bits of PGR at k = 22,000, ε = 4.5", ("15", "20"), "differs"),
        (
            "table-2",
            "k = 22,000: messages K of PGR at ε = 4.5, its slowest, over the most at another ε",
            ("its spike is its rounding", "K = 712,980, else ≤ 292,561"),
            "matches",
        ),
    ],
)
def test_known_numbers(name: str, claim: str, said: tuple[str, str], verdict: str, tables: dict[str, Table]) -> None:
    check = found(name, tables[name])[claim]
    assert (check.printed, check.computed, check.verdict) == (*said, verdict)


def test_every_erratum_of_the_paper_is_shown_false(tables: dict[str, Table]) -> None:
    wrong = [check for name, table in tables.items() for check in found(name, table).values() if not check.known]
    assert {check.verdict for check in wrong} == {"differs", "not told by the paper"}
    words = " ".join(f"{check.claim} {check.source}" for check in wrong)
    for each in (
        "divided by their sum", "⌊m/(E + 1)⌋", "covariance of two members", "covariance between blocks", "equation 3",
        "theorem 3", "theorem 4", "Σ(m − 1)", "equation 7", "equation 15", "RAPPOR", "PGR: bits", "without 1/ℓ",
        "fallback", "modulo 4", "DRA of MSS over the least", "abstract", "seconds of PGR over those of MSS",
    ):  # fmt: skip
        assert each in words, each


@pytest.mark.parametrize(
    ("name", "column", "noise"), [("figure-1", "mse", "mse_stderr"), ("figure-3", "dra", "dra_stderr"),
                                  ("figure-5", "mse", "mse_stderr"), ("corrections", "measured", "measured_stderr")]
)  # fmt: skip
def test_measurements_that_break_their_law_do_not_pass(
    name: str, column: str, noise: str, tables: dict[str, Table]
) -> None:
    """One cell far from where it should be; five trials allow for some hundred standard errors."""
    table, part = tables[name], STUDY.part(name)
    assert part is not None
    off = changed(table, 0, column, 1_000 * float(table.numbers(noise)[0]))
    failed = [check for check in part.check(off) if not check.passed]
    assert failed
    assert failed[0].verdict == "ours against ours"


def test_a_wrong_number_does_not_pass(tables: dict[str, Table]) -> None:
    table = tables["figure-1"]
    at = next(i for i, row in enumerate(table.rows) if row[0] == "MSS")
    more = changed(table, at, "mse_expected", 0.5 * float(table.numbers("mse_expected")[at]))
    check = found("figure-1", more)["error of MSS over SS"]
    assert (check.verdict, check.passed) == ("differs", False)


@pytest.mark.parametrize(("faster", "verdict", "passed"), [(0.6, "differs", True), (20.0, "matches", False)])
def test_how_much_faster_mss_is_is_judged_by_our_programs(faster: float, verdict: str, passed: bool) -> None:
    """The printed seconds have no part in it."""
    rows = [
        ["MSS", 2048, 2.0, None, 0.01],
        ["PGR", 2048, 2.0, 2801, 0.01 * faster],
        ["PGR, best q", 2048, 2.0, 2801, 0.01],
    ]
    table = rows_of(("protocol", "k", "epsilon", "messages", "seconds"), rows)
    check = checks.runtimes(table)[0]
    assert (check.printed, check.verdict, check.passed) == ("11× to 448× faster", verdict, passed)
    assert check.numbers == pytest.approx([faster])


# Subsets drawn by the word.


def draws(m: int, omega: int, residue: int, p: float, number: int) -> np.ndarray:
    """Single subsets, a row each."""
    counts = np.zeros(m, np.int64)
    counts[residue] = 1
    rng = hush.seeded([7, m, omega])
    return np.stack([drawn_members(counts, omega, p, rng) for _ in range(number)])


@pytest.mark.parametrize(("m", "omega"), [(6, 3), (6, 2), (7, 4)])
def test_subsets_have_the_law_of_subset_selection(m: int, omega: int) -> None:
    """Chi-square over all subsets, 4,000 drawn, at 1e-9."""
    from scipy.stats import chi2

    p, number = 0.8, 4_000
    seen = draws(m, omega, 2, p, number)
    assert (seen.sum(axis=1) == omega).all()
    assert set(np.unique(seen)) == {0, 1}
    score = 0.0
    for members in itertools.combinations(range(m), omega):
        chance = p / math.comb(m - 1, omega - 1) if 2 in members else (1 - p) / math.comb(m - 1, omega)
        hits = int(seen[:, list(members)].all(axis=1).sum())
        score += (hits - number * chance) ** 2 / (number * chance)
    assert score < chi2.isf(RARE, math.comb(m, omega) - 1)


@pytest.mark.parametrize(("m", "omega"), [(200, 5), (200, 70), (70, 20), (64, 20), (129, 50)])
def test_sums_of_subsets_have_the_right_means_and_covariances(m: int, omega: int) -> None:
    """400 collections of 300 people with two residues: means, and the variance of every residue, at 1e-9 in all."""
    runs, people = 400, 300
    p = 0.75
    counts = np.zeros(m, np.int64)
    counts[1], counts[m - 1] = 200, 100
    rng = hush.seeded(7)
    seen = np.stack([drawn_members(counts, omega, p, rng) for _ in range(runs)])
    assert (seen.sum(axis=1) == people * omega).all()
    q = (omega - p) / (m - 1)
    mean = q * people + (p - q) * counts
    variance = q * (1 - q) * (people - counts) + p * (1 - p) * counts
    limit = float(norm.isf(RARE / (4 * m)))
    assert (np.abs(seen.mean(axis=0) - mean) < limit * np.sqrt(variance / runs)).all()
    assert (np.abs(seen.var(axis=0, ddof=1) / variance - 1) < limit * math.sqrt(2.2 / runs)).all()


def test_trials_repeat_by_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured.errors.__wrapped__("MSS", 100, "zipf", 2.0, 4, 7)
    monkeypatch.setenv("HUSH_THREADS", "1")
    assert (measured.errors.__wrapped__("MSS", 100, "zipf", 2.0, 4, 7) == first).all()
    assert (measured.errors.__wrapped__("MSS", 100, "zipf", 2.0, 4, 8) != first).all()


def test_tallies_are_those_of_the_mechanisms() -> None:
    for m in (SS(k=50, epsilon=1.0), MSS(k=50, epsilon=1.0, moduli=(13, 17, 23, 29))):
        counts = settings.people("zipf", 50)
        ours, theirs = measured.tally(m, counts, hush.seeded(7)), m.simulate(counts, rng=hush.seeded(7)).tally
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        truth, n = counts / counts.sum(), int(counts.sum())
        z = (m.decode(ours, n) - truth) / np.sqrt(m.variances(truth, n))
        assert np.abs(z).max() < norm.isf(RARE / (2 * m.k))


# Exact errors.


def dense(m: MSS, f: np.ndarray, n: int) -> tuple[float, float]:
    """The mean error for blocks of n/l reports, and equation 3 as printed, from matrices and chances of pairs."""
    k, blocks = m.k, len(m.moduli)
    design = [(np.arange(k) % size == np.arange(size)[:, None]).astype(float) for size in m.moduli]
    weights, covariances, multinomial = [], [], []
    for size, omega, part in zip(m.moduli, m.omegas, design, strict=True):
        e = math.exp(m.epsilon)
        p = omega * e / (omega * e + size - omega)
        q = (omega - p) / (size - 1)
        mean, level = q + (p - q) * (part @ f), omega / size
        total = np.zeros((size, size))
        for r, share in enumerate(part @ f):
            pair = p * (omega - 1) * (omega - 2) + (1 - p) * omega * (omega - 1)
            both = np.full((size, size), pair / ((size - 1) * (size - 2)))
            both[r], both[:, r] = p * (omega - 1) / (size - 1), p * (omega - 1) / (size - 1)
            np.fill_diagonal(both, q)
            both[r, r] = p
            total += share * both
        covariances.append((total - np.outer(mean, mean)) / (p - q) ** 2 / (n / blocks))
        multinomial.append((np.diag(mean) - np.outer(mean, mean)) / (p - q) ** 2 / (n / blocks))
        weights.append((p - q) ** 2 / (level * (1 - level)) * n / blocks)
    scaled = np.concatenate([math.sqrt(w) * part for w, part in zip(weights, design, strict=True)])
    literal = np.linalg.pinv(scaled)
    at, right, wrong = 0, np.zeros((k, k)), 0.0
    for w, cov, other in zip(weights, covariances, multinomial, strict=True):
        block = literal[:, at : at + len(cov)]
        right += w * block @ cov @ block.T
        wrong += float(np.trace(block @ other @ block.T))
        at += len(cov)
    return float(np.trace(right - (np.diag(f) - np.outer(f, f)) / n)) / k, wrong / k


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("crowd", ["zipf", "spike"])
def test_analytical_errors_are_those_of_matrices(epsilon: float, crowd: str) -> None:
    m = MSS(k=70, epsilon=epsilon, moduli=(17, 23, 29, 31, 37))
    f, n = settings.people(crowd, 70) / settings.N, 10_000
    told = mean_error(m.blocks, f, n)
    right, wrong = dense(m, f, n)
    assert told.exact == pytest.approx(right, rel=1e-8)
    assert told.printed == pytest.approx(wrong, rel=1e-8)
    assert told.exact == pytest.approx(float(m.variances(f, n).mean()), rel=1e-8)
    assert printed.equation_3(m.blocks, f, n) == pytest.approx(wrong, rel=1e-8)


def test_collections_are_decoded_at_once_as_one_by_one() -> None:
    m, even = MSS(k=30, epsilon=1.0, moduli=(7, 11, 13, 5)), np.full(30, 1 / 30)
    ours = corrections.decoded(m, even, 3, hush.seeded(7))
    rng = hush.seeded(7)
    for each in ours:
        tally = measured.tally(m, rng.multinomial(corrections.CROWD, even).astype(np.int64), rng)
        assert each == pytest.approx(m.decode(tally, corrections.CROWD), abs=1e-9)


def test_the_ridge_shrinks_as_its_formula_says() -> None:
    m, at, n = MSS(k=100, epsilon=0.5), 7, 1_000
    design = np.concatenate([(np.arange(100) % size == np.arange(size)[:, None]) for size in m.moduli]).astype(float)
    weights = np.repeat(m.blocks.weights * n / len(m.moduli), m.moduli)
    normal = design.T * weights @ design
    wanted = np.linalg.solve(normal + np.eye(100) / 0.25, normal[:, at])[at]
    assert corrections.expected_ridge(m, at, n) == pytest.approx(float(wanted), rel=1e-7)
    assert wanted == pytest.approx(0.93, abs=0.01)


# The attack.


def enumerated(m: MSS | PGR) -> np.ndarray:
    """How often each value is found out, from all outputs and their exact weights."""
    success = np.zeros(m.k)
    publics = m.publics()
    for public in publics:
        reports = m.outputs(public)
        support = m.support_matrix(reports)
        for report, values in zip(reports, support, strict=True):
            guesses = values if values.any() else np.ones(m.k, np.bool_)
            for value in np.flatnonzero(guesses):
                chance = m.copies(report) * m.weight(report, int(value)) / m.denominator
                success[value] += chance / guesses.sum() / len(publics)
    return success


SMALL: list[MSS | PGR] = [
    MSS(k=12, epsilon=0.5, moduli=(5, 7, 4)),
    MSS(k=12, epsilon=2.0, moduli=(5, 7, 3)),
    MSS(k=8, epsilon=0.2, moduli=(8,)),
    PGR(k=8, epsilon=4.0, q=5),
    PGR(k=5, epsilon=1.0, q=7),
    PGR(k=11, epsilon=1.5, q=3),
]


@pytest.mark.parametrize("m", SMALL, ids=repr)
def test_success_of_every_value_is_exact(m: MSS | PGR) -> None:
    assert attacks.by_value(m) == pytest.approx(enumerated(m), rel=1e-9)
    assert attacks.by_value(m).mean() == pytest.approx(m.asr(), rel=1e-9)


@pytest.mark.parametrize("m", SMALL, ids=repr)
def test_chances_of_guesses_are_those_of_the_scores(m: MSS | PGR) -> None:
    values = np.tile(np.arange(m.k), 40)
    reports = m.privatize(values, rng=hush.seeded(7))
    favoured = attacks.supported(m) if isinstance(m, PGR) else None
    slow = Forms(m).guess_chance(reports, values)
    assert attacks.chances(m, reports, values, favoured) == pytest.approx(slow)


def test_crowded_residues_hide_the_first_values() -> None:
    """Value 0 shares its residues with one value more than most: MSS looks safer on the paper's people than it is."""
    m = settings.mechanism("MSS", 100, 4.5)
    each = attacks.by_value(m)
    assert each[0] == each.min()
    assert each.max() > 1.6 * each[0]
    assert printed.attack(m) == pytest.approx(each[0], rel=1e-6)
    assert m.asr() > 1.05 * settings.mechanism("OUE", 100, 4.5).asr()


# What is printed.


def test_printed_formulas() -> None:
    assert printed.theorem_4(100, (29, 31, 37, 41), 1.0) == pytest.approx(3.9287, abs=1e-4)
    assert printed.theorem_4(100, (89, 97), 1.0) == math.inf
    assert printed.fallback(30, 2) == (17, 17)
    assert printed.attack(PGR(k=8, epsilon=4.0, q=5)) == pytest.approx(0.7119, abs=5e-5)
    assert checks_formulas.misread() == pytest.approx(-0.81, abs=0.01)
    assert checks_formulas.orthogonal(5) == (6, 6)
    assert checks_formulas.orthogonal(4) == (1, 5)
    sue = hush.SUE(k=1_024, epsilon=2.0)
    assert printed.attack(hush.OUE(k=1_024, epsilon=2.0)) == pytest.approx(sue.asr(), rel=1e-9)
    assert [runtime.geometry(e) for e in (4.5, 5.0)] == [712_980, 22_351]


def test_given_numbers_of_moduli_are_well_conditioned() -> None:
    for count in settings.BLOCKS:
        moduli = settings.fixed_moduli(1_024, 2.0, count)
        assert moduli is not None
        assert len(moduli) == count
        assert MSS(k=1_024, epsilon=2.0, moduli=moduli).blocks.system.condition(digits=4) <= 10


# Drawings.


def test_condition_numbers_beyond_all_measure_are_marked_at_the_edge(tables: dict[str, Table]) -> None:
    rows = tables["corrections"]
    wild = [
        (*row[:4], 1e150, *row[5:]) if row[0] == "theorem 4" and "k=100" in str(row[1]) else row for row in rows.rows
    ]
    figure = panels_formulas.corrections(Table(rows.columns, wild))
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left").startswith("condition number"))
    assert axes.get_ylim()[1] <= 1e13
    edge = [line for line in axes.lines if line.get_marker() == "^" and np.size(line.get_xdata())]
    assert sum(np.size(line.get_xdata()) for line in edge) == sum(row[4] == 1e150 for row in wild)


def test_equal_ratios_of_table_1_hide_no_other(tables: dict[str, Table]) -> None:
    """Every number of the table is a point of its own."""
    for axes in panels_formulas.formulas(tables["table-1"]).axes:
        at = np.concatenate([np.asarray(points.get_offsets()) for points in axes.collections])
        assert len({tuple(row) for row in at.round(6)}) == len(at) == len(tables["table-1"].rows) / 2
        assert axes.get_xscale() == "log"


def test_table_1_has_the_server_s_time(tables: dict[str, Table]) -> None:
    """The printed orders, written out here, beside seconds that were measured: what they are depends on the machine."""
    table = tables["table-1"]
    n = table.column("n_timed")[0]
    assert n == settings.N // 10
    for name, k, epsilon, due in zip(*map(table.column, ("protocol", "k", "epsilon", "decoding_printed")), strict=True):
        m = settings.mechanism(name, k, epsilon)
        orders = {"GRR": n + k, "OUE": n * k, "PGR": n + k * math.exp(epsilon) * math.log(k)}
        if isinstance(m, hush.SS):
            orders["SS"] = n * m.omega + k
        if isinstance(m, hush.MSS):
            orders["MSS"] = n + k * m.ell + sum(m.moduli)
        assert due == pytest.approx(orders[name])
    for column in ("seconds_counting", "seconds_decoding"):
        assert (table.numbers(column) > 0).all()
        assert np.isfinite(table.numbers(column)).all()


def test_shares_of_trials_go_from_nothing_to_all(tables: dict[str, Table]) -> None:
    figure = curves.spreads(tables["figure-7"])
    for axes in figure.axes[:4]:
        steps = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_drawstyle() == "steps-post"]
        assert len(steps) == 4
        assert all(each[0] == 0 and each[-1] == 1 and (np.diff(each) >= 0).all() for each in steps)


def test_condition_numbers_stand_over_their_number_of_primes() -> None:
    from matplotlib.figure import Figure

    rows = [["k=100 29 31 37 41", 4.0, 104.0], ["k=256 11 13 17 19 23 29", 3.0, 1e7]]
    axes = Figure().subplots()
    panels_formulas._condition(axes, rows_of(("setting", "printed", "right"), rows))
    marks = [line for line in axes.lines if str(line.get_label()).startswith("κ, k")]
    assert [np.asarray(line.get_xdata()).tolist() for line in marks] == [[0.0], [1.0]]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["ℓ = 4", "ℓ = 6"]
