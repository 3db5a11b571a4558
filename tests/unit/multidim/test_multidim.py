"""Collections of tuples: what they take, refuse, send and keep."""

from __future__ import annotations

import dataclasses
import json
import math

import mpmath
import numpy as np
import pytest

import hush
from hush.errors import DomainError, ParameterError, ReportError, SpecError
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim, amplified, claim_for
from hush.multidim.chances import Chances
from hush.multidim.checks import mean_inverse

PRIORS = ((0.8, 0.2), (0.1, 0.2, 0.3, 0.4, 0.0))

EXAMPLES = [
    SPL(sizes=(2, 5), epsilon=1.0),
    SPL(sizes=(2, 5), epsilon=1.0, mechanism=("GRR", "OLH")),
    SMP(sizes=(2, 5), epsilon=1.0, mechanism="SS"),
    SMP(sizes=(2, 5), epsilon=1.0, mechanism=("UE", "UE"), options={"p": 0.7}),
    RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR"),
    RSFD(sizes=(2, 5), epsilon=1.0, variant="OUE-z"),
    RSRFD(sizes=(2, 5), epsilon=1.0, variant=("GRR", "SUE-r"), priors=PRIORS),
]
CLASSES = [SPL, SMP, RSFD, RSRFD]


def identify(m: object) -> str:
    return m.name() if isinstance(m, Multidim) else getattr(m, "__name__", str(m))


def made(cls: type[Multidim], **fields: object) -> Multidim:
    """A collection of this class; what is not given is plain."""
    plain: dict[str, object] = {"sizes": (2, 3), "epsilon": 1.0}
    if cls is RSRFD:
        plain["priors"] = [[1.0] * k for k in fields.get("sizes", (2, 3))] if _counts(fields) else [[1, 1], [1, 1, 1]]
    return cls(**{**plain, **fields})  # type: ignore[arg-type]


def _counts(fields: dict[str, object]) -> bool:
    sizes = fields.get("sizes")
    return isinstance(sizes, (tuple, list)) and all(isinstance(k, int) and 0 < k < 100 for k in sizes)


# Parameters.


@pytest.mark.parametrize("cls", CLASSES, ids=identify)
@pytest.mark.parametrize(
    "sizes", [(), (1, 2), (2, 0), (2, -3), (2, 2.0), (2, "3"), (2, None), 5, "23", None, (2, math.nan), (2, 10**9)]
)
def test_bad_sizes_are_refused(cls: type[Multidim], sizes: object) -> None:
    with pytest.raises(ParameterError, match=r"sizes.* must .*, got .*; "):
        made(cls, sizes=sizes)


@pytest.mark.parametrize("cls", CLASSES, ids=identify)
@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 41.0, "1", None, True])
def test_bad_budgets_are_refused(cls: type[Multidim], epsilon: object) -> None:
    with pytest.raises(ParameterError, match=r"epsilon must .*, got .*; "):
        made(cls, epsilon=epsilon)


def test_a_single_attribute_is_enough_unless_it_should_hide_among_others() -> None:
    for cls in (SPL, SMP):
        m = made(cls, sizes=(4,), mechanism="GRR")
        assert m.components[0] == hush.GRR(k=4, epsilon=1.0)
        assert m.exact_epsilon() == hush.GRR(k=4, epsilon=1.0).exact_epsilon()
    for cls in (RSFD, RSRFD):
        with pytest.raises(ParameterError, match=r"2\.\.1000 attributes"):
            made(cls, sizes=(4,))


def test_a_thousand_attributes_are_the_most() -> None:
    assert SMP(sizes=(2,) * 1000, epsilon=1.0, mechanism="GRR").d == 1000
    with pytest.raises(ParameterError, match="attributes"):
        SMP(sizes=(2,) * 1001, epsilon=1.0, mechanism="GRR")


@pytest.mark.parametrize("mechanism", ["nothing", "", ("GRR",), ("GRR", "GRR", "GRR"), ("GRR", 3), 3, None])
def test_bad_mechanisms_are_refused(mechanism: object) -> None:
    with pytest.raises(ParameterError, match=r"mechanism must .*, got .*; "):
        SPL(sizes=(2, 3), epsilon=1.0, mechanism=mechanism)  # type: ignore[arg-type]


