"""How often intervals cover, by enumeration: the tables of the estimation page.

    python docs/covered.py            prints them
    python docs/covered.py --write    writes them into docs/estimation.md

Nothing here is simulated. Tallies of pure oracles are two binomials, sums of noise and of places are convolved, and of
mechanisms whose law depends on everybody all reports of three people are gone through.
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hush
from hush.estimation import Aggregate, Estimate
from hush.estimation.laws import Supports
from hush.mechanisms.pure import PureOracle
from hush.types import Floats

PAGE = Path(__file__).parent / "estimation.md"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"
PURE = (
    ("GRR", 2, 1.0), ("GRR", 100, 3.0), ("GRR", 1000, 10.0), ("SS", 100, 1.0), ("OUE", 100, 1.0), ("OUE", 1000, 8.0),
    ("OLH", 100, 2.0), ("PGR", 100, 3.0),
)  # fmt: skip
SIZES = (1, 3, 10, 100, 10_000, 1_000_000)
TOGETHER = (100, 10_000, 1_000_000)
Found = tuple[float, float, float]
"""The least coverage of the default and of the normal law, and the largest ratio of their mean widths."""


def binomials(n: int, held: int, p: float, q: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """Tallies and their probabilities, but for 1e-25."""
    from scipy import stats
    from scipy.signal import fftconvolve

    firsts, laws = [], []
    for people, chance in ((held, p), (n - held, q)):
        middle, spread = people * chance, np.sqrt(people * chance * (1 - chance))
        first, last = max(0, int(middle - 11 * spread - 40)), min(people, int(middle + 11 * spread + 40))
        firsts.append(first)
        laws.append(stats.binom.pmf(np.arange(first, last + 1), people, chance))
    law = np.convolve(*laws) if min(each.size for each in laws) < 4000 else np.maximum(fftconvolve(*laws), 0.0)
    return sum(firsts) + np.arange(law.size), law


def pure(m: PureOracle, n: int, items: int = 1) -> Found:
    """Over several numbers of people who hold the value; for many items, all of them missed alike."""
    found = []
    for held in sorted({min(x, n) for x in (0, 1, 2, 3, n // 100, n // 10, n // 2, n)}):
        tallies, law = binomials(n, held, m.p_star, m.q_star)
        raw = (tallies / n - m.q_star) / (m.p_star - m.q_star)
        errors = np.sqrt(m.variances(np.clip(raw, 0.0, 1.0), n))
        supports = Supports(tallies, n, m.p_star, m.q_star)
        estimate = Estimate(raw, n, hush.Domain(size=max(2, raw.size)), errors, law=supports)
        found.append(compared(estimate, law, held / n, items))
    return least(found)


def compared(estimate: Any, law: Floats, truth: float, items: int = 1) -> Found:
    """The coverage of both methods, and their widths over each other, over all estimates of a law."""
    level, covered, widths = 1 - 0.05 / items, [], []
    for method in (None, "normal"):
        low, high = estimate.interval(level, method=method)
        inside = float(law @ ((low <= truth) & (truth <= high)))
        covered.append(max(1 - items * max(law.sum() - inside, 0.0), 0.0))
        widths.append(float(law @ (np.minimum(high, 1.0) - np.maximum(low, 0.0)).clip(0.0)))
    return covered[0], covered[1], widths[0] / widths[1] if widths[1] else 1.0


def least(found: list[Found]) -> Found:
    """The worst of several."""
    own, normal, ratio = zip(*found, strict=True)
    return min(own), min(normal), max(ratio)


def noise(m: Any, n: int) -> Found:
    """Of histograms: nobody's value matters."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, m.grid.probabilities)
    sums = n * m.grid.lowest + np.arange(law.size)
    raw = m.decode(sums, n)
    errors = np.sqrt(m.variances(raw, n))
    return compared(Estimate(raw, n, hush.Domain(size=raw.size), errors, law=m.law(sums, n)), law, 0.0)


