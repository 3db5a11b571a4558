"""`hush plan` with groups: what is promised of a district is what a simulated district shows.

False-alarm rate: 1e-9 a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hush
from hush.statistics import sigmas
from tests.system.support import answer, refused, remember, run, write_csv

pytestmark = pytest.mark.xdist_group("plan_groups")  # one process remembers the plans

SIZES = {"north": 5200, "east": 8000, "south": 4200, "west": 2600}


@pytest.fixture(scope="module", autouse=True)
def _planned_once() -> Iterator[None]:
    with remember((hush, "plan")):
        yield


@pytest.fixture
def districts(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "districts.csv", {"district": list(SIZES), "count": list(SIZES.values())})


def test_every_district_is_as_well_known_as_promised(districts: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    told = answer("plan", "--k", 6, "--error", "3pp", "--groups", districts, "--spec-out", spec)
    m = hush.Spec.from_json(spec.read_text()).mechanism
    rng, runs = hush.seeded(11), 800
    assert [row["n"] for row in told["group_errors"]] == sorted(SIZES.values())
    for row in told["group_errors"]:
        counts = np.full(6, row["n"] // 6)
        counts[0] += row["n"] - counts.sum()
        errors = [m.estimate(m.simulate(counts, rng=rng)).frequencies - counts / row["n"] for _ in range(runs)]
        squared = np.mean(np.square(errors), axis=1)
        promised = (row["error"] / 1.959963984540054) ** 2
        assert abs(squared.mean() - promised) < sigmas(4) * squared.std() / runs**0.5, row


def test_what_a_person_reads_of_groups(districts: Path) -> None:
    told = run("plan", "--k", 12, "--error", "1pp", "--groups", districts)
    assert told.exit_code == 0
    said = " ".join(told.stdout.split())
    for words in ("20,000 people, 4 groups, the smallest of 2,600", "smallest group", "west 2,600", "as wished"):
        assert words in said
    assert "4 of 4 groups do not reach ±1 points: a group needs" in said
    assert "To hold it in every group, ε must be" in said
    every = run("plan", "--k", 12, "--error", "3pp", "--groups", districts, "--in-every-group").stdout
    assert "error 0.03 in every group" in every
    assert "±3 points holds in every group" in " ".join(every.split())


def test_many_groups_are_told_in_json_and_the_smallest_on_the_screen(tmp_path: Path) -> None:
    many = write_csv(tmp_path / "many.csv", {"group": [f"g{i}" for i in range(40)], "count": range(1000, 1040)})
    told = run("plan", "--k", 4, "--error", "5pp", "--groups", many).stdout
    assert "The smallest 10 of 40; --json tells of all." in told
    assert "g9 " in told
    assert "g10 " not in told
    assert len(answer("plan", "--k", 4, "--error", "5pp", "--groups", many)["group_errors"]) == 40


def test_the_smallest_group_alone() -> None:
    said = run("plan", "--k", 12, "--n", 20_000, "--error", "1pp", "--smallest-group", 2600).stdout
    assert "In the smallest group (2,600 people) the error is" in " ".join(said.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--groups must have a column count"),
        ("group,people\na,3\n", "--groups must have a column count"),
        ("a,b,count\nx,y,3\n", "--groups must have a column count"),
        ("group,count\n", "--groups must have at least one group"),
        ("group,count\na,-3\n", "--groups, row 1 must have a whole count of at least 0"),
        ("group,count\na,2.5\n", "--groups, row 1 must have a whole count"),
        ("group,count\na,0\n", "--groups, row 1 must count at least one person"),
        ("group,count\na,3\na,4\n", "--groups, row 2 must name each group, once"),
        ("group,count\n ,3\n", "--groups, row 1 must name each group, once"),
        ("group,count,count\na,3,3\n", "--groups must have one column count"),
        ("group,count\na,3\nb,5\n", "--n must be 8, the sum of the groups"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "groups.csv").write_text(text)
    assert words in refused("plan", "--k", 4, "--n", 20, "--groups", tmp_path / "groups.csv")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--k", 4), "--n or groups must be given"),
        (("--k", 4, "--n", 9, "--smallest-group", 10), "--smallest-group must be an integer in 1..9"),
        (("--k", 4, "--n", 9, "--smallest-group", "few"), "--smallest-group must be a whole number"),
        (("--k", 4, "--n", 9, "--error", 0.3, "--in-every-group"), "--in-every-group must stand beside groups"),
        (("--k", 4, "--n", 9, "--groups", "none.csv"), "--groups"),
    ],
)
def test_bad_options_are_named(options: tuple[object, ...], words: str) -> None:
    assert words in refused("plan", *options)
