"""Audits of tuples and of reports over time: what is told apart, what is claimed, and what broken ones give away."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from scipy.stats import binom

import hush
from hush.audit import CallableTarget, HistoryInputs, SequenceTarget, TupleInputs, TupleTarget, run, screen
from hush.audit.games import OneAttribute
from hush.audit.targets import as_target
from hush.errors import ParameterError
from hush.longitudinal import LGRR, LOSUE, Repeated, dBitFlipPM
from hush.multidim import LSMP, RSFD, RSRFD, SMP, SPL
from hush.testing import exhibits

TUPLES = [
    SPL(sizes=(2, 3, 2), epsilon=1.5, mechanism="GRR"),
    SMP(sizes=(2, 3, 2), epsilon=1.0, mechanism="GRR"),
    RSFD(sizes=(2, 3, 2), epsilon=1.0, variant="GRR"),
    RSRFD(sizes=(2, 3), epsilon=1.0, variant="GRR", priors=((0.2, 0.8), (0.5, 0.3, 0.2))),
]


@pytest.mark.parametrize("m", TUPLES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("changed", [None, 1])
def test_no_bound_exceeds_the_loss_of_tuples_that_differ_so_much(
    m: hush.multidim.Multidim, changed: int | None
) -> None:
    """False alarm 1e-9."""
    target = TupleTarget(m, changed)
    assert target.claim is not None
    assert target.claim.epsilon == pytest.approx(m.exact_epsilon(changed), abs=1e-6)
    assert run(target, "exact").epsilon_lower == m.exact_epsilon(changed)
    found = run(target, trials=30_000, alpha=1e-9, pair=screen(target, rng=hush.seeded(1)), rng=hush.seeded(2))
    assert found.epsilon_lower <= m.exact_epsilon(changed)
    assert found.verdict == "consistent"
    assert found.witness is not None
    differ = sum(a != b for a, b in zip(found.witness.first, found.witness.second, strict=True))
    assert differ <= (changed or m.d)
    assert str(found.witness).startswith("tuples (")


def test_the_claimed_budget_of_fake_data_is_false_for_whole_tuples() -> None:
    """False alarm 1e-6. The loss is 1.49 for two attributes, and 1.14 for one."""
    m = RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR")
    for changed, loss in ((None, 1.4899), (1, 1.138)):
        found = run(TupleTarget(m, changed), "exact", claim=1.0)
        assert found.epsilon_lower == pytest.approx(loss, abs=1e-3)
    whole = run(m, claim=1.0, trials=60_000, alpha=1e-6, rng=hush.seeded(3))
    assert whole.verdict == "violation"
    attack = run(m, "attack", claim=1.0, trials=60_000, rng=hush.seeded(3))
    assert 0 < attack.epsilon_lower < 1.0
    assert attack.witness is not None
    assert attack.witness.event == "the best guess of an attribute at random fits (0, 0)"


def test_pairs_of_tuples_by_name() -> None:
    target = TupleTarget(TUPLES[2], 1)
    found = run(target, trials=4000, pair=((0, 0, 0), (0, 2, 0)), rng=hush.seeded(1))
    assert found.witness is not None
    assert {found.witness.first, found.witness.second} == {(0, 0, 0), (0, 2, 0)}
    for wrong in [((0, 0, 0), (1, 1, 0)), ((0, 0, 0), (0, 3, 0)), ((0, 0), (1, 1)), ((0, 0, 0), (0, 0, 0))]:
        with pytest.raises(ParameterError, match=r"pair must be two different tuples .* that differ in at most 1"):
            run(target, trials=4000, pair=wrong)
    with pytest.raises(ParameterError, match=r"changed must be an integer in 1\.\.3"):
        TupleTarget(TUPLES[2], 4)
    with pytest.raises(ParameterError, match="changed must be left out but for tuples"):
        as_target(hush.GRR(k=4, epsilon=1.0), changed=1)


def test_likely_pairs_differ_in_as_many_attributes_as_may_be() -> None:
    for m, changed in itertools.product(TUPLES, (1, 2)):
        target = TupleTarget(m, changed)
        differences = [
            sum(a != b for a, b in zip(target.values(i), target.values(j), strict=True)) for i, j in target.likely_pairs
        ]
        assert set(differences) == {changed}
        assert target.likely_pairs[0] == target.first_pair


def test_an_attribute_that_is_drawn_by_value_is_found_out() -> None:
    """False alarm 1e-6. The law that it states is honest."""
    m = exhibits.AttributeByValue(sizes=(2, 3), epsilon=1.0, mechanism="GRR")
    assert run(m, "exact").verdict == "consistent"
    found = run(m, "classifier", trials=20_000, alpha=1e-6, rng=hush.seeded(1))
    assert found.verdict == "violation"
    assert str(found.screening).startswith("all 6 tuples")


def split(values: tuple[int, ...]) -> list[int]:
    """Every attribute of two values with a budget of one."""
    return [value if random.random() < math.e / (math.e + 1) else 1 - value for value in values]


def memoized(history: tuple[int, ...]) -> list[int]:
    kept: dict[int, int] = {}
    return [kept.setdefault(value, split((value,))[0]) for value in history]


@pytest.mark.parametrize(
    ("client", "inputs", "verdict"),
    [
        (split, TupleInputs((2, 2, 2)), "violation"),
        (split, TupleInputs((2, 2, 2), changed=1), "consistent"),
        (split, HistoryInputs.unchanging(2, 2), "violation"),
        (memoized, HistoryInputs.unchanging(2, 3), "consistent"),
        (memoized, HistoryInputs(((0, 0, 0), (0, 1, 0)), 2), "violation"),
    ],
)
def test_foreign_tuples_and_histories(client: object, inputs: TupleInputs | HistoryInputs, verdict: str) -> None:
    """False alarm 1e-6: of one report, or of all reports of one person, the claim is 1."""
    target = CallableTarget(client, inputs=inputs, claim=1.0)  # type: ignore[arg-type]
    found = run(target, "classifier", trials=40_000, alpha=1e-6, rng=hush.seeded(5))
    assert found.verdict == verdict
    many = f"{inputs.rounds} reports of one person" if isinstance(inputs, HistoryInputs) else "one report"
    few = " between tuples that differ in one attribute" if getattr(inputs, "changed", None) else ""
    assert found.unit == many + few


def test_a_loss_between_some_tuples_says_between_which() -> None:
    m = RSFD(sizes=(2, 5, 3), epsilon=1.0, variant="GRR")
    units = [run(TupleTarget(m, changed=changed), "exact").unit for changed in (None, 1, 2, 3)]
    few = [f"one report between tuples that differ in {often}" for often in ("one attribute", "at most 2 attributes")]
    assert units == ["one report", *few, "one report"]
    assert run(m, OneAttribute(1), trials=1000, rng=hush.seeded(1)).unit == few[0]


KEPT = LOSUE(k=4, epsilon_permanent=2.0, epsilon_report=1.0)


@pytest.mark.parametrize(
    ("m", "rounds", "claim"),
    [(KEPT, 6, KEPT.sequence_epsilon(6)), (hush.OUE(k=4, epsilon=0.5), 3, 1.5), (hush.GRR(k=4, epsilon=0.5), 1, 0.5)],
    ids=["kept", "fresh", "one"],
)
def test_sequences_by_the_number_of_rounds(m: object, rounds: int, claim: float) -> None:
    """False alarm 1e-9."""
    target = as_target(m, rounds=rounds)
    assert target.claim is not None
    assert target.claim.epsilon == pytest.approx(claim, abs=1e-9)
    assert run(target, "exact").epsilon_lower == pytest.approx(claim, abs=1e-9)
    for method in ("likelihood", "attack"):
        found = run(target, method, trials=20_000, alpha=1e-9, rng=hush.seeded(1))
        assert found.epsilon_lower <= claim
    assert found.unit == f"{rounds} report{'s'[: rounds > 1]} of one person"


def test_a_client_that_forgets_its_answers_is_found_out() -> None:
    """False alarm 1e-6. The law that it states is honest."""
    m = exhibits.ForgetfulClient(k=4, epsilon_permanent=2.0, epsilon_report=1.0)
    target = SequenceTarget(m, 8)
    assert run(target, "exact").verdict == "consistent"
    found = run(target, "classifier", trials=20_000, alpha=1e-6, rng=hush.seeded(1))
    assert found.verdict == "violation"


@pytest.mark.parametrize(
    "protocol",
    [LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0), Repeated(hush.GRR(k=3, epsilon=1.0), 3)],
    ids=["kept", "fresh"],
)
def test_two_histories(protocol: LGRR | Repeated) -> None:
    """False alarm 1e-9; the exact loss is the largest log-ratio of all sequences of reports."""
    target = SequenceTarget(protocol, histories=((0, 0, 1), (2, 1, 1)))
    every = np.array(list(itertools.product(range(3), repeat=3)), protocol.first_report.report_dtype)
    reports = np.ascontiguousarray(every).view(target.report_dtype)[:, 0]
    worst = np.abs(target.log_ratio(reports, 0, 1)).max()
    assert run(target, "exact").epsilon_lower == pytest.approx(worst, abs=1e-9)
    found = run(target, trials=20_000, alpha=1e-9, rng=hush.seeded(1))
    assert found.epsilon_lower <= worst + 1e-9
    assert found.verdict == "consistent"
    assert found.about["histories"] == [[0, 0, 1], [2, 1, 1]]
    assert found.witness is not None
    assert {found.witness.first, found.witness.second} == {(0, 0, 1), (2, 1, 1)}
    with pytest.raises(ParameterError, match="attack on a value that does not change"):
        run(target, "attack", trials=4000)


def test_a_history_that_shows_its_changes_claims_nothing() -> None:
    target = SequenceTarget(dBitFlipPM(k=4, d=2, epsilon_permanent=1.0), histories=((0, 0), (0, 1)))
    assert target.claim is None
    found = run(target, trials=4000, rng=hush.seeded(1))
    assert found.verdict == "measured"


@pytest.mark.parametrize(
    "wrong", [((0, 0), (0,)), ((0, 0),), ((0, 0), (0, 0)), ((0, 4), (0, 0)), ((), ()), (0, 1), ((0.5,), (1,))]
)
def test_histories_are_two_of_one_length(wrong: object) -> None:
    with pytest.raises(ParameterError, match="histories must"):
        SequenceTarget(KEPT, histories=wrong)  # type: ignore[arg-type]


def test_rounds_and_histories_agree() -> None:
    with pytest.raises(ParameterError, match="tau must be 2"):
        SequenceTarget(KEPT, 3, ((0, 0), (0, 1)))
    for wrong in ({"rounds": 3}, {"histories": ((0, 0), (0, 1))}):
        with pytest.raises(ParameterError, match="must be left out but for values that are reported again and again"):
            as_target(TUPLES[0], **wrong)  # type: ignore[arg-type]


def test_an_asymmetric_mechanism_loses_between_two_histories_what_their_values_lose() -> None:
    """Of the pair alone, and not of the worst pair of values."""
    m = hush.HR(k=3, epsilon=1.0)
    law = np.array([[m.weight(y, v) for v in range(3)] for y in m.outputs(None)], float)
    ratio = np.log(law[:, 0] / law[:, 1])
    found = Repeated(m, 2).history_epsilon((0, 0), (1, 1))
    assert found == pytest.approx(2 * max(ratio.max(), -ratio.min()), abs=1e-9)
    assert Repeated(m, 2).history_epsilon((0, 0), (0, 0)) == 0.0
    with pytest.raises(ParameterError, match="mechanism must have no delta"):
        Repeated(hush.AGRR(k=3, epsilon=1.0, delta=0.1), 2).history_epsilon((0, 0), (1, 1))


@pytest.mark.parametrize(
    "m",
    [hush.Duchi(low=0.0, high=1.0, epsilon=1.0), TUPLES[2], Repeated(hush.GRR(k=3, epsilon=0.5), 2)],
    ids=["mean", "tuples", "fresh"],
)
def test_bounds_exceed_the_exact_loss_no_more_often_than_stated(m: object) -> None:
    """In 200 audits at alpha 0.2; false alarm 1e-9."""
    target = as_target(m)
    exact = run(target, "exact").epsilon_lower
    found = [run(target, trials=1000, alpha=0.2, bound="one-sided", rng=hush.seeded(seed)) for seed in range(200)]
    wrong = sum(each.epsilon_lower > exact for each in found)
    assert wrong <= binom.ppf(1 - 1e-9, 200, 0.2)
    assert max(each.epsilon_lower for each in found) > 0.7 * exact


def test_too_many_tuples_are_refused_and_very_many_are_not() -> None:
    """Some of them are tried, and the audit says that it is of some."""
    with pytest.raises(ParameterError, match=r"^tuples must be at most 4\.61e\+18 of which any .* got 1e\+21"):
        CallableTarget(list, inputs=TupleInputs((1000,) * 7), claim=1.0)
    many = CallableTarget(lambda held: random.randrange(2), inputs=TupleInputs((1000,) * 6), claim=1.0)
    found = screen(many, trials=1000, rng=hush.seeded(1))
    assert found.untried == many.k - found.rounds[0][0] > 10**17


def test_a_protocol_tells_two_histories_apart() -> None:
    with pytest.raises(ParameterError, match=r"^histories must be two, .* got 3"):
        SequenceTarget(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), histories=((0, 0), (0, 1), (1, 1)))


@pytest.mark.parametrize("rounds", [None, 3])
def test_tuples_over_time_are_refused_with_what_to_audit_instead(rounds: int | None) -> None:
    protocol = LSMP(sizes=(3, 4), epsilon_permanent=2.0, epsilon_report=1.0)
    with pytest.raises(ParameterError, match=r"one attribute where it is over time, got LSMP; audit the protocols"):
        as_target(protocol, rounds=rounds)
