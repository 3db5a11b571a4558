"""Which cases of a test are run where not all are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import kept, spread

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("cases", "most", "places"),
    [(5, 0, {0, 1, 2, 3, 4}), (5, 1, {0}), (5, 2, {0, 4}), (5, 3, {0, 2, 4}), (35, 3, {0, 17, 34}), (2, 3, {0, 1})],
)
def test_cases_are_spread(cases: int, most: int, places: set[int]) -> None:
    assert spread(cases, most) == places


def test_every_test_keeps_a_case_and_golden_tests_keep_all() -> None:
    golden = [f"tests/golden/test_vectors.py::test_bytes[{i}]" for i in range(9)]
    others = [f"tests/unit/test_x.py::test_{name}[{i}]" for name in "ab" for i in range(9)]
    assert kept([*golden, *others, "tests/unit/test_x.py::test_c"], 1) == {
        *golden, "tests/unit/test_x.py::test_a[0]", "tests/unit/test_x.py::test_b[0]", "tests/unit/test_x.py::test_c",
    }  # fmt: skip


def test_the_others_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('i', range(9))\ndef test_it(i):\n    assert i in (0, 4, 8)\n"
    )
    asked = [sys.executable, "-m", "pytest", "-p", "tests.cases", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    for most, code in ((3, 0), (0, 1)):
        done = subprocess.run(
            [*asked, "--cases", str(most), str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout
