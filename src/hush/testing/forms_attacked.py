"""Comparisons of what fakes gain, what tells values apart, and what guesses are worth.

Where outputs are few and nothing is public, answers are held against the whole law; else against the law of reports
that are drawn, or of the public randomness that the mechanism gives as examples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

import numpy as np

from hush import statistics
from hush.analysis.manipulation import Targets
from hush.exact.enumeration import Listing, listed, listings
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import SCALE
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.two_level import TwoLevel
from hush.randomness import seeded
from hush.testing.forms import COMPARISONS, Comparison
from hush.types import Floats, Ints, Reports, Values

_OUTPUTS = 2_048
"""Outputs that are looked at one by one."""
_FEW = 32
"""Outputs whose pairs are."""
_PEOPLE = 10**6
"""Of a population that fakes join."""
_DRAWN = 20_000
"""Reports of one value that two values are told apart by."""

Problem = Callable[[Forms, Forms, int], str]


def _compares(name: str) -> Callable[[Problem], Problem]:
    """Add a comparison of this question."""

    def add(problem: Problem) -> Problem:
        COMPARISONS.append(Comparison(name, problem))
        return problem

    return add


def _small(m: FrequencyOracle) -> tuple[Listing, ...]:
    """What can come out, given each public randomness; nothing if it is too much to look at."""
    found = listings(m) or ()
    return found if sum(len(listing.reports) for listing in found) <= _OUTPUTS else ()


def _whole(m: FrequencyOracle) -> Listing | None:
    """The whole law, if it is small and nothing is public."""
    found = listed(m)
    return found if found is not None and len(found.reports) <= _OUTPUTS else None


def _reports(m: FrequencyOracle, seed: int, n: int = 300) -> tuple[Reports, Values]:
    """Reports, and the values behind them."""
    values = np.arange(n) % m.k
    return np.asarray(m.privatize(values, rng=seeded(seed))), values


def _sets(m: FrequencyOracle) -> list[Values]:
    """Targets."""
    several = (np.array([0]), np.array([m.k - 1]), np.arange(0, m.k, 2), np.arange(m.k))
    return [each for each in several if each.size]


def _targets(m: FrequencyOracle) -> list[Targets]:
    """Their number, too."""
    return [1, *_sets(m)]


def _pairs(m: FrequencyOracle) -> list[tuple[int, int]]:
    """Values to tell apart, all if they are few."""
    return [*combinations(range(min(m.k, 5)), 2), (m.k - 1, 0)]


def _differ(what: str, stated: float | None, due: float, tolerance: float = 1e-9) -> str:
    """The sentence about two numbers; empty if they are the same."""
    if stated is not None and (stated == due or abs(stated - due) <= tolerance * max(1.0, abs(due))):
        return ""
    return f"{what}: {stated} instead of {due}"


def _first(problems: list[str]) -> str:
    return next((problem for problem in problems if problem), "")


# Fakes. A decoder need not be linear in the reports: what counts is what one adds at the margin of an even population.


def _population(m: FrequencyOracle, seed: int) -> tuple[Ints, int]:
    """The tally of many people whose values are equally frequent, as evenly as outputs allow."""
    found = _small(m)
    if not found:
        made = m.simulate(np.full(m.k, _PEOPLE // m.k), rng=seeded(seed))
        return made.tally, made.n
    tally, n = m._empty(), 0
    for listing in found:
        for i, chance in enumerate(listing.chances.mean(axis=1) * _PEOPLE / len(found)):
            many = round(float(chance))
            tally, n = tally + many * m.tally(listing.reports[i : i + 1]), n + many
    return tally, n


def _margins(m: FrequencyOracle, reports: Reports, seed: int) -> Floats:
    """What each report adds to each value's estimate, times the number of people."""
    tally, n = _population(m, seed)
    before = n * m.decode(tally, n)
    rows = [(n + 1) * m.decode(tally + m.tally(reports[i : i + 1]), n + 1) - before for i in range(len(reports))]
    return np.array(rows).reshape(len(reports), m.k)


