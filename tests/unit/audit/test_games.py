"""Games: what a guesser's success proves, held against enumeration, exact error rates, and bugs that were shipped."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import hush
from hush.audit import SequenceTarget, TupleTarget, guessing, run
from hush.audit.games import GAMES, Changes, OneAttribute, Pools, Reidentification
from hush.audit.games.pools import inverted, mixed_loss
from hush.audit.target import MechanismTarget
from hush.errors import HushError, ParameterError
from hush.exact.enumeration import enumerated
from hush.longitudinal import LGRR, Repeated
from hush.multidim import RSFD, SMP, SPL
from hush.testing import museum


def channel(rng: np.random.Generator, secrets: int, outputs: int) -> np.ndarray:
    """A random law of outputs under each secret."""
    law = rng.dirichlet(np.full(outputs, 2.0), secrets)
    return law / law.sum(axis=1, keepdims=True)


def played(law: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """How often an attacker is right and wrong who guesses or says nothing at random, output by output."""
    secrets, outputs = law.shape
    says = rng.dirichlet(np.ones(secrets + 1), outputs)[:, :secrets]  # the rest is silence
    said = law @ says / secrets
    return float(np.trace(said)), float(said.sum() - np.trace(said))


@pytest.mark.parametrize("seed", range(20))
def test_the_inequality_for_random_laws_and_attackers(seed: int) -> None:
    """(m - 1) right <= e^epsilon wrong + (m - 1) delta, at every epsilon with its own delta."""
    rng = np.random.default_rng(seed)
    law = channel(rng, 2 + seed % 4, 6)
    right, wrong = played(law, rng)
    others = len(law) - 1
    worst = max(float(np.log(one / other).max()) for one, other in itertools.permutations(law, 2))
    for epsilon in (worst, 0.5 * worst, 0.0):
        pairs = itertools.permutations(law, 2)
        delta = max(float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum()) for one, other in pairs)
        assert others * right <= math.exp(epsilon) * wrong + others * delta + 1e-12
        best = float(law.max(axis=0).sum()) / len(law)
        assert best <= guessing.largest_success(epsilon, len(law), delta=delta) + 1e-12


@pytest.mark.parametrize("k", [2, 3, 7])
def test_randomized_response_reaches_the_largest_success(k: int) -> None:
    m = hush.GRR(k=k, epsilon=1.3)
    assert m.asr() == pytest.approx(guessing.largest_success(1.3, k), rel=1e-9)


def test_a_sampled_attribute_is_named_no_more_often() -> None:
    """SMP speaks of one attribute of three: the largest success is that of its own report, a third of the time."""
    m = SMP(sizes=(4, 4, 4), epsilon=1.0, mechanism="GRR")
    assert m.asr(0) == pytest.approx(guessing.largest_success(1.0, 4, share=1 / 3), rel=1e-9)


@pytest.mark.parametrize("bound", ["paper", "one-sided"])
@pytest.mark.parametrize(("secrets", "epsilon"), [(2, 0.5), (2, 3.0), (5, 1.0), (100, 2.0)])
@pytest.mark.parametrize("guesses", [1, 7, 60, 500])
def test_false_alarms_are_no_more_than_alpha_exactly(guesses: int, secrets: int, epsilon: float, bound: str) -> None:
    """The largest share of right guesses that the loss allows; every count with its exact probability."""
    share = guessing.largest_success(epsilon, secrets)
    right = np.arange(guesses + 1)
    proved = [guessing.epsilon_lower(int(x), guesses - int(x), 10**6, secrets, alpha=0.05, bound=bound) for x in right]
    alarms = binom.pmf(right, guesses, share)[np.array(proved) > epsilon * (1 + 1e-12)].sum()
    assert alarms <= (0.05 if bound == "one-sided" else 0.025) + 1e-12
    assert proved == sorted(proved)


def test_false_alarms_with_a_delta_exactly() -> None:
    """Right, wrong and silent games are multinomial; at the edge of (1, 0.1) for two secrets."""
    trials, epsilon, delta, wrong = 40, 1.0, 0.1, 0.15
    right = math.exp(epsilon) * wrong + delta
    alarms = 0.0
    for x in range(trials + 1):
        for y in range(trials + 1 - x):
            if guessing.epsilon_lower(x, y, trials, 2, alpha=0.1, delta=delta, bound="one-sided") > epsilon:
                alarms += binom.pmf(x, trials, right) * binom.pmf(y, trials - x, wrong / (1 - right))
    assert alarms <= 0.1


def test_nothing_is_proved_by_nothing() -> None:
    assert guessing.epsilon_lower(0, 0, 100, 2) == 0.0
    assert guessing.epsilon_lower(0, 50, 100, 2) == 0.0
    assert guessing.epsilon_lower(50, 50, 100, 2) == 0.0
    assert guessing.epsilon_lower(3, 0, 100, 2, delta=0.5) == 0.0
    assert 0 < guessing.epsilon_lower(1000, 0, 1000, 2) < 10


def test_when_to_guess_is_chosen_by_what_it_proves() -> None:
    """One game in ten is sure, nine in vain: guessing always proves next to nothing."""
    right = np.array([True] * 1000 + [True, False] * 4500)
    odds = np.where(np.arange(10_000) < 1000, 5.0, 0.0)
    assert guessing.best_level(right, odds, 90_000, 2) == pytest.approx(5.0, abs=1e-6)
    assert guessing.best_level(right, np.full(10_000, np.inf), 90_000, 2) <= np.inf


def test_a_lucky_level_is_not_believed_but_one_that_leaks_is() -> None:
    """Of forty guesses at the higher odds 22 should be wrong; with 12, luck would look like a loss of almost 2."""
    odds = np.repeat([0.8, 0.7], [40, 10_000])
    wrong = np.arange(10_000) < round(10_000 / (1 + math.exp(0.7) / 3))
    lucky = np.concatenate([np.arange(40) >= 12, ~wrong])
    assert guessing.best_level(lucky, odds, 90_000, 4) == pytest.approx(0.7, abs=1e-6)
    leaking = np.concatenate([np.full(40, True), ~wrong])
    assert guessing.best_level(leaking, odds, 90_000, 4) == pytest.approx(0.8, abs=1e-6)


def test_what_would_have_been_found_is_found() -> None:
    """The smallest share proves with probability 0.9, exactly, and a smaller one does not."""
    guesses, claim = 400, 1.0
    proves: Callable[[int], bool] = lambda right: guessing.epsilon_lower(right, guesses - right, 400, 2) > claim  # noqa: E731
    share = guessing.smallest_share(guesses, proves)
    assert share is not None
    least = next(x for x in range(guesses + 1) if proves(x))
    assert binom.sf(least - 1, guesses, share) == pytest.approx(0.9, abs=1e-9)
    assert guessing.smallest_share(0, proves) is None
    assert guessing.smallest_share(3, proves) is None


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_loss_between_habits_is_the_worst_of_all_sets(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    one, other = rng.dirichlet(np.ones(5), 2)
    sets = [np.array(each) for each in itertools.product([0.0, 1.0], repeat=5)]
    worst = max(
        math.log((1 + math.expm1(epsilon) * one @ inside) / (1 + math.expm1(epsilon) * other @ inside))
        for inside in sets
    )
    assert mixed_loss(epsilon, one, other) == pytest.approx(worst, rel=1e-12)
    for _ in range(200):  # no law with that loss between values exceeds it
        law = rng.uniform(1.0, math.exp(epsilon), 5)
        assert math.log((law @ one) / (law @ other)) <= worst + 1e-12


def test_inverting_goes_there_and_back() -> None:
    assert inverted(lambda x: x**3, 8.0, 0.1) == pytest.approx(2.0, rel=1e-12)
    assert inverted(lambda x: x, 0.0, 0.0) == 0.0
    assert inverted(lambda x: min(x, 1.0), 5.0, 0.5) >= 350


def law_of(m: hush.GRR) -> np.ndarray:
    (listing,) = enumerated(m)
    return np.array(listing.weights, dtype=np.float64) / m.denominator


@pytest.mark.parametrize("rounds", [2, 3, 4])
def test_the_loss_of_a_change_by_enumeration(rounds: int) -> None:
    """Every sequence of reports under both mixtures of histories: the game's bound holds, and its inverse is sound."""
    m = hush.GRR(k=3, epsilon=1.0)
    law, k = law_of(m), 3
    stays = [(v,) * rounds for v in range(k)]
    moves = [(v,) * t + (w,) * (rounds - t) for v in range(k) for w in range(k) if w != v for t in range(1, rounds)]

    def mixture(histories: list[tuple[int, ...]], sequence: tuple[int, ...]) -> float:
        chances = [math.prod(law[y, v] for y, v in zip(sequence, held, strict=True)) for held in histories]
        return sum(chances) / len(chances)

    ratios = [
        abs(math.log(mixture(moves, each) / mixture(stays, each)))
        for each in itertools.product(range(k), repeat=rounds)
    ]
    game = Changes().of(SequenceTarget(Repeated(m, rounds)))
    assert game.implied(max(ratios), 0.0) <= rounds * 1.0 + 1e-9
    assert game.implied(max(ratios), 0.0) > 0.2 * rounds


