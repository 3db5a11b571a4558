"""What can be said of a mechanism beyond its law: by enumeration for any, in closed form where a family knows one.

Attacks, audits, planning, shuffling and capacities ask `m.forms`, and never which class they have. A family writes a
companion in its own folder, which overrides what it knows; `hush.testing` holds each override against the enumeration.

A companion speaks of the law of its class. A class that derives from it and changes the law without a companion of its
own is enumerated again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.analysis import manipulation
from hush.analysis.manipulation import Targets, how_many
from hush.errors import ParameterError
from hush.exact.enumeration import Listing, enumerated, listed
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import log_ratio
from hush.guarantee import LDP, ULDP
from hush.mechanisms.fakes import CELLS, all_outputs, best_outputs, largest_sum
from hush.types import Bools, Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle
    from hush.mechanisms.pure import PureOracle
    from hush.mechanisms.shape import Shape
    from hush.mechanisms.two_level import TwoLevel

PairKind = tuple[Fraction, Fraction | None]
"""Of a pair of values: total variation of their reports, and probability that a report favours both if known."""

_SAME = 1e-9  # logarithms of likelihoods that differ by no more are equal
_ROUNDING = 1e-13  # by which a sum of doubles may be too small

LAW = frozenset(
    {
        *("sample", "tally", "decode", "outputs", "weight", "publics", "public", "copies"),
        *("supports", "support_matrix", "p_star", "q_star", "coordinates", "coordinate_law"),
    }
)
"""What a class writes to say what its law is."""


def companion_of(cls: type[FrequencyOracle]) -> type[Forms]:
    """The forms that hold for a class: its own, or those of the class whose law it has; else the general ones."""
    for base in cls.__mro__:
        if "companion" in vars(base):
            found: type[Forms] = vars(base)["companion"]
            return found
        if LAW & vars(base).keys():
            break
    return cls.general


@dataclass(frozen=True, eq=False)
class Forms:
    """What is asked of a mechanism, answered by enumeration.

    Args:
        m: The mechanism.
    """

    m: FrequencyOracle

    @property
    def listed(self) -> Listing | None:
        """All outputs with their exact weights; None where they are too many, or randomness is public."""
        return listed(self.m)

    @property
    def whole(self) -> Listing:
        """As `listed`, for whoever cannot do without: other mechanisms are refused."""
        if len(self.m.publics()) > 1:
            name = self.m.name()
            raise NotImplementedError(f"{name} has public randomness: write its own variances, asr and bits")
        return enumerated(self.m)[0]

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """The largest sum over the targets that a report decodes to; of so many, over the set for which it is most."""
        return float(self.decoded_sums(targets).max())

    def random_sum(self, targets: Targets) -> float:
        """The mean over uniform reports of the sum over the targets; of so many, over those for which it is most."""
        return float(largest_sum(self.decoded_means(), targets))

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Reports that decode to the largest sum over the targets; where several do, one at random."""
        return rng.choice(best_outputs(self.m, tuple(targets.tolist())), size)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Reports drawn uniformly from all that there are."""
        reports, shares = all_outputs(self.m)
        return rng.choice(reports, size, p=shares)

    def maximal_gain(self, targets: Targets, fraction: float, frequencies: float | Floats) -> float:
        """What a share of such fakes adds to the targets, given all frequencies of others, or the targets' in all."""
        held = float(frequencies[targets].sum()) if isinstance(frequencies, np.ndarray) else frequencies
        return manipulation.gain(fraction, self.maximal_sum(targets), held)

    def decoded_sums(self, targets: Targets) -> Floats:
        """What each output decodes to over the targets."""
        return np.concatenate([largest_sum(listing.decoded, targets) for listing in enumerated(self.m)])

    def decoded_means(self) -> Floats:
        """What uniform reports decode to on average, for each value."""
        decoded = np.concatenate([listing.decoded for listing in enumerated(self.m)])
        return np.asarray(all_outputs(self.m)[1] @ decoded, np.float64)

    def variation(self, first: int, second: int) -> float | None:
        """The total variation between the reports of two values; None where it is unknown."""
        found = self.telling(first, second)
        if found is not None:
            return found[0] - found[1]
        m, listing = self.m, self.listed
        if listing is None:
            return None
        pairs = zip(listing.reports, listing.copies, strict=True)
        apart = sum(copies * max(m.weight(y, first) - m.weight(y, second), 0) for y, copies in pairs)
        return apart / m.denominator

    def telling(self, first: int, second: int) -> tuple[float, float] | None:
        """How likely a report of the first value speaks for it alone, and for the second alone.

        None where reports have more levels of probability than two.
        """
        return None

    def pair_kinds(self) -> list[PairKind]:
        """Pairs of values that differ in how they are told apart; where none is worst in everything, a worse one."""
        listing = self.listed
        if listing is None:
            return [(Fraction(math.tanh(self.pure_loss() / 2)), None)]
        law, worst = listing.chances, 0.0
        for first in range(self.m.k - 1):
            apart = np.maximum(law[:, first, None] - law[:, first + 1 :], 0.0).sum(axis=0)
            worst = max(worst, float(apart.max()))
        return [(Fraction(min(worst + _ROUNDING, 1.0)), None)]

    def pure_loss(self) -> float:
        """The worst log-ratio of two values' reports, whatever delta is promised; the promise where it is unknown."""
        promise = self.m.guarantee
        if promise is None or isinstance(promise, LDP):
            try:
                return self.m.exact_epsilon()
            except ParameterError:
                return math.inf if promise is None else promise.epsilon
        return math.inf if self.listed is None else worst_ratio(self.listed.weights)

    def cut(self, delta: float) -> tuple[float, float] | None:
        """The loss among reports that are not extreme, and how likely one is; None where there is no telling."""
        return None

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """How much likelier each report is under the first value than under the second, in logarithm."""
        ones, twos = (self.m._log_prob(reports, np.full(reports.size, value)) for value in (first, second))
        with np.errstate(invalid="ignore"):
            return np.where(ones == twos, 0.0, ones - twos)

    def spoken(self, reports: Reports, pair: tuple[int, int]) -> Bools | None:
        """Which reports of two values the promise speaks of; None for all.

        Under ULDP it is silent on those in which one of the two reveals itself and is not sensitive.
        """
        promise = self.m.guarantee
        if not isinstance(promise, ULDP):
            return None
        open_ = [value for value in pair if value not in promise.sensitive]
        scores = self.m.scores(reports)
        shown = np.isneginf(scores[:, list(promise.sensitive)]).all(axis=1)
        return ~(shown & np.isin(scores.argmax(axis=1), open_))

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """Given each report, how likely its best guess is the value beside it, under a uniform prior.

        `m.attack` guesses one of the likeliest values at random. This is what that gives on average over its own coin:
        one over their number if the value is among them, else zero.
        """
        out = np.empty(values.size)
        rows = max(1, CELLS // (2 * self.m.k))
        for at in range(0, values.size, rows):
            score = self.m.scores(reports[at : at + rows])
            best = score == score.max(axis=1, keepdims=True)
            out[at : at + rows] = best[np.arange(len(best)), values[at : at + rows]] / best.sum(axis=1)
        return out

    def best_chances(self, prior: Floats) -> Floats:
        """For each output, how likely it comes and the best guess from it is right, values being that likely."""
        return np.asarray((self.whole.chances * prior).max(axis=1), np.float64)

    def votes(self, reports: Reports) -> Bools:
        """The values that each report votes for, where many are put together: those that it makes likeliest."""
        score = self.m.scores(reports)
        return np.asarray(score >= score.max(axis=1, keepdims=True) - _SAME)

    @property
    def votes_for_likeliest(self) -> bool:
        """Whether the values that a report votes for are the likeliest ones; False where it is unknown."""
        return True

    @property
    def votes_add_up(self) -> bool:
        """Whether the value with the most votes of several reports is the likeliest one."""
        return False

    def most_voted(self, tau: int) -> float | None:
        """How often the value with the most votes of tau reports is the true one; None where there is no formula."""
        return None

    def vectors(self, reports: Reports) -> Floats | None:
        """A number for each value, larger for the true one, where a report is nothing else; None elsewhere."""
        return None

    @property
    def shape(self) -> Shape | None:
        """How many values reports support, where they have two levels of probability; None elsewhere."""
        return None

    @property
    def bit_thresholds(self) -> tuple[int, int] | None:
        """Out of 2^64, the chances of a one for the own value and for another, of a sampler of bits; None elsewhere."""
        return None

    @property
    def number_of_outputs(self) -> int:
        """How many reports there can be, public randomness included; or a power of two that is enough."""
        return 1 << self.m.bits

    @property
    def telling_publics(self) -> Sequence[Any]:
        """Public randomness to enumerate over where a loss shows that needs reports which support few values."""
        return self.m.publics()

    def moments(self, chances: Floats) -> tuple[Floats, Floats]:
        """The mean and mean square of what a report adds to each estimate, where each output comes that often."""
        decoded = self.whole.decoded
        return chances @ decoded, chances @ decoded**2

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.


@dataclass(frozen=True, eq=False)
class PureForms(Forms):
    """Of any pure oracle: what p* and q* tell."""

    m: PureOracle

    # What fakes gain, what tells values apart, and what guesses are worth.

    def supported_sum(self, targets: Targets, supported: float) -> float:
        """What a report decodes to over the targets, where it supports so many of them."""
        return manipulation.pure(self.m.p_star, self.m.q_star, how_many(targets), supported)

    def decoded_sums(self, targets: Targets) -> Floats:
        """What each output decodes to over the targets, by which of them it supports."""
        reports, number = all_outputs(self.m)[0], how_many(targets)
        supported = np.zeros(reports.size)
        for value in range(self.m.k) if isinstance(targets, int) else targets:
            supported += self.m.supports(reports, np.full(reports.size, value))
        return manipulation.pure(self.m.p_star, self.m.q_star, number, np.minimum(supported, number))

    def decoded_means(self) -> Floats:
        """What uniform reports decode to on average, by how often they support each value."""
        reports, shares = all_outputs(self.m)
        values = (np.full(reports.size, value) for value in range(self.m.k))
        chances = np.array([shares @ self.m.supports(reports, each) for each in values])
        return manipulation.pure(self.m.p_star, self.m.q_star, 1, chances)

    def votes(self, reports: Reports) -> Bools:
        """Those that it supports."""
        return self.m.support_matrix(reports)

    @property
    def votes_for_likeliest(self) -> bool:
        """Whether the weights of all outputs say so."""
        if self.listed is None:
            return False
        for row, supported in zip(self.listed.weights, self.m.support_matrix(self.listed.reports), strict=True):
            likeliest = [weight == max(row) for weight in row]
            if supported.any() and supported.tolist() != likeliest:
                return False
        return True

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.


@dataclass(frozen=True, eq=False)
class TwoLevelForms(Forms):
    """Of mechanisms with two levels of probability: what one threshold tells."""

    m: TwoLevel

    # What fakes gain, what tells values apart, and what guesses are worth.

    def pure_loss(self) -> float:
        """That of an output which supports one of the values."""
        low, high = self.m._weights
        return log_ratio(high, low)

    def log_ratio(self, reports: Reports, first: int, second: int) -> Floats:
        """One value is supported and the other is not, or nothing tells them apart."""
        return by_support(self.m, reports, first, second, self.m._log_favour)

    def votes(self, reports: Reports) -> Bools:
        """Those that it supports."""
        return self.m.support_matrix(reports)

    @property
    def votes_for_likeliest(self) -> bool:
        """A report is likelier for a value that it supports."""
        return True

    @property
    def votes_add_up(self) -> bool:
        """Every report that supports a value makes it likelier by the same factor."""
        return True


def by_support(m: Any, reports: Reports, first: int, second: int, favour: float) -> Floats:
    """The log-ratio of two values where whoever is supported is so much likelier."""
    ones, twos = (m.supports(reports, np.full(reports.size, value)) for value in (first, second))
    return np.where(ones == twos, 0.0, np.where(ones, favour, -favour))
