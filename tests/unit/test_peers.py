"""Independent implementations agree where they agree with the mathematics."""

from __future__ import annotations

import math

import numpy as np
import opendp.prelude as dp
import pytest
from multi_freq_ldpy.pure_frequency_oracles.Variance_PURE import VAR_Pure
from pure_ldp.frequency_oracles.apple_cms import CMSServer
from pure_ldp.frequency_oracles.direct_encoding import DEServer
from pure_ldp.frequency_oracles.histogram_encoding import HEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

import hush

pytestmark = pytest.mark.peers

EPSILONS = [0.5, 1.0, 2.0]
K = 12


class SketchServer(CMSServer):
    """That of pure-ldp, which asks for an array of None numbers: numpy once took that for none."""

    @property
    def d(self) -> int:
        return 0

    @d.setter
    def d(self, size: None) -> None:
        pass


def counts() -> np.ndarray:
    return np.arange(K, 0, -1) * 20


def their_estimates(server: object, reports: list[object]) -> np.ndarray:
    for report in reports:
        server.aggregate(report)
    items = list(range(1, K + 1))  # their items start at one
    return np.array(server.estimate_all(items, suppress_warnings=True, normalization=0)) / len(reports)


def values() -> np.ndarray:
    return np.repeat(np.arange(K), counts())


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_ldp_estimates_the_same_from_our_reports(epsilon: float) -> None:
    direct = hush.GRR(k=K, epsilon=epsilon)
    reports = direct.privatize(values(), rng=hush.seeded(1))
    theirs = their_estimates(DEServer(epsilon, K), [int(y) for y in reports])
    assert np.allclose(theirs, direct.estimate(direct.aggregate(reports)).frequencies, atol=1e-9)

    for ours, optimised in ((hush.OUE(k=K, epsilon=epsilon), True), (hush.SUE(k=K, epsilon=epsilon), False)):
        reports = ours.privatize(values(), rng=hush.seeded(2))
        server = UEServer(epsilon, K, use_oue=optimised)
        theirs = their_estimates(server, list(ours.support_matrix(reports).astype(int)))
        assert np.allclose(theirs, ours.estimate(ours.aggregate(reports)).frequencies, atol=1e-9)

    noisy = hush.SHE(k=K, epsilon=epsilon)
    reports = noisy.privatize(values(), rng=hush.seeded(3))
    server = HEServer(epsilon, K, use_the=False)
    theirs = their_estimates(server, list(reports["steps"] / noisy.grid.unit))
    assert np.allclose(theirs, noisy.estimate(noisy.aggregate(reports)).frequencies, atol=1e-6)


@pytest.mark.parametrize("name", ["CMS", "HCMS"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sketches_of_pure_ldp_take_two_values_to_collide_once_in_width(name: str, epsilon: float) -> None:
    """Under its random functions they do on average, and its estimate has a bias; under the family that is known."""
    m = hush.registry()[name](k=K, epsilon=epsilon, width=8)
    reports = m.privatize(values(), rng=hush.seeded(4))
    members = np.unique(reports["member"])
    homes = m.buckets_of(members.astype(np.int64), np.arange(K))
    server = SketchServer(epsilon, members.size, m.width, is_hadamard=name == "HCMS")
    server.hash_funcs = [lambda item, row=row: row[int(item) - 1] for row in homes.tolist()]
    functions = np.searchsorted(members, reports["member"])
    if name == "CMS":
        bits = 2 * np.unpackbits(reports["bits"], axis=1, count=8, bitorder="little").astype(int) - 1
        seen = list(zip(bits, functions, strict=True))
    else:
        seen = list(zip(1 - 2 * reports["bit"].astype(int), functions, reports["coefficient"], strict=True))
    theirs = their_estimates(server, seen)
    held = theirs * (1 - 1 / m.width) + 1 / m.width  # without what they take off for collisions
    ours = (held - m.collision) / (1 - m.collision)
    assert np.allclose(ours, m.estimate(m.aggregate(reports)).frequencies, atol=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_ldp_has_the_same_probabilities(epsilon: float) -> None:
    unary = UEClient(epsilon, K, use_oue=True)
    ours = hush.OUE(k=K, epsilon=epsilon)
    assert (unary.p, unary.q) == pytest.approx((ours.p_star, ours.q_star))
    hashing = LHClient(epsilon, K, g=5)
    mine = hush.LH(k=K, epsilon=epsilon, g=5)
    assert hashing.p == pytest.approx(mine.p_star)
    assert hashing.q == pytest.approx((1 - mine.p_star) / 4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_multi_freq_ldpy_has_the_same_variances(epsilon: float) -> None:
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    pairs = [
        (e / (e + K - 1), 1 / (e + K - 1), hush.GRR(k=K, epsilon=epsilon)),
        (half / (half + 1), 1 / (half + 1), hush.SUE(k=K, epsilon=epsilon)),
        (0.5, 1 / (e + 1), hush.OUE(k=K, epsilon=epsilon)),
        (e / (e + 1), 0.5, hush.BLH(k=K, epsilon=epsilon)),
    ]
    for p, q, ours in pairs:
        for frequency in (0.0, 0.3):
            assert ours.variance(1000, frequency) == pytest.approx(VAR_Pure(p, q, 1000, frequency), rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_opendp_measures_the_same_loss(epsilon: float) -> None:
    dp.enable_features("contrib")
    ours = hush.GRR(k=K, epsilon=epsilon)
    theirs = dp.m.make_randomized_response(list(range(K)), prob=ours.p_star)
    assert theirs.map(1) == pytest.approx(ours.exact_epsilon(), abs=1e-9)
    assert theirs.map(1) >= math.nextafter(epsilon, 0) - 1e-9