def test_a_mechanism_must_take_its_options_and_have_a_guarantee() -> None:
    with pytest.raises(ParameterError, match="must take k=2"):
        SMP(sizes=(2, 3), epsilon=1.0, mechanism="UE")  # p is missing
    with pytest.raises(ParameterError, match="must take k=2"):
        SMP(sizes=(2, 3), epsilon=1.0, mechanism="GRR", options={"p": 0.5})
    with pytest.raises(ParameterError, match="must take k=2"):
        SPL(sizes=(2, 3), epsilon=3.0, mechanism="GM", options={"delta": 1e-5})  # GM stops at epsilon 1
    with pytest.raises(ParameterError, match="must give each of 2 attributes 1e-06 or more"):
        SPL(sizes=(2, 3), epsilon=1e-6)
    with pytest.raises(ParameterError, match=r"must take|guarantee"):
        SMP(sizes=(2, 3), epsilon=1.0, mechanism="LHO", options={"g": 3})


@pytest.mark.parametrize("options", [{"k": 3}, {"epsilon": 2.0}, {"p": None}, {"a b": 1}, {3: 4}, 5, "p", [1, 2]])
def test_bad_options_are_refused(options: object) -> None:
    with pytest.raises(ParameterError, match=r"options must .*; "):
        SMP(sizes=(2, 3), epsilon=1.0, mechanism="OUE", options=options)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["OUE", "grr", "", ("GRR",), ("GRR", "LH"), None, 1])
def test_bad_variants_are_refused(variant: object) -> None:
    with pytest.raises(ParameterError, match=r"variant must .*, got .*; "):
        RSFD(sizes=(2, 3), epsilon=1.0, variant=variant)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["OUE-z", "SUE-z"])
def test_zero_vectors_have_no_realistic_fakes(variant: str) -> None:
    with pytest.raises(ParameterError, match="variant must be one of GRR, SUE-r, OUE-r, MSS-r, ADP"):
        RSRFD(sizes=(2, 3), epsilon=1.0, variant=variant, priors=[[1, 1], [1, 1, 1]])


@pytest.mark.parametrize(
    "priors",
    [
        None,
        [[1, 1]],
        [[1, 1], [1, 1]],
        [[1, 1], None],
        [[1, 1], [1, 1, math.nan]],
        [[1, 1], [1, 1, math.inf]],
        [[1, 1], [1, 1, -1]],
        [[1, 1], [0, 0, 0]],
        [[1, 1], "abc"],
        [[1, 1], 3],
        "ab",
        7,
    ],
)
def test_bad_priors_are_refused(priors: object) -> None:
    with pytest.raises(ParameterError, match=r"priors? must .*, got .*; "):
        RSRFD(sizes=(2, 3), epsilon=1.0, variant="GRR", priors=priors)  # type: ignore[arg-type]


def test_an_amplified_budget_may_not_pass_the_limit() -> None:
    assert RSFD(sizes=(2, 2), epsilon=39.0, variant="GRR").amplified_epsilon < 40
    with pytest.raises(ParameterError, match="must leave"):
        RSFD(sizes=(2, 2), epsilon=39.9, variant="GRR")


@pytest.mark.parametrize("m", EXAMPLES, ids=identify)
def test_bad_questions_are_refused(m: Multidim) -> None:
    reports = m.privatize([[0, 1], [1, 4]], rng=hush.seeded(1))
    for attribute in (-1, 2, 0.5, None):
        with pytest.raises(ParameterError, match="attribute must"):
            m.asr(attribute)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="attribute must"):
            m.attack(reports, attribute)  # type: ignore[arg-type]
    for changed in (0, 3, 1.5, "1"):
        with pytest.raises(ParameterError, match="changed must"):
            m.exact_epsilon(changed)  # type: ignore[arg-type]
    for n in (0, -1, 2.5, math.nan):
        with pytest.raises(ParameterError, match="n must"):
            m.variance(0, n=n)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="frequency must"):
        m.variance(0, n=10, frequency=1.5)
    with pytest.raises(ParameterError, match="value must"):
        m.variance(0, n=10, value=2)
    for priors in ([None], [[1, 1], [1, 1]], 3):
        with pytest.raises(ParameterError, match=r"priors? must"):
            m.scores(reports, 0, priors)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must be one tuple, or 2"):
        m.log_prob(reports, [[0, 0]] * 3)
    with pytest.raises(ReportError, match="dtype"):
        m.log_prob(np.zeros(2), [0, 0])


# Choices.


