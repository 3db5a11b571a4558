"""Closed forms of one report of dBitFlipPM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.forms import Forms

if TYPE_CHECKING:
    from hush.longitudinal._first_asked import FirstBitFlip


@dataclass(frozen=True, eq=False)
class BitFlipForms(Forms):
    """Of noisy bits for some buckets, which are drawn and public."""

    m: FirstBitFlip

    # What fakes gain, what tells values apart, and what guesses are worth.

    def variation(self, first: int, second: int) -> float:
        """Nothing tells them apart if neither was asked about; else one bit or two do, to the same effect."""
        m = self.m
        neither = (m.k - m.d) * (m.k - m.d - 1) / (m.k * (m.k - 1))
        return (m.p - m.q) * (1 - neither)
