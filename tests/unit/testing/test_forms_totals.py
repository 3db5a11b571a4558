"""A companion that lies about totals is caught, whatever it lies about."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import hush
from hush.analysis.adds import Adds
from hush.analysis.totals import Draw, Law
from hush.mechanisms.direct.forms import DirectForms
from hush.mechanisms.forms import Forms
from hush.mechanisms.hadamard.forms import HadamardForms
from hush.mechanisms.numeric import Duchi
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import CoinForms, NumericForms
from hush.mechanisms.unary.forms import UnaryForms
from hush.planning import capri
from hush.testing import ConformanceError, check_forms
from hush.testing.forms_totals import check_numeric_forms
from hush.types import Floats, Ints
from hush.utility import BalancedLH
from hush.utility.single import Single


class MovedAdds(DirectForms):
    def report_adds(self, amounts: Floats) -> Adds:
        return super().report_adds(amounts).scaled(1.0, 1e-4)


class WiderAdds(HadamardForms):
    def report_adds(self, amounts: Floats) -> Adds:
        found = super().report_adds(amounts)
        return replace(found, variance=found.variance * 1.00001)


class MovedLaw(DirectForms):
    def total_law(self, amounts: Floats, counts: Ints) -> Law:
        found = super().total_law(amounts, counts)
        return replace(found, mean=found.mean + 1e-4)


class WiderLaw(UnaryForms):
    def total_law(self, amounts: Floats, counts: Ints) -> Law:
        found = super().total_law(amounts, counts)
        return replace(found, variance=found.variance * 1.00001)


class OtherShape(UnaryForms):
    """The characteristic function of amounts in another order: the same mean and nearly the same variance."""

    def total_law(self, amounts: Floats, counts: Ints) -> Law:
        found = super().total_law(amounts, counts)
        return replace(found, log=super().total_law(amounts[::-1], counts).log)


class CoarserLattice(DirectForms):
    def total_law(self, amounts: Floats, counts: Ints) -> Law:
        found = super().total_law(amounts, counts)
        return replace(found, step=2 * found.step)


class CalmDraws(DirectForms):
    def total_draw(self, amounts: Floats, counts: Ints) -> Draw:
        inner, mean = super().total_draw(amounts, counts), float(amounts @ counts)
        return lambda runs, rng: mean + (inner(runs, rng) - mean) / 2


class AlikeGuesses(HadamardForms):
    def wrong_guesses_alike(self) -> bool:
        return True


LIARS = [
    (hush.GRR, MovedAdds, "report_adds.*characteristic function"),
    (hush.HR, WiderAdds, "report_adds.*variance"),
    (hush.GRR, MovedLaw, "total_law.*mean"),
    (hush.OUE, WiderLaw, "total_law.*variance"),
    (hush.OUE, OtherShape, "total_law.*at most"),
    (hush.GRR, CoarserLattice, "total_law.*at most"),
    (hush.GRR, CalmDraws, "total_draw.*draws up to"),
    (hush.HR, AlikeGuesses, "wrong_guesses_alike.*wrong guesses differ"),
]


@pytest.mark.parametrize(("cls", "lie", "problem"), LIARS, ids=lambda x: x.__name__ if isinstance(x, type) else "")
def test_a_lie_is_caught(cls: Any, lie: type[Forms], problem: str) -> None:
    class Liar(cls):  # type: ignore[misc]
        companion: ClassVar[type[Forms]] = lie

    check_forms(cls(k=4, epsilon=1.0), 7)
    with pytest.raises(ConformanceError, match=problem):
        check_forms(Liar(k=4, epsilon=1.0), 7)


KINDS = {"object", "FrequencyOracle", "PureOracle"}
"""What generic code may ask for, to refuse anything else."""

OTHERS = [BalancedLH(k=5, epsilon=1.0), Single(epsilon=1.0), hush.MSS(k=5, epsilon=1.0, moduli=(5,))]
OTHERS += [
    hush.registry()[name](k=5, epsilon=1.0, sensitive=(0, 2, 3), z=z)
    for name in ("uRR", "uSS", "uUE", "uHR", "uRAP", "uLH")
    for z in ("exact", "constant")
]


@pytest.mark.parametrize("m", OTHERS, ids=lambda m: f"{m.name()}-{getattr(m, 'z', '')}")
def test_forms_that_are_made_of_others_are_true(m: hush.FrequencyOracle) -> None:
    assert type(m.forms) is not Forms
    check_forms(m, 7)


@pytest.mark.parametrize("epsilon", [0.3, 1.2, 3.0])
@pytest.mark.parametrize("name", sorted(hush.registry("numeric")))
def test_forms_of_means_are_true(name: str, epsilon: float) -> None:
    m = hush.registry("numeric")[name](low=-1.0, high=4.0, epsilon=epsilon, steps=4)
    assert type(m.forms) is not NumericForms
    check_numeric_forms(m)


def test_the_capacity_planner_names_no_mechanism() -> None:
    names = {cls.__name__ for cls in (*hush.registry().values(), *hush.registry("numeric").values())}
    names |= {base.__name__ for cls in hush.registry().values() for base in cls.__mro__} - KINDS
    for path in Path(capri.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & names, path.name


class LateCoins(CoinForms):
    def said(self, ticks: Ints, people: Ints, rng: np.random.Generator) -> Floats:
        return super().said(np.maximum(ticks - 1, 0), people, rng)


class WiderCoins(CoinForms):
    def total_law(self, amounts: Floats, counts: Ints) -> Law:
        found = super().total_law(amounts, counts)
        return replace(found, variance=found.variance * 1.00001)


@pytest.mark.parametrize(("lie", "problem"), [(LateCoins, "draws up to"), (WiderCoins, "variance")])
def test_a_lie_about_means_is_caught(lie: type[NumericForms], problem: str) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Liar(Duchi):
        companion: ClassVar[type[NumericForms]] = lie

    m: Numeric = Liar(low=0.0, high=4.0, epsilon=2.0, steps=4)
    with pytest.raises(ConformanceError, match=problem):
        check_numeric_forms(m)
