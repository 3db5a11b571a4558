"""Statements: their numbers are those of the spec, bounds are rounded up, and nothing private is in them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.errors import HushError, ParameterError, SpecError
from hush.guarantee import LDP, ULDP, ApproxLDP
from hush.longitudinal import LOUE, OLOLOHA, Memoized, dBitFlipPM
from hush.multidim import LSMP, RSFD, SMP, SPL
from hush.reports import Statement, statement
from hush.reports.statements import lay
from hush.reports.statements.promise import Promise
from tests.conftest import NAMES, UTILITY, example

FINE = Context(prec=80, Emax=10**6, Emin=-(10**6))
OVER_TIME = [
    OLOLOHA(k=10, epsilon_permanent=2.0, epsilon_report=1.0),
    LOUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0),
    dBitFlipPM(k=10, epsilon_permanent=1.0, d=3),
    Memoized(mechanism=hush.OUE(k=5, epsilon=1.0)),
]
TUPLES = [kind(sizes=(3, 5), epsilon=1.0) for kind in (SPL, SMP, RSFD)]
MEANS = [hush.registry(kind="numeric")[name](low=0, high=100, epsilon=1.0) for name in hush.registry(kind="numeric")]
VALUES = [example(name, 6, 1.0) for name in (*NAMES, *sorted(UTILITY))]
ALL = [*VALUES, *MEANS, *TUPLES, *OVER_TIME]
VOID = {"meta", "br", "img", "source"}


def identify(m: Any) -> str:
    return str(m.name())


def section(made: Statement, heading: str) -> str:
    """The text of a section, as Markdown."""
    found = [each for each in made.sections if each.heading == heading]
    assert len(found) == 1
    return "\n".join(block.markdown() for block in found[0].blocks)


class Nested(HTMLParser):
    """Collects what is open; complains about what does not close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href", "srcset"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def well_formed(html: str) -> Nested:
    read = Nested()
    read.feed(html)
    read.close()
    assert read.open == []
    return read


# Numbers.


@given(st.floats(1e-6, 50.0))
def test_factors_are_never_less_than_the_truth(epsilon: float) -> None:
    told = lay.times(epsilon)
    number = Decimal(re.sub(r" × 10.*|,", "", told))
    power = told.partition(" × 10")[2]
    if power:
        number = number.scaleb(int("".join(str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(c)) for c in power)))
    true = FINE.exp(Decimal(epsilon))
    assert true <= number <= true * Decimal("1.01")


@given(st.floats(1e-6, 40.0), st.sampled_from([0.01, 0.1, 0.5, 0.9]))
def test_beliefs_are_bounds(epsilon: float, before: float) -> None:
    ratio, prior = FINE.exp(Decimal(epsilon)), Decimal(str(before))
    after = 100 * ratio * prior / (ratio * prior + 1 - prior)
    least = 100 * prior / (prior + ratio * (1 - prior))
    assert after <= Decimal(lay.at_most(before, epsilon)) <= min(Decimal(100), after * Decimal("1.01"))
    assert least * Decimal("0.98") <= Decimal(lay.at_least(before, epsilon)) <= least


@given(st.floats(0.0, 1.0), st.integers(2, 10_000))
def test_guesses_are_rounded_up_and_never_beyond_all(chance: float, k: int) -> None:
    right, _, of = (Decimal(part.replace(",", "")) for part in lay.guesses(chance, 1 / k))
    assert Decimal(chance) * of <= right <= of
    assert of >= 100
    assert of / k >= Decimal("0.999")


@pytest.mark.parametrize("m", [m for m in VALUES if isinstance(m.guarantee, LDP)], ids=identify)
def test_the_bound_of_a_guess_holds(m: hush.FrequencyOracle) -> None:
    bound = lay.guessed(LDP(m.exact_epsilon()), m.k)
    assert bound is not None
    assert m.asr() <= bound + 1e-12


@pytest.mark.parametrize("promise", [LDP(1.0), ApproxLDP(0.5, 1e-3)])
def test_two_values_are_told_apart_at_most_so_often(promise: LDP | ApproxLDP) -> None:
    """Randomized response of one bit, which with its delta gives the bit away, reaches the bound."""
    delta = promise.delta if isinstance(promise, ApproxLDP) else 0.0
    ratio = math.exp(promise.epsilon)
    honest = delta + (1 - delta) * ratio / (1 + ratio)
    assert honest <= lay.told_apart(promise) + 1e-12
    assert lay.told_apart(promise) == pytest.approx((ratio + delta) / (1 + ratio))