@_compares("maximal_sum")
def _maximal_sum(forms: Forms, general: Forms, seed: int) -> str:
    m, found = forms.m, _small(forms.m)
    if not found:
        return ""
    margins = _margins(m, np.concatenate([listing.reports for listing in found]), seed)
    problems = []
    for targets in _targets(m):
        sums = margins.max(axis=1) if isinstance(targets, int) else margins[:, targets].sum(axis=1)
        stated, due = forms.maximal_sum(targets), float(sums.max())
        enough = len(m.publics()) > 1 and stated > due  # among examples there need not be the best
        problems.append("" if enough else _differ(f"targets {targets}", stated, due, 1e-4))
    return _first(problems)


@_compares("maximal_reports")
def _maximal_reports(forms: Forms, general: Forms, seed: int) -> str:
    m = forms.m
    for targets in _sets(m):
        made = np.asarray(forms.maximal_reports(targets, 20, seeded(seed)), m.report_dtype)
        m.validate(made)
        stated = forms.maximal_sum(targets)
        for each in _margins(m, made, seed)[:, targets].sum(axis=1):
            if problem := _differ(f"a report for targets {targets}", float(each), stated, 1e-4):
                return problem
    return ""


@_compares("maximal_gain")
def _maximal_gain(forms: Forms, general: Forms, seed: int) -> str:
    m, (tally, n) = forms.m, _population(forms.m, seed)
    before = m.decode(tally, n)
    for targets in _sets(m):
        fakes = np.asarray(forms.maximal_reports(targets, 2_000, seeded(seed)), m.report_dtype)
        weight = max(1, n // (10 * fakes.size))
        many = weight * fakes.size
        after = m.decode(tally + weight * m.tally(fakes), n + many)
        stated = forms.maximal_gain(targets, many / (n + many), before)
        if problem := _differ(f"targets {targets}", stated, float((after - before)[targets].sum()), 0.02):
            return problem
    return ""


@_compares("random_reports")
def _random_reports(forms: Forms, general: Forms, seed: int) -> str:
    """On average they decode to `random_sum`."""
    m = forms.m
    made = np.asarray(forms.random_reports(2_000, seeded(seed)), m.report_dtype)
    m.validate(made)
    sums = _margins(m, made, seed)
    for targets in _sets(m):
        each = sums[:, targets].sum(axis=1)
        stated = forms.random_sum(targets)
        if np.ptp(each) <= 1e-4 * max(1.0, abs(stated)):  # always the same
            problem = _differ("decoded", float(each.mean()), stated, 1e-4)
        else:
            low = float(each.min())
            problem = statistics.mean_alarm(each - low, stated - low, float(np.ptp(each)))
        if problem:
            return f"targets {targets}: {each.mean()} on average, random_sum says {stated}: {problem}"
    return ""


@_compares("random_sum")
def _random_sum(forms: Forms, general: Forms, seed: int) -> str:
    if _whole(forms.m) is None:
        return ""
    sums = ((targets, forms.random_sum(targets), general.random_sum(targets)) for targets in _targets(forms.m))
    return _first([_differ(f"targets {targets}", stated, due, 1e-6) for targets, stated, due in sums])


@_compares("decoded_sums")
def _decoded_sums(forms: Forms, general: Forms, seed: int) -> str:
    for targets in _targets(forms.m) if _small(forms.m) else []:
        if not np.allclose(forms.decoded_sums(targets), general.decoded_sums(targets), rtol=1e-9, atol=1e-9):
            return f"targets {targets}"
    return ""


@_compares("decoded_means")
def _decoded_means(forms: Forms, general: Forms, seed: int) -> str:
    if not _small(forms.m):
        return ""
    same = np.allclose(forms.decoded_means(), general.decoded_means(), rtol=1e-9, atol=1e-9)
    return "" if same else "the means of uniform reports"


@_compares("moments")
def _moments(forms: Forms, general: Forms, seed: int) -> str:
    if (law := _whole(forms.m)) is None:
        return ""
    chances = seeded(seed).dirichlet(np.ones(len(law.reports)))
    pairs = zip(forms.moments(chances), general.moments(chances), strict=True)
    return "" if all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in pairs) else f"of chances {chances}"


# Two values.


@lru_cache(maxsize=16)  # comparisons of one mechanism ask for the same pairs
def _ratios(general: Forms, first: int, second: int, seed: int) -> Floats:
    """How much likelier reports of the first value are than under the second, for many that are drawn."""
    reports = np.asarray(general.m.privatize(np.full(_DRAWN, first), rng=seeded([seed, first])))
    return general.log_ratio(reports, first, second)


