"""What the paper says of one report (figures 1, 3 to 5, 8 and 10), held against what came out."""

from __future__ import annotations

import numpy as np

from hush.audit import bounds
from hush.types import Floats
from hush_studies import agreement, check, rule
from hush_studies.audit.bugs import infinite
from hush_studies.audit.proof import RUNS, TRIALS
from hush_studies.audit.protocols import COUNTERPART, GAUSSIAN
from hush_studies.check import Check, ours, paper, untold
from hush_studies.study import Table

_LOOSE = rule.below(0.9, "none is tight, that is within a tenth of its loss")


def errors(table: Table) -> Floats:
    """Standard errors of what the attack proves on average over its runs, from the law of its hits.

    What is proved is, but for a constant,
    the logarithm of right over wrong guesses of 10⁶; where next to none is wrong,
    that is a little too large. A success that is itself measured adds its own error.
    """
    right = table.numbers("success")
    wrong = (1 - right) / (table.numbers("k") - 1)
    drawn = ((1 - right) / right + 1 / (wrong + 1 / TRIALS)) / TRIALS / RUNS
    if "success_stderr" not in table.columns:
        return np.sqrt(drawn)
    inside = right * (1 - right)
    measured = np.divide(table.numbers("success_stderr"), inside, out=np.zeros_like(inside), where=inside > 0)
    return np.sqrt(drawn + measured**2)


def apart(first: Table, second: Table) -> tuple[Floats, Floats]:
    """By how much more the attack proves of one, cell by cell, and the same in standard errors."""
    gap = first.numbers("attack") - second.numbers("attack")
    return gap, gap / np.hypot(errors(first), errors(second))


def not_above(count: int) -> rule.Rule:
    """Differences in standard errors: none is positive by more than chance."""
    return rule.at_most(0, stderr=1.0, count=count, words="it is not above 0 by more than chance")


def not_below(count: int) -> rule.Rule:
    """Differences in standard errors: none is negative by more than chance."""
    return rule.at_least(0, stderr=1.0, count=count, words="it is not below 0 by more than chance")


def example(table: Table) -> list[Check]:
    """Figure 1, and the limits of any audit."""
    proved = {row[0]: float(each) for row, each in zip(table.rows, table.numbers("attack"), strict=True)}
    gap = {name: float(table.column("epsilon")[0]) / value for name, value in proved.items()}
    twice = [gap[name] for name in ("SUE", "THE", "SHE")]
    share = table.numbers("likelihood") / table.numbers("exact")
    three = np.array([row[0] in ("SUE", "THE", "SHE") for row in table.rows])
    off = float((errors(table) / table.numbers("attack"))[three].max()) * max(twice)
    why = "its k is not printed"
    encoded = share[[row[0] != "GRR" for row in table.rows]]
    return [
        Check.number("most that 10⁴ trials can prove", "7.42", bounds.best_provable(10**4), "4.1"),
        Check.number("most that 10⁶ trials can prove", "12.025", bounds.best_provable(TRIALS), "5.1"),
        untold("GRR: claimed over proved, k = 100", "tight", rule.alike(), gap["GRR"], f"{gap['GRR']:.2f}", "1.1", why),
        untold("SUE, THE, SHE: claimed over proved, k = 100", "≤ 2", rule.at_most(2, stderr=off, count=3), twice,
               span(twice), "1.1", why, known=False),
        untold("BLH: claimed over proved, k = 100", "≤ 4", rule.at_most(4), gap["BLH"], f"{gap['BLH']:.2f}", "1.1",
               why),
        paper("only GRR is tight, since it needs no encoding: what the likelihood ratio proves of the others",
              "1 of 8", _LOOSE, encoded, f"{span(encoded)} of their losses", "1.1", known=False),
    ]  # fmt: skip


