"""Bad parameters are refused with the parameter, the rule, the value and the remedy."""

from __future__ import annotations

import inspect
import itertools
import math
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pytest

import hush
from hush.analysis import optimal, variance
from hush.errors import CallError, ParameterError
from tests.conftest import APPROXIMATE, NAMES, example
from tests.refusals import find_wrong_outcome

pytestmark = pytest.mark.boundary

BAD_EPSILONS = [0, -1.0, 1e-9, 1e-300, math.nan, math.inf, -math.inf, 41.0, 1e300, "1", None, True, 1j, [1.0]]


def test_bad_epsilons() -> None:
    pattern = r"epsilon must be a number from .* to \d+, got .*; choose"
    wrong = [
        f"{name}(epsilon={epsilon!r}) {outcome}"
        for name, epsilon in itertools.product(NAMES, BAD_EPSILONS)
        if name != "LHO"
        and (outcome := find_wrong_outcome(partial(example, name, 4, epsilon), ParameterError, pattern))  # type: ignore[arg-type]
    ]
    wrong += [
        f"LHO(epsilon={epsilon!r}) {outcome}"
        for epsilon in BAD_EPSILONS
        if (outcome := find_wrong_outcome(partial(hush.LHO, k=4, g=2, epsilon=epsilon), TypeError))  # type: ignore[call-arg]
    ]
    assert not wrong, "\n".join(wrong)


def test_bad_domain_sizes() -> None:
    pattern = r"k must be an integer in 2\.\.\d+, got .*; count"
    wrong = [
        f"{name}(k={k!r}) {outcome}"
        for name, k in itertools.product(NAMES, [1, 0, -3, 2.5, math.nan, "4", None, True, 2**40])
        if (outcome := find_wrong_outcome(partial(example, name, k, 1.0), ParameterError, pattern))  # type: ignore[arg-type]
    ]
    assert not wrong, "\n".join(wrong)


def test_bad_deltas() -> None:
    wrong = [
        f"{name}(delta={delta!r}) {outcome}"
        for name, delta in itertools.product(sorted(APPROXIMATE), [0, -0.1, 1.0, 2.0, math.nan, "x", None])
        if (outcome := find_wrong_outcome(partial(example, name, 4, 0.9, delta), ParameterError, "delta must be"))  # type: ignore[arg-type]
    ]
    assert not wrong, "\n".join(wrong)


BAD_OPTIONS: list[tuple[type[hush.FrequencyOracle], dict[str, Any], str]] = [
    (hush.SS, {"k": 4, "epsilon": 1.0, "omega": 0}, "omega"),
    (hush.SS, {"k": 4, "epsilon": 1.0, "omega": 4}, "omega"),
    (hush.SS, {"k": 4, "epsilon": 1.0, "omega": 1.5}, "omega"),
    (hush.UE, {"k": 4, "epsilon": 1.0, "p": 0.0}, "p"),
    (hush.UE, {"k": 4, "epsilon": 1.0, "p": 1.0}, "p"),
    (hush.UE, {"k": 4, "epsilon": 1.0, "p": math.nan}, "p"),
    (hush.UE, {"k": 4, "epsilon": 1.0, "p": 1e-19}, "p"),
    (hush.LH, {"k": 1024, "epsilon": 1.0, "g": 10**6}, "g"),
    (hush.LH, {"k": 4, "epsilon": 1.0, "g": 1}, "g"),
    (hush.LH, {"k": 4, "epsilon": 1.0, "g": 2.0}, "g"),
    (hush.LHO, {"k": 4, "g": 0}, "g"),
    (hush.THE, {"k": 4, "epsilon": 1.0, "theta": 0.5}, "theta"),
    (hush.THE, {"k": 4, "epsilon": 1.0, "theta": 1.5}, "theta"),
    (hush.ServerTHE, {"k": 4, "epsilon": 1.0, "theta": -1.0}, "theta"),
    (hush.HR, {"k": 4, "epsilon": 1.0, "blocks": 3}, "blocks"),
    (hush.HR, {"k": 4, "epsilon": 1.0, "blocks": 0}, "blocks"),
    (hush.Wheel, {"k": 4, "epsilon": 1.0, "coverage": 0.0}, "coverage"),
    (hush.Wheel, {"k": 4, "epsilon": 1.0, "coverage": 1.0}, "coverage"),
    (hush.GM, {"k": 4, "epsilon": 1.5, "delta": 1e-5}, "epsilon"),
    (hush.AOLH, {"k": 4, "epsilon": 1.0, "delta": 0.5}, "delta"),
]


