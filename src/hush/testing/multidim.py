"""What every collection of tuples owes its users.

Each check holds the code against the exact law that it claims. Choose sizes so small that there are at most 2,048
outputs. Where attributes have mechanisms with more, or with public randomness, those are left to
the checks of one oracle, and what is built on them is checked by likelihood ratios, totals and attacks.
Statistical checks raise a false alarm with a probability of about 1e-9 each; the seed is fixed unless given.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from hush import statistics
from hush.errors import ParameterError
from hush.estimation import Aggregate
from hush.exact.thresholds import log_ratio
from hush.mechanisms.registry import from_dict
from hush.mechanisms.spec import Spec
from hush.multidim.base import Multidim
from hush.multidim.choice import AnyMechanism
from hush.multidim.loss import enumerated
from hush.randomness import seeded
from hush.testing import collecting
from hush.testing.problem import expect
from hush.types import Floats, Ints

_MANY = 200_000
_LISTED = 2_048
_PAIRED = 128


def _few(m: Multidim) -> bool:
    """Whether the reports are few enough to enumerate; where they carry public randomness, given one example of it."""
    try:
        return len(m.outputs(None)) <= _LISTED
    except ParameterError:
        return False


def _listed(m: Multidim) -> bool:
    """Whether the law can be enumerated report by report."""
    return _few(m) and not m.has_public


def _corners(m: Multidim) -> list[tuple[int, ...]]:
    """Two tuples that differ in every attribute, and one between them."""
    last = tuple(k - 1 for k in m.sizes)
    return [(0,) * m.d, last, (0, *last[1:])]


def _everybody(m: Multidim, n: int, seed: int) -> Ints:
    """Tuples whose values are uniform and independent."""
    rng = seeded([seed, 9])
    return np.stack([rng.integers(0, k, n) for k in m.sizes], axis=1)


def check_law(m: Multidim, seed: int) -> None:
    """Weights are non-negative integers that sum to the denominator for every tuple."""
    if not _few(m):
        known = isinstance(m, AnyMechanism)
        expect(known, m, f"has more than {_LISTED} outputs to enumerate; check it at smaller sizes")
        return
    for public in itertools.islice(m.publics(), 4):
        outputs = m.outputs(public)
        expect(outputs.dtype == m.report_dtype, m, f"outputs have dtype {outputs.dtype}, not {m.report_dtype}")
        for values in m.tuples():
            weights = [m.weight(y, values) for y in outputs]
            expect(all(type(w) is int and w >= 0 for w in weights), m, "weights must be non-negative Python integers")
            total = sum(m.copies(y) * w for y, w in zip(outputs, weights, strict=True))
            expect(total == m.denominator, m, f"weights of the tuple {values} sum to {total}, not {m.denominator}")


def check_loss(m: Multidim, seed: int) -> None:
    """The exact loss is what enumeration finds, however many attributes change, and within the guarantee."""
    exact, guarantee = m.exact_epsilon(), m.guarantee
    expect(guarantee is not None, m, "has no guarantee")
    assert guarantee is not None
    expect(0 <= exact <= guarantee.epsilon, m, f"the exact loss {exact!r} exceeds the guarantee {guarantee}")
    before = 0.0
    for changed in range(1, m.d + 1):
        stated = m.exact_epsilon(changed)
        found = enumerated(m, changed, Fraction(m._delta)) if _few(m) else stated
        same = abs(found - stated) <= 1e-12 * max(1.0, stated)
        expect(same, m, f"enumeration finds a loss of {found!r} for {changed} changed, exact_epsilon says {stated!r}")
        expect(stated >= before, m, "a larger change must not lose less")
        before = stated
    expect(before == exact, m, "exact_epsilon() must be the loss when every attribute changes")


def check_likelihood(m: Multidim, seed: int) -> None:
    """`log_prob` is the logarithm of the weights, and its ratios average one, as likelihood ratios must."""
    people = _everybody(m, 200, seed)
    reports = m.privatize(people, rng=seeded(seed))
    weights = [m.weight(y, v) for y, v in zip(reports, people.tolist(), strict=True)]
    expect(all(w > 0 for w in weights), m, "privatize made a report of weight zero")
    exact = np.array([log_ratio(w, m.denominator) for w in weights])
    expect(np.allclose(m.log_prob(reports, people), exact, rtol=1e-9, atol=1e-9), m, "log_prob is not log(weight)")
    if m._delta:
        return
    first, *others = _corners(m)
    many = m.privatize(np.tile(first, (_MANY // 4, 1)), rng=seeded([seed, 1]))
    for other in others:
        ratio = np.exp(m.log_prob(many, other) - m.log_prob(many, first))
        off = statistics.mean_alarm(ratio, 1.0, float(np.exp(m.exact_epsilon())), comparisons=2)
        expect(not off, m, f"the likelihood ratio of {other} and {first} averages {ratio.mean():.6g}, not 1: {off}")


def check_sampler(m: Multidim, seed: int) -> None:
    """`privatize` follows the exact law, report by report."""
    if not _listed(m):
        return
    outputs = m.outputs()
    for values in _corners(m):
        reports = m.privatize(np.tile(values, (_MANY, 1)), rng=seeded([seed, 2, *values]))
        seen = collecting.count_records(reports)
        expected = np.array([_MANY * float(Fraction(m.weight(y, values), m.denominator)) for y in outputs])
        observed = np.array([seen.pop(y.tobytes(), 0) for y in outputs])
        expect(not seen, m, f"the tuple {values} gave a report that is not among the outputs")
        expect(not observed[expected == 0].any(), m, f"the tuple {values} gave an output of weight zero")
        off = statistics.counts_alarm(expected, observed)
        expect(not off, m, f"privatize does not follow its law for the tuple {values}: {off}")


def check_estimate(m: Multidim, seed: int) -> None:
    """Estimates of two people's tuples are unbiased, with the stated variance, by enumeration of both reports."""
    if not _listed(m):
        return
    outputs = m.outputs()
    people = _corners(m)[:2] if len(outputs) <= _PAIRED else _corners(m)[:1]
    n = len(people)
    tallies = [m.tally(y[None]) for y in outputs]
    estimates: dict[bytes, list[Floats]] = {}  # of each total, which many draws share
    laws = [[float(Fraction(m.weight(y, v), m.denominator)) for y in outputs] for v in people]
    chance = [np.zeros(k) for k in m.sizes]
    mean, square = [[np.zeros(k) for k in m.sizes] for _ in range(2)]
    for drawn in itertools.product(range(len(outputs)), repeat=n):
        share = float(np.prod([law[i] for law, i in zip(laws, drawn, strict=True)]))
        total = sum((tallies[i] for i in drawn), start=np.zeros_like(tallies[0]))
        if (record := total.tobytes()) not in estimates:
            estimates[record] = list(m.decode(total, n))
        for j, found in enumerate(estimates[record]):
            if not np.isnan(found).any():
                chance[j] += share
                mean[j] += share * found
                square[j] += share * found**2
    truth = [np.bincount([v[j] for v in people], minlength=k) / n for j, k in enumerate(m.sizes)]
    for j, spread in enumerate(m.variances(truth, n)):
        average = mean[j] / chance[j]
        expect(np.allclose(average, truth[j], atol=1e-8), m, f"the estimate of attribute {j} is biased: {average}")
        due = square[j] / chance[j] - average**2
        close = np.allclose(spread, due, rtol=1e-7, atol=1e-9)
        expect(close, m, f"variances of attribute {j} says {spread}, enumeration {due}")