def test_adaptive_choices_have_the_least_variance() -> None:
    for sizes in [(2, 3, 5, 8, 13, 60)]:
        for cls in (SPL, SMP):
            m = made(cls, sizes=sizes, epsilon=2.0)
            assert set(m.mechanism) == {"GRR", "OUE"}  # type: ignore[attr-defined]
            for other in ("GRR", "OUE"):
                plain = made(cls, sizes=sizes, epsilon=2.0, mechanism=other)
                assert all(m.variance(j, n=1000) <= plain.variance(j, n=1000) for j in range(m.d))
        m = made(RSFD, sizes=sizes, epsilon=2.0)
        assert set(m.variant) == {"GRR", "OUE-z"}  # type: ignore[attr-defined]
        for other in ("GRR", "OUE-z"):
            plain = made(RSFD, sizes=sizes, epsilon=2.0, variant=other)
            assert all(m.variance(j, n=1000) <= plain.variance(j, n=1000) for j in range(m.d))


def test_shares_of_the_budget_never_exceed_it() -> None:
    from fractions import Fraction

    for d in (1, 3, 7, 10, 49):
        for epsilon in (0.1, 0.7, 1.0, 2.0, 3.3):
            m = SPL(sizes=(3,) * d, epsilon=epsilon, mechanism="GRR")
            assert Fraction(m.budget) * d <= Fraction(epsilon)
            assert m.budget == pytest.approx(epsilon / d, rel=1e-15)
            assert epsilon - 1e-9 <= m.exact_epsilon() <= epsilon


def test_amplification_and_back() -> None:
    assert amplified(1.0, 2) == pytest.approx(math.log(2 * math.e - 1), rel=1e-15)
    assert amplified(1.0, 10) == pytest.approx(2.900, abs=5e-4)
    assert amplified(1.0, 1) <= 1.0
    for d in (2, 5, 100):
        for loss in (0.01, 0.5, 1.0, 4.0):
            claim = claim_for(loss, d)
            assert amplified(claim, d) <= loss
            assert amplified(claim, d) == pytest.approx(loss, rel=1e-12)
    with pytest.raises(ParameterError, match="loss must"):
        claim_for(1e-5, 100)
    with pytest.raises(ParameterError, match="d must"):
        amplified(1.0, 0)


# Reports.


def test_records_are_packed_and_little_endian() -> None:
    assert SPL(sizes=(2, 300, 9), epsilon=3.0, mechanism=("GRR", "GRR", "OUE")).report_dtype == np.dtype(
        [("a0", "u1"), ("a1", "<u2"), ("a2", [("bits", "u1", (2,))])]
    )
    assert SMP(sizes=(2, 300, 9), epsilon=3.0, mechanism="GRR").report_dtype == np.dtype(
        [("attribute", "u1"), ("record", "u1", (2,))]
    )
    assert RSFD(sizes=(2, 9), epsilon=1.0, variant=("GRR", "OUE-z")).report_dtype == np.dtype(
        [("a0", "u1"), ("a1", [("bits", "u1", (2,))])]
    )
    assert SMP(sizes=(2,) * 300, epsilon=1.0, mechanism="GRR").report_dtype["attribute"] == np.dtype("<u2")


