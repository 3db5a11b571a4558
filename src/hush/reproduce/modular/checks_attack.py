"""What the paper says of the data reconstruction attack (figures 3, 6, 8 and 9), held against exact success rates."""

from __future__ import annotations

import numpy as np

from hush.mechanisms.modular import MSS
from hush.reproduce.modular import printed
from hush.reproduce.modular.checks import over, span
from hush.reproduce.modular.settings import PROTOCOLS, Floats, mechanism
from hush.reproduce.study import Check, Table

FALSE_ALARM = 1e-6
"""Chance that the reports of one figure seem to contradict their law although all is well."""


def agree(table: Table) -> Check:
    """Whether real reports give their senders away as often as they should, by the normal law and for all cells."""
    from scipy.stats import norm

    score = np.abs(table.numbers("dra") - table.numbers("dra_expected")) / table.numbers("dra_stderr")
    limit = float(norm.isf(FALSE_ALARM / (2 * score.size)))
    said = f"|z| ≤ {score.max():.2f} in {score.size} cells"
    return Check(
        "measured DRA is the exact one for these people", f"|z| < {limit:.1f}", said, bool(score.max() < limit)
    )


def _others(table: Table, column: str) -> Floats:
    """MSS over the least of the others."""
    return np.min([over(table, "MSS", name, column) ** -1 for name in PROTOCOLS if name != "MSS"], axis=0) ** -1.0


def _lowest(table: Table, column: str, where: str, source: str) -> Check:
    ratio = _others(table, column)
    said = f"{span(ratio)} times the least other"
    return Check(f"MSS has the lowest DRA, {where}", "always", said, bool(ratio.max() <= 1), right=False, source=source)


def _shared(table: Table, source: str) -> list[Check]:
    """What is said of figures 3 and 8 alike."""
    jump, usual = over(table, "PGR", "SS", "dra_expected"), over(table, "PGR", "SS", "dra_mean")
    grr = np.concatenate([over(table, "GRR", name, "dra_mean") for name in ("OUE", "SS", "PGR", "MSS")])
    mine = table.where(protocol="MSS")
    depends = mine.numbers("dra_most") / mine.numbers("dra_expected")
    pgr = table.where(protocol="PGR")
    literal = pgr.numbers("dra_printed") / pgr.numbers("dra_mean")
    return [
        agree(table),
        _lowest(table, "dra_expected", "these people", source),
        _lowest(table, "dra_mean", "all values equally often", source),
        Check("PGR over SS, these people", "rises sharply", span(jump), bool(jump.max() > 1.5), source=source),
        Check(
            "PGR over SS, all values equally often",
            "rises sharply",
            span(usual),
            bool(usual.max() > 1.5),
            right=False,
            source=source,
        ),
        Check(
            "DRA of GRR over each other's, all values equally often",
            "highest",
            span(grr),
            bool(grr.min() > 1 - 1e-9),
            source="1",
        ),
        Check(
            "DRA of MSS: the value that is easiest over these people",
            "same for all",
            span(depends),
            bool(depends.max() < 1.05),
            right=False,
            source="D",
        ),
        Check(
            "PGR: equation 15 over the exact mean",
            "exact",
            span(literal),
            bool(np.abs(literal - 1).max() < 1e-3),
            right=False,
            source="C",
        ),
    ]


def zipf(table: Table) -> list[Check]:
    """Figure 3."""
    knowing = _others(table, "dra_knowing")
    said = f"{span(knowing)} times the least other"
    claim = "MSS has the lowest DRA, frequencies known as in section 1"
    check = Check(claim, "always", said, bool(knowing.max() <= 1), right=False, source="1, 5")
    return [*_shared(table, "5"), check]


def spike(table: Table) -> list[Check]:
    """Figure 8."""
    return _shared(table, "D")


def bounds(table: Table) -> list[Check]:
    """Figure 6."""
    ss, mine = table.where(protocol="SS"), table.where(protocol="MSS")
    off = float(np.abs(ss.numbers("dra_printed") / ss.numbers("dra_expected") - 1).max())
    seven, mean = mine.numbers("dra_printed"), mine.numbers("dra_mean")
    table_1 = mean / mine.numbers("dra_expected")
    pairs = zip(mine.column("k"), mine.column("epsilon"), strict=True)
    said = np.array([_by_table(k, epsilon) for k, epsilon in pairs])
    same = float(np.abs(said / mean - 1).max())
    upper = "MSS: equation 7 is an upper bound"
    return [
        agree(table),
        Check("SS: analytical DRA", "near-perfect", f"to {max(off, 1e-15):.0e}", off < 1e-6, source="D"),
        Check(f"{upper}: over equation 13", "≥ 1", span(seven / mean), bool((seven >= mean).all()), right=False,
              source="4.4, B"),
        Check(f"{upper}: over these people's", "≥ 1", span(seven / mine.numbers("dra_expected")),
              bool((seven >= mine.numbers("dra_expected") * (1 + 1e-9)).all()), right=False, source="D"),
        Check("MSS: table 1's formula is equation 13", "exact", f"to {max(same, 1e-15):.0e}", same < 1e-9, source="B"),
        Check("MSS: table 1's formula over these people's", "overestimates", span(table_1),
              bool(table_1.min() > 1), source="D"),
    ]  # fmt: skip


def _by_table(k: int, epsilon: float) -> float:
    m = mechanism("MSS", k, epsilon)
    assert isinstance(m, MSS)
    return printed.table_attack(m)


def aligned(table: Table) -> list[Check]:
    """Figure 9."""
    beside, pgr = over(table, "PGR", "SS", "dra_expected"), table.where(protocol="PGR")
    whole = pgr.numbers("dra_printed") / pgr.numbers("dra_expected")
    return [
        agree(table),
        Check("PGR over SS, where k = K", "no rise", span(beside), bool(beside.max() < 1.1), source="D"),
        Check(
            "PGR: equation 16 over the exact one", "1", span(whole), bool(np.abs(whole - 1).max() < 1e-6), source="C"
        ),
        _lowest(table, "dra_expected", "these people", "D"),
        _lowest(table, "dra_mean", "all values equally often", "D"),
    ]
