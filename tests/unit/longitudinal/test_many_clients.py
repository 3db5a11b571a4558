"""Many people's devices at once have the law of one device, and keep what it keeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import hush
from hush.errors import DomainError, ParameterError, SpecError
from hush.longitudinal import LGRR, LOSUE, BiLOLOHA, Longitudinal, Memoized, dBitFlipPM
from hush.multidim import LSMP, LSPL
from tests.unit.longitudinal.test_longitudinal_clients import ALL

FALSE_ALARM = 1e-9
HISTORY = (0, 1, 0)
PEOPLE = 60_000


def sequences(protocol: Longitudinal, seed: int) -> Any:
    """Three reports of everybody, in whose order people come differently each time."""
    clients, rng = protocol.clients(rng=hush.seeded(seed)), np.random.default_rng(seed)
    out = np.empty((PEOPLE, len(HISTORY)), protocol.report_dtype)
    for t, value in enumerate(HISTORY):
        order = rng.permutation(PEOPLE)
        out[order, t] = clients.report(order, np.full(PEOPLE, value))
    return out


@pytest.mark.parametrize(
    "protocol",
    [
        LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0),
        LOSUE(k=2, epsilon_permanent=2.0, epsilon_report=1.0),
        Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)),
    ],
    ids=lambda p: p.title,
)
def test_whole_sequences_have_their_exact_law(protocol: Longitudinal) -> None:
    """Chi-square of all sequences of three reports against their enumerated law, at a false-alarm rate of 1e-9."""
    outputs = protocol.first_report.outputs()
    every = outputs[np.array(list(product(range(len(outputs)), repeat=3)))]
    law = np.exp(protocol.sequence_log_prob(every, np.tile(HISTORY, (len(every), 1))))
    assert law.sum() == pytest.approx(1)
    raw = f"V{3 * outputs.itemsize}"
    places = {each.tobytes(): i for i, each in enumerate(every)}
    seen = [places[row] for row in np.ascontiguousarray(sequences(protocol, 20_262)).view(raw).ravel().tolist()]
    counts = np.bincount(seen, minlength=len(every))
    possible = law > 0
    assert not counts[~possible].any()
    assert chisquare(counts[possible], PEOPLE * law[possible] / law.sum()).pvalue > FALSE_ALARM


@pytest.mark.parametrize("protocol", [BiLOLOHA(k=5, epsilon_permanent=2.0, epsilon_report=1.0)], ids=["BiLOLOHA"])
def test_a_hashed_report_has_the_law_of_one_devices(protocol: Longitudinal) -> None:
    """Support of the value and of another, against one report's exact chances, at 1e-9; one function for good."""
    reports = sequences(protocol, 20_263)
    assert (reports["a"] == reports["a"][:, :1]).all()
    assert (reports["b"] == reports["b"][:, :1]).all()
    first = protocol.first_report
    for t, value in enumerate(HISTORY):
        share = first.aggregate(np.ascontiguousarray(reports[:, t])).tally
        for v, seen in enumerate(share):
            p = first.p_star if v == value else first.q_star
            assert abs(seen - PEOPLE * p) < 6.2 * np.sqrt(PEOPLE * p * (1 - p))  # two tails of 5.6e-10


@pytest.mark.parametrize("protocol", ALL, ids=repr)
def test_kept_answers_come_again(protocol: Longitudinal) -> None:
    clients = protocol.clients(rng=hush.seeded(3))
    people = np.arange(500)
    values = np.random.default_rng(3).integers(0, protocol.k, (500, 2))
    first = clients.report(people, values[:, 0])
    other = clients.report(people[::-1], values[::-1, 1])[::-1]
    again = clients.report(people, values[:, 0])
    states = clients.answers(people)
    assert states.min() >= 1
    assert states.max() <= 2
    clients.report(people, values[:, 1])
    assert (clients.answers(people) == states).all()
    if protocol.repeats_one_answer:
        assert (first == again).all()
    public = {"a", "b", "buckets"} & set(protocol.report_dtype.names or ())
    if not isinstance(protocol, Memoized):
        assert all((first[name] == other[name]).all() for name in public)


def test_several_reports_of_one_person_in_one_call_share_their_answer() -> None:
    clients = Memoized(mechanism=hush.OUE(k=64, epsilon=0.5)).clients()
    reports = clients.report([7] * 1000, [3] * 1000)
    assert np.unique(reports).size == 1
    assert clients.answers([7, 8]).tolist() == [1, 0]


def test_more_people_than_a_chunk_and_labels() -> None:
    spec = hush.Spec(dBitFlipPM(k=3, epsilon_permanent=5.0, d=3), hush.Domain(labels=["a", "b", "c"]))
    clients, people = spec.clients(rng=hush.seeded(1)), np.arange(150_000)
    reports = clients.report(people, np.array(["a", "b", "c"])[people % 3])
    assert (clients.report(people, np.array(["a", "b", "c"])[people % 3]) == reports).all()
    found = spec.one_round.estimate(spec.one_round.aggregate(reports)).frequencies
    assert np.allclose(found, 1 / 3, atol=0.02)


def test_threads_may_share_them() -> None:
    clients = Memoized(mechanism=hush.GRR(k=1000, epsilon=0.1)).clients()
    people = np.arange(2000)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: clients.report(people, people % 5), range(16)))
    assert all((each == found[0]).all() for each in found)


def test_secure_devices_differ() -> None:
    protocol = Memoized(mechanism=hush.GRR(k=1000, epsilon=0.1))
    one, other = (protocol.clients().report(np.arange(1000), np.zeros(1000, int)) for _ in range(2))
    assert (one != other).any()


@pytest.mark.parametrize("people", [[-1], [0.5], ["ann"], [[0]], [2**40], [None]])
def test_people_are_numbers(people: Any) -> None:
    with pytest.raises(ParameterError, match="people"):
        LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0).clients().report(people, [0])


def test_bad_values_are_refused() -> None:
    clients = LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0).clients()
    with pytest.raises(DomainError):
        clients.report([0], [3])
    with pytest.raises(ParameterError, match="as many"):
        clients.report([0, 1], [2])
    assert clients.report([], []).shape == (0,)
    assert clients.answers([0]).tolist() == [0]
    with pytest.raises(SpecError, match="longitudinal"):
        hush.Spec(hush.GRR(k=3, epsilon=1.0)).clients()


@pytest.mark.parametrize("make", [LSMP, LSPL])
def test_tuples_of_many_people(make: Any) -> None:
    """The attribute that somebody reports stays, and so do the answers."""
    m = make(sizes=(3, 4), epsilon_permanent=2.0, epsilon_report=1.0)
    clients, people = m.clients(rng=hush.seeded(5)), np.arange(3000)
    values = np.stack([people % 3, people % 4], axis=1)
    rounds = np.stack([clients.report(people, values) for _ in range(3)], axis=1)
    due = 1 if m.samples else 2
    assert (clients.answers(people) == due).all()
    if m.samples:
        assert (rounds["attribute"] == rounds["attribute"][:, :1]).all()
    assert len(m.estimate(m.aggregate(rounds))) == 3
