"""What an audit could have seen is computed, and an audit that could not have seen much says nothing."""

from __future__ import annotations

import itertools
import math
import random
import zlib

import numpy as np
import pytest
from scipy.stats import binom

import hush
from hush.audit import AuditResult, CallableTarget, Claim, Power, Screening, bounds, run
from hush.audit.independence import Runs, remembers
from hush.audit.power import RARE, SURE, rarest_event, smallest_loss
from tests.unit.audit.test_audit_foreign import grr

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize(("false_hits", "claim"), [(0, 1.0), (20, 0.5), (60, 1.0)])
def test_the_smallest_loss_is_found_as_often_as_stated(false_hits: int, claim: float, delta: float) -> None:
    """Exactly: both counts are binomial, and every pair of them is weighed. A loss a tenth smaller is not."""
    trials, alpha = 400, 0.05
    loss = smallest_loss(false_hits, trials, claim, alpha=alpha, delta=delta)
    assert loss is not None
    other = bounds.upper(false_hits, trials, 0.5)
    tail = alpha / bounds.TAILS["paper"]
    least, most = (np.array([f(c, trials, tail) for c in range(trials + 1)]) for f in (bounds.lower, bounds.upper))
    proves = least[:, None] - delta > math.exp(claim) * most
    assert proves[350, 20] == (bounds.epsilon_lower(350, trials, 20, trials, alpha=alpha, delta=delta) > claim)

    def found(loss: float) -> float:
        own = delta + other * math.exp(loss)
        weights = (binom.pmf(np.arange(trials + 1), trials, p) for p in (own, other))
        first, second = weights
        return float(first @ proves @ second)

    assert SURE <= found(loss) < 0.99
    assert found(0.85 * loss) < SURE


def test_no_loss_is_found_by_an_event_that_always_comes() -> None:
    assert smallest_loss(1000, 1000, 1.0, alpha=0.01) is None
    assert smallest_loss(500, 1000, 1.0, alpha=0.01) is None  # more than the whole would be needed


@pytest.mark.parametrize("trials", [1000, 20_000])
def test_the_rarest_event_is_seen_and_proved_as_often_as_stated(trials: int) -> None:
    fitted = held = trials // 10
    rarest = rarest_event([fitted, held], trials, 1.0, alpha=0.01)
    hits = next(h for h in range(trials) if bounds.epsilon_lower(h, trials, 0, trials, alpha=0.01) > 1.0)
    seen = binom.sf(4, fitted, rarest) ** 2 * binom.sf(hits - 1, trials, rarest)
    assert seen == pytest.approx(SURE, abs=1e-6)
    assert rarest_event([4, 4], trials, 1.0, alpha=0.01) == 1.0
    assert rarest_event([fitted, held], trials, 50.0, alpha=0.01) == 1.0
    assert rarest < rarest_event([50, fitted, held], trials, 1.0, alpha=0.01)


def olh(value: int) -> tuple[int, int]:
    """Honest local hashing, which shows nothing to whoever does not know the hash function."""
    seed = random.getrandbits(32)
    bucket = zlib.crc32(f"{seed}:{value}".encode()) % 4
    return seed, bucket if random.random() < math.e / (math.e + 3) else random.randrange(4)


def test_an_audit_that_sees_nothing_says_so() -> None:
    found = run(CallableTarget(olh, 8, 1.0), "classifier", trials=5000, rng=hush.seeded(7))
    assert (found.verdict, found.violated) == ("inconclusive", False)
    assert "of the claim, where 50% must be proved, so nothing can be said of the claim of 1-LDP" in found.statement
    assert found.looked is not None
    assert found.looked.startswith("Tried: all 8 values, 2,000 reports each; 28 pairs compared;")
    assert "would have been found with probability 90%" in found.looked
    plain = found.to_dict()
    assert plain["verdict"] == "inconclusive"
    assert plain["power"]["probability"] == 0.9
    assert 0 < plain["power"]["rarest_event"] <= plain["power"]["rarest_event_of_one_value"] < 1
    assert plain["screening"]["rounds"] == [{"values": 8, "reports_each": 2000}]
    assert all(len(each["counts"]) == 2 for each in plain["tried"])


