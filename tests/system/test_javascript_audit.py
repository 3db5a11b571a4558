"""Audits of the JavaScript client through a pipe: honest mechanisms are consistent, and injected bugs are found.

Each verdict that accuses an honest mechanism is wrong with a probability of at most 1e-9. That an honest one is not
found consistent, for want of proof, is rarer than that, too: what must be proved is half of the claim, and what is
proved is some 0.85 of it with a standard error of 0.02.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import hush
from hush import longitudinal
from hush.audit import AuditResult, HistoryInputs, NumberInputs, run
from hush.audit.pipe import PipeTarget
from hush.audit.target import Claim
from tests import javascript
from tests.conftest import APPROXIMATE, example
from tests.system.test_javascript import REFUSED

ALPHA = 1e-9
TRIALS = 40_000
NAMES = [name for name in hush.registry() if ":" not in name and name not in REFUSED]
BUDGETS: dict[str, Any] = {"k": 4, "epsilon_permanent": 2.0, "epsilon_report": 1.0}
OVER_TIME = (longitudinal.LGRR, longitudinal.LSUE, longitudinal.LOSUE, longitudinal.LOUE, longitudinal.LSOUE)


def target(m: Any, claim: float | Claim, *bug: str, **asked: Any) -> PipeTarget:
    """The client with a mechanism, and maybe a bug."""
    pipe = javascript.CLIENT / "audit" / "pipe.js"
    return PipeTarget([javascript.node(), str(pipe), json.dumps(m.to_dict()), *bug], claim=claim, **asked)


def audited(
    m: Any, claim: float | Claim, *bug: str, pair: Any = None, trials: int = TRIALS, **asked: Any
) -> AuditResult:
    return run(target(m, claim, *bug, **asked), "classifier", trials=trials, alpha=ALPHA, pair=pair)


def small(name: str) -> Any:
    """A mechanism over four values; filters of one function, so that one event shows most of the loss."""
    if name == "RAPPOR":
        return hush.RAPPOR(k=4, epsilon=1.0, width=8, hashes=1, cohorts=4)
    return example(name, 4, 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_is_consistent(name: str) -> None:
    """Of mechanisms that protect some values, two of these."""
    claim = Claim(1.0, 1e-5) if name in APPROXIMATE else Claim(1.0)
    found = audited(small(name), claim, pair=(0, 1), k=4)
    assert found.verdict == "consistent", found.statement


@pytest.mark.parametrize(("mechanism", "more"), [(hush.OLH, {"hash": "family"}), (hush.SS, {"code": "enumerative"})])
def test_other_hashes_and_codes_are_consistent(mechanism: Any, more: dict[str, str]) -> None:
    found = audited(mechanism(k=4, epsilon=1.0, **more), 1.0, pair=(0, 1), k=4)
    assert found.verdict == "consistent", found.statement


@pytest.mark.parametrize("mechanism", [hush.Duchi, hush.Piecewise, hush.Hybrid])
def test_mechanisms_of_means_are_consistent(mechanism: Any) -> None:
    m = mechanism(low=0.0, high=1.0, epsilon=1.0, steps=4)
    found = audited(m, 1.0, pair=(0.0, 1.0), inputs=NumberInputs(0.0, 1.0))
    assert found.verdict == "consistent", found.statement


@pytest.mark.parametrize("protocol", [*OVER_TIME, longitudinal.OLOLOHA, longitudinal.BiLOLOHA])
def test_a_first_report_over_time_is_consistent(protocol: Any) -> None:
    found = audited(protocol(**BUDGETS), 1.0, pair=(0, 1), k=4)
    assert found.verdict == "consistent", found.statement


@pytest.mark.parametrize("protocol", [longitudinal.LGRR, longitudinal.LOSUE, longitudinal.OLOLOHA])
def test_eight_reports_of_a_value_that_does_not_change_are_consistent(protocol: Any) -> None:
    histories = (0,) * 8, (1,) * 8
    asked = {"pair": histories, "inputs": HistoryInputs(histories, 4), "trials": 2 * TRIALS}
    found = audited(protocol(**BUDGETS), 2.0, **asked)
    assert found.verdict == "consistent", found.statement
    assert found.epsilon_lower > 1.0  # as much as one report never loses


@cache
def audit_honest_response(k: int) -> AuditResult:
    """Audit randomized response without a bug."""
    return audited(hush.GRR(k=k, epsilon=1.0), 1.0, k=k)


@pytest.mark.parametrize(
    ("bug", "k"),
    [
        ("swapped", 4),  # a threshold with its halves changed over
        ("biased", 10),  # a few bits modulo the number of others
        ("reused", 4),  # one word for two draws
    ],
)
def test_a_bug_is_found(bug: str, k: int) -> None:
    honest, buggy = audit_honest_response(k), audited(hush.GRR(k=k, epsilon=1.0), 1.0, bug, k=k)
    assert not honest.violated, honest.statement
    assert buggy.violated, buggy.statement