def _seen_variation(general: Forms, first: int, second: int, stated: float, seed: int, *, above: bool = False) -> str:
    """Total variation is the mean of what one minus the inverse ratio exceeds zero by; it may be less if `above`."""
    seen = np.maximum(-np.expm1(-_ratios(general, first, second, seed)), 0.0)
    return "" if above and seen.mean() <= stated else statistics.mean_alarm(seen, stated, 1.0)


@_compares("variation")
def _variation(forms: Forms, general: Forms, seed: int) -> str:
    for first, second in _pairs(forms.m):
        if (stated := forms.variation(first, second)) is None:
            continue
        if _whole(forms.m) is None:
            problem = _seen_variation(general, first, second, stated, seed)
        else:
            problem = _differ("total variation", stated, general.variation(first, second) or 0.0)
        if problem:
            return f"values {first} and {second}: {problem}"
    return ""


@_compares("telling")
def _telling(forms: Forms, general: Forms, seed: int) -> str:
    law = _whole(forms.m)
    for first, second in _pairs(forms.m):
        if (found := forms.telling(first, second)) is None:
            continue
        if law is None:
            ratios = _ratios(general, first, second, seed)
            seen = zip((int((ratios > 1e-9).sum()), int((ratios < -1e-9).sum())), found, strict=True)
            if problem := _first([statistics.count_alarm(count, _DRAWN, chance) for count, chance in seen]):
                return f"values {first} and {second}: {problem}"
            continue
        own, other = law.chances[:, first], law.chances[:, second]
        far = np.abs(own - other) > 1e-9 * (own + other)
        due = own[far & (own > other)].sum(), own[far & (own < other)].sum()
        if not np.allclose(found, due, rtol=1e-9, atol=1e-12):
            return f"values {first} and {second}: {found} instead of {due}"
    return ""


@_compares("pair_kinds")
def _pair_kinds(forms: Forms, general: Forms, seed: int) -> str:
    """The largest variation is that of some pair, and none is favoured together more often than is said."""
    kinds, law = forms.pair_kinds(), _whole(forms.m)
    if law is None:
        most = float(max(variation for variation, _ in kinds))
        return _first([_seen_variation(general, *pair, most, seed, above=True) for pair in _pairs(forms.m)])
    stated, due = (float(max(variation for variation, _ in each)) for each in (kinds, general.pair_kinds()))
    if problem := _differ("total variation", stated, due):
        return problem
    both = [each for _, each in kinds]
    if None in both or not isinstance(forms.m, (PureOracle, TwoLevel)):
        return ""
    supported = forms.m.support_matrix(law.reports)
    together = max(
        float(law.chances[supported[:, u] & supported[:, v], u].sum()) for u, v in combinations(range(forms.m.k), 2)
    )
    return _differ("both favoured", float(max(each for each in both if each is not None)), together)


@_compares("crowds")
def _crowds(forms: Forms, general: Forms, seed: int) -> str:
    """They add up to probabilities, and give what the listed ones give, where there are few values."""
    stated = forms.crowds()
    for crowd in stated:
        for row in (crowd.first, crowd.second, *crowd.others):
            if problem := _differ("the sum of a law", float(crowd.weights @ row), 1.0):
                return problem
            if (row < crowd.least * (1 - 1e-9)).any():
                return "the blanket is above a law"
    due = general.crowds() if stated and _whole(forms.m) is not None else []
    if not due:
        return ""
    for e in (1.0, 1.2):
        alone, listed_alone = (max(crowd.alone(e) for crowd in each) for each in (stated, due))
        if problem := _differ("the delta of one report", alone, listed_alone):
            return problem
    return _differ("the loss in a crowd", *(max(crowd.chi_square for crowd in each) for each in (stated, due)))


@_compares("pure_loss")
def _pure_loss(forms: Forms, general: Forms, seed: int) -> str:
    law = _whole(forms.m)
    return "" if law is None else _differ("the loss", forms.pure_loss(), worst_ratio(law.weights))


@_compares("cut")
def _cut(forms: Forms, general: Forms, seed: int) -> str:
    """Reports beyond the loss come no more often than is said."""
    if (found := forms.cut(0.5)) is None:
        return ""
    loss, missing = found
    reports, _ = _reports(forms.m, seed, 20_000)
    scores = forms.m.scores(reports)
    with np.errstate(invalid="ignore"):
        beyond = int((scores.max(axis=1) - scores.min(axis=1) > loss + 1e-9).sum())
    more = beyond > reports.size * missing and statistics.count_alarm(beyond, reports.size, missing)
    return f"reports that lose more than {loss}: {more}" if more else ""


