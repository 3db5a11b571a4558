"""The protocols of the study, and its grids (sections 5.1 to 5.7)."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.multidim import RSFD
from hush_studies.study import Settings

PURE = ("GRR", "SS", "SUE", "OUE", "BLH", "OLH", "SHE", "THE")
APPROXIMATE = ("AGRR", "ASUE", "ABLH", "AOLH", "GM", "AGM")
GAUSSIAN = ("GM", "AGM")
COUNTERPART = {"AGRR": "GRR", "ASUE": "SUE", "ABLH": "BLH", "AOLH": "OLH"}
"""What each approximate protocol is at delta = 0; the Gaussian ones are nothing there."""

REPEATED = (*PURE, *GAUSSIAN)
"""Those whose reports are repeated."""

TUPLES = RSFD.variants
NAMES = (*PURE, *APPROXIMATE)

BUDGETS = (0.25, 0.5, 0.75, 1.0, 2.0, 4.0, 6.0, 10.0)
SMALL = (0.25, 0.5, 0.75, 1.0)
SIZES = (25, 50, 100, 150, 200)
DELTAS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4)
DELTA = 1e-5
BUCKETS = (2, 4, 6, 8, 10)
ROUNDS = (5, 10, 25, 50, 75, 100, 250, 500)
ATTRIBUTES = (2, 10)
OUTER, INNER = (2, 100), (25, 50)
"""Domain sizes of sequences and tuples, in the paper's main part and in its appendix."""
OUTER_DELTAS, INNER_DELTAS = (25, 200), (100, 150)
"""The same where delta varies."""

Each = TypeVar("Each")

_QUICK: dict[tuple[Any, ...], tuple[Any, ...]] = {
    BUDGETS: (0.25, 1.0, 2.0, 6.0, 10.0),
    SMALL: (0.25, 1.0),
    SIZES: (25, 100),
    DELTAS: (0.0, 1e-5, 1e-4),
    BUCKETS: (2, 10),
    ROUNDS: (5, 50, 500),
    INNER: (50,),
    OUTER_DELTAS: (25, 100),
    INNER_DELTAS: (50,),
}


def grid(whole: tuple[Each, ...], settings: Settings) -> tuple[Each, ...]:
    """A grid, or what is left of it in the quick version."""
    return _QUICK.get(whole, whole) if settings.quick else whole


@cache
def mechanism(name: str, k: int, epsilon: float, delta: float = 0.0) -> FrequencyOracle:
    """A protocol; an approximate one with delta = 0 is its pure counterpart.

    >>> mechanism("AGRR", 25, 1.0)
    GRR(k=25, epsilon=1.0)
    """
    if name not in APPROXIMATE:
        return registry()[name](k=k, epsilon=epsilon)
    if not delta:
        return mechanism(COUNTERPART[name], k, epsilon)
    return registry()[name](k=k, epsilon=epsilon, delta=delta)


def exists(name: str, epsilon: float, delta: float) -> bool:
    """Whether there is such a protocol: the Gaussian ones need a delta, and GM a budget of at most 1."""
    return name not in GAUSSIAN or (delta > 0 and (name == "AGM" or epsilon <= 1))
