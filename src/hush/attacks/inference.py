"""How often attacks on what is behind a value succeed, on average: its class, a person's habits, a change.

`attribute` asks for a property of the value, from one report. `pools` asks which class of values a person favors,
from several fresh reports of changing values (Gadotti et al., USENIX Security 2022). `changes` asks whether a value
turned into another one, which the attacker knows, halfway. All are the success of the best attacker, who has even
chances beforehand.

The first two are means over random cuts: which values form a class depends on what they mean, and no mechanism knows
that, so every way to deal the values out to classes of even sizes is equally likely. A fixed cut could be gamed: half
of a projective line cut by number hides what most other cuts show. The mean does not depend on how values are numbered.
The attacker knows the cut. `cut_rate` is for one cut, and `worst_known_cut` the worst of the cuts that follow from the
numbering: the worst of all is at least so bad, and finding it is a hard combinatorial problem. `changes` takes the
worst pair of values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis.repeated_reports import repeated_variation
from hush.attacks import pools as pool_inference
from hush.attacks.random_cuts import coordinate_law, draw_scores, two_class_laws
from hush.errors import ParameterError, message
from hush.guarantee import ULDP
from hush.longitudinal import Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.messages import MessageForms
from hush.randomness import seeded
from hush.types import Floats, Ints

_CELLS = 4_000_000
"""Scores that are computed for a simulated rate, about."""
_MIN_PEOPLE, _MAX_PEOPLE = 400, 20_000
"""People who are simulated."""
_ALL_CUTS, _SOME_CUTS = 1000, 64
"""All cuts are looked at if there are no more than the first number; else as many random ones as the second."""
_RANDOM_CUTS = 8
"""Random cuts among those of which the worst is looked for."""
_LISTED_FOR, _LISTED_OUTPUTS = 64, 4096
"""Values and outputs up to which the outputs are listed, for more than two classes."""
_MAX_PAIRS = 64
"""Pairs of values of which the one that is farthest apart is looked for, if no two kinds of values are known."""
_MAX_KINDS = 8
"""Kinds of values of which all pairs are looked at."""
_RATIO_CELLS = 256
"""Distinct likelihood ratios of a coordinate, where two coordinates are looked at together."""


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds.

    Args:
        rate: On average over everything, random cuts of the values into classes included.
        stderr: Standard error of a simulated rate, or of a mean over some of the cuts; 0 where neither is needed.
        chance_level: Success of the best guess that looks at no report.
    """

    rate: float
    stderr: float
    chance_level: float

    @property
    def advantage(self) -> float:
        """The share of what a blind guess leaves open: 0 where reports tell nothing, 1 where they tell all."""
        return (self.rate - self.chance_level) / (1 - self.chance_level)


@dataclass(frozen=True)
class KnownCut:
    """A cut of the values into classes, and how often the class is named under it.

    Args:
        name: Where the cut comes from.
        classes: The class of each value.
        rate: How often the best attacker names the class from one report.
    """

    name: str
    classes: Ints
    rate: Rate


