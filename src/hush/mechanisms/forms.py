"""What can be said of a mechanism beyond its law: by enumeration for any, in closed form where a family knows one.

Attacks, audits, planning, shuffling and capacities ask `m.forms`, and never which class they have. A family writes a
companion in its own folder, which overrides what it knows; `hush.testing` holds each override against the enumeration.

A companion speaks of the law of its class. A class that derives from it and changes the law without a companion of its
own is enumerated again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hush.analysis import absolute_error, adds, capacity, information, manipulation, success, totals
from hush.analysis.crowd import CrowdLaw
from hush.analysis.manipulation import Targets, how_many
from hush.errors import ParameterError
from hush.exact.enumeration import Listing, enumerated, listed
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import log_ratio
from hush.guarantee import LDP, ULDP
from hush.mechanisms.fakes import CELLS, all_outputs, best_outputs, largest_sum
from hush.mechanisms.shape import SupportLaw
from hush.simulation import batches
from hush.simulation.normals import Normals
from hush.types import Bools, Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.base import FrequencyOracle
    from hush.mechanisms.pure import PureOracle
    from hush.mechanisms.shape import Shape
    from hush.mechanisms.tunable import Fixed, Tunable
    from hush.mechanisms.two_level import TwoLevel

PairKind = tuple[Fraction, Fraction | None]
"""Of a pair of values: total variation of their reports, and probability that a report favours both if known."""

_SAME = 1e-9  # logarithms of likelihoods that differ by no more are equal
_FEW_VALUES = 6  # all of whose triples are looked at
_FEW_PARTS = 512  # outputs of all pairs of values that are unlike: an integral over more takes minutes
_ROUNDING = 1e-13  # by which a sum of doubles may be too small

LAW = frozenset(
    {
        *("sample", "tally", "decode", "outputs", "weight", "publics", "public", "copies"),
        *("supports", "support_matrix", "p_star", "q_star", "coordinates", "coordinate_law"),
    }
)
"""What a class writes to say what its law is."""
LOOKED_AT = 1000
"""Up to so many people, every number of a value's holders is looked at for the worst case."""


def companion_of(cls: Any, law: frozenset[str] = LAW) -> Any:
    """The forms that hold for a class: its own, or those of the class whose law it has; else the general ones.

    Args:
        cls: A class of mechanisms.
        law: What a class of its kind writes to say what its law is.
    """
    for base in cls.__mro__:
        if "companion" in vars(base):
            return vars(base)["companion"]
        if law & vars(base).keys():
            break
    return cls.general


