"""The conformance suite: what every mechanism owes its users, yours included.

>>> from hush import GRR
>>> check_mechanism(GRR(k=3, epsilon=1.0))

Each check holds the code against the exact law that it claims: integer weights that sum to their denominator, a loss
within the guarantee, a sampler, an estimate, a simulation and an attack that follow the law. Statistical checks
raise a false alarm with a probability of at most 1e-9 each; the seed is fixed unless given, so a failure repeats.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.domain import Domain
from hush.errors import HushError, ParameterError
from hush.estimation import Aggregate
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._exact import smallest_epsilon, worst_ratio
from hush.mechanisms.guarantee import ApproxLDP
from hush.mechanisms.registry import from_dict, register
from hush.mechanisms.spec import Spec
from hush.randomness import seeded

FALSE_ALARM = 1e-9
"""Probability that a statistical check fails though the mechanism is right."""

Floats = npt.NDArray[np.float64]


class ConformanceError(AssertionError):
    """A mechanism does not do what it claims; the message says which check failed and how."""


def check_mechanism(mechanism: FrequencyOracle, *, seed: int = 20_261) -> None:
    """Run every check; raise ConformanceError at the first that fails."""
    register(type(mechanism))
    for check in CHECKS:
        check(mechanism, seed)


def _expect(condition: bool, mechanism: FrequencyOracle, problem: str) -> None:
    if not condition:
        raise ConformanceError(f"{mechanism}: {problem}")


def _enumerated(m: FrequencyOracle) -> bool:
    """Whether the outputs are few enough to list."""
    try:
        m.outputs(m.publics()[0])
    except ParameterError:
        return False
    return True


def check_law(m: FrequencyOracle, seed: int) -> None:
    """Weights are non-negative integers that sum to the denominator for every value."""
    if not _enumerated(m):
        return
    for public in m.publics():
        outputs = m.outputs(public)
        _expect(outputs.dtype == m.report_dtype, m, f"outputs have dtype {outputs.dtype}, not {m.report_dtype}")
        for value in range(m.k):
            weights = [m.weight(y, value) for y in outputs]
            _expect(all(type(w) is int and w >= 0 for w in weights), m, "weights must be non-negative Python integers")
            total = sum(m.copies(y) * w for y, w in zip(outputs, weights, strict=True))
            _expect(total == m.denominator, m, f"weights of value {value} sum to {total}, not {m.denominator}")


def check_loss(m: FrequencyOracle, seed: int) -> None:
    """The exact loss, enumerated, is what `exact_epsilon` says, and within the guarantee; equal where it is tight."""
    exact, guarantee = m.exact_epsilon(), m.guarantee
    if guarantee is None:
        _expect(exact > 0, m, "a mechanism without a guarantee must have a positive loss")
    else:
        _expect(exact <= guarantee.epsilon, m, f"the exact loss {exact!r} exceeds the guarantee {guarantee}")
        if m.tight and guarantee.epsilon <= 20:
            _expect(exact >= guarantee.epsilon - 1e-9, m, f"claims to be tight, but loses only {exact!r}")
    if not _enumerated(m):
        return
    delta = Fraction(guarantee.delta) if isinstance(guarantee, ApproxLDP) else Fraction(0)
    losses = []
    for public in m.publics():
        outputs = m.outputs(public)
        law = [[m.weight(y, v) for v in range(m.k)] for y in outputs]
        copies = [m.copies(y) for y in outputs]
        losses.append(smallest_epsilon(law, copies, m.denominator, delta) if delta else worst_ratio(law))
    worst = max(losses)
    same = worst == exact or abs(worst - exact) <= 1e-12 * max(1.0, exact)
    _expect(same, m, f"enumeration finds a loss of {worst!r}, exact_epsilon says {exact!r}")


def check_likelihood(m: FrequencyOracle, seed: int) -> None:
    """`log_prob` is the logarithm of the weights, and averages as a likelihood must."""
    rng = seeded(seed)
    values = np.arange(200) % m.k
    reports = m.privatize(values, rng=rng)
    stated = m.log_prob(reports, values)
    weights = [m.weight(y, int(v)) for y, v in zip(reports, values, strict=True)]
    _expect(all(w > 0 for w in weights), m, "privatize made a report of weight zero")
    exact = np.array([_log(w, m.denominator) for w in weights])
    _expect(np.allclose(stated, exact, rtol=1e-9, atol=1e-9), m, "log_prob differs from the logarithm of weight")
    if m.guarantee is None or m.epsilon > 6:
        return
    many = m.privatize(np.zeros(20_000, np.int64), rng=rng)
    for other in range(1, min(m.k, 4)):
        ratio = np.exp(m.log_prob(many, other) - m.log_prob(many, 0))
        _expect_mean(m, ratio, 1.0, f"the likelihood ratio of values {other} and 0")


def _log(weight: int, denominator: int) -> float:
    from hush.mechanisms._thresholds import log_ratio

    return log_ratio(weight, denominator)


def check_sampler(m: FrequencyOracle, seed: int) -> None:
    """`privatize` follows the exact law: chi-square over outputs, or over kinds of output given public randomness."""
    if not _enumerated(m):
        return
    if len(m.publics()) > 1:
        _check_public(m, *(m.privatize(np.full(20_000, v), rng=seeded([seed, v])) for v in (0, m.k - 1)))
    for value in sorted({0, m.k // 2, m.k - 1}):
        if len(m.publics()) > 1:
            _check_kinds(m, value, m.privatize(np.full(600, value), rng=seeded([seed, value])))
        else:
            _check_outputs(m, value, m.privatize(np.full(40_000, value), rng=seeded([seed, value])))


def _check_outputs(m: FrequencyOracle, value: int, reports: npt.NDArray[Any]) -> None:
    from scipy.stats import chi2

    seen = Counter(y.tobytes() for y in reports)
    expected, observed = [], []
    for y in m.outputs(None):
        expected.append(len(reports) * float(Fraction(m.weight(y, value), m.denominator)))
        observed.append(seen.pop(y.tobytes(), 0))
        _expect(expected[-1] > 0 or not observed[-1], m, f"value {value} gave an output of weight zero")
    _expect(not seen, m, f"value {value} gave a report that is not among the outputs")
    order = np.argsort(expected)
    cells = _merged(np.array(expected)[order], np.array(observed)[order])
    statistic = sum((o - e) ** 2 / e for e, o in cells)
    p = float(chi2.sf(statistic, max(len(cells) - 1, 1)))
    _expect(p > FALSE_ALARM, m, f"privatize does not follow its law for value {value} (chi-square, p = {p:.2g})")


def _merged(expected: Floats, observed: npt.NDArray[np.int64], least: float = 20.0) -> list[tuple[float, int]]:
    """Join rare cells until each expects enough."""
    cells: list[tuple[float, int]] = []
    e, o = 0.0, 0
    for more_e, more_o in zip(expected, observed, strict=True):
        e, o = e + float(more_e), o + int(more_o)
        if e >= least:
            cells.append((e, o))
            e, o = 0.0, 0
    if cells and e:
        last = cells.pop()
        cells.append((last[0] + e, last[1] + o))
    return cells or [(e, o)]


def _check_public(m: FrequencyOracle, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> None:
    """Public randomness must not depend on the value: compare its lowest and highest bits between two values."""
    from scipy.stats import chi2_contingency

    publics = [np.array([m.public(y) for y in reports], np.int64) for reports in (first, second)]
    for part in range(publics[0].shape[1]):
        columns = [p[:, part] for p in publics]
        top = max(1, (int(max(c.max() for c in columns)) + 1) // 16)
        for coarse in ([c % 16 for c in columns], [c // top for c in columns]):
            table = np.array([np.bincount(c, minlength=17) for c in coarse])
            p = float(chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)
            _expect(p > FALSE_ALARM / 10, m, f"public randomness depends on the value (p = {p:.2g})")


def _check_kinds(m: FrequencyOracle, value: int, reports: npt.NDArray[Any]) -> None:
    """A kind is the weight for the true value, with how many values share it."""
    mean: Counter[tuple[int, int]] = Counter()
    variance: Counter[tuple[int, int]] = Counter()
    seen: Counter[tuple[int, int]] = Counter()
    for report in reports:
        chances: Counter[tuple[int, int]] = Counter()
        for y in m.outputs(m.public(report)):
            kind = _kind(m, y, value)
            chances[kind] += float(Fraction(m.copies(y) * kind[0], m.denominator))  # type: ignore[assignment]
        for kind, chance in chances.items():
            mean[kind] += chance
            variance[kind] += chance * (1 - chance)
        seen[_kind(m, report, value)] += 1
    _expect(set(seen) <= set(mean), m, f"value {value} gave a report that is not among the outputs")
    for kind in mean:
        if variance[kind] > 20:
            z = (seen[kind] - mean[kind]) / variance[kind] ** 0.5
            _expect(abs(z) < _z(len(mean)), m, f"privatize does not follow its law for value {value} (z = {z:.1f})")


def _kind(m: FrequencyOracle, report: Any, value: int) -> tuple[int, int]:
    weights = [m.weight(report, v) for v in range(m.k)]
    return weights[value], weights.count(weights[value])


def _z(comparisons: int = 1) -> float:
    """How many standard deviations a comparison may be off, so that all together seldom alarm falsely.

    The normal law is only approximate so far out; a tenth is added for that.
    """
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARM / (2 * comparisons))) * 1.1


def _expect_mean(m: FrequencyOracle, sample: Floats, mean: float, what: str) -> None:
    spread = sample.std() / np.sqrt(sample.size) + 1e-12
    z = (sample.mean() - mean) / spread
    _expect(abs(z) < _z(3), m, f"{what} averages {sample.mean():.6g} where {mean:.6g} is due (z = {z:.1f})")


def check_estimate(m: FrequencyOracle, seed: int) -> None:
    """Estimates are unbiased, by enumeration where possible, and spread as `variances` says."""
    if _enumerated(m) and len(m.publics()) == 1:
        for value in range(m.k):
            mean = np.zeros(m.k)
            for y in m.outputs(None):
                share = float(Fraction(m.copies(y) * m.weight(y, value), m.denominator))
                mean += share * m.decode(m.tally(np.asarray(y, m.report_dtype)[None]), 1)
            truth = np.arange(m.k) == value
            _expect(np.allclose(mean, truth, atol=1e-8), m, f"the estimate of value {value} is biased: {mean}")
    counts = _population(m)
    values = np.repeat(np.arange(m.k), counts)
    runs = [m.estimate(m.aggregate(m.privatize(values, rng=seeded([seed, run])))).frequencies for run in range(_RUNS)]
    _check_moments(m, np.array(runs), counts, "privatize and estimate")


def check_simulation(m: FrequencyOracle, seed: int) -> None:
    """`simulate` gives estimates with the same mean and spread."""
    counts, rng = _population(m), seeded(seed)
    runs = [m.estimate(m.simulate(counts, rng=rng)).frequencies for _ in range(_RUNS)]
    _check_moments(m, np.array(runs), counts, "simulate and estimate")


_RUNS = 150


def _population(m: FrequencyOracle) -> npt.NDArray[np.int64]:
    """Unequal counts, about 400 people, one value absent where there are three or more."""
    counts = np.maximum(400 // (np.arange(m.k) + 2), 1)
    counts[-1] = 0 if m.k > 2 else counts[-1]
    return counts.astype(np.int64)


def _check_moments(m: FrequencyOracle, runs: Floats, counts: npt.NDArray[np.int64], what: str) -> None:
    from scipy.stats import chi2

    n = int(counts.sum())
    truth, claimed = counts / n, m.variances(counts / n, n)
    z = (runs.mean(axis=0) - truth) / np.sqrt(claimed / len(runs))
    _expect(bool(np.abs(z).max() < _z(m.k)), m, f"{what} is biased (largest z = {np.abs(z).max():.1f})")
    scaled = runs.var(axis=0, ddof=1) / claimed * (len(runs) - 1)
    low, high = chi2.ppf([FALSE_ALARM / (2 * m.k), 1 - FALSE_ALARM / (2 * m.k)], len(runs) - 1)
    off = scaled[(scaled < low * 0.9) | (scaled > high * 1.1)] / (len(runs) - 1)
    _expect(off.size == 0, m, f"{what} has {off} times the variance that `variances` claims")


def check_attack(m: FrequencyOracle, seed: int) -> None:
    """The best guess succeeds as often as `asr` says."""
    values = np.arange(20_000) % m.k
    guesses = m.attack(m.privatize(values, rng=seeded([seed, 1])), rng=seeded([seed, 2]))
    hits, chance = float((guesses == values).mean()), m.asr()
    z = (hits - chance) / max(np.sqrt(chance * (1 - chance) / values.size), 1e-12)
    _expect(abs(z) < _z(), m, f"the attack succeeds with {hits:.5f}, asr says {chance:.5f} (z = {z:.1f})")


def check_aggregation(m: FrequencyOracle, seed: int) -> None:
    """Merged parts equal the whole, in any order, and survive the wire."""
    reports = m.privatize(np.arange(300) % m.k, rng=seeded(seed))
    whole = m.aggregate(reports)
    parts = [m.aggregate(reports[i::3]) for i in range(3)]
    _expect(parts[2] + parts[0] + parts[1] == whole, m, "merged aggregates differ from the whole")
    _expect(m.aggregate(iter(np.array_split(reports, 4))) == whole, m, "a stream aggregates differently")
    _expect(Aggregate.from_bytes(whole.to_bytes()) == whole, m, "an aggregate does not survive its bytes")
    _expect(whole + m.aggregate(reports[:0]) == whole, m, "an empty aggregate is not neutral")


def check_travel(m: FrequencyOracle, seed: int) -> None:
    """The mechanism survives its dict, its spec, pickling and hashing; its reports survive their bytes."""
    _expect(from_dict(m.to_dict()) == m, m, "from_dict(to_dict()) differs")
    _expect(Spec.from_json(Spec(m).to_json()) == Spec(m), m, "the spec does not survive its JSON")
    twin = pickle.loads(pickle.dumps(m))
    _expect(twin == m and hash(twin) == hash(m), m, "pickling changes it")
    reports = m.privatize(np.arange(50) % m.k, rng=seeded(seed))
    _expect(reports.dtype == m.report_dtype and reports.shape == (50,), m, "reports have another dtype or shape")
    wire = np.frombuffer(reports.tobytes(), m.report_dtype)
    _expect(m.aggregate(wire) == m.aggregate(reports), m, "reports do not survive their bytes")
    _expect(m.bits <= 8 * m.report_dtype.itemsize, m, "a report holds fewer bits than `bits`")


def check_randomness(m: FrequencyOracle, seed: int) -> None:
    """The same seed gives the same reports; without one, no two calls agree."""
    values = np.arange(500) % m.k
    first = m.privatize(values, rng=seeded(seed))
    _expect(bool((m.privatize(values, rng=seeded(seed)) == first).all()), m, "the same seed gave other reports")
    secure = [m.privatize(values).tobytes() for _ in range(2)]
    _expect(secure[0] != secure[1], m, "two calls without a seed gave the same reports")


def check_input(m: FrequencyOracle, seed: int) -> None:
    """Bad values and reports are refused; no values give no reports."""
    _expect(m.privatize([]).shape == (0,), m, "no values must give no reports")
    for bad in ([-1], [m.k], [0.5], [float("nan")], ["0"], [[0]], [None]):
        _expect_refusal(m, lambda bad=bad: m.privatize(bad), f"privatize accepted {bad}")  # type: ignore[misc]
    _expect_refusal(m, lambda: m.aggregate(np.zeros(3, "f4")), "aggregate accepted floats")
    _expect_refusal(m, lambda: m.estimate(m.aggregate(m.privatize([]))), "estimate accepted zero reports")
    stranger = Spec(m, Domain(labels=[f"label {i}" for i in range(m.k)])).aggregate(m.privatize([0]))
    _expect_refusal(m, lambda: m.estimate(stranger), "estimate accepted an aggregate of another spec")


def _expect_refusal(m: FrequencyOracle, act: Callable[[], object], problem: str) -> None:
    try:
        act()
    except HushError:
        return
    raise ConformanceError(f"{m}: {problem}")


CHECKS: tuple[Callable[[FrequencyOracle, int], None], ...] = (
    check_law,
    check_loss,
    check_likelihood,
    check_sampler,
    check_estimate,
    check_simulation,
    check_attack,
    check_aggregation,
    check_travel,
    check_randomness,
    check_input,
)
