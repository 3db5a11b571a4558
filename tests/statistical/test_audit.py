"""How tight the likelihood audit is, and that it never claims more than is true, at full size.

What is proved is, but for its confidence, the logarithm of a ratio of two counts, whose standard error is known: both
are binomial. False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

import math

import pytest

import hush
from hush.audit import AuditResult, run
from hush.audit.bounds import epsilon_lower
from hush.statistics import FALSE_ALARM, sigmas
from tests.conftest import PURE_NAMES, example

pytestmark = pytest.mark.nightly

PRINTED = {"GRR": 0.96, "SS": 0.59, "SUE": 0.45, "OUE": 0.58, "THE": 0.43, "BLH": 0.32, "OLH": 0.60, "SHE": 0.46}


def spread(found: AuditResult) -> float:
    """The standard error of the logarithm of the ratio of the two counts."""
    assert found.counts is not None
    return math.sqrt(sum(1 / count - 1 / found.trials for count in found.counts))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", PURE_NAMES)
def test_a_million_trials_prove_85_per_cent_of_every_pure_loss(name: str, epsilon: float) -> None:
    """k = 100, alpha = 0.01. What is proved, six of its standard errors less, is still so much; and what the same
    counts prove at the rate of the test is not above the truth. Four million where counts are few.
    """
    m = example(name, 100, epsilon)
    found = run(m, trials=4 * 10**6 if (name, epsilon) == ("GRR", 0.5) else 10**6, rng=hush.seeded(41))
    assert 0.85 * m.exact_epsilon() + sigmas() * spread(found) <= found.epsilon_lower
    assert found.counts is not None
    counted = found.counts[0], found.trials, found.counts[1], found.trials
    assert epsilon_lower(*counted, alpha=FALSE_ALARM / max(1, len(found.tried))) <= m.exact_epsilon()


@pytest.mark.parametrize("name", PRINTED)
def test_the_papers_attack_gives_the_papers_numbers(name: str) -> None:
    """k = 100, epsilon = 1, 10^6 trials; both are one run, and the paper's has two digits."""
    m = example(name, 100, 1.0)
    found = run(m, "attack", trials=10**6, rng=hush.seeded(41))
    assert found.epsilon_lower == pytest.approx(PRINTED[name], abs=sigmas() * math.sqrt(2) * spread(found) + 0.005)
