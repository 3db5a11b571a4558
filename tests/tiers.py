"""Choose the test files of a run by their tier and their marks, before any of them is imported.

    pytest --tier test                  # what `make test` runs
    pytest --tier check --without peers # what `make minimum` runs

A tier contains the one before it:

- `check`: `tests/unit`, `tests/golden` and `tests/docs`, without files marked `slow`;
- `test`: everything but files marked `nightly`;
- `nightly`: everything, and the default, so that `pytest FILE` always runs that file.

A file states its marks in one statement at its top level, which is read as text:

    pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("browser")]
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TIERS = ("check", "test", "nightly")
CHECK_FOLDERS = ("tests/unit", "tests/golden", "tests/docs")
"""Folders whose files belong to `make check`."""

ALWAYS = "tests/golden"
"""A folder whose files run whatever marks are asked for: they call every mechanism and every kernel."""

FILE_MARKS = {
    "slow": "takes too long for `make check`",
    "nightly": "runs in `make nightly` alone",
    "processor": "computes what must not depend on the processor: `make portable` runs it, too",
    "boundary": "meets Python's own types, texts, files, databases or messages: `make newer` runs it, too",
    "peers": "needs libraries that the least versions do not include: `make minimum` leaves it out",
}
_STATEMENT = re.compile(r"^pytestmark\s*=\s*(\[[^\n]*\][^\n]*$|\[.*?^\]|[^\n]*)", re.MULTILINE | re.DOTALL)


@cache
def read_marks(path: Path) -> frozenset[str]:
    """Read the names of a file's marks without importing it."""
    found = _STATEMENT.search(path.read_text(encoding="utf-8"))
    return frozenset(re.findall(r"pytest\.mark\.(\w+)", found[1])) if found else frozenset()


def tier_of(path: Path) -> str:
    """Return the first tier that runs a file."""
    marks = read_marks(path)
    if "nightly" in marks:
        return "nightly"
    below = path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(CHECK_FOLDERS)
    return "check" if below and "slow" not in marks else "test"


def is_chosen(path: Path, *, tier: str, only: str | None = None, without: str | None = None) -> bool:
    """Return whether a run includes a file."""
    if path.is_relative_to(ROOT / ALWAYS):
        return True
    if TIERS.index(tier_of(path)) > TIERS.index(tier):
        return False
    marks = read_marks(path)
    return (only is None or only in marks) and (without is None or without not in marks)


def test_files() -> list[Path]:
    """List every test file that pytest collects by default."""
    return sorted(path for path in (ROOT / "tests").rglob("test_*.py") if "spark" not in path.parts)


test_files.__test__ = False  # type: ignore[attr-defined]


def group_by_file(items: list[pytest.Item], folder: Path) -> None:
    """Let one process of xdist run all tests of a file, for every file of a folder."""
    for item in items:
        if item.path.parent == folder:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose files."""
    group = parser.getgroup("hush", "tiers and samples")
    group.addoption("--tier", choices=TIERS, default="nightly", help="run the files of this tier (default: nightly)")
    group.addoption("--only", choices=sorted(FILE_MARKS), help="of these, run only files with this mark")
    group.addoption("--without", choices=sorted(FILE_MARKS), help="of these, leave out files with this mark")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    for name, meaning in FILE_MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}; of a whole file only")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out before it is imported."""
    if collection_path.is_dir() or not collection_path.match("test_*.py"):
        return None
    options = config.option
    chosen = is_chosen(collection_path, tier=options.tier, only=options.only, without=options.without)
    return None if chosen else True
