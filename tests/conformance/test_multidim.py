"""Every collection of tuples passes its conformance suite, and the suite rejects broken ones for what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import hush
from hush.guarantee import LDP, Guarantee
from hush.multidim import RSFD, RSRFD, SMP, SPL, Multidim
from hush.multidim.chances import uniform
from hush.testing import ConformanceError, check_mechanism
from tests.conftest import NAMES as EVERY

SIZES = [(2, 2), (2, 3), (2, 5), (3, 3)]
PRIORS = {2: (0.9, 0.1), 3: (0.6, 0.3, 0.1), 5: (0.5, 0.2, 0.2, 0.1, 0.0)}
APPROXIMATE = {"AGRR", "ASUE", "ABLH", "AOLH"}
MORE: dict[str, dict[str, Any]] = {"UE": {"p": 0.7}, "LH": {"g": 3}}
NAMES = sorted(name for name in EVERY if name not in {"LHO", "GM", "AGM"})


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("variant", RSFD.variants)
def test_fake_data_conforms(sizes: tuple[int, ...], variant: str) -> None:
    check_mechanism(RSFD(sizes=sizes, epsilon=1.0, variant=variant))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("variant", RSRFD.variants)
def test_realistic_fake_data_conforms(sizes: tuple[int, ...], variant: str) -> None:
    check_mechanism(RSRFD(sizes=sizes, epsilon=1.0, variant=variant, priors=[PRIORS[k] for k in sizes]))


@pytest.mark.parametrize("epsilon", [0.01, 4.0, 12.0, 20.0])
def test_fake_data_conforms_at_small_and_large_epsilon(epsilon: float) -> None:
    for variant in ("GRR", ("SUE-z", "OUE-r")):
        check_mechanism(RSFD(sizes=(2, 3), epsilon=epsilon, variant=variant))
    check_mechanism(RSRFD(sizes=(2, 3), epsilon=epsilon, variant=("SUE-r", "GRR"), priors=[PRIORS[2], PRIORS[3]]))


def test_three_attributes_conform() -> None:
    check_mechanism(RSFD(sizes=(2, 3, 2), epsilon=1.0, variant=("GRR", "SUE-r", "OUE-z")))
    check_mechanism(SPL(sizes=(2, 3, 2), epsilon=2.0, mechanism=("GRR", "OUE", "OLH")))
    check_mechanism(SMP(sizes=(2, 3, 2), epsilon=1.0, mechanism=("GRR", "SS", "HR")))


@pytest.mark.parametrize("cls", [SPL, SMP], ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_any_registered_mechanism_conforms(cls: type[SPL] | type[SMP], name: str) -> None:
    options = MORE.get(name, {}) | ({"delta": 1e-3} if name in APPROXIMATE else {})
    check_mechanism(cls(sizes=(2, 3), epsilon=1.0, mechanism=name, options=options))


@pytest.mark.parametrize("cls", [SPL, SMP], ids=lambda c: c.__name__)
def test_a_single_attribute_conforms(cls: type[SPL] | type[SMP]) -> None:
    check_mechanism(cls(sizes=(4,), epsilon=1.0, mechanism="GRR"))


# Broken ones.


class ClaimsEpsilon(RSFD):
    """Believes in the amplification."""

    @property
    def guarantee(self) -> Guarantee:
        return hush.LDP(self.epsilon)


class FavouriteAttribute(RSFD):
    """Draws the first attribute more often than the others."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        half = len(tuples) // 2
        out = super().sample(tuples, rng)
        real = self.components[0].sample(tuples[:half, 0].copy(), rng)
        again = rng.random(half) < 0.1
        out["a0"][:half][again] = real[again]
        return out


class ShyFakes(RSFD):
    """Fakes never show the last value, which so tells that it is real."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty(len(tuples), self.report_dtype)
        drawn = uniform(len(tuples), self.d, rng)
        for j, (field, k) in enumerate(zip(self._fields, self.sizes, strict=True)):
            real = self.components[j].sample(tuples[:, j].copy(), rng)
            out[field] = np.where(drawn == j, real, rng.integers(0, k - 1, len(tuples)))
        return out


class EchoedFakes(RSFD):
    """One random number makes the fakes of all attributes."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty(len(tuples), self.report_dtype)
        drawn = uniform(len(tuples), self.d, rng)
        share = rng.random(len(tuples))
        for j, (field, k) in enumerate(zip(self._fields, self.sizes, strict=True)):
            real = self.components[j].sample(tuples[:, j].copy(), rng)
            out[field] = np.where(drawn == j, real, (share * k).astype(np.int64))
        return out