def approximate(table: Table) -> list[Check]:
    """Figure 3."""
    others, least = [name for name in COUNTERPART if name != "AGRR"], table.where(k=min(table.column("k")))
    behind = np.concatenate([_lead(least, name, "GM") for name in (*COUNTERPART, "AGM")])
    agm = _lead(table, "AGM", "GM")
    return [
        *tight_and_flat(table, "AGRR", "ABLH"),
        paper("k = 25: GM is behind all others by", "the worst", rule.above(0), behind, span(behind), "5.2"),
        paper("AGM is ahead of GM by", "more precise", rule.above(0), agm, span(agm), "5.2"),
        only_tight(table, others),
        agree(table),
    ]


def deltas(table: Table) -> list[Check]:
    """Figures 4 and 10."""
    gaps = [
        apart(table.where(protocol=name, delta=delta), table.where(protocol=name, delta=0.0))
        for name in COUNTERPART
        for delta in sorted(set(table.column("delta")) - {0.0})
    ]
    off, score = (np.abs(np.concatenate(each)) for each in zip(*gaps, strict=True))
    claim = "AGRR, ASUE, ABLH, AOLH: δ changes what the attack proves by"
    said = f"≤ {off.max():.3f}, |z| ≤ {score.max():.2f}"
    checks = [paper(claim, "not significantly", rule.by_chance(score.size), score, said, "5.3")]
    ks, ends = sorted(set(table.column("k"))), [f(set(table.column("delta")) - {0.0}) for f in (min, max)]
    for name in GAUSSIAN:
        low, high = (table.where(protocol=name, epsilon=1.0, delta=end).numbers("attack") for end in ends)
        said = f"{low.mean():.3f} to {high.mean():.3f} on average over k"
        checks.append(
            paper(f"{name}, ε = 1: grows with δ, by", "narrowing gap", rule.above(0), high - low, said, "5.3")
        )
        if ks[-1] >= 4 * ks[0]:  # else the difference is too small to show
            few, many = (
                table.where(protocol=name, epsilon=1.0, k=k, delta=ends[1]).numbers("attack") for k in (ks[0], ks[-1])
            )
            said = f"{few[0]:.3f} to {many[0]:.3f}"
            checks.append(paper(f"{name}, ε = 1: grows with k", "increase", rule.above(0), many - few, said, "5.3"))
    return [*checks, agree(table)]


def hashing_only(table: Table) -> list[Check]:
    """Figure 5."""
    binary = table.where(g=2).numbers("attack")
    more = table.numbers("attack")[table.numbers("g") > 2]
    ratio = table.numbers("likelihood")
    said = f"the loss is infinite, and the likelihood ratio proves {span(ratio)}"
    medium = rule.between(1, 2.5, stderr=float(errors(table).max()), count=more.size)
    return [
        paper("g = 2: the attack proves", "< 1", rule.below(1), binary, span(binary), "5.4"),
        paper("g > 2: the attack proves", "1 to 2.5", medium, more, span(more), "5.4", known=False),
        paper("hashing alone hides values: what can be proved", "potential privacy gains", rule.at_most(2.5), ratio,
              said, "5.4", known=False),
        agree(table),
    ]  # fmt: skip


def missing_reset(table: Table) -> list[Check]:
    """Figure 8."""
    budget, attack, ratio = (table.numbers(name) for name in ("epsilon", "attack", "likelihood"))
    least, mid = budget == budget.min(), (budget >= 1) & (budget <= 2)
    beside = (ratio / budget)[mid]
    oue = float(table.where(protocol="OUE", epsilon=0.25).numbers("exact")[0])
    seen = sorted({each for each, found in zip(budget.tolist(), ratio > budget, strict=True) if found})
    said = f"the likelihood ratio proves {span(beside)} of the claim at ε = 1 and 2; found up to ε = {max(seen):g}"
    first, late = (attack / budget)[least], (attack / budget)[budget >= 1]
    return [
        Check.number("true loss of OUE that claims 0.25", "1.19", oue, "the bug's own law", ours=True),
        paper(f"ε = {budget.min():g}: what the attack proves, over the claim", "found", rule.above(1), first,
              span(first), "5.7"),
        paper("ε ≥ 1: what the attack proves, over the claim", "not found", rule.at_most(1), late, span(late), "5.7"),
        paper("ε ≥ 1: the bug might go unnoticed; what can be proved, over the claim", "unnoticed", rule.at_most(1),
              beside, said, "5.7", known=False),
        agree(table),
    ]  # fmt: skip