def classes(k: int, parts: int) -> Ints:
    """Return the class of each value, where values in their order are cut into parts that are as even as can be.

    >>> classes(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    rules.domain_size(k)
    rules.integer("parts", parts, 2, k, "cut the values into two parts or more, each with a value")
    return np.asarray(np.arange(k) * parts // k, np.int64)


def attribute(m: FrequencyOracle, parts: int = 2) -> Rate:
    """Return how often the best attacker names the class of a value from one report, on average over random cuts.

    All values are equally likely, and all cuts into classes of even sizes.

    Args:
        m: The mechanism.
        parts: Classes of values, as even as can be.

    >>> import hush
    >>> round(attribute(hush.GRR(k=4, epsilon=1.0)).rate, 4)
    0.6502
    """
    of = classes(m.k, parts)
    sizes = np.bincount(of)
    largest = float(sizes.max()) / m.k
    laws = two_class_laws(m, *sizes.tolist()) if parts == 2 else None
    if laws is not None:
        return Rate(float(np.maximum(laws[0] * sizes[0], laws[1] * sizes[1]).sum()) / m.k, 0.0, largest)
    listed = _listed_chances(m, parts)
    if listed is not None:
        return _mean_over_cuts(of, lambda cut: _best_guess_rate(listed @ np.eye(parts)[cut] / m.k), largest)
    return _simulated(m, sizes / m.k, 1, 1.0, largest)


def pools(m: FrequencyOracle, parts: int = 2, *, reports: int = 10, loyalty: float = 1.0) -> Rate:
    """Return how often the best attacker names the class that a person favors, on average over random cuts.

    All classes are equally likely, and all cuts into classes of even sizes.

    Args:
        m: The mechanism of every report.
        parts: Classes of values, as even as can be.
        reports: Fresh reports of one person, each of a value of its own.
        loyalty: How often a value is of the favored class; otherwise it may be any.

    >>> import hush
    >>> one, ten = (pools(hush.OUE(k=20, epsilon=1.0), reports=reports).rate for reports in (1, 10))
    >>> 0.5 < one < ten < 1.0
    True
    """
    of = classes(m.k, parts)
    rules.integer("reports", reports, 1, 10_000, "count the reports of one person")
    often = rules.share("loyalty", loyalty)
    sizes = np.bincount(of)
    if reports == 1 and (sizes == sizes[0]).all():
        one = attribute(m, parts)  # what is not of the favored class tells nothing
        return Rate(often * one.rate + (1 - often) / parts, often * one.stderr, 1 / parts)
    if parts == 2:
        laws = two_class_laws(m, *sizes.tolist())
        if laws is not None:
            return Rate((1 + _loyal_variation(*laws, sizes, often, reports)) / 2, 0.0, 0.5)
        listed = _listed_chances(m, parts)
        if listed is not None:

            def told(cut: Ints) -> float:
                first, second = (listed[:, cut == j].mean(axis=1) for j in range(2))
                return (1 + _loyal_variation(first, second, sizes, often, reports)) / 2

            return _mean_over_cuts(of, told, 0.5)
    return _simulated(m, np.full(parts, 1 / parts), reports, often, 1 / parts)


def _loyal_variation(first: Floats, second: Floats, sizes: Ints, loyalty: float, reports: int) -> float:
    """The total variation between reports of people who favor the first class, and the second."""
    anything = (first * sizes[0] + second * sizes[1]) / sizes.sum()
    mixed = [loyalty * law + (1 - loyalty) * anything for law in (first, second)]
    return repeated_variation(mixed[0], mixed[1], reports)


def cut_rate(m: FrequencyOracle, of: npt.ArrayLike) -> Rate:
    """Return how often the best attacker names the class of a value from one report, for one cut into classes.

    Args:
        m: The mechanism.
        of: The class of each value, 0, 1 and so on, each with a value.
    """
    cut = np.asarray(of)
    if cut.shape != (m.k,) or cut.dtype.kind not in "iu" or not np.array_equal(np.unique(cut), range(cut.max() + 1)):
        remedy = "number the classes from 0, each with a value"
        raise ParameterError(message("of", f"must hold the class of each of {m.k} values", of, remedy))
    sizes = np.bincount(cut)
    rules.integer("of", sizes.size, 2, m.k, "cut the values into two classes or more")
    largest = float(sizes.max()) / m.k
    shape, one_hot = m.forms.shape, np.eye(sizes.size)[cut]
    if shape is not None and shape.alike and sizes.size == 2:
        laws = two_class_laws(m, *sizes.tolist())
        assert laws is not None
        return Rate(_best_guess_rate(np.stack(laws, axis=1) * sizes / m.k), 0.0, largest)
    if isinstance(m.forms, MessageForms):
        shares = (one_hot / sizes).T
        chances = np.stack([m.forms.message_chances(row) for row in shares], axis=1)
        return Rate(_best_guess_rate(chances * sizes / m.k), 0.0, largest)
    if m.forms.listed is not None:
        return Rate(_best_guess_rate(m.forms.listed.chances @ one_hot / m.k), 0.0, largest)
    certainty = _certainty(m, one_hot.T / sizes[:, None], sizes / m.k, 1, _people(m.k), seeded(7))
    return Rate(float(certainty.mean()), float(certainty.std() / math.sqrt(certainty.size)), largest)


def worst_known_cut(m: FrequencyOracle, parts: int = 2) -> KnownCut:
    """Return the worst of some cuts into even classes: by number, by remainder, by what reports support, at random.

    It is a lower bound of the worst of all cuts. The classes are consecutive numbers; numbers with the same remainder,
    such as blocks of Hadamard response; what one report makes likeliest, such as a hyperplane; or any values.

    Args:
        m: The mechanism.
        parts: Classes of values, as even as can be.

    >>> import hush
    >>> worst_known_cut(hush.HR(k=128, epsilon=4.0, blocks=8)).name
    'by remainder modulo 2'
    """
    of, k, found = classes(m.k, parts), m.k, []
    orders = [("by number", np.arange(k))]
    strides = dict.fromkeys([parts, *(2**i for i in range(1, k.bit_length() - 1))])
    orders += [(f"by remainder modulo {step}", np.argsort(np.arange(k) % step, kind="stable")) for step in strides]
    rng = seeded(7)
    reports = m.privatize(rng.integers(0, k, 4), rng=rng)
    orders += [("by what a report supports", np.argsort(-row, kind="stable")) for row in m.scores(reports)]
    orders += [("at random", rng.permutation(k)) for _ in range(_RANDOM_CUTS)]
    for name, order in orders:
        cut = np.empty(k, np.int64)
        cut[order] = of
        found.append(KnownCut(name, cut, cut_rate(m, cut)))
    return max(found, key=lambda each: each.rate.rate)


def _best_guess_rate(joint: Floats) -> float:
    """How often the best guess of the class is right, by the probability of each report and class together."""
    return float(joint.max(axis=1).sum())


def _listed_chances(m: FrequencyOracle, parts: int) -> Floats | None:
    """The law of all outputs; None where they are many, or where counting supports is as exact and quicker."""
    if parts > 2 and (m.k > _LISTED_FOR or m.forms.number_of_outputs > _LISTED_OUTPUTS):
        return None
    listing = m.forms.listed
    return None if listing is None else listing.chances


def _mean_over_cuts(of: Ints, rate: Callable[[Ints], float], chance: float) -> Rate:
    """The mean over all cuts if they are few, else over some, with its standard error."""
    rng, every = seeded(7), _number_of_cuts(of) <= _ALL_CUTS
    cuts = _every_cut(np.bincount(of)) if every else (rng.permutation(of) for _ in range(_SOME_CUTS))
    found = np.array([rate(cut) for cut in cuts])
    error = 0.0 if every else float(found.std(ddof=1) / math.sqrt(found.size))
    return Rate(float(found.mean()), error, chance)


def _number_of_cuts(of: Ints) -> int:
    sizes = np.bincount(of).tolist()
    return math.factorial(of.size) // math.prod(map(math.factorial, sizes)) if of.size <= 20 else _ALL_CUTS + 1


def _every_cut(sizes: Ints) -> Iterator[Ints]:
    """All ways to deal values out to classes of these sizes."""
    cut = np.full(int(sizes.sum()), -1, np.int64)

    def deal(j: int) -> Iterator[Ints]:
        free = np.nonzero(cut < 0)[0]
        if j == sizes.size:
            yield cut.copy()
            return
        for some in combinations(free.tolist(), int(sizes[j])):
            cut[list(some)] = j
            yield from deal(j + 1)
            cut[list(some)] = -1

    return deal(0)


# Simulated people.


def _simulated(m: FrequencyOracle, prior: Floats, reports: int, loyalty: float, chance: float) -> Rate:
    """The mean certainty of the best attacker about simulated people, each with a cut of its own or one of several."""
    of, parts = classes(m.k, prior.size), prior.size
    rng = seeded(7)
    favored = rng.choice(parts, max(_MIN_PEOPLE, min(_MAX_PEOPLE, _CELLS // (4 * reports))), p=prior)
    logs = draw_scores(m, np.bincount(of), favored, reports, loyalty, rng)
    if logs is not None:
        sure = _posterior(logs + np.log(prior))
        return Rate(float(sure.mean()), float(sure.std() / math.sqrt(sure.size)), chance)
    people = max(2, _people(reports * m.k) // _SOME_CUTS)
    found = []
    for _ in range(_SOME_CUTS):
        cut = rng.permutation(of)
        behavior = pool_inference.habits([np.nonzero(cut == j)[0] for j in range(parts)], m.k, loyalty=loyalty)
        found.append(float(_certainty(m, behavior, prior, reports, people, rng).mean()))
    return Rate(float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(len(found))), chance)


def _certainty(
    m: FrequencyOracle, behavior: Floats, prior: Floats, reports: int, people: int, rng: np.random.Generator
) -> Floats:
    """How sure the best attacker is about each of some people. It varies less than how often the attacker is right."""
    sequence = Repeated(m, reports)
    held = rng.choice(len(prior), people, p=prior)
    values = np.empty((people, reports), np.int64)
    for j, row in enumerate(behavior):
        values[held == j] = rng.choice(m.k, (int((held == j).sum()), reports), p=row)
    return _posterior(pool_inference.scores(sequence, sequence.collect(values, rng=rng), behavior) + np.log(prior))


def _posterior(logs: Floats) -> Floats:
    """The probability of the likeliest class, which weighs 1."""
    return np.asarray(1 / np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1), np.float64)


def _people(cells: int) -> int:
    return max(_MIN_PEOPLE, min(_MAX_PEOPLE, _CELLS // cells))


# Changes.


def changes(m: FrequencyOracle, *, reports: int = 10) -> Rate:
    """Return how often the best attacker tells a value that became another one halfway from one that stayed.

    It changed one time in two. The attacker knows both values and when it would have changed. Reports are fresh, so
    those before it tell nothing, and the others are told apart as often as their total variation says, for the pair of
    values that are farthest apart. All kinds of pairs are looked at where the mechanism knows its kinds of values, and
    all pairs of few values; else the pair is the worst of 64.

    Args:
        m: The mechanism of every report.
        reports: Fresh reports of one person, half of them after the change.
    """
    rules.integer("reports", reports, 2, 10_000, "count the reports of one person, two or more")
    after = Repeated(m, reports - reports // 2)
    found = [_variation(after, *pair) for pair in _farthest_pairs(m)]
    apart, error = max(found)
    return Rate((1 + apart) / 2, error / 2, 0.5)


def _farthest_pairs(m: FrequencyOracle) -> list[tuple[int, int]]:
    """Pairs of values among which are the two that are farthest apart: one of each kind, or the worst of some."""
    kinds = sorted(_kinds(m))
    if len(kinds) == 1:
        return [(kinds[0], (kinds[0] + 1) % m.k)]
    if len(kinds) <= _MAX_KINDS:
        return list(combinations(kinds, 2))
    if m.forms.listed is not None and m.k <= _LISTED_FOR:
        law = m.forms.listed.chances
        pairs = list(combinations(range(m.k), 2))
        return sorted(pairs, key=lambda pair: -float(np.maximum(law[:, pair[0]] - law[:, pair[1]], 0.0).sum()))[:4]
    rng, few = seeded(7), math.comb(m.k, 2) <= _MAX_PAIRS
    some = (tuple(rng.choice(m.k, 2, replace=False).tolist()) for _ in range(_MAX_PAIRS - 2))
    pairs = list(combinations(range(m.k), 2)) if few else [(0, 1), (0, m.k - 1), *some]
    single = {pair: m.forms.variation(*pair) for pair in dict.fromkeys(pairs)}
    known = {pair: variation for pair, variation in single.items() if variation is not None}
    farthest = sorted(known, key=lambda pair: -known[pair]) or pairs
    return farthest[: 1 if m.forms.telling(*farthest[0]) is None else 4]  # simulated ones are not compared


def _kinds(m: FrequencyOracle) -> set[int]:
    """Two values of each kind, or one value where all pairs are alike; all values if no kinds are known."""
    promise = m.guarantee
    if isinstance(promise, ULDP):
        inner = sorted(promise.sensitive)
        return {*inner[:2], *islice((v for v in range(m.k) if v not in set(inner)), 2)}
    return set(m.forms.kinds)


def _variation(sequence: Repeated, first: int, second: int) -> tuple[float, float]:
    """Total variation between reports of two values, and its standard error: 0 where none is simulated."""
    known = sequence.sequence_variation(first, second)
    if known is not None:
        return known, 0.0
    laws = _pair_laws(sequence.mechanism, first, second)
    if laws is not None:
        return repeated_variation(*laws, sequence.tau), 0.0
    people = _people(sequence.tau * sequence.k)
    values = np.full((people, sequence.tau), first)
    ratio = sequence.sequence_log_ratio(sequence.collect(values, rng=seeded(7)), first, second)
    lost = -np.expm1(-np.maximum(ratio, 0.0))
    return float(lost.mean()), float(lost.std() / math.sqrt(people))


def _pair_laws(m: FrequencyOracle, first: int, second: int) -> tuple[Floats, Floats] | None:
    """The laws of reports of two values, as far as they differ; None where they are not known."""
    law = coordinate_law(m)
    if law is None:
        listing = m.forms.listed
        return None if listing is None else (listing.chances[:, first], listing.chances[:, second])
    order = np.argsort(law.ratios, kind="stable")
    places = np.cumsum(np.cbrt(law.null[order] + law.own[order]))  # finely where ratios are likely, which loses least
    group = np.empty(order.size, np.int64)
    group[order] = np.minimum(places / places[-1] * _RATIO_CELLS, _RATIO_CELLS - 1)
    own = np.append(np.bincount(group, law.own, _RATIO_CELLS), law.shown)
    other = np.append(np.bincount(group, law.null, _RATIO_CELLS), 0.0)
    return np.outer(own, other).ravel(), np.outer(other, own).ravel()
