"""What the paper says of many reports (figures 6 and 11) and of tuples (figures 7 and 12)."""

from __future__ import annotations

import numpy as np

from hush.audit import bounds
from hush.mechanisms.histogram import SHE
from hush.reproduce.audit import laws
from hush.reproduce.audit.checks import agreement, span
from hush.reproduce.audit.proof import TRIALS, Floats
from hush.reproduce.audit.protocols import PURE
from hush.reproduce.study import Check, Table


def sequences(table: Table) -> list[Check]:
    """Figure 6."""
    binary, many = table.where(k=2), table.where(k=100)
    same = float(np.abs(_attack(binary, "GRR") - _attack(binary, "SS")).max())
    lead = min(float((_attack(binary, "GRR") - _attack(binary, name)).min()) for name in PURE[2:])
    last = min(float((_attack(many, name) - _attack(many, "GRR")).min()) for name in PURE if name != "GRR")
    she = min(float((_attack(many, name) - _attack(many, "SHE")).min()) for name in PURE if name not in ("GRR", "SHE"))
    return [
        Check("k = 2: GRR and SS differ by", "0", f"≤ {same:.2f}", same < 0.5, source="5.5"),
        Check("k = 2: GRR and SS are ahead of all pure protocols by", "≥ 0", f"{lead:.2f}", lead > -0.3, source="5.5"),
        Check("k = 100: GRR is behind all pure protocols by", "> 0", f"{last:.2f}", last > 0, source="5.5"),
        Check("k = 100: only GRR is behind SHE; others lead by", "> 0", f"{she:.2f}", she > -0.05, source="5.5"),
        *_reaching(table),
        _composition(binary),
        _summing(),
        _agree(table),
    ]


def more_sequences(table: Table) -> list[Check]:
    """Figure 11."""
    behind = float((_attack(table, "AGM") - _attack(table, "GRR")).max())
    claim = "GM and AGM: less is proved of them than of the others"
    said = f"of AGM up to {behind:.2f} more than of GRR"
    return [
        *_reaching(table),
        Check(claim, "lowest", said, behind < 0.05, right=False, source="5.5"),
        _agree(table),
    ]


def _reaching(table: Table) -> list[Check]:
    """Whether the most that can be proved is reached."""
    ceiling = bounds.best_provable(TRIALS)
    small = table.where(epsilon=0.25).numbers("attack")
    pure = Table(table.columns, [row for row in table.rows if row[0] in PURE and row[0] != "GRR"])
    most = pure.where(epsilon=1.0, tau=500).numbers("attack")
    earlier = pure.where(epsilon=0.75, tau=250).numbers("attack")
    reach = "all pure protocols but GRR reach 12.025"
    found = [
        Check(
            "ε = 0.25, τ ≤ 500: the attack stays below 12.025",
            "< 12.025",
            span(small),
            bool(small.max() < ceiling - 0.1),
            source="5.5",
        ),
        Check(f"ε = 1, τ = 500: {reach}", "12.025", span(most), bool(most.min() > ceiling - 0.1), source="5.5"),
    ]
    if earlier.size:  # not in the quick version
        claim = f"ε = 0.75, τ = 250: {reach}"
        reached = bool(earlier.min() > ceiling - 0.1)
        found.append(Check(claim, "12.025", span(earlier), reached, right=False, source="5.5"))
    return found


def _composition(binary: Table) -> Check:
    """At k = 2 and few reports, how much of tau times epsilon is proved."""
    rows = Table(binary.columns, [row for row in binary.where(tau=5, epsilon=1.0).rows if row[0] in PURE])
    attack, ratio = (rows.numbers(name) / rows.numbers("exact") for name in ("attack", "likelihood"))
    said = (
        f"τ = 5, ε = 1, k = 2: the attack proves {span(attack)} of the exact loss, the likelihood ratio {span(ratio)}"
    )
    return Check(
        "composition is far from what happens", "a gap", said, bool(ratio.min() < 0.7), right=False, source="5.5"
    )


def _summing() -> Check:
    """The sum of SHE's reports is not all that they tell."""
    m, tau = SHE(k=100, epsilon=1.0), 50
    summed, best = laws.exact_success(m, tau) or 0.0, laws.best_success(m, tau)
    said = f"k = 100, ε = 1, τ = 50: right with {summed:.2f}; the likeliest value with {best:.2f}"
    return Check("SHE: the largest sum is the value", "argmax", said, summed > 0.99 * best, right=False, source="4.2")