class RealisticOnPaper(RSRFD):
    """Takes priors, and draws uniform fakes all the same."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return RSFD(sizes=self.sizes, epsilon=self.epsilon, variant=self.variant).sample(tuples, rng)


class ForgottenFakes(RSFD):
    """Does not take away what fakes add."""

    def decode(self, tally: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
        return tuple(self.d * c.decode(part, n) for c, part in zip(self.components, self._tallies(tally), strict=True))


class PaperVariance(RSFD):
    """Variance as if the fakes were not there."""

    def variances(self, frequencies: Sequence[Any], n: int) -> tuple[np.ndarray, ...]:
        return tuple(
            self.d**2 * c.variances(np.asarray(f), n) for c, f in zip(self.components, frequencies, strict=True)
        )


class HalfTheLoss(RSFD):
    """States the loss of one changed attribute for all."""

    def exact_epsilon(self, changed: int | None = None) -> float:
        return super().exact_epsilon(1)


class WholeBudgets(SPL):
    """Gives every attribute the whole budget, and promises it for all of them."""

    @cached_property
    def budget(self) -> float:
        return self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        return LDP(self.epsilon)


class SharedCoin(SPL):
    """Tosses one coin for all attributes: either all tell the truth or, mostly, none."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty(len(tuples), self.report_dtype)
        coin = rng.random(len(tuples))
        for j, (field, component) in enumerate(zip(self._fields, self.components, strict=True)):
            lie = (tuples[:, j] + rng.integers(1, component.k, len(tuples))) % component.k
            out[field] = np.where(coin < component.p_star, tuples[:, j], lie)  # type: ignore[attr-defined]
        return out


class NoisyPadding(SMP):
    """Leaves other people's bytes after a short record."""

    def sample(self, tuples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = super().sample(tuples, rng)
        out["record"][out["attribute"] == 0, 1:] = 7
        return out


@dataclass(frozen=True, kw_only=True)
class SmoothSampling(SMP):
    """Forgets that people are drawn: variance of noise alone."""

    def _spread(self, attribute: int, shares: np.ndarray, n: int, inverse: float) -> np.ndarray:
        return self.components[attribute].variances(shares, 1) * inverse


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (ClaimsEpsilon(sizes=(2, 3), epsilon=1.0, variant="GRR"), "exceeds the guarantee 1-LDP"),
        (FavouriteAttribute(sizes=(2, 3), epsilon=1.0, variant="GRR"), "likelihood ratio|does not follow its law"),
        (ShyFakes(sizes=(2, 3), epsilon=1.0, variant="GRR"), "likelihood ratio|does not follow its law"),
        (EchoedFakes(sizes=(2, 3, 2), epsilon=1.0, variant="GRR"), "likelihood ratio|does not follow its law"),
        (
            RealisticOnPaper(sizes=(2, 3), epsilon=1.0, variant="GRR", priors=[(0.9, 0.1), (0.6, 0.3, 0.1)]),
            "likelihood ratio|does not follow its law",
        ),
        (ForgottenFakes(sizes=(2, 3), epsilon=1.0, variant="GRR"), "is biased"),
        (PaperVariance(sizes=(2, 3), epsilon=1.0, variant="GRR"), "variances of attribute 0 says"),
        (HalfTheLoss(sizes=(2, 3), epsilon=1.0, variant="GRR"), "enumeration finds a loss of"),
        (WholeBudgets(sizes=(2, 3), epsilon=1.0, mechanism="GRR"), "exceeds the guarantee"),
        (SharedCoin(sizes=(2, 3), epsilon=1.0, mechanism="GRR"), "likelihood ratio|does not follow its law"),
        (NoisyPadding(sizes=(2, 8), epsilon=1.0, mechanism=("GRR", "SS")), "zeros after their record"),
        (SmoothSampling(sizes=(2, 3), epsilon=1.0, mechanism="GRR"), "variances of attribute 0 says"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Multidim) else "",
)
def test_the_suite_rejects_each_bug_for_what_it_is(broken: Multidim, complaint: str) -> None:
    with pytest.raises(ConformanceError, match=complaint):
        check_mechanism(broken)
