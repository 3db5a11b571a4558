"""What the paper says of many reports (figures 6 and 11) and of tuples (figures 7 and 12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hush.audit import bounds
from hush.mechanisms.histogram import SHE
from hush.types import Floats
from hush_studies import rule
from hush_studies.audit import laws
from hush_studies.audit.checks import apart, guesses, not_above, not_below, span
from hush_studies.audit.proof import TRIALS
from hush_studies.audit.protocols import PURE
from hush_studies.check import Check, paper
from hush_studies.study import Table


def sequences(table: Table) -> list[Check]:
    """Figure 6."""
    binary, many = table.where(k=2), table.where(k=100)
    same, equal = (np.abs(each) for each in apart(binary.where(protocol="GRR"), binary.where(protocol="SS")))
    lead, first = _against(binary, "GRR", PURE[2:])
    last = np.concatenate([_attack(many, name) - _attack(many, "GRR") for name in PURE if name != "GRR"])
    behind, she = _against(many, "SHE", [name for name in PURE if name not in ("GRR", "SHE")])
    return [
        paper("k = 2: GRR and SS differ by", "equal", rule.by_chance(equal.size), equal,
              f"≤ {same.max():.2f}, |z| ≤ {equal.max():.2f}", "5.5"),
        paper("k = 2: GRR, and SS, less each other pure protocol, in standard errors", "the tightest",
              not_below(first.size), first, f"ahead by {span(lead)}", "5.5"),
        paper("k = 100: GRR is behind all pure protocols by", "the lowest", rule.above(0), last, span(last), "5.5"),
        paper("k = 100: SHE less each other pure protocol but GRR, in standard errors", "followed by SHE",
              not_above(she.size), she, f"behind by {span(-behind)}", "5.5"),
        *_reaching(table),
        _composition(binary),
        _summing(),
        _agree(table),
    ]  # fmt: skip


def more_sequences(table: Table) -> list[Check]:
    """Figure 11."""
    behind, score = apart(table.where(protocol="AGM"), table.where(protocol="GRR"))
    claim = "what is proved of AGM, less what is proved of GRR, in standard errors"
    return [
        *_reaching(table),
        paper(claim, "GM and AGM are the lowest", not_above(score.size), score, f"{span(behind)} in itself", "5.5",
              known=False),
        _agree(table),
    ]  # fmt: skip


def _against(table: Table, name: str, others: Sequence[str]) -> tuple[Floats, Floats]:
    """One protocol less each of others, cell by cell, and the same in standard errors."""
    pairs = [apart(table.where(protocol=name), table.where(protocol=other)) for other in others]
    gap, score = (np.concatenate(each) for each in zip(*pairs, strict=True))
    return gap, score


def _reaching(table: Table) -> list[Check]:
    """Whether the most that can be proved is reached."""
    small = table.where(epsilon=0.25).numbers("attack")
    pure = Table(table.columns, [row for row in table.rows if row[0] in PURE and row[0] != "GRR"])
    most = pure.where(epsilon=1.0, tau=500).numbers("attack")
    earlier = pure.where(epsilon=0.75, tau=250).numbers("attack")
    reach, top = "all pure protocols but GRR", rule.digits("12.025")
    found = [
        paper("ε = 0.25, τ ≤ 500: the attack proves", "less than 12.025", rule.below(bounds.best_provable(TRIALS)),
              small, span(small), "5.5"),
        paper(f"ε = 1, τ = 500: {reach}", "12.025", top, most, span(most), "5.5"),
    ]  # fmt: skip
    if earlier.size:  # not in the quick version
        found.append(paper(f"ε = 0.75, τ = 250: {reach}", "12.025", top, earlier, span(earlier), "5.5", known=False))
    return found


def _composition(binary: Table) -> Check:
    """At k = 2 and few reports, how much of tau times epsilon is proved."""
    rows = Table(binary.columns, [row for row in binary.where(tau=5, epsilon=1.0).rows if row[0] in PURE])
    attack, ratio = (rows.numbers(name) / rows.numbers("exact") for name in ("attack", "likelihood"))
    claim = "τ = 5, ε = 1, k = 2: what can be proved, over the loss by composition"
    said = f"the attack proves {span(attack)}, the likelihood ratio {span(ratio)}"
    gap = rule.below(0.9, "more than a tenth is missing, for all protocols")
    return paper(claim, "a substantial gap", gap, ratio, said, "5.5", known=False)


def _summing() -> Check:
    """The sum of SHE's reports is not all that they tell."""
    m, tau = SHE(k=100, epsilon=1.0), 50
    summed, best = laws.exact_success(m, tau) or 0.0, laws.best_success(m, tau)
    said = f"right with {summed:.2f}; the likeliest value with {best:.2f}"
    claim = "SHE, k = 100, ε = 1, τ = 50: success of the largest sum, over that of the likeliest value"
    return paper(claim, "the most probable", rule.at_least(1), summed / best, said, "4.2", known=False)