@_compares("log_ratio")
def _log_ratio(forms: Forms, general: Forms, seed: int) -> str:
    reports, _ = _reports(forms.m, seed)
    for pair in _pairs(forms.m):
        stated, due = (each.log_ratio(reports, *pair) for each in (forms, general))
        if not np.allclose(stated, due, rtol=1e-6, atol=1e-6):
            return f"values {pair}"
    return ""


@_compares("spoken")
def _spoken(forms: Forms, general: Forms, seed: int) -> str:
    reports, _ = _reports(forms.m, seed)
    for pair in _pairs(forms.m):
        stated, due = (each.spoken(reports, pair) for each in (forms, general))
        if (stated is None) != (due is None) or (stated is not None and (stated != due).any()):
            return f"values {pair}"
    return ""


# Guesses.


@_compares("guess_chance")
def _guess_chance(forms: Forms, general: Forms, seed: int) -> str:
    """One of the likeliest values is guessed; which of those that are equal but for rounding does not matter."""
    reports, _ = _reports(forms.m, seed)
    chances = np.stack([forms.guess_chance(reports, np.full(reports.size, v)) for v in range(forms.m.k)], axis=1)
    wrong = np.where(general.votes(reports), 0.0, chances).sum(axis=1)
    if wrong.max() > 1e-9:
        return f"report {wrong.argmax()} of {reports.size}: a value that is less likely with chance {wrong.max()}"
    at = int(np.abs(chances.sum(axis=1) - 1).argmax())
    return _differ(f"report {at} of {reports.size}, the chances of all values", float(chances[at].sum()), 1.0)


@_compares("best_chances")
def _best_chances(forms: Forms, general: Forms, seed: int) -> str:
    if _whole(forms.m) is None:
        return ""
    prior = seeded(seed).dirichlet(np.ones(forms.m.k))
    same = np.allclose(forms.best_chances(prior), general.best_chances(prior), rtol=1e-9, atol=1e-12)
    return "" if same else f"with the prior {prior}"


@_compares("votes_for_likeliest")
def _votes_for_likeliest(forms: Forms, general: Forms, seed: int) -> str:
    if not forms.votes_for_likeliest:
        return ""
    reports, _ = _reports(forms.m, seed)
    votes, due = forms.votes(reports), general.votes(reports)
    return "" if (votes == due)[votes.any(axis=1)].all() else "a report votes for a value that is less likely"


@_compares("votes_add_up")
def _votes_add_up(forms: Forms, general: Forms, seed: int) -> str:
    if not forms.votes_add_up:
        return ""
    m = forms.m
    several = [np.asarray(m.privatize(np.arange(300) % m.k, rng=seeded([seed, again]))) for again in range(3)]
    total = np.stack([forms.votes(reports) for reports in several]).sum(axis=0)
    scores = np.stack([m.scores(reports) for reports in several]).sum(axis=0)
    rows = np.isfinite(scores).all(axis=1)
    most, best = total[rows], scores[rows]
    same = (most == most.max(axis=1, keepdims=True)) == (best >= best.max(axis=1, keepdims=True) - 1e-9)
    return "" if same.all() else "the value with the most votes of three reports is not the likeliest"


@_compares("most_voted")
def _most_voted(forms: Forms, general: Forms, seed: int) -> str:
    law = _whole(forms.m)
    if law is None or len(law.reports) > _FEW or (stated := forms.most_voted(2)) is None:
        return ""
    votes = forms.votes(law.reports).astype(np.int64)
    together = votes[:, None] + votes[None]
    best = together == together.max(axis=2, keepdims=True)
    right = best / best.sum(axis=2, keepdims=True)
    due = float(np.einsum("yu,zu,yzu->", law.chances, law.chances, right)) / forms.m.k
    return _differ("two reports", stated, due)


