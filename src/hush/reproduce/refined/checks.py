"""What the paper prints about its figures, compared with what came out; claims known to be wrong are marked so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.analysis import tradeoff
from hush.mechanisms.adaptive import ATHE, AUE
from hush.reproduce.refined.protocols import ADAPTIVE, EPSILON, FAMILIES, K, point
from hush.reproduce.study import Check, Table

Floats = npt.NDArray[np.float64]
FALSE_ALARM = 1e-6
"""Chance that the checks of one empirical figure fail although all is well."""


def objectives(table: Table) -> list[Check]:
    """Figure 7: the parameters that section VI-F prints, and the optima off the grid."""
    where, checks = "VI-F", []
    for name, printed in {"AUE": "0.818", "ALH": "13", "ASS": "7", "ATHE": "0.783"}.items():
        rows = table.where(protocol=name)
        best = rows.numbers("parameter")[rows.numbers("objective").argmin()]
        checks.append(Check.number(f"{FAMILIES[name].parameter} of {name}", printed, float(best), where))
    for name, printed in {"OUE": "0.5", "OLH": "56", "SS": "2", "THE": "0.816"}.items():
        usual = point(name, K, EPSILON).parameter
        checks.append(Check.number(f"{FAMILIES[name].parameter} of {name}", printed, float(usual or 0), where))
    where = "not in the paper; 40-digit arithmetic"
    p, theta = AUE(k=K, epsilon=EPSILON).p, ATHE(k=K, epsilon=EPSILON).theta
    checks.append(Check.number("p of AUE, off the grid", "0.816129", p, where))
    checks.append(Check.number("theta of ATHE, off the grid", "0.782234", theta, where))
    return checks


def weights(table: Table) -> list[Check]:
    """Figure 6: whether a weight of 1 on the error gives back the protocol that was refined."""
    checks = []
    for original, name in ADAPTIVE.items():
        row = table.where(protocol=name, w_mse=1.0)
        found, usual = (float(row.numbers(column)[0]) for column in ("parameter", "original"))
        step = 0 if FAMILIES[name].whole else 0.5 / 99
        holds = bool(abs(found - usual) <= step / 2)
        claim = f"w_MSE = 1 recovers {original}: its {FAMILIES[name].parameter}" + (", to the grid" if step else "")
        checks.append(Check(claim, f"{usual:.3g}", f"{found:.3g}", holds, right=original != "SS", source="V-C"))
    return checks


def attacks(table: Table) -> list[Check]:
    """Figure 2: what section VI-B says of attack success."""
    top = {name: float(table.where(protocol=name).numbers("asr").max()) for name in ("SS", "OUE", "OLH", "ASS")}
    between = point("ASS", 25, 3.4).asr
    ratio = _ratio(table, "AUE", "SUE", "asr")[table.where(protocol="AUE").numbers("epsilon") <= 2]
    most, shown, cap = "largest ASR about 0.5", {name: f"{value:.4f}" for name, value in top.items()}, "< 0.25"
    return [
        Check("SS: ASR gets to 1", "1", shown["SS"], top["SS"] > 0.99, source="VI-B"),
        Check(f"OUE: {most}", "0.5", shown["OUE"], abs(top["OUE"] - 0.5) < 0.05, source="VI-B"),
        Check(f"OLH: {most}", "0.5", shown["OLH"], abs(top["OLH"] - 0.5) < 0.05, source="VI-B"),
        Check("ASS: ASR capped, at the budgets of the figure", cap, shown["ASS"], top["ASS"] < 0.25, source="VI-B"),
        Check("ASS: ASR capped, at k = 25, ε = 3.4", cap, f"{between:.4f}", between < 0.25, right=False, source="VI-B"),
        Check(
            "ε ≤ 2: ASR of AUE over that of SUE",
            "< 1",
            f"{ratio.min():.2f} to {ratio.max():.2f}",
            bool(ratio.max() < 1),
            right=False,
            source="VI-C",
        ),
        _coverage(),
    ]


def _coverage() -> Check:
    """Whether the paper's grid reaches the best p of unary encoding at a large budget, where that is close to 1."""
    epsilon = 10.0
    beyond = 1 - np.geomspace(1e-6, 0.5, 100_001)
    costs = tradeoff.unary(K, epsilon, beyond).mean(axis=1)
    found = point("AUE", K, epsilon)
    cost, least = (found.asr + found.mse) / 2, float(costs.min())
    said = f"p = {found.parameter:.4g}: {cost:.4f}; p = {beyond[costs.argmin()]:.5f}: {least:.4f}"
    claim = "AUE: the grid holds the least objective, at k = 100, ε = 10"
    return Check(claim, "exhaustive", said, cost < 1.01 * least, right=False, source="VI-A")


