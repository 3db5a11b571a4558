"""What every frequency oracle owes its users.

Each check holds the code against the exact law that it claims: integer weights that sum to their denominator, a loss
within the guarantee, a sampler, an estimate, a simulation and an attack that follow the law. Where the outputs are
few, closed forms are compared with enumeration; statistics are left to the sampler. Statistical checks use exact
binomial tails, chi-square with full cells and empirical Bernstein bounds, and raise a false alarm with a probability
of about 1e-9 each; the seed is fixed unless given, so a failure repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from hush import statistics
from hush.errors import ParameterError
from hush.estimation import Aggregate
from hush.exact.loss import enumerated_loss
from hush.exact.thresholds import log_ratio
from hush.guarantee import LDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.pure import PureOracle
from hush.mechanisms.registry import from_dict
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain
from hush.randomness import seeded
from hush.testing import collecting
from hush.testing.forms import check_forms
from hush.testing.problem import expect
from hush.types import Reports

_MANY = 200_000
_LISTED = 2_048
"""Outputs that are enumerated one by one, in exact integers; mechanisms with more are checked at a smaller k."""


_FEW = 64
"""Outputs that are tallied one by one."""


def _listed(m: FrequencyOracle) -> bool:
    """Whether the outputs are few enough to enumerate."""
    try:
        return len(m.outputs(m.publics()[0])) <= _LISTED
    except ParameterError:
        return False


def _has_public(m: FrequencyOracle) -> bool:
    return len(m.publics()) > 1


def _some(m: FrequencyOracle, value: int, n: int, *seed: int) -> Reports:
    """Reports of n people who all hold one value."""
    reports: Reports = m.privatize(np.full(n, value), rng=seeded([*seed, value]))
    return reports


def check_law(m: FrequencyOracle, seed: int) -> None:
    """Weights are non-negative integers that sum to the denominator for every value."""
    if not _listed(m):
        sample = m.privatize([0], rng=seeded(seed))
        can_check = m.coordinates(sample) is not None
        expect(can_check, m, f"has more than {_LISTED} outputs to enumerate; check it at a smaller k")
        for law in m.coordinate_law():
            expect(bool((law >= 0).all()) and abs(law.sum() - 1) < 1e-12, m, "a coordinate's law does not sum to 1")
        return
    for public in m.publics():
        outputs = m.outputs(public)
        expect(outputs.dtype == m.report_dtype, m, f"outputs have dtype {outputs.dtype}, not {m.report_dtype}")
        for value in range(m.k):
            weights = [m.weight(y, value) for y in outputs]
            expect(all(type(w) is int and w >= 0 for w in weights), m, "weights must be non-negative Python integers")
            total = sum(m.copies(y) * w for y, w in zip(outputs, weights, strict=True))
            expect(total == m.denominator, m, f"weights of value {value} sum to {total}, not {m.denominator}")


def check_loss(m: FrequencyOracle, seed: int) -> None:
    """The exact loss, enumerated where possible, is what `exact_epsilon` says, and within the guarantee."""
    exact, guarantee = m.exact_epsilon(), m.guarantee
    if guarantee is None:
        expect(exact > 0, m, "a mechanism without a guarantee must have a positive loss")
    else:
        expect(0 <= exact <= guarantee.epsilon, m, f"the exact loss {exact!r} exceeds the guarantee {guarantee}")
    if not _listed(m):
        return
    worst = enumerated_loss(m)
    same = worst == exact or abs(worst - exact) <= 1e-12 * max(1.0, exact)
    expect(same, m, f"enumeration finds a loss of {worst!r}, exact_epsilon says {exact!r}")


def check_tightness(m: FrequencyOracle | Numeric, seed: int) -> None:
    """A mechanism that claims to be tight spends its whole budget, up to epsilon 20."""
    guarantee = m.guarantee
    if guarantee is None or not m.tight or guarantee.epsilon > 20:
        return
    exact = m.exact_epsilon()
    problem = f"claims to be tight, but loses only {exact!r}; use finer weights, or set tight = False in the class"
    expect(exact >= guarantee.epsilon - 1e-8, m, problem)


def check_likelihood(m: FrequencyOracle, seed: int) -> None:
    """`log_prob` is the logarithm of the weights, and its ratios average one, as likelihood ratios must."""
    values = np.arange(200) % m.k
    reports = m.privatize(values, rng=seeded(seed))
    weights = [m.weight(y, int(v)) for y, v in zip(reports, values, strict=True)]
    expect(all(w > 0 for w in weights), m, "privatize made a report of weight zero")
    exact = np.array([log_ratio(w, m.denominator) for w in weights])
    stated = m.log_prob(reports, values)
    expect(np.allclose(stated, exact, rtol=1e-9, atol=1e-9), m, "log_prob differs from the logarithm of weight")
    if not isinstance(m.guarantee, LDP):
        return
    slow = type(m)._log_prob is FrequencyOracle._log_prob
    many = _some(m, 0, _MANY // 10 if slow else _MANY, seed)
    for other in range(1, min(m.k, 4)):
        ratio = np.exp(m.log_prob(many, other) - m.log_prob(many, 0))
        off = statistics.mean_alarm(ratio, 1.0, float(np.exp(m.exact_epsilon())), comparisons=3)
        expect(not off, m, f"the likelihood ratio of values {other} and 0 averages {ratio.mean():.6g}, not 1: {off}")


def check_sampler(m: FrequencyOracle, seed: int) -> None:
    """`privatize` follows the exact law, output by output, coordinate by coordinate, or given public randomness."""
    if _has_public(m):
        _check_public(m, *(_some(m, v, _MANY // 10, seed) for v in (0, m.k - 1)))
    for value in sorted({0, m.k // 2, m.k - 1}):
        if _has_public(m):
            _check_kinds(m, value, _some(m, value, 600, seed, 1))
        elif _listed(m):
            _check_outputs(m, value, _some(m, value, _MANY, seed))
        else:
            _check_coordinates(m, value, _some(m, value, _MANY // 4, seed))


def _check_outputs(m: FrequencyOracle, value: int, reports: Reports) -> None:
    seen = collecting.count_records(reports)
    expected, observed = [], []
    for y in m.outputs(None):
        expected.append(len(reports) * float(Fraction(m.weight(y, value), m.denominator)))
        observed.append(seen.pop(y.tobytes(), 0))
        expect(expected[-1] > 0 or not observed[-1], m, f"value {value} gave an output of weight zero")
    expect(not seen, m, f"value {value} gave a report that is not among the outputs")
    off = statistics.counts_alarm(np.array(expected), np.array(observed))
    expect(not off, m, f"privatize does not follow its law for value {value}: {off}")


def _check_coordinates(m: FrequencyOracle, value: int, reports: Reports) -> None:
    """Every coordinate has its law, and no two are correlated."""
    outcomes = m.coordinates(reports)
    expect(outcomes is not None, m, "has neither few outputs nor independent coordinates; check it at a smaller k")
    assert outcomes is not None
    null, own = m.coordinate_law()
    for j in sorted({0, 1, m.k // 2, value, (value + 1) % m.k, m.k - 1}):
        law = own if j == value else null
        observed = np.bincount(outcomes[:, j], minlength=law.size)
        off = statistics.counts_alarm(law * len(reports), observed, comparisons=10)
        expect(not off, m, f"coordinate {j} of value {value} does not follow its law: {off}")
    off = statistics.correlation_alarm(outcomes[:, :64].astype(np.float64))
    expect(not off, m, f"coordinates of value {value} depend on each other: {off}")


def _check_public(m: FrequencyOracle, first: Reports, second: Reports) -> None:
    """Public randomness must not depend on the value: no bit of it, nor the parity of any of many sets of bits."""
    bits = []
    for reports in (first, second):
        parts = np.array([public for y in reports if (public := m.public(y)) is not None], np.uint64)
        bits.append(np.unpackbits(parts.view(np.uint8).reshape(len(parts), -1), axis=1))
    off = statistics.bits_alarm(*bits)
    expect(not off, m, f"public randomness depends on the value: {off}")


def _check_kinds(m: FrequencyOracle, value: int, reports: Reports) -> None:
    """A kind of output is its weight for the true value, with how many values share it.

    A report may carry no public randomness, as one that reveals its value does: those are counted on their own.
    """
    chances: dict[tuple[int, int], list[float]] = {}
    seen: Counter[tuple[int, int]] = Counter()
    carrying = [report for report in reports if m.public(report) is not None]
    bare = 0.0
    for i, report in enumerate(carrying):
        outputs = [y for y in m.outputs(m.public(report)) if m.public(y) is not None]
        kinds = [_kind(m, y, value) for y in outputs]
        laws = [m.copies(y) * kind[0] for y, kind in zip(outputs, kinds, strict=True)]
        total = sum(laws)
        bare = 1 - float(Fraction(total, m.denominator))
        for kind, weight in zip(kinds, laws, strict=True):
            row = chances.setdefault(kind, [0.0] * len(carrying))
            row[i] += float(Fraction(weight, total))
        known = {y.tobytes(): kind for y, kind in zip(outputs, kinds, strict=True)}
        seen[known.get(report.tobytes()) or _kind(m, report, value)] += 1
    off = statistics.count_alarm(len(reports) - len(carrying), len(reports), bare) if carrying else ""
    expect(not off, m, f"reports of value {value} without public randomness: {off}")
    expect(set(seen) <= set(chances), m, f"value {value} gave a report that is not among the outputs")
    for kind, row in chances.items():
        off = statistics.mixed_count_alarm(seen[kind], np.array(row), comparisons=len(chances))
        expect(not off, m, f"privatize does not follow its law for value {value}: {off}")


def _kind(m: FrequencyOracle, report: Any, value: int) -> tuple[int, int]:
    weights = [m.weight(report, v) for v in range(m.k)]
    return weights[value], weights.count(weights[value])


def check_closed_forms(m: FrequencyOracle, seed: int) -> None:
    """`variances`, `variance`, `asr` and `bits` are what enumeration gives."""
    if _has_public(m) or not _listed(m):
        return
    shares = np.arange(m.k, 0, -1) / (m.k * (m.k + 1) / 2)
    stated, due = m.variances(shares, 7), FrequencyOracle.variances(m, shares, 7)
    expect(np.allclose(stated, due, rtol=1e-7), m, f"variances says {stated}, enumeration {due}")
    rare, due_rare = m.variance(5, 0.25), FrequencyOracle.variance(m, 5, 0.25)
    expect(bool(np.isclose(rare, due_rare, rtol=1e-7)), m, f"variance says {rare}, enumeration {due_rare}")
    success, due_success = m.asr(), FrequencyOracle.asr(m)
    expect(bool(np.isclose(success, due_success, rtol=1e-9)), m, f"asr says {success}, enumeration {due_success}")
    needed = (len(m.outputs(None)) - 1).bit_length()
    expect(m.bits >= needed, m, f"bits says {m.bits}, but the outputs need {needed}")


def check_estimate(m: FrequencyOracle, seed: int) -> None:
    """Estimates are unbiased: by enumeration where possible, else by the tallies of people who agree."""
    if _listed(m) and not _has_public(m):
        for value in range(m.k):
            mean = np.zeros(m.k)
            for y in m.outputs(None):
                share = float(Fraction(m.copies(y) * m.weight(y, value), m.denominator))
                mean += share * m.decode(m.tally(np.asarray(y, m.report_dtype)[None]), 1)
            truth = np.arange(m.k) == value
            expect(np.allclose(mean, truth, atol=1e-8), m, f"the estimate of value {value} is biased: {mean}")
        return
    for value in (0, m.k - 1):
        _check_tally(m, value, m.aggregate(_some(m, value, _MANY // 2, seed, 2)), "privatize and aggregate")


def check_simulation(m: FrequencyOracle, seed: int) -> None:
    """`simulate` draws from the same law, here for people who agree."""
    for value in (0, m.k - 1):
        counts = np.zeros(m.k, np.int64)
        counts[value] = _MANY // 2
        _check_tally(m, value, m.simulate(counts, rng=seeded([seed, value, 3])), "simulate")


def _check_tally(m: FrequencyOracle, value: int, aggregate: Aggregate, what: str) -> None:
    """Support counts are binomial, so are counts of outputs; other tallies decode to the truth within six sigma."""
    n = aggregate.n
    if isinstance(m, PureOracle) or m.sufficient:
        if isinstance(m, PureOracle) and not m.sufficient:
            chances = np.where(np.arange(m.k) == value, m.p_star, m.q_star)
        else:
            chances = np.array([float(Fraction(m.weight(y, value), m.denominator)) for y in m.outputs(None)])
        for at, (seen, chance) in enumerate(zip(aggregate.tally, chances, strict=True)):
            off = statistics.count_alarm(int(seen), n, float(chance), comparisons=m.k)
            expect(not off, m, f"{what}: entry {at} of the tally for value {value} is off: {off}")
    elif m.epsilon <= 5:
        truth = (np.arange(m.k) == value).astype(np.float64)
        z = (m.decode(aggregate.tally, n) - truth) / np.sqrt(m.variances(truth, n) + 1e-300)
        expect(bool(np.abs(z).max() < statistics.sigmas(m.k)), m, f"{what}: biased by {np.abs(z).max():.1f} sigma")


def check_attack(m: FrequencyOracle, seed: int) -> None:
    """The best guess succeeds as often as `asr` says."""
    values = np.arange(_MANY // 4) % m.k
    guesses = m.attack(m.privatize(values, rng=seeded([seed, 4])), rng=seeded([seed, 5]))
    off = statistics.count_alarm(int((guesses == values).sum()), values.size, m.asr())
    expect(not off, m, f"the attack does not succeed as often as asr() says: {off}")


def check_aggregation(m: FrequencyOracle, seed: int) -> None:
    """Merged parts equal the whole, in any order, and survive the wire."""
    collecting.merge(m, m.privatize(np.arange(300) % m.k, rng=seeded(seed)))


def check_possible(m: FrequencyOracle, seed: int) -> None:
    """`check_tally` lets real tallies pass: of every output alone, of reports, of simulations, and of nothing."""
    real = [m.aggregate(m.privatize(np.arange(n) % m.k, rng=seeded([seed, 6]))) for n in (0, 1, 300)]
    real += [m.simulate(np.arange(m.k) * n, rng=seeded([seed, 7])) for n in (1, 1000)]
    if _listed(m):
        outputs = m.outputs(m.publics()[0])[:_FEW]
        real += [m.aggregate(outputs[i : i + 1]) for i in range(len(outputs))]
    for aggregate in real:
        collecting.let_pass(m, aggregate)


def check_records(m: FrequencyOracle, seed: int) -> None:
    """`sample` gives records of `report_dtype`, one for each value."""
    collecting.record(m, m.sample(np.arange(50) % m.k, seeded(seed)), 50)


def check_travel(m: FrequencyOracle, seed: int) -> None:
    """The mechanism survives its dict, its spec, pickling and hashing; its reports survive their bytes."""
    expect(from_dict(m.to_dict()) == m, m, "from_dict(to_dict()) differs")
    expect(Spec.from_json(Spec(m).to_json()) == Spec(m), m, "the spec does not survive its JSON")
    collecting.travel(m, np.arange(50) % m.k, seed)


def check_randomness(m: FrequencyOracle, seed: int) -> None:
    """The same seed gives the same reports; without one, calls differ, unless nearly everybody reports the truth."""
    collecting.draw_anew(m, np.arange(5_000) % m.k, seed)


def check_input(m: FrequencyOracle, seed: int) -> None:
    """Bad values and reports are refused; no values give no reports."""
    stranger = Spec(m, Domain(labels=[f"label {i}" for i in range(m.k)])).aggregate(m.privatize([0]))
    collecting.refuse(m, [[-1], [m.k], [0.5], [float("nan")], ["0"], [[0]], [None]], stranger)


CHECKS: tuple[Callable[[FrequencyOracle, int], None], ...] = (
    check_law,
    check_loss,
    check_records,
    check_likelihood,
    check_sampler,
    check_closed_forms,
    check_forms,
    check_estimate,
    check_simulation,
    check_attack,
    check_aggregation,
    check_possible,
    check_travel,
    check_randomness,
    check_input,
    check_tightness,
)
