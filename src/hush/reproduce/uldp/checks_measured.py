"""What section 6 says of measured errors (figures 4, 5, 7, 8 and 9), held against what came out."""

from __future__ import annotations

import math

import numpy as np

from hush.reproduce.study import Check, Table
from hush.reproduce.uldp.checks import OLD, Floats, best, ratio, span
from hush.reproduce.uldp.people import SYNTHETIC, people
from hush.reproduce.uldp.readings import MECHANISMS, PROPOSED, paper, parameter

FALSE_ALARM = 1e-6
"""Chance that the runs of one figure seem to contradict their law although all is well."""


def agree(table: Table, measured: str, expected: str, what: str) -> Check:
    """Whether averages over runs are what they should be, by Student's law and for all cells together."""
    from scipy.stats import t

    rows = Table(table.columns, [row for row in table.rows if row[table.columns.index(measured)] is not None])
    runs, off = int(rows.column("runs")[0]), rows.numbers(measured) - rows.numbers(expected)
    noise = rows.numbers(f"{measured}_stderr")
    score = np.abs(off) / np.where(noise > 0, noise, np.inf)
    limit = float(t.isf(FALSE_ALARM / (2 * score.size), runs - 1))
    said = f"|t| ≤ {score.max():.2f} in {score.size} cells of {runs} runs"
    return Check(what, f"|t| < {limit:.1f}", said, bool(score.max() < limit))


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
        [np.diff(mine.where(people=name, mechanism=each).numbers(exact)) for name in among(mine) for each in MECHANISMS]
    )
    small = mine.where(epsilon=0.5)
    rr = ratio(mine.where(people="Drug"), "uRR", "uSS", exact)
    large = among(mine, "Census", "Normal") or ["Foursquare"]
    worst = [_worst(small.where(people=name), exact) for name in large]
    rap, lh = ratio(mine, "uUE", "uRAP", exact), ratio(mine, "uUE", "uLH", exact)
    beside = ratio(small, "uHR", "uSS", exact)[[name != "Drug" for name in among(mine)]]
    flat = [_last(mine.where(people=name, mechanism="uHR"), exact) for name in among(mine)]
    return [
        agree(table, "mse", exact, "measured MSE is the exact variance"),
        Check(
            "MSE falls as ε grows",
            "always",
            "falls" if order.max() < 0 else "rises",
            bool(order.max() < 0),
            source="6.2",
        ),
        best(mine, exact, "uSS has the least MSE, but for uHR", OLD, "6.2"),
        best(mine, exact, "uSS has less MSE than uHR", ("uHR",), "abstract, 6.2"),
        Check("Drug: MSE of uRR over uSS", "among the best", span(rr), bool(rr.max() < 1.01), source="6.2"),
        Check(
            f"{', '.join(large)}, ε = 0.5: most MSE",
            "uRR",
            ", ".join(worst),
            set(worst) == {"uRR"},
            source="6.2",
        ),
        *_probabilities(),
        Check("MSE of uUE over uRAP", "< 1, consistently", span(rap), bool(rap.max() < 1), right=False, source="6.2"),
        Check("MSE of uUE over uLH", "similar", span(lh), bool(lh.max() < 1.25 and lh.min() > 0.8), source="6.2"),
        Check(
            "ε = 0.5, without Drug: MSE of uHR over uSS",
            "similar",
            span(beside),
            bool(np.abs(beside - 1).max() < 0.2),
            source="6.2",
        ),
        Check(
            "uHR, from ε = 3.5 to 5: MSE falls by",
            "constant",
            _percent(flat),
            max(flat) < 0.05,
            right=False,
            source="6.2",
        ),
        _gain(synthetic(table)),
    ]


def _worst(rows: Table, column: str) -> str:
    return str(rows.column("mechanism")[int(np.argmax(rows.numbers(column)))])


