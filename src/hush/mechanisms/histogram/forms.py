"""Closed forms of noisy histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.mechanisms.forms import Forms, PureForms

if TYPE_CHECKING:
    from hush.mechanisms.histogram.mechanism import NoisyHistogram, ServerTHE


@dataclass(frozen=True, eq=False)
class HistogramForms(Forms):
    """Of noisy histograms."""

    m: NoisyHistogram

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.


@dataclass(frozen=True, eq=False)
class ServerThresholdForms(PureForms):
    """Of noisy histograms that the server compares with a threshold."""

    m: ServerTHE

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.
