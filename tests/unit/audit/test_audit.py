"""The auditor: what counts prove, that it is true, that it is nearly all there is, and that it survives interrupts."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import hush
from hush.audit import Claim, MechanismTarget, bounds, run
from hush.audit.checkpoint import Checkpoint
from hush.audit.events import best_threshold
from hush.errors import ParameterError, SpecError
from hush.testing import museum
from tests.conftest import NAMES, UTILITY, example


@pytest.mark.parametrize("trials", [1, 7, 40])
@pytest.mark.parametrize("tail", [0.01, 0.2])
def test_bounds_hold_for_every_probability(trials: int, tail: float) -> None:
    """Exact: the chance that the bound misses the truth is at most the tail, whatever the truth."""
    counts = range(trials + 1)
    lows, highs = ([f(c, trials, tail) for c in counts] for f in (bounds.lower, bounds.upper))
    assert lows == sorted(lows)
    assert highs == sorted(highs)
    for p in np.linspace(0.001, 0.999, 333):
        law = [math.comb(trials, c) * p**c * (1 - p) ** (trials - c) for c in counts]
        assert sum(w for w, low in zip(law, lows, strict=True) if low > p) <= tail + 1e-12
        assert sum(w for w, high in zip(law, highs, strict=True) if high < p) <= tail + 1e-12


def test_nothing_is_proved_by_nothing() -> None:
    assert bounds.epsilon_lower(0, 100, 0, 100) == 0.0
    assert bounds.epsilon_lower(50, 100, 100, 100) == 0.0
    assert bounds.epsilon_lower(10, 1000, 1, 1000, delta=0.5) == 0.0
    assert 0 < bounds.epsilon_lower(900, 1000, 100, 1000, delta=0.1) < bounds.epsilon_lower(900, 1000, 100, 1000)


RULES = {"alpha": 0.01, "delta": 0.0, "bound": "paper"}


def test_a_threshold_is_found_from_either_side() -> None:
    telling, other = math.log(0.5 / 0.01), math.log(0.5 / 0.99)  # an output of probability 1/2 or 1/100, and the rest
    often, seldom = np.repeat([telling, other], [500, 500]), np.repeat([telling, other], [10, 990])
    up = best_threshold(often, seldom, 1000, **RULES)  # type: ignore[arg-type]
    down = best_threshold(-seldom, -often, 1000, **RULES)  # type: ignore[arg-type]
    assert (up.swapped, down.swapped) == (False, True)
    assert up.promise == pytest.approx(down.promise)
    assert up.level == down.level == pytest.approx(telling, rel=1e-8)


def test_a_rare_telling_event_is_chosen_by_its_ratio() -> None:
    """Seen 40 times under the first value and by luck never under the second, where 40/e are due."""
    telling = np.repeat([1.0, -0.001], [40, 9960])
    found = best_threshold(telling, np.full(10_000, -0.001), 10**6, **RULES)  # type: ignore[arg-type]
    due = bounds.epsilon_lower(4000, 10**6, round(4000 / math.e), 10**6)
    assert found.promise == pytest.approx(due, abs=1e-3)


@pytest.mark.parametrize("bound", ["paper", "one-sided"])
@pytest.mark.parametrize(
    ("high", "low", "delta"), [(0.6, 0.2, 0.0), (0.9, 0.05, 0.1), (0.5, 0.5, 0.0), (1.0, 0.3, 0.0)]
)
def test_the_proved_loss_exceeds_the_truth_as_seldom_as_stated(
    bound: str, high: float, low: float, delta: float
) -> None:
    """Exactly: both counts are binomial, and every pair of them is weighed. Tails twice as lax would be seen."""
    trials, alpha = 60, 0.2
    truth = math.log((high - delta) / low)
    hits, false_hits = (binom.pmf(np.arange(trials + 1), trials, p) for p in (high, low))
    proved = np.array(
        [
            [
                bounds.epsilon_lower(a, trials, b, trials, alpha=alpha, delta=delta, bound=bound)
                for b in range(trials + 1)
            ]
            for a in range(trials + 1)
        ]
    )
    assert float(hits @ (proved > truth + 1e-12) @ false_hits) <= alpha
    tail = alpha / bounds.TAILS[bound]
    wrong = [
        float(hits @ [bounds.lower(a, trials, tail) > high for a in range(trials + 1)]),
        float(false_hits @ [bounds.upper(b, trials, tail) < low for b in range(trials + 1)]),
    ]
    assert max(wrong) <= tail


@pytest.mark.parametrize("method", ["likelihood", "classifier"])
def test_an_event_is_proved_on_other_reports_than_it_was_chosen_on(method: str) -> None:
    """Each of the four streams has a generator of its own: two that chose, two that were counted."""
    streams: list[bytes] = []

    class Watched(MechanismTarget):
        def draw(self, value: int, size: int, rng: np.random.Generator | None) -> np.ndarray:
            assert rng is not None
            streams.append(rng.bytes(16))
            return super().draw(value, size, rng)

    run(Watched(hush.GRR(k=3, epsilon=1.0)), method, trials=10_000, rng=hush.seeded(1))
    assert len(streams) == len(set(streams)) == 4


@pytest.mark.parametrize("name", ["GRR", "SS", "SUE", "OUE", "BLH", "OLH", "SHE", "THE", "Wheel", "HR", "AUE"])
def test_the_likelihood_ratio_proves_most_of_the_loss(name: str) -> None:
    """At 10^5 trials and k = 20; at 10^6 and k = 100 see the statistical tests."""
    m = example(name, 20, 1.0)
    found = run(m, trials=100_000, rng=hush.seeded(3))
    assert 0.8 * m.exact_epsilon() <= found.epsilon_lower <= m.exact_epsilon()
    assert found.verdict == "consistent"
    assert not found.violated
    assert found.epsilon_lower >= run(m, "attack", trials=100_000, rng=hush.seeded(3)).epsilon_lower - 0.05


@pytest.mark.parametrize("name", sorted({*NAMES, *UTILITY} - {"LHO"}))
def test_honest_mechanisms_pass_every_method(name: str) -> None:
    """False alarm: at most 1e-6 for each of three methods."""
    m = example(name, 10, 1.0, delta=1e-3)
    for method in ("likelihood", "attack", "classifier", "exact"):
        trials = 4000 if method == "classifier" else 20_000
        found = run(m, method, trials=trials, alpha=1e-6, rng=hush.seeded(1))
        assert not found.violated, found.statement
        assert found.verdict == "consistent" or method != "exact"


def test_hashing_alone_is_caught() -> None:
    m = hush.LHO(k=10, g=4)
    exact, sampled = run(m, "exact", claim=5.0), run(m, claim=5.0, trials=100_000, rng=hush.seeded(1))
    assert exact.epsilon_lower == math.inf
    assert exact.verdict == sampled.verdict == "violation"
    assert sampled.epsilon_lower > 9
    assert "infinite" in exact.statement


@pytest.mark.parametrize(
    ("broken", "pair"),
    [
        (museum.MissingResetOUE(k=10, epsilon=0.5), (0, 1)),
        (museum.MissingResetOUE(k=10, epsilon=2.0), (0, 1)),
        (museum.LastBitUnprotected(k=10, epsilon=1.0), (0, 9)),
        (museum.ShiftByOne(k=10, epsilon=1.0), (4, 5)),
    ],
)
def test_the_museum_is_rejected_by_the_likelihood_ratio(broken: hush.FrequencyOracle, pair: tuple[int, int]) -> None:
    found = run(broken, trials=200_000, alpha=1e-6, pair=pair, rng=hush.seeded(2))
    assert found.verdict == "violation"
    assert "is false" in found.statement
    assert found.witness is not None


def test_an_unsorted_subset_is_rejected_by_a_classifier() -> None:
    found = run(museum.TrueValueFirst(k=10, epsilon=1.0), "classifier", trials=60_000, alpha=1e-6, rng=hush.seeded(2))
    assert found.verdict == "violation"


@pytest.mark.parametrize("name", ["GRR", "SS", "OUE", "OLH", "SHE", "HR", "Wheel"])
def test_a_witness_shows_the_exact_loss(name: str) -> None:
    m = example(name, 6, 1.3)
    found = run(m, "exact")
    assert found.epsilon_lower == m.exact_epsilon()
    assert found.witness is not None
    assert found.witness.first != found.witness.second
    assert "e^1.3" in found.witness.event
    assert found.witness.report


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    m = hush.OLH(k=20, epsilon=1.0)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("HUSH_THREADS", threads)
        found.append(run(m, "attack", trials=400_000, rng=hush.seeded(9)))
    assert found[0] == found[1]
    assert run(m, "attack", trials=400_000, rng=hush.seeded(8)).counts != found[0].counts


def test_an_interrupted_audit_goes_on(tmp_path: Path) -> None:
    m, file = hush.OUE(k=10, epsilon=1.0), tmp_path / "audit.json"
    whole = run(m, trials=2_500_000, rng=hush.seeded(5))
    made: list[float] = []

    def interrupt(amount: float) -> None:
        made.append(amount)
        if len(made) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(m, trials=2_500_000, rng=hush.seeded(5), checkpoint=file, progress=interrupt)
    kept = json.loads(file.read_text())["streams"]["2"]
    assert kept[0] == 2 * 16 * 65_536
    assert not list(tmp_path.glob("*.part"))
    again = run(m, trials=2_500_000, rng=hush.seeded(5), checkpoint=file)
    assert again == whole
    with pytest.raises(SpecError, match="same audit"):
        run(m, trials=1_000_000, rng=hush.seeded(5), checkpoint=file)
    file.write_text("{}")
    with pytest.raises(SpecError, match="checkpoint must be"):
        run(m, trials=1_000_000, rng=hush.seeded(5), checkpoint=file)


LIES: list[tuple[str, object]] = [
    ("more hits than trials", [1800, 1801]),
    ("fewer than none", [1800, -1]),
    ("far too many", [1800, 10**30]),
    ("more trials than were asked for", [10**30, 5]),
    ("a few more", [1801, 5]),
    ("trials that end within a chunk", [1799, 5]),
    ("less than no trials", [-1800, -1800]),
    ("parts of a hit", [1800, 5.5]),
    ("a truth value", [1800, True]),
    ("a text", [1800, "5"]),
    ("no list", 1800),
    ("an empty list", []),
    ("another number of events", [1800, 5, 5]),
]


@pytest.mark.parametrize(("lie", "counts"), LIES, ids=[lie for lie, _ in LIES])
def test_a_checkpoint_that_cannot_have_been_counted_is_refused(tmp_path: Path, lie: str, counts: object) -> None:
    file, m = tmp_path / "audit.json", hush.OUE(k=10, epsilon=1.0)
    run(m, trials=2000, rng=hush.seeded(5), checkpoint=file)
    plain = json.loads(file.read_text())
    assert plain["streams"]["2"][0] == 1800
    for stream in ("2", "3"):
        file.write_text(json.dumps({**plain, "streams": {**plain["streams"], stream: counts}}))
        with pytest.raises(SpecError, match=r"checkpoint must .* remove it to start again"):
            run(m, trials=2000, rng=hush.seeded(5), checkpoint=file)


@pytest.mark.parametrize("content", ["[" * 100_000, "null", '{"audit": {"root": "x"}, "streams": {}}', "\0"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "audit.json"
    file.write_text(content)
    with pytest.raises(SpecError, match="that an audit wrote"):
        run(hush.OUE(k=10, epsilon=1.0), trials=2000, checkpoint=file)


def test_a_checkpoint_is_written_through_no_planted_link(tmp_path: Path) -> None:
    precious, file = tmp_path / "precious", tmp_path / "audit.json"
    precious.write_text("mine")
    (tmp_path / "audit.json.part").symlink_to(precious)
    run(hush.OUE(k=10, epsilon=1.0), trials=2000, checkpoint=file)
    assert precious.read_text() == "mine"
    assert json.loads(file.read_text())["streams"].keys() == {"2", "3"}
    assert not list(tmp_path.glob(".hush-*"))


def test_audits_at_once_keep_one_checkpoint(tmp_path: Path) -> None:
    """Each replaces the file whole, under a name of its own until then."""
    kept = [Checkpoint(tmp_path / "audit.json", {"root": i}) for i in range(4)]
    died: list[BaseException] = []

    def audit(mine: Checkpoint) -> None:
        try:
            for done in range(200):
                mine.save(2, done, [0])
        except BaseException as error:
            died.append(error)

    threads = [threading.Thread(target=audit, args=(each,)) for each in kept]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not died
    found = Checkpoint.read(tmp_path / "audit.json")
    assert found is not None
    assert found.streams == {"2": [199, 0]}
    assert [each.name for each in tmp_path.iterdir()] == ["audit.json"]


def test_without_a_seed_reports_are_those_of_real_clients() -> None:
    found = [run(hush.GRR(k=5, epsilon=1.0), trials=5000).counts for _ in range(3)]
    assert len(set(found)) > 1


def test_plain_data() -> None:
    plain = run(hush.GRR(k=5, epsilon=1.0), trials=5000, rng=hush.seeded(1)).to_dict()
    assert json.loads(json.dumps(plain))["verdict"] == "consistent"
    assert plain["confidence"] == 0.99
    assert plain["trials"] == 4500


def test_an_exact_audit_is_at_the_claims_delta() -> None:
    plain = run(hush.GRR(k=5, epsilon=2.0), "exact", claim=Claim(1.0, 0.5))
    p, q = hush.GRR(k=5, epsilon=2.0).p_star, hush.GRR(k=5, epsilon=2.0).q_star
    assert plain.epsilon_lower == pytest.approx(math.log((p - 0.5) / q))
    assert not plain.violated
    slack = hush.AGRR(k=5, epsilon=1.0, delta=0.01)
    pure = run(slack, "exact", claim=Claim(1.0))
    assert pure.epsilon_lower == pytest.approx(1.0247, abs=1e-4)
    assert pure.violated
    own = run(slack, "exact", claim=1.0)  # at its own delta
    assert (own.claim, own.violated) == (Claim(1.0, 0.01), False)
    assert own.about["delta_at_claimed_epsilon"] == pytest.approx(0.01)
    assert own.witness is not None
    assert "probability 0.410" in own.witness.event
    with pytest.raises(ParameterError, match="must be the mechanism's own, 0, where outputs are too many"):
        run(hush.OUE(k=40, epsilon=1.0), "exact", claim=Claim(1.0, 0.01))


def test_a_witness_can_be_replayed() -> None:
    m = hush.OUE(k=30, epsilon=1.3)
    witness = run(m, "exact").witness
    assert witness is not None
    assert witness.record is not None
    report = np.frombuffer(bytes.fromhex(witness.record), m.report_dtype)
    gap = m.log_prob(report, witness.first) - m.log_prob(report, witness.second)
    assert gap[0] == pytest.approx(m.exact_epsilon(), rel=1e-9)


def test_confidence_never_rounds_to_certainty() -> None:
    found = run(hush.GRR(k=3, epsilon=1.0), trials=1000, alpha=1e-6, rng=hush.seeded(1))
    assert "With confidence 1 - 1e-06" in found.statement


@pytest.mark.parametrize(
    ("other", "options", "words"),
    [
        (hush.OUE(k=8, epsilon=0.5), {}, "the same mechanism"),
        (museum.MissingResetOUE(k=8, epsilon=2.0), {}, "the same target"),
        (hush.OUE(k=8, epsilon=2.0), {"rng": hush.seeded(2)}, "the same seed"),
        (hush.OUE(k=8, epsilon=2.0), {"pair": (1, 2)}, "the same pair"),
    ],
)
def test_a_checkpoint_of_another_audit_is_refused(
    tmp_path: Path, other: hush.FrequencyOracle, options: dict[str, object], words: str
) -> None:
    path = tmp_path / "audit.json"
    run(hush.OUE(k=8, epsilon=2.0), trials=2000, checkpoint=path)
    with pytest.raises(SpecError, match=words):
        run(other, trials=2000, checkpoint=path, **options)  # type: ignore[arg-type]


def test_a_checkpoint_of_other_code_is_refused_and_a_finished_one_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, m = tmp_path / "audit.json", hush.OUE(k=8, epsilon=2.0)
    fresh = run(m, trials=2000, checkpoint=path)
    again = run(m, trials=2000, checkpoint=path)
    assert fresh.counts == again.counts
    assert not fresh.notes
    assert again.notes == ("All counts come from the checkpoint: no new report was made.",)
    other = hush.SUE(k=8, epsilon=2.0)
    monkeypatch.setattr(hush.OUE, "sample", lambda self, values, rng: other.sample(values, rng))
    with pytest.raises(SpecError, match="the same code"):
        run(m, trials=2000, checkpoint=path)


def test_a_claim_of_ones_own() -> None:
    m = hush.GRR(k=5, epsilon=2.0)
    assert run(m, claim=1.0, trials=50_000, rng=hush.seeded(1)).verdict == "violation"
    slack = run(m, claim=Claim(1.0, 0.5), require=0.3, trials=50_000, rng=hush.seeded(1))
    assert (slack.verdict, slack.epsilon_lower < 0.5) == ("consistent", True)  # its loss at this delta is 0.53
    assert run(hush.LHO(k=5, g=2), trials=5000, rng=hush.seeded(1)).verdict == "measured"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"method": "guess"}, "method"),
        ({"trials": 0}, "trials"),
        ({"trials": 10.5}, "trials"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"pair": (0, 0)}, "pair"),
        ({"pair": (0, 5)}, "pair"),
        ({"pair": (-1, 2)}, "pair"),
        ({"pair": (0, 1, 2)}, "pair"),
        ({"pair": ("a", "b")}, "pair"),
        ({"bound": "both"}, "bound"),
        ({"claim": -1.0}, "claim"),
        ({"claim": math.nan}, "claim"),
    ],
)
def test_bad_input_names_the_parameter(options: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} "):
        run(hush.GRR(k=5, epsilon=1.0), **{"trials": 2000, "rng": hush.seeded(1), **options})  # type: ignore[arg-type]


class TellsTheSensitive(hush.uRR):
    """Sends a sensitive value in the clear half of the time, marked as one that is not."""

    def privatize(self, values: object, *, rng: np.random.Generator | None = None) -> np.ndarray:
        reports = np.array(super().privatize(values, rng=rng))
        open_ = (np.arange(reports.size) % 2 == 0) & np.isin(values, self.sensitive or ())  # type: ignore[arg-type]
        reports["kind"][open_] = 1
        reports["value"][open_] = np.asarray(values)[open_]
        return reports


@pytest.mark.parametrize("pair", [(0, 1), (0, 4)])
@pytest.mark.parametrize("method", ["likelihood", "attack", "classifier"])
def test_a_sensitive_value_in_the_clear_is_a_violation(method: str, pair: tuple[int, int]) -> None:
    """False alarm 1e-6 for the honest one."""
    for cls, broken in ((TellsTheSensitive, True), (hush.uRR, False)):
        m = cls(k=6, epsilon=1.0, sensitive=range(3))
        found = run(m, method, trials=20_000, alpha=1e-6, pair=pair, rng=hush.seeded(3))
        assert found.violated == broken, found.statement


@pytest.mark.parametrize("method", ["likelihood", "exact"])
def test_what_is_uldp_is_not_ldp(method: str) -> None:
    m = hush.uSS(k=6, epsilon=1.0, sensitive=range(3))
    found = run(m, method, claim=Claim(1.0), pair=(4, 5), trials=20_000, rng=hush.seeded(3))
    assert found.verdict == "violation"
    assert found.epsilon_lower > 5
    assert not run(m, method, pair=(4, 5), trials=20_000, rng=hush.seeded(3)).violated
    assert str(Claim(1.0, 0.1, "ULDP")) == "(1, 0.1)-ULDP"
    with pytest.raises(ParameterError, match="kind must be LDP or ULDP"):
        Claim(1.0, 0.1, "RDP")
