"""`hush budget`: the smallest budget that is accurate enough, for a manager and for a program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hush
from hush.planning import budget, optimus
from hush.reports.budgeted import budget_figure
from tests.system.support import COIN, answer, refused, run, shell, write_csv

ASKED = ("budget", "--mechanism", "OUE", "--dataset", "zipf", "--k", 20, "--n", 20_000)
WISH = (*ASKED, "--loss", "l1", "--threshold", "0.5%", "--seed", 7)


def test_the_answer_is_the_librarys() -> None:
    told = answer(*WISH)
    found = budget("OUE", hush.datasets.zipf(20, 20_000).counts, loss="l1", threshold=0.005, rng=hush.seeded(7))
    assert told["epsilon"] == found.epsilon
    assert told["interval"] == list(found.interval or ())
    assert told["confidence"] == 0.95
    assert told["best"]["share"] == found.best.share
    assert len(told["evidence"]) == len(found.evidence)
    assert told["seed"] == 7
    assert told["question"]["threshold"] == 0.005
    assert told["asr"] == pytest.approx(hush.OUE(k=20, epsilon=told["epsilon"]).asr())


def test_the_command_of_the_design() -> None:
    told = answer(
        *("budget", "--mechanism", "OLH", "--dataset", "zipf", "--k", 200, "--n", 50_000),
        *("--loss", "kendall", "--threshold", 0.3, "--probability", 0.9, "--seed", 7),
    )
    low, high = told["interval"]
    assert low < told["epsilon"] == high < 1.1 * low
    assert told["question"]["probability"] == 0.9
    assert told["guarantee"] == f"{told['epsilon']:g}-LDP"


def test_what_a_manager_reads_comes_first() -> None:
    told = run(*WISH)
    assert told.exit_code == 0
    first = told.stdout.splitlines()[0]
    assert first.startswith("OUE with ε = ")
    assert "is enough: 90 % of such collections, each from the same 20,000 people" in first
    assert "frequencies are off by at most 0.5 percentage points on average" in first
    assert "Tests show this, and that ε = " in first
    assert "is too little, with 95 % confidence; the smallest budget lies between the two, if a larger one" in first
    for words in ("names the person's value", "95 % interval", "● enough", "too little", "seed 7"):
        assert words in told.stdout
    assert "Write the spec with --spec-out" in told.stderr


@pytest.mark.parametrize("more", [(), ("--method", "BS"), ("--method", "MPass", "--runs", 100)])
def test_one_budget_is_one_number_everywhere(more: tuple[object, ...], tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer(*WISH, *more, "--spec-out", spec)
    said, shown = f"{told['epsilon']:.4g}", run(*WISH, *more).stdout
    assert float(said) == told["epsilon"] == told["best"]["epsilon"] == told["spec"]["mechanism"]["epsilon"]
    assert hush.Spec.from_json(spec.read_text()).mechanism.parameters["epsilon"] == told["epsilon"]
    assert told["guarantee"] == f"{said}-LDP"
    assert shown.startswith(f"OUE with ε = {said} ")
    assert f"that means {said}-LDP" in shown
    assert next(line for line in shown.splitlines() if "●" in line).split()[0] == said
    rows = [line.split()[0] for line in shown.splitlines() if line.rstrip().endswith(("reached", "missed", "enough"))]
    assert len(set(rows)) == len(rows)


def test_a_method_without_a_proof_says_what_it_saw() -> None:
    told = answer(*WISH, "--method", "DBS")
    first = run(*WISH, "--method", "DBS").stdout.splitlines()[0]
    assert f"seems to be enough: {told['best']['satisfied']:,} of {told['best']['runs']:,} simulated" in first
    assert "95 % interval" in first
    assert "it may be a little too small; --method direct proves its answer" in first
    assert "is enough" not in first


def test_no_is_not_said_where_the_budget_is_large_enough(tmp_path: Path) -> None:
    """The ranking of products is perfect where hardly anybody is randomized; a smaller budget is no answer either."""
    file = write_csv(tmp_path / "c.csv", {"count": [20_000 // i for i in range(1, 201)]})
    told = answer("budget", "--mechanism", "GRR", "--counts", file, "--threshold", 0, "--seed", 1)
    assert 18 < told["refuted"] * 1.05 < told["epsilon"] * 1.05 < 20.5
    text = run("budget", "--mechanism", "GRR", "--counts", file, "--threshold", 0, "--seed", 1).stdout
    assert "no pairs of values are in the wrong order" in text


def test_what_the_runs_do_not_tell_is_no_no() -> None:
    due = answer(*WISH, "--method", "BS", "--runs", 20_000)["epsilon"]
    told = run(*WISH, "--max-epsilon", due, "--runs", 100)
    assert told.exit_code == 1
    assert "was shown to be enough for OUE, and the largest was not shown to be too little" in told.stdout
    assert "Simulate more with --runs" in told.stdout


def test_a_mechanism_that_takes_no_more_is_not_asked_for_more() -> None:
    asked = ("budget", "--mechanism", "GM", "--delta", 1e-5, "--dataset", "zipf", "--k", 20, "--n", 1000)
    told = run(*asked, "--loss", "l1", "--threshold", 1e-6, "--seed", 7)
    assert told.exit_code == 1
    assert "choose another mechanism, since GM takes no budget above 1 and AGM does" in told.stdout
    assert "--max-epsilon" not in told.stdout


def test_a_narrow_window_cuts_nothing() -> None:
    lines = run(*WISH, columns=60).stdout.split("\n\n")[-1].splitlines()
    assert max(len(line) for line in lines if "Method" not in line and "OUE" not in line) <= 60


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (("kendall", 0.2), "at most 10 % of all pairs of values are in the wrong order"),
        (("max", 0.02), "no frequency is off by more than 2 percentage points"),
        (("f1", 0.4), "at least 60 % of the 5 most frequent values are found"),
        (("f1", 0), "all of the 5 most frequent values are found"),
        (("ndcg", 0.05), "score at least 0.95 of the best score"),
        (("kl", 0.05), "diverges from the truth by at most 0.05 nats"),
        (("emd", 0.3), "misplaced by at most 0.3 steps"),
        (("l2", 0.01), "the root of the summed squared errors"),
        (("l1", 0.01), "off by at most 1 percentage point on average"),
    ],
)
def test_every_loss_is_put_into_words(loss: tuple[str, float], words: str) -> None:
    top = ("--top", 5) if loss[0] in ("f1", "ndcg") else ()
    told = run(*ASKED, "--loss", loss[0], "--threshold", loss[1], *top, "--seed", 7)
    assert told.exit_code == 0, told.output
    assert words in told.stdout


@pytest.mark.parametrize("method", ["bs", "RBS", "dbs", "MPass", "Bayes"])
def test_methods_agree(method: str) -> None:
    if method == "Bayes":
        pytest.importorskip("sklearn")
    direct, other = answer(*WISH), answer(*WISH, "--method", method, "--runs", 500)
    assert other["method"].lower() == method.lower()
    assert other["epsilon"] == pytest.approx(direct["epsilon"], rel=0.06)
    assert other["interval"] is None
    table = run(*WISH, "--method", method, "--runs", 500).stdout
    assert "● reached" in table
    assert len(table.splitlines()) < 30


def test_the_spec_is_ready_to_use(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer(*WISH, "--spec-out", spec)
    made = hush.Spec.from_json(spec.read_text())
    assert (made.mechanism.name(), made.hash) == ("OUE", told["spec_hash"])
    assert made.mechanism.parameters["epsilon"] == told["epsilon"]
    measured = answer("simulate", "--spec", spec, "--dataset", "zipf", "--n", 20_000, "--runs", 50, "--seed", 7)
    assert measured["mse"] ** 0.5 < 0.005 * 1.3


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "budget.png"
    assert run(*WISH, "--png", picture).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_shows_loss_share_and_answer() -> None:
    found = budget("OUE", [500, 300, 200], loss="max", threshold=0.1, rng=hush.seeded(7))
    assert found.epsilon is not None
    curve = [optimus.Tried(e, 100, s, 0.2, 0.3, None, "exact", 0.1) for e, s in ((0.1, 3), (5.0, 98))]
    figure = budget_figure(found, curve)
    above, below = figure.axes
    assert above.get_ylabel() == "loss (max)"
    assert below.get_ylabel() == "share of satisfied collections"
    lines = [np.asarray(line.get_xdata()).tolist() for line in below.get_lines()]
    assert [found.epsilon] * 2 in lines
    assert [0.1, 5.0] in lines
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == [
        "mean loss",
        "loss that 90 % of the collections keep to",
    ]
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told.count("the answer") == told.count("the smallest lies here, if more is never worse") == 1


def test_a_threshold_of_zero_is_seen_in_the_picture() -> None:
    found = budget("OUE", [500, 300, 200], loss="f1", top=1, threshold=0.0, rng=hush.seeded(7))
    curve = [optimus.Tried(e, 100, s, 0.2, 0.3, None, "exact", 0.1) for e, s in ((0.1, 3), (5.0, 98))]
    above = budget_figure(found, curve).axes[0]
    assert above.get_ylim()[0] < 0 < above.get_ylim()[1]


def test_no_budget_leaves_with_one_and_says_what_to_do(tmp_path: Path) -> None:
    spec, picture = tmp_path / "spec.json", tmp_path / "budget.png"
    asked = (*ASKED, "--loss", "l1", "--threshold", 1e-6, "--probability", 0.9, "--max-epsilon", 2)
    told = run(*asked, "--spec-out", spec, "--png", picture)
    assert told.exit_code == 1
    assert "No budget from ε = 0.001 to 2 is enough for OUE" in told.stdout
    assert "Ask more people" in told.stdout
    assert "no spec was written" in told.stderr
    assert not spec.exists()
    assert picture.exists()
    plain = run(*asked, "--json")
    assert plain.exit_code == 1
    assert '"epsilon": null' in plain.stdout


def test_people_from_counts_and_from_a_distribution(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "c.csv", {"label": ["red", "green", "blue"], "count": [6000, 3000, 1000]})
    wish = ("budget", "--mechanism", "GRR", "--counts", file, "--loss", "l1", "--threshold", 0.01, "--seed", 7)
    fixed, drawn = answer(*wish), answer(*wish, "--n", 10_000)
    assert fixed["question"]["population"] == "fixed"
    assert drawn["question"]["population"] == "drawn"
    assert fixed["epsilon"] < drawn["epsilon"]  # who is drawn is a second source of error
    assert fixed["spec"]["domain"]["labels"] == ["red", "green", "blue"]


def test_people_from_an_earlier_collection(reports: Path) -> None:
    wish = ("budget", "--mechanism", "GRR", "--earlier", reports, "--loss", "l1", "--threshold", 0.02, "--seed", 7)
    told = answer(*wish, "--n", 50_000)
    assert (told["question"]["k"], told["question"]["n"]) == (4, 50_000)
    assert told["spec"]["domain"]["labels"] == ["cat", "dog", "fish", "other"]
    assert answer(*wish)["question"]["n"] == 10_000


@pytest.mark.parametrize(
    ("options", "largest"),
    [
        (("--mechanism", "GM", "--delta", 1e-5), 1.0),
        (("--mechanism", "LH", "--set", "g=3"), 20.0),
        (("--mechanism", "uSS", "--sensitive", "0-3"), 20.0),
        (("--mechanism", "SS"), 20.0),
    ],
)
def test_mechanisms_with_more_parameters(options: tuple[object, ...], largest: float) -> None:
    wish = ("--dataset", "zipf", "--k", 10, "--n", 2000, "--loss", "l1", "--threshold", 0.3, "--seed", 7)
    short = ("--method", "BS", "--runs", 20)
    told = answer("budget", *options, *wish, *short, "--max-epsilon", 1)
    assert told["question"]["mechanism"] == options[1]
    made = told["spec"]["mechanism"]
    assert made.get("delta", 1e-5) == 1e-5
    assert made.get("g", 3) == 3
    assert made.get("sensitive", [0, 1, 2, 3]) == [0, 1, 2, 3]
    left_out = answer("budget", *options, *wish, *short)
    assert left_out["question"]["epsilon_range"] == [0.001, largest]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--threshold must be given"),
        (("--threshold", -1), "--threshold must be a number of at least 0, got -1.0"),
        (("--threshold", "nan"), "--threshold must be a number of at least 0, got nan"),
        (("--threshold", "inf"), "--threshold must be a number of at least 0, got inf"),
        (("--threshold", "much"), "--threshold must be a number, got 'much'"),
        (("--threshold", 0.1, "--probability", 0), "--probability must be a number above 0 and below 1"),
        (("--threshold", 0.1, "--probability", 1), "--probability must be a number above 0 and below 1"),
        (("--threshold", 0.1, "--probability", 90), "use 0.9 for 90 %"),
        (("--threshold", 1.5, "--loss", "f1"), "--threshold must be below 1, which f1 never exceeds"),
        (("--threshold", 0.1, "--loss", "l1", "--top", 5), "--top must be left out where the loss looks at all values"),
        (("--threshold", 0.1, "--probability", "nan"), "--probability must be a number above 0 and below 1"),
        (("--threshold", 0.1, "--loss", "tau"), "--loss must be one of l1, l2, max, kendall"),
        (("--threshold", 0.1, "--method", "grid"), "--method must be one of direct, BS"),
        (("--threshold", 0.1, "--runs", 20), "--runs must be at least"),
        (("--threshold", 0.1, "--runs", 0), "--runs must be a whole number of at least 1"),
        (("--threshold", 0.1, "--loss", "f1", "--top", 20), "--top must be an integer in 1..19"),
        (("--threshold", 0.1, "--min-epsilon", 0), "--min-epsilon must be a number from"),
        (("--threshold", 0.1, "--min-epsilon", 3, "--max-epsilon", 2), "--min-epsilon must be below --max-epsilon, 2"),
        (("--threshold", 0.1, "--max-epsilon", "inf"), "--max-epsilon must be a number from"),
        (("--threshold", 0.1, "--set", "epsilon=1"), "--set epsilon must be left out"),
        (("--threshold", 0.1, "--set", "zap=1"), "zap is no parameter of OUE"),
        (("--threshold", 0.1, "--counts", "c.csv"), "--dataset or --counts or --earlier must be given, and only one"),
        (("--threshold", 0.1, "--png", "x.jpg"), "--png must end in .png"),
        (("--threshold", 0.1, "--spec-out", "x.txt"), "--spec-out must end in .json"),
    ],
)
def test_bad_usage_leaves_with_two(options: tuple[object, ...], words: str) -> None:
    assert words in refused(*ASKED, *options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mechanism", "OUE"), "--dataset or --counts or --earlier must be given"),
        (("--mechanism", "OUE", "--dataset", "zipf"), "--k must be given for zipf"),
        (("--mechanism", "OUE", "--dataset", "zipf", "--k", 1), "k must be an integer in 2.."),
        (("--mechanism", "OUE", "--dataset", "msnbc", "--k", 5), "--k must be 17, as in msnbc"),
        (("--mechanism", "OUE", "--dataset", "zipff"), "did you mean zipf?"),
        (("--mechanism", "OUE", "--counts", "nowhere.csv"), "--counts must be a file that exists"),
        (("--mechanism", "OUE", "--earlier", "nowhere.parquet"), "must be a file that exists"),
        (("--dataset", "msnbc"), "--mechanism must be given"),
        (("--mechanism", "OUF", "--dataset", "msnbc"), "did you mean OUE"),
        (("--mechanism", "LHO", "--set", "g=3", "--dataset", "msnbc"), "--mechanism must have a budget"),
        (("--mechanism", "GM", "--delta", 1e-5, "--dataset", "msnbc", "--max-epsilon", 3), "--max-epsilon must be a"),
    ],
)
def test_bad_people_and_mechanisms_leave_with_two(options: tuple[object, ...], words: str) -> None:
    assert words in refused("budget", "--threshold", 0.1, *options)


def test_empty_counts_are_refused(tmp_path: Path) -> None:
    for counts, words in (([0, 0], "at least one person"), ([5], "at least two rows"), ([-1, 2], "must have a whole")):
        file = write_csv(tmp_path / "c.csv", {"count": counts})
        assert words in refused("budget", "--mechanism", "OUE", "--counts", file, "--threshold", 0.1)


BOLD = """

