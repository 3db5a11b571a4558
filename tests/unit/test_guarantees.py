"""What is promised for several reports of one person, or one report about several things, against enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError, SpecError
from hush.exact.loss import Law, protected_ratio, smallest_epsilon, worst_ratio
from hush.exact.thresholds import keep
from hush.guarantee import LDP, ULDP, ApproxLDP, Guarantee, together, weakest
from hush.longitudinal import Memoized, Repeated
from hush.mechanisms import registry
from hush.mechanisms.base import FrequencyOracle
from hush.multidim import SMP, SPL
from hush.multidim.base import Multidim
from hush.multidim.loss import enumerated
from hush.planning.shuffling import shuffled_epsilon
from hush.testing import check_mechanism


@dataclass(frozen=True, kw_only=True)
class Shy(hush.uRR):
    """Protects value 0 alone."""

    sensitive: tuple[int, ...] = (0,)


@dataclass(frozen=True, kw_only=True)
class Sure(hush.GRR):
    """Says ULDP of all values, which is LDP."""

    @property
    def guarantee(self) -> Guarantee:
        return ULDP(self.epsilon, tuple(range(self.k)))


@dataclass(frozen=True, kw_only=True)
class Loud(hush.GRR):
    """Spends, and promises, twice its epsilon."""

    @property
    def guarantee(self) -> Guarantee:
        return LDP(2 * self.epsilon)

    @cached_property
    def keep(self) -> int:
        return keep(2 * self.epsilon, 1, self.k - 1)


@dataclass(frozen=True, kw_only=True)
class Silent(hush.GRR):
    """Promises nothing."""

    @property
    def guarantee(self) -> Guarantee:
        return None


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered for the time of a test."""
    for cls in (Shy, Sure, Loud, Silent):
        monkeypatch.setitem(registry._known, cls.name(), cls)


def law(m: FrequencyOracle) -> Law:
    return [[m.weight(y, v) for v in range(m.k)] for y in m.outputs()]


# Tuples.


@pytest.mark.parametrize("cls", [SMP, SPL])
@pytest.mark.parametrize("names", [Shy.name(), ("GRR", Shy.name()), (Shy.name(), "OUE")], ids=str)
def test_tuples_refuse_a_mechanism_that_reveals_some_values(cls: type[Multidim], names: Any) -> None:
    rule = r"mechanism must protect every value of its attribute where there are several, got .*1 sensitive value"
    with pytest.raises(ParameterError, match=rule):
        cls(sizes=(2, 3), epsilon=1.0, mechanism=names)  # type: ignore[call-arg]


@pytest.mark.parametrize("both", [True, False], ids=["SPL", "SMP"])
def test_no_set_of_sensitive_tuples_would_be_protected(both: bool) -> None:
    """So there is nothing to promise: of two attributes, one tells which half of the tuples is not meant."""
    parts = [law(Shy(k=2, epsilon=1.0))] * 2
    tuples = list(itertools.product(range(2), repeat=2))
    if both:
        rows = [[a[u] * b[v] for u, v in tuples] for a, b in itertools.product(*parts)]
    else:
        rows = [[part[held[j]] for held in tuples] for j in range(2) for part in parts[j]]
    assert worst_ratio(rows) == math.inf
    sets = itertools.chain.from_iterable(itertools.combinations(range(4), size) for size in range(1, 5))
    assert all(protected_ratio(rows, sensitive) == math.inf for sensitive in sets)


@pytest.mark.parametrize("cls", [SMP, SPL])
def test_a_single_attribute_keeps_its_promise(cls: type[Multidim]) -> None:
    m = cls(sizes=(3,), epsilon=1.0, mechanism=Shy.name())  # type: ignore[call-arg]
    assert m.guarantee == ULDP(1.0, (0,)) == Shy(k=3, epsilon=1.0).guarantee
    assert m.exact_epsilon() == enumerated(m, 1, Fraction(0)) <= 1.0
    assert m.exact_epsilon() > 0.999
    check_mechanism(cls(sizes=(3,), epsilon=1.0, mechanism=Loud.name()))  # type: ignore[call-arg]


@pytest.mark.parametrize("cls", [SMP, SPL])
def test_what_protects_all_values_is_plainly_private(cls: type[Multidim]) -> None:
    m = cls(sizes=(2, 3), epsilon=1.0, mechanism=(Sure.name(), "uSS"))  # type: ignore[call-arg]
    assert m.guarantee == LDP(1.0)
    assert enumerated(m, 2, Fraction(0)) <= 1.0


def test_a_mechanism_that_promises_less_than_its_epsilon_says_is_heard() -> None:
    loud = {"sizes": (2, 3), "epsilon": 1.0, "mechanism": (Loud.name(), "GRR")}
    sampled, split = SMP(**loud), SPL(**loud)
    assert sampled.guarantee == LDP(2.0)
    assert split.guarantee == LDP(1.5)
    for m in (sampled, split):
        promise = m.guarantee
        assert promise is not None
        assert promise.epsilon - 1e-9 < enumerated(m, 2, Fraction(0)) <= promise.epsilon
        check_mechanism(m)


@pytest.mark.parametrize("cls", [SMP, SPL])
def test_a_mechanism_without_a_promise_is_refused(cls: type[Multidim]) -> None:
    with pytest.raises(ParameterError, match="must have a guarantee"):
        cls(sizes=(2, 3), epsilon=1.0, mechanism=("GRR", Silent.name()))  # type: ignore[call-arg]