def test_small_chances() -> None:
    assert [lay.small(each) for each in (1e-5, 2e-5, 0.5)] == ["0.00001", "0.00002", "0.5"]
    assert lay.one_in(3e-6) == "1 in 333,000"  # at most so often: the second number is rounded down


# Every kind.


@pytest.mark.parametrize("m", ALL, ids=identify)
def test_every_mechanism_has_a_statement(m: Any) -> None:
    spec = hush.Spec(m)
    made = statement(spec, n=10_000)
    text, page = made.to_markdown(), made.to_html()
    assert spec.hash in text
    assert spec.hash in page
    assert hush.__version__ in text
    assert f"{m.report_dtype.itemsize:,} byte" in section(made, "What leaves the device")
    assert "None" not in text
    assert "nan" not in text
    assert "not computed" not in text
    assert all(each.blocks for each in made.sections)
    assert made == statement(spec, n=10_000)
    read = well_formed(page)
    assert read.loads == []
    assert read.seen.count("h1") == 1
    assert read.seen.count("h2") == len(made.sections)
    assert '<html lang="en">' in page
    assert "@media print" in page


@pytest.mark.parametrize("m", [m for m in (*VALUES, *MEANS) if isinstance(m.guarantee, LDP)], ids=identify)
def test_the_promise_is_that_of_the_exact_loss(m: Any) -> None:
    exact = m.exact_epsilon()
    said = section(statement(hush.Spec(m)), "What is promised")
    assert f"at most {lay.times(exact)} times likelier" in said
    assert f"at most {lay.at_most(0.1, exact)} % likely" in said
    assert f"ε = {lay.declared(m.epsilon)} for one report" in said
    assert f"is {lay.loss(exact)};" in said


@pytest.mark.parametrize("m", [m for m in VALUES if not isinstance(m.guarantee, ULDP)], ids=identify)
def test_the_best_guess_is_that_of_the_mechanism(m: hush.FrequencyOracle) -> None:
    right, luck, of = lay.guesses(m.asr(), 1 / m.k)
    said = section(statement(hush.Spec(m)), "How well somebody can guess")
    assert f"right {right} times in {of}" in said
    assert f"{luck} by luck alone" in said


def test_an_approximate_promise_tells_its_gap_and_bounds_no_belief() -> None:
    said = section(statement(hush.Spec(hush.AGRR(k=4, epsilon=1.0, delta=1e-5))), "What is promised")
    assert "plus 0.00001 (δ, 1 in 100,000)" in said
    assert "beforehand" not in said
    again = section(statement(hush.Spec(hush.AGRR(k=4, epsilon=1.0, delta=1e-5)), reports=3), "What adds up over time")
    assert f"after 3 reports at most {lay.times(3.0)} times, plus 0.00003" in again


def test_no_guarantee_is_said_in_plain_words() -> None:
    made = statement(hush.Spec(hush.LHO(k=10, g=4)))
    assert "There is no guarantee." in section(made, "What is promised")
    assert "times likelier" not in made.to_markdown()
    assert "nothing of several" in section(made, "What adds up over time")
    assert "hush audit" not in made.to_markdown()


def test_uldp_names_what_is_not_protected() -> None:
    domain = hush.Domain(labels=["hiv", "flu", "cold", "none"], sensitive=["hiv", "flu"])
    m = hush.uSS(k=4, epsilon=1.0, sensitive=(0, 1))
    made = statement(hush.Spec(m, domain))
    assert "are protected: “hiv” and “flu”. Not protected" in section(made, "What leaves the device")
    assert "revealed by some reports: “cold” and “none”." in section(made, "What leaves the device")
    assert "protected value" in section(made, "What is promised")
    assert "and at least" not in section(made, "What is promised")  # a report may rule a protected value out
    right, luck, of = lay.guesses(m.asr(np.array([0.5, 0.5, 0, 0])), 0.5)
    assert f"rightly {right} times in {of}; {luck} by luck" in section(made, "How well somebody can guess")
    everybody = statement(hush.Spec(hush.uSS(k=3, epsilon=1.0, sensitive=range(3))))
    assert "Whatever a person holds" in section(everybody, "What is promised")


