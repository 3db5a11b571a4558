"""What the paper says of errors, bits and running times: figures 1, 2, 4, 5 and 7, tables 1 and 2."""

from __future__ import annotations

import numpy as np

from hush.reproduce.modular import printed
from hush.reproduce.modular.runtime import PRINTED, geometry
from hush.reproduce.modular.settings import LARGE, MIDDLE, PEOPLE, Floats, mechanism
from hush.reproduce.study import Check, Table
from hush.reproduce.uldp.checks_measured import agree

CLAIMED = 1.3
"""How much error MSS has over SS and PGR, at most, by section 5."""


def over(table: Table, name: str, base: str, column: str) -> Floats:
    """One protocol's column over another's, cell by cell."""
    return table.where(protocol=name).numbers(column) / table.where(protocol=base).numbers(column)


def span(values: Floats) -> str:
    """From the least to the largest."""
    low, high = (_short(float(each)) for each in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def first(table: Table) -> list[Check]:
    """Figure 1."""
    exact = "mse_expected"
    worst = np.concatenate([over(table, "GRR", name, exact) for name in ("OUE", "SS", "PGR", "MSS")])
    pure = Table(table.columns, [row for row in table.rows if row[0] in ("OUE", "SS", "PGR")])
    level = pure.numbers(exact) / pure.numbers("mse_printed")
    zipf, spike = (table.where(people=name).numbers(exact) for name in PEOPLE)
    apart = float(np.abs(zipf / spike - 1).max())
    return [
        agree(table, "mse", exact, "measured MSE is the exact variance"),
        Check("error of GRR over each other's", "highest", span(worst), bool(worst.min() > 1), source="5"),
        *_claimed(table, exact),
        Check("OUE, SS and PGR over 4E/(n(E − 1)²)", "near-optimal", span(level), bool(level.max() < 1.05), source="5"),
        Check(
            "errors under Zipf and under a spike differ by", "consistent", f"≤ {apart:.1%}", apart < 0.05, source="5"
        ),
    ]


def _claimed(table: Table, exact: str) -> list[Check]:
    found = {base: over(table, "MSS", base, exact) for base in ("SS", "PGR")}
    return [
        Check(f"error of MSS over {base}", f"≤ {CLAIMED}", span(each), bool(each.max() <= CLAIMED), source="5")
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
    claim = "bits of MSS as in table 1, without 1/ℓ, over the mean length"
    return [
        Check("bits of MSS over those of SS", "fewer", span(ratio), bool(ratio.max() < 1), source="5"),
        Check("... in the best case", "one half", f"{least:.3f}", 0.4 < least < 0.6, source="5"),
        Check(claim, "1", span(sums), bool(sums.max() < 1.01), right=False, source="table 1"),
        Check(
            "a report fits into ⌈log₂ ℓ⌉ + ⌈log₂ m⌉ bits, ε = 0.5",
            span(small.numbers("bits_abstract")),
            f"{span(small.numbers('bits'))}: {span(beyond)} times as many",
            bool(beyond.max() <= 1),
            right=False,
            source="abstract, 1",
        ),
        Check("condition numbers of chosen moduli", "≤ 10", span(condition), bool(condition.max() <= 10), source="4.3"),
        Check("error over SS, all choices", f"≤ {CLAIMED}", span(error), bool(error.max() <= CLAIMED), source="1"),
    ]


def both(table: Table) -> list[Check]:
    """Figure 4."""
    mine = table.where(protocol="MSS")
    literal = mine.numbers("mse_printed") / mine.numbers("mse")
    ours = np.abs(mine.numbers("mse_expected") / mine.numbers("mse") - 1).max()
    return [
        agree(table, "mse", "mse_expected", "measured MSE is the exact variance"),
        Check("MSS: equation 3, corrected, is off by", "closely", f"≤ {ours:.1%}", bool(ours < 0.1), source="D"),
        Check(
            "MSS: equation 3 as printed, over what is measured",
            "closely",
            span(literal),
            bool(literal.min() > 0.9),
            right=False,
            source="4.3, D",
        ),
        *_claimed_ss(table),
    ]


def _claimed_ss(table: Table) -> list[Check]:
    ratio = over(table, "MSS", "SS", "mse_expected")
    return [Check("error of MSS over SS", f"≤ {CLAIMED}", span(ratio), bool(ratio.max() <= CLAIMED), source="1")]


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
    monotone = any(list(order) in (sorted(order), sorted(order, reverse=True)) for order in orders)
    said = "; ".join(" ".join(f"{each:.3g}" for each in order) for order in orders)
    return [
        agree(table, "mse", exact, "measured MSE is the exact variance"),
        Check("error of OPT over the least", "near-optimal", span(near), bool(near.max() < 1.1), source="D"),
        Check(
            "ℓ = 9 has less error, or fewer bits, than 3 and 12",
            "in some regimes",
            f"at {len(between)} of {len(best.rows)} budgets",
            bool(between),
            source="D",
        ),
        Check("ε = 4.5: error and bits are monotone in ℓ", "neither", said, not monotone, source="D"),
    ]


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
    return [
        agree(means, "mse", exact, "measured MSE is the exact variance"),
        Check("median of MSS over that of SS", "close", span(median), bool(median.max() <= CLAIMED), source="D"),
        Check("spread of MSS over trials", "low", f"{span(wide)} of the mean", bool(wide.max() < 0.1), source="D"),
        Check("error of GRR over each other's", "highest", span(worst), bool(worst.min() > 1), source="D"),
        *_claimed(means, exact),
    ]


def formulas(table: Table) -> list[Check]:
    """Table 1."""
    checks = []
    for name, column, claim, tolerance, right in (
        ("GRR", "bits", "GRR: bits", 1e-9, True),
        ("GRR", "mse", "GRR: error", 1e-9, True),
        ("GRR", "dra", "GRR: DRA", 1e-6, True),
        ("SS", "mse", "SS: error", 0.08, True),
        ("SS", "dra", "SS: DRA", 1e-6, True),
        ("OUE", "mse", "RAPPOR: error, as that of OUE", 1e-9, True),
        ("OUE", "dra", "RAPPOR: DRA, as that of OUE", 0.02, False),
        ("PGR", "bits", "PGR: bits, ⌈log₂ k⌉", 1e-9, False),
        ("PGR", "mse", "PGR: error", 0.05, True),
        ("PGR", "dra", "PGR: DRA, equation 15, for k < K", 1e-3, False),
        ("MSS", "bits", "MSS: bits, without 1/ℓ", 0.02, False),
        ("MSS", "dra", "MSS: DRA, the mean over all values", 1e-6, True),
    ):
        ratio = table.where(protocol=name).numbers(f"{column}_printed") / table.where(protocol=name).numbers(column)
        holds = bool(np.abs(ratio - 1).max() <= tolerance)
        checks.append(
            Check(claim, "as in table 1", f"{span(ratio)} of what is right", holds, right=right, source="table 1")
        )
    pgr = mechanism("PGR", LARGE, 4.5)
    checks.append(_pgr_bits(printed.bits(pgr), pgr.bits))
    checks.append(_rappor())
    return checks


def _pgr_bits(said: float, found: int) -> Check:
    claim = f"bits of PGR at k = {LARGE:,}, ε = 4.5"
    return Check(claim, f"{said:.0f}", str(found), said == found, right=False, source="table 1")


def _rappor() -> Check:
    """The row's attack success is SUE's, beside OUE's error."""
    from hush.mechanisms.registry import registry

    sue, oue = (registry()[name](k=MIDDLE, epsilon=2.0) for name in ("SUE", "OUE"))
    said = printed.attack(oue)
    claim = f"RAPPOR row: DRA of the protocol whose error it has, OUE, k = {MIDDLE:,}, ε = 2"
    shown, holds = f"{oue.asr():.6f}; that of SUE is {sue.asr():.6f}", abs(said - oue.asr()) < 1e-6
    return Check(claim, f"{said:.6f}", shown, holds, right=False, source="table 1")


def runtimes(table: Table) -> list[Check]:
    """Table 2: its arithmetic, and why one row stands out. Times of ours are in the table; they are never judged."""
    checks = []
    for epsilon, (mss, _, pgr, _, speed) in PRINTED.items():
        low, high = (float(pgr) - 5e-4) / (float(mss) + 5e-4), (float(pgr) + 5e-4) / (float(mss) - 5e-4)
        holds = low - 0.05 <= float(speed) <= high + 0.05
        said = f"{low:.1f} to {high:.1f}"
        checks.append(Check(f"ε = {epsilon:g}: {pgr} s over {mss} s", f"{speed}×", said, holds, source="table 2"))
    speeds = np.array([float(each[4]) for each in PRINTED.values()])
    fits = bool(speeds.min() > 11 and round(speeds.max()) == 448)
    checks.append(Check("speed-ups lie between", "11× and 448×", span(speeds), fits, source="5"))
    sizes = {epsilon: geometry(epsilon) for epsilon in PRINTED}
    most = max(sizes, key=lambda e: sizes[e])
    slowest = max(PRINTED, key=lambda e: float(PRINTED[e][2]))
    said = f"K = {sizes[most]:,} at ε = {most:g}, else ≤ {sorted(sizes.values())[-2]:,}"
    checks.append(Check(f"k = {LARGE:,}: PGR's spike is its rounding", "ε = 4.5", said, most == slowest, source="5"))
    best = int(table.where(protocol="PGR, best q").numbers("messages").max())
    k = int(table.column("k")[0])
    claim = "another q needs few messages at every budget"
    checks.append(Check(claim, "ours", f"K ≤ {best:,} for k = {k:,}", best < 8 * k))
    return checks
