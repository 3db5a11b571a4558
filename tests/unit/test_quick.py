"""The clock of the quick tests: what is slow is told, and fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import quick
from tests.versions import unit

ROOT = Path(__file__).parents[2]


def report(file: str, seconds: float) -> pytest.TestReport:
    told = [(quick.SPENT, seconds)]
    return pytest.TestReport(f"{file}::test_it", (file, 1, "test_it"), {}, "passed", None, "call", user_properties=told)


def test_files_that_take_too_long_are_told() -> None:
    clock = quick.Clock()
    for _ in range(2):
        clock.pytest_runtest_logreport(report("tests/unit/test_slow.py", 0.6 * quick.MOST))
        clock.pytest_runtest_logreport(report("tests/unit/test_other.py", 0.4 * quick.MOST))
    assert clock.too_slow() == ["tests/unit/test_slow.py took 48 s"]


@pytest.mark.parametrize(("most", "code"), [(40.0, 0), (0.0, 1)])
def test_a_slow_file_fails_the_run(tmp_path: Path, most: float, code: int) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert sum(range(100_000)) > 0\n")
    program = (
        f"from tests import quick; quick.MOST = {most}; import pytest; import sys; sys.exit(pytest.main(sys.argv[1:]))"
    )
    asked = ["-p", "tests.quick", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", program, *asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout
    assert ("test_it.py took" in done.stdout) is bool(code)


def test_what_is_quick_is_there() -> None:
    assert all((ROOT / file).exists() for file in quick.files())
    assert "tests/unit/test_layers.py" in quick.files()
    assert {*quick.ALSO_SLOW} <= unit().keys()
    for left_out in quick.LEFT_OUT:
        file, _, name = left_out.partition("::")
        assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")