def _last(rows: Table, column: str) -> float:
    """By how much a curve falls over its flat end; with few budgets, from the last formula's point."""
    budgets, errors = rows.numbers("epsilon"), rows.numbers(column)
    crowd = people(str(rows.column("people")[0]))
    u = paper("uHR", crowd.setting, 3.5)
    start = float(u.variances(crowd.frequencies, crowd.n).sum())
    return 1 - float(errors[budgets == budgets.max()][0]) / start


def _percent(values: list[float]) -> str:
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    return f"{low} to {high}".replace("%", " %")


def _probabilities() -> list[Check]:
    """The p that section 6.2 prints; its last one is cut, not rounded."""
    at, checks = people("Census").setting, []
    for epsilon, rap, ue in ((0.5, "0.562", "0.5"), (5.0, "0.924", "0.517")):
        symmetric = 1 / (1 + math.exp(-epsilon / 2))
        checks.append(Check.number(f"Census, ε = {epsilon:g}: p of uRAP", rap, symmetric, "6.2"))
        found = parameter(paper("uUE", at, epsilon)) or 0.0
        holds = abs(found - float(ue)) < 10.0 ** -len(ue.partition(".")[2])
        checks.append(Check(f"Census, ε = {epsilon:g}: p of uUE, cut", ue, f"{found:.6f}", holds, source="6.2"))
    return checks


def _gain(table: Table) -> Check:
    """Ours against the paper's, at the same ε."""
    found = {}
    for name in PROPOSED:
        ours, theirs = (table.where(mechanism=name, reading=each).numbers("mse_expected") for each in ("ours", "paper"))
        found[name] = ours / theirs
    said = ", ".join(f"{name} {span(each)}" for name, each in found.items())
    most = max(float(each.max()) for each in found.values())
    return Check("MSE of ours over the paper's, ε kept", "≤ 1", said, most < 1 + 1e-9, source="ours")


def shares(table: Table) -> list[Check]:
    """Figure 5."""
    mine, exact = synthetic(stated(table)), "mse_expected"
    rises = min(
        float(np.diff(mine.where(people=name, mechanism=each).numbers(exact)).min())
        for name in among(mine)
        for each in MECHANISMS
    )
    growth = {
        each: np.array([_growth(mine.where(people=name, mechanism=each)) for name in among(mine)])
        for each in MECHANISMS
    }
    half = [row for row in mine.rows if row[mine.columns.index("share")] in (0.4, 1.0)]
    beside = ratio(Table(mine.columns, half), "uHR", "uSS", exact)
    grown = ", ".join(f"{each} {span(growth[each])}" for each in ("uHR", "uSS", "uUE", "uLH", "uRR"))
    hadamard, slow = growth["uHR"], np.max([growth[each] for each in PROPOSED], axis=0)
    others = np.max([growth[each] for each in MECHANISMS if each != "uHR"], axis=0)
    ldp = [float(mine.where(people=name, mechanism="uSS").numbers(exact)[-1]) for name in among(mine)]
    own = [_own(name) for name in among(mine)]
    lost = np.array(ldp) / np.array(own)
    return [
        agree(table, "mse", exact, "measured MSE is the exact variance"),
        Check(
            "MSE rises with the share of sensitive values",
            "always",
            "rises" if rises > 0 else "falls",
            rises > 0,
            source="6.2",
        ),
        Check("plain LDP (all sensitive) over ULDP, uSS, ε = 2", "> 1", span(lost), bool(lost.min() > 1), source="6.2"),
        Check(
            "uHR grows faster than uSS, uUE and uLH",
            "faster",
            f"from 10 to 100 %: {grown}",
            bool((hadamard > slow).all()),
            source="6.2",
        ),
        Check(
            "uHR grows faster than all others",
            "faster",
            f"uRR {span(growth['uRR'])}",
            bool((hadamard > others).all()),
            right=False,
            source="6.2",
        ),
        Check("s/d = 40 % and 100 %: MSE of uHR over uSS", "> 1", span(beside), bool(beside.min() > 1), source="6.2"),
    ]


