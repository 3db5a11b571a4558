"""Transformations of (epsilon, delta)-private mechanisms keep (epsilon, delta)-ULDP, and reveal all that it allows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import hush
from hush import utility
from hush.collect.loss import loss
from hush.errors import ParameterError
from hush.exact.loss import enumerated_loss
from hush.exact.thresholds import SCALE, exp_below
from hush.guarantee import ULDP, ApproxLDP
from hush.planning import uldp
from hush.reports import statement
from hush.testing import check_mechanism
from hush.utility import UtilityOracle

BASES = [hush.AGRR, hush.ASUE, hush.ABLH, hush.AOLH]
DOMAIN = hush.Domain(size=6, sensitive=(0, 2, 3, 5))


def made(cls: type[hush.FrequencyOracle], epsilon: float, delta: float, **how: str) -> UtilityOracle:
    return utility.transform(cls(k=4, epsilon=epsilon, delta=delta), DOMAIN, **how)


def divergences(u: UtilityOracle, public: object, epsilon: float) -> list[Fraction]:
    """Over events of protected reports, by how much each value exceeds E times each other one."""
    rows = [(u.copies(y), [u.weight(y, x) for x in range(u.k)]) for y in u.outputs(public) if u.protected(y[None])[0]]
    e = exp_below(epsilon)
    return [
        sum((c * max(Fraction(0), row[i] - e * row[j]) for c, row in rows), Fraction(0)) / u.denominator
        for i, j in itertools.permutations(range(u.k), 2)
    ]


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("cls", BASES, ids=lambda c: c.__name__)
def test_every_event_keeps_to_the_promise(cls: type[hush.FrequencyOracle], delta: float) -> None:
    for epsilon, z in itertools.product((0.3, 2.0), ("exact", "constant", "none")):
        if cls is hush.AOLH and delta > (math.exp(epsilon) - 1) / (9 * math.exp(epsilon) - 1):
            with pytest.raises(ParameterError, match="delta must be at most"):
                made(cls, epsilon, delta, z=z)
            continue
        u = made(cls, epsilon, delta, z=z)
        assert u.guarantee == ULDP(epsilon, DOMAIN.sensitive or (), delta)
        for public in u.publics():
            assert max(divergences(u, public, epsilon)) <= Fraction(delta) * (1 + Fraction(1, 10**12))
        assert enumerated_loss(u) <= u.exact_epsilon() <= epsilon
        assert u.exact_epsilon() >= epsilon - 1e-8


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("cls", [hush.AGRR, hush.ASUE], ids=lambda c: c.__name__)
def test_no_other_disguise_reveals_more(cls: type[hush.FrequencyOracle], delta: float) -> None:
    """The linear program over all N(y), by another solver."""
    epsilon, s = 0.8, 4
    base = cls(k=s, epsilon=epsilon, delta=delta)
    u = utility.transform(base, hush.Domain(size=s + 1, sensitive=range(s)))
    law = np.array([[base.weight(y, i) / base.denominator for i in range(s)] for y in base.outputs()])
    m, e = len(law), math.exp(epsilon)
    # Variables: N(y), then how far each p_i(y) exceeds E N(y).
    cost = np.concatenate([np.ones(m), np.zeros(m * s)])
    rows, limits = [], []
    for y, i in itertools.product(range(m), range(s)):
        row = np.zeros(m + m * s)
        row[y], row[m + y * s + i] = -e, -1.0
        rows.append(row)
        limits.append(-law[y, i])
    for i in range(s):
        row = np.zeros(m + m * s)
        row[m + i :: s] = 1.0
        rows.append(row)
        limits.append(delta)
    best = linprog(cost, np.array(rows), np.array(limits), method="highs")
    assert best.status == 0
    assert u.z_star == pytest.approx(1 - best.fun, abs=1e-7)


@pytest.mark.parametrize(("s", "g"), [(2, 2), (3, 2), (4, 3), (5, 3)])
def test_every_bucket_assignment_keeps_to_the_promise(s: int, g: int) -> None:
    """All g^s hash functions, and the loss that is stated is that of the worst of them."""
    delta, epsilon = Fraction(0.02), 1.0
    base = (
        hush.ABLH(k=s, epsilon=epsilon, delta=float(delta)) if g == 2 else hush.AOLH(k=s, epsilon=epsilon, delta=0.02)
    )
    g = base.g  # type: ignore[attr-defined]
    e = exp_below(epsilon)
    for z in ("exact", "constant", "none"):
        known = utility.transform(base, hush.Domain(size=s + 1, sensitive=range(s)), z=z)._revelation
        low, high = (Fraction(w, base.denominator) for w in base._weights)  # type: ignore[attr-defined]
        for homes in itertools.product(range(g), repeat=s):
            for i in range(s):
                over = back = Fraction(0)
                for bucket in range(g):
                    own = high if homes[i] == bucket else low
                    held = homes.count(bucket)
                    mean = (held * high + (s - held) * low) / s
                    other = Fraction(known.hide * (SCALE - known._of(held)), SCALE**2) * mean  # type: ignore[attr-defined]
                    over, back = over + max(Fraction(0), own - e * other), back + max(Fraction(0), other - e * own)
                assert max(over, back) <= delta * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("cls", BASES, ids=lambda c: c.__name__)
def test_they_pass_the_conformance_suite(cls: type[hush.FrequencyOracle]) -> None:
    for z in ("exact", "constant"):
        check_mechanism(made(cls, 1.0, 0.01, z=z))
    if cls in (hush.AGRR, hush.ASUE):
        check_mechanism(made(cls, 1.0, 0.01, reveal="alone"))


def test_a_large_delta_over_bits_spends_nothing_and_still_keeps_to_it() -> None:
    u = made(hush.ASUE, 0.05, 0.95)
    assert u.f == 1.0
    assert 0 < u.z_star < 1
    assert max(divergences(u, None, 0.05)) <= Fraction(0.95)


def test_what_is_asked_of_the_promise_knows_its_delta() -> None:
    u = made(hush.AGRR, 1.0, 0.01)
    found = hush.audit.run(u, "exact")
    assert (found.verdict, found.claim) == ("consistent", hush.audit.Claim(1.0, 0.01, "ULDP"))
    assert found.epsilon_lower == pytest.approx(1.0)
    less = hush.audit.run(u, "exact", claim=hush.audit.Claim(1.0, 0.001, "ULDP"))
    assert less.verdict == "violation"
    assert hush.audit.run(u, trials=20_000, rng=hush.seeded(7)).verdict != "violation"
    told = loss(hush.Spec(u))
    assert (told.declared, told.delta, told.unprotected) == (1.0, 0.01, 2)
    twice = hush.longitudinal.Repeated(u, tau=2).guarantee
    assert isinstance(twice, ULDP)
    assert twice.delta == pytest.approx(0.02)
    assert twice.epsilon >= 2.0
    assert hush.from_dict(u.to_dict()) == u
    page = statement(hush.Spec(u)).to_html()
    assert "approximate utility-optimized local differential privacy" in page
    assert "plus 0.01 (δ" in page


def test_all_values_sensitive_is_the_base_mechanism() -> None:
    u = utility.transform(hush.AGRR(k=4, epsilon=1.0, delta=0.01), hush.Domain(size=4))
    assert u.guarantee == ApproxLDP(1.0, 0.01)
    assert u.exact_epsilon() == u.base.exact_epsilon()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: made(hush.AGM, 1.0, 1e-6), "base must have reports with two levels of probability"),
        (lambda: made(hush.ASUE, 1.0, 1e-6, z="paper"), "z must be another choice for a mechanism with a delta"),
        (lambda: made(hush.ABLH, 1.0, 1e-6, z="balanced"), "z must be another choice for a mechanism with a delta"),
        (lambda: utility.transform(hush.LHO(k=4, g=2), DOMAIN), "base must promise epsilon-LDP"),
        (lambda: uldp(DOMAIN, 1.0, delta=1.0), "delta must be a number"),
        (lambda: uldp(DOMAIN, 1.0, delta=math.nan), "delta must be a number"),
    ],
)
def test_what_cannot_be_is_refused(act: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        act()  # type: ignore[operator]


def test_the_planner_looks_at_them_too() -> None:
    without, found = uldp(DOMAIN, 1.0), uldp(DOMAIN, 1.0, delta=0.05)
    names = {option.name.split(",")[0] for option in found.options} - {o.name.split(",")[0] for o in without.options}
    assert names == {"u(AGRR)", "u(ASUE)", "u(ABLH)", "u(AOLH)"}
    agrr = next(option for option in found.options if option.name == "u(AGRR)")
    urr = next(option for option in found.options if option.name == "uRR")
    assert agrr.error < urr.error
    assert agrr.to_dict()["parameters"] == {}
    assert hush.from_dict(agrr.to_dict()["mechanism"]).guarantee == ULDP(1.0, (0, 2, 3, 5), 0.05)


def test_a_recommendation_with_a_slack_says_what_it_promises() -> None:
    found = uldp(hush.Domain(size=20, sensitive=range(10)), 1.0, delta=0.9)
    assert found.statement.endswith("It promises (1, 0.9)-ULDP for 10 sensitive values.")
    assert "promises" not in uldp(hush.Domain(size=20, sensitive=range(10)), 1.0).statement
