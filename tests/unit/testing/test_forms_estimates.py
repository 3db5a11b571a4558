"""What forms say of estimates is held against the enumeration: a companion that lies is caught."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import hush
from hush.exact.enumeration import listed
from hush.mechanisms.direct.forms import DirectForms
from hush.mechanisms.forms import Forms, PureForms
from hush.mechanisms.hadamard.forms import HadamardForms
from hush.mechanisms.hashing.forms import LocalHashingForms
from hush.mechanisms.modular.forms import ModularForms
from hush.mechanisms.subset.forms import SubsetForms
from hush.mechanisms.tunable import Choices, Family, Fixed, Tunable
from hush.planning import accuracy
from hush.planning.families import families
from hush.planning.named import Usual
from hush.planning.search import candidates
from hush.planning.tuning import ListedParameter, Tuned
from hush.planning.wishes import Wishes
from hush.simulation.normals import Normals
from hush.testing import ConformanceError, check_forms, forms_estimates
from hush.testing.forms import COMPARISONS
from hush.types import Floats, Ints

SEED = 20_261


class Lies:
    """What a companion may get wrong, by name."""

    @dataclass(frozen=True, eq=False)
    class EvenVariance(HadamardForms):
        def even_variance(self, n: int) -> float:
            return 1.001 * super().even_variance(n)

    @dataclass(frozen=True, eq=False)
    class Kinds(HadamardForms):
        @property
        def kinds(self) -> Sequence[int]:
            return [1]  # alone in its block

        def even_variance(self, n: int) -> float:
            return Forms.even_variance(self, n)

    @dataclass(frozen=True, eq=False)
    class WorstVariance(DirectForms):
        def worst_variance(self, n: int) -> float:
            return self.m.variance(n)

    @dataclass(frozen=True, eq=False)
    class WorstOfBlocks(ModularForms):
        def worst_variance(self, n: int) -> float:
            return self.m.blocks.even_variance(n)

    @dataclass(frozen=True, eq=False)
    class AbsoluteErrors(DirectForms):
        def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
            n = int(counts.sum())
            return np.asarray(np.sqrt(2 / np.pi * self.m.variances(counts / n, n)[values]))

    @dataclass(frozen=True, eq=False)
    class HashedErrors(LocalHashingForms):
        def absolute_errors(self, counts: Ints, values: Sequence[int]) -> Floats:
            return 1.05 * super().absolute_errors(counts, values)

    @dataclass(frozen=True, eq=False)
    class EvenAbsoluteError(DirectForms):
        def even_absolute_error(self, n: int) -> float:
            return 1.001 * super().even_absolute_error(n)

    @dataclass(frozen=True, eq=False)
    class SingleAbsoluteError(ModularForms):
        def single_absolute_error(self, counts: Ints) -> float:
            return 1.2 * super().single_absolute_error(counts)

    @dataclass(frozen=True, eq=False)
    class WorstAbsoluteError(DirectForms):
        def worst_absolute_error(self, n: int) -> float:
            return 0.999 * super().worst_absolute_error(n)

    @dataclass(frozen=True, eq=False)
    class EvenInformation(DirectForms):
        def even_information(self) -> float:
            return 1.01 * super().even_information()

    @dataclass(frozen=True, eq=False)
    class HashedInformation(LocalHashingForms):
        def even_information(self) -> float:
            return 1.5 * super().even_information()

    @dataclass(frozen=True, eq=False)
    class Information(DirectForms):
        def information(self, frequencies: Floats) -> float:
            return self.even_information()

    @dataclass(frozen=True, eq=False)
    class ServerWork(DirectForms):
        @property
        def server_work(self) -> float:
            return self.m.k + 1

    @dataclass(frozen=True, eq=False)
    class TouchedCounters(SubsetForms):
        """One too many, though no more than there are."""

        @property
        def server_work(self) -> float:
            return self.m.omega + 1

    @dataclass(frozen=True, eq=False)
    class Tallies(DirectForms):
        def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
            return super().tallies(np.roll(people, 1, axis=1), runs, rng)

    @dataclass(frozen=True, eq=False)
    class DependentTallies(SubsetForms):
        """Right on average, and wrong together."""

        def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
            once = super().tallies(people, runs, rng)
            return np.stack([np.roll(once[:, v], 7 * v) for v in range(self.m.k)], axis=1)

    @dataclass(frozen=True, eq=False)
    class QuietTallies(LocalHashingForms):
        """Right on average, and always alike."""

        def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
            n = people.sum(axis=1, keepdims=True)
            due = people * self.m.p_star + (n - people) * self.m.q_star
            return np.broadcast_to(np.rint(due).astype(np.int64), (runs, self.m.k))

    @dataclass(frozen=True, eq=False)
    class SampledTallies(HadamardForms):
        def message_chances(self, frequencies: Floats) -> Floats:
            return super().message_chances(frequencies[::-1])

        def sampled_tallies(self, frequencies: Floats, n: int, runs: int, rng: np.random.Generator) -> Ints:
            return super().sampled_tallies(frequencies, n, runs, rng)

        def normal_report(self, normals: Normals, frequencies: Floats) -> None:
            return None

    @dataclass(frozen=True, eq=False)
    class Estimates(ModularForms):
        def estimates(self, tallies: Ints, n: int) -> Floats:
            return super().estimates(tallies, n) + 1e-5

    @dataclass(frozen=True, eq=False)
    class NormalNoise(DirectForms):
        """The variances are right, and the covariances are not."""

        def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats | None:
            return Forms.normal_noise(self, normals, frequencies, n)

    @dataclass(frozen=True, eq=False)
    class NormalReport(HadamardForms):
        def normal_report(self, normals: Normals, frequencies: Floats) -> Floats:
            return 1.1 * super().normal_report(normals, frequencies)

    @dataclass(frozen=True, eq=False)
    class FamilyErrors(SubsetForms):
        @classmethod
        def tunable(cls, k: int) -> Sequence[Tunable]:
            (family,) = super().tunable(k)
            assert isinstance(family, Family)
            return (replace(family, support=lambda k, e, omega: (omega / k * e, omega / k)),)

    @dataclass(frozen=True, eq=False)
    class Settled(DirectForms):
        @classmethod
        def settled(cls, k: int, epsilon: float) -> Mapping[str, Any]:
            return {"k": 1}

    @dataclass(frozen=True, eq=False)
    class Variants(DirectForms):
        @classmethod
        def variants(cls, k: int) -> Sequence[tuple[type[hush.FrequencyOracle], Fixed]]:
            return [(hush.GRR, (("omega", 3),))]


MECHANISMS: dict[type[Forms], tuple[type[hush.FrequencyOracle], dict[str, Any]]] = {
    HadamardForms: (hush.HR, {"k": 5, "blocks": 4}),
    DirectForms: (hush.GRR, {"k": 4}),
    ModularForms: (hush.MSS, {"k": 7, "moduli": (4, 5)}),
    LocalHashingForms: (hush.LH, {"k": 5, "g": 3}),
    SubsetForms: (hush.SS, {"k": 5, "omega": 2}),
}


def liar(name: str) -> hush.FrequencyOracle:
    """A mechanism with this lie for a companion."""
    lie = getattr(Lies, name)
    cls, parameters = next(made for forms, made in MECHANISMS.items() if issubclass(lie, forms))
    return type(f"Lying{name}", (cls,), {"companion": lie})(epsilon=1.0, **parameters)


LIES = {
    "EvenVariance": "even_variance", "Kinds": "kinds", "WorstVariance": "kinds",
    "WorstOfBlocks": "worst_variance", "AbsoluteErrors": "absolute_errors", "HashedErrors": "absolute_errors",
    "EvenAbsoluteError": "even_absolute_error", "SingleAbsoluteError": "single_absolute_error",
    "WorstAbsoluteError": "worst_absolute_error", "EvenInformation": "information", "HashedInformation": "information",
    "Information": "information", "ServerWork": "server_work", "TouchedCounters": "server_work",
    "Tallies": "tallies", "DependentTallies": "tallies",
    "QuietTallies": "tallies", "SampledTallies": "sampled_tallies", "Estimates": "estimates",
    "NormalNoise": "normal_noise", "NormalReport": "normal_report", "FamilyErrors": "tunable", "Settled": "settled",
    "Variants": "settled",
}  # fmt: skip
"""What each lie is told of, as the check says it."""


@pytest.mark.parametrize("name", LIES)
def test_a_companion_that_lies_is_caught(name: str) -> None:
    with pytest.raises(ConformanceError, match=rf"{LIES[name]} of its forms differs from the enumeration"):
        check_forms(liar(name), SEED)


def test_every_comparison_has_a_lie_that_it_catches() -> None:
    told = {each.name for each in COMPARISONS if each.problem.__module__ == forms_estimates.__name__}
    assert told - {"even_information", "variants"} == set(LIES.values())


@pytest.mark.parametrize(
    "m",
    [
        hush.HR(k=5, epsilon=1.0, blocks=4), hush.MSS(k=7, epsilon=1.0, moduli=(4, 5)), hush.SS(k=5, epsilon=1.0),
        hush.GRR(k=4, epsilon=1.0), hush.LH(k=5, epsilon=1.0, g=3), hush.PGR(k=7, epsilon=1.0, q=2),
        hush.SHE(k=3, epsilon=1.0), hush.AGM(k=3, epsilon=1.0, delta=1e-4), hush.Wheel(k=4, epsilon=1.0),
        hush.ServerTHE(k=3, epsilon=1.0), hush.uHR(k=5, epsilon=1.0, sensitive=(0, 1, 3)),
    ],
    ids=repr,
)  # fmt: skip
def test_closed_forms_are_what_the_enumeration_says(m: hush.FrequencyOracle) -> None:
    assert type(m.forms) not in (Forms, PureForms)
    check_forms(m, SEED)


# A mechanism of one's own.


@dataclass(frozen=True, eq=False)
class SeveralForms(DirectForms):
    """What is offered to tune."""

    @classmethod
    def tunable(cls, k: int) -> Sequence[Tunable]:
        return (Choices(Several, "copies_sent", (1, 2)),)


@dataclass(frozen=True, kw_only=True)
class Several(hush.GRR):
    """Randomized response with a parameter that does nothing."""

    copies_sent: int = 1

    companion: ClassVar[type[Forms]] = SeveralForms


@pytest.fixture
def registered() -> Any:
    from hush.mechanisms import registry

    hush.register(Several)
    yield
    del registry._known[Several.name()]


@pytest.mark.usefixtures("registered")
def test_what_a_registered_mechanism_offers_is_planned_with() -> None:
    wishes = Wishes(k=10, n=10_000, error=0.05)
    offered = [
        each for each in candidates(wishes) if isinstance(each, ListedParameter) and each.choices.mechanism is Several
    ]
    assert len(offered) == 1
    found = offered[0].search()
    assert isinstance(found, Several)
    assert hush.planning.objectives.objective("work").measure(found, hush.planning.objectives.Setting()) == 1


def test_each_family_is_offered_once() -> None:
    assert [family.mechanism for family in families(50)] == [hush.SS, hush.UE, hush.LH, hush.Wheel]
    tuned = [each.family.mechanism for each in candidates(Wishes(k=50, n=1000, error=0.1)) if isinstance(each, Tuned)]
    assert tuned == [hush.SS, hush.UE, hush.LH, hush.Wheel]


def test_modular_subsets_are_planned_with_as_far_as_that_serves() -> None:
    assert [ModularForms.planned(k) for k in (16_384, 16_385)] == [True, False]
    assert [len(ModularForms.tunable(k)) for k in (4_096, 4_097)] == [1, 0]
    named = [each for each in candidates(Wishes(k=16_385, n=10**6, error=0.01)) if isinstance(each, Usual)]
    assert hush.PGR in {each.mechanism for each in named}
    assert hush.MSS not in {each.mechanism for each in named}


# By enumeration, whatever it is.


@dataclass(frozen=True, kw_only=True)
class Own(hush.GRR):
    """Another law, as far as anybody knows."""

    def outputs(self, public: Any = None) -> Any:
        return super().outputs(public)


@pytest.mark.parametrize(
    "measure",
    [
        lambda m: accuracy.mean_squared_error(m, 50),
        lambda m: accuracy.mean_squared_error(m, 50, worst=True),
        lambda m: accuracy.mean_absolute_error(m, 50),
        lambda m: accuracy.mean_absolute_error(m, 50, [0.5, 0.2, 0.2, 0.1]),
        lambda m: accuracy.mean_absolute_error(m, 50, worst=True),
        lambda m: accuracy.information_loss(m).loss,
        lambda m: accuracy.information_loss(m, [0.5, 0.2, 0.2, 0.1]).loss,
    ],
)
def test_enumeration_and_closed_forms_agree(measure: Callable[[hush.FrequencyOracle], float]) -> None:
    own, ours = Own(k=4, epsilon=1.0), hush.GRR(k=4, epsilon=1.0)
    assert type(own.forms) is PureForms
    assert measure(own) == pytest.approx(measure(ours), rel=1e-9)


def test_enumerated_errors_are_those_of_the_whole_law() -> None:
    """Of two people, by going through all that they can send."""
    m = hush.HR(k=3, epsilon=1.0, blocks=2)
    law = listed(m)
    assert law is not None
    both = np.einsum("a,b->ab", law.chances[:, 0], law.chances[:, 2])
    mean = (law.decoded[:, None] + law.decoded[None]) / 2
    due = np.einsum("ab,abv->v", both, np.abs(mean - np.array([0.5, 0.0, 0.5])))
    for forms in (m.forms, Forms(m)):
        assert forms.absolute_errors(np.array([1, 0, 1]), range(3)) == pytest.approx(due, rel=1e-9)
