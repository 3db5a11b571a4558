"""The estimated total under Hadamard response: one fast transform in place of a table of all outputs and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis.capacity import Complexes, Floats, Ints, Log
from hush.mechanisms.hadamard import HR

Means = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


def total_law(m: HR, amounts: Floats, counts: Ints) -> tuple[Floats, Log, float]:
    """What each output adds, before it is divided by the gap; the logarithm of the sum's characteristic function; and
    its variance.

    Args:
        m: The mechanism.
        amounts: Of each value.
        counts: How many people hold it.
    """
    says, means = _means(m, amounts)
    centre = means(says)
    variance = float(counts @ (means(says**2) - centre**2))

    def log(theta: npt.NDArray[Any]) -> Complexes:
        each = means(np.exp(1j * theta[:, None, None] * says))
        return np.asarray(np.einsum("tv,v->t", np.log(each) - 1j * theta[:, None] * centre, counts.astype(complex)))

    return says, log, variance


def output_means(m: HR, amounts: Floats) -> tuple[Floats, Means]:
    """What each output adds to the total, as (blocks, width), and how such terms are averaged for each value."""
    says, means = _means(m, amounts)
    return says / m._gap, means


def _means(m: HR, amounts: Floats) -> tuple[Floats, Means]:
    blocks, rows = m._place(np.arange(m.k))
    held = np.zeros((m.blocks, m.width))
    held[blocks, rows] = amounts
    (supported, others), p = m._sizes, m.p_star
    inside, outside = p / supported, (1 - p) / others

    def means(terms: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each value, the mean of a term of the output, shape (..., blocks, width)."""
        within = (terms.sum(axis=-1)[..., blocks] + walsh(terms)[..., blocks, rows]) / 2
        return np.asarray(outside * terms.sum(axis=(-2, -1))[..., None] + (inside - outside) * within)

    return walsh(held), means


def walsh(terms: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The Walsh-Hadamard transform along the last axis, whose length is a power of two.

    >>> walsh(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    out, half = terms, 1
    while half < terms.shape[-1]:
        pairs = out.reshape(*terms.shape[:-1], -1, 2, half)
        left, right = pairs[..., 0, :], pairs[..., 1, :]
        out = np.stack([left + right, left - right], axis=-2).reshape(terms.shape)
        half *= 2
    return out