@pytest.mark.parametrize("loyalty", [1.0, 0.6])
def test_the_loss_between_pools_by_enumeration(loyalty: float) -> None:
    m = hush.SS(k=4, epsilon=1.0)
    game = Pools(loyalty=loyalty).of(SequenceTarget(Repeated(m, 3)))
    mixed = law_of(m) @ game.behaviour.T
    loss = 3 * float(np.abs(np.log(mixed[:, 0] / mixed[:, 1])).max())
    assert game.implied(loss, 0.0) <= 3.0 + 1e-9
    singles = Pools(((0,), (1,))).of(MechanismTarget(hush.GRR(k=4, epsilon=1.0)))
    assert singles.implied(1.0, 0.0) == pytest.approx(1.0, rel=1e-9)


def test_outcomes_have_the_exact_success() -> None:
    """Six standard errors, 2·10⁻⁹ under the normal law; the odds foretell the same."""
    m = hush.OUE(k=6, epsilon=1.0)
    game = Pools(3).of(MechanismTarget(m))
    outcomes = game.draw(0, 50_000, hush.seeded(5))
    expected = hush.attacks.inference.attribute(m, 3).rate
    assert abs(outcomes["right"].mean() - expected) < 6 * math.sqrt(expected * (1 - expected) / 50_000)
    sure = 1 / (1 + 2 / np.exp(outcomes["odds"]))
    assert abs(sure.mean() - expected) < 6 * sure.std() / math.sqrt(50_000)


