"""What the paper says of one report (figures 1 to 5, 8 and 10), held against what came out."""

from __future__ import annotations

import numpy as np

from hush.audit import bounds
from hush.reproduce.audit.museum import infinite
from hush.reproduce.audit.proof import TRIALS, Floats
from hush.reproduce.audit.protocols import COUNTERPART, GAUSSIAN
from hush.reproduce.study import Check, Table

FALSE_ALARM = 1e-6
"""Chance that the counts of one figure seem to contradict their law although all is well."""

REFERENCE = {
    "GRR": "0.96", "SS": "0.59", "SUE": "0.45", "OUE": "0.58",
    "THE": "0.43", "BLH": "0.32", "OLH": "0.60", "SHE": "0.46",
}  # fmt: skip
"""What the authors' tool gives at k = 100 and epsilon = 1."""

_NEAR = 0.03
_TIGHT = 0.85


def example(table: Table) -> list[Check]:
    """Figure 1, and the limits of any audit."""
    proved = {row[0]: float(each) for row, each in zip(table.rows, table.numbers("attack"), strict=True)}
    gap = {name: float(table.column("epsilon")[0]) / value for name, value in proved.items()}
    twice = [gap[name] for name in ("SUE", "THE", "SHE")]
    share = table.numbers("likelihood") / table.numbers("exact")
    return [
        Check.number("most that 10⁴ trials can prove", "7.42", bounds.best_provable(10**4), "4.1"),
        Check.number("most that 10⁶ trials can prove", "12.025", bounds.best_provable(TRIALS), "5.1"),
        Check("GRR: claimed over proved", "tight", f"{gap['GRR']:.2f}", gap["GRR"] < 1.1, source="1.1"),
        Check("SUE, THE, SHE: claimed over proved", "≤ 2", span(twice), round(max(twice)) <= 2, source="1.1"),
        Check("BLH: claimed over proved", "≤ 4", f"{gap['BLH']:.2f}", gap["BLH"] <= 4, source="1.1"),
        Check(
            "only GRR is tight, since it needs no encoding",
            "1 of 8",
            f"the likelihood ratio proves {span(share)} of the loss of all 8",
            bool(share.min() < _TIGHT),
            right=False,
            source="1.1",
        ),
    ]


def pure(table: Table) -> list[Check]:
    """Figure 2."""
    at_one = table.where(k=100, epsilon=1.0)
    checks = [_reference(at_one, name, printed) for name, printed in REFERENCE.items()]
    grr, blh, ss = (table.where(protocol=name) for name in ("GRR", "BLH", "SS"))
    wide, low = blh.numbers("epsilon") >= 2, grr.numbers("epsilon") >= 6
    far = (blh.numbers("epsilon") / blh.numbers("attack"))[wide]
    equal = float(np.abs(ss.numbers("attack") - grr.numbers("attack"))[low].max())
    checks += [
        *_tight_and_flat(table, "GRR", "BLH"),
        Check("BLH, ε ≥ 2: claimed over proved", "≤ 10", span(far), bool(far.max() <= 10), right=False, source="5.4"),
        Check("SS equals GRR in low privacy regimes", "equal", f"to {equal:.2f}", equal < 0.4, source="5.2"),
        _only_tight(table, [name for name in REFERENCE if name != "GRR"]),
        agree(table),
    ]
    for name in ("OUE", "OLH"):
        rows = table.where(protocol=name)
        rise = _by_budget(rows, 10.0) - _by_budget(rows, 6.0)
        checks.append(
            Check(f"{name}: plateau, rise from ε = 6 to 10", "flat", span(rise), bool(rise.max() < 0.5), source="5.2")
        )
        larger = _by_budget(rows, 10.0)
        said = f"{larger[0]:.2f} to {larger[-1]:.2f}"
        claim = f"{name}, ε = 10: tighter for larger k"
        checks.append(Check(claim, "rises", said, bool((np.diff(larger) > 0).all()), source="5.2"))
    return checks


