"""What section 6 says of measured errors (figures 4, 5, 7, 8 and 9), held against what came out."""

from __future__ import annotations

import math

import numpy as np

from hush.types import Floats
from hush_studies import agreement, rule
from hush_studies.check import Check, ours, paper, untold
from hush_studies.study import Table
from hush_studies.uldp.checks import HADAMARD, OLD, PEOPLE, best, ratio, span
from hush_studies.uldp.people import SYNTHETIC, people
from hush_studies.uldp.readings import MECHANISMS, PROPOSED, parameter
from hush_studies.uldp.readings import paper as as_printed

_DEFINED = tuple(each for each in MECHANISMS if each != "uHR")


def stated(table: Table) -> Table:
    """The paper's reading."""
    return table.where(reading="paper")


def synthetic(table: Table) -> Table:
    """Populations of the paper's shapes."""
    at = table.columns.index("people")
    return Table(table.columns, [row for row in table.rows if row[at] in SYNTHETIC])


def among(table: Table, *wanted: str) -> list[str]:
    """Which of these populations are in a table; the paper's by default."""
    there = set(table.column("people"))
    return [name for name in wanted or SYNTHETIC if name in there]


def squared(table: Table) -> list[Check]:
    """Figure 4."""
    mine, exact = synthetic(stated(table)), "mse_expected"
    order = np.concatenate(
        [np.diff(mine.where(people=name, mechanism=each).numbers(exact)) for name in among(mine) for each in _DEFINED]
    )
    small = mine.where(epsilon=0.5)
    rr = ratio(mine.where(people="Drug"), "uRR", "uSS", exact)
    large = among(mine, "Census", "Normal") or ["Foursquare"]
    worst = np.array([_over_others(small.where(people=name), exact) for name in large])
    rap, lh = ratio(mine, "uUE", "uRAP", exact), ratio(mine, "uUE", "uLH", exact)
    beside = ratio(small, "uHR", "uSS", exact)[[name != "Drug" for name in among(mine)]]
    flat = np.array([_last(mine.where(people=name, mechanism="uHR"), exact) for name in among(mine)])
    return [
        agreement.averages(table, "mse", exact, "measured MSE is the exact variance"),
        paper("steps of MSE from one ε to the next", "decreases", rule.below(0), order,
              "falls" if order.max() < 0 else "rises", "6.2"),
        best(mine, exact, "MSE over that of uSS", OLD, "6.2"),
        best(mine, exact, "MSE of uHR over that of uSS", ("uHR",), "abstract, 6.2"),
        paper("Drug: MSE of uRR over uSS", "among the best", rule.alike(), rr, span(rr), "6.2"),
        paper(f"{', '.join(large)}, ε = 0.5: MSE of uRR over the largest of the others", "the worst", rule.above(1),
              worst, span(worst), "6.2"),
        *_probabilities(),
        paper("MSE of uUE over uRAP", "less, consistently", rule.below(1), rap, span(rap), "6.2", known=False),
        paper("MSE of uUE over uLH", "consistently resembles", rule.alike(), lh, span(lh), "6.2", known=False),
        untold("ε = 0.5, without Drug: MSE of uHR over uSS", "similar", rule.alike(), beside, span(beside), "6.2",
               HADAMARD, known=False),
        untold("uHR, from ε = 3.5 to 5: MSE at 5 over that at 3.5", "constant", rule.alike(), flat, span(flat), "6.2",
               HADAMARD, known=False),
        _gain(synthetic(table)),
    ]  # fmt: skip


def _over_others(rows: Table, column: str) -> float:
    """Randomized response over the largest of the other mechanisms that are defined."""
    found = {name: float(rows.where(mechanism=name).numbers(column)[0]) for name in _DEFINED}
    return found.pop("uRR") / max(found.values())


def _last(rows: Table, column: str) -> float:
    """A curve's last point over that at 3.5, which few budgets leave out."""
    budgets, errors = rows.numbers("epsilon"), rows.numbers(column)
    crowd = people(str(rows.column("people")[0]))
    u = as_printed("uHR", crowd.setting, 3.5)
    start = float(u.variances(crowd.frequencies, crowd.n).sum())
    return float(errors[budgets == budgets.max()][0]) / start


