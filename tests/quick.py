"""Run what one runs while working: the golden tests, and the unit tests that are quick.

    python -m tests.quick [arguments of pytest]

What is left out is named by `tests.versions.SLOW` and here, with the examples of the pages. Of a test with many cases
three are run, the first, the last and the one between (`tests.cases`); `make pytest` runs all. A file that takes more
processor time than `MOST` fails the run, so that what is called quick stays so, on a busy machine, too.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.versions import SLOW, unit

MOST = 40.0
"""Processor seconds of one file, several times what any takes once its kernels are compiled."""

ALSO_SLOW = ("forms_attacked", "fuzz", "interval_terms", "modular", "projective", "same_work")
"""Together a third of the time of all others, of parts that few changes touch."""

LEFT_OUT = (
    "tests/unit/test_docs.py::test_examples_run",
    "tests/unit/testing/test_testing.py::test_every_check_is_a_case",
)
SPENT = "processor seconds"


def files() -> list[str]:
    """The files to run."""
    return ["tests/golden", *(file for name, file in unit().items() if name not in {*SLOW, *ALSO_SLOW})]


def spent() -> float:
    """Processor seconds of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Clock:
    """Adds up what every file takes, wherever its tests run, and fails the run where that is too much."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Note what a test took, where it runs."""
        before = spent()
        try:
            yield
        finally:
            item.user_properties.append((SPENT, spent() - before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add it up, where reports arrive."""
        if report.when == "call":
            self.files[report.nodeid.partition("::")[0]] += sum(
                value for name, value in report.user_properties if name == SPENT
            )

    def too_slow(self) -> list[str]:
        """The files that are not quick."""
        return [f"{file} took {seconds:.0f} s" for file, seconds in self.files.most_common() if seconds > MOST]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run with a slow file has failed."""
        if self.too_slow() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which, and what to do."""
        total = sum(self.files.values())
        slowest = ", ".join(f"{Path(file).stem} {seconds:.0f} s" for file, seconds in self.files.most_common(8))
        terminalreporter.write_line(f"quick: {len(self.files)} files, {total:.0f} s of the processor: {slowest}")
        for said in self.too_slow():
            remedy = "run again if kernels were compiled; else make it quicker, or name it in tests.versions.SLOW"
            terminalreporter.write_line(f"quick: {said}, {MOST:.0f} s are allowed; {remedy}")


def pytest_configure(config: pytest.Config) -> None:
    """Start the clock, in the process that collects reports and in those that run tests."""
    config.pluginmanager.register(Clock(), "quick-clock")


if __name__ == "__main__":
    left_out = [word for name in LEFT_OUT for word in ("--deselect", name)]
    some = ["-p", "tests.cases", "--cases", "3"]
    sys.exit(pytest.main(["-p", "tests.quick", *some, *left_out, *files(), *sys.argv[1:]]))
