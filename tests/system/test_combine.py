"""`hush combine`: files of several specs, and the spec of those who have not reported yet."""

from __future__ import annotations

from pathlib import Path

import pytest

import hush
from hush import utility
from tests.system.support import answer, refused, run

HOW = ("--column", "place", "--mechanism", "uUE", "--epsilon", 1, "--sensitive", "clinic,casino")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "places.txt").write_text("park\nmuseum\nclinic\ncasino\n")
    (tmp_path / "few.csv").write_text("place\n" + "park\npark\nmuseum\nclinic\n" * 100)
    (tmp_path / "rest.csv").write_text("place\n" + "park\npark\nmuseum\nclinic\n" * 900)
    few, labels = tmp_path / "few.parquet", tmp_path / "places.txt"
    asked = (tmp_path / "few.csv", "--domain", labels, *HOW, "--set", "theta=0", "--output", few)
    assert run("privatize", *asked).exit_code == 0
    return tmp_path


def test_a_few_first_and_then_the_others(files: Path) -> None:
    few, rest, spec, numbers = (files / name for name in ("few.parquet", "rest.parquet", "others.json", "all.csv"))
    found = answer("combine", few, "--spec-out", spec)
    made = hush.Spec.from_json(spec.read_text())
    assert made.mechanism.theta == found["theta"]  # type: ignore[attr-defined]
    assert made.domain.sensitive == (2, 3)
    assert run("privatize", files / "rest.csv", "--column", "place", "--spec", spec, "--output", rest).exit_code == 0
    both = answer("combine", few, rest, "--csv", numbers)
    parts = [(hush.read(path).spec, hush.read(path).aggregate()) for path in (few, rest)]  # type: ignore[union-attr]
    due = utility.combined(parts)
    assert [row["frequency"] for row in both["values"]] == pytest.approx(due.frequencies.tolist())
    assert (both["n"], [each["reports"] for each in both["specs"]]) == (4000, [400, 3600])
    assert numbers.read_text().count("\n") == 5
    told = run("combine", few, rest, "--top", 2)
    assert "uUE (400 reports) and uUE (3,600 reports)" in told.stdout
    assert "the 2 most frequent of 4 values" in told.stdout
    apart = answer("combine", few, rest, "--classes")
    assert apart["values"][0]["frequency"] == both["values"][0]["frequency"]
    assert apart["values"][0]["stderr"] != both["values"][0]["stderr"]


def test_what_cannot_be_combined_is_refused(files: Path) -> None:
    few, other, more = (files / name for name in ("few.parquet", "other.parquet", "more.parquet"))
    (files / "pets.txt").write_text("cat\ndog\n")
    (files / "pets.csv").write_text("pet\ncat\ndog\n")
    how = ("--column", "pet", "--domain", files / "pets.txt", "--mechanism", "GRR", "--epsilon", 1)
    assert run("privatize", files / "pets.csv", *how, "--output", other).exit_code == 0
    assert "must be over the same values" in refused("combine", few, other)
    assert "--spec-out" in refused("combine", few, "--classes", "--spec-out", files / "x.json")
    assert "must be of uSS" in refused("combine", other, "--spec-out", files / "x.json")
    assert "more.parquet" in refused("combine", more)
    assert not (files / "x.json").exists()


def test_a_file_that_is_named_twice_counts_nobody_twice(files: Path) -> None:
    few = files / "few.parquet"
    assert "must be different files" in refused("combine", few, few)
    folder = files / "folder"
    folder.mkdir()
    (folder / "one.parquet").write_bytes(few.read_bytes())
    assert "must be different files" in refused("combine", folder, folder / "one.parquet")
    assert answer("combine", folder, few)["n"] == 800
