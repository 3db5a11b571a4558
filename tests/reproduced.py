"""What tests of every study share: small tables, computed once, and what its checks owe their reader."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hush_studies import Check, Part, Settings, Table, Verdict
from hush_studies.rule import Kind

QUICK = Settings(quick=True)


def small_tables(parts: Sequence[Part]) -> dict[str, tuple[Table, float]]:
    """Every part's table, small, and how far its progress went."""
    found = {}
    for part in parts:
        heard: list[float] = []
        found[part.id] = part.compute(QUICK, heard.append), sum(heard)
    return found


def unsound(checks: Sequence[Check]) -> list[str]:
    """Checks without a claim, a rule, a number, a source, or with more tolerance than their kind allows."""
    return [f"{check.claim}: {fault}" for check in checks for fault in _faults(check)]


def _faults(check: Check) -> list[str]:
    rule = check.rule
    found = {
        "no words": not all((check.claim, check.printed, check.computed, check.source, rule.words, rule.allowance)),
        "no numbers": not check.numbers,
        "not numbers": not all(type(each) is float and not math.isnan(each) for each in check.numbers),
        "no end": math.isinf(rule.low) and math.isinf(rule.high),
        "more tolerance than its kind allows": not 0 <= rule.tolerance <= rule.allowed * (1 + 1e-12),
        "strict, with a tolerance": rule.strict and rule.tolerance != 0,
        "a chance of more than one false alarm in a million": rule.kind is Kind.CHANCE and rule.unit <= 0,
        "ours and not told": check.ours and bool(check.untold),
        "not told without a reason": check.verdict is Verdict.UNTOLD and not check.untold,
        "ours is known to fail": check.ours and not check.known,
        "a match with the paper that is ours": check.ours and check.verdict is Verdict.MATCHES,
    }
    return [fault for fault, there in found.items() if there]
