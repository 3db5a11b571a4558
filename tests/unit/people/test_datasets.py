"""Populations: the real ones are what they say, the made ones have the shape they name."""

from __future__ import annotations

import numpy as np
import pytest

from hush import datasets, seeded
from hush.errors import ParameterError


def test_real_data() -> None:
    msnbc = datasets.msnbc()
    assert (msnbc.k, msnbc.n) == (17, 989_818)
    assert msnbc.domain.label(int(msnbc.counts.argmax())) == "frontpage"
    age = datasets.adult_age()
    assert (age.k, age.n) == (100, 48_842)
    assert age.counts[:17].sum() == 0
    assert age.domain.values == tuple(float(i) for i in range(100))
    assert np.array_equal(np.bincount(age.values(), minlength=100), age.counts)


MAKERS = [datasets.zipf, datasets.spike, datasets.dirichlet, datasets.geometric, datasets.normal, datasets.uniform]


@pytest.mark.parametrize("make", MAKERS, ids=lambda m: m.__name__)
def test_made_data_have_n_people(make: object) -> None:
    for k, n in ((2, 0), (2, 1), (7, 1000), (100, 12_345)):
        data = make(k, n, rng=seeded(1))  # type: ignore[operator]
        assert data.counts.sum() == data.n == n
        assert data.counts.shape == (k,)
        assert (data.counts >= 0).all()
        again = make(k, n, rng=seeded(1))  # type: ignore[operator]
        assert np.array_equal(data.counts, again.counts)


def test_shapes_without_chance() -> None:
    assert datasets.uniform(4, 100).counts.tolist() == [25, 25, 25, 25]
    assert datasets.spike(5, 100, share=0.6).counts.tolist() == [60, 10, 10, 10, 10]
    zipf = datasets.zipf(100, 100_000, exponent=1.0).counts
    assert abs(zipf[0] / zipf[9] - 10) < 0.01
    falling = datasets.geometric(20, 10**6, ratio=0.5).counts
    assert abs(falling[0] / falling[1] - 2) < 0.01
    bell = datasets.normal(101, 10**6).counts
    assert bell.argmax() == 50
    assert np.abs(bell - bell[::-1]).max() <= 1


def test_values_in_random_order_are_the_same_people() -> None:
    data = datasets.zipf(5, 1000)
    assert np.array_equal(np.bincount(data.values(seeded(1)), minlength=5), data.counts)
    assert not np.array_equal(data.values(seeded(1)), data.values())


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: datasets.zipf(1, 10), "k"),
        (lambda: datasets.zipf(10, -1), "n"),
        (lambda: datasets.zipf(10, 1.5), "n"),
        (lambda: datasets.zipf(10, 10, exponent=float("nan")), "exponent"),
        (lambda: datasets.spike(10, 10, share=1.5), "share"),
        (lambda: datasets.geometric(10, 10, ratio=0.0), "ratio"),
        (lambda: datasets.normal(10, 10, spread=-1), "spread"),
        (lambda: datasets.dirichlet(1, 10), "k"),
        (lambda: datasets.dirichlet(10, 10, concentration=0), "concentration"),
    ],
)
def test_bad_parameters(make: object, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter} "):
        make()  # type: ignore[operator]


def test_by_name() -> None:
    assert datasets.named("msnbc").counts.tolist() == datasets.msnbc().counts.tolist()
    assert datasets.named("zipf", 4, 10).counts.tolist() == datasets.zipf(4, 10).counts.tolist()
    assert datasets.named("uniform", 4).n == 100_000
    drawn = datasets.named("dirichlet", 4, 10, rng=seeded(1))
    assert drawn.counts.tolist() == datasets.dirichlet(4, 10, rng=seeded(1)).counts.tolist()
    with pytest.raises(ParameterError, match=r"^dataset must be one of .*, got 'zip'; did you mean zipf"):
        datasets.named("zip", 4)
    with pytest.raises(ParameterError, match=r"^k must be an integer of at least 2"):
        datasets.named("zipf")
