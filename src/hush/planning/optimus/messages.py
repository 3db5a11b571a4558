"""Mechanisms whose report is one message of a few: how likely each message is, over a population."""

from __future__ import annotations

import numpy as np

from hush.analysis.walsh import walsh
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.hadamard import HR
from hush.mechanisms.projective import PGR
from hush.types import Floats


def chances(m: FrequencyOracle, frequencies: Floats) -> Floats:
    """Of every message, when a person is drawn from a distribution; they sum to one."""
    if isinstance(m, HR):
        favoured = np.zeros((m.blocks, m.width))
        block, row = m._place(np.arange(m.k))
        favoured[block, row] = frequencies
        favoured[:, 0] = np.bincount(block, frequencies, m.blocks)
        held = walsh(favoured).ravel() / 2
    else:
        assert isinstance(m, PGR)
        held = m.favoured_sums(frequencies)
    inside, outside = m._sizes
    rare = (1 - m.p_star) / outside
    share = np.maximum(rare + (m.p_star / inside - rare) * np.clip(held, 0.0, 1.0), 0.0)
    return np.asarray(share / share.sum(), np.float64)
