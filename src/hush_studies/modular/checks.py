"""What the paper says of errors, bits and running times: figures 1, 2, 4, 5 and 7, tables 1 and 2."""

from __future__ import annotations

import numpy as np

from hush.types import Floats
from hush_studies import agreement, check, rule
from hush_studies.check import Check, ours, paper
from hush_studies.modular import printed
from hush_studies.modular.runtime import PRINTED, geometry
from hush_studies.modular.settings import LARGE, MIDDLE, PEOPLE, mechanism
from hush_studies.study import Table

CLAIMED = 1.3
"""How much error MSS has over SS and PGR, at most, by section 5."""


def over(table: Table, name: str, base: str, column: str) -> Floats:
    """One protocol's column over another's, cell by cell."""
    return table.where(protocol=name).numbers(column) / table.where(protocol=base).numbers(column)


def span(values: Floats) -> str:
    """From the least to the largest."""
    return check.span(values, lambda each: f"{each:,.0f}" if 999.5 <= abs(each) < 1e9 else f"{each:.3g}")


def first(table: Table) -> list[Check]:
    """Figure 1."""
    exact = "mse_expected"
    worst = np.concatenate([over(table, "GRR", name, exact) for name in ("OUE", "SS", "PGR", "MSS")])
    pure = Table(table.columns, [row for row in table.rows if row[0] in ("OUE", "SS", "PGR")])
    level = pure.numbers(exact) / pure.numbers("mse_printed")
    zipf, spike = (table.where(people=name).numbers(exact) for name in PEOPLE)
    return [
        agreement.averages(table, "mse", exact, "measured MSE is the exact variance"),
        paper("error of GRR over each other's", "the highest", rule.above(1), worst, span(worst), "5"),
        *_claimed(table, exact),
        paper("OUE, SS and PGR over 4E/(n(E − 1)²)", "near-optimal", rule.alike(), level, span(level), "5"),
        paper("errors under Zipf over those under a spike", "consistent", rule.alike(), zipf / spike,
              span(zipf / spike), "5"),
    ]  # fmt: skip


def _claimed(table: Table, exact: str) -> list[Check]:
    found = {base: over(table, "MSS", base, exact) for base in ("SS", "PGR")}
    return [
        paper(f"error of MSS over {base}", f"≤ {CLAIMED}", rule.at_most(CLAIMED), each, span(each), "5")
        for base, each in found.items()
    ]


def bits(table: Table) -> list[Check]:
    """Figure 2, section 4.1 and the abstract."""
    mine = table.where(protocol="MSS")
    ss = {(row[1], row[2]): row[5] for row in table.where(protocol="SS").rows}
    cells = zip(mine.column("k"), mine.column("epsilon"), strict=True)
    ratio = mine.numbers("bits") / np.array([ss[cell] for cell in cells], np.float64)
    small = mine.where(epsilon=0.5)
    least, beyond = float(ratio.min()), small.numbers("bits") / small.numbers("bits_abstract")
    sums = mine.numbers("bits_printed") / mine.numbers("bits")
    error, condition = mine.numbers("mse_over_ss"), mine.numbers("condition")
    large = max(mine.column("k")) >= 2_048  # the larger the domain, the more is saved
    fits = f"{span(small.numbers('bits'))}: {span(beyond)} times as many"
    return [
        paper("bits of MSS over those of SS", "fewer", rule.below(1), ratio, span(ratio), "5"),
        paper("bits of MSS over those of SS, in the best case", "one half less", rule.no_more(0.5), least,
              f"{least:.3f}", "5", known=large),
        paper("bits of MSS as in table 1, without 1/ℓ, over the mean length", "exact", rule.equal(), sums, span(sums),
              "table 1", known=False),
        paper("ε = 0.5: bits of a report over ⌈log₂ ℓ⌉ + ⌈log₂ m⌉", span(small.numbers("bits_abstract")),
              rule.at_most(1), beyond, fits, "abstract, 1", known=False),
        paper("condition numbers of chosen moduli", "≤ 10", rule.at_most(10), condition, span(condition), "4.3"),
        paper("error over SS, all choices", f"≤ {CLAIMED}", rule.at_most(CLAIMED), error, span(error), "1"),
    ]  # fmt: skip