@pytest.mark.parametrize("m", MEANS, ids=identify)
def test_means_tell_their_range_and_error(m: hush.Numeric) -> None:
    made = statement(hush.Spec(m), n=2500)
    assert "a number from 0 to 100" in section(made, "What leaves the device")
    error = math.sqrt(m.variance(2500))
    assert f"With 2,500 people, the standard error of the estimated mean is at most {lay.amount(error)}" in section(
        made, "What the estimates are worth"
    )
    right, _, of = lay.guesses(lay.told_apart(LDP(m.exact_epsilon())), 0.5)
    assert f"at most {right} times in {of}" in section(made, "How well somebody can guess")


@pytest.mark.parametrize("m", TUPLES, ids=identify)
def test_tuples_tell_what_is_sent_about_each_attribute(m: Any) -> None:
    made = statement(hush.Spec(m, {"sex": hush.Domain(size=3), "age": hush.Domain(size=5)}), n=1000)
    for j, (name, k) in enumerate((("sex", 3), ("age", 5))):
        right, luck, of = lay.guesses(m.asr(j), 1 / k)
        row = f"| “{name}” | {right} in {of} | {luck} in {of} |"
        assert row in section(made, "How well somebody can guess")
        points = 100 * math.sqrt(m.variance(j, n=1000))
        assert f"| “{name}” | {lay.amount(points)} points |" in section(made, "What the estimates are worth")
    assert f"at most {lay.times(m.exact_epsilon())} times likelier" in section(made, "What is promised")


def test_the_true_loss_of_fake_data_is_told() -> None:
    told = section(statement(hush.Spec(TUPLES[2])), "What leaves the device")
    assert "claims a loss of ε = 1 for such a report" in told
    assert f"is {lay.loss(TUPLES[2].exact_epsilon())}, and" in told
    assert "claims" not in statement(hush.Spec(TUPLES[0])).to_markdown()


@pytest.mark.parametrize("m", OVER_TIME, ids=identify)
def test_over_time_the_permanent_budget_and_changes_are_told(m: Any) -> None:
    spec = hush.Spec(m)
    made = statement(spec, reports=12)
    said = section(made, "What adds up over time")
    assert f"{lay.times(m.epsilon_permanent)} times likelier" in said
    assert f"ε = {lay.loss(m.sequence_epsilon(12))} together" in said
    if math.isfinite(m.epsilon_worst):
        assert f"ε = {lay.loss(m.epsilon_worst)} for any number" in said
    else:
        assert "no number bounds" in said
    bound = m.history_bound(12)
    assert ("nothing bounds" if math.isinf(bound) else f"at most ε = {lay.loss(bound)} (") in said
    open_part = section(made, "What is not protected")
    assert "the same person" in open_part
    assert "When a value changes" in open_part
    assert spec.one_round.hash in made.to_markdown()


def test_pseudonyms_are_named() -> None:
    linked = [section(statement(hush.Spec(m)), "What is not protected") for m in OVER_TIME]
    assert ["pseudonym" in each for each in linked] == [True, False, True, True]


def test_errors_are_those_of_the_number_of_people() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    known, unknown = (section(statement(hush.Spec(m), n=n), "What the estimates are worth") for n in (400, None))
    assert "With 400 people, the standard error of an estimated frequency is at most " in known
    assert f"{lay.amount(100 * math.sqrt(m.forms.worst_variance(400)))} percentage points" in known
    assert "is not said here" in unknown
    assert f"{lay.amount(100 * math.sqrt(m.forms.worst_variance(10_000)))} percentage points" in unknown


@pytest.mark.parametrize("m", [m for m in ALL if getattr(m, "first_report", m).guarantee is not None], ids=identify)
def test_the_audit_of_every_kind_is_named(m: Any) -> None:
    rounds = " --rounds 12" if m.kind == "longitudinal" else ""
    assert f"hush audit --spec spec.json{rounds}\n" in statement(hush.Spec(m)).to_markdown()