def bits(m: hush.Duchi, n: int) -> Found:
    """Of people who are alike, and of people at the two ends."""
    found = []
    for low, high in itertools.combinations_with_replacement((0, m.steps // 2, m.steps), 2):
        people = [low] * (n // 2) + [high] * (n - n // 2)
        law = np.ones(1)
        for tick in people:
            one = m.weight(1, tick) / m.denominator
            law = np.convolve(law, [1 - one, one])
        made = [m.estimate(Aggregate(n, np.array([ones]), m.spec_hash)) for ones in range(n + 1)]
        truth = m.low + (m.high - m.low) * float(np.mean(people)) / m.steps
        found.append(of_means(made, law, truth))
    return least(found)


def of_means(made: list[Any], law: Floats, truth: float) -> Found:
    """As `compared`, of estimated means."""
    covered, widths = [], []
    for method in (None, "normal"):
        ends = np.array([each.interval(method=method) for each in made])
        inside = (ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])
        covered.append(float(law @ inside))
        widths.append(float(law @ (ends[:, 1] - ends[:, 0])))
    return covered[0], covered[1], widths[0] / widths[1]


def tallies(m: hush.FrequencyOracle, people: Sequence[int]) -> list[tuple[npt.NDArray[np.int64], float]]:
    """Every tally of these people's reports, and its probability, from the exact weights of all outputs."""
    publics, empty = m.publics(), m._empty()
    each = [
        (m.tally(np.asarray(y, m.report_dtype)[None]), [m.copies(y) * m.weight(y, v) for v in range(m.k)])
        for public in publics
        for y in m.outputs(public)
    ]
    law: dict[bytes, float] = {empty.tobytes(): 1.0}
    for value in people:
        longer: dict[bytes, float] = defaultdict(float)
        for before, chance in law.items():
            for tally, weights in each:
                after = np.frombuffer(before, np.int64).reshape(empty.shape) + tally
                longer[after.tobytes()] += chance * weights[value] / m.denominator / len(publics)
        law = longer
    return [(np.frombuffer(key, np.int64).reshape(empty.shape), chance) for key, chance in law.items()]


def enumerated(m: hush.FrequencyOracle, n: int = 3) -> Found:
    """Of every population of n people, going through all their reports."""
    found = []
    for people in itertools.combinations_with_replacement(range(m.k), n):
        law = tallies(m, people)
        truth, chances = np.bincount(people, minlength=m.k) / n, np.array([chance for _, chance in law])
        made = [m.estimate(Aggregate(n, tally, m.spec_hash)) for tally, _ in law]
        both = [[each.interval(method=method) for each in made] for method in (None, "normal")]
        covered = [chances @ [(low <= truth) & (truth <= high) for low, high in ends] for ends in both]
        wide = [chances @ [np.minimum(high, 1) - np.maximum(low, 0) for low, high in ends] for ends in both]
        found.append((float(covered[0].min()), float(covered[1].min()), float((wide[0] / wide[1]).max())))
    return least(found)


def cell(found: Found) -> str:
    """Percentages, and a ratio of widths."""
    own, normal, ratio = found
    return f"{100 * own:.1f} · {100 * normal:.1f} · {ratio:.2f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def named(m: hush.FrequencyOracle) -> str:
    """The mechanism's name, or that of what it was made of."""
    return f"ULDP over {m.base.name()}" if isinstance(m, hush.utility.Transformed) else m.name()


def counted(n: int) -> str:
    """A number of people."""
    return f"n = {n:,}"


def tables() -> str:
    """All of them."""
    made = {(name, k, e): hush.registry()[name](k=k, epsilon=e) for name, k, e in PURE}
    said = {key: f"{m.name()}, k = {m.k:,}, ε = {m.epsilon:g}" for key, m in made.items()}
    pointwise = [[said[key], *(cell(pure(m, n)) for n in SIZES)] for key, m in made.items()]
    together = [[said[key], *(cell(pure(m, n, m.k)) for n in TOGETHER)] for key, m in made.items() if m.k >= 100]
    she, agm = hush.SHE(k=10, epsilon=1.0), hush.AGM(k=10, epsilon=1.0, delta=1e-5)
    few = [[f"{m.name()}, ε = 1", *(cell(noise(m, n)) for n in (1, 3, 10))] for m in (she, agm)]
    for epsilon in (1.0, 4.0):
        duchi = hush.Duchi(low=-1.0, high=1.0, epsilon=epsilon, steps=64)
        few.append([f"Duchi, ε = {epsilon:g}", *(cell(bits(duchi, n)) for n in (1, 3, 10))])
    several = (
        hush.HR(k=3, epsilon=4.0, blocks=4),
        hush.MSS(k=3, epsilon=3.0),
        hush.utility.uRR(k=3, epsilon=2.0, sensitive=[0, 1]),
        hush.utility.uSS(k=3, epsilon=4.0, sensitive=[0, 1]),
        hush.utility.transform(hush.MSS(k=3, epsilon=3.0), hush.Domain(size=4, sensitive=range(3))),
    )
    three = [[f"{named(m)}, k = {m.k}, ε = {m.epsilon:g}", cell(enumerated(m))] for m in several]
    return "\n\n".join([
        "Each value on its own, nominal 95 %, the least coverage over values that 0, 1, 2, 3, 1 %, 10 %, half and all "
        "of the people hold:",
        table(["", *map(counted, SIZES)], pointwise),
        "All k together, nominal 95 %, if all of them were as hard to cover as the worst:",
        table(["", *map(counted, TOGETHER)], together),
        "Noise, and means of people who are alike or at the ends:",
        table(["", *map(counted, (1, 3, 10))], few),
        "Mechanisms whose law depends on the others, the least over all populations of three people:",
        table(["", counted(3)], three),
    ])  # fmt: skip


def main() -> int:
    """Print, or write."""
    text = PAGE.read_text(encoding="utf-8")
    made = f"{BEGIN}\n\n{tables()}\n\n{END}"
    if "--write" not in sys.argv:
        print(made)
        return 0
    before, after = text[: text.index(BEGIN)], text[text.index(END) + len(END) :]
    PAGE.write_text(before + made + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