TIGHT = [
    (hush.GRR(k=2, epsilon=1.0), "pools", 0.9),
    (Repeated(hush.GRR(k=2, epsilon=0.5), 2), "changes", 0.05),
    (SPL(sizes=(2, 3), epsilon=2.0), "attributes", 0.9),
    (SMP(sizes=(3, 3), epsilon=1.0), OneAttribute(attribute=1), 0.85),
    (RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR"), Reidentification(people=4), 0.6),
    (SMP(sizes=(2, 2), epsilon=1.0, mechanism="GRR"), Reidentification(people=4, collections=2), 0.5),
]


@pytest.mark.parametrize(("target", "method", "share"), TIGHT)
def test_honest_mechanisms_keep_their_claims(target: object, method: object, share: float) -> None:
    """An alpha of 10⁻⁹ for each; and most of the loss is proved."""
    found = run(target, method, trials=60_000, alpha=1e-9, rng=hush.seeded(7))  # type: ignore[arg-type]
    assert not found.violated
    assert found.claimed is not None
    assert share * found.claimed < found.epsilon_lower < found.claimed
    assert found.counts == (found.about["right"], found.about["guesses"] - found.about["right"])
    assert found.to_dict()["witness"]["event"] in str(found.witness)


FOUND = [
    (museum.MissingResetOUE(k=4, epsilon=1.0), "pools"),
    (museum.MissingResetSUE(k=4, epsilon=1.0), "pools"),
    (museum.LastBitUnprotected(k=4, epsilon=1.0), "pools"),
    (museum.TwinBits(k=4, epsilon=1.0), "pools"),
    (museum.ShiftByOne(k=4, epsilon=1.0), Pools(4)),
    (museum.LastNeverFake(k=4, epsilon=1.0), Pools(((0,), (3,)))),
    (museum.LouderHashing(k=4, epsilon=1.0), Pools(4)),
    (museum.LouderNoise(k=4, epsilon=1.0), Pools(4)),
    (Repeated(museum.LastBitUnprotected(k=4, epsilon=1.0), 2), "changes"),
    (Repeated(museum.TwinBits(k=4, epsilon=1.0), 2), "changes"),
]


@pytest.mark.parametrize(("bug", "method"), FOUND)
def test_bugs_that_were_shipped_are_found(bug: object, method: object) -> None:
    found = run(bug, method, trials=200_000, alpha=1e-6, rng=hush.seeded(7))  # type: ignore[arg-type]
    assert found.verdict == "violation", str(found)


def test_answers_that_are_kept_lose_more_where_values_change() -> None:
    kept = SequenceTarget(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 6)
    found = run(kept, "changes", trials=40_000, alpha=1e-6, rng=hush.seeded(7))
    assert found.claimed is not None
    assert found.claimed > 2.0
    assert 0.5 < found.epsilon_lower < found.claimed
    assert "may change" in found.unit
    claimed = run(kept, "changes", trials=40_000, claim=0.5, alpha=1e-6, rng=hush.seeded(7))
    assert claimed.verdict == "violation"


def test_a_delta_is_allowed_for() -> None:
    m = hush.AGRR(k=4, epsilon=1.0, delta=0.05)
    found = run(m, "pools", trials=50_000, alpha=1e-6, rng=hush.seeded(7))
    assert not found.violated
    assert 0 < found.epsilon_lower < 1.0
    assert found.about["delta"] == 0.05


def test_an_interrupted_game_goes_on(tmp_path: Path) -> None:
    m, file = hush.GRR(k=4, epsilon=1.0), tmp_path / "game.json"
    first = run(m, "pools", trials=50_000, rng=hush.seeded(7), checkpoint=file)
    again = run(m, "pools", trials=50_000, rng=hush.seeded(7), checkpoint=file)
    assert again.counts == first.counts
    assert "no new game" in " ".join(again.notes)
    with pytest.raises(HushError, match="checkpoint"):
        run(m, Pools(4), trials=50_000, rng=hush.seeded(7), checkpoint=file)


REFUSED = [
    (hush.GRR(k=4, epsilon=1.0), "changes", "method"),
    (hush.GRR(k=4, epsilon=1.0), "attributes", "method"),
    (hush.GRR(k=4, epsilon=1.0), "reidentification", "method"),
    (Repeated(hush.GRR(k=4, epsilon=1.0), 1), "changes", "method"),
    (SMP(sizes=(2, 3), epsilon=1.0), "pools", "method"),
    (hush.audit.CallableTarget(lambda v: v, k=4, claim=1.0), "pools", "method"),
    (hush.uRR(k=4, epsilon=1.0, sensitive=(0, 1)), "pools", "method"),
    (SequenceTarget(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0), 3), "pools", "method"),
    (hush.GRR(k=4, epsilon=1.0), Pools(1), "pools"),
    (hush.GRR(k=4, epsilon=1.0), Pools(5), "pools"),
    (hush.GRR(k=4, epsilon=1.0), Pools(((0,), (7,))), "values"),
    (hush.GRR(k=4, epsilon=1.0), Pools(loyalty=2.0), "loyalty"),
    (hush.GRR(k=4, epsilon=1.0), Pools(loyalty=0.0), "loyalty must be above 0"),
    (SMP(sizes=(2, 3), epsilon=1.0), OneAttribute(2), "attribute"),
    (SMP(sizes=(2, 3), epsilon=1.0), Reidentification(people=1), "people"),
    (SMP(sizes=(2, 3), epsilon=1.0), Reidentification(collections=0), "collections"),
    (TupleTarget(SMP(sizes=(2, 3), epsilon=1.0), 1), "reidentification", "changed"),
    (hush.GRR(k=4, epsilon=1.0), "nonsense", "method"),
]


