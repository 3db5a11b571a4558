"""Tuples over time: exact losses, unbiased rounds, what a device keeps, and how specs travel."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import DomainError, HushError, ParameterError, SpecError
from hush.longitudinal import LGRR, LOSUE
from hush.multidim import LSMP, LSPL, TuplesOverTime

BOTH = [LSMP, LSPL]
NAMED = {"sex": hush.Domain(labels=["f", "m"]), "age": hush.Domain(labels=["young", "old", "?"], other="?")}


def small(make: Any, **more: Any) -> TuplesOverTime:
    made = make(sizes=(2, 3), epsilon_permanent=2.0, epsilon_report=1.0, **more)
    assert isinstance(made, TuplesOverTime)
    return made


def sequence_law(m: TuplesOverTime, tuple_: tuple[Any, ...], tau: int) -> dict[tuple[bytes, ...], float]:
    """The exact probability of every sequence of reports, by enumeration of each attribute's.

    An attribute has a value that does not change, or a history.
    """
    parts = []
    for component, value in zip(m.components, tuple_, strict=True):
        outputs = component.first_report.outputs()
        every = outputs[np.array(list(itertools.product(range(len(outputs)), repeat=tau)))]
        law = np.exp(component.sequence_log_prob(every, np.broadcast_to(value, every.shape)))
        parts.append({tuple(each.tobytes() for each in row): p for row, p in zip(every, law, strict=True)})
    if m.samples:
        return {((b"%d" % j), *row): p / m.d for j, part in enumerate(parts) for row, p in part.items()}
    return {(*one, *other): p * q for (one, p), (other, q) in itertools.product(parts[0].items(), parts[1].items())}


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("protocol", ["ADP", "LGRR", ("LOSUE", "LGRR")])
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_the_loss_of_a_sequence_is_exact(make: Any, protocol: Any, tau: int) -> None:
    m = small(make, protocol=protocol)
    laws = [sequence_law(m, each, tau) for each in itertools.product(range(2), range(3))]
    assert all(sum(law.values()) == pytest.approx(1) for law in laws)
    worst = max(math.log(one[key] / other[key]) for one, other in itertools.permutations(laws, 2) for key in one)
    assert worst == pytest.approx(m.sequence_epsilon(tau), rel=1e-9)
    assert worst <= m.sequence_epsilon(tau) + 1e-12
    assert m.sequence_guarantee(tau).epsilon <= m.epsilon_permanent


@pytest.mark.parametrize("make", BOTH)
def test_a_bound_for_changes_takes_each_attribute_for_itself(make: Any) -> None:
    """Tuples that change at the same times, but in different attributes, lose more than those that it is of."""
    m = make(sizes=(2, 2), epsilon_permanent=2.0, epsilon_report=1.9, protocol="LOSUE")
    histories = list(itertools.product(itertools.product(range(2), repeat=2), repeat=2))
    laws = {each: sequence_law(m, each, 2) for each in histories}
    losses: dict[str, float] = {"attributes": 0.0, "tuples": 0.0, "any": 0.0}
    for one, other in itertools.permutations(histories, 2):
        loss = max(math.log(p / laws[other][key]) for key, p in laws[one].items())
        moves = [tuple(first != second for first, second in each) for each in (one, other)]
        together = {"attributes": moves[0] == moves[1], "tuples": any(moves[0]) == any(moves[1]), "any": True}
        losses |= {name: max(losses[name], loss) for name, same in together.items() if same}
    assert losses["attributes"] <= m.history_bound(2) + 1e-12
    assert losses["tuples"] > m.history_bound(2) + 1
    assert losses["any"] <= m.any_histories_bound(2) + 1e-12


@pytest.mark.parametrize("make", BOTH)
def test_budgets_are_never_exceeded(make: Any) -> None:
    for d, permanent in itertools.product((1, 3, 7), (1.0, 2.1)):
        m = make(sizes=(4,) * d, epsilon_permanent=permanent, epsilon_report=permanent / 3)
        shares = [Fraction(c.epsilon_permanent) for c in m.components]
        assert (max(shares) if m.samples else sum(shares)) <= Fraction(permanent)
        assert m.sequence_epsilon(math.inf) <= permanent
        assert m.sequence_epsilon(1) <= m.epsilon_report
        assert m.sequence_epsilon(1) == pytest.approx(m.epsilon_report, rel=1e-6)
        assert m.history_bound(1) <= m.epsilon_report * (1 + 1e-12)


def test_losses_are_the_largest_or_the_sum() -> None:
    one, all_ = small(LSMP, protocol=("LOSUE", "LGRR")), small(LSPL, protocol=("LOSUE", "LGRR"))
    words: list[Any] = [
        lambda p: p.epsilon_worst,
        lambda p: p.epsilon_states,
        lambda p: p.epsilon_fresh,
        lambda p: p.history_bound(5),
    ]
    for word in words:
        assert word(one) == max(word(c) for c in one.components)
        assert word(all_) == pytest.approx(sum(word(c) for c in all_.components), rel=1e-15)
    assert math.isinf(small(LSPL, protocol="BiLOLOHA").epsilon_worst)


@pytest.mark.parametrize("make", BOTH)
def test_every_round_is_unbiased_by_enumeration(make: Any) -> None:
    """The mean of the raw estimate of one report, over all reports of a tuple, is the tuple's own one-hot vector."""
    m = small(make).first_report
    for values in m.tuples():
        total = [np.zeros(k) for k in m.sizes]
        chance = [Fraction(0)] * m.d
        for report in m.outputs():
            weight = Fraction(m.weight(report, values), m.denominator)
            found = m.decode(m.tally(report[None]), 1)
            for j, frequencies in enumerate(found):
                if not np.isnan(frequencies).any():
                    total[j] += float(weight) * frequencies
                    chance[j] += weight
        for j, value in enumerate(values):
            assert np.allclose(total[j] / float(chance[j]), np.eye(m.sizes[j])[value], atol=1e-9)


