"""Fakes against modular subset selection.

Its decoder weighs blocks by their reports, so estimates are not linear in them: what a fake decodes to is its effect at
the margin, where few fakes join a population whose values are equally frequent and which is spread equally over blocks.
A report of block j with the subset S then adds, times n,

    sum over S of I_j  -  q_j sum of I_j  -  (p_j - q_j) I_j · c_j  +  r/k

to the r targets, where I_j is `MSS.influence` and c_j holds the frequencies of the residues. What many fakes gain is
solved for as the decoder does: less than the margin says, since they make their own block heavier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hush.analysis.modular_system import System
from hush.types import Floats, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.modular.mechanism import MSS

_FEW = 64
_ROUNDS = 20


def largest(m: MSS, targets: int | Values) -> float:
    """The largest sum over the targets; over so many values, that of the best set that a search finds.

    The search takes turns: the best report for a set, then the best set for a report, from single values on. It never
    gives too much. For one target of at most 64 values it is exact, beyond that the value with the most influence
    through its own residues is looked at.
    """
    chosen = best_set(m, targets) if isinstance(targets, int) else targets
    return max(_best_sums(m, m.influence(chosen), chosen.size))


def best_set(m: MSS, size: int) -> Values:
    """So many values for which a report can decode to much."""
    return max((_climbed(m, start, size) for start in _starts(m)), key=lambda pair: pair[0])[1]


def gained(m: MSS, targets: int | Values, fraction: float, frequencies: float | Floats) -> float:
    """What the maximal attack adds to the targets' frequency, for many people.

    Args:
        m: The mechanism.
        targets: Values, or how many.
        fraction: Share of fakes among all reports.
        frequencies: Of all values among genuine people; or of all targets, which share it as the others do the rest.
    """
    if fraction == 0:
        return 0.0
    chosen = best_set(m, targets) if isinstance(targets, int) else targets
    if not isinstance(frequencies, np.ndarray):
        wanted = np.isin(np.arange(m.k), chosen)
        rest = (1 - frequencies) / max(1, m.k - chosen.size)
        frequencies = np.where(wanted, frequencies / chosen.size, rest)
    influence = m.influence(chosen)
    j = int(np.argmax(_best_sums(m, influence, chosen.size)))
    law = m.blocks
    people = np.full(law.m.size, (1 - fraction) / law.m.size)
    seen = law.system.folded(frequencies)
    fakes = (_chances(influence[j], m.omegas[j]) - law.q[j]) / (law.p[j] - law.q[j])
    seen[j] = (people[j] * seen[j] + fraction * fakes) / (people[j] + fraction)
    people[j] += fraction
    heavier = System(m.k, m.moduli, law.weights * people)
    after = heavier.solve(heavier.unfolded(seen))
    return float(after[chosen].sum() - frequencies[chosen].sum())


def mean(m: MSS, targets: int | Values) -> float:
    """The mean of a random subset of a random block: any residue as often as another, so 1/m of it each."""
    law = m.blocks
    decoded = float((law.weights / law.m).sum()) * law.system.solve(np.ones(m.k))
    return float(np.sort(decoded)[-targets:].sum() if isinstance(targets, int) else decoded[targets].sum())


def reports(m: MSS, targets: Values, size: int, rng: np.random.Generator) -> Reports:
    """Reports with the largest sum: of the best block, and of equally good residues any."""
    influence = m.influence(targets)
    j = int(np.argmax(_best_sums(m, influence, targets.size)))
    sure, equal = _top(influence[j], m.omegas[j])
    drawn = np.argsort(rng.random((size, equal.size)), axis=1)[:, : m.omegas[j] - sure.size]
    members = np.zeros((size, max(m.omegas)), np.int64)
    chosen = np.concatenate([np.broadcast_to(sure, (size, sure.size)), equal[drawn]], axis=1)
    members[:, : m.omegas[j]] = np.sort(chosen, axis=1)
    return m.packed(np.full(size, j), members)


def random(m: MSS, size: int, rng: np.random.Generator) -> Reports:
    """A random subset of a random block."""
    which = rng.integers(0, len(m.moduli), size)
    members = np.zeros((size, max(m.omegas)), np.int64)
    for j, (modulus, omega) in enumerate(zip(m.moduli, m.omegas, strict=True)):
        here = np.flatnonzero(which == j)
        for rows in np.array_split(here, max(1, here.size * modulus >> 22)):
            drawn = np.argpartition(rng.random((rows.size, modulus)), omega - 1, axis=1)[:, :omega]
            members[rows, :omega] = np.sort(drawn, axis=1)
    return m.packed(which, members)


def _best_sums(m: MSS, influence: list[Floats], targets: int) -> list[float]:
    """For each block, what its best subset decodes to over the targets."""
    law = m.blocks
    even = law.system.folded(np.full(m.k, 1 / m.k))
    found = []
    for part, omega, p, q, shares in zip(influence, m.omegas, law.p, law.q, even, strict=True):
        best = np.partition(part, part.size - omega)[part.size - omega :].sum()
        found.append(float(best - q * part.sum() - (p - q) * (part @ shares) + targets / m.k))
    return found


def _top(influence: Floats, omega: int) -> tuple[Values, Values]:
    """Residues that every best subset has, and those that are equally good for its other members."""
    last = np.partition(influence, influence.size - omega)[influence.size - omega]
    near = 1e-9 * np.abs(influence).max()
    return np.flatnonzero(influence > last + near), np.flatnonzero(np.abs(influence - last) <= near)


def _chances(influence: Floats, omega: int) -> Floats:
    """How likely each residue is in a best subset."""
    sure, equal = _top(influence, omega)
    chances = np.zeros(influence.size)
    chances[equal] = (omega - sure.size) / equal.size
    chances[sure] = 1.0
    return chances


def _starts(m: MSS) -> Iterator[int]:
    """Every value where they are few; else for each block the one with the most influence through its own residue."""
    if m.k <= _FEW:
        yield from range(m.k)
        return
    for modulus in m.moduli:
        yield int(np.argmax(m.blocks.system.own_entries(modulus)))


def _climbed(m: MSS, start: int, size: int) -> tuple[float, Values]:
    """The largest sum over a set of so many values, and the set, from the set of one value on."""
    chosen, found = np.array([start]), (-np.inf, np.array([start]))
    for _ in range(_ROUNDS):
        influence = m.influence(chosen)
        sums = _best_sums(m, influence, chosen.size)
        j = int(np.argmax(sums))
        if chosen.size == size:
            if sums[j] <= found[0] + 1e-12 * abs(found[0]):
                break
            found = sums[j], chosen
        chosen = np.argsort(_decoded(m, j, influence[j]), kind="stable")[-size:]
    return found


def _decoded(m: MSS, j: int, influence: Floats) -> Floats:
    """What the best subset of a block for some targets decodes to, for every value."""
    law, modulus = m.blocks, m.moduli[j]
    p, q = law.p[j], law.q[j]
    held = np.zeros(modulus)
    held[np.argsort(influence, kind="stable")[-m.omegas[j] :]] = 1.0
    even = np.bincount(np.arange(m.k) % modulus, minlength=modulus) / m.k
    right = ((held - q) / (p - q) - even)[np.arange(m.k) % modulus]
    return np.asarray(law.weights[j] * law.m.size * law.system.solve(right) + 1 / m.k)
