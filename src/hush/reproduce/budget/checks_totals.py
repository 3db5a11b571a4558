"""What the thesis says of CAPRI (figures 4.1, 5.7 to 5.9, 6.6 and 6.7), held against exact probabilities."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np

from hush.planning import capacity, capri
from hush.reproduce.budget import bound, totals
from hush.reproduce.budget.checks_search import FALSE_ALARM, span
from hush.reproduce.budget.people import CLIENTS, FEW_TOTAL, MOST, TOTAL
from hush.reproduce.study import Check, Table


def bounds(table: Table) -> list[Check]:
    """Figure 4.1."""
    checks = []
    for (cap, total, epsilon), (printed, share) in bound.PRINTED.items():
        at = f"cap {cap}, total {total}, ε = {epsilon:g}"
        row = table.where(panel="a", cap=cap, total=total, epsilon=epsilon)
        found = Check.number(f"{at}: Chebyshev", printed, row.numbers("chebyshev")[0], "figure 4.1, errata 22")
        checks.append(found if printed == "0.148" else replace(found, right=False))
        if total > cap:
            exact = Check.number(f"{at}: Pr[FN]", share, row.numbers("exact")[0], "figure 4.1, errata 22")
            checks.append(replace(exact, right=False))
    over = Table(table.columns, [row for row in table.rows if row[3] > row[2]])  # type: ignore[operator]
    ratio = over.numbers("cantelli") / np.minimum(over.numbers("chebyshev"), 1)
    above = bool((over.numbers("exact") <= over.numbers("cantelli")).all())
    none = sum(row[3] <= row[2] for row in table.where(panel="a").rows)  # type: ignore[operator]
    return [
        *checks,
        Check(
            "the bound speaks of all five scenarios", "yes",
            f"in {none} of them cap > total, and there is no false negative to bound", none == 0, right=False,
            source="4.2.2, errata 22",
        ),
        Check(
            "panel d, cap = total: a bound above Pr[FN]", "drawn", "divides by zero; Pr[FN] is 0",
            table.where(panel="d").column("chebyshev")[0] is not None, right=False, source="figure 4.1d",
        ),
        Check(
            "Cantelli’s bound over Chebyshev’s, cut at 1, and still above the truth", "< 1", span(ratio),
            bool(ratio.max() < 1 and above), source="ours, errata 22",
        ),
        _seen(over),
        *_closed(),
    ]  # fmt: skip


def _seen(over: Table) -> Check:
    """Simulated shares against exact probabilities: binomial, two-sided, for all cells together."""
    from scipy.stats import binom

    runs = over.numbers("runs").astype(int)
    hits, chance = np.rint(over.numbers("simulated") * runs), over.numbers("exact")
    tails = np.minimum(binom.cdf(hits, runs, chance), binom.sf(hits - 1, runs, chance))
    limit = FALSE_ALARM / (2 * tails.size)
    said = f"least tail {tails.min():.1e} in {tails.size} cells of {runs[0]:,} runs"
    return Check("simulated Pr[FN] is the exact one", f"> {limit:.1e}", said, bool(tails.min() > limit))


def _closed() -> list[Check]:
    """The closed form of errata 31, and what a loose bound costs."""
    from scipy.special import ndtri

    people, threshold = capri.population([400, 600]), 0.05
    exact, loose = (
        capacity("GRR", people, cap=500, metric="fn", threshold=threshold, method=method, confirm=0).epsilon or math.nan
        for method in ("exact", "chebyshev")
    )
    closed = 2 * math.asinh(-float(ndtri(threshold)) * math.sqrt(1000) / (2 * 100))
    at = "cap 500, total 600, Pr[FN] < 0.05"
    return [
        Check(
            f"{at}: ε by 2·asinh(z√N / 2|total − cap|), and exactly", f"{closed:.4f}", f"{exact:.4f}",
            abs(closed / exact - 1) < 0.03, source="errata 31",
        ),
        Check(
            f"{at}: ε by Chebyshev’s bound", "unnecessarily high", f"{loose:.2f}, for {exact:.2f}", loose > 2 * exact,
            source="4.2.2",
        ),
    ]  # fmt: skip


def thresholds(table: Table) -> list[Check]:
    """Figure 5.7."""
    water, fp = table.where(people="Water"), table.where(people="Water", metric="fp", cap=1_800_000)
    steps = {
        metric: np.concatenate(
            [np.diff(each.numbers("epsilon")) for each in _groups(table.where(metric=metric), "people", "cap")]
        )
        for metric in ("tp", "fp")
    }
    caps = {metric: _over_caps(table.where(metric=metric)) for metric in ("tp", "fp")}
    small, tall = (water.where(metric="tp", threshold=level).numbers("epsilon") for level in (0.6, 0.99))
    apart = np.abs(table.numbers("epsilon_capri") - table.numbers("epsilon"))
    checks = [
        Check("TP: ε grows with the threshold", "always", "grows", bool(steps["tp"].min() >= 0), source="5.2.2"),
        Check("FP: ε falls with the threshold", "always", "falls", bool(steps["fp"].max() < 0), source="5.2.2"),
        Check("TP: ε grows with the cap", "positive", "grows", bool(caps["tp"].min() >= 0), source="5.2.2"),
        Check("FP: ε falls with the cap", "negative", "falls", bool(caps["fp"].max() < 0), source="5.2.2"),
        Check("TP ≥ 0.6: ε", "< 0.2", span(small), bool(small.max() < 0.2), source="5.2.2"),
        Check("TP ≥ 0.99: largest ε", "≈ 1", f"{tall.max():.2f}", bool(abs(tall.max() - 1) < 0.1), source="5.2.2"),
        Check(
            "CAPRI, 50,000 runs: ε is within its precision of 0.01, and chance, of the exact one", "< 0.05",
            f"{apart.max():.3f}", bool(apart.max() < 0.05), source="5.2.2",
        ),
    ]  # fmt: skip
    for level, printed in ((0.01, "1.2"), (0.3, "0.4"), (0.4, "0.2")):
        checks.append(_any_shape(level, printed, float(fp.where(threshold=level).numbers("epsilon")[0])))
    return checks


def _groups(table: Table, *names: str) -> list[Table]:
    keys = dict.fromkeys(zip(*(table.column(name) for name in names), strict=True))
    return [table.where(**dict(zip(names, key, strict=True))) for key in keys]


def _over_caps(table: Table) -> np.ndarray:
    """What ε grows by from one cap to the next, where it matters."""
    found = []
    for people in dict.fromkeys(table.column("people")):
        rows = [each.numbers("epsilon") for each in _groups(table.where(people=people), "cap")]
        found += [b - a for a, b in pairwise(rows)]
    return np.concatenate(found)


def _any_shape(level: float, printed: str, epsilon: float) -> Check:
    """The printed ε beside ours, and beside those of the most even and the most uneven clients with that total."""
    ends = []
    for low, high in ((16, 17), (0, MOST)):
        many = round((TOTAL - CLIENTS * low) / (high - low))
        counts = np.zeros(MOST + 1, np.int64)
        counts[low], counts[high] = CLIENTS - many, many
        ends.append(capacity("GRR", counts, cap=1_800_000, metric="fp", threshold=level, confirm=0).epsilon or math.nan)
    said = f"{epsilon:.3f}; from {min(ends):.3f} to {max(ends):.3f} for any clients with that total"
    claim = f"water, cap = 1.8 million, Pr[FP] < {level:g}: ε"
    return Check(claim, printed, said, f"{epsilon:.1f}" == printed, right=printed == "0.2", source="5.2.2")


def repeats(table: Table) -> list[Check]:
    """Figure 5.8."""
    from scipy.stats import chi2

    counts = {runs: table.where(num_runs=runs) for runs in dict.fromkeys(table.column("num_runs"))}
    few, many = counts[500], counts[50_000]
    seen = few.numbers("epsilon")[few.numbers("count") > 0]
    score, cells = 0.0, 0
    for each in counts.values():
        found, law = each.numbers("count"), each.numbers("expected")
        large = law >= 3
        pairs = [*zip(found[large], law[large], strict=True), (found[~large].sum(), max(law[~large].sum(), 0.5))]
        score += sum((a - b) ** 2 / b for a, b in pairs)
        cells += len(pairs) - 1
    limit = float(chi2.isf(FALSE_ALARM, cells))
    best = many.numbers("epsilon")[np.argmax(many.numbers("count"))]
    agreed = totals.most_agreement(50_000)
    first = totals.most_agreement(30_000)
    return [
        Check(
            "500 runs: different ε in 100 answers", "about 13", f"{seen.size}", bool(6 <= seen.size <= 20),
            source="5.2.2.1",
        ),
        Check(
            "500 runs: ε", "about 0.587 to 0.714", span(seen, 3), bool(seen.min() > 0.5 and seen.max() < 0.8),
            source="5.2.2.1",
        ),
        Check.number("50,000 runs: most frequent ε (by choice of the question)", "0.636", best, "5.2.2.1"),
        Check(
            "30,000 runs, ε = 0.636: answers that agree", "92 %", _at_most(first),
            bool(first >= 0.915), right=False, source="5.2.2.1",
        ),
        Check(
            "50,000 runs, ε = 0.636: answers that agree", "99 %", _at_most(agreed),
            bool(agreed >= 0.985), right=False, source="5.2.2.1",
        ),
        Check(
            "answers follow their exact law", f"χ² < {limit:.0f}", f"{score:.1f}, {cells} degrees of freedom",
            bool(score < limit), source="ours",
        ),
        Check(
            "runs of the loop “for k = 0 to num_runs”, num_runs = 500", "500", f"{len(range(0, 500 + 1))}",
            len(range(0, 500 + 1)) == 500, right=False, source="algorithm 7, errata 28",
        ),
    ]  # fmt: skip


def _at_most(share: float) -> str:
    return f"{100 * share:.0f} % at most, for any cap and threshold"


def protocols(table: Table) -> list[Check]:
    """Figure 5.9."""
    best = {level: _best(table.where(panel="a", threshold=level)) for level in (0.6, 0.8)}
    higher = [
        bool(row.numbers("epsilon")[0] > other)
        for each in _groups(table, "panel", "cap", "threshold")
        for row in [each.where(protocol="RAPPOR")]
        for other in [each.where(protocol="OUE").numbers("epsilon")[0]]
    ]
    grr = [
        bool(each.where(protocol="RAPPOR").numbers("epsilon")[0] > each.where(protocol="GRR").numbers("epsilon")[0])
        for each in _groups(table, "panel", "cap", "threshold")
    ]
    ours = [
        each.where(protocol="Duchi").numbers("epsilon")[0]
        / np.nanmin([each.where(protocol=name).numbers("epsilon")[0] for name in totals.THESIS])
        for each in _groups(table, "panel", "cap", "threshold")
    ]
    share = FEW_TOTAL / TOTAL
    return [
        Check("TP ≥ 0.6, cap 13,000: least ε", "OUE", best[0.6], best[0.6] == "OUE", source="5.2.2.2"),
        Check("TP ≥ 0.8, cap 13,000: least ε", "GRR", best[0.8], best[0.8] == "GRR", source="5.2.2.2"),
        Check("RAPPOR needs more than OUE", "usually", _of(higher), all(higher), source="5.2.2.2"),
        Check("RAPPOR needs more than GRR", "usually", _of(grr), sum(grr) > len(grr) / 2, source="5.2.2.2"),
        Check(
            "a total of 15,620 is this part of the data", "10 %", f"{100 * share:.2f} %", abs(share - 0.1) < 0.01,
            right=False, source="5.2.2.2, errata 28",
        ),
        _variances(table),
        Check(
            "a mean (Duchi): ε over the least of GRR, RAPPOR and OUE", "not tried", span(np.array(ours)),
            bool(max(ours) < 1), source="6.1.4, ours",
        ),
    ]  # fmt: skip


def _of(cases: list[bool]) -> str:
    return f"{sum(cases)} of {len(cases)}"


def _best(rows: Table) -> str:
    return min(totals.THESIS, key=lambda name: rows.where(protocol=name).numbers("epsilon")[0])


def _variances(table: Table) -> Check:
    """Deviations of drawn totals over those of the formula; a sample deviation is off by 1/√(2 draws)."""
    from scipy.stats import norm

    rows = Table(table.columns, [row for row in table.rows if row[table.columns.index("draws")] is not None])
    off = rows.numbers("deviation_drawn") / rows.numbers("deviation") - 1
    score = np.abs(off) * np.sqrt(2 * rows.numbers("draws"))
    limit = float(norm.isf(FALSE_ALARM / (2 * score.size))) * 1.05
    said = f"|z| ≤ {score.max():.2f} in {score.size} cells"
    claim = "deviation of drawn totals is that of the formula for Var[ETC]"
    return Check(claim, f"|z| < {limit:.1f}", said, bool(score.max() < limit), source="errata 31")


def ways(table: Table) -> list[Check]:
    """Figure 6.6."""
    exact = table.where(method="exact").numbers("epsilon")
    checks = []
    for name in ("CAPRI", "CAPRI-R", "Bayes"):
        apart = np.abs(table.where(method=name).numbers("epsilon") - exact)
        checks.append(
            Check(
                f"{name}: ε beside the exact one",
                "similar",
                f"within {apart.max():.3f}",
                bool(apart.max() < 0.05),
                source="6.1.6",
            )
        )
    return checks


def efforts(table: Table) -> list[Check]:
    """Figure 6.7: by the number of collections, since seconds depend on the machine."""
    runs = {name: table.where(method=name).numbers("runs") for name in ("CAPRI", "CAPRI-R", "Bayes")}
    said = ", ".join(f"{name} {each.max():,.0f}" for name, each in runs.items())
    holds = bool((runs["CAPRI"] <= runs["CAPRI-R"]).all() and (runs["CAPRI-R"] < runs["Bayes"]).all())
    return [Check("CAPRI simulates less than CAPRI-R, and that less than Bayes", "lower", said, holds, source="6.1.6")]