def _growth(rows: Table) -> float:
    errors = rows.numbers("mse_expected")
    return float(errors[-1] / errors[0])


def _own(name: str) -> float:
    """The exact error of uSS with the population's own sensitive values."""
    crowd = people(name)
    return float(paper("uSS", crowd.setting, 2.0).variances(crowd.frequencies, crowd.n).sum())


def without_z(table: Table) -> list[Check]:
    """Figure 7."""
    mine = synthetic(table)
    mean = {
        (name, each): float(mine.where(people=name, mechanism=each).numbers("saved_expected").mean())
        for name in among(mine)
        for each in PROPOSED
    }
    usual = [value for key, value in mean.items() if key != ("Drug", "uSS")]
    ones = Table(mine.columns, [row for row in mine.where(mechanism="uSS").rows if _small(mine, row)])
    sizes, saved = ones.numbers("parameter"), float(np.abs(ones.numbers("saved_expected")).max())
    whole = len(set(mine.column("epsilon"))) == 10
    checks = [
        agree(table, "saved", "saved_expected", "measured savings are the exact ones"),
        Check(
            "uSS on Drug, and on Foursquare for ε > 3.5: k", "1", span(sizes), bool((sizes == 1).all()), source="6.4"
        ),
        Check(
            "there z = 0, and it saves",
            "nothing",
            "nothing" if saved < 1e-9 else f"{saved:.1e}",
            saved < 1e-9,
            source="6.4",
        ),
    ]
    if whole:
        low, high = min(usual), max(usual)
        holds = abs(low - 0.09) < 0.01 and abs(high - 0.26) < 0.01
        claim = "z saves, on average over ε, without uSS on Drug"
        checks.append(Check(claim, "9 % to 26 %", f"{100 * low:.1f} % to {100 * high:.1f} %", holds, source="6.4"))
    ours = mine.numbers("saved_ours") - mine.numbers("saved_expected")
    said = f"{100 * ours.mean():.0f} points more on average"
    checks.append(
        Check(
            "exact z, sent alone, saves more than the printed one", "> 0", said, bool(ours.min() > -1e-9), source="ours"
        )
    )
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
    return [
        agree(table, "mae", exact, "measured MAE is that of normal errors"),
        Check("MAE of uRR over uSS", "≥ 1", span(ahead), bool(ahead.min() > 1 - 1e-9), source="6.5"),
        Check(
            "MAE of uUE over uRAP: not always below 1",
            "not always",
            said,
            all(each.max() > 1 for each in rap.values()),
            source="6.5",
        ),
        Check("Foursquare: least MAE of others over uHR", "> 1", span(least), bool(least.min() > 1), source="6.5"),
        Check("MAE of uUE over uLH", "similar", span(alike), bool(alike.max() < 1.25), right=False, source="6.5"),
    ]


def tops(table: Table) -> list[Check]:
    """Figure 9."""
    mine = stated(table).where(epsilon=0.5)
    checks = []
    for measure in ("f1", "ndcg"):
        found = {
            name: [_of(mine, name, each, measure) for each in MECHANISMS]
            for name in among(mine, "Foursquare", "Census")
        }
        lowest = {list(MECHANISMS)[int(np.argmin(each))] for each in found.values()}
        rest = np.concatenate([np.array(each[1:]) for each in found.values()])
        width = max(max(each[1:]) - min(each[1:]) for each in found.values())
        worst = ", ".join(f"{each[0]:.2f}" for each in found.values())
        said = f"uRR {worst}, others {span(rest)}"
        name = measure.upper()
        checks.append(
            Check(f"{', '.join(found)}, ε = 0.5: lowest {name}", "uRR", said, lowest == {"uRR"}, source="6.5")
        )
        checks.append(Check(f"{name} of the others differs by", "little", f"≤ {width:.2f}", width < 0.1, source="6.5"))
    return checks


def _of(rows: Table, name: str, mechanism: str, column: str) -> float:
    found: Floats = rows.where(people=name, mechanism=mechanism).numbers(column)
    return float(found[0])