def both(table: Table) -> list[Check]:
    """Figure 4."""
    mine, beside = table.where(protocol="MSS"), over(table, "MSS", "SS", "mse_expected")
    literal, right = (mine.numbers(name) / mine.numbers("mse") for name in ("mse_printed", "mse_expected"))
    return [
        agreement.averages(table, "mse", "mse_expected", "measured MSE is the exact variance"),
        ours("MSS: equation 3, corrected, over what is measured", "the same", rule.alike(), right, span(right), "D"),
        paper("MSS: equation 3 as printed, over what is measured", "closely", rule.alike(), literal, span(literal),
              "4.3, D", known=False),
        paper("error of MSS over SS", f"≤ {CLAIMED}", rule.at_most(CLAIMED), beside, span(beside), "1"),
    ]  # fmt: skip


def numbers(table: Table) -> list[Check]:
    """Figure 5."""
    exact, best = "mse_expected", table.where(choice="OPT")
    fixed = [each for each in dict.fromkeys(table.column("choice")) if each != "OPT"]
    least = np.array([_least(table, e, exact) for e in best.column("epsilon")])
    near = best.numbers(exact) / least
    nine, three, twelve = (table.where(choice=each) for each in ("ℓ=9", "ℓ=3", "ℓ=12"))
    between = [
        e
        for e in best.column("epsilon")
        if _at(nine, e, exact) < min(_at(three, e, exact), _at(twelve, e, exact))
        or _at(nine, e, "bits") < min(_at(three, e, "bits"), _at(twelve, e, "bits"))
    ]
    orders = [[_at(table.where(choice=each), 4.5, column) for each in fixed] for column in (exact, "bits")]
    monotone = sum(list(order) in (sorted(order), sorted(order, reverse=True)) for order in orders)
    said = "; ".join(" ".join(f"{each:.3g}" for each in order) for order in orders)
    return [
        agreement.averages(table, "mse", exact, "measured MSE is the exact variance"),
        paper("error of OPT over the least", "near-optimal", rule.alike(), near, span(near), "D"),
        paper("budgets at which ℓ = 9 has less error, or fewer bits, than 3 and 12", "in some regimes",
              rule.at_least(1), len(between), f"{len(between)} of {len(best.rows)}", "D"),
        paper("ε = 4.5: which of error and bits is monotone in ℓ", "neither", rule.at_most(0), monotone, said, "D"),
    ]  # fmt: skip


def _at(rows: Table, epsilon: float, column: str) -> float:
    return float(rows.where(epsilon=epsilon).numbers(column)[0])


def _least(table: Table, epsilon: float, column: str) -> float:
    return float(table.where(epsilon=epsilon).numbers(column).min())


def spreads(table: Table) -> list[Check]:
    """Figure 7."""
    means = Table(table.columns, [row for row in table.rows if row[-1] is None])
    single = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    exact = "mse_expected"
    worst = np.concatenate([over(means, "GRR", name, exact) for name in ("OUE", "SS", "PGR", "MSS")])
    groups = [(k, crowd) for k in dict.fromkeys(single.column("k")) for crowd in PEOPLE]
    trials = {
        name: [single.where(k=k, people=crowd, protocol=name).numbers("mse") for k, crowd in groups]
        for name in ("SS", "PGR", "MSS")
    }
    median = np.array([np.median(a) / np.median(b) for a, b in zip(trials["MSS"], trials["SS"], strict=True)])
    wide = np.array([each.std(ddof=1) / each.mean() for each in trials["MSS"]])
    low = rule.below(rule.WORD, "it is less than a tenth of the mean")
    return [
        agreement.averages(means, "mse", exact, "measured MSE is the exact variance"),
        paper(
            "median of MSS over that of SS", f"close, ≤ {CLAIMED}", rule.at_most(CLAIMED), median, span(median), "1, D"
        ),
        paper("spread of MSS over trials", "low", low, wide, f"{span(wide)} of the mean", "D"),
        paper("error of GRR over each other's", "the highest", rule.above(1), worst, span(worst), "D"),
        *_claimed(means, exact),
    ]


