"""What the paper prints about its figures, compared with what came out; claims known to be wrong are marked so."""

from __future__ import annotations

import math

import numpy as np

from hush.analysis import tradeoff
from hush.mechanisms.adaptive import ATHE, AUE
from hush.types import Floats
from hush_studies import agreement, rule
from hush_studies.check import Check, paper
from hush_studies.refined.protocols import ADAPTIVE, EPSILON, FAMILIES, PROTOCOLS, K, point
from hush_studies.study import Table

_TRADITIONAL = tuple(name for name in PROTOCOLS if name not in ADAPTIVE.values())


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
    p, theta = AUE(k=K, epsilon=EPSILON, design="paper").p, ATHE(k=K, epsilon=EPSILON, design="paper").theta
    checks.append(Check.number("p of AUE, off the grid", "0.816129", p, where, ours=True))
    checks.append(Check.number("theta of ATHE, off the grid", "0.782234", theta, where, ours=True))
    return checks


def weights(table: Table) -> list[Check]:
    """Figure 6: whether a weight of 1 on the error gives back the protocol that was refined."""
    checks = []
    for original, name in ADAPTIVE.items():
        row = table.where(protocol=name, w_mse=1.0)
        found, usual = (float(row.numbers(column)[0]) for column in ("parameter", "original"))
        whole = FAMILIES[name].whole
        near = rule.at_most(0 if whole else 0.5, words="equal" if whole else "it is the nearest point of the grid")
        steps = abs(found - usual) / (1 if whole else 0.5 / 99)
        claim = f"w_MSE = 1 recovers {original}: its {FAMILIES[name].parameter}"
        checks.append(paper(claim, f"{usual:.3g}", near, steps, f"{found:.3g}", "V-C", known=original != "SS"))
    return checks


def attacks(table: Table) -> list[Check]:
    """Figure 2: what section VI-B says of attack success."""
    top = {name: float(table.where(protocol=name).numbers("asr").max()) for name in ("SS", "OUE", "OLH", "ASS")}
    between = point("ASS", 25, 3.4).asr
    ratio = _ratio(table, "AUE", "SUE", "asr")[table.where(protocol="AUE").numbers("epsilon") <= 2]
    most, shown, cap = "largest ASR approximately 0.5", {name: f"{value:.4f}" for name, value in top.items()}, "< 0.25"
    others = [name for name in _TRADITIONAL if name not in ("GRR", "SS")]
    asr = {name: table.where(protocol=name).numbers("asr") for name in _TRADITIONAL}
    lead = np.minimum(asr["GRR"], asr["SS"]) / np.max([asr[name] for name in others], axis=0)
    return [
        paper("SS: ASR gets to 1", "1", rule.alike(1), top["SS"], shown["SS"], "VI-B"),
        paper(f"OUE: {most}", "0.5", rule.alike(0.5), top["OUE"], shown["OUE"], "VI-B"),
        paper(f"OLH: {most}", "0.5", rule.alike(0.5), top["OLH"], shown["OLH"], "VI-B"),
        paper("ASS: ASR capped, at the budgets of the figure", cap, rule.below(0.25), top["ASS"], shown["ASS"], "VI-B"),
        paper("ASS: ASR capped, at k = 25, ε = 3.4", cap, rule.below(0.25), between, f"{between:.4f}", "VI-B",
              known=False),
        paper("GRR and SS: ASR over the highest of other traditional protocols", "highest, everywhere",
              rule.drawn(low=1, words="it is at least 1 everywhere"), lead, _span(lead), "VI-B", known=False),
        paper("ε ≤ 2: ASR of AUE over that of SUE", "significantly improved", rule.below(1), ratio, _span(ratio),
              "VI-C", known=False),
        _coverage(),
    ]  # fmt: skip


def _coverage() -> Check:
    """Whether the paper's grid reaches the best p of unary encoding at a large budget, where that is close to 1."""
    epsilon = 10.0
    beyond = 1 - np.geomspace(1e-6, 0.5, 100_001)
    costs = tradeoff.unary(K, epsilon, beyond, design="paper").mean(axis=1)
    found = point("AUE", K, epsilon)
    cost, least = (found.asr + found.mse) / 2, float(costs.min())
    said = f"p = {found.parameter:.4g}: {cost:.4f}; p = {beyond[costs.argmin()]:.5f}: {least:.4f}"
    claim = "AUE, k = 100, ε = 10: least objective of the grid over the least of all p"
    near = rule.alike(words="the grid comes within a tenth of the least")
    return paper(claim, "exhaustive, broad coverage", near, cost / least, said, "VI-A", known=False)


