"""What the paper says of the data reconstruction attack (figures 3, 6, 8 and 9), held against exact success rates."""

from __future__ import annotations

import numpy as np

from hush.mechanisms.modular import MSS
from hush.types import Floats
from hush_studies import agreement, rule
from hush_studies.check import Check, paper, untold
from hush_studies.modular import printed
from hush_studies.modular.checks import over, span
from hush_studies.modular.settings import PROTOCOLS, mechanism
from hush_studies.study import Table

_PEOPLE = "only people by Zipf's law and a spike are attacked there"


def agree(table: Table) -> Check:
    """Whether real reports give their senders away as often as they should."""
    score = np.abs(table.numbers("dra") - table.numbers("dra_expected")) / table.numbers("dra_stderr")
    return agreement.agree("measured DRA is the exact one for these people", score)


def _others(table: Table, column: str) -> Floats:
    """MSS over the least of the others."""
    return np.min([over(table, "MSS", name, column) ** -1 for name in PROTOCOLS if name != "MSS"], axis=0) ** -1.0


def _lowest(table: Table, source: str) -> list[Check]:
    """Of the paper's people, and as the mean over all values."""
    claim, least = "DRA of MSS over the least of the others, {}", rule.at_most(1)
    own, mean = (_others(table, column) for column in ("dra_expected", "dra_mean"))
    return [
        paper(claim.format("these people"), "the lowest, at all ε", least, own, span(own), source, known=False),
        untold(claim.format("all values equally often"), "the lowest, at all ε", least, mean, span(mean), source,
               _PEOPLE, known=False),
    ]  # fmt: skip


def _shared(table: Table, source: str) -> list[Check]:
    """What is said of figures 3 and 8 alike."""
    jump, usual = over(table, "PGR", "SS", "dra_expected"), over(table, "PGR", "SS", "dra_mean")
    grr = np.concatenate([over(table, "GRR", name, "dra_mean") for name in ("OUE", "SS", "PGR", "MSS")])
    mine = table.where(protocol="MSS")
    depends = mine.numbers("dra_most") / mine.numbers("dra_expected")
    pgr = table.where(protocol="PGR")
    literal = pgr.numbers("dra_printed") / pgr.numbers("dra_mean")
    sharply = rule.above(1 + rule.WORD, "at some budget it is more than a tenth above 1")
    return [
        agree(table),
        *_lowest(table, source),
        paper("DRA of PGR over SS, these people, the largest", "rises sharply", sharply, jump.max(), span(jump),
              source),
        untold("DRA of PGR over SS, all values equally often, the largest", "rises sharply", sharply, usual.max(),
               span(usual), source, _PEOPLE, known=False),
        untold("DRA of GRR over each other's, all values equally often", "the highest", rule.at_least(1), grr,
               span(grr),
               "1", _PEOPLE),
        paper("DRA of MSS: the value that is easiest over these people", "the same for all", rule.alike(), depends,
              span(depends), "D", known=False),
        paper("PGR: equation 15 over the exact mean", "exact", rule.equal(), literal, span(literal), "C", known=False),
    ]  # fmt: skip


def zipf(table: Table) -> list[Check]:
    """Figure 3."""
    knowing = _others(table, "dra_knowing")
    claim, why = "DRA of MSS over the least of the others, frequencies known", "section 4.4 takes them as unknown"
    check = untold(claim, "the lowest, at all ε", rule.at_most(1), knowing, span(knowing), "1", why, known=False)
    return [*_shared(table, "5"), check]


def spike(table: Table) -> list[Check]:
    """Figure 8."""
    return _shared(table, "D")


def bounds(table: Table) -> list[Check]:
    """Figure 6."""
    ss, mine = table.where(protocol="SS"), table.where(protocol="MSS")
    off = ss.numbers("dra_printed") / ss.numbers("dra_expected")
    seven, mean, people = (mine.numbers(name) for name in ("dra_printed", "dra_mean", "dra_expected"))
    pairs = zip(mine.column("k"), mine.column("epsilon"), strict=True)
    said = np.array([_by_table(k, epsilon) for k, epsilon in pairs])
    upper, exact = rule.at_least(1), rule.equal()
    return [
        agree(table),
        paper("SS: analytical DRA over the exact one", "near-perfect", exact, off, span(off), "D"),
        paper("MSS: equation 7 over equation 13", "an upper bound", upper, seven / mean, span(seven / mean), "4.4, B",
              known=False),
        paper("MSS: equation 7 over the DRA of these people", "an upper bound", upper, seven / people,
              span(seven / people), "D", known=False),
        paper("MSS: table 1's formula over the exact mean, equation 13", "exact", exact, said / mean,
              span(said / mean), "B"),
        paper("MSS: table 1's formula over the DRA of these people", "overestimates", rule.above(1), mean / people,
              span(mean / people), "D"),
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
        paper("DRA of PGR over SS, where k = K", "no rise", rule.no_more(), beside, span(beside), "D"),
        paper("PGR: equation 16 over the exact one", "exact", rule.equal(), whole, span(whole), "C"),
        *_lowest(table, "D"),
    ]
