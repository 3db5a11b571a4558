"""Which cases of each test a run executes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hush
import hush.longitudinal
import hush.multidim
from tests.sampling import SHARE, Case, draw, family, spread, tree_seed

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.parametrize("i", range(40))
def test_numbers(i):
    print(f"<ran {i}>")
    assert i >= 0

@pytest.mark.parametrize("name", ["GRR", "OUE", "SUE", "SS", "OLH", "BLH", "HR"])
@pytest.mark.parametrize("flag", [True, False])
def test_mechanisms(name, flag):
    print(f"<ran {name} {flag}>")
    assert name

def test_alone():
    print("<ran alone>")
    assert TESTS_RUN
TESTS_RUN = True
"""


def run_sample(folder: Path, *arguments: str) -> str:
    """Run pytest on a file with many cases and return what it printed."""
    folder.joinpath("test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "tests.tiers", "-p", "tests.sampling", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-s", "--rootdir", str(folder), *arguments, str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def ran(output: str) -> list[str]:
    """List the cases that said that they ran."""
    return [each.partition(">")[0] for each in output.split("<ran ")[1:]]


@pytest.mark.parametrize(
    ("cases", "count", "positions"),
    [(5, 0, {0, 1, 2, 3, 4}), (5, 1, {0}), (5, 2, {0, 4}), (5, 3, {0, 2, 4}), (35, 3, {0, 17, 34}), (2, 3, {0, 1})],
)
def test_a_count_is_spread(cases: int, count: int, positions: set[int]) -> None:
    assert spread(cases, count) == positions


def test_a_sample_has_the_first_the_last_and_every_group() -> None:
    cases = [Case(str(i), frozenset({("name", i // 10)})) for i in range(100)]
    for seed in range(20):
        drawn = draw(cases, seed)
        assert {"0", "99"} <= drawn
        assert {int(id) // 10 for id in drawn} == set(range(10))
        assert len(drawn) < 50


def test_successive_seeds_cover_every_case() -> None:
    cases = [Case(str(i)) for i in range(60)]
    covered = set().union(*(draw(cases, seed) for seed in range(12 * SHARE)))
    assert covered == {case.id for case in cases}
    assert len({frozenset(draw(cases, seed)) for seed in range(10)}) > 5


def test_a_test_of_one_case_is_kept() -> None:
    assert draw([Case("only")], 3) == {"only"}


@pytest.mark.parametrize(
    ("value", "same", "other"),
    [
        ("OUE", "SUE", "GRR"),
        (hush.OLH, "BLH", hush.SS),
        (hush.GRR(k=4, epsilon=1.0), hush.GRR, "HR"),
        (hush.Spec(hush.OUE(k=4, epsilon=1.0)), "UE", "OLH"),
        ("uSS", hush.registry()["uUE"], "SS"),
        ("Duchi", "Piecewise", "LGRR"),
    ],
)
def test_families_are_told_apart(value: object, same: object, other: object) -> None:
    assert family(value) is not None
    assert family(value) == family(same)
    assert family(value) != family(other)


@pytest.mark.parametrize("value", ["north", 3, None, 1.5, int])
def test_what_is_no_mechanism_has_no_family(value: object) -> None:
    assert family(value) is None


def test_every_registered_mechanism_has_a_family_of_its_source() -> None:
    families = {name: family(name) for name in hush.registry(kind=None) if ":" not in name}
    assert all(each and "/" in each for each in families.values())
    assert 10 <= len(set(families.values())) < len(families)


def test_a_run_draws_a_sample_and_reports_it(tmp_path: Path) -> None:
    sampled = [run_sample(tmp_path, "--cases", "sample", "--seed", "7", *more) for more in ([], ["-n", "2"])]
    output = sampled[0]
    cases = ran(output)
    numbers = [each for each in cases if each.isdecimal()]
    assert {"0", "39"} <= {*numbers}
    assert len(numbers) < 20
    assert "alone" in cases
    mechanisms = {each.split()[0] for each in cases if " " in each}
    assert mechanisms & {"OUE", "SUE"}
    assert mechanisms & {"OLH", "BLH"}
    assert {"GRR", "SS", "HR"} <= mechanisms
    assert f"{len(cases)} of 55 cases of 3 tests" in output
    assert "make test SEED=7" in output
    assert "test_it.py" in output.partition("slowest files")[2]
    assert f"{len(cases)} of 55 cases of 3 tests" in sampled[1]  # processes draw the same


def test_all_and_counts(tmp_path: Path) -> None:
    assert len(ran(run_sample(tmp_path))) == 55
    assert len(ran(run_sample(tmp_path, "--cases", "2"))) == 5
    wrong = run_sample(tmp_path, "--cases", "some")
    assert "--cases must be all, sample or a positive count" in wrong
    assert not ran(wrong)


def test_the_seed_follows_the_tree(tmp_path: Path) -> None:
    assert tree_seed(tmp_path) == 0  # without git

    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "-q")
    seeds = []
    for text in ("a", "b", "a"):
        (tmp_path / "file").write_text(text)
        git("add", "file")
        git("commit", "-q", "-m", text)
        seeds.append(tree_seed(tmp_path))
        assert seeds[-1] == int(git("rev-parse", "HEAD^{tree}")[:8], 16)
    assert seeds[0] == seeds[2] != seeds[1]  # the same files, the same sample
