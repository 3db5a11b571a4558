"""`hush uldp` and `--sensitive`: which values are hidden, and by what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hush
from tests.system.support import answer, refused, run, write_csv

ASKED = ("uldp", "--k", 100, "--sensitive", "0-8,9", "--epsilon", 1)


def test_a_mechanism_is_recommended_and_compared() -> None:
    told = run(*ASKED)
    assert told.exit_code == 0
    assert "uSS has the least error: it protects 10 of 100 values" in told.stdout
    found = answer(*ASKED, "--theta", 0.9, "--n", 1000)
    errors = [option["error"] for option in found["options"]]
    assert errors == sorted(errors)
    assert {option["name"].split(",")[0] for option in found["options"]} == {
        cls.name() for cls in hush.utility.MECHANISMS
    }
    assert found["gain"] == pytest.approx(found["plain"]["error"] / errors[0])
    assert all(option["exact_epsilon"] <= 1.0 for option in found["options"])


def test_errors_are_the_mechanisms_own() -> None:
    found = answer(*ASKED, "--theta", 0.9, "--n", 1000)
    for option in found["options"]:
        made = hush.from_dict(option["mechanism"])
        assert isinstance(made, hush.utility.UtilityOracle)
        assert option["error"] == pytest.approx(hush.utility.total_error(made, 0.9, 1000))
        assert option["bits"] == made.bits


def test_what_matters_decides() -> None:
    by_bits, by_work = (answer(*ASKED, "--matters", what, "--slack", 3) for what in ("bits", "work"))
    least = min(option["error"] for option in by_bits["options"])
    near = [option for option in by_bits["options"] if option["error"] <= 3 * least]
    assert by_bits["options"][0]["bits"] == min(option["bits"] for option in near)
    assert by_work["options"][0]["work"] == min(option["work"] for option in near)


def test_labels_name_what_is_sensitive(tmp_path: Path) -> None:
    labels, spec, values, reports = (tmp_path / n for n in ("d.txt", "s.json", "v.csv", "r.parquet"))
    labels.write_text("park\nmuseum\nclinic\ncasino\n")
    assert (
        run("uldp", "--domain", labels, "--sensitive", "clinic,casino", "--epsilon", 1, "--spec-out", spec).exit_code
        == 0
    )
    made = hush.Spec.from_json(spec.read_text())
    assert made.domain.sensitive == made.mechanism.sensitive == (2, 3)  # type: ignore[attr-defined]
    values.write_text("place\n" + "park\nclinic\n" * 300)
    how = ("--domain", labels, "--sensitive", "clinic", "--sensitive", "casino", "--mechanism", "uUE", "--epsilon", 1)
    assert run("privatize", values, "--column", "place", "--output", reports, *how).exit_code == 0
    told = answer("estimate", reports)
    assert "park" in json.dumps(told)


def test_a_label_with_a_comma_is_itself(tmp_path: Path) -> None:
    labels, spec = tmp_path / "d.txt", tmp_path / "s.json"
    labels.write_text("Paris, FR\nParis\nFR\nx\n")
    run("uldp", "--domain", labels, "--sensitive", "Paris, FR", "--epsilon", 1, "--spec-out", spec)
    assert hush.Spec.from_json(spec.read_text()).domain.sensitive == (0,)


@pytest.mark.parametrize("reveal", ["alone", "pair"])
def test_values_are_revealed_alone_unless_pairs_are_asked_for(tmp_path: Path, reveal: str) -> None:
    values, spec, reports = tmp_path / "v.csv", tmp_path / "s.json", tmp_path / "r.parquet"
    values.write_text("v\n" + "0\n1\n2\n3\n" * 50)
    how = ("--mechanism", "uUE", "--epsilon", 1, "--k", 4, "--sensitive", "0-1", "--spec-out", spec)
    asked = ("--set", "reveal=pair") if reveal == "pair" else ()
    run("privatize", values, "--column", "v", *how, *asked, "--output", reports)
    assert hush.Spec.from_json(spec.read_text()).mechanism.reveal == reveal
    assert answer("estimate", reports)["n"] == 200
    assert ("reveal=pair" in run("uldp", "--k", 4, "--sensitive", "0-1", "--epsilon", 1).stdout) is False


def test_error_bars_of_rare_values_are_honest() -> None:
    """Half of the values are rare and not sensitive; 95 % intervals must not be much too short."""
    how = ("--k", 50, "--sensitive", "0-4", "--epsilon", 1, "--mechanism", "uSS")
    told = run("simulate", "--dataset", "zipf", "--n", 2000, "--runs", 60, "--seed", 2, *how).stdout
    held = next(line for line in told.splitlines() if "hold the truth" in line)
    assert 0.92 < float(held.split("truth")[1].split()[0]) <= 1.0


def test_a_file_may_say_what_is_sensitive(tmp_path: Path) -> None:
    file = tmp_path / "domain.json"
    file.write_text(json.dumps({"labels": ["a", "b", "c"], "sensitive": ["c"]}))
    assert answer("uldp", "--domain", file, "--epsilon", 1)["options"]
    assert "beside a domain that names its own" in refused("uldp", "--domain", file, "--sensitive", "a", "--epsilon", 1)
    file.write_text(json.dumps({"labels": ["a", "b", "c"], "sensitive": ["d"]}))
    assert "sensitive must be among the 3 labels" in refused("uldp", "--domain", file, "--epsilon", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--k", 10, "--epsilon", 1), "--sensitive must be given"),
        (("--sensitive", "0", "--epsilon", 1), "--k or --domain must be given"),
        (("--k", 10, "--sensitive", "0"), "--epsilon must be given"),
        (("--k", 10, "--sensitive", "0-9", "--epsilon", 1), "sensitive must name some values, but not all"),
        (("--k", 10, "--sensitive", "12", "--epsilon", 1), "--sensitive must be values in 0..9"),
        (("--k", 10, "--sensitive", "4-0,7", "--epsilon", 1), "the lower one first in a range, got '4-0'"),
        (("--k", 10, "--sensitive", "0-999999999", "--epsilon", 1), "--sensitive must be values in 0..9"),
        (("--k", 10, "--sensitive", "a", "--epsilon", 1), "--sensitive must be values or ranges"),
        (("--k", 10, "--sensitive", "", "--epsilon", 1), "--sensitive must be values or ranges"),
        (("--k", 10, "--sensitive", "0", "--epsilon", "nan"), "epsilon must be"),
        (("--k", 10, "--sensitive", "0", "--epsilon", 1, "--theta", 2), "theta must lie in"),
        (("--k", 10, "--sensitive", "0", "--epsilon", 1, "--matters", "speed"), "--matters must be one of"),
        (("--k", 10, "--sensitive", "0", "--epsilon", 1, "--slack", 0), "slack must be"),
        (("--k", 1, "--sensitive", "0", "--epsilon", 1), "k must be"),
    ],
)
def test_bad_usage_leaves_with_two(options: tuple[object, ...], words: str) -> None:
    assert words in refused("uldp", *options)


def test_sensitive_is_for_mechanisms_that_take_it(tmp_path: Path) -> None:
    how = ("simulate", "--dataset", "zipf", "--k", 10, "--epsilon", 1, "--runs", 3, "--sensitive", "0-3")
    assert "must be left out for OUE" in refused(*how, "--mechanism", "OUE")
    assert answer(*how, "--mechanism", "uSS")


@pytest.mark.parametrize(("old", "new"), [("utility", "accuracy"), ("bits", "bits"), ("computation", "work")])
def test_python_knows_what_matters_by_its_old_name(old: str, new: str) -> None:
    domain = hush.Domain(size=10, sensitive=range(3))
    with pytest.warns(DeprecationWarning, match="prefer of uldp is now matters"):
        found = hush.uldp(domain, 1.0, prefer=old)
    assert found == hush.uldp(domain, 1.0, matters=new)
    assert found.matters == new


def test_a_budget_for_every_value_from_a_column_to_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("visits.csv"), {"place": ["park", "museum", "park", "clinic"] * 500})
    Path("places.txt").write_text("park\nmuseum\nclinic\ncasino\n", encoding="utf-8")
    named = ("--mechanism", "idue", "--set", "budgets=2,2,0.5,0.5")
    made = ("privatize", "visits.csv", "--column", "place", "--domain", "places.txt", *named)
    assert run(*made, "-o", "r.parquet", "--spec-out", "s.json").exit_code == 0
    spec = hush.read("r.parquet").spec
    assert spec.mechanism == hush.utility.IDUE(k=4, budgets=[2.0, 2.0, 0.5, 0.5])
    told = answer("estimate", "r.parquet", "--mechanism", "IDUE")
    assert [row["label"] for row in told["estimate"]] == ["park", "museum", "clinic", "casino"]
    for which in (("--spec", "s.json"), (*named, "--k", 4)):
        audited = answer("audit", *which, "--method", "exact")
        assert not audited["violation"]
    assert answer("simulate", *named, "--k", 4, "--dataset", "zipf", "--runs", 2, "--seed", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "budgets must be given for IDUE"),
        (("--set", "budgets=0.5"), "budgets must be"),
        (("--set", "budgets=0.5,2"), "budgets must be"),
        (("--set", "budgets=0.5,2,2,nan"), "budgets[3] must be"),
        (("--set", "budgets=0.5,2,2,-1"), "budgets[3] must be"),
        (("--set", "budgets=0.5,2,2,x"), "budgets[3] must be"),
        (("--set", "budgets=0.5,2,2,2", "--epsilon", 1), "epsilon is no parameter of IDUE"),
        (("--set", "budgets=0.5,2,2,2", "--sensitive", "0"), "which has a budget for every value"),
    ],
)
def test_what_budgets_of_values_must_be(options: tuple[object, ...], words: str) -> None:
    assert words in refused("audit", "--mechanism", "IDUE", "--k", 4, "--method", "exact", *options)