@pytest.mark.parametrize("m", EXAMPLES, ids=identify)
def test_one_tuple_gives_one_report_and_many_do_not_depend_on_threads(
    m: Multidim, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = m.privatize((1, 4))
    assert one.dtype == m.report_dtype
    assert m.aggregate(one).n == 1
    people = np.stack([np.arange(200_000) % 2, np.arange(200_000) % 5], axis=1)
    monkeypatch.setenv("HUSH_THREADS", "1")
    alone = m.privatize(people, rng=hush.seeded(7))
    monkeypatch.setenv("HUSH_THREADS", "3")
    together = m.privatize(people, rng=hush.seeded(7))
    assert (alone == together).all()
    assert m.aggregate(alone) == m.aggregate(together[::-1])


@pytest.mark.parametrize("m", EXAMPLES, ids=identify)
def test_other_shapes_and_kinds_of_arrays(m: Multidim) -> None:
    people = np.array([[0, 1], [1, 4], [1, 0]])
    first = m.privatize(people, rng=hush.seeded(3))
    for same in (people.tolist(), people.astype("u1"), np.asfortranarray(people), people[::-1][::-1]):
        assert (m.privatize(same, rng=hush.seeded(3)) == first).all()
    for empty in ([], np.zeros((0, 2)), np.zeros((0, 2), np.int64)):
        assert m.privatize(empty).shape == (0,)
        assert m.log_prob(m.privatize(empty), [0, 0]).shape == (0,)
    with pytest.raises(DomainError, match=r"attribute 1 must lie in 0\.\.4, got another one in row 2"):
        m.privatize([[0, 0], [0, 4], [0, 5]])
    with pytest.raises(ParameterError, match=r"shape \(n, 2\)"):
        m.privatize(np.zeros((3, 3), np.int64))
    with pytest.raises(ParameterError, match="must be integers"):
        m.privatize([[0.0, 1.0]])


def test_malformed_reports_are_refused() -> None:
    direct = RSFD(sizes=(2, 3), epsilon=1.0, variant="GRR")
    bad = direct.privatize([[0, 0]])
    bad["a1"] = 3
    with pytest.raises(ReportError, match="below 3"):
        direct.aggregate(bad)
    unary = SPL(sizes=(2, 3), epsilon=1.0, mechanism="OUE")
    bad = unary.privatize([[0, 0]])
    bad["a0"]["bits"] |= 4
    with pytest.raises(ReportError, match="zeros after bit 1"):
        unary.validate(bad)
    sampled = SMP(sizes=(2, 300), epsilon=1.0, mechanism="GRR")
    bad = sampled.privatize([[0, 0]])
    bad["attribute"] = 2
    with pytest.raises(ReportError, match="attributes below 2"):
        sampled.aggregate(bad)
    bad["attribute"], bad["record"] = 0, (1, 1)
    with pytest.raises(ReportError, match="zeros after their record"):
        sampled.aggregate(bad)


def test_of_an_attribute_that_nobody_reported_nothing_is_known_and_the_others_are_estimated() -> None:
    m = SMP(sizes=(2, 3), epsilon=1.0, mechanism="GRR")
    reports = m.privatize(np.zeros((50, 2), np.int64), rng=hush.seeded(1))
    only = reports[reports["attribute"] == 1]
    found = m.aggregate(only)
    assert m.reports_about(found) == (0, only.size)
    unknown, known = m.estimate(found)
    assert np.isnan(unknown.frequencies).all()
    assert np.isinf(unknown.stderr).all()
    lower, upper = unknown.interval(0.95)
    assert (lower == 0).all()
    assert (upper == 1).all()
    assert unknown.interval(0.95).method == "no report"
    alone = m.components[1].estimate(m.components[1].aggregate(list(m.parts(only))[1][1]))
    assert known.frequencies.tolist() == alone.frequencies.tolist()
    assert np.isfinite(known.stderr).all()
    assert np.isnan(m.decode(m.aggregate(only).tally, only.size)[0]).all()


# Estimates.


@pytest.mark.parametrize("m", EXAMPLES, ids=identify)
def test_one_estimate_for_each_attribute(m: Multidim) -> None:
    people = np.stack([np.arange(6000) % 2, np.arange(6000) % 5], axis=1)
    estimates = m.estimate(m.aggregate(m.privatize(people, rng=hush.seeded(2))))
    assert [e.frequencies.size for e in estimates] == [2, 5]
    assert all(e.n == 6000 and (e.stderr > 0).all() for e in estimates)
    assert estimates[1].project("simplex").frequencies.sum() == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="must be an Aggregate"):
        m.estimate(None)  # type: ignore[arg-type]
    other = dataclasses.replace(m, epsilon=1.5)
    with pytest.raises(SpecError, match="must come from the spec"):
        other.estimate(m.aggregate(m.privatize(people)))
    with pytest.raises(SpecError, match="must come from the spec"):
        _ = other.aggregate(other.privatize(people)) + m.aggregate(m.privatize(people))


def test_standard_errors_of_a_sample_use_how_many_were_asked() -> None:
    m = SMP(sizes=(2, 3), epsilon=1.0, mechanism="GRR")
    reports = m.privatize(np.ones((4000, 2), np.int64), rng=hush.seeded(5))
    few = np.concatenate([reports[reports["attribute"] == 0][:100], reports[reports["attribute"] == 1][:1500]])
    first, second = m.estimate(m.aggregate(few))
    whole = m.estimate(m.aggregate(reports))
    assert first.stderr.min() > 3 * whole[0].stderr.max()
    assert second.stderr.min() < 2 * whole[1].stderr.max()


