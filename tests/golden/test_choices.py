"""What mechanisms choose does not depend on the last bit of exp and log, and reading a spec never chooses."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hush
from hush import longitudinal, multidim
from hush.analysis import choice, optimal, projective
from hush.mechanisms.histogram import grid
from hush.mechanisms.modular import moduli
from hush.utility import optimal as utility_optimal
from tests.conftest import APPROXIMATE, UTILITY, example
from tests.golden.choices import label, made, settings
from tests.golden.write_vectors import CHOICES, FILE

STORED = json.loads(CHOICES.read_text(encoding="utf-8"))
FUNCTIONS = ("exp", "expm1", "log", "log1p", "log2", "log10")
CHOOSERS = [
    (choice, "whole"), (choice, "share"), (choice, "first"), (choice, "middle"),
    (optimal, "subset_size"), (optimal, "hash_range"), (optimal, "approximate_hash_range"),
    (optimal, "hadamard_blocks"), (optimal, "threshold"), (optimal, "coverage"), (optimal, "analytic_gaussian_scale"),
    (projective, "best_order"), (moduli, "usual_moduli"), (grid, "calibrated_scale"), (grid, "binary_scale"),
    (utility_optimal, "subset_size"), (utility_optimal, "unary_probability"), (utility_optimal, "hash_range"),
    (utility_optimal, "coverage"),
]  # fmt: skip


def disturb(monkeypatch: pytest.MonkeyPatch, seed: int, size: float) -> None:
    """Let exp and log, of numbers and of arrays, be wrong by up to a share of their size, at random."""
    rng = np.random.default_rng(seed)
    hush.MSS(k=30, epsilon=2.0)  # loads the kernels, which must not see what follows

    def wrong(right: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(right)
        def disturbed(*args: Any, **options: Any) -> Any:
            found = right(*args, **options)
            off = 1 + size * rng.integers(-1, 2, np.shape(found))
            return found * off if isinstance(found, np.ndarray) else type(found)(found * float(off))

        return disturbed

    for module in (math, np):
        for name in FUNCTIONS:
            monkeypatch.setattr(module, name, wrong(getattr(module, name)))


def forget() -> None:
    """Choices that were kept."""
    grid.calibrated_scale.cache_clear()
    moduli._anchored.cache_clear()


def test_what_is_chosen_here() -> None:
    """On this processor, whatever it is."""
    forget()
    assert {label(name, given): made(cls, given) for name, cls, given in settings()} == STORED


@pytest.mark.parametrize(("seed", "size"), [(1, 2.0**-52), (2, 2.0**-52), (3, 1e-13)])
def test_the_last_bit_of_exp_and_log_chooses_nothing(seed: int, size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = list(settings())
    disturb(monkeypatch, seed, size)
    forget()
    assert len({math.exp(1.0) for _ in range(60)}) == len({float(np.log(3.0)) for _ in range(60)}) == 3
    for name, cls, given in cases:
        assert made(cls, given) == STORED[label(name, given)], label(name, given)


def travelling() -> dict[str, tuple[Callable[[str], Any], str]]:
    """Specs of all kinds, with what reads them; labels for a failure."""
    specs: dict[str, tuple[Callable[[str], Any], str]] = {}
    for name in json.loads(FILE.read_text(encoding="utf-8")):
        if name in hush.registry():
            specs[name] = hush.Spec.from_json, hush.Spec(example(name, 9, 1.0)).to_json()
    base = hush.Domain(size=9, sensitive=range(5))
    specs["transformed"] = (
        hush.Spec.from_json,
        hush.Spec(hush.utility.transform(hush.OLH(k=5, epsilon=1.0), base)).to_json(),
    )
    protocol = longitudinal.OLOLOHA(k=9, epsilon_permanent=3.0, epsilon_report=1.5)
    specs["OLOLOHA"] = lambda text: hush.from_dict(json.loads(text)), json.dumps(protocol.to_dict())
    for name in sorted(set(hush.registry()) - UTILITY - APPROXIMATE - {"UE", "LH", "LHO"}):
        if ":" not in name:
            tuples = multidim.SMP(sizes=(4, 9), epsilon=2.0, mechanism=name)
            specs[f"SMP of {name}"] = hush.Spec.from_json, hush.Spec(tuples).to_json()
    return specs


def test_reading_a_spec_never_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    written = travelling()
    due = {name: read(text) for name, (read, text) in written.items()}

    def choosing(*args: Any, **options: Any) -> None:
        raise AssertionError("a choice was made")

    disturb(monkeypatch, 4, 2.0**-52)
    forget()
    for module, name in CHOOSERS:
        monkeypatch.setattr(module, name, choosing)
    with pytest.raises(AssertionError, match="a choice was made"):
        hush.AUE(k=9, epsilon=1.0)
    for name, (read, text) in written.items():
        again = read(text)
        assert again == due[name], name
        assert json.loads(again.to_json() if hasattr(again, "to_json") else json.dumps(again.to_dict())) == json.loads(
            text
        )


def test_chosen_numbers_are_short() -> None:
    """Six digits, of a share or of what it lacks of one; twelve where exact arithmetic decides."""
    for setting, numbers in STORED.items():
        for name, x in numbers.items():
            if isinstance(x, float):
                digits = 12 if name == "scale" else 6
                forms = (f"{x:.{digits}g}", repr(round(1 - float(f"{1 - x:.{digits}g}"), 15)))
                assert x in {float(form) for form in forms}, (setting, name, x)