def formulas(table: Table) -> list[Check]:
    """Table 1."""
    checks = []
    for name, column, claim, known in (
        ("GRR", "bits", "GRR: bits", True),
        ("GRR", "mse", "GRR: error", True),
        ("GRR", "dra", "GRR: DRA", True),
        ("SS", "mse", "SS: error", False),
        ("SS", "dra", "SS: DRA", True),
        ("OUE", "mse", "RAPPOR: error, as that of OUE", True),
        ("OUE", "dra", "RAPPOR: DRA, as that of OUE", False),
        ("PGR", "bits", "PGR: bits, ⌈log₂ k⌉", False),
        ("PGR", "mse", "PGR: error", False),
        ("PGR", "dra", "PGR: DRA, equation 15, for k < K", False),
        ("MSS", "bits", "MSS: bits, without 1/ℓ", False),
        ("MSS", "dra", "MSS: DRA, the mean over all values", True),
    ):
        ratio = table.where(protocol=name).numbers(f"{column}_printed") / table.where(protocol=name).numbers(column)
        said, exact = f"{span(ratio)} of what is right", rule.equal(1, "it is the exact one")
        source = "C" if "equation 15" in claim else "table 1"  # which has it for k = K alone
        checks.append(paper(f"{claim}, over the exact one", "a formula", exact, ratio, said, source, known=known))
    pgr = mechanism("PGR", LARGE, 4.5)
    claim = f"bits of PGR at k = {LARGE:,}, ε = 4.5"
    checks.append(Check.number(claim, f"{printed.bits(pgr):.0f}", pgr.bits, "table 1", known=False))
    checks.append(_rappor())
    return checks


def _rappor() -> Check:
    """The row's attack success is SUE's, beside OUE's error."""
    from hush.mechanisms.registry import registry

    sue, oue = (registry()[name](k=MIDDLE, epsilon=2.0) for name in ("SUE", "OUE"))
    said = printed.attack(oue)
    claim = f"RAPPOR row: DRA over that of the protocol whose error it has, OUE, k = {MIDDLE:,}, ε = 2"
    shown = f"{oue.asr():.6f}; that of SUE is {sue.asr():.6f}"
    return paper(claim, f"{said:.6f}", rule.equal(), said / oue.asr(), shown, "table 1", known=False)


def runtimes(table: Table) -> list[Check]:
    """Table 2: how much faster MSS is with our programs, and why one row of the paper stands out."""
    pgr, mss = (table.where(protocol=name).numbers("seconds") for name in ("PGR", "MSS"))
    speeds = [float(each[4]) for each in PRINTED.values()]
    k, best = int(table.column("k")[0]), table.where(protocol="PGR, best q").numbers("messages")
    sizes = {epsilon: geometry(epsilon) for epsilon in PRINTED}
    slowest = max(PRINTED, key=lambda e: float(PRINTED[e][2]))
    others = max(size for epsilon, size in sizes.items() if epsilon != slowest)
    said = f"{span(pgr / mss)} with our programs; printed: {span(np.array(speeds))} with the paper's"
    return [
        paper(f"k = {k:,}: seconds of PGR over those of MSS, from reports to estimates", "11× to 448× faster",
              rule.faster(11), pgr / mss, said, "abstract, 5, table 2", known=False),
        paper(f"k = {LARGE:,}: messages K of PGR at ε = {slowest:g}, its slowest, over the most at another ε",
              "its spike is its rounding", rule.above(1), sizes[slowest] / others,
              f"K = {sizes[slowest]:,}, else ≤ {others:,}", "5"),
        ours("another q needs few messages at every budget: K over k", "few", rule.below(8), best / k,
             f"K ≤ {best.max():,.0f} for k = {k:,}", "ours"),
    ]  # fmt: skip
