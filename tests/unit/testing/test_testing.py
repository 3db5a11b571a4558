"""The conformance suite as others use it: of any kind, and check by check in a test suite of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hush
from hush import longitudinal, multidim
from hush.testing import ConformanceError, check_mechanism, checks_of, museum

SUITE = """
from hush import GRR
from hush.multidim import SMP
from hush.testing import museum, parametrize_with_checks


@parametrize_with_checks([GRR(k=3, epsilon=1.0), museum.LastNeverFake(k=4, epsilon=1.0),
                          SMP(sizes=(2, 2), epsilon=1.0, mechanism="GRR")])
def test_conforms(mechanism, check):
    check(mechanism)
"""


def test_every_check_is_a_case_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    asked = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    told = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, check=False)
    lines = told.stdout.splitlines()
    passed = {line.partition("[")[2] for line in lines if line.startswith("PASSED")}
    failed = {line.partition("[")[2].partition("]")[0] for line in lines if line.startswith("FAILED")}
    honest = [hush.GRR(k=3, epsilon=1.0), multidim.SMP(sizes=(2, 2), epsilon=1.0, mechanism="GRR")]
    assert {f"{m}-{check.name}]" for m in honest for check in checks_of(m)} <= passed
    broken = museum.LastNeverFake(k=4, epsilon=1.0)
    assert failed == {f"{broken}-{name}" for name in ("check_likelihood", "check_sampler")}
    assert told.returncode == 1


def test_a_failing_check_says_what_is_wrong() -> None:
    broken = museum.LastNeverFake(k=4, epsilon=1.0)
    [sampler] = [check for check in checks_of(broken) if check.name == "check_sampler"]
    with pytest.raises(ConformanceError, match=r"LastNeverFake\(k=4.*does not follow its law for value 0"):
        sampler(broken)


def test_a_protocol_over_time_is_checked_by_its_first_report() -> None:
    protocol = longitudinal.LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0)
    assert [check.name for check in checks_of(protocol)] == [check.name for check in checks_of(protocol.first_report)]
    check_mechanism(protocol)


def test_what_has_no_suite_is_refused() -> None:
    with pytest.raises(hush.errors.ParameterError, match="must be a frequency oracle, a mechanism for means, a coll"):
        check_mechanism("GRR")  # type: ignore[arg-type]


def test_no_exhibit_passes_for_a_mechanism_of_ours() -> None:
    assert museum.LastNeverFake.name() == "hush.testing.museum:LastNeverFake"
    assert museum.LastNeverFake.honest() is hush.GRR
    assert not [name for name in hush.registry() if "museum" in name]
