"""Every mechanism can be asked for its smallest budget: registered, or with nothing but its law; costly ones too."""

from __future__ import annotations

import pytest

import hush
from tests.conftest import APPROXIMATE, NAMES, UTILITY
from tests.unit.planning.test_budget import ask, hold, part

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted({*NAMES, *UTILITY} - {"LHO"}))
def test_any_registered_mechanism_can_be_asked_for(name: str) -> None:
    parameters: dict[str, object] = {"UE": {"p": 0.7}, "LH": {"g": 3}}.get(name, {})
    if name in UTILITY:
        parameters = {"sensitive": (0, 2)}
    if name in APPROXIMATE:
        parameters = {**parameters, "delta": 1e-5}
    most = 1.0 if name == "GM" else 5.0
    answer = ask(name, threshold=0.3, parameters=parameters, epsilon=(0.3, most), runs=400)
    assert answer.feasible
    assert isinstance(answer.mechanism, hush.registry()[name])


def test_a_mechanism_that_only_states_its_law_can_be_asked_for() -> None:
    """No variances, no batch: a function makes it, and it is simulated run by run."""

    class Own(hush.GRR):
        def _simulate(self, counts, rng):  # type: ignore[no-untyped-def]
            return hush.FrequencyOracle._simulate(self, counts, rng)

        def variances(self, frequencies, n=1):  # type: ignore[no-untyped-def]
            raise NotImplementedError

    given = {"people": [20, 10, 5], "threshold": 0.2, "runs": 200, "epsilon": (0.5, 5.0)}
    own = ask(lambda epsilon: Own(k=3, epsilon=epsilon), **given)
    assert own.epsilon is not None
    assert own.refuted is not None
    part(ask("GRR", **given).question, own.epsilon, own.refuted, 200)  # whose law is the same


@pytest.mark.parametrize("method", ["BS", "DBS", "direct"])
@pytest.mark.parametrize("name", ["SS", "HR", "PGR", "MSS"])
def test_the_normal_law_brackets_and_the_exact_law_decides(name: str, method: str) -> None:
    """Where a run is costly and people are many; what is returned kept the threshold in exact runs."""
    given = {"people": hush.datasets.zipf(12, 20_000), "threshold": 0.01, "epsilon": (0.5, 3.0), "runs": 250}
    answer = ask(name, method=method, **given)
    assert {t.law for t in answer.evidence} == {"normal", "exact"}
    assert answer.best.law == "exact"
    assert answer.best.share >= 0.9
    hold(answer, 0.8, fresh=2000)
    assert not ask(name, method=method, **{**given, "threshold": 1e-9}).feasible
