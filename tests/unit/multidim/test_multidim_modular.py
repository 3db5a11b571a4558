"""Modular subset selection in several attributes: reports, fakes, losses and errors against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import hush
from hush.errors import ParameterError, SpecError
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular import moduli as search
from hush.multidim import RSFD, RSRFD, SMP, SPL
from hush.multidim.base import Multidim
from hush.multidim.fake_data import FakeData
from hush.multidim.loss import enumerated
from hush.testing import check_mechanism

SKEWED = [(0.5, 0.25, 0.25), (0.5, 0.25, 0.125, 0.0625, 0.0625)]
RARE = [(0.5, 0.5, 0.0), (1.0, 0.0, 0.0, 0.0, 0.0)]
FAKED: list[FakeData] = [
    RSFD(sizes=(3, 5), epsilon=1.0, variant="MSS"),
    RSFD(sizes=(3, 5), epsilon=1.0, variant="MSS-r"),
    RSFD(sizes=(5, 4), epsilon=0.3, variant=("MSS", "OUE-z")),
    RSFD(sizes=(4, 7), epsilon=3.0, variant=("GRR", "MSS-r"), chosen=[{}, {"moduli": (5, 7)}]),
    RSRFD(sizes=(3, 5), epsilon=1.0, variant="MSS-r", priors=SKEWED),
    RSRFD(sizes=(3, 5), epsilon=2.0, variant=("MSS-r", "GRR"), priors=RARE),
]
PLAIN: list[Multidim] = [
    SPL(sizes=(5, 4), epsilon=2.0, mechanism="MSS"),
    SMP(sizes=(5, 7), epsilon=1.0, mechanism=("MSS", "GRR")),
    SMP(sizes=(5, 7), epsilon=1.0, mechanism="MSS", options={"ell": 2}),
    SMP(sizes=(5, 7), epsilon=1.0, mechanism="MSS", options={"code": "enumerative"}),
]


@pytest.mark.parametrize("m", [*FAKED, *PLAIN], ids=str)
def test_conforms(m: Multidim) -> None:
    check_mechanism(m)


@pytest.mark.parametrize("m", FAKED, ids=str)
def test_losses_by_enumeration(m: FakeData) -> None:
    for changed in (1, 2):
        assert m.exact_epsilon(changed) == pytest.approx(enumerated(m, changed, Fraction(0)), rel=1e-12)
    assert m.exact_epsilon() <= m.guarantee.epsilon  # type: ignore[union-attr]


def chance(m: MSS, j: int, subset: frozenset[int], value: int) -> Fraction:
    """Of a subset of the residues of a block, written out."""
    size, omega, keep = m.moduli[j], m.omegas[j], Fraction(m.keeps[j], 2**64)
    if value % size in subset:
        return keep / math.comb(size - 1, omega - 1)
    return (1 - keep) / math.comb(size - 1, omega)


def fake_chance(m: FakeData, attribute: int, real: MSS, j: int, subset: frozenset[int]) -> Fraction:
    """Any subset is as likely, or those of the values that fakes are of."""
    if m.variant[attribute] == "MSS":
        return Fraction(1, math.comb(real.moduli[j], real.omegas[j]))
    prior = m.priors[attribute] if isinstance(m, RSRFD) else [1.0] * real.k
    whole = [Fraction(each) for each in prior]
    return sum((share * chance(real, j, subset, v) for v, share in enumerate(whole)), Fraction(0)) / sum(whole)


def modular(m: FakeData) -> list[tuple[int, MSS]]:
    return [(i, c) for i, c in enumerate(m.components) if isinstance(c, MSS)]


@pytest.mark.parametrize("m", FAKED, ids=str)
def test_fakes_have_the_law_that_is_written_out_here(m: FakeData) -> None:
    for i, real in modular(m):
        fake = m.fakes[i]
        for public in real.publics():
            outputs, j, total = real.outputs(public), public or 0, Fraction(0)
            for y, log in zip(outputs, fake.log_prob(outputs), strict=True):
                subset = frozenset(real.members(y[None])[0, : real.omegas[j]].tolist())
                due = fake_chance(m, i, real, j, subset)
                assert Fraction(fake.weight(y), fake.denominator) == due
                assert log == pytest.approx(math.log(due), abs=1e-12)
                total += due
            assert total == 1


@pytest.mark.parametrize("m", FAKED, ids=str)
def test_errors_are_those_of_the_enumerated_reports(m: FakeData) -> None:
    """People drawn independently: one report's covariance by enumeration, the decoder's matrix from the decoder."""
    n = 60
    for i, real in modular(m):
        f = np.random.default_rng(real.k).dirichlet(np.ones(real.k))
        people = np.full(real.ell, n // real.ell)
        starts = real._starts
        empty = np.concatenate([np.zeros(starts[-1]), people])
        base = m.fakes[i].decode(empty, n, m.d)
        mean, spread = base.copy(), np.zeros(real.k)
        for j, (start, stop) in enumerate(itertools.pairwise(starts.tolist())):
            gain = []
            for at in range(start, stop):
                one = empty.copy()
                one[at] = people[j]
                gain.append(m.fakes[i].decode(one, n, m.d) - base)
            public = j if real.ell > 1 else None
            law, seen = [], []
            for y in real.outputs(public):
                subset = frozenset(real.members(y[None])[0, : real.omegas[j]].tolist())
                own = sum(f[v] * float(chance(real, j, subset, v)) for v in range(real.k))
                law.append(own / m.d + (1 - 1 / m.d) * float(fake_chance(m, i, real, j, subset)))
                seen.append([r in subset for r in range(stop - start)])
            chances, members = np.array(law), np.array(seen, float)
            expected = chances @ members
            covariance = (members - expected).T @ ((members - expected) * chances[:, None])
            mean += expected @ np.array(gain)
            spread += np.einsum("rv,rs,sv->v", np.array(gain), covariance, np.array(gain)) / people[j]
        assert np.allclose(mean, f, atol=1e-9)
        found = m.fakes[i].variances(f, n, m.d) + (f - f * f) / n  # who is in a fixed population does not vary
        assert np.allclose(found, spread, rtol=1e-9)


@pytest.mark.parametrize("variant", ["MSS", "MSS-r"])
def test_estimates_of_many_people_are_within_their_errors(variant: str) -> None:
    """Of 270 estimates, all within seven standard errors: chance fails it less than once in 10⁹ runs. Seed 7."""
    m = RSFD(sizes=(200, 70), epsilon=2.0, variant=variant)
    rng = np.random.default_rng(7)
    people = np.stack([np.minimum(rng.geometric(0.1, 40_000), k) - 1 for k in m.sizes], axis=1)
    estimates = m.estimate(m.aggregate(m.privatize(people, rng=hush.seeded(7))))
    for j, estimate in enumerate(estimates):
        truth = np.bincount(people[:, j], minlength=m.sizes[j]) / len(people)
        assert (np.abs(estimate.frequencies - truth) < 7 * estimate.stderr).all()
        assert np.isfinite(estimate.interval(0.95)).all()


@pytest.mark.parametrize("m", [*FAKED, *PLAIN], ids=str)
def test_specs_tell_the_moduli_and_reading_never_searches(m: Multidim, monkeypatch: pytest.MonkeyPatch) -> None:
    text = hush.Spec(m).to_json()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(search, "choose_moduli", never)
    search._anchored.cache_clear()
    again = hush.Spec.from_json(text)
    assert again.mechanism == m
    assert again.to_json() == text
    told = m.parameters["chosen"]
    for part, component in zip(told, m.components, strict=True):
        assert part == ({"moduli": list(component.moduli)} if isinstance(component, MSS) else {})


def test_those_of_the_papers_tell_nothing_more() -> None:
    m = RSFD(sizes=(3, 3), epsilon=1.0)
    assert "chosen" not in m.parameters
    assert "MSS" not in {offer["variant"] for offer in RSFD.offers((3, 3))}
    with pytest.raises(SpecError, match="chosen must be written out"):
        hush.from_dict({name: x for name, x in FAKED[0].to_dict().items() if name != "chosen"})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"chosen": [{"moduli": (2, 3)}]}, "chosen must be 2 mappings"),
        ({"chosen": [{"moduli": (2, 3)}, {"g": 4}]}, "chosen must be moduli, for MSS"),
        ({"chosen": [{"moduli": (2, 3)}, {"moduli": (2, 2)}]}, "moduli must have no common factors"),
        ({"chosen": [{"moduli": (2, 3)}, {"moduli": (5,), "code": "enumerative"}]}, "chosen must be what"),
        ({"variant": "MSS-z"}, "variant must be one of"),
        ({"variant": ("GRR", "GRR"), "chosen": [{}, {"moduli": (5,)}]}, "chosen must be what"),
    ],
)
def test_bad_parameters(more: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        RSFD(**{"sizes": (3, 5), "epsilon": 1.0, "variant": "MSS", **more})  # type: ignore[arg-type]


def test_realistic_fakes_of_any_subset_make_no_sense() -> None:
    with pytest.raises(ParameterError, match="variant must be one of GRR, SUE-r, OUE-r, MSS-r, ADP, got 'MSS'"):
        RSRFD(sizes=(3, 5), epsilon=1.0, variant="MSS", priors=SKEWED)