@_compares("vectors")
def _vectors(forms: Forms, general: Forms, seed: int) -> str:
    """A number for each value, which is larger where the value is the true one, on average."""
    reports, values = _reports(forms.m, seed, 20_000)
    if (found := forms.vectors(reports)) is None:
        return ""
    if found.shape != (reports.size, forms.m.k) or not np.isfinite(found).all():
        return f"shape {found.shape} for {reports.size} reports of {forms.m.k} values"
    gap = found[np.arange(values.size), values] - found[np.arange(values.size), (values + 1) % forms.m.k]
    least = float(gap.min())
    less = gap.mean() < 0 and statistics.mean_alarm(gap - least, -least, float(np.ptp(gap)))
    return f"less for the true value than for another, on average: {less}" if less else ""


# What others build on.


@_compares("shape")
def _shape(forms: Forms, general: Forms, seed: int) -> str:
    m, shape = forms.m, forms.shape
    if shape is None:
        return ""
    for listing in _small(m):
        sizes = shape.sizes(listing.reports, np.arange(len(listing.reports)))
        for size, row in zip(sizes.tolist(), listing.weights, strict=True):
            high = sum(weight == max(row) for weight in row)
            if size not in shape.possible or size not in ({high} if min(row) < max(row) else {0, m.k}):
                return f"size {size} of a report that makes {high} values likelier"
            if min(row) < max(row) and max(row) * shape.low != min(row) * shape.high:
                return f"levels {shape.low} and {shape.high} for weights {min(row)} and {max(row)}"
    if (law := _whole(m)) is not None:
        sizes = shape.sizes(law.reports, np.arange(len(law.reports)))
        due = np.bincount(sizes, law.chances.mean(axis=1), m.k + 1)
        if not np.allclose(shape.law, due, rtol=1e-9, atol=1e-12):
            return f"sizes have the law {shape.law} instead of {due}"
        if shape.numbered is not None and not np.array_equal(shape.numbered(), sizes):
            return "sizes of all outputs"
    return ""


@_compares("support_laws")
def _support_laws(forms: Forms, general: Forms, seed: int) -> str:
    """Numbers of supported values have the stated law, and supported values the stated likelihood."""
    m, laws = forms.m, forms.support_laws
    if laws is None:
        return ""
    if (law := _whole(m)) is not None and len(laws) == 1:
        (only,) = laws
        high = law.chances > 1.000001 * law.chances.min(axis=1, keepdims=True)
        sizes = high.sum(axis=1)  # a report that makes all values equally likely supports none or all of them
        for size in set(range(1, m.k)) & {*sizes.tolist(), *only.sizes.tolist()}:
            due, stated = law.chances[sizes == size].mean(axis=1).sum(), only.chances[only.sizes == size].sum()
            if problem := _differ(f"the chance of {size} supported values", float(stated), float(due)):
                return problem
        some = law.chances[(sizes > 0) & (sizes < m.k)]
        with np.errstate(divide="ignore"):
            favors = some.max(axis=1) / some.min(axis=1)
        return _first([_differ("the favor of supported values", each, only.favor) for each in favors.tolist()])
    for each in laws:
        if problem := _differ("the sum of chances", float(each.chances.sum()), 1.0):
            return problem
    reports, _ = _reports(m, seed, m.k * (_DRAWN // m.k))
    score = m.scores(reports)
    supported = (score > score.min(axis=1, keepdims=True) + 1e-9).sum(axis=1)  # none where all are alike
    stated = sum(each.share * float(each.chances @ (each.sizes % m.k)) for each in laws)
    odd = statistics.mean_alarm(supported / m.k, stated / m.k, 1.0)
    return f"{supported.mean()} supported values on average instead of {stated}" if odd else ""


@_compares("number_of_outputs")
def _number_of_outputs(forms: Forms, general: Forms, seed: int) -> str:
    law = _whole(forms.m)
    return "" if law is None else _differ("outputs", forms.number_of_outputs, sum(law.copies), 0.0)


@_compares("bit_thresholds")
def _bit_thresholds(forms: Forms, general: Forms, seed: int) -> str:
    if (found := forms.bit_thresholds) is None or not isinstance(forms.m, PureOracle):
        return ""
    due = forms.m.p_star, forms.m.q_star
    return "" if np.allclose(np.array(found) / SCALE, due, rtol=1e-12) else f"{found} for probabilities {due}"


@_compares("telling_publics")
def _telling_publics(forms: Forms, general: Forms, seed: int) -> str:
    missing = [each for each in forms.m.publics() if each not in list(forms.telling_publics)]
    return f"without {missing[0]}" if missing else ""