def test_bad_options_of_one_mechanism() -> None:
    wrong = [
        f"{cls.__name__}({options}) {outcome}"
        for cls, options, parameter in BAD_OPTIONS
        if (outcome := find_wrong_outcome(partial(cls, **options), ParameterError, f"^{parameter} must .*, got .*; "))
    ]
    assert not wrong, "\n".join(wrong)


def test_numbers_of_other_types_are_welcome() -> None:
    plain = hush.SS(k=10, epsilon=1.0, omega=3)
    assert hush.SS(k=np.int32(10), epsilon=np.float64(1.0), omega=np.int8(3)) == plain
    assert hush.SS(k=10, epsilon=1, omega=3).spec_hash == plain.spec_hash
    assert isinstance(hush.GRR(k=3, epsilon=1).epsilon, float)
    with pytest.raises(ParameterError):
        hush.GRR(k=3, epsilon=Decimal("1"))  # type: ignore[arg-type]


CALLS = [
    (lambda: hush.GRR(4, 1.0), "parameters", r"write GRR\(k=…, epsilon=…\)"),
    (lambda: hush.GRR(k=4, eps=1.0), "eps", r"did you mean epsilon\?"),
    (lambda: hush.MSS(k=40, epsilon=1.0, modulli=(5, 7, 9)), "modulli", r"did you mean moduli\?"),
    (lambda: hush.GRR(k=4, epsilon=1.0, colour="red"), "colour", "leave it out"),
    (lambda: hush.GRR(k=4), "epsilon", r"write GRR\(epsilon=…, …\)"),
    (lambda: hush.Duchi(0, 1, 1.0), "parameters", r"write Duchi\(low=…, high=…, epsilon=…\)"),
    (lambda: hush.multidim.SMP(sizes=(2, 3), eps=1.0), "eps", "did you mean epsilon"),
    (lambda: hush.longitudinal.LGRR(4), "parameters", r"write LGRR\(k=…\)"),
]


@pytest.mark.parametrize(("call", "parameter", "remedy"), CALLS)
def test_calls_that_do_not_fit_are_told_how_to(call: Any, parameter: str, remedy: str) -> None:
    with pytest.raises(CallError, match=remedy) as caught:
        call()
    assert caught.value.parameter == parameter
    assert isinstance(caught.value, ParameterError)
    assert isinstance(caught.value, TypeError)


def test_errors_from_inside_a_constructor_stay_as_they_are() -> None:
    class Odd(hush.GRR):
        def __post_init__(self) -> None:
            raise TypeError("from inside")

    with pytest.raises(TypeError, match=r"^from inside$") as caught:
        Odd(k=4, epsilon=1.0)
    assert not isinstance(caught.value, ParameterError)


def test_help_shows_the_parameters() -> None:
    assert list(inspect.signature(hush.GRR).parameters) == ["k", "epsilon"]


def test_everything_is_listed() -> None:
    assert {"audit", "plan", "budget", "capacity", "uldp", "OUE", "testing"} <= {*dir(hush)}
    for name in dir(hush):
        assert getattr(hush, name) is not None or name.startswith("__")


def test_parameters_are_frozen() -> None:
    with pytest.raises(AttributeError):
        hush.GRR(k=4, epsilon=1.0).k = 5  # type: ignore[misc]


def test_defaults_are_the_published_optima() -> None:
    assert hush.SS(k=100, epsilon=4.0).omega == 2
    assert hush.OLH(k=100, epsilon=4.0).g == 56
    assert hush.BLH(k=100, epsilon=4.0).g == 2
    assert hush.OUE(k=5, epsilon=1.0).p == 0.5
    assert hush.Wheel(k=5, epsilon=1.0).coverage == round(1 / (math.e + 1), 6)
    assert hush.HR(k=100, epsilon=1.0).blocks == 1
    assert optimal.hadamard_blocks_paper(100, 1.0) == 2
    for k, epsilon in ((5, 2.0), (24, 3.3), (24, 3.32), (100, 4.0), (128, 3.0)):
        best = hush.HR(k=k, epsilon=epsilon)
        others = [hush.HR(k=k, epsilon=epsilon, blocks=2**i) for i in range(8) if 2**i < 2 * k]
        means = [float(m.variances(np.full(k, 1 / k)).mean()) for m in others]
        found = float(best.variances(np.full(k, 1 / k)).mean())
        assert found == pytest.approx(min(means), rel=1e-9)
        assert found == pytest.approx(variance.hadamard_response_mean(k, epsilon, best.blocks), rel=1e-9)
        rare = [best.variances(np.where(np.arange(k) == v, 0.0, 1 / (k - 1)))[v] for v in range(k)]
        assert rare[0] == pytest.approx(variance.hadamard_response(k, epsilon, best.blocks), rel=1e-9)
        assert best.variance() == pytest.approx(np.mean(rare), rel=1e-9)


