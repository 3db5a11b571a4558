"""Likelihoods of utility-optimized reports, and how often the best guess of a value is right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hush.exact.thresholds import SCALE, log_ratio
from hush.mechanisms.base import FrequencyOracle
from hush.types import Floats, Reports, Values
from hush.utility._moments import protected_outputs
from hush.utility._revelation import Leveled, Revelation

if TYPE_CHECKING:
    from hush.utility.oracle import UtilityOracle


def _log(above: int, below: int) -> float:
    return log_ratio(above, below) if above else -math.inf


def _logs(revelation: Revelation, reports: Reports, revealed: npt.NDArray[np.bool_]) -> Floats:
    """Logarithm of the chance that a value is disguised and then revealed, or not, with these base reports."""
    distinct, at = np.unique(revelation.thresholds(reports), return_inverse=True)
    kept = np.array([_log(revelation.hide * (SCALE - int(t)), SCALE**2) for t in distinct])
    shown = np.array([_log(revelation.hide * int(t), SCALE**2) for t in distinct])
    return np.asarray(np.where(revealed, shown[at], kept[at]), np.float64)


def log_prob(u: UtilityOracle, reports: Reports, values: Values) -> Floats:
    """Exact up to the rounding of doubles."""
    kind, value, inner = reports["kind"], reports["value"], u._inner[values]
    out = np.full(reports.size, -np.inf)
    own = np.nonzero((kind == 0) & (inner >= 0))[0]
    if own.size:
        out[own] = u.base._log_prob(u._based(reports, own), inner[own])
    match = (inner < 0) & ((kind == 0) | (value == values))
    lone = np.nonzero(match & (kind == 1))[0]
    out[lone] = [_log(u.weight(reports[i], int(values[i])), u.denominator) for i in lone] if u._open else u._log_alone
    there = np.nonzero(match & (kind != 1))[0]
    if there.size:
        based = u._based(reports, there)
        with np.errstate(divide="ignore"):
            out[there] = u._revelation.log_disguise(based) + _logs(u._revelation, based, kind[there] != 0)
    return out


def scores(u: UtilityOracle, reports: Reports) -> Floats:
    """Of every value; a revealed one is certain."""
    out = np.full((reports.size, u.k), -np.inf)
    kind = reports["kind"]
    shown = np.nonzero(kind != 0)[0]
    out[shown, reports["value"][shown]] = 0.0
    kept = np.nonzero(kind == 0)[0]
    if kept.size:
        based = u._based(reports, kept)
        inner = u.base.scores(based)
        out[np.ix_(kept, u._sensitive)] = inner
        other = u._revelation.log_mixture(inner) + _logs(u._revelation, based, np.zeros(kept.size, np.bool_))
        out[np.ix_(kept, u._others)] = other[:, None]
    return out


def success(u: UtilityOracle, prior: Floats) -> float:
    """The expected success of the best guess, with values that likely beforehand."""
    held, others = prior[u._sensitive], prior[u._others]
    top = float(others.max()) if others.size else 0.0
    revealed = float(others.sum()) * u.z_star
    even = held.size == 1 or bool(np.ptp(held) <= 1e-15)
    if top == 0.0 and held.sum() > 0:
        return revealed + u.base.asr(held) * float(held.sum())
    if even and top <= held[0] * (1 + 1e-12):  # no disguise is likelier than the likeliest sensitive value
        return revealed + u.base.asr() * float(held.sum())
    revelation = u._revelation
    if isinstance(revelation, Leveled) and revelation.shape.alike:
        return revealed + _by_size(revelation, np.sort(held)[::-1], top)
    if isinstance(revelation, Leveled) and revelation.shape.numbered:
        best = u.base.forms.best_chances(held)
        return revealed + float(np.maximum(best, top * protected_outputs(revelation)).sum())
    return FrequencyOracle.asr(u, prior)


def _by_size(revelation: Leveled, falling: Floats, top: float) -> float:
    """Sets of one size are alike: only the likeliest value that a report supports matters, and the likeliest of all."""
    shape = revelation.shape
    s = shape.s
    sizes = np.array([c for c in shape.possible if shape.law[c] > 0], np.int64)
    mass = np.array([shape.mass(int(c)) / shape.low for c in sizes])
    low = shape.law[sizes] * s / mass
    high = low * (shape.high / shape.low)
    other = top * revelation.hide / SCALE * shape.law[sizes] * (1 - revelation.chances[sizes])
    total = float(np.maximum(falling[0] * low, other)[sizes == 0].sum())
    share = sizes / s  # of the sets of each size, those whose first member is value j
    for j in range(s):
        total += float((share * np.maximum(np.maximum(falling[j] * high, falling[0] * low), other)).sum())
        share = share * np.maximum(s - j - sizes, 0) / max(s - j - 1, 1)
    return total