def test_an_audit_over_time_is_of_as_many_reports_as_there_are() -> None:
    lines = [statement(hush.Spec(OVER_TIME[0]), reports=reports).to_markdown() for reports in (3, 1000)]
    assert ["--rounds 3\n" in lines[0], "--rounds 12\n" in lines[1]] == [True, True]
    together = LSMP(sizes=(2, 3), epsilon_permanent=2.0, epsilon_report=1.0)
    assert "hush audit" not in statement(hush.Spec(together)).to_markdown()


# What others know, and what must not be there.


def test_what_only_a_command_knows_stands_in_sentences_of_its_own() -> None:
    spec = hush.Spec(hush.GRR(k=4, epsilon=1.0))
    plain = statement(spec, n=100)
    more = statement(
        spec,
        n=100,
        kept=["ci_ty"],
        caveats=["The raw file."],
        asked=["It was asked."],
        found=["It is so."],
        date="today",
    )
    kept = [line for line in more.to_markdown().splitlines() if line not in plain.to_markdown().splitlines()]
    assert kept == [
        "- Columns kept beside the reports in the clear: “ci\\_ty”.",
        "- The raw file.",
        "It is so.",
        "It was asked.",
        "- date: `today`",
    ]


@dataclass(frozen=True, kw_only=True)
class Leaky(hush.GRR):
    """Declares half of what it loses."""

    @property
    def guarantee(self) -> LDP:
        return LDP(self.epsilon / 2)


@dataclass(frozen=True, kw_only=True)
class Huge(hush.GRR):
    """Cannot say what it loses, nor how it is guessed."""

    def exact_epsilon(self) -> float:
        raise ParameterError("k must be small")

    def asr(self, prior: Any = None) -> float:
        raise ParameterError("k must be small")


def test_a_sampler_that_breaks_its_promise_is_told() -> None:
    said = section(statement(hush.Spec(Leaky(k=4, epsilon=2.0))), "What is promised")
    assert "does not keep to it" in said
    assert f"at most {lay.times(2.0)} times likelier" in said
    endless = Promise(LDP(1.0), math.inf).sentences()
    assert endless[0].startswith(
        "There is no guarantee: the collection declares 1-LDP, which its sampler does not keep"
    )


def test_what_cannot_be_computed_is_said_or_bounded() -> None:
    made = statement(hush.Spec(Huge(k=4, epsilon=1.0)))
    assert "too many cases to be computed here" in section(made, "What is promised")
    right, _, of = lay.guesses(lay.guessed(LDP(1.0), 4) or 0.0, 0.25)
    assert f"right at most {right} times in {of}" in section(made, "How well somebody can guess")


def test_labels_are_shown_as_they_are_and_harmless() -> None:
    labels = ["<script>alert(1)</script>", "a*b_c|d`e", "new\nline", "x" * 200]
    made = statement(hush.Spec(hush.GRR(k=4, epsilon=1.0), hush.Domain(labels=labels)), kept=["a|b"])
    page, text = made.to_html(), made.to_markdown()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    well_formed(page)
    assert "\\<script\\>" in text
    assert "a\\*b\\_c\\|d\\`e" in text
    assert "new line" in text
    assert "x" * 61 not in text


def test_many_labels_are_not_all_listed() -> None:
    domain = hush.Domain(labels=[f"v{i}" for i in range(1000)])
    said = section(statement(hush.Spec(hush.GRR(k=1000, epsilon=1.0), domain)), "What leaves the device")
    assert "“v11” and 988 more" in said
    assert "v12" not in said


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"n": -1}, "n must"),
        ({"n": 1.5}, "n must"),
        ({"n": math.nan}, "n must"),
        ({"reports": 0}, "reports must"),
        ({"reports": "many"}, "reports must"),
    ],
)
def test_bad_numbers_are_refused(wrong: dict[str, Any], error: str) -> None:
    with pytest.raises(HushError, match=error):
        statement(hush.Spec(hush.GRR(k=4, epsilon=1.0)), **wrong)


def test_something_else_than_a_spec_is_refused() -> None:
    with pytest.raises(SpecError, match="spec must be a Spec"):
        statement(hush.GRR(k=4, epsilon=1.0))  # type: ignore[arg-type]