def test_the_share_that_is_required_decides() -> None:
    """About 0.9 of a claim of 1 is proved."""
    m = hush.GRR(k=4, epsilon=1.0)
    verdicts = [run(m, trials=20_000, require=share, rng=hush.seeded(7)).verdict for share in (0.5, 0.99)]
    assert verdicts == ["consistent", "inconclusive"]
    doubled = run(m, claim=2.0, trials=20_000, rng=hush.seeded(7))
    assert doubled.verdict == "inconclusive"  # half as private as it may be, or half seen: who knows?
    assert run(m, "exact", claim=2.0).verdict == "consistent"


def result(**more: object) -> AuditResult:
    plain = {"target": "it", "method": "classifier", "claim": Claim(1.0), "epsilon_lower": 0.9, "alpha": 0.01}
    return AuditResult(**{**plain, "trials": 1000, "witness": None, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({}, "consistent"),
        ({"epsilon_lower": 0.49}, "inconclusive"),
        ({"epsilon_lower": 0.49, "require": 0.4}, "consistent"),
        ({"power": Power(1.1, RARE)}, "consistent"),
        ({"power": Power(1.1, 1.01 * RARE)}, "inconclusive"),
        ({"power": Power(1.1, 1.01 * RARE), "claim": Claim(1.0, 0.001)}, "consistent"),
        ({"power": Power(1.1, RARE, 0.99)}, "consistent"),
        ({"power": Power(1.1, RARE, 1.0)}, "inconclusive"),
        ({"screening": Screening((0, 1), 99, ((99, 8),))}, "consistent"),
        ({"screening": Screening((0, 1), 99, ((90, 8),), untried=9)}, "inconclusive"),
        ({"epsilon_lower": 1.1}, "violation"),
        ({"epsilon_lower": 1.1, "power": Power(None, 1.0)}, "violation"),
        ({"epsilon_lower": 1.1, "dependence": "They depend."}, "inconclusive"),
        ({"epsilon_lower": 1.1, "memory": "It may remember."}, "violation"),
        ({"claim": None, "epsilon_lower": 0.0}, "measured"),
        ({"method": "exact", "epsilon_lower": 0.1}, "consistent"),
        ({"claim": Claim(0.0), "epsilon_lower": 0.0}, "consistent"),
    ],
)
def test_a_verdict_follows_its_rule(more: dict[str, object], verdict: str) -> None:
    found = result(**more)
    assert found.verdict == verdict
    assert (found.doubt is None) == (verdict != "inconclusive")
    assert ("nothing can be said" in found.statement) == (verdict == "inconclusive")


def test_runs_of_hits_have_the_law_that_is_tested() -> None:
    """All orders of five hits among twelve reports: the stated chance is at least the true one, and not much more."""
    chances = []
    for hits in itertools.combinations(range(12), 5):
        shown = np.isin(np.arange(12), hits)
        runs = Runs()
        for part in (shown[:3], shown[3:3], shown[3:]):
            runs.add(part)
        assert runs.runs == sum(at not in hits or at - 1 not in hits for at in hits)
        chances.append(runs.chance())
    for level in sorted(set(chances)):
        assert np.mean(np.array(chances) <= level) <= level + 1e-12
    assert min(chances) < 0.03


def test_reports_that_depend_on_each_other_prove_nothing() -> None:
    """A client that draws anew in one call of five only. Independent reports are called dependent once in 10^9."""
    kept = [0.0]

    def sticky(value: int) -> int:
        if random.random() < 0.2:
            kept[0] = random.random()
        return value if kept[0] < 0.5 else (value + 1) % 4

    found = run(CallableTarget(sticky, 4, 1.0), "classifier", trials=5000, rng=hush.seeded(7))
    assert found.verdict == "inconclusive"
    assert "are not independent of each other" in found.statement
    assert "seems to remember" in found.statement
    assert found.to_dict()["dependence"] == found.dependence
    turns = Runs()
    turns.add(np.arange(200) % 2 == 0)
    assert "take turns" in str(remembers({3: [turns]}))
    honest = run(CallableTarget(lambda v: grr(v, 4), 4, 1.0), "classifier", trials=5000, rng=hush.seeded(7))
    assert (honest.dependence, honest.memory) == (None, None)


def test_a_client_that_keeps_its_answers_is_not_called_false_without_a_word() -> None:
    memory: dict[int, int] = {}
    target = CallableTarget(lambda value: memory.setdefault(value, grr(value, 16)), 16, 1.0)
    found = run(target, "classifier", trials=2000, rng=hush.seeded(7))
    assert found.verdict == "violation"
    assert "were alike: the target does not randomize there, or it remembers its answers" in found.statement
    assert found.to_dict()["memory"] == found.memory
