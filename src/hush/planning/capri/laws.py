"""The law of the estimated total under each mechanism: its mean, its variance, its exact probabilities, and draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import numpy.typing as npt

from hush.analysis import capacity as forms
from hush.errors import ParameterError, message
from hush.mechanisms._base import FrequencyOracle
from hush.mechanisms._hashed import Hashed
from hush.mechanisms._numeric import Numeric
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.histogram import NoisyHistogram, ServerTHE
from hush.mechanisms.subset import SS
from hush.mechanisms.unary import UE
from hush.planning import accuracy
from hush.planning.capri.hadamard import total_law
from hush.planning.capri.population import Population
from hush.randomness import seeded

Floats = npt.NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], Floats]

_CELLS = 1 << 20
_COSTLY = 1 << 17


@dataclass(frozen=True, eq=False)
class Law:
    """The law of an estimated total.

    Args:
        mean: The total that it is right about on average.
        variance: For a fixed population.
        draw: Estimated totals of so many collections.
        work: Random numbers that one collection takes.
        log: Logarithm of the characteristic function, of the total less its mean; None where it is not known.
        offset: A lattice point, where totals lie on a lattice.
        step: Distance of lattice points; 0 without a lattice.
        costly: Whether an exact probability takes long.
    """

    mean: float
    variance: float
    draw: Draw
    work: float
    log: forms.Log | None = None
    offset: float = 0.0
    step: float = 0.0
    costly: bool = False

    def at_most(self, cap: float) -> float:
        """The probability that the estimated total does not exceed the cap: exact, or normal where that is unknown."""
        if self.log is None:
            return 1 - forms.normal(self.variance, cap - self.mean)
        return forms.at_most(self.log, math.sqrt(self.variance), self._point(cap), self.step)

    def roughly(self, cap: float) -> float | None:
        """The same to about four digits, from one value of the characteristic function; None where that is not safe."""
        deviation = math.sqrt(self.variance)
        if self.log is None or deviation < 50 * self.step:
            return None
        return forms.edgeworth(self.log, deviation, self._point(cap))

    def _point(self, cap: float) -> float:
        """The cap, relative to the mean; halfway to the next lattice point above."""
        if not self.step:
            return cap - self.mean
        at = (cap - self.offset) / self.step
        whole = math.floor(at + 1e-9 + 1e-14 * abs(at))
        return self.offset + (whole + 0.5) * self.step - self.mean


@singledispatch
def law(m: FrequencyOracle | Numeric, people: Population) -> Law:
    """The law of the estimated total of a population.

    It is exact for every mechanism here, hashing being taken as ideal. One of your own is enumerated; where its
    outputs are too many, or randomness is public, the variance comes from simulated collections and the law is taken
    as normal. Register a law of your own with `law.register`.
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
        forms.independent_bits_log(a, counts, p, q),
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
        forms.direct_log(a, counts, p, q),
        shift=people.n * float(a[0] - q * a.sum()),
        step=forms.lattice((a - a[0]).tolist()),
        draw=_in_parts(draw, a.size),
        work=2.0 * a.size,
    )


@law.register
def _(m: SS, people: Population) -> Law:
    a, counts, p, q = people.amounts, people.counts, m.p_star, m.q_star
    return _scaled(
        people,
        p - q,
        forms.subsets(a, counts, m.omega, p),
        forms.subsets_log(a, counts, m.omega, p),
        shift=people.n * float(m.omega * a[0] - q * a.sum()),
        step=forms.lattice((a - a[0]).tolist()),
        draw=_collections(m, people),
        work=2000.0 * a.size + 10.0 * a.size * m.omega,
        costly=a.size * math.sqrt(m.omega * a.size) > _COSTLY,
    )


@law.register
def _(m: HR, people: Population) -> Law:
    (inside, outside), p = m._sizes, m.p_star
    blocks, rows = m._place(np.arange(m.k))
    held = np.zeros((m.blocks, m.width))
    held[blocks, rows] = people.amounts
    says, log, variance = total_law(held, blocks, rows, people.counts, p / inside, (1 - p) / outside)
    least = float(says.min())
    return _scaled(
        people,
        m._gap,
        variance,
        log,
        shift=people.n * least,
        step=forms.lattice(np.unique(says - least).tolist()),
        draw=_collections(m, people),
        work=float(people.n),
    )


@law.register
def _(m: NoisyHistogram, people: Population) -> Law:
    a, grid = people.amounts, m.grid
    variance = people.n * grid.variance * float(a @ a)
    steps = grid.steps.astype(np.float64)
    reach = 16 / math.sqrt(variance) if variance else 1.0
    return _scaled(
        people,
        m._span,
        variance,
        forms.coordinates_log(a, people.counts, steps, grid.probabilities, reach=reach),
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
    everyone = np.repeat(people.amounts, people.counts) if people.n <= _CELLS else None

    def log(theta: npt.NDArray[np.generic]) -> forms.Complexes:
        at = np.asarray(theta) * unit
        each = low.characteristic(at, places)
        if part.any():
            each = (1 - part) * each + part * high.characteristic(at, places)
        return np.asarray(np.einsum("tv,v->t", np.log(each), counts.astype(np.complex128)))

    def draw(runs: int, rng: np.random.Generator) -> Floats:
        values = np.repeat(people.amounts, people.counts) if everyone is None else everyone
        return np.array([m.estimate_mean(m.aggregate(m.privatize(values, rng=rng))).total for _ in range(runs)])

    offset, step = m.lattice or (0.0, 0.0)
    variance = unit**2 * float(m._variances(places) @ counts)
    start = people.n * (m.low + unit * offset)
    return Law(people.expected, variance, draw, float(people.n), log, start, unit * step)


def _scaled(
    people: Population,
    scale: float,
    variance: float,
    log: forms.Log,
    *,
    shift: float,
    step: float,
    draw: Draw,
    work: float,
    costly: bool = False,
) -> Law:
    """The total is (S + shift) / scale, where S is a multiple of the step."""
    return Law(
        people.expected,
        variance / scale**2,
        draw,
        work,
        lambda theta: log(theta / scale),
        shift / scale,
        step / scale,
        costly,
    )


def _channel(m: FrequencyOracle, people: Population, says: Floats, chances: Floats) -> Law:
    """Of outputs that each say something about the total, and have a probability for each value."""
    found = accuracy._on_lattice(says)
    step = 0.0 if found is None else found[0]
    return Law(
        people.expected,
        forms.channel(says, chances, people.counts),
        _collections(m, people),
        float(people.n),
        forms.channel_log(says, chances, people.counts),
        people.n * float(says.min()),
        step,
    )


def _simulated(m: FrequencyOracle, people: Population) -> Law:
    """Of a mechanism that can only be run."""
    draw = _collections(m, people)
    runs = max(30, min(400, 2_000_000 // people.n))
    spread = float(draw(runs, seeded(7)).var(ddof=1))
    return Law(people.expected, spread, draw, float(people.n))


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
