"""Clients, collections, travel and bad input of longitudinal protocols."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import DomainError, HushError, ParameterError, ReportError, SpecError
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
from tests.refusals import find_wrong_outcome

ALL: list[Longitudinal] = [
    LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0),
    LSUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0),
    LOSUE(k=70, epsilon_permanent=2.0, epsilon_report=1.0),
    LOUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0),
    LSOUE(k=64, epsilon_permanent=2.0, epsilon_report=1.0),
    LOLOHA(k=30, epsilon_permanent=2.0, epsilon_report=1.0, g=5),
    BiLOLOHA(k=30, epsilon_permanent=2.0, epsilon_report=1.0),
    OLOLOHA(k=30, epsilon_permanent=2.0, epsilon_report=1.0),
    dBitFlipPM(k=20, epsilon_permanent=1.0, d=1),
    dBitFlipPM(k=20, epsilon_permanent=1.0, d=8),
    dBitFlipPM(k=20, epsilon_permanent=1.0, d=20),
    Memoized(mechanism=hush.GRR(k=5, epsilon=1.0)),
    Memoized(mechanism=hush.OLH(k=30, epsilon=1.0)),
    Memoized(mechanism=hush.SS(k=20, epsilon=1.0)),
]
ONCE = [protocol for protocol in ALL if protocol.epsilon_fresh == math.inf]


def moving(protocol: Longitudinal, n: int = 200, tau: int = 6) -> np.ndarray:
    """Histories that visit a few values, and come back."""
    return np.random.default_rng(1).integers(0, min(3, protocol.k), (n, tau))


# Collections.


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_collection_has_a_report_for_each_value_and_repeats_with_its_seed(protocol: Longitudinal) -> None:
    values = moving(protocol)
    reports = protocol.collect(values, rng=hush.seeded(7))
    assert reports.shape == values.shape
    assert reports.dtype == protocol.report_dtype == protocol.first_report.report_dtype
    assert (protocol.collect(values, rng=hush.seeded(7)) == reports).all()
    assert (protocol.collect(values, rng=hush.seeded(8)) != reports).any()
    assert (protocol.collect(values) != protocol.collect(values)).any()
    protocol.first_report.validate(reports.ravel())


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_streaming_gives_the_same_aggregates_on_any_number_of_threads(
    protocol: Longitudinal, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = moving(protocol, 3000, 50)  # more than two chunks
    monkeypatch.setenv("HUSH_THREADS", "1")
    whole = protocol.aggregate(protocol.collect(values, rng=hush.seeded(7)))
    monkeypatch.setenv("HUSH_THREADS", "3")
    assert protocol.simulate(values, rng=hush.seeded(7)) == whole
    assert len(whole) == 50
    assert all(part.n == 3000 for part in whole)
    estimates = protocol.estimate(whole)
    assert len(estimates) == 50
    assert estimates[0].frequencies.shape == (protocol.k,)


@pytest.mark.parametrize("protocol", ONCE, ids=repr)
def test_without_fresh_noise_a_value_that_comes_back_gets_the_same_answer(protocol: Longitudinal) -> None:
    values = moving(protocol)
    reports = protocol.collect(values, rng=hush.seeded(7))
    for row, history in zip(reports, values, strict=True):
        for value in set(history.tolist()):
            assert len({report.tobytes() for report in row[history == value]}) == 1
    client = protocol.client(rng=hush.seeded(3))
    first = client.report(2)
    client.report(0)
    assert client.report(2).tobytes() == first.tobytes()


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_people_have_answers_of_their_own(protocol: Longitudinal) -> None:
    reports = protocol.collect(np.ones((300, 1), np.int64), rng=hush.seeded(7))
    assert len({report.tobytes() for report in reports.ravel()}) > 1


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_collection_of_nobody(protocol: Longitudinal) -> None:
    reports = protocol.collect(np.zeros((0, 4), np.int64))
    assert reports.shape == (0, 4)
    assert protocol.sequence_log_prob(reports, 0).shape == (0,)
    assert protocol.sequence_scores(reports).shape == (0, protocol.k)
    assert [part.n for part in protocol.simulate(np.zeros((0, 4), np.int64))] == [0] * 4


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_likelihoods_of_long_sequences_are_finite(protocol: Longitudinal) -> None:
    """Products of thousands of chances underflow; their logarithms do not."""
    values = np.repeat(np.array([[1], [2]]), 5000, axis=1)
    reports = protocol.collect(values, rng=hush.seeded(7))
    own = protocol.sequence_log_prob(reports, [1, 2])
    other = protocol.sequence_log_prob(reports, [2, 1])
    assert np.isfinite(own).all()
    assert np.abs(own - other).max() <= protocol.epsilon_permanent + 1e-6


# Clients.


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_client_keeps_one_answer_for_each_state(protocol: Longitudinal) -> None:
    client = protocol.client(rng=hush.seeded(3))
    reports = [client.report(value) for value in (1, 1, 1)]
    assert client.answers == 1
    kept = client.state
    client.report(1)
    assert client.state == kept
    for value in range(protocol.k):
        client.report(value)
    assert client.answers <= min(protocol.k, protocol.kept + 1)
    together = np.array(reports, protocol.report_dtype)[None]
    assert np.isfinite(protocol.sequence_log_prob(together, 1)).all()


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_client_survives_its_state_and_pickling(protocol: Longitudinal) -> None:
    client = protocol.client()
    client.report(1)
    for twin in (
        protocol.client(state=json.loads(json.dumps(client.state))),
        pickle.loads(pickle.dumps(client)),
        pickle.loads(pickle.dumps(protocol.client(rng=hush.seeded(1), state=client.state))),
    ):
        assert twin.state == client.state
        assert twin.protocol == protocol
        assert twin.report(1).dtype == protocol.report_dtype
        assert twin.answers == 1
    if protocol in ONCE:
        assert protocol.client(state=client.state).report(1).tobytes() == client.report(1).tobytes()


def test_a_seeded_client_repeats_and_a_secure_one_does_not() -> None:
    protocol = LOSUE(k=64, epsilon_permanent=2.0, epsilon_report=1.0)

    def course(**how: Any) -> list[bytes]:
        client = protocol.client(**how)
        return [client.report(3).tobytes() for _ in range(4)]

    assert course(rng=hush.seeded(1)) == course(rng=hush.seeded(1))
    assert course() != course()


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_client_refuses_a_state_that_is_not_its_own(protocol: Longitudinal) -> None:
    client = protocol.client()
    client.report(1)
    state = client.state
    stranger = LGRR(k=6, epsilon_permanent=2.0, epsilon_report=1.0).client().state
    answers = {at: memo + "00" for at, memo in state["answers"].items()}
    bad = [stranger, {}, 3, {**state, "more": 1}, {**state, "answers": answers}, {**state, "answers": 3},
           {**state, "public": state["public"] + "00"}, {**state, "answers": {"x": "00"}}]  # fmt: skip
    for each in bad:
        with pytest.raises(SpecError):
            protocol.client(state=each)


def test_a_client_refuses_answers_that_are_no_reports() -> None:
    protocol = LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    client = protocol.client()
    client.report(1)
    with pytest.raises(SpecError, match="restore it from a copy"):
        protocol.client(state={**client.state, "answers": {"1": "63"}})


def test_a_client_refuses_bad_values_and_does_not_repeat_them() -> None:
    wrong = []
    for protocol, bad in itertools.product(ALL, [-1, 10**9, 0.5, math.nan, "0", None, [0, 1]]):
        client = protocol.client(rng=hush.seeded(3))
        pattern = rf"(?s)^(?!.*{10**9})" if bad == 10**9 else ""
        outcome = find_wrong_outcome(partial(client.report, bad), HushError, pattern)  # type: ignore[arg-type]
        if outcome or client.answers:
            wrong.append(
                f"{protocol}.client().report({bad!r}) {outcome or 'raised'}, with {client.answers} answers kept"
            )
    assert not wrong, "\n".join(wrong)


# Travel.


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_a_protocol_travels(protocol: Longitudinal) -> None:
    assert hush.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
    twin = pickle.loads(pickle.dumps(protocol))
    assert twin == protocol
    assert hash(twin) == hash(protocol)
    assert twin.spec_hash == protocol.spec_hash
    with pytest.raises(AttributeError):
        protocol.k = 3  # type: ignore[misc]


def test_a_plan_that_was_changed_is_refused() -> None:
    plain = LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0).to_dict()
    for bad in (
        {**plain, "thresholds": {"permanent": "1", "fresh": "2"}},
        {**plain, "protocol": "LXYZ"},
        {**plain, "g": 3},
        {},
        None,
        3,
    ):
        with pytest.raises(SpecError):
            hush.from_dict(bad)  # type: ignore[arg-type]
    tuples = {"LSMP", "LSPL"}  # whose tests are those of several attributes
    assert {*hush.registry(kind="longitudinal")} - tuples == {type(protocol).__name__ for protocol in ALL}


# Bad input.


BAD_PARAMETERS: list[dict[str, Any]] = [
    {"k": 1}, {"k": 0}, {"k": -3}, {"k": 2.5}, {"k": "4"}, {"k": 10**9}, {"k": True}, {"k": None},
    *({"epsilon_permanent": bad} for bad in (0.0, -1.0, math.nan, math.inf, 21.0, "2")),
    *({"epsilon_report": bad} for bad in (0.0, -1.0, math.nan, 2.0, 3.0)),
    {"epsilon_report": None}, {"epsilon_report": True},
]  # fmt: skip


def test_bad_parameters_are_refused() -> None:
    good = {"k": 4, "epsilon_permanent": 2.0, "epsilon_report": 1.0}
    protocols: list[Callable[..., Longitudinal]] = [LGRR, LSUE, LOSUE, LOUE, LSOUE, BiLOLOHA, OLOLOHA]
    wrong = [
        f"{cls.__name__}({bad}) {outcome}"
        for cls, bad in itertools.product(protocols, BAD_PARAMETERS)
        if (outcome := find_wrong_outcome(partial(cls, **{**good, **bad}), ParameterError, r"must .*, got .*; "))
    ]
    assert not wrong, "\n".join(wrong)


def test_other_bad_parameters_are_refused() -> None:
    budgets = {"epsilon_permanent": 2.0, "epsilon_report": 1.0}
    for bad in (
        lambda: LOLOHA(k=5, **budgets, g=1),
        lambda: LOLOHA(k=5, **budgets, g=10**9),
        lambda: LOLOHA(k=5, **budgets, g=2.5),  # type: ignore[arg-type]
        lambda: dBitFlipPM(k=5, epsilon_permanent=1.0, d=0),
        lambda: dBitFlipPM(k=5, epsilon_permanent=1.0, d=6),
        lambda: dBitFlipPM(k=1, epsilon_permanent=1.0, d=1),
        lambda: dBitFlipPM(k=5, epsilon_permanent=math.nan, d=1),
        lambda: Memoized(mechanism=hush.AGRR(k=3, epsilon=1.0, delta=1e-5)),
        lambda: Memoized(mechanism=hush.LHO(k=3, g=2)),
        lambda: Memoized(mechanism="GRR"),  # type: ignore[arg-type]
        lambda: Repeated("GRR", 3),  # type: ignore[arg-type]
        lambda: Repeated(hush.GRR(k=3, epsilon=1.0), 0),
        lambda: Repeated(hush.GRR(k=3, epsilon=1.0), 1.5),  # type: ignore[arg-type]
        lambda: ALL[0].sequence_epsilon(0),
        lambda: ALL[0].sequence_epsilon(1.5),
        lambda: ONCE[0].sequence_epsilon(-1),
        lambda: ALL[0].mean_variance(0),  # type: ignore[attr-defined]
        lambda: ALL[0].mean_variance(1, 0),  # type: ignore[attr-defined]
        lambda: ALL[0].mean_variance(1, 5, 1.5),  # type: ignore[attr-defined]
        lambda: printed.first_loss(1, 2.0, 1.0),
        lambda: printed.first_loss(3, 1.0, 2.0),
        lambda: printed.hash_range(1.0, 1.0),
        lambda: ALL[0].client(rng=7),  # type: ignore[arg-type]
        lambda: ALL[0].collect([[0]], rng=7),  # type: ignore[arg-type]
        lambda: ALL[0].history_epsilon([0, 1], [0]),
        lambda: ALL[0].history_epsilon([], []),
        lambda: LGRR(k=30, epsilon_permanent=2.0, epsilon_report=1.0).history_epsilon(range(30), [0] * 30),
        lambda: Memoized(mechanism=hush.OLH(k=3, epsilon=1.0)).history_epsilon([0], [1]),
    ):
        with pytest.raises(ParameterError, match=r"must .*, got .*; "):
            bad()


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_bad_values_and_reports_are_refused(protocol: Longitudinal) -> None:
    for bad in ([0, 1], [[0.5]], [["0"]], [[None]], [[math.nan]], [[]], 3, [[[0]]]):
        with pytest.raises(ParameterError):
            protocol.collect(bad)  # type: ignore[arg-type]
    for outside in ([[-1]], [[protocol.k]]):
        with pytest.raises(DomainError):
            protocol.collect(outside)
    reports = protocol.collect(np.zeros((3, 2), np.int64), rng=hush.seeded(1))
    for wrong in (reports[:, 0], reports[:, :0], np.zeros((3, 2)), reports[None]):
        with pytest.raises(ReportError):
            protocol.sequence_log_prob(wrong, 0)
        with pytest.raises(ReportError):
            protocol.aggregate(wrong)
    for value in ([0, 0], [[0]], protocol.k, -1, 0.5, None):
        with pytest.raises(HushError):
            protocol.sequence_log_prob(reports, value)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", [p for p in ALL if isinstance(p, (LOLOHA, dBitFlipPM)) and p.kept < p.k], ids=repr)
def test_rows_that_mix_two_people_are_refused(protocol: Longitudinal) -> None:
    reports = protocol.collect(np.zeros((40, 1), np.int64), rng=hush.seeded(1)).reshape(1, 40)
    with pytest.raises(ReportError, match="for each person"):
        protocol.sequence_log_prob(reports, 0)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_malformed_answers_of_asked_bits_are_refused(d: int) -> None:
    protocol = dBitFlipPM(k=9, epsilon_permanent=1.0, d=d)
    reports = protocol.collect(np.zeros((3, 1), np.int64), rng=hush.seeded(1))
    outside = reports.copy()
    outside["buckets"][0, 0, -1] = 9
    falling = reports.copy()
    falling["buckets"][0, 0] = falling["buckets"][0, 0][::-1]
    marked = reports.copy()
    marked["bits"][0, 0, -1] |= 0x80
    for bad in [outside] + [falling] * (d > 1) + [marked] * (d % 8 > 0):
        with pytest.raises(ReportError):
            protocol.aggregate(bad)


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_an_attack_names_the_likeliest_value(protocol: Longitudinal) -> None:
    values = np.arange(60) % protocol.k
    reports = protocol.collect(np.repeat(values[:, None], 3, axis=1), rng=hush.seeded(7))
    guesses = protocol.attack(reports, rng=hush.seeded(8))
    scores = protocol.sequence_scores(reports)
    assert (scores[np.arange(60), guesses] == scores.max(axis=1)).all()
    sure = np.eye(protocol.k)[1]
    assert (protocol.attack(reports, sure) == 1).all()


def test_an_attack_on_fresh_reports_names_the_likeliest_value() -> None:
    for mechanism in (hush.GRR(k=5, epsilon=1.0), hush.SHE(k=5, epsilon=1.0), hush.OLH(k=5, epsilon=1.0)):
        repeated = Repeated(mechanism, 4)
        reports = repeated.collect(np.ones((30, 4), np.int64), rng=hush.seeded(7))
        whole = np.stack([repeated.sequence_log_prob(reports, v) for v in range(5)], axis=1)
        scores = repeated.sequence_scores(reports)
        assert scores - scores[:, :1] == pytest.approx(whole - whole[:, :1], abs=1e-9)
        guesses = repeated.attack(reports, rng=hush.seeded(8))
        assert whole[np.arange(30), guesses] == pytest.approx(whole.max(axis=1))


def test_repeated_collections() -> None:
    repeated = Repeated(hush.GRR(k=4, epsilon=2.0), 3)
    values = np.random.default_rng(1).integers(0, 4, (20_000, 3))
    aggregates = repeated.aggregate(repeated.collect(values, rng=hush.seeded(7)))
    assert [part.n for part in aggregates] == [20_000] * 3
    mean = repeated.mean(aggregates)
    rounds = repeated.estimate(aggregates)
    assert mean.n == 60_000
    assert mean.frequencies == pytest.approx(np.mean([part.frequencies for part in rounds], axis=0))
    truth = np.bincount(values.ravel(), minlength=4) / values.size
    assert np.abs((mean.frequencies - truth) / mean.stderr).max() < 6.5  # a false alarm in ten thousand million
    assert mean.stderr == pytest.approx(rounds[0].stderr / np.sqrt(3), rel=0.05)
    with pytest.raises(ParameterError, match="3 columns"):
        repeated.collect(values[:, :2])
    with pytest.raises(ReportError):
        repeated.aggregate(np.zeros((2, 2), np.uint8))
    with pytest.raises(ParameterError):
        repeated.mean([])
    with pytest.raises(ParameterError):
        repeated.sequence_log_prob(repeated.collect(values[:5]), [0, 1])
