"""What one mechanism gives and costs at one k and epsilon, for one person: all that a table of any n needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hush.files.specs import construct
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import SHARED, takes
from hush.planning.objectives import Setting, objective
from hush.reports.mechanism_rows import shown_with

DELTA = 1e-5
"""The slack of approximate mechanisms."""
FAKES = 0.05
"""The share of reports that fakes send, all for one value."""

_ONE = Setting(n=1, fakes=FAKES, targets=1)


@dataclass(frozen=True)
class UnitNumbers:
    """Numbers of a mechanism that do not depend on how many people report.

    Args:
        variance: Mean squared error of an estimated frequency, were there one person: with n, divide by n.
        asr: Chance that the best attacker names the value behind a report, all being equally likely.
        gain: What fakes add to the frequency of the value that they promote.
        bits: Information bits of a report.
        size: Bytes of a report.
        parameters: What the mechanism chose for itself, or was given to be shown with.
    """

    variance: float
    asr: float
    gain: float
    bits: int
    size: int
    parameters: Mapping[str, Any]


def explored() -> Mapping[str, type[FrequencyOracle]]:
    """The mechanisms that are compared: registered ones that take a budget, and protect every value alike."""
    return _among(tuple(registry().items()))


@lru_cache(maxsize=8)
def _among(known: tuple[tuple[str, type[FrequencyOracle]], ...]) -> Mapping[str, type[FrequencyOracle]]:
    return {name: cls for name, cls in known if "epsilon" in takes(cls) and "sensitive" not in takes(cls)}


def made(name: str, k: int, epsilon: float, parameters: Mapping[str, Any] | None = None) -> FrequencyOracle:
    """A mechanism by name; refused, in words, where it is not defined for this k or epsilon.

    Args:
        name: Of `explored`.
        k: Number of values.
        epsilon: Privacy loss of a report.
        parameters: What it chose before, so that it need not search again.
    """
    cls = explored()[name]
    shared: dict[str, Any] = {"k": k, "epsilon": epsilon, "delta": DELTA}
    wanted = {key: value for key, value in shared.items() if key in takes(cls)}
    if parameters is not None:
        return cls(**wanted, **parameters)
    return construct(cls, wanted | shown_with(cls))


@lru_cache(maxsize=20_000)
def computed(name: str, k: int, epsilon: float) -> UnitNumbers:
    """The numbers of a mechanism, from its own closed forms."""
    m = made(name, k, epsilon)
    variance, asr, gain = (objective(each).measure(m, _ONE) for each in ("mse", "asr", "gain"))
    own = {key: value for key, value in m.parameters.items() if key not in SHARED}
    return UnitNumbers(variance, asr, gain, m.bits, m.report_dtype.itemsize, own)