def _probabilities() -> list[Check]:
    """The p that section 6.2 prints; its last one is cut, not rounded."""
    at, checks = people("Census").setting, []
    for epsilon, rap, ue in ((0.5, "0.562", "0.5"), (5.0, "0.924", "0.517")):
        symmetric = 1 / (1 + math.exp(-epsilon / 2))
        checks.append(Check.number(f"Census, ε = {epsilon:g}: p of uRAP", rap, symmetric, "6.2"))
        found = parameter(as_printed("uUE", at, epsilon)) or 0.0
        checks.append(Check.number(f"Census, ε = {epsilon:g}: p of uUE", ue, found, "6.2", known=ue != "0.517"))
    return checks


def _gain(table: Table) -> Check:
    """Ours against the paper's, at the same ε."""
    found = {}
    for name in PROPOSED:
        mine, theirs = (table.where(mechanism=name, reading=each).numbers("mse_expected") for each in ("ours", "paper"))
        found[name] = mine / theirs
    said = ", ".join(f"{name} {span(each)}" for name, each in found.items())
    claim = "MSE of ours over the paper's, ε kept"
    return ours(claim, "no more", rule.at_most(1), np.concatenate(list(found.values())), said, "ours")


def shares(table: Table) -> list[Check]:
    """Figure 5."""
    mine, exact = synthetic(stated(table)), "mse_expected"
    rises = np.concatenate(
        [np.diff(mine.where(people=name, mechanism=each).numbers(exact)) for name in among(mine) for each in _DEFINED]
    )
    growth = {
        each: np.array([_growth(mine.where(people=name, mechanism=each)) for name in among(mine)])
        for each in MECHANISMS
    }
    half = [row for row in mine.rows if row[mine.columns.index("share")] in (0.4, 1.0)]
    beside = ratio(Table(mine.columns, half), "uHR", "uSS", exact)
    grown = ", ".join(f"{each} {span(growth[each])}" for each in ("uHR", "uSS", "uUE", "uLH", "uRR"))
    faster = growth["uHR"] / np.max([growth[each] for each in _DEFINED], axis=0)
    ldp = [float(mine.where(people=name, mechanism="uSS").numbers(exact)[-1]) for name in among(mine)]
    own = [_own(name) for name in among(mine)]
    lost = np.array(ldp) / np.array(own)
    return [
        agreement.averages(table, "mse", exact, "measured MSE is the exact variance"),
        paper("steps of MSE from one share of sensitive values to the next", "rises", rule.above(0), rises,
              "rises" if rises.min() > 0 else "falls", "6.2"),
        paper("plain LDP (all sensitive) over ULDP, uSS, ε = 2", "the lowest utility", rule.above(1), lost, span(lost),
              "6.2"),
        untold("growth of uHR's MSE from 10 to 100 %, over the largest of the others", "faster", rule.above(1), faster,
               f"{span(faster)} ({grown})", "6.2", HADAMARD, known=False),
        untold("s/d = 40 % and 100 %: MSE of uHR over uSS", "not recommended", rule.above(1), beside, span(beside),
               "6.2", HADAMARD),
    ]  # fmt: skip


def _growth(rows: Table) -> float:
    errors = rows.numbers("mse_expected")
    return float(errors[-1] / errors[0])


def _own(name: str) -> float:
    """The exact error of uSS with the population's own sensitive values."""
    crowd = people(name)
    return float(as_printed("uSS", crowd.setting, 2.0).variances(crowd.frequencies, crowd.n).sum())


def without_z(table: Table) -> list[Check]:
    """Figure 7."""
    mine = synthetic(table)
    ones = Table(mine.columns, [row for row in mine.where(mechanism="uSS").rows if _small(mine, row)])
    sizes, saved = ones.numbers("parameter"), np.abs(ones.numbers("saved_expected"))
    checks = [
        agreement.averages(table, "saved", "saved_expected", "measured savings are the exact ones"),
        paper("uSS on Drug, and on Foursquare for ε > 3.5: k", "1", rule.digits("1"), sizes, span(sizes), "6.4"),
        paper("there z = 0, and it saves", "nothing", rule.equal(0), saved,
              "nothing" if saved.max() < 1e-9 else f"{saved.max():.1e}", "6.4"),
    ]  # fmt: skip
    if len(set(mine.column("epsilon"))) == 10:
        checks += _averages(mine)
    more = mine.numbers("saved_ours") - mine.numbers("saved_expected")
    claim = "exact z, sent alone, saves more than the printed one, by"
    checks.append(ours(claim, "more", rule.at_least(0), more, f"{100 * more.mean():.0f} points on average", "ours"))
    return checks