def check_totals(m: Multidim, seed: int) -> None:
    """Many people's estimates lie within their standard errors of the truth."""
    if m.guarantee is not None and m.guarantee.epsilon > 5:
        return
    people = _everybody(m, _MANY // 4, seed)
    people[: len(people) // 2] //= 2  # smaller values are more frequent
    estimates = m.estimate(m.aggregate(m.privatize(people, rng=seeded([seed, 3]))))
    truth = [np.bincount(people[:, j], minlength=k) / len(people) for j, k in enumerate(m.sizes)]
    spread = m.variances(truth, len(people))
    for j, (estimate, shares) in enumerate(zip(estimates, truth, strict=True)):
        z = (estimate.frequencies - shares) / np.sqrt(spread[j])
        limit = statistics.sigmas(sum(m.sizes))
        expect(bool(np.abs(z).max() < limit), m, f"attribute {j} is off by {np.abs(z).max():.1f} sigma")
        close = np.allclose(estimate.stderr, np.sqrt(spread[j]), rtol=0.2)
        expect(close, m, f"standard errors of attribute {j} are far from the variance")


def check_attack(m: Multidim, seed: int) -> None:
    """Scores are averages of the law over the other attributes; the best guess succeeds as often as `asr` says."""
    some = m.privatize(_everybody(m, 20, seed), rng=seeded([seed, 4]))
    everything = np.array(list(m.tuples()))
    law = np.exp([m.log_prob(some, v) for v in everything])
    people = _everybody(m, _MANY // 4, seed)
    reports = m.privatize(people, rng=seeded([seed, 5]))
    for j, k in enumerate(m.sizes):
        averages = np.log([law[everything[:, j] == v].mean(axis=0) for v in range(k)]).T
        gap = m.scores(some, j) - averages
        expect(np.allclose(gap, gap[:, :1], atol=1e-8), m, f"scores of attribute {j} are not its likelihoods")
        hits = int((m.attack(reports, j, rng=seeded([seed, 6])) == people[:, j]).sum())
        off = statistics.count_alarm(hits, len(people), m.asr(j), comparisons=m.d)
        expect(not off, m, f"the attack on attribute {j} does not succeed as often as asr says: {off}")


def check_sampled(m: Multidim, seed: int) -> None:
    """Posteriors of the sampled attribute are distributions that average to the uniform one."""
    if type(m).sampled is Multidim.sampled:
        return  # none is drawn: all are reported
    posterior = m.sampled(m.privatize(_everybody(m, _MANY // 4, seed), rng=seeded([seed, 7])))
    expect(np.allclose(posterior.sum(axis=1), 1.0), m, "posteriors of the sampled attribute do not sum to 1")
    for j in range(m.d):
        off = statistics.mean_alarm(posterior[:, j], 1 / m.d, 1.0, comparisons=m.d)
        expect(not off, m, f"the posterior of attribute {j} does not average to 1/d: {off}")


def check_aggregation(m: Multidim, seed: int) -> None:
    """Merged parts equal the whole, in any order, and survive the wire."""
    collecting.merge(m, m.privatize(_everybody(m, 300, seed), rng=seeded(seed)))


def check_possible(m: Multidim, seed: int) -> None:
    """`check_tally` lets real tallies pass."""
    for n in (0, 1, 300):
        collecting.let_pass(m, m.aggregate(m.privatize(_everybody(m, n, seed), rng=seeded([seed, 8]))))


def check_records(m: Multidim, seed: int) -> None:
    """`sample` gives records of `report_dtype`, one for each tuple."""
    collecting.record(m, m.sample(_everybody(m, 50, seed), seeded(seed)), 50)


def check_travel(m: Multidim, seed: int) -> None:
    """The collection survives its dict, its JSON, pickling and hashing; its reports survive their bytes."""
    expect(from_dict(m.to_dict()) == m, m, "from_dict(to_dict()) differs")
    read = Spec.from_json(Spec(m).to_json()).mechanism
    expect(read == m and read.spec_hash == m.spec_hash, m, "the spec does not survive its JSON")
    collecting.travel(m, _everybody(m, 50, seed), seed)
    expect(not _listed(m) or m.bits >= (len(m.outputs()) - 1).bit_length(), m, "the outputs need more than `bits`")


def check_randomness(m: Multidim, seed: int) -> None:
    """The same seed gives the same reports; without one, calls differ, unless nearly everybody reports the truth."""
    collecting.draw_anew(m, _everybody(m, 5_000, seed), seed)


def check_input(m: Multidim, seed: int) -> None:
    """Bad tuples and reports are refused; no tuples give no reports; one tuple gives one."""
    expect(m.privatize((0,) * m.d).shape == (), m, "one tuple must give one report")
    zeros = [0] * (m.d - 1)
    ragged = [[0, *zeros], [0]] if m.d > 1 else [[0], [0, 0]]
    values: list[Any] = [[[bad, *zeros]] for bad in (-1, m.sizes[0], 0.5, float("nan"), "0", None)]
    shapes: list[Any] = [[[0, 0, *zeros]], [[[0, *zeros]]], ragged, 0, None]
    whole = m.aggregate(m.privatize(_everybody(m, 100, seed)))
    collecting.refuse(m, values + shapes, Aggregate(whole.n, whole.tally, "0" * 64))


CHECKS: tuple[Callable[[Multidim, int], None], ...] = (
    check_law,
    check_loss,
    check_records,
    check_likelihood,
    check_sampler,
    check_estimate,
    check_totals,
    check_attack,
    check_sampled,
    check_aggregation,
    check_possible,
    check_travel,
    check_randomness,
    check_input,
)
