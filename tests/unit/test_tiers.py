"""Which files a tier includes, decided without importing them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.nightly import UNIT_GROUPS, list_parts
from tests.tiers import FILE_MARKS, ROOT, TIERS, is_chosen, read_marks, test_files, tier_of


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("import os\n", set()),
        ("pytestmark = pytest.mark.slow\n", {"slow"}),
        ('pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("a")]  # why\n', {"nightly", "xdist_group"}),
        ("pytestmark = [\n    pytest.mark.slow,\n]\ny = ['pytest.mark.nightly']\n", {"slow"}),
        ("pytestmark = [pytest.mark.slow]\ny = [\n    pytest.mark.nightly,\n]\n", {"slow"}),
        ("@pytest.mark.nightly\ndef test_it(): ...\n", set()),
        ("# pytestmark = pytest.mark.slow\n", set()),
    ],
)  # fmt: skip
def test_marks_are_read_as_text(tmp_path: Path, text: str, marks: set[str]) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert read_marks(path) == marks


def test_tiers_contain_each_other() -> None:
    files = {tier: {path for path in test_files() if is_chosen(path, tier=tier)} for tier in TIERS}
    assert files["check"] < files["test"] < files["nightly"] == {*test_files()}
    assert ROOT / "tests/unit/test_layers.py" in files["check"]
    assert all(
        path.is_relative_to(ROOT / "tests" / "unit") or "slow" not in read_marks(path) for path in files["check"]
    )


def test_every_file_mark_is_used_and_stands_on_a_whole_file() -> None:
    used = {mark for path in test_files() for mark in read_marks(path)}
    assert used >= FILE_MARKS.keys()
    wrong = [
        f"{path.relative_to(ROOT)}: @pytest.mark.{mark}"
        for path in test_files()
        for mark in FILE_MARKS
        if f"\n@pytest.mark.{mark}\n" in path.read_text(encoding="utf-8")
    ]
    assert wrong == []


def test_marks_choose_files() -> None:
    for path in test_files():
        if "golden" in path.parts:
            assert is_chosen(path, tier="check", only="boundary", without="peers")
        elif tier_of(path) == "check":
            assert is_chosen(path, tier="check", only="boundary") == ("boundary" in read_marks(path))
            assert is_chosen(path, tier="check", without="peers") == ("peers" not in read_marks(path))


def test_a_file_of_a_later_tier_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "test_late.py").write_text("import pytest\npytestmark = pytest.mark.nightly\nraise SystemExit(7)\n")
    (tmp_path / "test_early.py").write_text("def test_it():\n    assert __name__\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.tiers",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    for tier, passed in (("test", True), ("nightly", False)):
        done = subprocess.run(
            [*command, "--tier", tier, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) is passed, done.stdout


def test_the_parts_of_nightly_hold_every_file() -> None:
    parts = list_parts()
    paths = [
        ROOT / word for command in parts.values() for each in command for word in each.removeprefix("PATHS=").split()
    ]
    for path in test_files():
        holding = [each for each in paths if each == path or each in path.parents]
        assert len(holding) == 1, f"{path.relative_to(ROOT)} is in {len(holding)} parts"
    for folders in UNIT_GROUPS.values():
        assert all((ROOT / "tests" / "unit" / each).is_dir() for each in folders)
