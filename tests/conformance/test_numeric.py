"""Every mechanism for means passes its conformance suite, and the suite rejects broken ones for what they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import hush
from hush.mechanisms.numeric import Duchi, Hybrid, Piecewise
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import CoinForms, NumericForms
from hush.testing import ConformanceError, check_mechanism, checks_of
from hush.types import Floats, Ints, Reports

NAMES = sorted(hush.registry(kind="numeric"))
GIVEN: dict[str, Any] = {"low": -2.0, "high": 4.0, "epsilon": 1.0, "steps": 6}


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [0.01, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("name", NAMES)
def test_means_conform(name: str, epsilon: float, steps: int) -> None:
    check_mechanism(hush.registry("numeric")[name](**{**GIVEN, "epsilon": epsilon, "steps": steps}))


@pytest.mark.parametrize("name", NAMES)
def test_means_conform_at_other_ranges(name: str) -> None:
    for low, high, steps in ((0.0, 40.0, 40), (-1e-9, 2e-9, 3), (1e6, 1e6 + 1, 4)):
        check_mechanism(hush.registry("numeric")[name](low=low, high=high, epsilon=1.0, steps=steps))


def test_a_bit_conforms_at_large_budgets_and_on_fine_grids() -> None:
    check_mechanism(Duchi(**{**GIVEN, "epsilon": 12.0}))
    check_mechanism(Duchi(**{**GIVEN, "steps": 1024}))
    check_mechanism(Hybrid(**{**GIVEN, "epsilon": 5.0, "steps": 3}))


def test_what_cannot_be_enumerated_is_told_to_be_smaller() -> None:
    with pytest.raises(ConformanceError, match=r"outputs times ticks to enumerate; check it at fewer steps"):
        check_mechanism(Piecewise(low=0.0, high=1.0, epsilon=1.0))


class Lies:
    """Mechanisms that are wrong in one thing each, by the complaint that names it."""

    class Unsummed(Duchi):
        """weights of tick 0 sum to"""

        def weight(self, report: Any, tick: int) -> int:
            return super().weight(report, tick) + 1

    class Negative(Duchi):
        """weights must be non-negative Python integers"""

        def weight(self, report: Any, tick: int) -> int:
            w = super().weight(report, tick)
            return w - self.denominator if report else w + self.denominator

    class Chances(Piecewise):
        """chances differs from the weights"""

        def chances(self, ticks: Ints) -> Floats:
            return super().chances(ticks)[::-1]

    class Loss(Duchi):
        """enumeration finds a loss of .*, exact_epsilon says"""

        def exact_epsilon(self) -> float:
            return 0.9 * super().exact_epsilon()

    class Ticks(Duchi):
        """ticks does not keep the mean of a number"""

        def ticks(self, values: Any) -> Any:
            floors, parts = super().ticks(values)
            return floors, parts // 2

    class Records(Duchi):
        """sample gives float64, not the report_dtype uint8"""

        def sample(self, floors: Any, parts: Any, rng: np.random.Generator) -> Reports:
            return super().sample(floors, parts, rng).astype(np.float64)

    class Beyond(Duchi):
        """gave a report that is not among the outputs"""

        def sample(self, floors: Any, parts: Any, rng: np.random.Generator) -> Reports:
            return super().sample(floors, parts, rng) + np.uint8(1)

    class OneTick(Piecewise):
        """privatize does not follow its law at tick 2"""

        def sample(self, floors: Any, parts: Any, rng: np.random.Generator) -> Reports:
            told = (floors.astype(np.int64) * self.height).astype(self.report_dtype)
            return np.where((floors == 2) & (parts == 0), told, super().sample(floors, parts, rng))

    class OneTickBeyond(Duchi):
        """tick 4 gave a report that is not among the outputs"""

        def sample(self, floors: Any, parts: Any, rng: np.random.Generator) -> Reports:
            return np.where((floors == 4) & (parts == 0), np.uint8(2), super().sample(floors, parts, rng))

    class Decoded(Duchi):
        """decode differs from moments"""

        def decode(self, reports: Reports) -> Floats:
            return super().decode(reports) + 0.01

    class Squares(Piecewise):
        """moments is not the sum of squares"""

        def moments(self, tally: Ints, n: int) -> tuple[Fraction, Fraction]:
            total, squares = super().moments(tally, n)
            return total, squares + Fraction(1, 10**9)

    class Worst(Duchi):
        """at worst, no number has more"""

        @property
        def _worst(self) -> float:  # type: ignore[override]
            return 1.1 * super()._worst

    class Lattice(Piecewise):
        """not on the lattice"""

        @property
        def lattice(self) -> tuple[float, float]:
            return super().lattice[0], 1.5 * super().lattice[1]

    class Simulated(Duchi):
        """simulate: what reports say is off"""

        def simulate(self, values: Any, *, rng: np.random.Generator | None = None) -> hush.Aggregate:
            return super().simulate(np.minimum(np.asarray(values) + 0.3, self.high), rng=rng)

    class Strict(Duchi):
        """check_tally refuses a real tally"""

        def check_tally(self, tally: Ints, n: int) -> None:
            super().check_tally(tally, n - 1)

    class Clipped(Duchi):
        """privatize accepted"""

        def privatize(self, values: Any, *, rng: np.random.Generator | None = None) -> Any:
            return super().privatize(self.clip(values), rng=rng)

    class Loose(Duchi):
        """claims to be tight, but loses only"""

        @property
        def slope(self) -> int:  # type: ignore[override]
            return Duchi(**{**self.parameters, "epsilon": self.epsilon / 2}).slope

    class Drawn(Duchi):
        """totals that its forms draw do not follow the law"""

        @dataclass(frozen=True, eq=False)
        class Forms(CoinForms):
            def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
                return super().said(np.minimum(ticks + 1, self.m.steps), people, rng)

        companion: ClassVar[type[NumericForms]] = Forms


LIES = [lie for lie in vars(Lies).values() if isinstance(lie, type)]


@pytest.mark.parametrize("lie", LIES)
def test_the_suite_rejects_each_lie_for_what_it_is(lie: type[Numeric]) -> None:
    with pytest.raises(ConformanceError, match=lie.__doc__):
        check_mechanism(lie(**GIVEN))


def test_every_check_that_is_of_numbers_alone_has_a_lie_that_it_catches() -> None:
    """Merging, travelling and chance are checked as those of every kind are, by what has lies of its own."""
    caught = set()
    for lie in LIES:
        for check in checks_of(lie(**GIVEN)):
            try:
                check(lie(**GIVEN))
            except ConformanceError:
                caught.add(check.name)
                break
    shared = {"check_aggregation", "check_travel", "check_randomness"}
    assert caught == {check.name for check in checks_of(Duchi(**GIVEN))} - shared
