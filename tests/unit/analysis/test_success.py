"""The best guess from a raw report under any prior: closed forms against enumeration, and against the attack itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush.analysis import success
from tests.conftest import example

PRIORS = {
    "uniform": [0.25, 0.25, 0.25, 0.25],
    "mild": [0.3, 0.2, 0.26, 0.24],
    "steep": [0.02, 0.9, 0.05, 0.03],
    "zeros": [0.0, 0.6, 0.0, 0.4],
    "certain": [0.0, 0.0, 1.0, 0.0],
}
ENUMERABLE = ["GRR", "SS", "SUE", "OUE", "UE", "THE", "HR", "ASS", "AUE", "ATHE", "AGRR", "ASUE"]


def test_any_prior_agrees_with_enumeration() -> None:
    wrong = []
    for name, epsilon in itertools.product(ENUMERABLE, [0.3, 1.5, 4.0]):
        m = example(name, 4, epsilon)
        for which, prior in PRIORS.items():
            found, expected = m.asr(prior), hush.FrequencyOracle.asr(m, prior)
            if found != pytest.approx(expected, rel=1e-12):
                wrong.append(f"{m}: {found} with the prior {which!r}, {expected} by enumeration")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("k", "blocks"), [(k, b) for k in (2, 3, 5, 6, 7, 8) for b in (1, 2, 4, 8) if b <= 2 * k])
def test_hadamard_response_with_unequal_blocks(k: int, blocks: int) -> None:
    m = hush.HR(k=k, epsilon=1.2, blocks=blocks)
    prior = np.arange(1, k + 1) ** 1.5
    assert m.asr(prior) == pytest.approx(hush.FrequencyOracle.asr(m, prior), rel=1e-12)
    assert m.asr(np.ones(k)) == pytest.approx(m.asr(), rel=1e-12)


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.3], [0.05, 0.05, 0.9]])
@pytest.mark.parametrize("g", [2, 3, 5])
def test_hashing_agrees_with_all_ideal_hash_functions(g: int, prior: list[float]) -> None:
    m = hush.LH(k=3, epsilon=1.0, g=g)
    p = math.e / (math.e + g - 1)
    total = 0.0
    for buckets in itertools.product(range(g), repeat=3):
        for y in range(g):
            chances = [prior[v] * (p if buckets[v] == y else (1 - p) / (g - 1)) for v in range(3)]
            total += max(chances) / g**3
    assert m.asr(prior) == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.2, 0.8], [0.0, 1.0], [0.45, 0.55]])
def test_a_product_agrees_with_all_pairs_of_outcomes(prior: list[float]) -> None:
    null = np.array([0.5, 0.3, 0.15, 0.05])
    own = np.array([0.1, 0.3, 0.2, 0.4])
    total = sum(
        max(prior[0] * own[a] * null[b], prior[1] * null[a] * own[b]) for a, b in itertools.product(range(4), repeat=2)
    )
    assert success.product(np.array(prior), null, own / null) == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("name", ["SHE", "ServerTHE", "AGM", "OUE", "OLH", "Wheel", "SS", "HR"])
def test_the_attack_succeeds_as_often_as_promised(name: str) -> None:
    """False alarm: 1 in 10^6 for each (five standard errors)."""
    m, n = example(name, 20, 1.5), 60_000
    prior = np.geomspace(1, 0.02, 20)
    prior /= prior.sum()
    rng = hush.seeded(11)
    values = rng.choice(20, n, p=prior)
    hits = (m.attack(m.privatize(values, rng=rng), prior, rng=rng) == values).mean()
    expected = m.asr(prior)
    assert abs(hits - expected) < 5 * math.sqrt(expected * (1 - expected) / n)


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "OLH", "HR", "SHE"])
def test_a_prior_never_helps_less_than_knowing_it_alone_and_equals_uniform(name: str) -> None:
    m = example(name, 30, 1.0)
    steep = np.geomspace(1, 1e-3, 30)
    assert m.asr(np.full(30, 2.0)) == pytest.approx(m.asr(), rel=1e-11)
    assert m.asr(steep) >= (steep / steep.sum()).max() * (1 - 1e-12)
    assert m.asr(steep) <= math.e * (steep / steep.sum()).max() * (1 + 1e-12)


@pytest.mark.parametrize("prior", [[], [1.0], [0, 0, 0, 0], [1, -1, 1, 1], [math.nan] * 4, [math.inf, 1, 1, 1], "abcd"])
@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "OLH", "HR", "SHE"])
def test_a_bad_prior_is_named(name: str, prior: object) -> None:
    with pytest.raises(hush.errors.ParameterError, match="prior must be 4 non-negative numbers"):
        example(name, 4, 1.0).asr(prior)
