"""What tests share: tiers and samples, one cache of compiled kernels, one example of every registered mechanism."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "numba"))  # before hush, and for every subprocess

import hush
import hush.longitudinal
import hush.multidim
from hush.mechanisms import registry

pytest_plugins = ("tests.tiers", "tests.sampling")

settings.register_profile(
    "hush", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("hush")

APPROXIMATE = {"AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM"}
UTILITY = {cls.name() for cls in hush.utility.MECHANISMS}
"""Transformations of others, with tests of their own."""
NAMES = sorted(name for name in hush.registry() if ":" not in name and name not in UTILITY)
PURE_NAMES = [name for name in hush.registry() if name not in APPROXIMATE | UTILITY | {"LHO"}]


def example(name: str, k: int, epsilon: float, delta: float = 1e-5, **more: object) -> hush.FrequencyOracle:
    """Make a mechanism by name, with the parameters it needs beyond k and epsilon."""
    needed: dict[str, object] = {"UE": {"p": 0.7}, "LH": {"g": 3}, "LHO": {"g": 4}}.get(name, {})
    more = {**needed, **more}
    if name != "LHO":
        more = {"epsilon": epsilon, **more}
    if name in APPROXIMATE:
        more = {"delta": delta, **more}
    if name in UTILITY:
        more = {"sensitive": range((k + 1) // 2), **more}
    return hush.registry()[name](k=k, **more)


@contextmanager
def forget_registered() -> Iterator[None]:
    """Take out of the registry what is registered inside the block."""
    known, unlisted = dict(registry._known), set(registry._unlisted)
    try:
        yield
    finally:
        registry._known.clear()
        registry._known.update(known)
        registry._unlisted.clear()
        registry._unlisted.update(unlisted)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Forget the mechanisms that a test registers."""
    with forget_registered():
        yield


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether a test may take long: true where all cases run, false in the sample of `make test`.

    A test that repeats a random experiment repeats it less often where this is false. Its stated false-alarm rate
    must hold for both numbers.
    """
    options = request.config.option
    return options.cases == "all" and not getattr(options, "brief", False)  # tests.mutation selects cases by itself


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Every registered mechanism's name in turn."""
    return str(request.param)
