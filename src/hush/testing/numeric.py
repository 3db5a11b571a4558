"""What every mechanism for means owes its users.

Each check holds the code against the exact law that it claims. What goes in is a number, which is rounded to one of two
neighbouring grid points, its ticks; the law of a number between two of them is a mixture of theirs. So sums, losses and
bias are checked at every tick, in exact integers, and the rounding with numbers between ticks. Choose epsilon and steps
so small that outputs times ticks are at most 65,536. Statistical checks raise a false alarm with a probability of at
most about 1e-9 each; the seed is fixed unless given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from hush import statistics
from hush.estimation import Aggregate
from hush.exact.loss import worst_ratio
from hush.exact.thresholds import SCALE
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import NumericForms
from hush.mechanisms.registry import from_dict
from hush.mechanisms.spec import Spec
from hush.randomness import seeded
from hush.testing import collecting
from hush.testing.mechanism import check_tightness
from hush.testing.problem import expect
from hush.types import Floats, Ints

_MANY, _LEAST = 200_000, 400
_CELLS = 1 << 16
"""Outputs times ticks that are enumerated one by one, in exact integers."""


def _ticks(m: Numeric) -> Ints:
    return np.arange(m.steps + 1)


def _unit(m: Numeric) -> float:
    """From one tick to the next."""
    return m.width / m.steps


def _weights(m: Numeric) -> list[list[int]]:
    """The exact law, a row for each output and a column for each tick."""
    few = m.size * (m.steps + 1) <= _CELLS
    expect(few, m, f"has more than {_CELLS} outputs times ticks to enumerate; check it at fewer steps or less epsilon")
    return [[m.weight(y, t) for t in range(m.steps + 1)] for y in m.outputs()]


def _law(m: Numeric) -> Floats:
    """The same as probabilities."""
    return np.array([[float(Fraction(w, m.denominator)) for w in row] for row in _weights(m)])


def _said(m: Numeric) -> list[Fraction]:
    """What each output says about its tick, exactly, as `moments` tells of a tally of it alone."""
    return [m.moments(m.tally(y[None]), 1)[0] for y in m.outputs()]


def _sent(m: Numeric) -> Ints:
    """The outputs that are ever sent: a budget may leave out a part of them."""
    return np.array([y for y, row in enumerate(_weights(m)) if any(row)])


def _numbers(m: Numeric) -> Floats:
    """Both ends, a tick within, and numbers between two ticks: low, high and in the middle of the range."""
    places = sorted({0.0, 0.25, float(m.steps // 2), m.steps / 2 + 0.125, m.steps - 0.375, float(m.steps)})
    return np.array([min(m.low + place * _unit(m), m.high) for place in places])


def _mixed(m: Numeric, law: Floats, number: float) -> Floats:
    """The law of outputs for a number: that of the tick below and of the one above, as near as each is."""
    place = (number - m.low) * m.steps / m.width
    below = min(int(place), m.steps - 1)
    return np.asarray((below + 1 - place) * law[:, below] + (place - below) * law[:, below + 1], np.float64)


def _everybody(m: Numeric, n: int) -> Floats:
    """Numbers all over the range."""
    return np.linspace(m.low, m.high, n)


def check_law(m: Numeric, seed: int) -> None:
    """Weights are non-negative integers that sum to the denominator for every tick; `chances` are their shares."""
    weights, outputs = _weights(m), m.outputs()
    expect(outputs.dtype == m.report_dtype, m, f"outputs have dtype {outputs.dtype}, not {m.report_dtype}")
    expect(outputs.tolist() == list(range(m.size)), m, "outputs must be 0..size-1")
    whole = all(type(w) is int and w >= 0 for row in weights for w in row)
    expect(whole, m, "weights must be non-negative Python integers")
    for tick in range(m.steps + 1):
        total = sum(row[tick] for row in weights)
        expect(total == m.denominator, m, f"weights of tick {tick} sum to {total}, not {m.denominator}")
    close = np.allclose(m.chances(_ticks(m)), _law(m), rtol=1e-9, atol=0.0)
    expect(close, m, "chances differs from the weights over the denominator")


def check_loss(m: Numeric, seed: int) -> None:
    """The exact loss over all ticks, hence over all numbers, is what `exact_epsilon` says, and within the guarantee."""
    exact, worst = m.exact_epsilon(), worst_ratio(_weights(m))
    promised = m.guarantee.epsilon
    expect(0 <= exact <= promised, m, f"the exact loss {exact!r} exceeds the guarantee {m.guarantee}")
    expect(worst <= promised, m, f"enumeration finds a loss of {worst!r}, which exceeds the guarantee {m.guarantee}")
    same = abs(worst - exact) <= 1e-12 * max(1.0, exact)
    expect(same, m, f"enumeration finds a loss of {worst!r}, exact_epsilon says {exact!r}")


def check_rounding(m: Numeric, seed: int) -> None:
    """A number at a tick is rounded to it; one between two keeps its mean, as near as doubles have it."""
    at = np.minimum(m.low + _ticks(m) * _unit(m), m.high)
    for numbers in (at, _numbers(m)):
        floors, parts = m.ticks(numbers)
        kept = [Fraction(int(f)) + Fraction(int(p), SCALE) for f, p in zip(floors, parts, strict=True)]
        due = [(Fraction(float(x)) - Fraction(m.low)) * m.steps / Fraction(m.width) for x in numbers]
        slack = Fraction(m.steps, 1 << 51) + Fraction(1, SCALE)
        near = all(abs(k - d) <= slack for k, d in zip(kept, due, strict=True))
        expect(near, m, "ticks does not keep the mean of a number")
    ends, parts = m.ticks([m.low, m.high])
    expect(ends.tolist() == [0, m.steps] and not parts.any(), m, "low and high must be rounded to the ends of the grid")


def check_records(m: Numeric, seed: int) -> None:
    """`sample` gives records of `report_dtype`, one for each number."""
    collecting.record(m, m.sample(*m.ticks(_everybody(m, 50)), seeded(seed)), 50)


def check_sampler(m: Numeric, seed: int) -> None:
    """`privatize` follows the exact law, output by output, at the ends, at every tick and between some."""
    law, numbers = _law(m), _numbers(m)
    for i, number in enumerate(numbers):
        reports = m.privatize(np.full(_MANY, number), rng=seeded([seed, i]))
        seen = np.bincount(reports.astype(np.int64), minlength=m.size)
        expect(seen.size == m.size, m, f"the number {number:g} gave a report that is not among the outputs")
        due = _MANY * _mixed(m, law, float(number))
        expect(not seen[due == 0].any(), m, f"the number {number:g} gave an output of weight zero")
        off = statistics.counts_alarm(due, seen)
        expect(not off, m, f"privatize does not follow its law for the number {number:g}: {off}")
    _sampled_at_every_tick(m, law, seed)


def _sampled_at_every_tick(m: Numeric, law: Floats, seed: int) -> None:
    """Fewer reports of each, since a wrong branch may concern one number alone."""
    each, ticks = max(_MANY // (m.steps + 1), _LEAST), _ticks(m)
    numbers = np.minimum(m.low + ticks * _unit(m), m.high)
    reports = m.privatize(np.repeat(numbers, each), rng=seeded([seed, 14])).astype(np.int64).reshape(-1, each)
    for tick in ticks.tolist():
        seen = np.bincount(reports[tick], minlength=m.size)
        expect(seen.size == m.size, m, f"tick {tick} gave a report that is not among the outputs")
        off = statistics.counts_alarm(each * law[:, tick], seen, comparisons=ticks.size)
        expect(not off, m, f"privatize does not follow its law at tick {tick}: {off}")


def check_estimate(m: Numeric, seed: int) -> None:
    """What a report says is its tick on average, by exact fractions; `decode` and `moments` say the same."""
    weights, said, outputs = _weights(m), _said(m), m.outputs()
    for tick in range(m.steps + 1):
        mean = Fraction(sum(row[tick] * s for row, s in zip(weights, said, strict=True)), m.denominator)
        expect(mean == tick, m, f"the estimate is biased: tick {tick} is {float(mean):.9g} on average")
    plain = np.array([float(s) for s in said])
    expect(np.allclose(m.decode(outputs), plain, rtol=1e-9, atol=1e-9), m, "decode differs from moments")
    few = outputs[_sent(m)[:: max(1, m.size // 64)]]
    total, squares = m.moments(m.tally(few), few.size)
    says = [said[int(y)] for y in few]
    expect(total == sum(says), m, "moments is not the sum of what reports say")
    expect(squares == sum(s * s for s in says), m, "moments is not the sum of squares of what reports say")
    found, due = m.estimate(m.aggregate(few)).mean, m.low + _unit(m) * float(total / few.size)
    expect(math.isclose(found, due, rel_tol=1e-9, abs_tol=1e-9 * m.width), m, f"the mean is {found}, not {due}")


def check_closed_forms(m: Numeric, seed: int) -> None:
    """`pieces`, `variance`, `lattice` and `bits` are what enumeration gives."""
    law, said, ticks = _law(m), np.array([float(s) for s in _said(m)]), _ticks(m)
    theta = np.array([0.01, 0.3, 2.0])
    waves = 1 + m.pieces(ticks).phi_less_one(theta, np.zeros(ticks.size))
    same = np.allclose(waves, np.exp(1j * theta[:, None] * said) @ law, atol=1e-9)
    expect(same, m, "pieces is not the law of what a report says")
    each = []
    for number in _numbers(m):
        column = _mixed(m, law, float(number))
        due = float(column @ (said - column @ said) ** 2) * _unit(m) ** 2
        each.append(m.variance(values=[number]))
        expect(math.isclose(each[-1], due, rel_tol=1e-7), m, f"variance says {each[-1]} at {number:g}, not {due}")
    together = m.variance(5, _numbers(m))
    expect(math.isclose(together, np.mean(each) / 5, rel_tol=1e-9), m, "variance of several is not their mean")
    dense = max(m.variance(values=[x]) for x in _everybody(m, 257))
    worst = m.variance()
    expect(dense <= worst * (1 + 1e-9), m, f"variance says {worst} at worst, but some number has {dense}")
    expect(worst <= dense * 1.01, m, f"variance says {worst} at worst, no number has more than {dense}")
    if m.lattice is not None:
        steps = (said[_sent(m)] - m.lattice[0]) / m.lattice[1]
        expect(np.allclose(steps, np.round(steps), atol=1e-6), m, "what reports say is not on the lattice")
    expect(m.bits >= (m.size - 1).bit_length(), m, f"bits says {m.bits}, but the outputs need more")


def check_forms(m: Numeric, seed: int) -> None:
    """What its companion answers is what the general forms do; totals that it draws follow their law."""
    general, amounts = NumericForms(m), _numbers(m)
    stated, due = m.forms.chances(amounts), general.chances(amounts)
    expect(stated is not None and due is not None and np.allclose(stated, due), m, "chances of its forms are off")
    counts = 5 + 3 * np.arange(amounts.size)
    found, other = (forms.total_law(amounts, counts) for forms in (m.forms, general))
    same = math.isclose(found.mean, other.mean, abs_tol=1e-9 * m.width) and math.isclose(found.variance, other.variance)
    expect(same, m, "the moments of total_law of its forms differ from those of the general forms")
    runs, spread = 2_000, math.sqrt(other.variance)
    drawn = found.draw(runs, seeded([seed, 10]))
    for z in (-1.0, 0.02, 1.0):
        cap = other.mean + z * spread
        off = statistics.count_alarm(int((drawn <= cap).sum()), runs, other.at_most(cap), comparisons=3)
        expect(not off, m, f"totals that its forms draw do not follow the law: at most {cap:.6g}: {off}")


def check_simulation(m: Numeric, seed: int) -> None:
    """`simulate` draws from the same law, and so do reports that are aggregated: their sum is near its mean."""
    said, law = np.array([float(s) for s in _said(m)]), _law(m)
    number = float(_numbers(m)[1])
    chances, values = _mixed(m, law, number), np.full(_MANY // 4, number)
    mean = float(chances @ said)
    spread = float(chances @ (said - mean) ** 2)
    ways = {
        "simulate": m.simulate(values, rng=seeded([seed, 11])),
        "privatize and aggregate": m.aggregate(m.privatize(values, rng=seeded([seed, 12]))),
    }
    for what, made in ways.items():
        gap = float(m.moments(made.tally, made.n)[0]) - made.n * mean
        off = statistics.sum_alarm(gap, made.n * spread, float(np.ptp(said)), comparisons=2)
        expect(made.n == values.size and not off, m, f"{what}: what reports say is off: {off}")


def check_aggregation(m: Numeric, seed: int) -> None:
    """Merged parts equal the whole, in any order, and survive the wire."""
    collecting.merge(m, m.privatize(_everybody(m, 300), rng=seeded(seed)))


def check_possible(m: Numeric, seed: int) -> None:
    """`check_tally` lets real tallies pass: of outputs alone, of reports, and of nothing."""
    for n in (0, 1, 300):
        collecting.let_pass(m, m.aggregate(m.privatize(_everybody(m, n), rng=seeded([seed, 13]))))
    sent = m.outputs()[_sent(m)]
    for at in (0, sent.size // 2, sent.size - 1):
        collecting.let_pass(m, m.aggregate(sent[at : at + 1]))


def check_travel(m: Numeric, seed: int) -> None:
    """The mechanism survives its dict, its spec, pickling and hashing; its reports survive their bytes."""
    expect(from_dict(m.to_dict()) == m, m, "from_dict(to_dict()) differs")
    expect(Spec.from_json(Spec(m).to_json()) == Spec(m), m, "the spec does not survive its JSON")
    collecting.travel(m, _everybody(m, 50), seed)


def check_randomness(m: Numeric, seed: int) -> None:
    """The same seed gives the same reports; without one, calls differ, unless reports nearly never do."""
    collecting.draw_anew(m, _everybody(m, 5_000), seed)


def check_input(m: Numeric, seed: int) -> None:
    """Bad numbers and reports are refused; `clip` moves what lies outside to the end that it passed."""
    below, above = m.low - m.width, m.high + m.width
    bad: list[Any] = [[below], [above], [m.low, above], [math.nan], [math.inf], ["a"], [[m.low]], [None], None]
    whole = m.aggregate(m.privatize(_everybody(m, 100), rng=seeded(seed)))
    collecting.refuse(m, bad, Aggregate(whole.n, whole.tally, "0" * 64))
    expect(m.clip([below, above]).tolist() == [m.low, m.high], m, "clip does not move numbers to the ends")
    expect(m.privatize(m.low).shape == (), m, "one number must give one report")


CHECKS: tuple[Callable[[Numeric, int], None], ...] = (
    check_law,
    check_loss,
    check_rounding,
    check_records,
    check_sampler,
    check_estimate,
    check_closed_forms,
    check_forms,
    check_simulation,
    check_aggregation,
    check_possible,
    check_travel,
    check_randomness,
    check_input,
    check_tightness,
)
