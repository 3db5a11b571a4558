"""What forms say of estimates, against the enumeration: errors, information, work, draws, the normal law, tuning.

Where outputs are few, answers are held against the whole law. Elsewhere they are held against variances, against
reports that are drawn, or against each other, as far as that goes.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from hush import statistics
from hush.analysis import information
from hush.errors import HushError
from hush.exact.enumeration import Listing
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import Forms
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.tunable import Family
from hush.randomness import seeded
from hush.simulation.normals import Normals, sampled
from hush.testing.forms import COMPARISONS, Comparison
from hush.types import Floats, Ints

Problem = Callable[[Forms, Forms, int], str]

_OUTPUTS = 2_048
"""That are looked at one by one."""
_PAIRED = 64
"""Outputs of which all pairs are."""
_VALUES = 64
"""Values that are all looked at."""
_CROWD = 10**6
"""So many that errors are normal, to a per cent, up to epsilon 5."""
_NORMAL = 5.0
_ROUNDING = 1e-10
"""What is lost of numbers that are nearly nothing, as errors are at large budgets."""


def _compares(*names: str) -> Callable[[Problem], Problem]:
    """Add a comparison of these questions."""

    def add(problem: Problem) -> Problem:
        COMPARISONS.extend(Comparison(name, problem) for name in names)
        return problem

    return add


def _law(general: Forms) -> Listing | None:
    """The whole law, if it is small."""
    found = general.listed
    return found if found is not None and len(found.reports) <= _OUTPUTS else None


def _shares(m: FrequencyOracle) -> Floats:
    """Frequencies that all differ."""
    return np.arange(m.k, 0, -1) / (m.k * (m.k + 1) / 2)


def _counts(m: FrequencyOracle) -> Ints:
    """People, of whom more and more hold each value."""
    return np.arange(1, m.k + 1) % 40


def _off(stated: float, due: float, within: float = 1e-6) -> str:
    near = abs(stated - due) <= within * abs(due) + _ROUNDING
    return "" if near else f"{stated!r}, where {due!r} is due"


# Errors.


@_compares("even_variance")
def _even_variance(forms: Forms, general: Forms, seed: int) -> str:
    return _off(forms.even_variance(7), general.even_variance(7))


@_compares("kinds", "worst_variance")
def _worst_variance(forms: Forms, general: Forms, seed: int) -> str:
    """Where variances are linear, the worst of them is at a corner; where they are not, it is at least that large."""
    if general.m.k > _VALUES:
        return ""
    one, other = np.eye(general.m.k)[[0, -1]]
    ends, middle = (general.m.variances(f, 7) for f in (one, other)), general.m.variances((one + other) / 2, 7)
    linear = np.allclose(sum(ends) / 2, middle, rtol=1e-7)
    stated, due = forms.worst_variance(7), general.worst_variance(7)
    return _off(stated, due if linear else max(stated, due))


@_compares("absolute_errors")
def _absolute_errors(forms: Forms, general: Forms, seed: int) -> str:
    values = sorted({0, general.m.k // 2, general.m.k - 1})
    if _law(general) is not None:
        stated, due = (each.absolute_errors(_counts(general.m), values) for each in (forms, general))
        return next(filter(None, map(_off, stated, due)), "")
    if general.m.epsilon > _NORMAL:
        return ""
    counts = np.round(_shares(general.m) * _CROWD).astype(np.int64)
    due = np.sqrt(2 / math.pi * general.m.variances(counts / counts.sum(), int(counts.sum()))[values])
    return next(filter(None, map(_off, forms.absolute_errors(counts, values), due, itertools.repeat(0.01))), "")


@_compares("even_absolute_error")
def _even_absolute_error(forms: Forms, general: Forms, seed: int) -> str:
    n = 3 * general.m.k + 1
    return _off(forms.even_absolute_error(n), Forms.even_absolute_error(forms, n))


@_compares("single_absolute_error")
def _single_absolute_error(forms: Forms, general: Forms, seed: int) -> str:
    """Between the means of the normal value and of its square, over which value it is."""
    m = general.m
    if m.epsilon > _NORMAL or m.k > _VALUES:
        return ""
    counts = np.full(m.k, _CROWD // (2 * (m.k - 1)))
    counts[0] = _CROWD // 2
    n = int(counts.sum())
    squares = [float(m.variances(np.roll(counts, v) / n, n)[v]) for v in range(m.k)]
    stated, root = forms.single_absolute_error(counts), math.sqrt(2 / math.pi)
    most, least = root * math.sqrt(float(np.mean(squares))), root * float(np.mean(np.sqrt(squares)))
    return "" if 0.99 * least <= stated <= 1.01 * most else f"{stated!r} is not from {least!r} to {most!r}"


@_compares("worst_absolute_error")
def _worst_absolute_error(forms: Forms, general: Forms, seed: int) -> str:
    if general.m.k > _VALUES:
        return ""
    if _law(general) is not None:
        return _off(forms.worst_absolute_error(2_001), general.worst_absolute_error(2_001))
    if general.m.epsilon > _NORMAL:
        return ""
    return _off(forms.worst_absolute_error(_CROWD), math.sqrt(2 / math.pi * general.worst_variance(_CROWD)), 0.01)


# Information and work.


@_compares("information", "even_information")
def _information(forms: Forms, general: Forms, seed: int) -> str:
    even = np.full(general.m.k, 1 / general.m.k)
    if (law := _law(general)) is None:
        return _drawn_information(forms, even, seed)
    for stated, shares in (
        (forms.even_information(), even),
        (forms.information(_shares(general.m)), _shares(general.m)),
    ):
        if stated is not None and (off := _off(stated, information.channel(law.chances, shares))):
            return off
    return ""


def _drawn_information(forms: Forms, even: Floats, seed: int) -> str:
    """Against the mean over reports, of which none tells more than the value itself."""
    stated, m = forms.even_information(), forms.m
    if stated is None or m.k > _VALUES:
        return ""
    reports = m.privatize(np.arange(20_000) % m.k, rng=seeded([seed, 31]))
    return statistics.mean_alarm(information.from_scores(m.scores(reports), even), stated, 1.0)


@_compares("server_work")
def _server_work(forms: Forms, general: Forms, seed: int) -> str:
    """Counted, as entries of the tally that a report changes, where the whole law is listed and values are even.

    One entry may count who reports in which block or cohort, which is no work of values. Given public randomness
    nothing is counted: such tallies may be what a table of public parts and messages gives when it is settled. There
    the work lies between one counter and all.
    """
    stated, law, m = forms.server_work, _law(general), forms.m
    if law is None:
        return "" if 1 <= stated <= general.server_work else f"{stated!r} is not from 1 to {general.server_work}"
    tallies = np.stack([m.tally(law.reports[i : i + 1]).ravel() for i in range(len(law.reports))])
    touched = float(law.chances.mean(axis=1) @ np.count_nonzero(tallies, axis=1))
    complaints = [_off(stated, touched - of_people) for of_people in range(1 + _counts_people(tallies))]
    return "" if "" in complaints else complaints[0]


def _counts_people(tallies: Ints) -> bool:
    """Whether the last entries, and not all of them, count every report once: who reports where."""
    last = np.cumsum(tallies[:, :0:-1], axis=1)
    return bool((last == 1).all(axis=0).any())


# Many collections at once.


@_compares("tallies")
def _tallies(forms: Forms, general: Forms, seed: int) -> str:
    law = _law(general)
    return ("" if law is None else _joint(forms, law, seed)) or _agreeing(forms, seed)


def _joint(forms: Forms, law: Listing, seed: int) -> str:
    """Of one or two people, every tally as often as is due."""
    m = forms.m
    # Where reports are made one by one, they are those of `privatize` and `simulate`, which other checks draw often.
    runs = 4_000 if forms.collection_work(1 << 40) >= 1 << 40 else 20_000
    people = [0, m.k - 1] if len(law.reports) <= _PAIRED else [m.k - 1]
    told = [tuple(m.tally(law.reports[i : i + 1]).ravel().tolist()) for i in range(len(law.reports))]
    due: Counter[tuple[int, ...]] = Counter({(0,) * len(told[0]): 1.0})
    for value in people:
        joined: Counter[tuple[int, ...]] = Counter()
        for (before, share), (one, chance) in itertools.product(
            due.items(), zip(told, law.chances[:, value], strict=True)
        ):
            joined[tuple(map(sum, zip(before, one, strict=True)))] += share * chance
        due = joined
    rows = forms.tallies(np.bincount(people, minlength=m.k)[None], runs, seeded([seed, 32]))
    seen = Counter(map(tuple, rows.reshape(runs, -1).tolist()))
    if strange := next((row for row in seen if not due[row]), None):
        return f"a tally of {len(people)} people that no reports give: {strange}"
    keys = list(due)
    return statistics.counts_alarm(np.array([runs * due[key] for key in keys]), np.array([seen[key] for key in keys]))


def _agreeing(forms: Forms, seed: int) -> str:
    """Of people who agree: supports are binomial; estimates are right on average, and vary as they should."""
    m, runs, n = forms.m, 200, 5_000
    for value in (0, m.k - 1):
        truth = np.eye(1, m.k, value)[0]
        rows = forms.tallies((n * truth).astype(np.int64)[None], runs, seeded([seed, 33, value]))
        if off := _right(m, rows, truth, runs * n, m.variances(truth, n)):
            return f"of people who hold value {value}, {off}"
    return ""


def _right(m: FrequencyOracle, rows: Ints, truth: Floats, people: int, due: Floats) -> str:
    whole = rows.sum(axis=0)
    if isinstance(m, PureOracle):
        chances = np.where(truth == 1, m.p_star, m.q_star)
        tests = zip(m.support_counts(whole).tolist(), chances.tolist(), strict=True) if truth.max() == 1 else ()
        alarms = (statistics.count_alarm(seen, people, chance, comparisons=2 * m.k) for seen, chance in tests)
        if off := next(filter(None, alarms), ""):
            return f"supports are {off}"
    if m.epsilon > _NORMAL:
        return ""
    estimates, runs = np.stack([m.decode(row, people // len(rows)) for row in rows]), len(rows)
    z = float(np.abs((estimates.mean(axis=0) - truth) / np.sqrt(due / runs + 1e-300)).max())
    if z > statistics.sigmas(2 * m.k) * 1.1:
        return f"estimates are off by {z:.1f} sigma"
    return _spread(estimates.var(axis=0, ddof=1), due, runs, 2 * m.k)


def _spread(seen: Floats, due: Floats, runs: int, comparisons: int) -> str:
    """Variances of normal numbers."""
    from scipy.stats import chi2

    ratio = seen[due > 1e-12] / due[due > 1e-12]
    tails = np.minimum(chi2.cdf(ratio * (runs - 1), runs - 1), chi2.sf(ratio * (runs - 1), runs - 1))
    rare = statistics.FALSE_ALARM / comparisons
    return f"a variance is {ratio[np.argmin(tails)]:.3g} times what is due" if tails.min(initial=1.0) < rare else ""


@_compares("sampled_tallies")
def _sampled_tallies(forms: Forms, general: Forms, seed: int) -> str:
    m, runs, n, shares = forms.m, 200, 5_000, _shares(forms.m)
    rows = forms.sampled_tallies(shares, n, runs, seeded([seed, 34]))
    law = _law(general)
    if law is not None and m.sufficient:
        chances = law.chances @ shares
        return statistics.counts_alarm(chances * runs * n, rows.sum(axis=0))
    return _right(m, rows, shares, runs * n, m.variances(shares, n) + shares * (1 - shares) / n)


@_compares("estimates")
def _estimates(forms: Forms, general: Forms, seed: int) -> str:
    m = forms.m
    counts = _counts(m)
    rows = np.stack([m.simulate(counts, rng=seeded([seed, 35, i])).tally for i in range(3)])
    n = int(counts.sum())
    stated, due = forms.estimates(rows, n), general.estimates(rows, n)
    off = float(np.abs(stated - due).max()) if stated.shape == due.shape else math.inf
    return "" if off < 1e-7 * max(1.0, float(np.abs(due).max())) else f"an estimate differs from decode by {off:.3g}"


# The normal law.


@_compares("normal_noise", "normal_report")
def _normal(forms: Forms, general: Forms, seed: int) -> str:
    """Of people drawn at random: every covariance that the law has, or, where it is not small, every variance."""
    m, runs, n, shares = forms.m, 20_000, _CROWD, _shares(forms.m)
    if m.k > _VALUES:
        return ""
    normals = Normals(runs, seeded([seed, 36]))
    rows = forms.normal_report(normals, shares)
    if rows is None:
        noise = forms.normal_noise(normals, shares, n)
        if noise is None:
            return ""
        rows = noise * math.sqrt(n) + sampled(seeded([seed, 37]).standard_normal((runs, m.k)), shares)
    spread = m.variances(shares, n) * n + shares * (1 - shares)
    off = _spread(rows.var(axis=0, ddof=1), spread, runs, 2 * m.k)
    law = _law(general)
    return off if off or law is None else _covariances(rows, law, shares)


def _covariances(rows: Floats, law: Listing, shares: Floats) -> str:
    chances = law.chances @ shares
    centred = law.decoded - chances @ law.decoded
    due, seen = (centred.T * chances) @ centred, np.cov(rows.T)
    error = np.sqrt((np.outer(np.diag(due), np.diag(due)) + due**2) / len(rows))
    worst = float((np.abs(seen - due) / np.maximum(error, 1e-300)).max())
    return f"a covariance is off by {worst:.1f} sigma" if worst > statistics.sigmas(due.size) * 1.1 else ""


# What to tune.


@_compares("tunable")
def _tunable(forms: Forms, general: Forms, seed: int) -> str:
    """Closed forms of a family are those of its mechanisms."""
    k, epsilon = general.m.k, 1.0
    for family in (offer for offer in forms.tunable(k) if isinstance(offer, Family)):
        grid = family.grid(k)
        grid = grid[:: -(-grid.size // 3)]
        got = family.measured(k, np.array(epsilon), grid, 100, worst=False, targets=1)
        for i, parameter in enumerate(grid.tolist()):
            m = family.make(k, epsilon, parameter)
            pairs = {"mse": m.forms.even_variance(100), "asr": m.asr()}
            for name, due in pairs.items():
                if off := _off(float(got[name][i]), due):
                    return f"{name} of {m} is {off}"
    return ""


@_compares("settled", "variants")
def _made(forms: Forms, general: Forms, seed: int) -> str:
    """What is held or set can be."""
    m = general.m
    try:
        if held := forms.settled(m.k, m.epsilon):
            type(m)(**{**m.parameters, **held})
        for cls, fixed in forms.variants(m.k):
            cls(k=m.k, epsilon=1.0, **dict(fixed))
    except (HushError, TypeError, ValueError) as error:
        return f"a mechanism cannot be made: {error}"
    return ""
