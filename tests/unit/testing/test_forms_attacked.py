"""A companion that lies about fakes, pairs of values or guesses is caught, whatever it lies about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hush
from hush import utility
from hush.longitudinal import LGRR, LSUE, OLOLOHA
from hush.mechanisms.forms import Forms
from hush.mechanisms.shape import SupportLaw
from hush.testing import ConformanceError, check_forms
from hush.testing.forms import COMPARISONS

pytestmark = pytest.mark.slow

Mechanism = hush.FrequencyOracle

GRR = hush.GRR(k=4, epsilon=1.0)
OUE = hush.OUE(k=4, epsilon=1.0)
HR = hush.HR(k=6, epsilon=1.0, blocks=2)
AGM = hush.AGM(k=3, epsilon=1.0, delta=1e-3)
MSS = hush.MSS(k=8, epsilon=1.0)
ULDP = utility.uSS(k=5, epsilon=1.0, sensitive=(0, 1, 3))

ATTACKED = {each.name for each in COMPARISONS if each.problem.__module__ == "hush.testing.forms_attacked"}


def lying(m: Mechanism, name: str, answer: Any) -> Mechanism:
    """The same mechanism with forms that give another answer: a function of the forms and what they are asked."""
    own = type(m.forms)
    told = property(answer) if isinstance(getattr(own, name), property) else answer
    fresh = replace(m)
    object.__setattr__(fresh, "forms", type("Lying", (own,), {name: told})(fresh))
    return fresh


LIES: list[tuple[str, Mechanism, Callable[..., Any]]] = [
    ("maximal_sum", GRR, lambda forms, targets: 1.001 * type(GRR.forms).maximal_sum(forms, targets)),
    ("maximal_sum", MSS, lambda forms, targets: 0.99 * type(MSS.forms).maximal_sum(forms, targets)),
    ("maximal_reports", GRR, lambda forms, targets, size, rng: np.full(size, (targets[0] + 1) % 4, "u1")),
    ("maximal_gain", MSS, lambda forms, targets, share, held: share * forms.maximal_sum(targets)),
    ("random_sum", HR, lambda forms, targets: 0.01),
    ("random_reports", GRR, lambda forms, size, rng: np.zeros(size, "u1")),
    ("decoded_sums", GRR, lambda forms, targets: 2 * Forms.decoded_sums(forms, targets)),
    ("decoded_means", GRR, lambda forms: np.zeros(4)),
    ("moments", HR, lambda forms, chances: (np.zeros(6), np.zeros(6))),
    ("variation", AGM, lambda forms, first, second: 0.1),
    ("variation", GRR, lambda forms, first, second: 0.1),
    ("variation", ULDP, lambda forms, first, second: 0.1),
    (
        "support_laws",
        GRR,
        lambda forms: [replace(each, favor=2.0) for each in type(GRR.forms).support_laws.fget(forms)],
    ),
    (
        "support_laws",
        hush.PGR(k=6, epsilon=1.0, q=3),
        lambda forms: [SupportLaw(1.0, np.array([1, 3]), np.array([0.5, 0.5]), math.e)],
    ),
    (
        "support_laws",
        MSS,
        lambda forms: [replace(each, sizes=each.sizes + 1) for each in type(MSS.forms).support_laws.fget(forms)],
    ),
    ("telling", OUE, lambda forms, first, second: (0.5, 0.2)),
    ("telling", hush.OLH(k=4, epsilon=1.0), lambda forms, first, second: (0.5, 0.2)),
    ("pair_kinds", GRR, lambda forms: [(Fraction(1, 10), Fraction(0))]),
    ("pair_kinds", OUE, lambda forms: [(kind, both / 2) for kind, both in type(OUE.forms).pair_kinds(forms)]),
    ("pair_kinds", hush.OLH(k=4, epsilon=1.0), lambda forms: [(Fraction(1, 10), None)]),
    (
        "crowds",
        OUE,
        lambda forms: [replace(each, weights=each.weights[::-1]) for each in type(OUE.forms).crowds(forms)],
    ),
    ("pure_loss", OUE, lambda forms: 0.9),
    ("cut", AGM, lambda forms, delta: (0.5, 1e-4)),
    ("log_ratio", OUE, lambda forms, reports, first, second: np.zeros(reports.size)),
    ("spoken", ULDP, lambda forms, reports, pair: np.ones(reports.size, np.bool_)),
    ("guess_chance", OUE, lambda forms, reports, values: np.full(values.size, 0.25)),
    ("guess_chance", AGM, lambda forms, reports, values: np.full(values.size, 1 / 3)),
    ("best_chances", HR, lambda forms, prior: np.zeros(forms.m.size)),
    ("votes_for_likeliest", hush.ServerTHE(k=3, epsilon=1.0), lambda forms: True),
    ("votes_add_up", hush.ServerTHE(k=3, epsilon=1.0), lambda forms: True),
    ("most_voted", GRR, lambda forms, tau: 0.5),
    ("vectors", AGM, lambda forms, reports: -reports["steps"].astype(np.float64)),
    ("vectors", GRR, lambda forms, reports: reports.astype(np.float64)),
    ("shape", GRR, lambda forms: replace(type(GRR.forms).shape.fget(forms), high=1, low=1)),
    ("shape", HR, lambda forms: replace(type(HR.forms).shape.fget(forms), numbered=lambda: np.ones(8, np.int64))),
    ("number_of_outputs", HR, lambda forms: 5),
    ("bit_thresholds", OUE, lambda forms: (1 << 63, 1 << 63)),
    ("telling_publics", hush.OLH(k=4, epsilon=1.0), lambda forms: forms.m.publics()[1:]),
]


@pytest.mark.parametrize(("name", "m", "answer"), LIES, ids=[f"{name} of {type(m).__name__}" for name, m, _ in LIES])
def test_a_lie_is_caught(name: str, m: Mechanism, answer: Callable[..., Any]) -> None:
    check_forms(replace(m), 7)
    with pytest.raises(ConformanceError, match=f"{name} of its forms differs"):
        check_forms(lying(m, name, answer), 7)


def test_there_is_a_lie_about_every_question() -> None:
    assert {name for name, _, _ in LIES} == ATTACKED


@pytest.mark.parametrize(
    "m",
    [
        *(cls(k=5, epsilon=1.0, sensitive=(0, 1, 3)) for cls in utility.MECHANISMS),
        utility.BalancedLH(k=5, epsilon=1.0, g=3),
        *(cls(k=4, epsilon_permanent=2.0, epsilon_report=1.0).first_report for cls in (LGRR, LSUE, OLOLOHA)),
        hush.LHO(k=4, g=2),
        hush.LH(k=4, epsilon=1.0, g=4, hash="family"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_mechanisms_that_are_not_listed_tell_the_truth(m: Mechanism) -> None:
    check_forms(m, 7)