def variances(table: Table) -> list[Check]:
    """Figure 3: what section VI-C says of the price of adaptivity."""
    unary, hashing = (float(_ratio(table, *pair, "mse").max()) for pair in (("AUE", "OUE"), ("ALH", "OLH")))
    checks = [
        paper("AUE: variance over that of OUE", "within an order of magnitude", rule.at_most(10), unary,
              f"up to {unary:.1f}", "VI-C", known=False),
        paper("ALH: variance over that of OLH", "≤ 2 orders of magnitude", rule.at_most(100), hashing,
              f"up to {hashing:.0f}", "VI-C", known=False),
    ]  # fmt: skip
    for name, low, high in (("ALH", "OLH", "BLH"), ("ATHE", "THE", "SHE")):
        least, most = float(_ratio(table, name, low, "mse").min()), float(_ratio(table, name, high, "mse").max())
        said = f"≥ {least:.4f} {low}, ≤ {most:.4f} {high}"
        inside = rule.drawn(high=1, words="its line is between theirs")
        claim = f"{name}: variance between {low} and {high}"
        checks.append(paper(claim, "consistently", inside, (1 / least, most), said, "VI-C"))
    return checks


def subsets(table: Table) -> list[Check]:
    """Figure 4: what section VI-C says of the price of ASS."""
    most = float(_ratio(table, "ASS", "SS", "mse").max())
    claim = "ASS: variance over that of SS"
    return [paper(claim, "≤ 2 orders of magnitude", rule.at_most(100), most, f"up to {most:.0f}", "VI-C", known=False)]


def first(table: Table) -> list[Check]:
    """Figure 1: less attack success, at the same error and at the same budget."""
    same = {name: _same_error(table, name, original) for original, name in ADAPTIVE.items()}
    price = {name: _ratio(table, name, original, "mse") for original, name in ADAPTIVE.items()}
    lower, close = rule.below(1, "it is below 1 at every budget"), rule.alike()
    return [
        paper("ASR over that of the original at the same MSE, read between its budgets", "substantially lower", lower,
              np.concatenate(list(same.values())), _each(same), "figure 1", known=False),
        paper("MSE over that of the original at the same budget", "the same or close", close,
              np.concatenate(list(price.values())), _each(price), "figure 1", known=False),
    ]  # fmt: skip


def tradeoffs(table: Table) -> list[Check]:
    """Figures 5 and 10 to 14: what section VI-D says of them all."""
    steps = {name: _steps(table, name) for name in PROTOCOLS}
    said = ", ".join(f"{name} {share:.0%}" for name, share in steps.items() if share < 1)
    said = f"{said}; all others 100%" if said else "100% for all"
    asr, mse = (np.array([table.where(protocol=name).numbers(column) for name in _TRADITIONAL])
                for column in ("asr", "mse"))  # fmt: skip
    least = (asr <= asr.min(axis=0)) & (mse <= mse.min(axis=0))
    ratio = {name: _ratio(table, name, original, "asr") for original, name in ADAPTIVE.items()}
    return [
        paper("steps to the next budget at which ASR rises and MSE falls", "they tend to, for all protocols",
              rule.mostly("it is so in more than half of the steps, for every protocol"), list(steps.values()),
              said.replace("%", " %"), "VI-D"),
        paper("cases in which one traditional protocol has both the least ASR and the least MSE",
              "none dominates the entire space", rule.below(1, "no protocol does in all cases"), least.mean(axis=1),
              f"{least.mean(axis=1).max():.0%}".replace("%", " %") + " at most", "VI-D"),
        paper("ASR of adaptive protocols over that of the original", "lower, across all privacy budgets",
              rule.below(1, "it is below 1 at every budget"), np.concatenate(list(ratio.values())), _each(ratio),
              "VI-B, VI-D", known=False),
    ]  # fmt: skip