class Bold(Coin):
    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "w", int(np.exp(self.epsilon)))
"""


def test_a_mechanism_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COIN + BOLD)
    asked = ("--dataset", "zipf", "--k", 4, "--n", 1000, "--loss", "l1", "--threshold", 0.02, "--runs", 200)
    told = shell("budget", "--mechanism", "mine:Bold", *asked, "--method", "BS", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "mine:Bold with ε = " in told.stdout


@pytest.mark.parametrize(("loss", "words"), [("f1", "f1@2 at most"), ("ndcg", "ndcg@2 at most")])
def test_few_values_have_few_top_ones(tmp_path: Path, loss: str, words: str) -> None:
    file = write_csv(tmp_path / "few.csv", {"count": [900, 300, 100]})
    wish = ("budget", "--mechanism", "OUE", "--counts", file, "--loss", loss, "--threshold", 0.5, "--seed", 7)
    told = run(*wish, "--probability", 0.8)
    assert told.exit_code == 0
    assert words in told.stdout
    assert "--top must be an integer in 1..2, got 10" in refused(*wish, "--top", 10)


def test_what_is_not_protected_is_told(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "some.csv", {"count": [900, 300, 100, 50]})
    wish = ("budget", "--counts", file, "--loss", "l1", "--threshold", 0.1, "--probability", 0.8, "--seed", 7)
    some = run(*wish, "--mechanism", "uSS", "--sensitive", "1,2").stdout
    assert "Only the 2 sensitive values are protected; the others may be revealed." in some
    assert "Only the one sensitive value is" in run(*wish, "--mechanism", "uSS", "--sensitive", 1).stdout
    assert "may be revealed" not in run(*wish, "--mechanism", "OUE").stdout


def test_one_person_is_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "one.csv", {"count": [1, 0]})
    told = run("budget", "--mechanism", "OUE", "--counts", file, "--loss", "l1", "--threshold", 0.4, "--seed", 7)
    assert ", 1 person; l1 at most" in told.stdout
    assert "1 people" not in told.stdout


def test_a_mean_has_a_budget_and_a_window_its_cost(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "amounts.csv", {"value": [0, 1, 2.5, 10], "count": [3000, 2000, 1500, 500]})
    options = ("--counts", file, "--loss", "mean", "--threshold", 0.4, "--seed", 7)
    told = answer("budget", "--mechanism", "piecewise", *options, "--window", 7, "--spec-out", tmp_path / "spec.json")
    people = hush.Population(np.array([3000, 2000, 1500, 500]), hush.Domain(labels=[0, 1, 2.5, 10]))
    own = hush.budget("Piecewise", people, loss="mean", threshold=0.4, rng=hush.seeded(7))
    assert told["epsilon"] == own.epsilon
    assert (told["window"], told["asr"]) == (7, None)
    assert told["window_epsilon"] == pytest.approx(7 * told["epsilon"])
    made = hush.read(tmp_path / "spec.json").mechanism
    assert (made.low, made.high, made.epsilon) == (0.0, 10.0, told["epsilon"])
    shown = run("budget", "--mechanism", "Duchi", *options, "--window", 7)
    assert "the mean is off by at most 0.4" in shown.stdout
    assert "any 7 consecutive rounds cost" in shown.output
    assert "must estimate frequencies" in refused("budget", "--mechanism", "Duchi", *options[:2], "--threshold", 0.1)
    assert "--k must be left out for Duchi" in refused("budget", "--mechanism", "Duchi", *options, "--k", 4)
    oracle = answer("budget", "--mechanism", "OUE", *options)
    assert told["epsilon"] < oracle["epsilon"]
