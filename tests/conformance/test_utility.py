"""Utility-optimized mechanisms pass the conformance suite, in the sense of their own guarantee."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest

import hush
from hush import utility
from hush.guarantee import LDP, ULDP, Guarantee
from hush.mechanisms import registry
from hush.testing import ConformanceError, check_loss, check_mechanism
from hush.types import Floats, Ints, Reports, Values


@pytest.fixture(autouse=True, scope="module")
def _known() -> Iterator[None]:
    """Specs may name these mechanisms here; other tests see the registry as it was."""
    before = dict(registry._known)
    for cls in utility.MECHANISMS:
        hush.register(cls)
    yield
    registry._known.clear()
    registry._known.update(before)


SOME = hush.Domain(size=5, sensitive=(0, 2, 3))


@pytest.mark.parametrize("z", ["exact", "constant", "paper", "none"])
@pytest.mark.parametrize("cls", [utility.uRR, utility.uRAP, utility.uHR, utility.uSS, utility.uUE])
def test_named(cls: type[utility.UtilityOracle], z: str) -> None:
    for reveal in ("pair", "alone"):
        check_mechanism(cls(k=5, epsilon=1.0, sensitive=(1, 3, 4), z=z, reveal=reveal))
    check_mechanism(cls(k=4, epsilon=2.0, sensitive=(2,), z=z))
    check_mechanism(cls(k=3, epsilon=1.0, z=z))


@pytest.mark.parametrize(
    "mechanism",
    [
        utility.uLH(k=5, epsilon=1.0, sensitive=(1, 3, 4), reveal="pair"),
        utility.uLH(k=5, epsilon=1.0, sensitive=(0, 1, 3, 4), g=2, z="paper", reveal="pair"),
        utility.uLH(k=5, epsilon=1.0, sensitive=(0, 1, 3), g=2, z="balanced", reveal="pair"),
        utility.uLH(k=5, epsilon=1.0, sensitive=(0, 1, 3), g=2, z="balanced", reveal="alone"),
        utility.uLH(k=5, epsilon=1.0, sensitive=(1, 3, 4), hash="family"),
        utility.uLH(k=5, epsilon=1.0, sensitive=(1, 3, 4), reveal="alone"),
        utility.uWheel(k=4, epsilon=1.0, sensitive=(1, 3), reveal="alone"),
        utility.uWheel(k=4, epsilon=1.0, sensitive=(1, 3), reveal="pair"),
        utility.uWheel(k=5, epsilon=1.0, sensitive=(1, 3, 4), z="paper", reveal="pair"),
        utility.BalancedLH(k=5, epsilon=1.0, g=2),
    ],
    ids=str,
)
def test_hashed(mechanism: hush.FrequencyOracle) -> None:
    check_mechanism(mechanism)


@pytest.mark.parametrize("epsilon", [0.01, 8.0, 20.0])
@pytest.mark.parametrize("cls", [utility.uRR, utility.uRAP, utility.uHR, utility.uSS, utility.uUE])
def test_small_and_large_epsilon(cls: type[utility.UtilityOracle], epsilon: float) -> None:
    check_mechanism(cls(k=5, epsilon=epsilon, sensitive=(1, 3, 4)))


@pytest.mark.parametrize(
    "base",
    [
        hush.GRR(k=3, epsilon=1.0),
        hush.HR(k=3, epsilon=1.0, blocks=2),
        hush.THE(k=3, epsilon=1.0),
        hush.AUE(k=3, epsilon=1.0),
        hush.ASS(k=3, epsilon=1.0),
    ],
    ids=str,
)
def test_transformed(base: hush.FrequencyOracle) -> None:
    for f in (None, "general"):
        check_mechanism(utility.transform(base, SOME, f=f))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Three(hush.FrequencyOracle):
    """A mechanism from outside with three levels of probability: the value, its neighbour, the other."""

    epsilon: float = 1.0
    tight: ClassVar[bool] = False

    @property
    def report_dtype(self) -> np.dtype[np.uint8]:
        return np.dtype("u1")

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        return ((values + rng.choice(3, values.size, p=[0.5, 0.3, 0.2])) % 3).astype(np.uint8)

    def tally(self, reports: Reports) -> Ints:
        return np.bincount(reports, minlength=3)[:3]

    def decode(self, tally: Ints, n: int) -> Floats:
        law = np.array([[self.weight(y, x) for x in range(3)] for y in range(3)]) / 10
        return np.linalg.solve(law, tally / n)

    def outputs(self, public: object = None) -> Reports:
        return np.arange(3, dtype=np.uint8)

    def weight(self, report: object, value: int) -> int:
        return (5, 3, 2)[(int(report) - value) % 3]  # type: ignore[call-overload]


@pytest.mark.parametrize("z", ["exact", "constant", "none"])
def test_a_mechanism_from_outside_is_transformed_too(z: str) -> None:
    hush.register(Three)
    for reveal in ("pair", "alone"):
        u = utility.transform(Three(k=3), SOME, z=z, reveal=reveal)
        check_mechanism(u)
        if z == "exact":
            assert u.z_star == pytest.approx(1 - 3 * 0.5 / np.e)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Leaky(utility.uRR):
    """A value that is not sensitive is told apart from another by an output that both can give."""

    def weight(self, report: object, value: int) -> int:
        exact = super().weight(report, value)
        return exact // 2 if value == 4 and int(report["kind"]) == 0 else exact  # type: ignore[index]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Overclaimed(utility.uLH):
    """Local hashing with the printed z that still calls itself epsilon-ULDP."""

    @property
    def guarantee(self) -> Guarantee:
        return ULDP(self.epsilon, tuple(self.sensitive or ()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotPlain(utility.uSS):
    """A utility-optimized mechanism that promises plain LDP, which it does not keep."""

    @property
    def guarantee(self) -> Guarantee:
        return LDP(self.epsilon)


def test_what_breaks_the_promise_is_found() -> None:
    with pytest.raises(ConformanceError, match="exceeds the guarantee 1-ULDP"):
        check_mechanism(Overclaimed(k=12, epsilon=1.0, sensitive=range(10), g=4, z="paper"))
    with pytest.raises(ConformanceError, match="enumeration finds a loss"):
        check_loss(Leaky(k=5, epsilon=1.0, sensitive=(0, 1, 2)), 0)
    with pytest.raises(ConformanceError, match="enumeration finds a loss of inf"):
        check_loss(NotPlain(k=5, epsilon=1.0, sensitive=(0, 1, 2)), 0)
