"""Tallies of sketches, drawn from the law that they have where values fall into buckets independently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hush.types import Floats, Ints

_CELLS = 1 << 22  # numbers held at a time


@dataclass(frozen=True, eq=False)
class KindsOfReports:
    """Reports by what they say of all values alike.

    Args:
        chances: How likely a report is of each kind, whoever sends it.
        own: Whether a report of each kind supports its own value.
        other: How likely it supports another value, independently of further ones.
    """

    chances: Floats
    own: Ints
    other: Floats

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """Support counts of many collections, one row a run; `people` has a row for each, or one for all.

        Given how many reports of each kind the holders of every value sent, what others say of a value is binomial.
        """
        k = people.shape[1]
        out = np.empty((runs, k), np.int64)
        rows = max(1, _CELLS // (k * self.chances.size))
        for start in range(0, runs, rows):
            stop = min(start + rows, runs)
            here = people[start:stop] if len(people) > 1 else np.broadcast_to(people, (stop - start, k))
            sent = rng.multinomial(here, self.chances)
            others = sent.sum(axis=1, keepdims=True) - sent
            out[start:stop] = sent @ self.own + rng.binomial(others, self.other).sum(axis=2)
        return out
