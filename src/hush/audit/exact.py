"""The exact loss of a mechanism that states its law, and an output that shows it."""

from __future__ import annotations

import itertools
import math
import reprlib
from typing import Any

import numpy as np

from hush.audit.result import Witness
from hush.audit.target import log_ratio
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._thresholds import log_ratio as exact_log
from hush.randomness import seeded

_WEIGHTS = 1 << 17  # how many may be asked for one by one
_TRIED = 20_000  # reports that are made to look for a witness where there are too many outputs


def loss(m: FrequencyOracle) -> tuple[float, Witness | None]:
    """The loss of one report, at the mechanism's own delta if it has one, and a witness of a pure one."""
    return m.exact_epsilon(), None if getattr(m, "delta", 0.0) else _witness(m)


def _witness(m: FrequencyOracle) -> Witness | None:
    return _listed(m) if _few(m) else _met(m)


def _few(m: FrequencyOracle) -> bool:
    try:
        return m.k * sum(len(m.outputs(public)) for public in m.publics()) <= _WEIGHTS
    except ValueError:  # too many to list
        return False


def _listed(m: FrequencyOracle) -> Witness:
    """The worst output of all, by exact integers."""
    worst: tuple[float, int, int, Any] = (-1.0, 0, 1, None)
    for report in itertools.chain.from_iterable(m.outputs(public) for public in m.publics()):
        weights = [m.weight(report, value) for value in range(m.k)]
        if not any(weights):  # an output that nobody can send
            continue
        high, low = int(np.argmax(weights)), int(np.argmin(weights))
        ratio = exact_log(weights[high], weights[low])
        if ratio > worst[0]:
            worst = (ratio, high, low, report)
    return _told(*worst)


def _met(m: FrequencyOracle) -> Witness:
    """The worst output among many that were made, for the first two values."""
    reports = m.privatize(np.zeros(_TRIED, np.int64), rng=seeded(0))
    at = int(np.argmax(log_ratio(m, reports, 0, 1)))
    ratio = exact_log(m.weight(reports[at], 0), m.weight(reports[at], 1))
    return _told(ratio, 0, 1, reports[at])


def _told(ratio: float, high: int, low: int, report: Any) -> Witness:
    shown = (
        "never occurs under the second" if math.isinf(ratio) else f"is e^{ratio:.6g} times as likely under the first"
    )
    return Witness(high, low, f"the report {shown}", _plain(report))


def _plain(report: Any) -> str:
    """A report as short text, field by field."""
    one = np.asarray(report)
    if one.dtype.names is None:
        return reprlib.repr(one.tolist())
    return ", ".join(f"{name} {reprlib.repr(one[name].tolist())}" for name in one.dtype.names)