@pytest.mark.parametrize("make", BOTH)
def test_rounds_estimate_what_people_hold(make: Any) -> None:
    """Within six standard errors: a false alarm in 2e-9 of values, of which there are 20."""
    m, n = small(make), 40_000
    values = np.zeros((n, 4, 2), np.int64)
    values[: n // 4, :, 0] = 1
    values[: n // 2, 2:, 1] = 2
    for seed, aggregates in enumerate(
        (m.aggregate(m.collect(values, rng=hush.seeded(8))), m.simulate(values, rng=hush.seeded(9)))
    ):
        for t, (first, second) in enumerate(m.estimate(aggregates)):
            later = t > 1
            assert (np.abs(first.frequencies - [0.75, 0.25]) < 6 * first.stderr).all(), seed
            assert (np.abs(second.frequencies - [1 - later / 2, 0, later / 2]) < 6 * second.stderr).all(), seed


def test_attributes_are_drawn_once_and_evenly() -> None:
    m = LSMP(sizes=(2, 2, 2), epsilon_permanent=2.0, epsilon_report=1.0)
    drawn = m.collect(np.zeros((30_000, 5, 3), np.int64), rng=hush.seeded(2))["attribute"]
    assert (drawn == drawn[:, :1]).all()
    counts = np.bincount(drawn[:, 0], minlength=3)
    assert (np.abs(counts - 10_000) < 6.2 * math.sqrt(30_000 * 2 / 9)).all()  # 1e-9 for each


def test_the_default_has_the_least_variance() -> None:
    m = LSMP(sizes=(2, 100), epsilon_permanent=2.0, epsilon_report=1.0)
    assert m.protocol == ("LGRR", "LOSUE")
    for component, k in zip(m.components, m.sizes, strict=True):
        known = [make(k=k, epsilon_permanent=2.0, epsilon_report=1.0) for make in (LGRR, LOSUE)]
        assert component.first_report.variance() == min(each.first_report.variance() for each in known)


@pytest.mark.parametrize("make", BOTH)
def test_a_single_attribute_is_its_protocol(make: Any) -> None:
    m = make(sizes=(5,), epsilon_permanent=2.0, epsilon_report=1.0, protocol="LGRR")
    alone = LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    assert m.components == (alone,)
    assert m.sequence_epsilon(7) == alone.sequence_epsilon(7)


# Devices.


@pytest.mark.parametrize("make", BOTH)
def test_a_device_goes_on_from_its_state(make: Any) -> None:
    spec = hush.Spec(small(make, protocol="LGRR"), NAMED)
    client = spec.client()
    reports = [client.report({"sex": "f", "age": age}) for age in ("young", "old", "young")]
    state = json.loads(json.dumps(client.state))
    for later in (spec.client(state=state), pickle.loads(pickle.dumps(client))):
        reports.append(later.report({"sex": "f", "age": "old"}))
        assert later.state == state  # nothing was drawn anew
    one_round = np.array(reports, spec.mechanism.report_dtype)
    spec.one_round.aggregate(one_round)
    if spec.mechanism.samples:
        assert np.unique(one_round["attribute"]).size == 1
    assert client.answers == sum(part is not None and len(part["answers"]) for part in state["attributes"])


@pytest.mark.parametrize("make", BOTH)
def test_a_device_without_labels_takes_numbers(make: Any) -> None:
    m = small(make)
    m.first_report.validate(np.array([m.client(rng=hush.seeded(1)).report((1, 2))], m.report_dtype))
    with pytest.raises(DomainError):
        m.client().report((1, 3))


@pytest.mark.parametrize("make", BOTH)
def test_damaged_and_strange_states_are_refused(make: Any) -> None:
    m = small(make)
    client = m.client()
    client.report((0, 1))
    state = client.state
    bad: list[Any] = [
        {},
        {**state, "protocol": "0" * 64},
        {**state, "attributes": state["attributes"][:1]},
        {**state, "attributes": [None, None]},
        {**state, "attributes": "none"},
        {**state, "attributes": [each and {**each, "answers": {"0": "zz"}} for each in state["attributes"]]},
        LGRR(k=2, epsilon_permanent=2.0, epsilon_report=1.0).client().state,
    ]
    for each in bad:
        with pytest.raises(SpecError):
            m.client(state=each)


# Specs.


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("protocol", ["ADP", "OLOLOHA", ("LSUE", "BiLOLOHA")])
def test_specs_travel(make: Any, protocol: Any) -> None:
    m = small(make, protocol=protocol)
    assert hush.from_dict(json.loads(json.dumps(m.to_dict()))) == m
    for spec in (hush.Spec(m), hush.Spec(m, NAMED)):
        again = hush.Spec.from_json(spec.to_json())
        assert (again, again.hash, again.to_dict()["hush"]) == (spec, spec.hash, 2)
        assert hush.Spec.from_json(spec.one_round.to_json()) == spec.one_round
    assert pickle.loads(pickle.dumps(m)) == m
    assert hash(m) == hash(small(make, protocol=protocol))


def test_options_and_choices_are_told() -> None:
    m = small(LSMP, protocol="LOLOHA", options={"g": 5})
    assert [c.g for c in m.components] == [5, 5]
    chosen = small(LSPL, protocol="OLOLOHA").to_dict()["chosen"]
    assert [set(each) for each in chosen] == [{"g"}, {"g"}]
    plain = small(LSPL, protocol="OLOLOHA").to_dict()
    with pytest.raises(HushError):
        hush.from_dict({**plain, "chosen": [{"g": 2}, {"h": 1}]})


@pytest.mark.parametrize("make", BOTH)
def test_labels_over_time(make: Any) -> None:
    spec = hush.Spec(small(make), NAMED)
    sex, age = np.array([["f", "f"], ["m", "m"]]), np.array([["old", "young"], ["?", None]], object)
    reports = spec.privatize({"sex": sex, "age": age})
    assert reports.shape == (2, 2)
    same = spec.privatize(np.stack([sex, age], axis=2))
    assert same.shape == (2, 2)
    rounds = spec.simulate({"sex": np.tile(sex, (500, 1)), "age": np.tile(age, (500, 1))}, rng=hush.seeded(4))
    estimates = spec.estimate(rounds)
    assert [list(each) for each in estimates] == [["sex", "age"]] * 2
    assert spec.check(rounds) == rounds
    with pytest.raises(ParameterError, match="arrays by name"):
        spec.privatize({"sex": sex})


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (1, 2)},
        {"epsilon_report": 2.0},
        {"epsilon_report": 0.0},
        {"epsilon_permanent": math.nan},
        {"protocol": "GRR"},
        {"protocol": "Memoized"},
        {"protocol": "dBitFlipPM"},
        {"protocol": "LSMP"},
        {"protocol": ("LGRR",)},
        {"protocol": "LOLOHA"},
        {"options": {"g": 1}},
        {"options": {"k": 3}},
        {"chosen": [{"g": 3}, {}]},
    ],
    ids=repr,
)
def test_bad_parameters_are_refused(make: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        make(**{"sizes": (2, 3), "epsilon_permanent": 2.0, "epsilon_report": 1.0, **wrong})


@pytest.mark.parametrize("values", [[0, 1], [[0, 1]], [[[0, 3]]], [[[0]]], [[[0.5, 1]]], np.zeros((2, 0, 2), int)])
def test_bad_values_are_refused(values: Any) -> None:
    with pytest.raises(HushError):
        small(LSMP).collect(values)