def _agree(table: Table) -> Check:
    """Guesses from real sequences, beside their law."""
    rows = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    rate, n = rows.numbers("success"), rows.numbers("sequences")
    spread = np.sqrt(rate * (1 - rate) / n + rows.numbers("success_stderr") ** 2)
    return guesses(np.abs(rows.numbers("measured") - rate) / spread, f"{int(n[0]):,} sequences")


def tuples(table: Table) -> list[Check]:
    """Figure 7."""
    binary, many = table.where(k=2), table.where(k=100)
    plain = binary.where(protocol="GRR", epsilon=1.0)
    lead, ahead_by = _against(table, "GRR", ("SUE-z", "OUE-z"))
    pairs = [apart(table.where(protocol=f"{n}-z"), table.where(protocol=f"{n}-r")) for n in ("SUE", "OUE")]
    fakes, equal = (np.abs(np.concatenate(each)) for each in zip(*pairs, strict=True))
    sue_first, sue_last = (_gap(rows, "SUE-z", "OUE-z") for rows in (binary, many))
    rise = _at(table, "GRR", 10.0) / _at(table, "GRR", 6.0)
    wider = {epsilon: _attack(many.where(epsilon=epsilon)) - _attack(binary.where(epsilon=epsilon)) for epsilon in
             sorted(set(table.column("epsilon")))}  # fmt: skip
    late = np.concatenate([gap for epsilon, gap in wider.items() if epsilon >= 2])
    ahead = rule.above(0)
    known = "corrected, not in the paper"
    return [
        Check.number("true loss, ε = 1, d = 2", "1.490", float(plain.where(d=2).numbers("exact")[0]), known, ours=True),
        Check.number("true loss, ε = 1, d = 10", "2.900", float(plain.where(d=10).numbers("exact")[0]), known,
                     ours=True),
        _broken(table),
        paper("GRR less UE, in standard errors", "tighter", not_below(ahead_by.size), ahead_by,
              f"ahead by {span(lead)}",
              "5.6"),
        paper("GRR: what is proved at ε = 10 over that at 6", "a plateau for ε ≥ 4", rule.alike(), rise, span(rise),
              "5.6"),
        paper("UE-z and UE-r differ by, for the attack", "no significant changes", rule.by_chance(equal.size), equal,
              f"≤ {fakes.max():.3f}, |z| ≤ {equal.max():.2f}", "5.6"),
        paper("k = 2, ε ≥ 1: SUE is ahead of OUE by", "tighter", ahead, sue_first["all"], span(sue_first["all"]),
              "5.6"),
        paper("k = 100, 1 ≤ ε ≤ 4: SUE is behind OUE by", "lower", ahead, -sue_last["mid"], span(-sue_last["mid"]),
              "5.6"),
        paper("k = 100, ε = 10: SUE is behind OUE by", "lower", ahead, -sue_last["last"], span(-sue_last["last"]),
              "5.6",
              known=False),
        paper("ε ≥ 2: k = 100 is ahead of k = 2 by", "lower for a binary domain", ahead, late, span(late), "5.6"),
        _agree_tuples(table),
    ]  # fmt: skip


def more_tuples(table: Table) -> list[Check]:
    """Figure 12."""
    return [_broken(table), _agree_tuples(table)]


def _broken(table: Table) -> Check:
    """Whether the claimed loss is kept."""
    above = table.numbers("likelihood") / table.numbers("epsilon")
    most = int(np.argmax(above))
    name, k, d, epsilon = (table.column(column)[most] for column in ("protocol", "k", "d", "epsilon"))
    said = f"more than ε is proved in {int((above > 1).sum())} of {above.size} cases, "
    said += f"{table.numbers('likelihood')[most]:.2f} of {name} with k = {k}, d = {d}, ε = {epsilon:g}"
    claim = "RS+FD is ε-private: what can be proved, over ε"
    return paper(claim, "ε", rule.at_most(1), above, said, "4.3", known=False)


def _agree_tuples(table: Table) -> Check:
    rows = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    rate, n = rows.numbers("success"), rows.numbers("tuples")
    off = np.abs(rows.numbers("measured") - rate) / np.sqrt(rate * (1 - rate) / n)
    return guesses(off, f"{int(n[0]):,} tuples")


def _gap(rows: Table, name: str, other: str) -> dict[str, Floats]:
    """By how much the attack proves more of one variant than of another: from epsilon = 1 on, up to 4, and at 10."""
    gap, epsilon = _attack(rows, name) - _attack(rows, other), rows.where(protocol=name).numbers("epsilon")
    return {"all": gap[epsilon >= 1], "mid": gap[(epsilon >= 1) & (epsilon <= 4)], "last": gap[epsilon == 10]}


def _at(table: Table, name: str, epsilon: float) -> Floats:
    return table.where(protocol=name, epsilon=epsilon).numbers("attack")


def _attack(table: Table, name: str | None = None) -> Floats:
    return (table if name is None else table.where(protocol=name)).numbers("attack")
