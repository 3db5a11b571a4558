"""Which closed forms a mechanism has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import hush
from hush.exact.enumeration import MOST_WEIGHTS, enumerated, listed, listings
from hush.mechanisms.forms import Forms, PureForms
from hush.types import Reports, Values


@dataclass(frozen=True, kw_only=True)
class Renamed(hush.GRR):
    """The same law."""


@dataclass(frozen=True, kw_only=True)
class Changed(hush.GRR):
    """Another law, perhaps."""

    def sample(self, values: Values, rng: np.random.Generator) -> Reports:
        return super().sample(values[::-1], rng)


@pytest.mark.parametrize("name", sorted(name for name in hush.registry() if ":" not in name))
def test_a_family_brings_its_forms(name: str) -> None:
    cls = hush.registry()[name]
    settings = {"k": 4, "epsilon": 1.0, "delta": 1e-3, "p": 0.5, "g": 2, "sensitive": (0, 1)}
    needed = {f for f in ("k", "epsilon", "delta", "p", "g", "sensitive") if f in cls.__dataclass_fields__}
    m = cls(**{f: settings[f] for f in needed if cls.__dataclass_fields__[f].init})
    assert m.forms.m is m
    if not name.startswith("u"):
        assert type(m.forms) not in (Forms, PureForms)


def test_forms_hold_as_long_as_the_law_does() -> None:
    own = type(hush.GRR(k=3, epsilon=1.0).forms)
    assert type(Renamed(k=3, epsilon=1.0).forms) is own
    assert type(Changed(k=3, epsilon=1.0).forms) is PureForms


def test_the_enumerator_lists_the_law() -> None:
    found = listed(hush.GRR(k=3, epsilon=1.0))
    assert found is not None
    m = hush.GRR(k=3, epsilon=1.0)
    exact = np.array([[w / m.denominator for w in row] for row in found.weights])
    assert exact == pytest.approx(found.chances)
    assert found.chances.sum(axis=0) == pytest.approx(np.ones(3))
    assert found.decoded.T @ found.chances == pytest.approx(np.eye(3))  # an unbiased estimate of one report
    assert enumerated(m)[0] is found


def test_what_is_not_small_is_not_enumerated() -> None:
    large = hush.GRR(k=MOST_WEIGHTS, epsilon=1.0)
    assert listed(large) is None
    assert listings(large) is None
    with pytest.raises(hush.HushError, match="weights to enumerate"):
        enumerated(large)
    assert listed(hush.OLH(k=4, epsilon=1.0)) is None  # its hash function is public
    assert listings(hush.OLH(k=4, epsilon=1.0)) is not None