@pytest.mark.parametrize("name", ["GRR", "SS", "SUE", "OUE", "BLH", "OLH", "SHE", "THE", "HR", "PGR", "MSS"])
@pytest.mark.parametrize("k", [3, 24, 100])
def test_a_larger_budget_never_has_a_larger_mean_error(name: str, k: int) -> None:
    budgets = np.geomspace(0.3, 6.0, 40)
    made = [hush.registry()[name](k=k, epsilon=float(e)) for e in budgets]
    errors = [float(m.variances(np.full(k, 1 / k)).mean()) for m in made]
    worse = max(after / before for before, after in itertools.pairwise(errors))
    assert worse <= (1.02 if name == "PGR" else 1 + 1e-9)  # PGR jumps a little where its field changes


def test_lho_says_that_it_has_no_guarantee() -> None:
    m = hush.LHO(k=10, g=4)
    assert m.guarantee is None
    assert m.epsilon == math.inf
    assert m.exact_epsilon() == math.inf


def test_guarantees_read_well() -> None:
    assert str(hush.GRR(k=4, epsilon=0.5).guarantee) == "0.5-LDP"
    assert str(hush.AGM(k=4, epsilon=0.5, delta=1e-5).guarantee) == "(0.5, 1e-05)-LDP"


def test_the_has_the_loss_of_what_it_sends() -> None:
    client, server, sum_ = (cls(k=100, epsilon=4.0) for cls in (hush.THE, hush.ServerTHE, hush.SHE))
    assert client.exact_epsilon() == pytest.approx(2.85894476544049)
    assert server.exact_epsilon() == sum_.exact_epsilon() == pytest.approx(4.0)
    assert server.asr() == sum_.asr() == pytest.approx(0.0739, abs=5e-4)
    assert client.asr() == pytest.approx(0.0669, abs=5e-5)
    assert server.p_star == pytest.approx(client.p_star, rel=2e-3)


def test_a_gaussian_with_too_little_noise_is_found_out() -> None:
    from hush.mechanisms.histogram import grid

    thin = grid.gaussian(0.5)
    assert thin.excess(1.0) > 0.5
    assert thin.smallest_epsilon(1e-5, 1.0) > 5.0
    enough = hush.AGM(k=3, epsilon=1.0, delta=1e-5).grid
    assert enough.smallest_epsilon(1e-5, 1.0) <= 1.0
    assert enough.smallest_epsilon(1e-5, 0.01) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("cls", [hush.SHE, hush.ServerTHE])
def test_grid_noise_has_a_least_epsilon(cls: type[hush.SHE]) -> None:
    with pytest.raises(ParameterError, match=r"epsilon must be a number from 0\.001 to 40"):
        cls(k=4, epsilon=1e-4)
    assert hush.GRR(k=4, epsilon=1e-6).variance() > 1e12


@pytest.mark.parametrize("name", ["GRR", "HR", "SHE"])
def test_variance_checks_what_it_is_given(name: str) -> None:
    m = example(name, 4, 1.0)
    for bad in (0, -1, math.nan, "1"):
        with pytest.raises(ParameterError, match=r"^n must be above 0"):
            m.variance(bad)  # type: ignore[arg-type]
    for bad in (-0.1, 2, math.nan, None):
        with pytest.raises(ParameterError, match=r"^frequency must lie in"):
            m.variance(10, bad)  # type: ignore[arg-type]


def test_slips_are_named() -> None:
    m = hush.GRR(k=4, epsilon=1.0)
    reports = m.privatize([0, 1])
    with pytest.raises(ParameterError, match="aggregate must be an Aggregate"):
        m.estimate(reports)
    with pytest.raises(hush.errors.ReportError, match="reports must be an array"):
        m.aggregate(None)  # type: ignore[arg-type]
    with pytest.raises(hush.errors.SpecError, match="mechanism must be a mechanism"):
        hush.Spec(None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="labels must be a list"):
        hush.Domain(labels="abc")
    assert sum([m.aggregate(reports), m.aggregate(reports)]).n == 4