def strategies(table: Table) -> list[Check]:
    """Figure 9: in how many cases a strategy's parameter is within a tenth of what weights choose."""
    shares = {}
    for strategy in dict.fromkeys(table.column("strategy")):
        found = {
            name: table.where(protocol=name, strategy=strategy).numbers("parameter")
            / table.where(protocol=name, strategy="weighted").numbers("parameter")
            for name in ADAPTIVE.values()
        }
        shares[strategy] = np.array([np.mean(np.abs(each - 1) <= rule.WORD) for each in found.values()])
    alike = np.concatenate([shares[each] for each in ("utopia", "hypervolume", "tchebycheff")])
    apart = rule.below(0.5, "it is so in fewer than half of the cases, for every protocol")
    claim = "{}: cases within a tenth of the weighted choice"
    return [
        paper(claim.format("utopia, hypervolume, Tchebycheff"), "tend to identify similar parameters", rule.mostly(),
              alike, _span(alike), "V-C, appendix B"),
        paper(claim.format("elbow"), "often diverges", apart, shares["elbow"], _span(shares["elbow"]), "appendix B"),
        paper(claim.format("ε-constraint"), "not similar", apart, shares["constraint"], _span(shares["constraint"]),
              "V-C", known=False),
    ]  # fmt: skip


def _steps(table: Table, name: str) -> float:
    """The share of steps between budgets that buy accuracy with attack success."""
    steps = []
    for k in dict.fromkeys(table.column("k")):
        rows = table.where(protocol=name, k=k)
        steps.append((np.diff(rows.numbers("asr")) > 0) & (np.diff(rows.numbers("mse")) < 0))
    return float(np.mean(np.concatenate(steps)))


def _same_error(table: Table, name: str, base: str) -> Floats:
    """Attack success over that of another protocol where that has the same error, on its line in logarithmic axes."""
    mine, other = table.where(protocol=name), table.where(protocol=base)
    order = np.argsort(other.numbers("mse"))
    x, y = (np.log(other.numbers(column)[order]) for column in ("mse", "asr"))
    at = np.log(mine.numbers("mse"))
    inside = (at >= x[0] - rule.ROUNDING) & (at <= x[-1] + rule.ROUNDING)
    return np.asarray(mine.numbers("asr")[inside] / np.exp(np.interp(at[inside], x, y)), np.float64)


def _ratio(table: Table, name: str, base: str, column: str) -> Floats:
    """One protocol's column over another's, cell by cell."""
    return table.where(protocol=name).numbers(column) / table.where(protocol=base).numbers(column)


def _span(values: Floats) -> str:
    """From the least to the largest."""
    return f"{values.min():.3g} to {values.max():.3g}"


def _each(values: dict[str, Floats]) -> str:
    return ", ".join(f"{name} {_span(each)}" for name, each in values.items())


def measured(table: Table) -> list[Check]:
    """Figures 8 and 15: whether measurements agree with the formulas, and which ones."""
    degrees: dict[str, float] = {"asr": math.inf, "mse": table.column("runs")[0] - 1}
    names = {"asr": "measured ASR is the exact one", "mse": "measured MSE is the variance at the data's frequencies"}
    checks = []
    for measure, claim in names.items():
        off = _off(table, measure, f"{measure}_expected")
        more = {"printed": "the same", "source": "beside VI-G"}
        checks.append(agreement.agree(claim, off, degrees=degrees[measure], **more))
    return checks


def as_printed(table: Table) -> list[Check]:
    """Figure 8: whether measurements agree, to a tenth, with the formulas that the paper compares them with."""
    hashing = Table(table.columns, [row for row in table.rows if row[0] in {"BLH", "OLH", "ALH"}])
    checks = measured(table)
    for claim, rows, measure in (
        ("variance at frequency 0 (equation 4) over measured MSE", table, "mse"),
        ("equation 15 over measured ASR, of hashing", hashing, "asr"),
    ):
        factor = rows.numbers(f"{measure}_paper") / rows.numbers(measure)
        checks.append(paper(claim, "closely align", rule.alike(), factor, _span(factor), "VI-G", known=False))
    return checks


def _off(table: Table, measure: str, expected: str) -> Floats:
    """Standard errors between what was measured and what was expected."""
    gap = table.numbers(measure) - table.numbers(expected)
    return np.abs(gap) / table.numbers(f"{measure}_stderr")