def test_slack_adds_up_where_all_is_reported() -> None:
    options = {"delta": 0.01}
    split = SPL(sizes=(2, 2), epsilon=1.0, mechanism="AGRR", options=options)
    sampled = SMP(sizes=(2, 2), epsilon=1.0, mechanism="AGRR", options=options)
    assert split.guarantee == ApproxLDP(1.0, 0.02)
    assert sampled.guarantee == ApproxLDP(1.0, 0.01)
    for m in (split, sampled):
        assert enumerated(m, 2, Fraction(m._delta)) <= 1.0


# Reports over time.


def twice(m: FrequencyOracle, histories: list[tuple[int, int]]) -> Law:
    one = law(m)
    return [[a[u] * b[v] for u, v in histories] for a, b in itertools.product(one, repeat=2)]


@pytest.mark.parametrize("m", [hush.GRR(k=3, epsilon=1.0), Sure(k=3, epsilon=1.0), Loud(k=3, epsilon=0.5)], ids=str)
def test_repetition_protects_histories(m: FrequencyOracle) -> None:
    promise = Repeated(m, 2).guarantee
    assert promise is not None
    assert promise.epsilon == 2.0
    loss = worst_ratio(twice(m, list(itertools.product(range(3), repeat=2))))
    assert 2.0 - 1e-9 < loss <= 2.0


def test_repetition_with_slack() -> None:
    m = hush.AGRR(k=2, epsilon=1.0, delta=0.01)
    promise = Repeated(m, 2).guarantee
    assert promise == ApproxLDP(2.0, 0.02)
    rows = twice(m, list(itertools.product(range(2), repeat=2)))
    assert smallest_epsilon(rows, [1] * len(rows), m.denominator**2, Fraction(0.02)) <= 2.0


def test_repetition_under_uldp_protects_values_that_do_not_change_and_no_histories() -> None:
    m = Shy(k=3, epsilon=1.0)
    assert Repeated(m, 2).guarantee == ULDP(2.0, (0,))
    loss = protected_ratio(twice(m, [(v, v) for v in range(3)]), (0,))
    assert 1.9 < loss <= 2.0
    assert protected_ratio(twice(m, list(itertools.product(range(3), repeat=2))), (0,)) == math.inf
    assert Repeated(Silent(k=3, epsilon=1.0), 2).guarantee is None


def test_kept_answers_cost_what_their_mechanism_promises() -> None:
    kept = Memoized(mechanism=Loud(k=3, epsilon=0.5))
    assert kept.epsilon_permanent == kept.epsilon_report == 1.0
    assert 1.0 - 1e-9 < kept.sequence_epsilon(5) <= kept.epsilon_permanent
    assert kept.history_epsilon([0, 0], [1, 1]) <= kept.epsilon_permanent + 1e-9
    for m in (Shy(k=3, epsilon=1.0), hush.AGRR(k=3, epsilon=1.0, delta=0.01), Silent(k=3, epsilon=1.0)):
        with pytest.raises(ParameterError, match="must be a mechanism with a pure guarantee"):
            Memoized(mechanism=m)


# Elsewhere.


def test_a_disguise_goes_by_what_its_base_promises() -> None:
    domain = hush.Domain(size=5, sensitive=range(3))
    with pytest.raises(ParameterError, match="base must promise its own epsilon"):
        hush.utility.transform(Loud(k=3, epsilon=1.0), domain)
    with pytest.raises(ParameterError, match="base must promise epsilon-LDP"):
        hush.utility.transform(Silent(k=3, epsilon=1.0), domain)
    assert hush.utility.transform(hush.GRR(k=3, epsilon=1.0), domain).guarantee == ULDP(1.0, (0, 1, 2))


def test_a_spec_has_the_sensitive_values_of_its_mechanism() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Said(hush.GRR):
        """Has no such parameter, but says so."""

        @property
        def guarantee(self) -> Guarantee:
            return ULDP(self.epsilon, (0,))

    for m in (Shy(k=3, epsilon=1.0), Said(k=3, epsilon=1.0)):
        with pytest.raises(SpecError, match="must have the mechanism's sensitive values"):
            hush.Spec(m, hush.Domain(size=3, sensitive=[1]))
        assert hush.Spec(m, hush.Domain(size=3, sensitive=[0])).mechanism == m
    assert hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(size=3, sensitive=[1])).mechanism.k == 3


def test_shuffling_goes_by_the_promise() -> None:
    assert shuffled_epsilon(Shy(k=3, epsilon=1.0), 1000, 1e-6).epsilon is None
    assert shuffled_epsilon(Silent(k=3, epsilon=1.0), 1000, 1e-6).epsilon is None
    loud, plain = (shuffled_epsilon(m, 1000, 1e-6) for m in (Loud(k=3, epsilon=1.0), hush.GRR(k=3, epsilon=2.0)))
    assert loud.local_epsilon == pytest.approx(plain.local_epsilon, rel=1e-12)


@pytest.mark.parametrize("times", [1, 3, 10**9])
def test_sums_are_never_rounded_down(times: int) -> None:
    parts = [LDP(0.1), ApproxLDP(0.2, 1e-7), LDP(1 / 3)]
    total = together(parts, times)
    assert isinstance(total, ApproxLDP)
    assert Fraction(total.epsilon) >= times * (Fraction(0.1) + Fraction(0.2) + Fraction(1 / 3))
    assert total.delta == 1.0 if times == 10**9 else Fraction(total.delta) >= times * Fraction(1e-7)
    assert weakest(parts) == ApproxLDP(1 / 3, 1e-7)
    assert np.nextafter(total.epsilon, 0) < times * (0.1 + 0.2 + 1 / 3) * (1 + 1e-15)
