"""Each correction of the paper's formulas, as something that is printed beside what is right: the part of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hush.analysis import projective
from hush.analysis.modular_system import rank
from hush.analysis.primes import primes
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import repaired_moduli
from hush.mechanisms.projective import PGR
from hush_studies import agreement, rule
from hush_studies.check import Check, ours, paper
from hush_studies.modular import printed
from hush_studies.modular.checks import span
from hush_studies.study import Table


def corrections(table: Table) -> list[Check]:
    """All of them, in the paper's order."""
    return [_agree(table), *_estimates(table), *_errors(table), *_moduli(table), *_guesses(table), *_projective()]


def _agree(table: Table) -> Check:
    """Whether what is measured is what is right; with a ridge, its own mean."""
    rows = Table(table.columns, [row for row in table.rows if row[table.columns.index("measured")] is not None])
    ridge = np.array([about == "ridge" for about in rows.column("about")])
    aim = np.where(ridge, rows.numbers("printed"), rows.numbers("right"))
    score = np.abs(rows.numbers("measured") - aim) / rows.numbers("measured_stderr")
    return agreement.agree("measured is what is right", score)


def _wrong(
    claim: str, says: str, wanted: rule.Rule, numbers: Iterable[float] | float, found: str, source: str
) -> Check:
    """A claim that is known to be wrong."""
    return paper(claim, says, wanted, numbers, found, source, known=False)


def misread(epsilon: float = 0.5) -> float:
    """The least expected estimate where all hold value 3, if counts are divided by their sum: the truth there is 0."""
    m = MSS(k=20, epsilon=epsilon, moduli=(7, 11, 5))
    law, parts = m.blocks, []
    for j, residues in enumerate(law.system.folded(np.eye(20)[3])):
        seen = law.q[j] + (law.p[j] - law.q[j]) * residues
        parts.append((seen / m.omegas[j] - law.q[j]) / (law.p[j] - law.q[j]))
    return float(law.system.fit(parts).min())


def _estimates(table: Table) -> list[Check]:
    kept = table.where(about="ridge").numbers("printed")
    least = misread()
    design = MSS(k=30, epsilon=1.0, moduli=(7, 11, 13, 5)).blocks.system
    truth = np.arange(1, 31) / 465
    back = float(np.abs(design.fit(design.folded(truth)) - truth).max())
    zero = math.floor(7 / (math.exp(4.0) + 1))
    return [
        _wrong("members of a subset, m = 7, ε = 4: ⌊m/(E + 1)⌋", "≥ 1", rule.at_least(1), zero, str(zero),
               "algorithm 1"),
        _wrong("counts divided by their sum: least estimate, k = 20, ε = 0.5", "unbiased: 0", rule.equal(0), least,
               f"{least:.2f}", "3.2"),
        paper("λ = 0: the mean estimate is off the truth by", "exactly unbiased", rule.equal(0), back, f"{back:.0e}",
              "theorem 2"),
        paper("ridge 1/ε²: mean estimate of a frequency of 1, n = 1,000", "practically unbiased: 1", rule.alike(), kept,
              f"{kept.min():.3f} at ε = 0.5", "remark 1"),
    ]  # fmt: skip


def _errors(table: Table) -> list[Check]:
    rows = table.where(about="equation 3")
    literal, right, bound = (rows.numbers(name) for name in ("printed", "right", "bound"))
    even = np.full(30, 1 / 30)
    law = MSS(k=30, epsilon=1.0, moduli=(7, 11, 13, 5)).blocks
    at, exact = printed.equation_3(law, even, 3_000), float(law.variances(even, 3_000, fixed=False).mean())
    limit = law.system.condition() * printed.bound(1.0, 3_000)
    m = MSS(k=9, epsilon=0.5, moduli=(9,))
    ninth, gap = np.full(9, 1 / 9), float(m.blocks.p[0] - m.blocks.q[0]) ** 2
    true, said = m.blocks.covariance(0, ninth) * gap, printed.covariance(m.blocks, 0, ninth, 1.0) * gap
    whole = float(said.sum())
    cross = _cross()
    closely = rule.alike()
    return [
        _wrong("k = 30, ε = 1, n = 3,000: equation 3 over the exact error", f"{at:.4f}", closely, at / exact,
               f"{exact:.4f}", "4.3"),
        _wrong("equation 3 over the exact error, all budgets", "1", closely, literal / right, span(literal / right),
               "4.3"),
        _wrong("k = 30, ε = 1, n = 3,000: the exact error over theorem 3's bound", f"≤ {limit:.3f}", rule.at_most(1),
               exact / limit, f"{exact:.4f}", "theorem 3"),
        _wrong("the exact error over theorem 3's bound, all budgets", "≤ 1", rule.at_most(1), right / bound,
               span(right / bound), "theorem 3"),
        _wrong("m = 9, ε = 0.5: printed covariance of two members, less the exact one", f"{said[0, 1]:.4f}",
               rule.equal(0), said[0, 1] - true[0, 1], f"{true[0, 1]:.4f}", "4.3"),
        _wrong("m = 9, ε = 0.5: variance of the number of members, by the printed covariance", "0", rule.equal(0),
               whole,
               f"{whole:.0f}; by the exact one {abs(float(true.sum())):.0f}", "4.3"),
        _wrong("printed covariance between blocks, people drawn independently", f"{cross:.4f}", rule.equal(0), cross,
               "0", "4.3"),
    ]  # fmt: skip


