"""What sections 5.1.2 to 5.1.5 say of Optimus, held against what the methods found here."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hush.planning.optimus.question import RANGE
from hush.reproduce.budget.cells import THESIS
from hush.reproduce.budget.people import crowd
from hush.reproduce.study import Check, Table

Floats = npt.NDArray[np.float64]

FALSE_ALARM = 1e-6
"""Chance that the runs of one figure seem to contradict their law although all is well."""


def span(values: Floats, digits: int = 2) -> str:
    """From the least to the largest."""
    low, high = (f"{each:.{digits}f}" for each in (np.nanmin(values), np.nanmax(values)))
    return low if low == high else f"{low} to {high}"


def _cells(table: Table) -> list[Table]:
    """One table for each protocol and coefficient."""
    keys = dict.fromkeys(zip(table.column("protocol"), table.column("tau"), strict=True))
    return [table.where(protocol=protocol, tau=tau) for protocol, tau in keys]


def _rises(table: Table, over: str, *fixed: str) -> Floats:
    """What each budget grows by from the first value of a column to the last."""
    keys = dict.fromkeys(zip(*(table.column(name) for name in fixed), strict=True))
    groups = [table.where(**dict(zip(fixed, key, strict=True))) for key in keys]
    ends = [
        (each.where(**{over: min(each.column(over))}), each.where(**{over: max(each.column(over))})) for each in groups
    ]
    return np.array([high.numbers("epsilon")[0] - low.numbers("epsilon")[0] for low, high in ends])


def _agreement(table: Table) -> Check:
    """Largest difference of two of the five methods; where fewer runs were made, chance is allowed to do more."""
    apart = []
    for each in _cells(table):
        found = np.array([each.where(method=name).numbers("epsilon")[0] for name in THESIS])
        apart.append(found.max() - found.min())
    runs = int(table.where(method="BS").numbers("runs")[0] / table.where(method="BS").numbers("budgets")[0])
    limit = 0.1 * math.sqrt(max(1000 / runs, 1.0))
    near = sum(bool(each <= limit) for each in apart)
    said = f"{span(np.array(apart))}, with {runs} runs a budget; {near} of {len(apart)} cells"
    claim = "any two of the five methods differ by at most" + (
        "" if limit == 0.1 else f" 0.1, or {limit:.2f} by chance"
    )
    return Check(claim, "0.1, in general", said, near >= 0.75 * len(apart), source="5.1.2")


def _kept(table: Table) -> Check:
    """Whether ours keeps what it promises, beside how often the others do."""
    from scipy.stats import norm

    rows = table.where(method="direct")
    limit, pi = float(norm.isf(FALSE_ALARM / len(rows.rows))), rows.numbers("pi")
    holds = bool((rows.numbers("share") >= pi - limit * rows.numbers("share_stderr")).all())
    others = ", ".join(f"{name} {np.nanmin(table.where(method=name).numbers('share')):.3f}" for name in THESIS)
    said = f"{rows.numbers('share').min():.3f} ({others})"
    return Check("direct: least share of fresh collections that keep τ", f"≥ {pi[0]:g}", said, holds, source="ours")


def _common(table: Table) -> list[Check]:
    rises = _rises(table, "tau", "protocol", "method")
    said = f"by {span(rises)} from the least τ to the largest"
    return [
        Check("a stricter τ needs a larger ε", "always", said, bool(rises.min() > 0), source="5.1.2"),
        _agreement(table),
        _kept(table),
    ]


def msnbc(table: Table) -> list[Check]:
    """Figure 5.1."""
    found, step = table.numbers("epsilon"), (RANGE[1] - RANGE[0]) / 2**11
    part = step / float(found.min())
    return [
        *_common(table),
        Check("MSNBC: ε", "< 0.4", span(found, 3), bool(found.max() < 0.4), source="5.1.2"),
        Check(
            "φ = 0.01 is precise enough for BS and DBS", "typically",
            f"their last step, {step:.4f}, is up to {100 * part:.0f} % of ε", part < 0.1, right=False, source="5.1.1",
        ),
    ]  # fmt: skip


def emoji(table: Table) -> list[Check]:
    """Figure 5.2; the domain was chosen so that the first two hold."""
    five = Table(table.columns, [row for row in table.where(protocol="GRR").rows if row[6] in THESIS])
    least, most = (np.median(five.where(tau=tau).numbers("epsilon")) for tau in (0.3, 0.9))
    late = Table(
        table.columns, [row for row in table.where(protocol="OLH").rows if row[6] in ("MPass", "Bayes")]
    ).numbers("epsilon")
    claim, chosen = "GRR, τ = {}: median ε of the five methods", "5.1.2; the domain was chosen so"
    small = Check(claim.format(0.3), "< 2", f"{least:.2f}", bool(least < 2), source=chosen)
    large = Check(claim.format(0.9), "close to 6", f"{most:.2f}", bool(abs(most - 6) < 0.5), source=chosen)
    return [
        *([small, large] if table.column("k")[0] == crowd("Emoji").k else []),
        *_common(table),
        Check(
            "OLH with MPass and Bayes: ε", "left out after two days", f"{span(late)}, {late.size} cells",
            bool(np.isfinite(late).all()), source="5.1.2",
        ),
    ]  # fmt: skip


def times(table: Table) -> list[Check]:
    """Figures 5.3 and 5.4: by the number of collections, since seconds depend on the machine."""
    runs = {name: table.where(method=name).numbers("runs") for name in THESIS}
    whole = bool(table.where(method="Bayes").numbers("budgets").min() >= 40)
    slow = ("MPass", "Bayes") if whole else ("MPass",)
    most = np.min([runs[name] for name in slow], axis=0)
    others = np.max([runs[name] for name in ("BS", "RBS", "DBS")], axis=0)
    said = ", ".join(f"{name} {_thousands(each)}" for name, each in runs.items())
    return [
        Check(
            f"most collections: {' and '.join(slow)}", "consistently", said, bool((most > others).all()),
            source="5.1.3",
        ),
        Check(
            "DBS simulates less than BS", "lowest", f"{span(runs['DBS'] / runs['BS'])} of it",
            bool((runs["DBS"] <= runs["BS"]).all()), source="5.1.3",
        ),
        Check(
            "RBS simulates more than BS", "higher", f"{span(runs['RBS'] / runs['BS'])} times",
            bool((runs["RBS"] > runs["BS"]).all()), source="5.1.3",
        ),
    ]  # fmt: skip


def _thousands(values: Floats) -> str:
    low, high = (f"{each:,.0f}" for each in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def collections(table: Table) -> list[Check]:
    """Whether drawn collections lose what real ones do: Welch's t, for all cells together."""
    from scipy.stats import t

    gap = np.abs(table.numbers("loss") - table.numbers("loss_drawn"))
    runs, spread = table.numbers("runs"), table.numbers("loss_drawn_stderr") * np.sqrt(table.numbers("runs_drawn"))
    noise = spread * np.sqrt(1 / runs + 1 / table.numbers("runs_drawn"))  # a single spread, from the many
    score = gap / noise
    limit = float(t.isf(FALSE_ALARM / (2 * score.size), table.numbers("runs_drawn").min() - 1))
    said = f"|t| ≤ {score.max():.2f} in {score.size} cells, {int(runs[0])} collections from reports each"
    claim = "mean loss of collections from reports and from their exact law"
    return [Check(claim, f"|t| < {limit:.1f}", said, bool(score.max() < limit), source="errata 30")]