def approximate(table: Table) -> list[Check]:
    """Figure 3."""
    others, least = [name for name in COUNTERPART if name != "AGRR"], table.where(k=min(table.column("k")))
    above = np.array([_lead(least, name, "GM") for name in (*COUNTERPART, "AGM")])
    agm = _lead(table, "AGM", "GM")
    return [
        *_tight_and_flat(table, "AGRR", "ABLH"),
        Check("k = 25: GM is behind all others by", "> 0", span(above), bool(above.min() > 0), source="5.2"),
        Check("AGM is ahead of GM by", "> 0", span(agm), bool(agm.min() > 0), source="5.2"),
        _only_tight(table, others),
        agree(table),
    ]


def deltas(table: Table) -> list[Check]:
    """Figures 4 and 10."""
    off = 0.0
    for name in COUNTERPART:
        pure_rows = table.where(protocol=name, delta=0.0)
        for delta in set(table.column("delta")):
            gap = table.where(protocol=name, delta=delta).numbers("attack") - pure_rows.numbers("attack")
            off = max(off, float(np.abs(gap).max()))
    claim = "AGRR, ASUE, ABLH, AOLH: δ changes what the attack proves by"
    checks = [Check(claim, "≈ 0", f"≤ {off:.3f}", off < 0.06, source="5.3")]
    ks, ends = sorted(set(table.column("k"))), [f(set(table.column("delta")) - {0.0}) for f in (min, max)]
    for name in GAUSSIAN:
        low, high = (table.where(protocol=name, epsilon=1.0, delta=end).numbers("attack") for end in ends)
        said = f"{low.mean():.3f} to {high.mean():.3f} on average over k"
        rises = bool((high > low).all())
        checks.append(Check(f"{name}, ε = 1: rises with δ", "rises", said, rises, source="5.3"))
        if ks[-1] >= 4 * ks[0]:  # else the difference is too small to show
            few, many = (
                table.where(protocol=name, epsilon=1.0, k=k, delta=ends[1]).numbers("attack") for k in (ks[0], ks[-1])
            )
            said = f"{few[0]:.3f} to {many[0]:.3f}"
            checks.append(Check(f"{name}, ε = 1: rises with k", "rises", said, bool(many[0] > few[0]), source="5.3"))
    return [*checks, agree(table)]


def hashing_only(table: Table) -> list[Check]:
    """Figure 5."""
    binary = table.where(g=2).numbers("attack")
    more = table.numbers("attack")[table.numbers("g") > 2]
    ratio = table.numbers("likelihood")
    said = f"the loss is infinite, and the likelihood ratio proves {span(ratio)}"
    return [
        Check("g = 2: the attack proves", "< 1", span(binary), bool(binary.max() < 1), source="5.4"),
        Check(
            "g > 2: the attack proves",
            "1 to 2.5",
            span(more),
            bool(more.min() > 1 and more.max() <= 2.5),
            right=False,
            source="5.4",
        ),
        Check("hashing alone hides values", "privacy gains", said, bool(ratio.max() < 2.5), right=False, source="5.4"),
        agree(table),
    ]


def missing_reset(table: Table) -> list[Check]:
    """Figure 8."""
    budget, attack, ratio = (table.numbers(name) for name in ("epsilon", "attack", "likelihood"))
    least, mid = budget == budget.min(), (budget >= 1) & (budget <= 2)
    beside = (ratio / budget)[mid]
    oue = float(table.where(protocol="OUE", epsilon=0.25).numbers("exact")[0])
    seen = sorted({each for each, found in zip(budget.tolist(), ratio > budget, strict=True) if found})
    said = f"the likelihood ratio proves {span(beside)} of the claim at ε = 1 and 2; found up to ε = {max(seen):g}"
    return [
        Check.number("true loss of OUE that claims 0.25", "1.19", oue, "the bug's own law"),
        Check(
            f"ε = {budget.min():g}: the attack proves more than claimed",
            "found",
            span((attack / budget)[least]) + " of the claim",
            bool((attack > budget)[least].all()),
            source="5.7",
        ),
        Check(
            "ε ≥ 1: the attack proves no more than claimed",
            "not found",
            span((attack / budget)[budget >= 1]) + " of the claim",
            bool((attack <= budget)[budget >= 1].all()),
            source="5.7",
        ),
        Check("ε ≥ 1: the bug goes unnoticed", "unnoticed", said, bool(beside.min() <= 1), right=False, source="5.7"),
        agree(table),
    ]


