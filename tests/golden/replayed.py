"""Which reports are replayed: of every mechanism that a browser can draw, at usual, large and extreme parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import hush
from hush import longitudinal


class Case(NamedTuple):
    """A mechanism, and the values that are reported one after the other."""

    name: str
    m: Any
    values: list[Any]
    first: tuple[int, ...] = ()
    """Words before those of the stream."""


def cases() -> Iterator[Case]:
    """All of them, each by a name of its own."""
    for m, count in (*_direct(), *_subsets(), *_bits(), *_hashed(), *_sketches(), *_geometric(), *_utility()):
        yield Case(named(m), m, spread(m.k, count))
    for m, numbers in _numeric():
        yield Case(named(m), m, numbers)
    for m, count in _over_time():
        turns = [0, 1, 1, 0, m.k - 1, 1, m.k // 2, 0]
        yield Case(named(m), m, turns[:count])
    yield stubborn()


def stubborn() -> Case:
    """Bits that stay open through all 64 words of their group."""
    from tests.golden.replays import undecided

    m = hush.OUE(k=70, epsilon=1.0)
    return Case("OUE, undecided to the last", m, [3], tuple(undecided(int(m.thresholds["q"])) * 2))


def named(m: Any) -> str:
    """The mechanism, and what tells it from others of its class."""
    if hasattr(m, "mechanism"):
        return f"{m.name()} {named(m.mechanism)}"
    entries = {name: value for name, value in m.to_dict().items() if name not in (m.word, "thresholds")}
    shown = (f"{name}={value}" for name, value in entries.items() if value is not None and len(str(value)) < 20)
    return f"{m.name()} {' '.join(shown)}"


def spread(k: int, count: int) -> list[int]:
    """So many values, from the first to the last."""
    return [i * (k - 1) // max(count - 1, 1) for i in range(count)]


def _direct() -> Iterator[tuple[Any, int]]:
    for k, epsilon in ((2, 1.0), (5, 40.0), (10, 1.0), (10, 1e-6), (300, 8.0), (10_000, 2.0), (70_000, 0.01)):
        yield hush.GRR(k=k, epsilon=epsilon), 8
    yield hush.AGRR(k=25, epsilon=0.5, delta=1e-5), 8
    yield hush.AGRR(k=3, epsilon=1.0, delta=0.9), 4


def _subsets() -> Iterator[tuple[Any, int]]:
    for k, epsilon, omega in ((2, 1.0, 1), (3, 1.0, 2), (9, 0.1, 7), (65, 1.0, 64), (100, 1.0, 27), (300, 6.0, 1)):
        for code in ("sorted", "enumerative"):
            yield hush.SS(k=k, epsilon=epsilon, omega=omega, code=code), 6
    for k, epsilon in ((256, 4.0), (257, 0.5), (700, 1.0)):
        yield hush.SS(k=k, epsilon=epsilon, code="enumerative"), 2
    yield hush.SS(k=10_000, epsilon=2.0), 1
    yield hush.SS(k=10_000, epsilon=1.0, code="enumerative"), 1
    yield hush.ASS(k=100, epsilon=4.0, design="paper"), 4
    yield hush.MSS(k=20, epsilon=0.5, moduli=(7, 11, 5)), 8
    yield hush.MSS(k=5, epsilon=1.0, moduli=(5,)), 4
    yield hush.MSS(k=1024, epsilon=1.0), 2
    for k, epsilon in ((20, 3.0), (100, 1.0), (1024, 1.0)):
        yield hush.MSS(k=k, epsilon=epsilon, code="enumerative"), 3
    yield hush.MSS(k=10_000, epsilon=3.0), 1


def _bits() -> Iterator[tuple[Any, int]]:
    for k, epsilon in ((2, 1.0), (64, 1.0), (65, 3.0), (128, 1.0), (5, 1e-6), (5, 40.0)):
        yield hush.OUE(k=k, epsilon=epsilon), 4
    yield hush.OUE(k=10_000, epsilon=1.0), 1
    yield hush.SUE(k=33, epsilon=2.0), 4
    yield hush.UE(k=9, epsilon=1.0, p=0.9), 4
    yield hush.THE(k=32, epsilon=1.0), 4
    yield hush.AUE(k=100, epsilon=4.0, design="paper"), 3
    yield hush.ATHE(k=20, epsilon=4.0, design="paper"), 3
    yield hush.ASUE(k=40, epsilon=1.0, delta=1e-3), 3


def _hashed() -> Iterator[tuple[Any, int]]:
    yield hush.BLH(k=5, epsilon=1.0), 8
    yield hush.OLH(k=2, epsilon=1.0), 6
    yield hush.OLH(k=50, epsilon=9.0), 6
    yield hush.OLH(k=10_000, epsilon=3.0), 6
    yield hush.LH(k=9, epsilon=1.0, g=300), 6
    yield hush.LH(k=2, epsilon=16.0, g=2**25), 6
    yield hush.ALH(k=100, epsilon=4.0, design="paper"), 6
    yield hush.ABLH(k=100, epsilon=1.0, delta=1e-5), 6
    yield hush.AOLH(k=100, epsilon=1.0, delta=1e-5), 6
    for k, g in ((5, 2), (1000, 16), (65_535, 256)):
        yield hush.LH(k=k, epsilon=2.0, g=g, hash="family"), 6
    yield hush.OLH(k=100, epsilon=1.0, hash="family"), 6
    for k, epsilon, coverage in ((5, 1.0, None), (10_000, 2.0, None), (50, 20.0, 1e-8), (9, 0.5, 0.99)):
        yield hush.Wheel(k=k, epsilon=epsilon, coverage=coverage), 6


def _sketches() -> Iterator[tuple[Any, int]]:
    for k, width in ((5, 2), (50, 8), (10_000, 256)):
        yield hush.CMS(k=k, epsilon=1.0, width=width), 4
        yield hush.HCMS(k=k, epsilon=1.0, width=width), 6
    for k, width, hashes, cohorts in ((5, 8, 2, 4), (50, 128, 1, 2), (20, 8, 8, 40), (2, 4, 8, 1), (100, 256, 4, 3)):
        yield hush.RAPPOR(k=k, epsilon=1.0, width=width, hashes=hashes, cohorts=cohorts), 4
    yield hush.RAPPOR(k=2048, epsilon=2.0), 2


def _geometric() -> Iterator[tuple[Any, int]]:
    for k, epsilon, blocks in ((2, 1.0, 1), (5, 1.0, 1), (50, 3.0, 8), (9, 2.0, 16), (10_000, 2.0, 2)):
        yield hush.HR(k=k, epsilon=epsilon, blocks=blocks), 8
    for k, q in ((2, 2), (7, 2), (5, 4), (50, 3), (50, 9), (500, 27), (30, 64), (3000, 343), (900, 1024), (10_000, 5)):
        yield hush.PGR(k=k, epsilon=1.0, q=q), 8
    for k, q in ((53, 53), (10_000, 10_007), (50, 961), (200, 289), (8, 7), (300, 16)):
        yield hush.PGR(k=k, epsilon=3.0, q=q), 6


def _utility() -> Iterator[tuple[Any, int]]:
    some: dict[str, Any] = {"k": 25, "epsilon": 1.0, "sensitive": range(3, 13)}
    for mechanism in (hush.uRR, hush.uSS, hush.uRAP, hush.uUE, hush.uLH, hush.uWheel, hush.uHR):
        first = {"reveal": "alone" if mechanism is hush.uHR else "pair"}
        yield mechanism(**some, **first), 25
        yield mechanism(**{**some, "k": 300, "sensitive": [7]}, **first), 6
        yield mechanism(k=5, epsilon=2.0, **first), 5
        yield mechanism(**some, z="none", **first), 6
        yield mechanism(**some, z="constant", reveal="alone"), 6
    for mechanism in (hush.uRR, hush.uSS, hush.uRAP, hush.uUE):
        yield mechanism(**some, reveal="alone"), 12
    for mechanism in (hush.uLH, hush.uWheel):
        yield mechanism(**some, reveal="alone"), 20
    yield hush.uLH(**some, g=4, hash="family"), 20
    yield hush.uHR(**some, blocks=4, reveal="pair"), 20
    wide: dict[str, Any] = {"k": 1000, "epsilon": 3.0, "sensitive": range(0, 1000, 4)}
    for mechanism in (hush.uUE, hush.uLH, hush.uWheel):
        yield mechanism(**wide, reveal="pair"), 3
        yield mechanism(**wide), 3
    yield hush.uHR(**wide), 3


def _numeric() -> Iterator[tuple[Any, list[float]]]:
    ranges = (0.0, 10.0, 1.0, 1024), (-1.0, 0.1, 9.0, 7), (0.0, 1e6, 0.1, 1), (5.0, 6.0, 40.0, 2**20)
    for mechanism in (hush.Duchi, hush.Piecewise, hush.Hybrid):
        for low, high, epsilon, steps in ranges:
            m = mechanism(low=low, high=high, epsilon=epsilon, steps=steps)
            share = m.width / 7
            yield m, [low, low + share, low + 2 * share, (low + high) / 2, high - share / 1e9, high]


def _over_time() -> Iterator[tuple[Any, int]]:
    for k, permanent, report in ((5, 2.0, 1.0), (70, 4.0, 0.5), (2, 20.0, 1e-3)):
        budgets: dict[str, Any] = {"k": k, "epsilon_permanent": permanent, "epsilon_report": report}
        yield longitudinal.LGRR(**budgets), 8
        for protocol in (longitudinal.LSUE, longitudinal.LOSUE, longitudinal.LOUE, longitudinal.LSOUE):
            yield protocol(**budgets), 8 if k < 70 else 5
        yield longitudinal.LOLOHA(**budgets, g=3), 8
        yield longitudinal.BiLOLOHA(**budgets), 8
        yield longitudinal.OLOLOHA(**budgets), 8
    yield longitudinal.LOSUE(k=3000, epsilon_permanent=2.0, epsilon_report=1.0), 1
    for mechanism in (hush.OUE(k=9, epsilon=1.0), hush.OLH(k=9, epsilon=1.0), hush.GRR(k=300, epsilon=1.0)):
        yield longitudinal.Memoized(mechanism=mechanism), 8