@pytest.mark.parametrize(("target", "method", "named"), REFUSED)
def test_what_cannot_be_played_is_refused(target: object, method: object, named: str) -> None:
    with pytest.raises(HushError, match=named):
        run(target, method, trials=1000)  # type: ignore[arg-type]


def test_habits_that_hardly_differ_would_show_no_loss_however_large() -> None:
    """Of four pools, a tenth of whose values are their own, no report is more than 1.45 times likelier under one."""
    game = Pools(4, loyalty=0.1)
    assert game.of(MechanismTarget(hush.GRR(k=4, epsilon=40.0))).largest == pytest.approx(math.log(0.325 / 0.225))
    found = run(hush.OUE(k=16, epsilon=1.0), game, trials=2000, rng=hush.seeded(7))
    assert found.power is not None
    assert found.power.loss is None
    telling = run(hush.OUE(k=16, epsilon=1.0), Pools(4), trials=2000, rng=hush.seeded(7))
    assert telling.power is not None
    assert telling.power.loss is not None


def test_a_pair_is_of_no_use_to_a_game() -> None:
    with pytest.raises(ParameterError, match="pair"):
        run(hush.GRR(k=4, epsilon=1.0), "pools", trials=1000, pair=(0, 1))


def test_every_game_has_words() -> None:
    from hush.reports import audit_in_words

    assert set(audit_in_words.GAMES) == set(GAMES)


@pytest.mark.parametrize(("k", "pools", "loyalty"), [(7, 3, 0.8), (12, 5, 1.0), (9, 9, 0.5), (10, 4, 0.1)])
def test_pools_of_a_size_stand_for_each_other(k: int, pools: int, loyalty: float) -> None:
    """The largest loss over all pairs of pools, and not over a few of them."""
    game = Pools(pools=pools, loyalty=loyalty).of(MechanismTarget(hush.GRR(k=k, epsilon=1.0)))
    for epsilon in (0.1, 1.0, 5.0):
        every = [mixed_loss(epsilon, one, other) for one, other in itertools.permutations(game.behaviour, 2)]
        assert game.between(epsilon) == pytest.approx(max(every), abs=1e-12)
