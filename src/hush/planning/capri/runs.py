"""Numeric mechanisms: the characteristic function of what a report says, made of runs of equally likely numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.waves import Swings, shared, turned
from hush.mechanisms.numeric.pieces import Pieces
from hush.types import Complexes, Floats

_SERIES = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362_880, -1 / 39_916_800, 1 / 6_227_020_800)


def turns(pieces: Pieces, theta: npt.NDArray[Any], centre: Floats) -> Complexes:
    """E exp(i theta (Y - centre)) - 1 for each theta (real or complex, not zero) and input, as [theta, input]."""
    total = np.zeros((theta.size, pieces.chance.shape[1]), np.complex128)
    at = theta[:, None]
    for chance, middle, step, length in zip(pieces.chance, pieces.middle, pieces.step, pieces.length, strict=True):
        moved = turned(at * (middle - centre))
        if (length > 1).any():
            whole, half = np.maximum(length, 1.0), at * step / 2
            narrow = _sinc(half)
            bent = (_sinc(whole * half) - narrow) / (1 + narrow)
            moved += bent + bent * moved
        total += chance * moved
    return total


def _sinc(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """sin(x) / x - 1, precise where x is small."""
    small = np.abs(x) < 0.5
    square = np.where(small, x, 0.0) ** 2
    series = square * np.polynomial.polynomial.polyval(square, _SERIES)
    safe = np.where(small, 1.0, x)
    return np.asarray(np.where(small, series, np.sin(safe) / safe - 1))


def swings(pieces: Pieces, people: Floats) -> Swings:
    """Numbers of a run next to each other, and half a run apart; where every run is one number, runs next to each
    other.
    """
    often, long = pieces.chance * people, np.maximum(pieces.length, 1.0)
    if (long == 1).all():
        apart = np.diff(pieces.first, axis=0)
        weights = shared(pieces.chance[:-1], pieces.chance[1:]) * people / len(apart)
        return Swings(weights.ravel(), apart.ravel())
    half = np.floor(long / 2)
    paired = often * half / long / 4
    return Swings(np.concatenate([paired, paired]).ravel(), np.concatenate([pieces.step, pieces.step * half]).ravel())