def certainties(table: Table) -> list[Check]:
    """Figure 5.5."""
    mine = table.where(method="BS")
    rises = _rises(mine, "pi", "protocol", "tau")
    small = mine.where(protocol="OLH", tau=0.3)
    fold = float(small.numbers("epsilon")[-1] / small.numbers("epsilon")[0])
    oue = float(mine.where(protocol="OUE", tau=0.3, pi=0.9).numbers("epsilon")[0])
    return [
        Check("a larger π needs a larger ε", "always", f"by {span(rises)}", bool(rises.min() > 0), source="5.1.4"),
        Check("from π = 0.5 to 0.9, ε grows by", "≤ 1", span(rises), bool(rises.max() <= 1), source="5.1.4"),
        Check(
            "OLH, τ = 0.3: from π = 0.5 to 0.9, ε grows", "several fold", f"{fold:.2f} fold", bool(fold >= 2),
            right=False, source="5.1.4",
        ),
        Check(
            "OUE, τ = 0.3, π = 0.9: ε, where GRR needs less than 2", "4",
            f"{oue:.2f}; at 3.6 its variance is at most {_ratio():.2f} of that of GRR at 2", oue > 3.5, right=False,
            source="5.1.2, 5.1.4",
        ),
    ]  # fmt: skip


def _ratio(k: int = 17) -> float:
    """Variance of OUE at 3.6 over that of GRR at 2, for so many values or more."""
    large, small = math.exp(3.6), math.exp(2.0)
    return 4 * large / (large - 1) ** 2 / ((k - 2 + small) / (small - 1) ** 2)


def parameters(table: Table) -> list[Check]:
    """Figure 5.6."""
    relaxed, dynamic = table.where(parameter="g"), table.where(parameter="C")
    runs, at = dynamic.numbers("runs"), dynamic.numbers("value")
    low, high = runs[at <= 1e-2], runs[at > 1e2]
    flat = bool(np.ptp(low) == 0 and np.ptp(high) == 0 and high.min() >= low.max())
    found = np.concatenate([relaxed.numbers("epsilon"), dynamic.numbers("epsilon")])
    each = float(relaxed.numbers("runs")[0] / relaxed.numbers("budgets")[0])
    limit = 0.15 * math.sqrt(max(1000 / each, 1.0))
    close = "close to 4" if table.column("k")[0] == crowd("Emoji").k else "alike"
    order = np.diff(relaxed.numbers("runs"))
    checks = [
        Check(
            "RBS: fewer collections as g grows", "always", f"{_thousands(relaxed.numbers('runs'))}",
            bool((order <= 0).all()), source="5.1.5",
        ),
        Check(
            "DBS: collections stay the same below C = 0.01 and above 100", "stable",
            f"{_thousands(low)}, and {_thousands(high)}", flat, source="5.1.5",
        ),
        Check("RBS and DBS: ε over all g and C", close, span(found), bool(np.ptp(found) < 2 * limit), source="5.1.5"),
    ]  # fmt: skip
    middle = float(np.median(found))
    for name in ("iter_num", "init_points"):
        rows = table.where(parameter=name)
        many = rows.numbers("epsilon")[rows.numbers("value") >= 15]
        few = rows.numbers("epsilon")[rows.numbers("value") < 15]
        if many.size:
            said = f"{span(many)}; with fewer, {span(few)}"
            checks.append(
                Check(
                    f"Bayes: ε for {name} ≥ 15",
                    "converged",
                    said,
                    bool(np.abs(many - middle).max() < limit),
                    source="5.1.5",
                )
            )
    return checks