def _averages(mine: Table) -> list[Check]:
    """What z saves on average over ε, in percent; the paper's numbers are averages of 50 runs."""
    found = {}
    for name in among(mine):
        for each in PROPOSED:
            rows = mine.where(people=name, mechanism=each)
            error = math.sqrt(float(np.square(rows.numbers("saved_stderr")).sum())) / len(rows.rows)
            found[name, each] = 100 * float(rows.numbers("saved_expected").mean()), 100 * error
    usual = [pair for key, pair in found.items() if key != ("Drug", "uSS")]
    checks = []
    for which, printed, (value, error) in (("least", 9, min(usual)), ("most", 26, max(usual))):
        near = rule.between(printed - 0.5, printed + 0.5, stderr=error, words=f"it rounds to {printed}, but for chance")
        claim = f"z saves on average over ε, without uSS on Drug: the {which}, in percent"
        checks.append(paper(claim, f"{printed} %", near, value, f"{value:.1f} %", "6.4"))
    return checks


def _small(table: Table, row: tuple[object, ...]) -> bool:
    told = dict(zip(table.columns, row, strict=True))
    return told["people"] == "Drug" or (told["people"] == "Foursquare" and float(str(told["epsilon"])) > 3.5)


def absolute(table: Table) -> list[Check]:
    """Figure 8."""
    mine, exact = synthetic(stated(table)), "mae_expected"
    ahead = ratio(mine, "uRR", "uSS", exact)
    rap = {name: ratio(mine.where(people=name), "uUE", "uRAP", exact) for name in among(mine, "Foursquare", "Normal")}
    here = mine.where(people="Foursquare")
    least = np.min([ratio(here, each, "uHR", exact) for each in MECHANISMS if each != "uHR"], axis=0)
    alike = ratio(mine, "uUE", "uLH", exact)
    said = ", ".join(f"{name} {span(each)}" for name, each in rap.items())
    largest = np.array([each.max() for each in rap.values()])
    return [
        agreement.averages(table, "mae", exact, "measured MAE is that of normal errors"),
        untold("MAE of uRR over uSS", "superior", rule.at_least(1), ahead, span(ahead), "6.5", PEOPLE),
        untold("MAE of uUE over uRAP, the largest over ε", "not always below 1", rule.above(1), largest, said, "6.5",
               PEOPLE),
        untold("Foursquare: least MAE of others over uHR", "uHR is the best", rule.above(1), least, span(least), "6.5",
               PEOPLE),
        untold("MAE of uUE over uLH", "similar", rule.alike(), alike, span(alike), "6.5", PEOPLE, known=False),
    ]  # fmt: skip


def tops(table: Table) -> list[Check]:
    """Figure 9."""
    mine = stated(table).where(epsilon=0.5)
    checks = []
    for measure in ("f1", "ndcg"):
        found = {
            name: np.array([_of(mine, name, each, measure) for each in MECHANISMS])
            for name in among(mine, "Foursquare", "Census")
        }
        behind = np.array([each[0] / each[1:].min() for each in found.values()])
        rest = np.concatenate([each[1:] for each in found.values()])
        width = np.concatenate([each[1:] / each[1:].mean() for each in found.values()])
        worst = ", ".join(f"{each[0]:.2f}" for each in found.values())
        name, told = measure.upper(), f"uRR {worst}, others {span(rest)}"
        claim = f"{', '.join(found)}, ε = 0.5: {name} of uRR over the least of the others"
        checks.append(untold(claim, "the worst", rule.below(1), behind, told, "6.5", PEOPLE))
        claim = f"{name} of the others over their mean"
        checks.append(untold(claim, "similar", rule.alike(), width, span(width), "6.5", PEOPLE))
    return checks


def _of(rows: Table, name: str, mechanism: str, column: str) -> float:
    found: Floats = rows.where(people=name, mechanism=mechanism).numbers(column)
    return float(found[0])
