"""The seed of a command: the given one, or one that is drawn and told, so that every run can be repeated."""

from __future__ import annotations

import secrets

import numpy as np

import hush


def seeded(seed: int | None) -> tuple[int, np.random.Generator]:
    """The seed, and what draws from it."""
    chosen = secrets.randbits(32) if seed is None else seed
    return chosen, hush.seeded(chosen)