def _cross(n: int = 1_000) -> float:
    """The printed covariance of a residue modulo 7 and one modulo 11, for equally frequent residues, n reports."""
    law = MSS(k=20, epsilon=0.5, moduli=(7, 11, 5)).blocks
    scaled = law.omegas / law.m / (law.p - law.q)
    return -float(scaled[0] * scaled[1]) / n


def _moduli(table: Table) -> list[Check]:
    rows = table.where(about="theorem 4")
    bound, true = rows.numbers("printed"), rows.numbers("right")
    repeated = printed.fallback(30, 2)
    ours_moduli = repaired_moduli(30, [7, 11], primes(30), None)
    full = rank(11, (5, 7))
    return [
        _wrong("k = 100, moduli 29 31 37 41: κ over theorem 4's bound", f"≤ {bound[0]:.2f}", rule.at_most(1),
               true[0] / bound[0], f"{true[0]:.0f}", "theorem 4"),
        _wrong(f"κ over theorem 4's bound, {true.size} choices of primes", "≤ 1", rule.at_most(1), true / bound,
               span(true / bound), "theorem 4"),
        _wrong("k = 11, moduli 5 and 7, Σ(m − 1) < k: rank", "< 11", rule.below(11), full, str(full), "4.3"),
        _wrong("k = 30: moduli of the fallback that occur twice", "pairwise coprime", rule.at_most(0),
               len(repeated) - len(set(repeated)), f"{_told(repeated)}; ours {_told(ours_moduli)}", "algorithm 3"),
    ]  # fmt: skip


def _told(moduli: tuple[int, ...] | None) -> str:
    return "none" if moduli is None else ", ".join(map(str, moduli))


def _guesses(table: Table) -> list[Check]:
    rows = table.where(about="equation 7")
    said, right = rows.numbers("printed"), rows.numbers("right")
    return [
        _wrong("k = 30, moduli 2 7 11 13: equation 7 over the exact DRA", "an upper bound", rule.at_least(1),
               said / right, span(said / right), "4.4"),
    ]  # fmt: skip


def orthogonal(q: int) -> tuple[int, int]:
    """The least and the largest number of points orthogonal to one, in three dimensions, if one reckons modulo q."""
    points = projective.unrank(np.arange(projective.points(q, 3)), q, 3)
    sizes = (points @ points.T % q == 0).sum(axis=1)
    return int(sizes.min()), int(sizes.max())


def _projective() -> list[Check]:
    m = PGR(k=8, epsilon=4.0, q=5)
    said, right = printed.attack(m), m.asr()
    least, most = orthogonal(4)
    e = math.exp(4.0)
    low = 1 / ((e - 1) * m.favoured + m.size)
    pair = (e * m.favoured * low, low * ((e - 1) * m.shared + m.favoured))
    same = max(abs(pair[0] - m.p_star), abs(pair[1] - m.q_star))
    wide = projective.points(4, 2)
    return [
        _wrong("q = 5, t = 3, k = 8, ε = 4: equation 15 over the exact DRA", f"{said:.4f}", rule.equal(), said / right,
               f"{right:.4f}", "C"),
        _wrong("q = 4, modulo 4: points on a hyperplane", str(wide), rule.equal(wide), (least, most),
               f"{least} to {most}", "C"),
        ours("PGR: p and q, and from c_set and c_int, differ by", "equal", rule.equal(0), same,
             f"{max(same, 1e-15):.0e}", "ours"),
    ]  # fmt: skip