@dataclass(frozen=True, eq=False)
class Forms:
    """What is asked of a mechanism, answered by enumeration.

    Args:
        m: The mechanism.
    """

    m: FrequencyOracle

    about: ClassVar[str] = "A report that the device has randomized."
    """What a report is, for people who have never heard of it."""
    compared_with: ClassVar[str] = ""
    """The mechanism beside which the size of its reports and the server's work are told, where these stand out."""
    warning: ClassVar[str] = ""
    """What to know before one takes it."""

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

    def crowds(self) -> list[CrowdLaw]:
        """How likely reports are under two values and what others hold, for pairs of every kind; none if unknown."""
        listing = self.listed if self.m.k <= _FEW_VALUES else None
        found = [] if listing is None else CrowdLaw.of_law(listing.chances)
        return found if sum(each.first.size for each in found) <= _FEW_PARTS else []

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

    def best_guess(self, tau: int) -> float | None:
        """How often the likeliest value from tau fresh reports is the true one; None where no formula is known."""
        if tau == 0:
            return 1 / self.m.k
        if tau == 1:
            return self.m.asr()
        return self.most_voted(tau) if self.votes_add_up and self.votes_for_likeliest else None

    def vectors(self, reports: Reports) -> Floats | None:
        """A number for each value, larger for the true one, where a report is nothing else; None elsewhere."""
        return None

    @property
    def shape(self) -> Shape | None:
        """How many values reports support, where they have two levels of probability; None elsewhere."""
        return None

    @property
    def support_laws(self) -> Sequence[SupportLaw] | None:
        """How many values reports support, for each kind of public randomness; None where levels are more than two."""
        shape = self.shape
        if shape is None:
            return None
        sizes = np.nonzero(shape.law > 0)[0]
        favor = shape.high / shape.low if shape.low else math.inf
        return [SupportLaw(1.0, sizes, shape.law[sizes], favor)]

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

    one_by_one: ClassVar[bool] = True
    """Whether `tallies` takes about as long for each run as one run takes."""
    costly: ClassVar[bool] = False
    """Whether a run takes more than a few draws a value, and the normal law knows all covariances."""

    @property
    def kinds(self) -> Sequence[int]:
        """Values of which one of each kind is there: where all people hold one of a kind, errors are alike."""
        return range(self.m.k)

    def even_variance(self, n: int) -> float:
        """What is the mean variance of n people's estimates, where all values are equally frequent?"""
        return float(self.m.variances(np.full(self.m.k, 1 / self.m.k), n).mean())

    def worst_variance(self, n: int) -> float:
        """What is the largest variance of a value's estimate, of all values and all populations of n people?"""
        return max(float(self.m.variances(np.eye(1, self.m.k, v)[0], n).max()) for v in self.kinds)

    def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
        """What are the mean absolute errors of these values' estimates, with so many holders of each value?"""
        n, law = int(counts.sum()), self.listed
        if law is None:
            return np.asarray(np.sqrt(2 / math.pi * self.m.variances(counts / n, n)[values]), np.float64)
        adds = law.decoded
        return np.array([absolute_error.summed(adds[:, v], law.chances, counts[None])[0] / n for v in values])

    def even_absolute_error(self, n: int) -> float:
        """What is the mean over the values of their mean absolute errors, where all are held equally often?"""
        each, more = divmod(n, self.m.k)
        counts = np.full(self.m.k, each, np.int64)
        counts[:more] += 1
        return float(self.absolute_errors(counts, range(self.m.k)).mean())

    def single_absolute_error(self, counts: Ints) -> float:
        """What is the mean absolute error of the value that the first count is of, the others being held alike?"""
        return float(self.absolute_errors(counts, [0])[0])

    def worst_absolute_error(self, n: int) -> float:
        """What is the largest mean absolute error, of all values, where n people all hold the same value?"""
        law = self.listed
        if law is None:
            return math.sqrt(2 / math.pi * self.worst_variance(n))
        alone = n * np.eye(self.m.k, dtype=np.int64)
        columns = (law.decoded[:, v] for v in range(self.m.k))
        return max(float(absolute_error.summed(adds, law.chances, alone).max()) for adds in columns) / n

    def information(self, frequencies: Floats) -> float | None:
        """Which share of the Fisher information about these frequencies do reports keep? None if that is not known."""
        return None if self.listed is None else information.channel(self.listed.chances, frequencies)

    def even_information(self) -> float | None:
        """Which share do they keep where all values are equally frequent?"""
        if self.listed is not None:
            return self.information(np.full(self.m.k, 1 / self.m.k))
        try:
            return information.product(self.m.k, *self.m.coordinate_law())
        except NotImplementedError:
            return None

    @property
    def server_work(self) -> float:
        """How many counters does the server touch for a report? All, where it says something about every value."""
        return self.m.k

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """What do so many collections tally, a row for each? `people` has a row for each, or one for all."""
        return np.stack([self.m._simulate(people[min(run, len(people) - 1)], rng) for run in range(runs)])

    def sampled_tallies(self, frequencies: Floats, n: int, runs: int, rng: np.random.Generator) -> Ints:
        """What do they tally where n people are drawn at random in each?"""
        return self.tallies(batches.populations(frequencies, n, runs, rng), runs, rng)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        """What does `decode` make of each row?"""
        return np.stack([self.m.decode(tally, n) for tally in tallies])

    def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats | None:
        """By how much do estimates err by the normal law, in fixed populations of n? None if no variance is known."""
        try:
            return np.asarray(normals.numbers(self.m.k) * np.sqrt(self.m.variances(frequencies, n)), np.float64)
        except (NotImplementedError, ParameterError):
            return None

    def normal_report(self, normals: Normals, frequencies: Floats) -> Floats | None:
        """By how much does one person's report err, drawn at random with its person, where covariances are known so?"""
        return None

    @classmethod
    def planned(cls, k: int) -> bool:
        """Is it worth a planner's look at so many values?"""
        return True

    @classmethod
    def settled(cls, k: int, epsilon: float) -> Mapping[str, Any]:
        """Which parameters, that it chooses for its budget, are held while a budget near this one is looked for?"""
        return {}

    @classmethod
    def variants(cls, k: int) -> Sequence[tuple[type[FrequencyOracle], Fixed]]:
        """Which other settings of its classes are worth a look, beside the usual ones?"""
        return ()

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        """What is there to tune?"""
        return ()

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds | None:
        """What a report adds to the estimated total of the amounts; None where that is not known."""
        found = self.listed
        return None if found is None else adds.channel(found.decoded @ amounts, found.chances)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """The law of the estimated total, of so many people of each amount."""
        found, draw, work = self.listed, self.total_draw(amounts, counts), float(counts.sum())
        if found is None:
            return totals.simulated(amounts, counts, draw=draw, work=work)
        return totals.channel(amounts, counts, found.decoded @ amounts, found.chances, draw=draw, work=work)

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """Estimated totals of whole collections, simulated one by one."""
        m, n = self.m, int(counts.sum())

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            shares = [m.decode(m.simulate(counts, rng=rng).tally, n) for _ in range(runs)]
            return n * np.array([share @ amounts for share in shares])

        return draw

    def collection_work(self, n: int) -> float:
        """What a simulated collection of n people costs, in random numbers, roughly."""
        return float(n)

    def _summed(
        self,
        amounts: Floats,
        counts: Ints,
        found: adds.Adds,
        *,
        least: float = 0.0,
        step: float = 0.0,
        kind: str = "exact",
    ) -> totals.Law:
        """The law, from what a report adds: at least so much, and so many steps more, if there is an even step."""
        n = int(counts.sum())
        draw, work = self.total_draw(amounts, counts), self.collection_work(n)
        return totals.summed(amounts, counts, found, draw=draw, work=work, start=n * least, step=step, kind=kind)

    def wrong_guesses_alike(self) -> bool:
        """Whether the best guess from a report, all values being equally likely, is right as often for every value,
        and wrong as often for every other one.
        """
        found = self.listed
        if found is None:
            return False
        table = found.chances.T @ success.best_guesses(found.chances)
        return bool(np.abs(table - success.alike(self.m.k, table[0, 0])).max() < 1e-12)


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

    @property
    def kinds(self) -> Sequence[int]:
        return (0,)

    def even_variance(self, n: int) -> float:
        """Linear in the value's frequency: the mean is that of a value of frequency 1/k."""
        return self.m.variance(n, 1 / self.m.k)

    def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
        holders, where = np.unique(counts[values], return_inverse=True)
        return self._supported(int(counts.sum()), holders)[where]

    def even_absolute_error(self, n: int) -> float:
        each, more = divmod(n, self.m.k)
        fewer, greater = self._supported(n, np.array([each, each + 1]))
        return float((self.m.k - more) * fewer + more * greater) / self.m.k

    def worst_absolute_error(self, n: int) -> float:
        """With few people, in any population."""
        holders = np.arange(n + 1) if n <= LOOKED_AT else np.array([0, n])
        return float(self._supported(n, holders).max())

    def _supported(self, n: int, holders: Ints) -> Floats:
        """Supports are binomial among the holders of a value, and among the others."""
        p, q = self.m.p_star, self.m.q_star
        ends = {0: q, n: p}
        found = np.zeros(holders.size)
        inner = ~np.isin(holders, list(ends))
        if inner.any():
            both = [([1 - p, p], 0, holders[inner]), ([1 - q, q], 0, n - holders[inner])]
            found[inner] = absolute_error.lattice(both)
        found[~inner] = [absolute_error.binomial(n, ends[int(x)]) for x in holders[~inner]]
        return np.asarray(found / (n * (p - q)), np.float64)

    # The law of a total.

    def _support_lattice(self, amounts: Floats) -> tuple[float, float]:
        """What a report that supports nothing adds to a total, and the step to what others add; 0 if there is none."""
        gap = self.m.p_star - self.m.q_star
        return -self.m.q_star * float(amounts.sum()) / gap, capacity.lattice(amounts.tolist()) / gap


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
