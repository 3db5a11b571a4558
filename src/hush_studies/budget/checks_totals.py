"""What the thesis says of CAPRI (figures 4.1, 5.7 to 5.9, 6.6 and 6.7), held against exact probabilities."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from hush.planning import capacity, capri
from hush_studies import agreement, rule
from hush_studies.budget import bound, totals
from hush_studies.budget.checks_search import span
from hush_studies.budget.people import CLIENTS, FEW_TOTAL, MOST, TOTAL
from hush_studies.check import Check, ours, paper, untold
from hush_studies.study import Table

_CLIENTS = "how the clients' amounts spread is not printed, nor the caps but one"
_QUESTION = "the cap and the threshold are not printed; ours have the printed answer"
_SIMULATED = "it is simulated, with a number of runs that is not printed"
_SECONDS = "it has seconds of its programs; collections are counted here"


def bounds(table: Table) -> list[Check]:
    """Figure 4.1."""
    checks = []
    for (cap, total, epsilon), (printed, share) in bound.PRINTED.items():
        at = f"cap {cap}, total {total}, ε = {epsilon:g}"
        row = table.where(panel="a", cap=cap, total=total, epsilon=epsilon)
        source = "figure 4.1, errata 22"
        bounded, exact = row.numbers("chebyshev")[0], row.numbers("exact")[0]
        checks.append(Check.number(f"{at}: Chebyshev", printed, bounded, source, known=printed == "0.148"))
        if total > cap:
            checks.append(Check.number(f"{at}: Pr[FN]", share, exact, source, untold=_SIMULATED, known=False))
    over = Table(table.columns, [row for row in table.rows if row[3] > row[2]])  # type: ignore[operator]
    ratio = over.numbers("cantelli") / np.minimum(over.numbers("chebyshev"), 1)
    above = over.numbers("exact") / over.numbers("cantelli")
    none = sum(row[3] <= row[2] for row in table.where(panel="a").rows)  # type: ignore[operator]
    undefined = sum(each is None for each in table.where(panel="d").column("chebyshev"))
    return [
        *checks,
        paper("scenarios of panel a that the bound does not speak of", "speaks of all five", rule.at_most(0), none,
              f"{none}: there cap > total, and there is no false negative to bound", "4.2.2, errata 22", known=False),
        paper("panel d, cap = total: budgets at which the bound divides by zero", "a bound is drawn", rule.at_most(0),
              undefined, f"{undefined}; Pr[FN] is 0", "figure 4.1d", known=False),
        ours("Cantelli’s bound over Chebyshev’s, cut at 1; and the truth over Cantelli’s", "≤ 1", rule.at_most(1),
             [*ratio, *above], f"{span(ratio)}; {span(above)}", "errata 22"),
        _seen(over),
        *_closed(),
    ]  # fmt: skip


def _seen(over: Table) -> Check:
    """Simulated shares against exact probabilities: binomial tails, as standard errors, for all cells together."""
    from scipy.stats import binom, norm

    runs = over.numbers("runs").astype(int)
    hits, chance = np.rint(over.numbers("simulated") * runs), over.numbers("exact")
    tails = np.minimum(binom.cdf(hits, runs, chance), binom.sf(hits - 1, runs, chance))
    score = norm.isf(np.clip(tails, 1e-300, 0.5))
    return agreement.agree("simulated Pr[FN] is the exact one", score, among=f"cells of {runs[0]:,} runs")


def _closed() -> list[Check]:
    """The closed form of errata 31, and what a loose bound costs."""
    from scipy.special import ndtri

    people, threshold = capri.population([400, 600]), 0.05
    exact, loose = (
        capacity("GRR", people, cap=500, metric="fn", threshold=threshold, method=method, confirm=0).epsilon or math.nan
        for method in ("exact", "chebyshev")
    )
    closed = 2 * math.asinh(-float(ndtri(threshold)) * math.sqrt(1000) / (2 * 100))
    at, more = "cap 500, total 600, Pr[FN] < 0.05", rule.above(1 + rule.WORD, "it is more than a tenth above")
    return [
        ours(f"{at}: ε by 2·asinh(z√N / 2|total − cap|), over the exact one", f"{closed:.4f}", rule.alike(),
             closed / exact, f"{exact:.4f}", "errata 31"),
        paper(f"{at}: ε by Chebyshev’s bound, over the exact one", "unnecessarily high", more, loose / exact,
              f"{loose:.2f}, for {exact:.2f}", "4.2.2"),
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
    up, down = rule.at_least(0), rule.at_most(0)
    checks = [
        untold("TP: steps of ε from one threshold to the next", "grows", up, steps["tp"], span(steps["tp"]), "5.2.2",
               _CLIENTS),
        untold("FP: steps of ε from one threshold to the next", "falls", down, steps["fp"], span(steps["fp"]), "5.2.2",
               _CLIENTS),
        untold("TP: steps of ε from one cap to the next", "grows", up, caps["tp"], span(caps["tp"]), "5.2.2", _CLIENTS),
        untold("FP: steps of ε from one cap to the next", "falls", down, caps["fp"], span(caps["fp"]), "5.2.2",
               _CLIENTS),
        untold("TP ≥ 0.6: ε", "< 0.2", rule.below(0.2), small, span(small), "5.2.2", _CLIENTS),
        untold("TP ≥ 0.99: largest ε", "approximately 1", rule.alike(1), tall.max(), f"{tall.max():.2f}", "5.2.2",
               _CLIENTS),
        ours("CAPRI, 50,000 runs: ε off the exact one by", "its precision of 0.01, and chance",
             rule.at_most(0.05, words="it is at most five times that precision"), apart, f"≤ {apart.max():.3f}",
                          "beside 5.2.2"),
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
    said = f"{epsilon:.3f}; from {min(ends):.3f} to {max(ends):.3f} for any clients with the total of the thesis"
    nearest = min(max(float(printed), min(ends)), max(ends))
    claim = f"water, cap = 1.8 million, Pr[FP] < {level:g}: ε, the nearest for any clients with that total"
    return Check(claim, printed, rule.digits(printed), (nearest,), said, "5.2.2", known=printed == "0.2")


def repeats(table: Table) -> list[Check]:
    """Figure 5.8."""
    from scipy.stats import chi2, norm

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
    deviation = float(norm.isf(max(float(chi2.sf(score, cells)), 1e-300) / 2))
    best = many.numbers("epsilon")[np.argmax(many.numbers("count"))]
    first, agreed = (100 * totals.most_agreement(runs) for runs in (30_000, 50_000))
    loop = len(range(0, 500 + 1))
    return [
        _different(few),
        untold("500 runs: ε", "0.587 to 0.714", rule.roughly(0.587, 0.714), seen, span(seen, 3), "5.2.2.1", _QUESTION),
        Check.number("50,000 runs: most frequent ε", "0.636", best, "5.2.2.1", untold=_QUESTION),
        paper("30,000 runs: answers that agree, in percent", "92 %", rule.at_least(91.5), first, _at_most(first),
              "5.2.2.1", known=False),
        paper("50,000 runs: answers that agree, in percent", "99 %", rule.at_least(98.5), agreed, _at_most(agreed),
              "5.2.2.1", known=False),
        ours("answers follow their exact law", "its law", rule.by_chance(1), deviation,
             f"χ² = {score:.1f}, {cells} degrees of freedom", "ours"),
        Check.number("runs of the loop “for k = 0 to num_runs”, num_runs = 500", "500", loop, "algorithm 7, errata 28",
                     known=False),
    ]  # fmt: skip


def _different(few: Table) -> Check:
    """How many answers differ, by their law: each is given by chance of its own."""
    answers = few.numbers("count").sum()
    given = 1 - (1 - few.numbers("expected") / answers) ** answers
    mean, spread = float(given.sum()), math.sqrt(float((given * (1 - given)).sum()))
    wanted = rule.between(13, 13, stderr=spread, words="13 is what chance can do")
    claim, said = "500 runs: different ε in 100 answers, on average", f"{mean:.1f} ± {spread:.1f}"
    return untold(claim, "13", wanted, mean, said, "5.2.2.1", _QUESTION)


def _at_most(share: float) -> str:
    return f"{share:.0f} % at most, for any cap and threshold"


def protocols(table: Table) -> list[Check]:
    """Figure 5.9."""
    higher, grr, mean = [], [], []
    for each in _groups(table, "panel", "cap", "threshold"):
        found = {name: float(each.where(protocol=name).numbers("epsilon")[0]) for name in (*totals.THESIS, "Duchi")}
        higher.append(found["RAPPOR"] > found["OUE"])
        grr.append(found["RAPPOR"] > found["GRR"])
        mean.append(found["Duchi"] / np.nanmin([found[name] for name in totals.THESIS]))
    usually = rule.mostly()
    return [
        *(_least(table.where(panel="a", threshold=level), level, name) for level, name in ((0.6, "OUE"), (0.8, "GRR"))),
        untold("RAPPOR needs more than OUE", "usually", usually, float(np.mean(higher)), _of(higher), "5.2.2.2",
               _CLIENTS),
        untold("RAPPOR needs more than GRR", "usually", usually, float(np.mean(grr)), _of(grr), "5.2.2.2", _CLIENTS),
        Check.number("a total of 15,620 is this part of the data, in percent", "10", 100 * FEW_TOTAL / TOTAL,
                     "5.2.2.2, errata 28", known=False),
        _variances(table),
        ours("a mean (Duchi): ε over the least of GRR, RAPPOR and OUE", "less", rule.below(1), mean,
             span(np.array(mean)), "beside 6.1.4"),
    ]  # fmt: skip


def _least(rows: Table, level: float, name: str) -> Check:
    """Whether one protocol needs the least budget."""
    found = {each: float(rows.where(protocol=each).numbers("epsilon")[0]) for each in totals.THESIS}
    others = np.nanmin([found[each] for each in found if each != name])
    said = ", ".join(f"{each} {epsilon:.2f}" for each, epsilon in found.items())
    claim = f"TP ≥ {level:g}, cap 13,000: ε of {name} over the least of the others"
    return untold(claim, "the least", rule.below(1), found[name] / others, said, "5.2.2.2", _CLIENTS)


def _of(cases: list[bool]) -> str:
    return f"{sum(cases)} of {len(cases)}"


def _variances(table: Table) -> Check:
    """Deviations of drawn totals over those of the formula; a sample deviation is off by 1/√(2 draws)."""
    rows = Table(table.columns, [row for row in table.rows if row[table.columns.index("draws")] is not None])
    off = rows.numbers("deviation_drawn") / rows.numbers("deviation") - 1
    score = np.abs(off) * np.sqrt(2 * rows.numbers("draws"))
    return agreement.agree("deviation of drawn totals is that of the formula for Var[ETC]", score, source="errata 31")


def ways(table: Table) -> list[Check]:
    """Figure 6.6."""
    exact, checks = table.where(method="exact").numbers("epsilon"), []
    for name in ("CAPRI", "CAPRI-R", "Bayes"):
        beside = table.where(method=name).numbers("epsilon") / exact
        near = float(np.mean(np.abs(beside - 1) <= rule.WORD))
        claim = f"{name}: questions whose ε is within a tenth of the exact one"
        said = f"{near:.0%} of {beside.size}: {span(beside)} times it".replace("%", " %")
        checks.append(untold(claim, "similar", rule.mostly(), near, said, "6.1.6", _CLIENTS))
    return checks


def efforts(table: Table) -> list[Check]:
    """Figure 6.7: by the number of collections, since seconds depend on the machine."""
    runs = {name: table.where(method=name).numbers("runs") for name in ("CAPRI", "CAPRI-R", "Bayes")}
    said = ", ".join(f"{name} {each.max():,.0f}" for name, each in runs.items())
    less = [*(runs["CAPRI"] / runs["CAPRI-R"]), *(runs["CAPRI-R"] / runs["Bayes"])]
    claim = "collections of CAPRI over those of CAPRI-R, and of CAPRI-R over Bayes"
    return [untold(claim, "lower times", rule.at_most(1), less, said, "6.1.6", _SECONDS)]
