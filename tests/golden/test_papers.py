"""Golden values that we did not produce: enumeration and high-precision arithmetic, by paper, protocol and quantity."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hush
from hush.analysis import optimal, success, variance
from hush.mechanisms.adaptive import Adaptive

GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))["golden"]

PROTOCOLS = {
    "GRR", "SS", "SUE", "OUE", "LH", "BLH", "SHE", "THE", "AGRR", "ASUE", "AOLH", "AGM", "GM",
    "ASS", "AUE", "ALH", "ATHE",
}  # fmt: skip
ELSEWHERE = {"population_limit_eps_emp=ln(ASR(k-1)/(1-ASR))"}


def made(protocol: str, params: dict[str, Any]) -> hush.FrequencyOracle:
    """The mechanism that a golden value speaks of."""
    more = {name: params[name] for name in ("omega", "g", "delta", "search") if name in params}
    if protocol in {"BLH", "AOLH"}:
        more.pop("g", None)
    if protocol == "THE":
        more["theta"] = optimal.threshold(params.get("eps", 1.0))  # left out, it has six digits
    if protocol in {"ASS", "AUE", "ALH", "ATHE"}:
        more["design"] = "paper"  # by equation 4
    return hush.registry()[protocol](k=params.get("k", 4), epsilon=params.get("eps", 1.0), **more)


def relative(mechanism: hush.FrequencyOracle) -> float:
    """Grid noise differs from its continuous limit; thresholds only in the last digits."""
    if isinstance(mechanism, Adaptive):
        return 1e-6  # a minimum is flat: its place is good to half the digits of its depth
    return 2e-3 if mechanism.family == "histogram" else 1e-9


QUANTITIES: dict[str, Callable[[hush.FrequencyOracle, dict[str, Any]], float]] = {
    "p_star": lambda m, _: m.p_star,
    "q_star": lambda m, _: m.q_star,
    "p": lambda m, _: m.p_star,
    "q": lambda m, _: m.q_star,
    "actual_epsilon": lambda m, _: m.exact_epsilon(),
    "actual_epsilon_of_thresholded_vector": lambda m, _: m.exact_epsilon(),
    "var_eq4_n1": lambda m, _: m.variance(),
    "var_n1": lambda m, _: m.variance(),
    "var_eq3": lambda m, given: m.variance(given["n"], given["f"]),
    "expected_ASR_bayes": lambda m, _: m.asr(),
    "expected_ASR_exact": lambda m, _: m.asr(),
    "bits": lambda m, _: m.bits,
    "ASR_eq15_approx": lambda m, g: success.local_hashing_paper(g["k"], g["eps"], g["g"]),
    "printed_eq8_WRONG_value_do_not_use": lambda m, g: variance.subset_selection_paper(g["k"], g["eps"], g["omega"]),
    "optimal_theta_min_var_eq4": lambda m, g: optimal.threshold(g["eps"]),
    "omega_round": lambda m, g: optimal.subset_size(g["k"], g["eps"]),
    "omega_argmin_eq4": lambda m, g: min(
        range(1, g["k"]), key=lambda w: variance.subset_selection(g["k"], g["eps"], w)
    ),
    "g_real_local_optimum": lambda m, g: optimal.approximate_hash_range(g["eps"], g["delta"]),
    "sigma": lambda m, g: m.sigma,
    "optimal_omega": lambda m, g: m.omega,
    "optimal_g_eq15": lambda m, g: m.g,
    "optimal_g_exact_ASR": lambda m, g: m.g,
    "optimal_p_continuous": lambda m, g: m.p,
    "q_at_opt": lambda m, g: m.q,
    "optimal_p_grid_linspace(0.5,1,100)": lambda m, g: made("AUE", {**g, "search": "grid"}).p,
    "optimal_theta_grid_linspace(0.5,1,100)": lambda m, g: made("ATHE", {**g, "search": "grid"}).theta,
}


def ours() -> list[dict[str, Any]]:
    """The golden values of mechanisms that exist, including their printed errors."""
    return [g for g in GOLDEN if g["doc"] in {"000", "001"} and g["protocol"] in PROTOCOLS]


@pytest.mark.parametrize("entry", ours(), ids=lambda e: f"{e['id']}-{e['protocol']}-{e['quantity']}")
def test_golden_value(entry: dict[str, Any]) -> None:
    quantity, given = entry["quantity"], entry["params"]
    if quantity in ELSEWHERE:
        m = made(entry["protocol"], given)
        limit = math.log(m.asr() * (m.k - 1) / (1 - m.asr()))
        assert limit == pytest.approx(entry["value"], rel=1e-9)
        return
    if quantity == "hockey_stick_delta":
        # delta is what the mechanism was built for; its exact epsilon at that delta is the golden epsilon.
        m = made(entry["protocol"], given)
        assert m.guarantee == hush.ApproxLDP(given["eps"], entry["value"])
        assert m.exact_epsilon() == pytest.approx(given["eps"], abs=1e-9)
        return
    m = made(entry["protocol"], given)
    assert QUANTITIES[quantity](m, given) == pytest.approx(entry["value"], rel=relative(m), abs=1e-12)


def test_there_are_golden_values_for_every_family() -> None:
    assert len(ours()) >= 60
    assert {g["protocol"] for g in ours()} == PROTOCOLS


def test_continuous_limits_are_golden_without_the_grid() -> None:
    by_key = {(g["protocol"], g["quantity"], g["params"].get("k"), g["params"].get("eps")): g["value"] for g in ours()}
    for k, epsilon in ((2, 1.0), (10, 1.0), (100, 4.0), (1000, 4.0)):
        golden = by_key["SHE", "expected_ASR_bayes", k, epsilon]
        assert success.summed_histogram(k, epsilon) == pytest.approx(golden, rel=1e-12)
    for epsilon in (0.25, 4.0):
        golden = by_key["AGM", "sigma", None, epsilon]
        assert optimal.analytic_gaussian_scale(epsilon, 1e-5) == pytest.approx(golden, rel=1e-10)
    assert optimal.gaussian_scale(1.0, 1e-5) == pytest.approx(by_key["GM", "sigma", None, 1.0], rel=1e-12)
