"""The law of the estimated total under each mechanism."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.analysis import capacity as forms
from hush.analysis import waves
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing.hashed import Hashed
from hush.mechanisms.histogram import NoisyHistogram, ServerTHE
from hush.mechanisms.modular import MSS
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning import accuracy
from hush.planning.capri import means, runs
from hush.planning.capri.adds import Adds, adds
from hush.planning.capri.disguises import together
from hush.planning.capri.hadamard import outputs_lattice
from hush.planning.capri.modular import modular_adds
from hush.planning.capri.population import Population
from hush.planning.capri.total import Draw, Law
from hush.randomness import seeded
from hush.types import Complexes, Floats
from hush.utility._simulate import fast
from hush.utility.balanced import BalancedLH
from hush.utility.oracle import UtilityOracle

_CELLS = 1 << 20
_COSTLY = 1 << 17


@singledispatch
def law(m: FrequencyOracle | Numeric, people: Population) -> Law:
    """The law of the estimated total of a population.

    It is exact for every mechanism here but MSS, hashing being taken as ideal; `kind` tells. MSS's is that of a
    first-order term, right but for one part in n. A mechanism of your own is enumerated; where its outputs are too
    many, or randomness is public, the law is taken as normal, with a variance from simulated collections. Register a
    law of your own with `law.register`.
    """
    if not isinstance(m, FrequencyOracle):
        raise ParameterError(message("mechanism", "must be a mechanism", m, "pass e.g. hush.OUE(k=4, epsilon=1.0)"))
    listed = accuracy._listed_law(m)
    if listed is None:
        return _simulated(m, people)
    return _channel(m, people, accuracy._decoded(m, listed[1]) @ people.amounts, listed[0])


@law.register(UE)
@law.register(Hashed)
@law.register(ServerTHE)
def _(m: UE | Hashed | ServerTHE, people: Population) -> Law:
    a, counts, p, q = people.amounts, people.counts, m.p_star, m.q_star

    def draw(runs: int, rng: np.random.Generator) -> Floats:
        supports = rng.binomial(counts, p, (runs, a.size)) + rng.binomial(people.n - counts, q, (runs, a.size))
        return (supports @ a - people.n * q * a.sum()) / (p - q)

    return _scaled(
        people,
        p - q,
        forms.independent_bits(a, counts, p, q),
        waves.independent_bits_wave(a, counts, p, q),
        waves.independent_bits_swings(a, counts, p, q),
        shift=-people.n * q * float(a.sum()),
        step=forms.lattice(a.tolist()),
        draw=_in_parts(draw, a.size),
        work=2.0 * a.size,
    )


@law.register
def _(m: GRR, people: Population) -> Law:
    a, counts, p, q = people.amounts, people.counts, m.p_star, m.q_star

    def draw(runs: int, rng: np.random.Generator) -> Floats:
        kept = rng.binomial(counts, p - q, (runs, a.size))
        spread = rng.multinomial(people.n - kept.sum(axis=1), np.full(a.size, 1 / a.size))
        return ((kept + spread) @ a - people.n * q * a.sum()) / (p - q)

    return _scaled(
        people,
        p - q,
        forms.direct(a, counts, p, q),
        waves.direct_wave(a, counts, p, q),
        waves.direct_swings(a, counts, p, q),
        shift=people.n * float(a[0] - q * a.sum()),
        step=forms.lattice(a.tolist(), from_first=True),
        draw=_in_parts(draw, a.size),
        work=2.0 * a.size,
    )


@law.register
def _(m: SS, people: Population) -> Law:
    a, gap = people.amounts, m.p_star - m.q_star
    least = (m.omega * float(a[0]) - m.q_star * float(a.sum())) / gap
    return _summed(m, people, adds(m, a), start=people.n * least, step=forms.lattice(a.tolist(), from_first=True) / gap)


@law.register
def _(m: HR, people: Population) -> Law:
    found = adds(m, people.amounts)
    least, step = outputs_lattice(m, people.amounts)
    return _summed(m, people, found, start=people.n * least, step=step)


@law.register(PGR)
@law.register(BalancedLH)
def _(m: PGR | BalancedLH, people: Population) -> Law:
    gap, middle = m.p_star - m.q_star, m.q_star * float(people.amounts.sum())
    step = forms.lattice(people.amounts.tolist()) / gap
    return _summed(m, people, adds(m, people.amounts), start=-people.n * middle / gap, step=step)


@law.register
def _(m: MSS, people: Population) -> Law:
    found = modular_adds(m, people.amounts, people.counts)
    return _summed(m, people, found, kind="exact" if len(m.moduli) == 1 else "near")


@law.register
def _(m: UtilityOracle, people: Population) -> Law:
    held = people.counts[m._sensitive]
    if held.sum() == people.n:
        amounts = people.amounts[m._sensitive]
        return law(m.base, Population(held, amounts, float(amounts @ held)))
    found = adds(m, people.amounts)
    if found is None:
        return law.dispatch(object)(m, people)
    start, step = together(m, people.amounts) or (0.0, 0.0)
    return _summed(m, people, found, start=people.n * start, step=step)


@law.register
def _(m: NoisyHistogram, people: Population) -> Law:
    a, grid = people.amounts, m.grid
    variance = people.n * grid.variance * float(a @ a)
    steps = grid.steps.astype(np.float64)
    reach = 24 / math.sqrt(variance) if variance else 1.0
    return _scaled(
        people,
        m._span,
        variance,
        waves.coordinates_wave(a, people.counts, steps, grid.probabilities, reach=reach),
        waves.coordinates_swings(a, people.counts, grid.probabilities, math.sqrt(grid.variance)),
        shift=-people.n * grid.mean * float(a.sum()),
        step=forms.lattice(a.tolist()),
        draw=_collections(m, people),
        work=4.0 * a.size * steps.size,
    )


@law.register
def _(m: Numeric, people: Population) -> Law:
    unit = m.width / m.steps
    held = people.counts > 0
    counts, places = people.counts[held], m._places(people.amounts[held])
    below = np.minimum(np.floor(places), m.steps - 1)
    part, ticks = places - below, below.astype(np.int64)
    low, high = m.pieces(ticks), m.pieces(ticks + 1)

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        at = np.asarray(theta) * unit
        each = runs.turns(low, at, places)
        if part.any():
            each = (1 - part) * each + part * runs.turns(high, at, places)
        return [(waves.log1p(each), counts)]

    def one_by_one(runs: int, rng: np.random.Generator) -> Floats:
        values = np.repeat(people.amounts, people.counts)
        return np.array([m.estimate_mean(m.aggregate(m.privatize(values, rng=rng))).total for _ in range(runs)])

    at_once = means.totals(m, people)
    draw, work = (one_by_one, float(people.n)) if at_once is None else (at_once, means.WORK)
    offset, step = m.lattice or (0.0, 0.0)
    variance = unit**2 * float(m._variances(places) @ counts)
    start = people.n * (m.low + unit * offset)
    wave = waves.Wave(terms, 4 * counts.size, size=unit * float(np.sqrt(m._variances(places)) @ counts))
    swings = runs.swings(low, (1 - part) * counts).joined(runs.swings(high, part * counts)).scaled(1 / unit)
    return Law(people.expected, variance, draw, work, wave, start, unit * step, swings=swings)


def _scaled(
    people: Population,
    scale: float,
    variance: float,
    wave: waves.Wave,
    swings: waves.Swings,
    *,
    shift: float,
    step: float,
    draw: Draw,
    work: float,
) -> Law:
    """The total is (S + shift) / scale, where S is a multiple of the step."""
    return Law(
        people.expected,
        variance / scale**2,
        draw,
        work,
        wave.scaled(scale),
        shift / scale,
        step / scale,
        swings=swings.scaled(scale),
    )


def _channel(m: FrequencyOracle, people: Population, says: Floats, chances: Floats) -> Law:
    """Of outputs that each say something about the total, and have a probability for each value."""
    step, least = 0.0, float(says.min())
    found = accuracy._on_lattice(says)
    if found is not None:
        off = float(np.abs(says - least - found[0] * found[1]).max())
        step = found[0] if people.n * off < 1e-3 * found[0] else 0.0
    return Law(
        people.expected,
        forms.channel(says, chances, people.counts),
        _collections(m, people),
        float(people.n),
        waves.channel_wave(says, chances, people.counts),
        people.n * least,
        step,
        swings=waves.channel_swings(says, chances, people.counts),
    )


def _summed(
    m: FrequencyOracle,
    people: Population,
    found: Adds | None,
    *,
    start: float = 0.0,
    step: float = 0.0,
    kind: str = "exact",
) -> Law:
    """Of a sum over people, each of whose reports adds something that is known."""
    assert found is not None
    held = people.counts > 0
    counts, middle = people.counts[held], found.mean[held]

    def terms(theta: npt.NDArray[Any]) -> list[tuple[Complexes, npt.NDArray[Any]]]:
        return [(waves.log1p(found.turns(theta)[:, held]) - 1j * theta[:, None] * middle, counts)]

    return Law(
        people.expected,
        float(found.variance @ people.counts),
        _collections(m, people),
        _work(m, people.n),
        waves.Wave(terms, found.cells, size=float((np.abs(middle) + np.sqrt(found.variance[held])) @ counts)),
        start,
        step,
        costly=found.cells > _COSTLY // 4,
        kind=kind,
        swings=found.swings(people.counts) if kind == "exact" else None,
    )


def _work(m: FrequencyOracle, n: int) -> float:
    """What a collection costs to simulate, in random numbers, roughly."""
    inner = m.base if isinstance(m, UtilityOracle) else m
    if isinstance(m, UtilityOracle) and m._others.size and not fast(m._giving):
        return float(n)
    if isinstance(inner, HR):
        return 5000.0 + n / 6
    if isinstance(inner, (SS, BalancedLH, MSS)):
        return 5000.0 + (1000.0 if isinstance(inner, MSS) else 800.0) * inner.k
    return 5000.0 + 40.0 * inner.k


def _simulated(m: FrequencyOracle, people: Population) -> Law:
    """Of a mechanism that can only be run."""
    draw = _collections(m, people)
    runs = max(30, min(400, 2_000_000 // people.n))
    spread = float(draw(runs, seeded(7)).var(ddof=1))
    return Law(people.expected, spread, draw, float(people.n), kind="normal")


def _collections(m: FrequencyOracle, people: Population) -> Draw:
    """Whole collections, simulated one by one."""

    def draw(runs: int, rng: np.random.Generator) -> Floats:
        n, counts = people.n, people.counts
        shares = [m.decode(m.simulate(counts, rng=rng).tally, n) for _ in range(runs)]
        return n * np.array([share @ people.amounts for share in shares])

    return draw


def _in_parts(draw: Draw, cells: int) -> Draw:
    """So many runs at a time that they fit into memory."""
    rows = max(1, _CELLS // cells)

    def whole(runs: int, rng: np.random.Generator) -> Floats:
        parts = [draw(min(rows, runs - start), rng) for start in range(0, runs, rows)]
        return np.concatenate(parts) if parts else np.zeros(0)

    return whole