def bugs(table: Table) -> list[Check]:
    """Each bug breaks its claim, and an audit shows it; bug and audit are ours."""
    checks = []
    for row in table.rows:
        each = dict(zip(table.columns, row, strict=True))
        proofs = {name: float(each[name]) for name in ("attack", "likelihood", "classifier")}  # type: ignore[arg-type]
        said = ", ".join(f"{name} {value:.2f}" for name, value in proofs.items())
        said = f"exact {infinite(float(each['exact']))}; proved: {said}"  # type: ignore[arg-type]
        where = str(each["published"] or "kin of published bugs")
        broken = max(proofs.values()) / float(each["claimed"])  # type: ignore[arg-type]
        more = rule.above(1, "one of the three proves more than is claimed")
        claim = f"{each['base']}, {each['bug']}: an audit finds it"
        checks.append(ours(claim, f"claims ε = {each['claimed']:g}", more, broken, said, where))
    return checks


def span(values: Floats | list[float]) -> str:
    """From the least to the largest."""
    return check.span(values, "{:.2f}".format)


def agree(table: Table, success: str = "success") -> Check:
    """Whether the guesses from real reports are as often right, and as often wrong, as their law says."""
    n, rate = table.numbers("reports"), table.numbers(success)
    wrong = (1 - rate) / (table.numbers("k") - 1)
    off = np.concatenate(
        [_surprise(table.numbers(count), n, p) for count, p in (("hits", rate), ("false_hits", wrong))]
    )
    return guesses(off, f"{int(n.max()):,} reports")


def guesses(off: Floats, what: str) -> Check:
    """Standard errors, in a verdict."""
    claim = f"guesses from {what} follow their law"
    return agreement.agree(claim, off, among="counts", printed="their law", source="beside 5")


def _surprise(counts: Floats, n: Floats, rates: Floats) -> Floats:
    """How unlikely counts are, as standard errors of a normal law; exact also where few are expected."""
    from scipy.stats import binom, norm

    least = np.minimum(binom.cdf(counts, n, rates), binom.sf(counts - 1, n, rates))
    return np.asarray(norm.isf(np.clip(least, 1e-300, 0.5)), np.float64)


def tight_and_flat(table: Table, direct: str, binary: str) -> list[Check]:
    """Randomized response is tight, binary hashing stays below 1."""
    grr, blh = table.where(protocol=direct), table.where(protocol=binary)
    share = (grr.numbers("attack") / grr.numbers("exact"))[grr.numbers("epsilon") >= 1]
    flat = blh.numbers("attack")[blh.numbers("epsilon") >= 2]
    return [
        paper(f"{direct}, ε ≥ 1: proved over exact", "tight", rule.alike(), share, span(share), "5.2"),
        paper(f"{binary}, ε ≥ 2: the attack proves", "< 1", rule.below(1), flat, span(flat), "5.2"),
    ]


def only_tight(table: Table, encoded: list[str]) -> Check:
    """Encoded protocols are not tight to the paper's attack; what the likelihood ratio proves of them."""
    rows = Table(table.columns, [row for row in table.rows if row[0] in encoded])
    budget = rows.numbers("epsilon")
    share = (rows.numbers("likelihood") / rows.numbers("exact"))[(budget >= 1) & (budget <= 6)]
    claim = "only (A)GRR is tight: what the likelihood ratio proves of the others, 1 ≤ ε ≤ 6"
    return paper(claim, "unique", _LOOSE, share, f"{span(share)} of their losses", "5.2", known=False)


def _lead(table: Table, name: str, other: str) -> Floats:
    """By how much the attack proves more of one protocol than of another, at budgets up to 1."""
    small = Table(table.columns, [row for row in table.rows if float(row[2] or 0) <= 1])
    return small.where(protocol=name).numbers("attack") - small.where(protocol=other).numbers("attack")
