"""`hush capacity`: the smallest budget that tells a total from a capacity."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import hush
from hush.cli.asked import capacity as asks
from hush.planning import capacity, capri
from hush.reports.budgeted import capacity_figure
from tests.system.support import COIN, answer, refused, remember, run, shell, write_csv

pytestmark = pytest.mark.xdist_group("capacity")  # one process remembers the answers

COUNTS = np.rint(9800 * np.exp(-0.5 * ((np.arange(21) - 9) / 4) ** 2) / 10).astype(int)
TOTAL = int(np.arange(21) @ COUNTS)
CAP = int(0.9 * TOTAL)


@pytest.fixture(scope="module", autouse=True)
def _answered_once() -> Iterator[None]:
    with remember((capri, "capacity"), (capri, "first_rounds"), (capri, "over_time"), (capri, "exposure")):
        yield


@pytest.fixture
def water(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "water.csv", {"value": list(range(21)), "count": COUNTS.tolist()})


def asked(file: Path, *more: object, mechanism: str = "GRR", cap: float = CAP) -> tuple[object, ...]:
    usual = {"--mechanism": mechanism, "--cap": cap}
    left = [word for option, value in usual.items() if option not in more for word in (option, value)]
    return ("capacity", *left, "--counts", file, "--seed", 7, *more)


def test_the_answer_is_the_librarys(water: Path) -> None:
    told = answer(*asked(water, "--outcome", "fn", "--probability", 0.01))
    found = capacity("GRR", COUNTS, cap=CAP, metric="fn", threshold=0.01, rng=hush.seeded(7))
    assert (told["epsilon"], told["probability"]) == (found.epsilon, found.probability)
    assert (told["total"], told["n"]) == (TOTAL, COUNTS.sum())
    assert told["confirmation"]["hits"] == found.confirmation.hits  # type: ignore[union-attr]
    assert told["law"] == "exact"
    prior = COUNTS / COUNTS.sum()
    seen = capri.exposure(hush.GRR(k=21, epsilon=told["epsilon"]), capri.population(COUNTS), prior=prior)
    assert told["exposure"] == seen.to_dict()
    assert told["exposure"]["blind"] == pytest.approx(prior.max())
    assert told["first_rounds"] is None


def test_what_a_manager_reads_comes_first(water: Path) -> None:
    told = run(*asked(water, "--probability", "1%", "--outcome", "fn", "--limit", 4))
    assert told.exit_code == 0
    first = told.stdout.splitlines()[0]
    assert first.startswith("GRR with ε = ")
    assert f"the true total, {TOTAL:,}, exceeds the capacity of {CAP:,}, the estimate misses that with" in first
    assert "which is below 0.01" in first
    for words in ("collections that were simulated", "names its sender's amount", "(precision)", "(recall)", "F = 0."):
        assert words in told.stdout
    epsilon = first.split("ε = ")[1].split()[0]
    assert f"For each person that means {epsilon}-LDP, a report being at most" in told.stdout
    assert "where always naming the most frequent one does 10.1 %" in told.stdout
    for words in ("Pr[FN]", "Cantelli", "Chebyshev", "● enough", "too little", "seed 7"):
        assert words in told.stdout


def test_one_budget_is_one_number_everywhere(water: Path, tmp_path: Path) -> None:
    spec = tmp_path / "s.json"
    told = answer(*asked(water, "--probability", 0.01, "--spec-out", spec))
    shown = run(*asked(water, "--probability", 0.01)).stdout
    said = shown.split("ε = ")[1].split()[0]
    assert float(said) == told["epsilon"] == hush.Spec.from_json(spec.read_text()).mechanism.epsilon
    assert told["guarantee"] == f"{said}-LDP"
    found = capacity("GRR", COUNTS, cap=CAP, threshold=0.01, rng=hush.seeded(7))
    assert f"ε = {said} is enough" in str(capacity_figure(found, found.evidence).get_suptitle())
    rows = [line.split()[0] for line in shown.split("──\n")[1].splitlines()[:-1]]
    assert said in rows
    assert len(set(rows)) == len(rows) > 5
    assert f"ε = {said} is enough" in shown
    assert "Pr[wrong]" in shown
    assert "Cantelli, Pr[wrong]" in shown


def test_json_has_no_interval_without_runs_and_no_bound_above_one(water: Path) -> None:
    told = answer(*asked(water, "--probability", 0.01, mechanism="SS"))
    assert told["confirmation"] is None  # too slow to draw for enough of them
    assert told["interval"] is None
    assert max(e["chebyshev"] for e in told["evidence"]) == 1.0
    assert max(e["cantelli"] for e in told["evidence"]) <= 1.0


@pytest.mark.parametrize("mechanism", ["Duchi", "Piecewise", "Hybrid"])
def test_means_are_confirmed_by_enough_collections(water: Path, mechanism: str) -> None:
    seen = answer(*asked(water, "--probability", 0.01, mechanism=mechanism))["confirmation"]
    assert seen["runs"] == 2000
    assert seen["high"] < 0.02


def test_a_guess_that_is_never_made_is_told(water: Path) -> None:
    shown = run(*asked(water, "--probability", 0.01, "--limit", 0, mechanism="Duchi")).stdout
    assert "Nobody is guessed to be at or below 0 (recall 0 %)." in shown
    assert "Nobody is at or below -1." in run(*asked(water, "--probability", 0.01, "--limit", -1)).stdout


def test_where_more_is_worse_that_is_said(tmp_path: Path) -> None:
    few = write_csv(tmp_path / "few.csv", {"value": [0, 1, 2, 3], "count": [20, 40, 20, 10]})
    wish = ("capacity", "--mechanism", "OUE", "--counts", few, "--cap", 60, "--probability", 0.05, "--seed", 7)
    told = answer(*wish)
    assert told["epsilon"] <= 2.131
    worse = max(e["epsilon"] for e in told["evidence"] if not e["satisfied"])
    assert worse > told["epsilon"]
    assert f"More is not always better here, since estimates are coarse: ε = {worse} is not enough" in run(*wish).stdout


@pytest.mark.parametrize(
    ("metric", "share", "threshold", "words"),
    [
        ("fn", 0.9, 0.05, "misses that with probability 0.0"),
        ("error", 0.9, 0.05, "decides wrongly with probability 0.0"),
        ("tp", 0.9, 0.95, "raises the alarm, as it should, with probability 0.95"),
        ("fp", 1.1, 0.05, "raises a false alarm with probability 0.0"),
        ("tn", 1.1, 0.95, "gives the all-clear, as it should, with probability 0.95"),
    ],
)
def test_every_outcome_can_be_bounded(water: Path, metric: str, share: float, threshold: float, words: str) -> None:
    told = run(*asked(water, "--outcome", metric, "--probability", threshold, cap=share * TOTAL))
    assert told.exit_code == 0, told.output
    assert words in told.stdout


@pytest.mark.parametrize("method", ["capri", "CAPRI-R", "bayes"])
def test_simulated_searches_come_near(water: Path, method: str) -> None:
    if method == "bayes":
        pytest.importorskip("sklearn")
    exact = answer(*asked(water, "--probability", 0.01))
    told = answer(*asked(water, "--probability", 0.01, "--method", method))
    assert told["epsilon"] == pytest.approx(exact["epsilon"], rel=0.03)
    shown = run(*asked(water, "--probability", 0.01, "--method", method)).stdout
    if told["raised"] is None:
        assert "of 50,000 simulated collections, which is below 0.01 (the exact probability is " in shown
    else:
        assert f"simulated collections ended the search at {told['raised']:.4g}, which is too little" in shown
    assert told["probability"] < 0.01
    assert len(shown.splitlines()) < 30


def test_bounds_cost_more(water: Path) -> None:
    found = {m: answer(*asked(water, "--probability", 0.01, "--method", m)) for m in ("exact", "cantelli", "chebyshev")}
    assert found["exact"]["epsilon"] < found["cantelli"]["epsilon"] < found["chebyshev"]["epsilon"]
    assert "by Cantelli's bound" in run(*asked(water, "--probability", 0.01, "--method", "cantelli")).stdout


def test_means_need_less(water: Path) -> None:
    frequencies = answer(*asked(water, "--probability", 0.01))
    for mechanism in ("duchi", "Piecewise", "Hybrid"):
        mean = answer(*asked(water, "--probability", 0.01, mechanism=mechanism))
        assert mean["reading"] == "mean"
        assert mean["epsilon"] < frequencies["epsilon"]
    coarse = answer(*asked(water, "--probability", 0.01, "--set", "steps=4", mechanism="Duchi"))
    fine = answer(*asked(water, "--probability", 0.01, mechanism="Duchi"))
    assert coarse["epsilon"] == pytest.approx(fine["epsilon"], rel=1e-3)  # one bit is as noisy on any grid


def test_amounts_are_a_column_labels_or_places(tmp_path: Path) -> None:
    rows = {"count": [300, 400, 500]}
    wish = ("--mechanism", "GRR", "--probability", 0.1, "--seed", 7, "--outcome", "error", "--cap", 5000)
    valued = write_csv(tmp_path / "v.csv", {"label": ["a", "b", "c"], "value": [0, 10, 2.5], **rows})
    labelled = write_csv(tmp_path / "l.csv", {"label": ["0", "10", "2.5"], **rows})
    plain = write_csv(tmp_path / "p.csv", rows)
    found = [answer("capacity", "--counts", file, *wish) for file in (valued, labelled, plain)]
    assert [each["total"] for each in found] == [5250, 5250, 1400]
    assert found[0]["epsilon"] == found[1]["epsilon"]


def test_outliers_are_clipped(water: Path) -> None:
    told = run(*asked(water, "--probability", 0.01, "--clip-above", 17, mechanism="OUE"))
    assert "people were clipped, which takes" in told.stdout
    whole = answer(*asked(water, "--probability", 0.01, mechanism="OUE"))
    clipped = answer(*asked(water, "--probability", 0.01, "--clip-above", 17, mechanism="OUE"))
    assert clipped["epsilon"] < whole["epsilon"]
    assert clipped["total"] == whole["total"] == TOTAL
    assert clipped["clipped"] == COUNTS[18:].sum()
    both = run(*asked(water, "--probability", 0.01, "--clip-above", 17, "--first", 2, mechanism="OUE"))
    assert f"{COUNTS[18:].sum():,} people were clipped, in either round." in both.stdout


def test_a_first_round_adds_up(water: Path) -> None:
    told = answer(*asked(water, "--probability", 0.01, "--outcome", "error", "--first", 2, mechanism="OUE"))
    found = capri.first_round("OUE", COUNTS, first=2.0, cap=CAP, metric="error", threshold=0.01, rng=hush.seeded(7))
    assert told["epsilon"] == found.epsilon
    assert told["spent"] == 2
    assert told["total_epsilon"] == told["epsilon"] + 2
    shown = run(*asked(water, "--probability", 0.01, "--outcome", "error", "--first", 2, mechanism="OUE")).stdout
    assert f"OUE with ε = {told['epsilon']} is enough for the people that the first round saw" in shown
    assert "is enough." not in shown
    assert "as the first round estimates it" in shown
    assert "With the first round's 2, a person spends" in shown
    assert f"For the people as they are, whose total is {TOTAL:,}, that probability is " in shown
    assert f"the wish is {'kept' if told['truth']['satisfied'] else 'not kept'}" in shown
    assert "simulated at this budget, of the people as they are, " in shown
    rounds = told["first_rounds"]
    assert (rounds[0]["epsilon"], rounds[0]["truth"]) == (told["epsilon"], told["truth"])
    budgets = [each["epsilon"] for each in rounds if each["epsilon"] is not None]
    kept = sum(each["truth"]["satisfied"] for each in rounds if each["truth"])
    assert len(rounds) == 20
    assert f"Of {len(rounds)} that were simulated, {len(budgets)} found a budget, from ε = {min(budgets)}" in shown
    assert f"to {max(budgets)}, and {kept or 'none'} of these budgets keep the wish" in shown


def test_one_first_round_is_enough_where_a_plan_takes_long(water: Path) -> None:
    told = answer(*asked(water, "--probability", 0.1, "--first", 3, mechanism="SHE"))
    assert len(told["first_rounds"]) == 1


def test_an_earlier_collection_is_planned_from(tmp_path: Path) -> None:
    people = [i % 4 for i in range(4000)]
    file, reports = write_csv(tmp_path / "p.csv", {"v": people}), tmp_path / "r.parquet"
    run("privatize", file, "--column", "v", "--k", 4, "--mechanism", "OUE", "--epsilon", 3, "-o", reports)
    told = answer("capacity", "--mechanism", "OUE", "--earlier", reports, "--cap", 5000, "--probability", 0.05)
    assert told["n"] == 4000
    assert abs(told["total"] - 6000) < 600
    assert told["total_epsilon"] == told["epsilon"] + 3
    wish = ("capacity", "--mechanism", "Duchi", "--earlier", reports, "--cap", 5000, "--probability", 0.05)
    assert "is enough for the people that the earlier round saw" in run(*wish).stdout
    assert "--first must be left out beside --earlier" in refused(*wish, "--first", 1)


def test_the_picture_is_drawn(water: Path, tmp_path: Path) -> None:
    for i, more in enumerate((("--outcome", "fn", "--probability", 0.01), ("--outcome", "tn", "--probability", 0.1))):
        picture = tmp_path / f"{i}.png"
        run(*asked(water, *more, "--png", picture))
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_shows_exact_and_bounds() -> None:
    found = capacity("GRR", COUNTS, cap=CAP, threshold=0.01, rng=hush.seeded(7))
    curve = sorted(found.evidence, key=lambda e: e.epsilon)
    axes = capacity_figure(found, curve).axes[0]
    drawn = {line.get_label(): np.asarray(line.get_ydata(), float) for line in axes.get_lines()}
    exact = np.array([e.exact for e in curve], float)
    seen = exact > 1e-12
    assert np.allclose(drawn["exact"][seen], exact[seen])
    assert np.allclose(drawn["Cantelli's bound"], [min(e.cantelli, 1) for e in curve])
    assert np.allclose(drawn["Chebyshev's bound"], [min(e.chebyshev, 1) for e in curve])
    assert (drawn["exact"][seen] <= drawn["Cantelli's bound"][seen]).all()
    assert axes.get_ylabel() == "Pr[wrong]"
    assert axes.get_yscale() == "log"


def test_no_budget_leaves_with_one(water: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    told = run(*asked(water, "--probability", 0.01, "--png", picture, cap=TOTAL - 1))
    assert told.exit_code == 1
    assert "No budget is enough for GRR" in told.stdout
    assert "not even ε = 10 does" in told.stdout
    assert picture.exists()
    for metric in ("error", "fn", "fp", "tp", "tn"):
        same = refused(*asked(water, "--probability", 0.01, "--outcome", metric, cap=TOTAL))
        assert "--cap must differ from the true total, since an estimate is then as often above as below" in same
        assert "move it by one unit to the side that shall count" in same
    assert "--cap must differ" in refused(*asked(water, "--probability", 0.01, "--first", 1, cap=TOTAL))
    plain = run(*asked(water, "--probability", 0.01, "--json", cap=TOTAL - 1))
    assert plain.exit_code == 1
    assert '"exposure": null' in plain.stdout


def test_what_cannot_happen_is_said(water: Path) -> None:
    told = run(*asked(water, "--probability", 0.01, "--outcome", "fn", cap=2 * TOTAL))
    assert told.exit_code == 0
    assert "Any budget is enough, even ε = 0.001" in told.stdout
    assert "there can be no false negative. With --outcome error" in told.stdout


def test_a_law_that_is_not_exact_is_told(water: Path) -> None:
    wish = asked(water, "--probability", 0.1, mechanism="MSS")
    assert "The law of MSS's estimate is known nearly, not exactly" in run(*wish).stdout
    told = answer(*wish)
    assert told["law"] == "near"
    assert {e["exact"] for e in told["evidence"]} == {None}
    assert "not exactly" not in run(*asked(water, "--probability", 0.1)).stdout


def test_only_what_is_sensitive_is_protected(water: Path, tmp_path: Path) -> None:
    spec = tmp_path / "u.json"
    wish = asked(water, "--probability", 0.01, "--sensitive", "0-4,9", "--spec-out", spec, mechanism="uSS")
    told = answer(*wish)
    assert told["law"] == "near"
    pairs = answer(*wish, "--set", "reveal=pair")
    assert (pairs["law"], pairs["epsilon"] > told["epsilon"]) == ("exact", True)
    told = answer(*wish)  # writes its spec again
    assert told["guarantee"].endswith("ULDP for 6 sensitive values")
    read = hush.Spec.from_json(spec.read_text())
    assert (read.hash, read.mechanism.epsilon) == (told["spec_hash"], told["epsilon"])
    assert read.domain.sensitive == (0, 1, 2, 3, 4, 9)
    assert told["epsilon"] < answer(*asked(water, "--probability", 0.01, mechanism="uSS"))["epsilon"]
    assert "Only the 6 sensitive values are protected" in run(*wish).stdout
    assert "--sensitive must be left out for GRR" in refused(*asked(water, "--probability", 0.01, "--sensitive", "1"))


def test_the_spec_is_that_of_the_answer(tmp_path: Path) -> None:
    amounts = write_csv(tmp_path / "a.csv", {"value": [0, 10, 25, 400], "count": [500, 700, 300, 4]})
    spec = tmp_path / "s.json"
    wish = ("--outcome", "error", "--cap", 13_000, "--probability", 0.05, "--seed", 7)
    told = answer("capacity", "--counts", amounts, *wish, "--clip-above", 50, "--mechanism", "GRR", "--spec-out", spec)
    read = hush.Spec.from_json(spec.read_text())
    assert read.mechanism == hush.GRR(k=3, epsilon=told["epsilon"])
    assert read.domain.labels == (0, 10, 25)
    clipped = ("--clip-above", 50, "--sensitive", "400", "--mechanism", "uRR", "--spec-out", spec)
    answer("capacity", "--counts", amounts, *wish, *clipped)
    assert hush.Spec.from_json(spec.read_text()).domain.sensitive == (2,)  # who is clipped reports 25
    mean = ("--outcome", "error", "--cap", 5000, "--probability", 0.05, "--seed", 7)
    told = answer("capacity", "--counts", amounts, *mean, "--mechanism", "Duchi", "--spec-out", spec)
    from hush import from_dict

    assert from_dict(json.loads(spec.read_text())).epsilon == told["epsilon"]
    before = spec.read_bytes()
    near = run("capacity", "--counts", amounts, "--cap", 16_099, "--probability", 0.001, "--mechanism", "GRR",
               "--max-epsilon", 1, "--spec-out", spec)  # fmt: skip
    assert near.exit_code == 1
    assert "no spec was written" in near.stderr
    assert spec.read_bytes() == before


@pytest.fixture
def days(tmp_path: Path) -> Path:
    rows = [(f"day {t}", a, c) for t, by in enumerate((0, 0, 1, -2), 1) for a, c in enumerate(np.roll(COUNTS, by))]
    names = ("time", "value", "count")
    return write_csv(tmp_path / "days.csv", {name: [r[i] for r in rows] for i, name in enumerate(names)})


def test_each_time_plans_the_next(days: Path, tmp_path: Path) -> None:
    picture = tmp_path / "days.png"
    wish = ("capacity", "--mechanism", "OUE", "--history", days, "--first", 2, "--cap", CAP, "--outcome", "error")
    wish += ("--probability", 0.05, "--seed", 7)
    told = answer(*wish, "--png", picture)
    history = [np.roll(COUNTS, by) for by in (0, 0, 1, -2)]
    steps = capri.over_time("OUE", history, cap=CAP, threshold=0.05, first=2.0, rng=hush.seeded(7))
    assert [s["epsilon"] for s in told["steps"]] == [s.epsilon for s in steps]
    assert [s["time"] for s in told["steps"]] == ["day 1", "day 2", "day 3", "day 4"]
    assert told["steps"][1]["planned"]["metric"] == "error"
    assert told["spent"] == steps[-1].spent
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = run(*wish).stdout
    assert f"OUE decided rightly at {told['right']} of 4 times" in shown
    assert "The first collection used ε = 2; what each estimated planned the next" in shown
    for words in ("Who took part every time spent", "day 4", "estimated", "Seed 7"):
        assert words in shown


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"value": [1, 2], "count": [1, 2]}, "--history must have one column each of time, value (or label) and count"),
        ({"time": ["a", "a"], "value": [1, 1], "count": [1, 2]}, "--history must count each amount once at a time"),
        ({"time": ["a", "b"], "value": [1, 2], "count": [1, 0]}, "got nobody at the 2. time"),
        ({"time": ["a", "a"], "value": [1, 2], "count": [1, -2]}, "--history, row 2 must have a whole count"),
        ({"time": ["a", "a"], "value": [1, "x"], "count": [1, 2]}, "got something else in row 2"),
        ({"time": ["a"], "value": [1], "count": [1]}, "--history must have at least two amounts"),
        (
            {"time": ["a", ""], "value": [1, 2], "count": [1, 2]},
            "--history, row 2 must have a time in column time, got none; name it in every row",
        ),
        ({"time": ["a", " "], "value": [1, 2], "count": [1, 2]}, "--history, row 2 must have a time in column time"),
    ],
)
def test_bad_histories_leave_with_two(tmp_path: Path, columns: dict[str, list[object]], words: str) -> None:
    file = write_csv(tmp_path / "h.csv", columns)
    wish = ("capacity", "--mechanism", "OUE", "--history", file, "--first", 1, "--cap", 5, "--probability", 0.1)
    assert words in refused(*wish)


def test_what_says_nothing_beside_a_history_leaves_with_two(days: Path, water: Path) -> None:
    wish = ("capacity", "--mechanism", "OUE", "--history", days, "--cap", CAP, "--probability", 0.1)
    assert "--first must be given beside --history" in refused(*wish)
    assert "--counts must be left out beside --history" in refused(*wish, "--first", 1, "--counts", water)
    assert "--first must be a number from" in refused(*wish, "--first", 0)


def test_a_plan_that_found_nothing_is_told_and_leaves_with_one(tmp_path: Path) -> None:
    rows = {"time": ["b", "b", "a", "a", "a2", "a2"], "value": [0, 1] * 3, "count": [100, 100, 100, 100, 10, 80]}
    wish = ("capacity", "--mechanism", "OUE", "--history", write_csv(tmp_path / "h.csv", rows), "--first", 1)
    wish += ("--cap", 80, "--probability", 0.001, "--seed", 7, "--max-epsilon", 3, "--png", tmp_path / "h.png")
    told = run(*wish)
    assert told.exit_code == 1
    steps = json.loads(run(*wish, "--json").stdout)["steps"]
    assert [step["time"] for step in steps] == ["b", "a", "a2"]  # as they first appear
    failed = [step["time"] for step in steps if step["planned"] and not step["planned"]["feasible"]]
    assert failed
    words = (
        f"For {', '.join(failed)} the collection before showed no budget that is enough, so the largest was used, ε = 3"
    )
    assert words in told.stdout
    assert told.stdout.count("none, the largest") == len(failed)
    assert steps[2]["outcome"] in ("tn", "fp")  # a total that equals the capacity does not exceed it
    assert run(*wish, "--json").exit_code == 1


def test_a_mechanism_of_ones_own(water: Path, tmp_path: Path) -> None:
    bold = COIN.replace("    w: int = 3\n", "    w = property(lambda self: 1 + int(np.exp(self.epsilon)))\n")
    (tmp_path / "mine.py").write_text(bold)
    told = shell(*asked(water, "--probability", 0.1, mechanism="mine:Coin"), folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "mine:Coin with ε = " in told.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--probability", -0.1), "--probability must be a number above 0 and below 1"),
        (("--probability", "high"), "--probability must be a number"),
        (("--probability", 0), "--probability must be a number above 0 and below 1"),
        (("--probability", 1), "--probability must be a number above 0 and below 1"),
        (("--probability", "nan"), "--probability must be a number above 0 and below 1"),
        (("--probability", 0.1, "--outcome", "miss"), "--outcome must be one of fn, fp, tp, tn, error"),
        (("--probability", 0.1, "--method", "guess"), "--method must be one of exact, capri"),
        (("--probability", 0.1, "--runs", 0), "--runs must be a whole number of at least 1"),
        (("--probability", 0.1, "--clip-above", -1), "--clip-above must leave at least two amounts"),
        (("--probability", 0.1, "--clip-above", "nan"), "--clip-above must leave at least two amounts"),
        (("--probability", 0.1, "--first", 0), "--first must be a number from"),
        (("--probability", 0.1, "--limit", "nan"), "--limit must be a number"),
        (("--probability", 0.1, "--n", 10), "--n must be left out beside water"),
        (("--probability", 0.1, "--k", 3), "--k must be 21, as in water"),
        (("--probability", 0.1, "--min-epsilon", 0), "--min-epsilon must be a number from"),
        (("--probability", 0.1, "--min-epsilon", 3, "--max-epsilon", 2), "--min-epsilon must be below"),
        (("--probability", 0.1, "--set", "zap=1"), "zap is no parameter of GRR"),
        (("--probability", 0.1, "--set", "k=3"), "--set k must be left out"),
        (("--probability", 0.1, "--cap", -5), "--cap must not be negative where no amount is"),
        (("--probability", 0.1, "--mechanism", "Foo"), "Duchi, Piecewise, Hybrid, or module:Class"),
        (("--probability", 0.1, "--mechanism", "Duchy"), "did you mean Duchi"),
        (("--probability", 0.1, "--dataset", "zipf"), "--dataset or --counts or --earlier must be given"),
        (("--probability", 0.1, "--png", "x.jpg"), "--png must end in .png"),
    ],
)
def test_bad_usage_leaves_with_two(water: Path, options: tuple[object, ...], words: str) -> None:
    assert words in refused(*asked(water, *options))


def test_bad_caps_mechanisms_and_amounts_leave_with_two(water: Path, tmp_path: Path) -> None:
    for cap in ("inf", "nan"):
        assert "--cap must be a finite number" in refused(*asked(water, "--probability", 0.1, "--cap", cap))
    assert "--cap must be given" in refused("capacity", "--probability", 0.1, "--counts", water, "--mechanism", "GRR")
    wish = ("capacity", "--probability", 0.1, "--cap", 9)
    assert "--mechanism must be given" in refused(*wish, "--counts", water)
    assert "--dataset or --counts, --earlier or --history must be given" in refused(*wish, "--mechanism", "GRR")
    twice = write_csv(tmp_path / "twice.csv", {"value": [5, 5, 6], "count": [10, 30, 3]})
    assert "--counts must have each value once, got 5" in refused(*wish, "--counts", twice, "--mechanism", "GRR")
    labelled = {"label": ["a", "b", "c"], "value": [5, 5, 6], "count": [10, 30, 3]}
    file = write_csv(tmp_path / "labelled.csv", labelled)  # two values that amount to the same
    assert run(*wish, "--counts", file, "--mechanism", "GRR").exit_code in (0, 1)
    assert "--set zap must be a parameter of Duchi" in refused(
        *wish, "--counts", water, "--mechanism", "Duchi", "--set", "zap=1"
    )
    assert "got something else in row 1" in refused(*wish, "--dataset", "msnbc", "--mechanism", "GRR")
    for values in (["x", 2], ["inf", 2], ["", 2]):
        file = write_csv(tmp_path / "c.csv", {"value": values, "count": [1, 2]})
        assert "got something else in row 1" in refused(*wish, "--counts", file, "--mechanism", "GRR")
    file = write_csv(tmp_path / "c.csv", {"value": [1, 2], "count": [0, 0]})
    assert "at least one person" in refused(*wish, "--counts", file, "--mechanism", "GRR")


def test_a_picture_says_for_whom_a_planned_budget_is_enough() -> None:
    wish = {"cap": CAP, "threshold": 0.01}
    seen = [capri.first_round("OUE", COUNTS, first=2.0, rng=hush.seeded(seed), **wish) for seed in range(6)]
    found = {each.truth.satisfied: each for each in seen if each.truth is not None}
    assert set(found) == {True, False}
    for kept, each in found.items():
        curve = sorted(each.evidence, key=lambda e: e.epsilon)
        figure = capacity_figure(each, curve, real=float(TOTAL))
        title = figure.get_suptitle()
        assert f"OUE: a total of {TOTAL:,} that exceeds {CAP:,};" in title
        assert f"ε = {each.epsilon} is enough for the people that the first round saw,\n" in title
        assert title.endswith(f"{'and' if kept else 'but not enough'} for the people as they are")
        assert each.interval is None
        assert each.truth is not None
        assert each.confirmation is not None
        assert each.truth.interval == (each.confirmation.low, each.confirmation.high)
        earlier = capacity_figure(each, curve).get_suptitle()
        assert f"OUE: an estimated total of {each.total:,.12g} that " in earlier
        assert "for the people that the earlier round saw" in earlier


def test_the_interval_of_a_first_round_is_that_of_the_truth(water: Path) -> None:
    told = answer(*asked(water, "--probability", 0.01, "--first", 2, mechanism="OUE"))
    assert told["interval"] is None
    low, high = told["truth"]["interval"]
    assert low < told["truth"]["probability"] < high
    assert (low, high) == (told["confirmation"]["low"], told["confirmation"]["high"])


def test_the_table_calls_a_deviation_a_typical_error(water: Path) -> None:
    told = run(*asked(water, "--probability", 0.01)).stdout
    assert "typical error" in told
    assert "± of the total" not in told


def test_an_estimate_is_not_called_true(water: Path) -> None:
    wish = asked(water, "--probability", 0.01, "--outcome", "tn", "--first", 0.5, mechanism="OUE", cap=TOTAL)
    near = tuple(TOTAL + 2 if each == TOTAL else each for each in wish)  # a first round sees it on either side
    told = run(*near).stdout
    rounds = json.loads(run(*near, "--json").stdout)["first_rounds"]
    assert "true total" not in told
    assert "The first round's total is that of the nearest counts that are possible, none negative." in told
    assert {each["epsilon"] for each in rounds} == {0.001, None}
    some = sum(each["epsilon"] is not None for each in rounds)
    words = f"{some} found a budget, ε = 0.001, and that budget keeps the wish for the people as they are."
    assert words in told
    plain = json.loads(run(*near, "--json").stdout)
    assert "true total" not in plain["reason"]


def test_first_rounds_that_find_any_budget_enough_say_so(water: Path) -> None:
    told = run(*asked(water, "--probability", 0.01, "--outcome", "fp", "--first", 3, mechanism="OUE")).stdout
    assert "Any budget is enough for the people that the first round saw, even ε = 0.001" in told
    assert "the estimated total is above the cap, so there can be no false positive" in told
    assert "Of 20 first rounds that were simulated, 20 found any budget enough, even ε = 0.001, and that" in told
    assert "Much hangs" not in told


def test_a_report_is_not_all_that_a_person_spends(water: Path) -> None:
    assert "For each person that means" in run(*asked(water, "--probability", 0.01, mechanism="OUE")).stdout
    told = run(*asked(water, "--probability", 0.01, "--first", 2, mechanism="OUE")).stdout
    assert "For this report that means" in told
    assert "For each person that means" not in told


def test_a_history_says_who_was_clipped_and_which_total_is_meant(days: Path) -> None:
    wish = ("capacity", "--mechanism", "OUE", "--history", days, "--first", 2, "--cap", CAP, "--probability", 0.05)
    whole, told = run(*wish, "--seed", 7).stdout, run(*wish, "--seed", 7, "--clip-above", 15).stdout
    moved = [int(np.roll(COUNTS, by)[16:].sum()) for by in (0, 0, 1, -2)]
    assert f"At each time {min(moved):,} to {max(moved):,} people were clipped" in told
    assert "OUE, 16 values, days, " in told
    assert "OUE, 21 values, days, " in whole
    assert "clipped" not in whole
    assert "estimated (raw)" in whole
    assert "a plan goes by the nearest counts that are possible, none negative" in whole
    steps = answer(*wish, "--seed", 7, "--clip-above", 15)["steps"]
    assert [step["clipped"] for step in steps] == moved


def test_one_sensitive_value_is_one(water: Path) -> None:
    told = run(*asked(water, "--probability", 0.05, "--sensitive", 3, mechanism="uSS")).stdout
    assert "Only the one sensitive value is protected; the others may be revealed." in told


def test_a_count_that_is_too_large_is_told_the_largest(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "many.csv", {"value": [0, 1], "count": [10**18, 1]})
    said = refused(*asked(file, "--probability", 0.01))
    assert "--counts, row 1 must have a whole count of at most 9,007,199,254,740,991" in said


def test_amounts_that_are_too_large_are_plain_numbers(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "large.csv", {"value": [0, 1e300], "count": [5, 5]})
    assert "got 1e+300;" in refused(*asked(file, "--probability", 0.01))


def test_people_above_an_amount_are_counted(water: Path, tmp_path: Path) -> None:
    more = int(COUNTS[15:].sum())
    options = ("--above", 14, "--cap", int(0.8 * more), "--probability", 0.05)
    told = answer(*asked(water, *options, "--png", tmp_path / "above.png"))
    own = capacity("GRR", COUNTS, cap=int(0.8 * more), threshold=0.05, above=14, confirm=0)
    assert (told["above"], told["total"], told["epsilon"]) == (14.0, more, own.epsilon)
    assert told["spec"]["mechanism"]["k"] == 21
    assert (tmp_path / "above.png").stat().st_size > 1000
    assert f"the true number of people above 14, {more:,}, exceeds the limit" in run(*asked(water, *options)).stdout
    assert "--above must be from 0 on, below 20" in refused(*asked(water, "--above", 20, *options[2:]))
    assert "--mechanism must estimate frequencies" in refused(*asked(water, *options, mechanism="Duchi"))
    first = answer(*asked(water, *options, "--first", 1, mechanism="OUE"))
    assert first["truth"]["total"] == more


@pytest.mark.parametrize("method", ["BS", "rbs", "DBS", "MPass"])
def test_the_searches_of_budget_are_methods(water: Path, method: str) -> None:
    told = answer(*asked(water, "--probability", 0.02, "--method", method, "--runs", 5000))
    exact = answer(*asked(water, "--probability", 0.02))
    assert told["method"].lower() == method.lower()
    assert exact["epsilon"] <= told["epsilon"] <= exact["epsilon"] + 0.1


def test_a_first_round_of_means_says_for_whom_it_plans(
    water: Path, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = 20 if thorough else 3
    monkeypatch.setattr(asks, "_ROUNDS", rounds)
    shown = run(*asked(water, "--probability", 0.01, "--first", 0.5, mechanism="Duchi")).stdout
    found = capri.first_round("Duchi", COUNTS, first=0.5, cap=CAP, threshold=0.01, rng=hush.seeded(7))
    assert f"Duchi with ε = {found.epsilon} is enough for people with the mean that the first round saw" in shown
    assert "planned for people who are as alike as possible, who of all with that mean need the most" in shown
    assert f"For the people as they are, whose total is {TOTAL:,}" in shown
    told = answer(*asked(water, "--probability", 0.01, "--first", 0.5, mechanism="Piecewise"))
    found = capri.first_round("Piecewise", COUNTS, first=0.5, cap=CAP, threshold=0.01, rng=hush.seeded(7))
    assert (told["epsilon"], told["spread"], told["total"]) == (found.epsilon, "apart", found.total)
    assert [each["spread"] for each in told["first_rounds"]] == ["apart"] * rounds


@pytest.mark.parametrize("mechanism", ["Duchi", "Piecewise", "Hybrid"])
def test_a_history_of_means_says_for_whom_it_plans(days: Path, tmp_path: Path, mechanism: str) -> None:
    wish = ("capacity", "--mechanism", mechanism, "--history", days, "--first", 1, "--cap", CAP, "--probability", 0.05)
    plain = run(*wish, "--seed", 7, "--json", "--png", tmp_path / "days.png")
    told, shown = json.loads(plain.stdout), run(*wish, "--seed", 7).stdout
    steps = told["steps"]
    for before, step in pairwise(steps):
        assert step["planned"]["total"] == round(before["estimated"])
        assert step["planned"]["spread"] in ("even", "apart", "between")
    assert "Each told a mean, and not who holds what: the next was planned for people who are " in shown
    who = {"even": "as alike as possible", "apart": "as far apart as possible", "between": "at two amounts between"}
    for spread in {step["planned"]["spread"] for step in steps[1:]}:
        assert who[spread] in shown
    assert "a plan goes by the nearest total that is possible" in shown
    assert "none negative" not in shown
    assert (tmp_path / "days.png").stat().st_size > 1000


def test_an_earlier_mean_is_planned_from(tmp_path: Path) -> None:
    people = [i % 5 for i in range(4000)]
    file, reports = write_csv(tmp_path / "p.csv", {"v": people}), tmp_path / "means.parquet"
    made = ("--mechanism", "Duchi", "--low", 0, "--high", 4, "--set", "steps=4", "--epsilon", 3, "-o", reports)
    assert run("privatize", file, "--column", "v", *made).exit_code == 0
    wish = ("capacity", "--mechanism", "Piecewise", "--earlier", reports, "--cap", 7000, "--probability", 0.05)
    told, shown = answer(*wish, "--png", tmp_path / "mean.png"), run(*wish).stdout
    assert (told["n"], told["spent"], told["spread"], told["exposure"]) == (4000, 3, "apart", None)
    assert told["total_epsilon"] == told["epsilon"] + 3
    assert abs(told["total"] - 8000) < 600
    assert told["spec"]["high"] == 4
    assert (tmp_path / "mean.png").stat().st_size > 1000
    assert "is enough for people with the mean that the earlier round saw" in shown
    assert "For this report that means" in shown
    assert "names its sender's amount" not in shown  # nobody knows how many hold each
    other = tuple("OUE" if each == "Piecewise" else each for each in wish)
    assert "--mechanism must estimate a mean, since no more is known of these people" in refused(*other)
    for option in ("--n", "--k", "--limit", "--clip-above"):
        words = f"{option} must be left out beside means, of which only a mean is known"
        assert words in refused(*wish, option, 3)
    assert "--above must be left out where only a mean is known" in refused(*wish, "--above", 1)
    assert "--first must be left out beside --earlier" in refused(*wish, "--first", 1)


def test_ones_are_counted_by_their_mean(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "ones.csv", {"value": [0, 1], "count": [7000, 3000]})
    told = answer(*asked(file, "--above", 0, "--probability", 0.05, mechanism="Duchi", cap=2500))
    assert (told["total"], told["above"], told["reading"]) == (3000, 0.0, "mean")
    first = run(*asked(file, "--above", 0, "--probability", 0.05, "--first", 2, mechanism="Duchi", cap=2500)).stdout
    assert "The first round told a mean, and not who holds what. It makes no difference here." in first
