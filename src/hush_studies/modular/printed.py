"""What the paper prints, as it prints it: to be held against what is right."""

from __future__ import annotations

import math

import numpy as np

from hush.analysis.modular import Blocks
from hush.analysis.modular_system import System
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.weighing import average_bits
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS
from hush.mechanisms.subset.lengths import subset_bits
from hush.types import Floats
from hush_studies.modular.attacks import supported


def bound(epsilon: float, n: float) -> float:
    """The worst error of the near-optimal protocols, table 1: 4E / (n (E - 1)²)."""
    return 4 * math.exp(epsilon) / (n * math.expm1(epsilon) ** 2)


def error(m: FrequencyOracle, n: int) -> float:
    """The column "MSE (worst-case)" of table 1; for MSS with the true condition number."""
    if m.name() == "GRR":
        return (math.exp(m.epsilon) + m.k - 2) / (n * math.expm1(m.epsilon) ** 2)
    return bound(m.epsilon, n) * (m.blocks.system.condition(digits=4) if isinstance(m, MSS) else 1.0)


def bits(m: FrequencyOracle) -> float:
    """The column "Communication" of table 1; for MSS the sum over all blocks."""
    if isinstance(m, MSS):
        omegas = m.omegas
        return (len(m.moduli) - 1).bit_length() + sum(map(subset_bits, m.moduli, omegas))
    if isinstance(m, SS):
        return subset_bits(m.k, m.omega)
    return m.k if m.name() == "OUE" else math.ceil(math.log2(m.k))


def abstract_bits(m: MSS) -> float:
    """The abstract's: one residue for a report, as if a subset had one member; for the largest modulus."""
    return (len(m.moduli) - 1).bit_length() + math.ceil(math.log2(max(m.moduli)))


def true_bits(m: FrequencyOracle) -> float:
    """Bits of a report; for MSS on average, equation 2."""
    if isinstance(m, MSS):
        return average_bits(m.moduli, m.omegas)
    return subset_bits(m.k, m.omega) if isinstance(m, SS) else m.k if m.name() == "OUE" else m.bits


def attack(m: FrequencyOracle) -> float:
    """Attack success: equation 7 for MSS, equation 15 for PGR, and table 1 for the others (RAPPOR's for OUE)."""
    e, k = math.exp(m.epsilon), m.k
    if isinstance(m, MSS):
        several = zip(m.moduli, m.omegas, m.blocks.p.tolist(), strict=True)
        return sum(p / (w * math.ceil(k / size)) for size, w, p in several) / len(m.moduli)
    if isinstance(m, PGR):
        favoured = supported(m)
        return float(np.where(favoured > 0, e / (k + (e - 1) * favoured), 1 / k).mean())
    if isinstance(m, SS):
        return e / (m.omega * e + k - m.omega)
    if m.name() == "GRR":
        return e / (e + k - 1)
    root = math.exp(m.epsilon / 2)
    return (root - (root / (root + 1)) ** (k - 1) * (root - 1)) / k


def decoding(m: FrequencyOracle, n: int) -> float:
    """The column "Server decoding time" of table 1, its leading orders taken for numbers of operations."""
    if isinstance(m, MSS):
        return n + m.k * len(m.moduli) + sum(m.moduli)
    if isinstance(m, PGR):
        return n + m.k * math.exp(m.epsilon) * math.log(m.k)
    if isinstance(m, SS):
        return n * m.omega + m.k
    return n + m.k if m.name() == "GRR" else n * m.k


def table_attack(m: MSS) -> float:
    """Attack success of MSS by table 1, which is the exact mean over all values."""
    e = math.exp(m.epsilon)
    several = zip(m.moduli, m.omegas, strict=True)
    return sum(size * e / (w * e + size - w) for size, w in several) / (len(m.moduli) * m.k)


def covariance(law: Blocks, j: int, residues: Floats, reports: float) -> Floats:
    """Section 4.3: that of a multinomial."""
    level = law.q[j] + (law.p[j] - law.q[j]) * residues
    return np.asarray((np.diag(level) - np.outer(level, level)) / (reports * (law.p[j] - law.q[j]) ** 2))


def equation_3(law: Blocks, frequencies: Floats, n: int) -> float:
    """The error with G = A_w⁺ and multinomial blocks; without the cross terms, which are worse still."""
    each, at, total = n / len(law.moduli), 0, 0.0
    gain = np.linalg.pinv(System(law.k, law.moduli, law.weights * each).dense())
    for j, residues in enumerate(law.system.folded(frequencies)):
        block = gain[:, at : at + residues.size]
        total += float(np.trace(block @ covariance(law, j, residues, each) @ block.T))
        at += residues.size
    return total / law.k


def theorem_4(k: int, moduli: tuple[int, ...], epsilon: float) -> float:
    """The bound on the condition number, with the least β whose band holds the moduli; infinite if ℓ ≤ T*."""
    count, e = len(moduli), math.exp(epsilon)
    beta = max(k / (count * min(moduli)), count * max(moduli) / k, 1.0)
    least = math.log(k / (beta * count))
    collisions = math.ceil(math.log(k) / least) if least > 0 else math.inf
    if collisions >= count:
        return math.inf
    return (beta + e) / (1 / beta + e) * (count + collisions) / (count - collisions)


def fallback(k: int, count: int) -> tuple[int, ...]:
    """Algorithm 3, lines 12 to 17: primes raised in turn, whether or not another one is the same."""

    def following(n: int) -> int:
        n += 1
        while any(n % d == 0 for d in range(2, math.isqrt(n) + 1)):
            n += 1
        return n

    moduli, at = [], max(math.ceil(k ** (1 / count)), 2) - 1
    for _ in range(count):
        at = following(at)
        moduli.append(at)
    turn = 0
    while math.prod(moduli) < k or sum(m - 1 for m in moduli) < k:
        moduli[turn] = following(moduli[turn])
        turn = (turn + 1) % count
    return tuple(moduli)
