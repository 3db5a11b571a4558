"""Losses of thresholds that no honest spec has, by enumeration of the laws that they give.

A client computes what a spec's own integers lose, whatever a server made of them. So random integers take the place of
a mechanism's thresholds, and every output is looked at.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import hush
from hush import longitudinal
from hush.exact.loss import enumerated_loss, worst_ratio

SCALE = 1 << 64
MOST = {"epsilon": 40.0, "eps_perm": 20.0, "eps_1": 20.0}
"""What is declared: enough not to be refused."""
_EACH = 3

Found = Iterator[tuple[dict[str, Any], dict[str, float]]]


def losses() -> dict[str, dict[str, Any]]:
    """By name: a spec with other thresholds, and what it loses."""
    rng, found = random.Random(5), {}
    for turn in range(_EACH):
        for plain, lost in (*_favouring(rng), *_bits(rng), *_subsets(rng), *_disguises(rng), *_others(rng)):
            told = {name: most for name, most in MOST.items() if name in plain}
            if max(value for name, value in lost.items() if name != "fresh") <= min(told.values()):
                found[f"{plain.get('protocol', plain.get('mechanism'))} {turn}"] = {"spec": plain | told, "loss": lost}
    return found


def changed(m: Any, **computed: Any) -> Any:
    """The mechanism with other numbers where it computes its own, once."""
    for name in ("_ones", "denominator", *computed):
        m.__dict__.pop(name, None)
    m.__dict__.update(computed)
    return m


def above(rng: random.Random, share: float) -> int:
    """A threshold that is more than a share of all words."""
    return rng.randrange(int(share * SCALE) + 2**20, SCALE)


def falling(rng: random.Random) -> tuple[int, int]:
    """Two thresholds, the larger first."""
    q, p = sorted(rng.sample(range(1, SCALE, 1 << 40), 2))
    return p, q


def _favouring(rng: random.Random) -> Found:
    """One threshold, between outputs that favour the value and others."""
    for m in (
        hush.GRR(k=5, epsilon=1.0),
        hush.SS(k=5, epsilon=1.0, omega=2),
        hush.HR(k=5, epsilon=1.0, blocks=2),
        hush.PGR(k=5, epsilon=1.0, q=rng.choice([2, 3, 4])),
        hush.LH(k=5, epsilon=1.0, g=4),
        hush.HCMS(k=5, epsilon=1.0, width=4),
        hush.Wheel(k=5, epsilon=1.0, coverage=rng.uniform(0.05, 0.9)),
        hush.AGRR(k=5, epsilon=1.0, delta=rng.uniform(0.001, 0.3)),
    ):
        inside, outside = m._sizes
        changed(m, keep=above(rng, inside / (inside + outside)))
        yield m.to_dict(), {"epsilon": enumerated_loss(m)}


def _bits(rng: random.Random) -> Found:
    m: Any = changed(hush.UE(k=4, epsilon=1.0, p=0.7), _ones=falling(rng))
    yield m.to_dict(), {"epsilon": enumerated_loss(m)}
    m = changed(hush.CMS(k=4, epsilon=1.0, width=4), bit_thresholds=falling(rng))
    yield m.to_dict(), {"epsilon": enumerated_loss(m)}
    q = rng.randrange(SCALE // 100, SCALE // 2)
    m = hush.RAPPOR(k=5, epsilon=1.0, width=8, hashes=rng.randint(1, 3), cohorts=rng.randint(2, 5))
    changed(m, bit_thresholds=(SCALE - q, q))
    yield m.to_dict(), {"epsilon": enumerated_loss(m)}


def _subsets(rng: random.Random) -> Found:
    moduli = (4, 5, 3)
    omegas = tuple(rng.randint(1, m - 1) for m in moduli)
    keeps = tuple(above(rng, w / m) for m, w in zip(moduli, omegas, strict=True))
    mss = changed(hush.MSS(k=6, epsilon=0.5, moduli=moduli), omegas=omegas, keeps=keeps)
    yield mss.to_dict(), {"epsilon": enumerated_loss(mss)}


def _disguises(rng: random.Random) -> Found:
    """Disguises that are too rare, and revelations that are too frequent."""
    some: dict[str, Any] = {"k": 6, "epsilon": 1.0, "sensitive": [0, 2, 3], "z": "none"}
    pair: dict[str, Any] = {**some, "reveal": "pair"}
    for u in (hush.uRR(**pair), hush.uHR(**some, blocks=2), hush.uUE(**pair, p=0.6), hush.uSS(**pair, omega=2)):
        u._revelation.hide = rng.randrange(SCALE // 3, SCALE + 1)
        u._revelation.constant = rng.choice([0, rng.randrange(SCALE // 2)])
        yield u.to_dict(), {"epsilon": enumerated_loss(changed(u))}


def _others(rng: random.Random) -> Found:
    """Of means, and over time."""
    inside, height = rng.randint(1, 20), rng.randint(1, 9)
    keep = above(rng, inside / (inside + 3 * height))
    window = changed(hush.Piecewise(low=0.0, high=1.0, epsilon=1.0, steps=3), keep=keep, _sizes=(inside, height))
    law = [[window.weight(y, t) for t in range(4)] for y in range(window.size)]
    yield window.to_dict(), {"epsilon": worst_ratio(law)}
    budgets: dict[str, Any] = {"epsilon_permanent": 2.0, "epsilon_report": 1.0}
    for protocol, rounds in (
        (longitudinal.LGRR(k=4, **budgets), (above(rng, 0.25), above(rng, 0.25))),
        (longitudinal.LOSUE(k=3, **budgets), (falling(rng), falling(rng))),
    ):
        first = changed(protocol.first_report, rounds=rounds)
        one, lasting = enumerated_loss(first), protocol.sequence_epsilon(math.inf)
        told = {name: str(threshold) for name, threshold in first.thresholds.items()}
        lost = {"epsilon": one, "lasting": max(one, lasting), "fresh": protocol.epsilon_fresh}
        yield {**protocol.to_dict(), "thresholds": told}, lost