def _agree(table: Table) -> Check:
    """Guesses from real sequences, beside their law."""
    rows = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    rate, n = rows.numbers("success"), rows.numbers("sequences")
    spread = np.sqrt(rate * (1 - rate) / n + rows.numbers("success_stderr") ** 2)
    return agreement(np.abs(rows.numbers("measured") - rate) / spread, f"{int(n[0]):,} sequences")


def tuples(table: Table) -> list[Check]:
    """Figure 7."""
    binary, many = table.where(k=2), table.where(k=100)
    plain = binary.where(protocol="GRR", epsilon=1.0)
    lead = min(float((_attack(table, "GRR") - _attack(table, name)).min()) for name in ("SUE-z", "OUE-z"))
    fakes = max(float(np.abs(_attack(table, f"{n}-z") - _attack(table, f"{n}-r")).max()) for n in ("SUE", "OUE"))
    sue_first, sue_last = (_gap(rows, "SUE-z", "OUE-z") for rows in (binary, many))
    rise = _at(table, "GRR", 10.0) - _at(table, "GRR", 6.0)
    wider = {epsilon: _attack(many.where(epsilon=epsilon)) - _attack(binary.where(epsilon=epsilon)) for epsilon in
             sorted(set(table.column("epsilon")))}  # fmt: skip
    late = np.concatenate([gap for epsilon, gap in wider.items() if epsilon >= 2])
    return [
        Check.number("true loss, ε = 1, d = 2", "1.490", float(plain.where(d=2).numbers("exact")[0]), "corrected"),
        Check.number("true loss, ε = 1, d = 10", "2.900", float(plain.where(d=10).numbers("exact")[0]), "corrected"),
        _broken(table),
        Check("GRR is ahead of UE by", "≥ 0", f"{lead:.2f}", lead > -0.03, source="5.6"),
        Check("GRR: plateau, rise from ε = 6 to 10", "flat", span(rise), bool(rise.max() < 0.5), source="5.6"),
        Check("UE-z and UE-r differ by, for the attack", "≈ 0", f"≤ {fakes:.3f}", fakes < 0.1, source="5.6"),
        Check("k = 2, ε ≥ 1: SUE is ahead of OUE by", "> 0", span(sue_first["all"]), bool(sue_first["all"].min() > 0),
              source="5.6"),
        Check("k = 100, 1 ≤ ε ≤ 4: SUE is behind OUE by", "> 0", span(-sue_last["mid"]),
              bool(sue_last["mid"].max() < 0), source="5.6"),
        Check("k = 100, ε = 10: SUE is behind OUE by", "> 0", span(-sue_last["last"]),
              bool(sue_last["last"].max() < 0), right=False, source="5.6"),
        Check("ε ≥ 2: k = 100 is ahead of k = 2 by", "> 0", span(late), bool(late.min() > 0), source="5.6"),
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
    return Check("RS+FD is ε-private", "ε", said, bool(above.max() <= 1), right=False, source="4.3")


def _agree_tuples(table: Table) -> Check:
    rows = Table(table.columns, [row for row in table.rows if row[-1] is not None])
    rate, n = rows.numbers("success"), rows.numbers("tuples")
    off = np.abs(rows.numbers("measured") - rate) / np.sqrt(rate * (1 - rate) / n)
    return agreement(off, f"{int(n[0]):,} tuples")


def _gap(rows: Table, name: str, other: str) -> dict[str, Floats]:
    """By how much the attack proves more of one variant than of another: from epsilon = 1 on, up to 4, and at 10."""
    gap, epsilon = _attack(rows, name) - _attack(rows, other), rows.where(protocol=name).numbers("epsilon")
    return {"all": gap[epsilon >= 1], "mid": gap[(epsilon >= 1) & (epsilon <= 4)], "last": gap[epsilon == 10]}


def _at(table: Table, name: str, epsilon: float) -> Floats:
    return table.where(protocol=name, epsilon=epsilon).numbers("attack")


def _attack(table: Table, name: str | None = None) -> Floats:
    return (table if name is None else table.where(protocol=name)).numbers("attack")