def variances(table: Table) -> list[Check]:
    """Figure 3: what section VI-C says of the price of adaptivity."""
    unary, hashing = (float(_ratio(table, *pair, "mse").max()) for pair in (("AUE", "OUE"), ("ALH", "OLH")))
    checks = [
        Check("AUE: variance within 10 times OUE's", "≤ 10", f"{unary:.1f}", unary <= 10, right=False, source="VI-C"),
        Check("ALH: variance within 100 times OLH's", "≤ 100", f"{hashing:.0f}", hashing <= 100, right=False,
              source="VI-C"),
    ]  # fmt: skip
    for name, low, high in (("ALH", "OLH", "BLH"), ("ATHE", "THE", "SHE")):
        least, most = float(_ratio(table, name, low, "mse").min()), float(_ratio(table, name, high, "mse").max())
        said = f"≥ {least:.4f} {low}, ≤ {most:.4f} {high}"
        holds = least >= 0.999 and most <= 1.001  # g is rounded, so OLH itself is not quite the least
        checks.append(Check(f"{name}: variance between {low} and {high}", "always", said, holds, source="VI-C"))
    return checks


def subsets(table: Table) -> list[Check]:
    """Figure 4: what section VI-C says of the price of ASS."""
    most = float(_ratio(table, "ASS", "SS", "mse").max())
    claim = "ASS: variance within 100 times that of SS"
    return [Check(claim, "≤ 100", f"{most:.0f}", most <= 100, right=False, source="VI-C")]


def _ratio(table: Table, name: str, base: str, column: str) -> Floats:
    """One protocol's column over another's, cell by cell."""
    return table.where(protocol=name).numbers(column) / table.where(protocol=base).numbers(column)


def measured(table: Table) -> list[Check]:
    """Figures 8 and 15: whether measurements agree with the formulas, and which ones."""
    from scipy.stats import norm, t

    tail, runs = FALSE_ALARM / (4 * len(table.rows)), int(table.column("runs")[0])
    limits = {"asr": float(norm.isf(tail)), "mse": float(t.isf(tail, runs - 1))}
    names = {"asr": "measured ASR is the exact one", "mse": "measured MSE is the variance at the data's frequencies"}
    checks = []
    for measure, claim in names.items():
        off = _off(table, measure, f"{measure}_expected")
        said = f"|z| ≤ {off.max():.2f} in {off.size} cells"
        checks.append(
            Check(claim, f"|z| < {limits[measure]:.1f}", said, bool(off.max() < limits[measure]), source="VI-G")
        )
    return checks


def as_printed(table: Table) -> list[Check]:
    """Figure 8: whether measurements agree, to a tenth, with the formulas that the paper compares them with."""
    hashing = Table(table.columns, [row for row in table.rows if row[0] in {"BLH", "OLH", "ALH"}])
    checks = measured(table)
    for claim, rows, measure in (
        ("measured MSE is the variance at frequency 0 (equation 4)", table, "mse"),
        ("measured ASR of hashing is that of equation 15", hashing, "asr"),
    ):
        factor = rows.numbers(f"{measure}_paper") / rows.numbers(measure)
        said = f"{factor.min():.3g} to {factor.max():.3g} times what is measured"
        holds = bool(factor.min() >= 0.9 and factor.max() <= 1.1)
        checks.append(Check(claim, "closely", said, holds, right=False, source="VI-G"))
    return checks


def _off(table: Table, measure: str, expected: str) -> Floats:
    """Standard errors between what was measured and what was expected."""
    gap = table.numbers(measure) - table.numbers(expected)
    return np.abs(gap) / table.numbers(f"{measure}_stderr")
