"""What reports give away at a budget: against enumeration, and that no report misleads the best adversary."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.planning.capri import exposure, population

SHAPE = np.exp(-0.5 * ((np.arange(21) - 8) / 5) ** 2)
WATER = np.floor(20_000 * SHAPE / SHAPE.sum()).astype(np.int64)


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("m", [
    hush.GRR(k=4, epsilon=1.0), hush.SS(k=4, epsilon=1.0), hush.SUE(k=4, epsilon=1.0), hush.HR(k=4, epsilon=2.0),
], ids=lambda m: m.name())  # fmt: skip
def test_exposure_is_the_enumerated_one(m: hush.FrequencyOracle, prior: list[float] | None) -> None:
    people = population([4, 3, 2, 1])
    belief = np.full(4, 0.25) if prior is None else np.array(prior)
    table = np.zeros((4, 4))
    for y in m.outputs(None):
        chances = np.array([m.copies(y) * m.weight(y, v) / m.denominator for v in range(4)])
        best = chances * belief >= (chances * belief).max() * (1 - 1e-12)
        table += np.outer(chances, best / best.sum())
    joint = np.array([0.4, 0.3, 0.2, 0.1])[:, None] * table
    found = exposure(m, people, limit=1, prior=prior)
    assert (found.stderr, found.reports) == (0.0, 0)
    assert found.blind == pytest.approx(0.25 if prior is None else 0.1)  # who believes in the last value names it
    assert found.asr == pytest.approx(np.trace(joint))
    assert found.mse == pytest.approx(sum(joint[i, j] * (i - j) ** 2 for i in range(4) for j in range(4)))
    hit, said, held = joint[:2, :2].sum(), joint[:, :2].sum(), 0.7
    assert found.precision == pytest.approx(hit / said)
    assert found.recall == pytest.approx(hit / held)
    assert found.f_score == pytest.approx(2 / (said / hit + held / hit))


@pytest.mark.parametrize("mechanism", ["GRR", "SS", "OUE", "OLH", "HR", "SHE", "MSS", "Duchi", "Piecewise", "Hybrid"])
def test_a_report_never_makes_the_best_adversary_worse(mechanism: str) -> None:
    from hush.planning.capri.build import builder

    people = population(WATER)
    build, shares = builder(mechanism, people, None), WATER / WATER.sum()
    seen = [exposure(build(e), people, prior=shares, reports=2000, rng=hush.seeded(7)) for e in (0.01, 0.3, 1.5, 4.0)]
    assert all(each.blind == pytest.approx(shares.max()) for each in seen)
    assert seen[0].asr >= seen[0].blind * (1 - 1e-9)
    assert all(a.asr <= b.asr * (1 + 1e-9) for a, b in itertools.pairwise(seen))
    flat = exposure(build(4.0), people)
    assert flat.asr <= seen[-1].asr
    assert flat.blind == pytest.approx(1 / 21)


def test_exposure_grows_with_the_budget() -> None:
    people = population(WATER)
    for cls in (hush.GRR, hush.OUE, hush.OLH, hush.SS):
        small, large = (exposure(cls(k=21, epsilon=e), people, limit=5) for e in (0.5, 4.0))
        assert small.asr < large.asr
        assert small.mse > large.mse
        assert small.f_score < large.f_score
        assert small.to_dict()["limit"] == 5
    from hush.mechanisms.numeric import Duchi, Piecewise

    coin, window = (exposure(c(low=0, high=20, epsilon=4.0, steps=20), people) for c in (Duchi, Piecewise))
    assert 0 < coin.asr < window.asr < 1
    assert math.isnan(coin.f_score)
    assert coin.to_dict()["f_score"] is None


def test_exposure_refuses_what_does_not_fit() -> None:
    people = population(WATER)
    for bad in ({"prior": [1.0]}, {"limit": math.nan}, {"reports": 0}):
        with pytest.raises(ParameterError):
            exposure(hush.GRR(k=21, epsilon=1.0), people, **bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^m "):
        exposure(hush.GRR(k=3, epsilon=1.0), people)