def bugs(table: Table) -> list[Check]:
    """Each bug breaks its claim, and an audit shows it."""
    checks = []
    for row in table.rows:
        each = dict(zip(table.columns, row, strict=True))
        proofs = {name: float(each[name]) for name in ("attack", "likelihood", "classifier")}  # type: ignore[arg-type]
        said = ", ".join(f"{name} {value:.2f}" for name, value in proofs.items())
        said = f"exact {infinite(float(each['exact']))}; proved: {said}"  # type: ignore[arg-type]
        where = str(each["published"] or "kin of published bugs")
        kept = max(proofs.values()) <= float(each["claimed"])  # type: ignore[arg-type]
        checks.append(
            Check(f"{each['base']}, {each['bug']}", f"ε = {each['claimed']:g}", said, kept, right=False, source=where)
        )
    return checks


def span(values: Floats | list[float]) -> str:
    """From the least to the largest."""
    low, high = f"{np.min(values):.2f}", f"{np.max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def agree(table: Table, success: str = "success") -> Check:
    """Whether the guesses from real reports are as often right, and as often wrong, as their law says."""
    n, rate = table.numbers("reports"), table.numbers(success)
    wrong = (1 - rate) / (table.numbers("k") - 1)
    off = np.concatenate(
        [_surprise(table.numbers(count), n, p) for count, p in (("hits", rate), ("false_hits", wrong))]
    )
    return agreement(off, f"{int(n.max()):,} reports")


def agreement(off: Floats, what: str) -> Check:
    """Standard errors, in a verdict."""
    from scipy.stats import norm

    limit = float(norm.isf(FALSE_ALARM / (2 * off.size)))
    said = f"|z| ≤ {off.max():.2f} in {off.size} counts"
    return Check(f"guesses from {what} follow their law", f"|z| < {limit:.1f}", said, bool(off.max() < limit))


def _surprise(counts: Floats, n: Floats, rates: Floats) -> Floats:
    """How unlikely counts are, as standard errors of a normal law; exact also where few are expected."""
    from scipy.stats import binom, norm

    least = np.minimum(binom.cdf(counts, n, rates), binom.sf(counts - 1, n, rates))
    return np.asarray(norm.isf(np.clip(least, 1e-300, 0.5)), np.float64)


def _reference(rows: Table, name: str, printed: str) -> Check:
    found = float(rows.where(protocol=name).numbers("attack")[0])
    claim = f"{name}, k = 100, ε = 1: the attack proves, to {_NEAR}"
    return Check(claim, printed, f"{found:.3f}", abs(found - float(printed)) < _NEAR, source="LDP-Auditor")


def _tight_and_flat(table: Table, direct: str, binary: str) -> list[Check]:
    """Randomized response is tight, binary hashing stays below 1."""
    grr, blh = table.where(protocol=direct), table.where(protocol=binary)
    share = (grr.numbers("attack") / grr.numbers("exact"))[grr.numbers("epsilon") >= 1]
    flat = blh.numbers("attack")[blh.numbers("epsilon") >= 2]
    return [
        Check(f"{direct}, ε ≥ 1: proved over exact", "tight", span(share), bool(share.min() > 0.9), source="5.2"),
        Check(f"{binary}, ε ≥ 2: the attack proves", "< 1", span(flat), bool(flat.max() < 1), source="5.2"),
    ]


def _only_tight(table: Table, encoded: list[str]) -> Check:
    rows = Table(table.columns, [row for row in table.rows if row[0] in encoded])
    budget = rows.numbers("epsilon")
    share = (rows.numbers("likelihood") / rows.numbers("exact"))[(budget >= 1) & (budget <= 6)]
    said = f"the likelihood ratio proves {span(share)} of the others' losses, 1 ≤ ε ≤ 6"
    return Check("only (A)GRR is tight", "unique", said, bool(share.min() < _TIGHT), right=False, source="5.2")


def _by_budget(rows: Table, epsilon: float) -> Floats:
    """What the attack proves at a budget, by domain size."""
    here = rows.where(epsilon=epsilon)
    return here.numbers("attack")[np.argsort(here.numbers("k"))]


def _lead(table: Table, name: str, other: str) -> Floats:
    """By how much the attack proves more of one protocol than of another, at budgets up to 1."""
    small = Table(table.columns, [row for row in table.rows if float(row[2] or 0) <= 1])
    return small.where(protocol=name).numbers("attack") - small.where(protocol=other).numbers("attack")