def test_mean_inverse_of_a_binomial_that_is_not_zero() -> None:
    from fractions import Fraction

    for n in (1, 2, 5, 40):
        for d in (1, 2, 3, 10):
            chances = [Fraction(math.comb(n, x) * (d - 1) ** (n - x), d**n) for x in range(1, n + 1)]
            exact = sum(c / x for x, c in enumerate(chances, 1)) / sum(chances)
            assert mean_inverse(n, 1 / d) == pytest.approx(float(exact), rel=1e-12)
    for n in (10**6, 10**9, 10**12 - 1, 10**14):
        mean, rest = n / 5, 4 / 5
        series = (1 + rest / mean + rest * (1 + rest) / mean**2) / mean
        assert mean_inverse(n, 1 / 5) == pytest.approx(series, rel=1e-11)


# Fake values.


def test_prior_weights_are_exact_and_whole() -> None:
    for prior in ((0.1, 0.2, 0.7), (1.0, 0.0), (1e-300, 1.0), (3.0, 3.0, 3.0), tuple(np.linspace(0.1, 1, 37))):
        law = Chances(len(prior), prior)
        assert sum(law.weights) == 2**64
        assert [w == 0 for w in law.weights] == [x < 1e-200 for x in prior]
        assert np.allclose(law.shares, np.array(prior) / sum(prior), rtol=1e-15, atol=1e-200)
        drawn = law.draw(1000, hush.seeded(1))
        assert set(drawn.tolist()) <= {v for v, w in enumerate(law.weights) if w}
    assert Chances(3, (3.0, 3.0, 3.0)).weights == (2**64 // 3 + 1, 2**64 // 3, 2**64 // 3)
    assert Chances(3).weights == (1, 1, 1)


# Specs.


@pytest.mark.parametrize("m", EXAMPLES, ids=identify)
def test_specs_travel_as_canonical_json(m: Multidim) -> None:
    text = hush.Spec(m).to_json()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text.replace(".0,", ",")
    assert hush.Spec.from_json(text).mechanism == m
    assert len(m.spec_hash) == 64
    assert dataclasses.replace(m) == m
    changed = json.loads(text)
    name = next(iter(changed["multidim"]["thresholds"]))
    changed["multidim"]["thresholds"][name] = "1"
    with pytest.raises(SpecError, match="thresholds must be"):
        hush.Spec.from_json(json.dumps(changed))


def test_the_hash_tells_collections_apart() -> None:
    hashes = {m.spec_hash for m in EXAMPLES}
    hashes.add(
        RSRFD(sizes=(2, 5), epsilon=1.0, variant=("GRR", "SUE-r"), priors=(PRIORS[0][::-1], PRIORS[1])).spec_hash
    )
    assert len(hashes) == len(EXAMPLES) + 1
    plain = json.loads(hush.Spec(EXAMPLES[4]).to_json())
    assert list(hush.registry(kind="multidim")) == ["SPL", "SMP", "RSFD", "RSRFD"]
    assert plain["multidim"]["protocol"] == "RSFD"
    assert plain["multidim"]["thresholds"]["1.keep"] == str(hush.GRR(k=5, epsilon=amplified(1.0, 2)).keep)


def test_the_whole_spec() -> None:
    """Thresholds are floor(2^64 e^x / (e^x + k - 1)), here from an independent 50-digit arithmetic."""
    budget = amplified(1.0, 2)
    assert abs(budget - mpmath.log(2 * mpmath.e - 1)) < 1e-15
    with mpmath.workdps(50):
        e = mpmath.exp(budget)
        keep = [int(2**64 * e / (e + k - 1)) for k in (2, 3)]
    assert hush.Spec(RSFD(sizes=(2, 3), epsilon=1.0, variant="GRR")).to_json() == (
        '{"hush":1,"multidim":{"epsilon":1,"protocol":"RSFD","sizes":[2,3],"thresholds":'
        f'{{"0.keep":"{keep[0]}","1.keep":"{keep[1]}"}},"variant":["GRR","GRR"]}}}}'
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"hush":2,"multidim":{}}', '{"hush":1,"multidim":{"protocol":"other"}}', None, "{"]
)
def test_bad_specs_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        hush.Spec.from_json(text)


def test_bad_dicts_are_refused() -> None:
    for plain in (None, [], {"protocol": "RSFD"}, {"protocol": "RSFD", "sizes": [2, 2], "epsilon": 1.0, "more": 1}):
        with pytest.raises(SpecError):
            hush.from_dict(plain)  # type: ignore[arg-type]
