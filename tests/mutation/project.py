"""The folders that mutants, their tests and their results are in, and copies of the project in which mutants run."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

from tests.mutation.operators import Mutant

ROOT = Path(__file__).resolve().parents[2]
IGNORED = (".git", ".venv*", ".mutants", "__pycache__", ".*_cache", ".hypothesis", "node_modules", "site", "*.egg-info")
"""What a copy of the project leaves out."""

UNTRACED = (
    "tests/system/browser/*",
    "tests/system/workbench/*",
    "tests/system/test_javascript*",
    "tests/system/test_kernel_cache.py",
    "tests/system/test_other_programs.py",
    "tests/system/test_portable.py",
    "tests/system/test_ray*",
    "tests/system/test_signals.py",
    "tests/system/test_workbench_command.py",
    "tests/system/collect/*_kill*",
    "tests/unit/test_mutants.py",
    "tests/unit/workbench/*",
)
"""Tests that run Hush in other processes, or do not run it."""

KERNELS = ("hush.kernels.compiled", "from numba")
"""A file that contains one of these has functions that numba compiles."""


@dataclass(frozen=True)
class Project:
    """Where the sources, the tests and the results are, relative to the root."""

    root: Path = ROOT
    package: str = "src/hush"
    tests: tuple[str, ...] = (
        "tests/unit",
        "tests/golden",
        "tests/docs",
        "tests/conformance",
        "tests/statistical",
        "tests/system",
    )
    nightly: tuple[str, ...] = (
        "tests/unit/{package}/",
        "tests/unit/test_",
        "tests/system/{package}/",
        "tests/system/test_",
        "tests/golden/",
        "tests/docs/",
        "tests/conformance/",
        "tests/statistical/",
    )
    """How the names of test files begin that belong to a package."""
    excluded: tuple[str, ...] = ("workbench", "data")
    """Packages without mutants: the workbench is being rewritten, and data has no code."""

    @property
    def store(self) -> Path:
        """The folder of stored results."""
        return self.root / ".mutants"

    @property
    def equivalents(self) -> Path:
        """The list of mutants that no test can kill."""
        return self.root / "tests" / "equivalent_mutants.toml"

    def sources(self) -> dict[str, bytes]:
        """Read the sources that mutants are drawn from."""
        paths = sorted((self.root / self.package).rglob("*.py"))
        files = {path.relative_to(self.root).as_posix(): path for path in paths}
        return {file: path.read_bytes() for file, path in files.items() if self.package_of(file) not in self.excluded}

    def package_of(self, file: str) -> str:
        """Return the top-level package or module that a source file belongs to."""
        return Path(file).relative_to(self.package).parts[0].removesuffix(".py")

    def test_files(self, beginnings: tuple[str, ...] = ()) -> list[str]:
        """List the test files to trace, or those of them whose names begin with one of `beginnings`."""
        paths = [path for folder in self.tests for path in sorted((self.root / folder).rglob("test_*.py"))]
        files = [path.relative_to(self.root).as_posix() for path in paths]
        return [
            file
            for file in files
            if not any(fnmatch(file, each) for each in UNTRACED) and file.startswith(beginnings or ("",))
        ]

    def belongs(self, test: str, package: str) -> bool:
        """Return whether a test is one of a package in `make nightly`."""
        return test.startswith(tuple(each.format(package=package) for each in self.nightly))

    def digest(self) -> str:
        """Return a digest of all sources."""
        total = sha256()
        for file, source in self.sources().items():
            total.update(f"{file}\0{len(source)}\0".encode() + source)
        return total.hexdigest()[:16]


class Copy:
    """A copy of the project, which one process after another runs in."""

    def __init__(self, project: Project, number: int) -> None:
        self.project, self.number = project, number
        self.root = project.store / "copies" / str(number)
        self._second = 0

    def refresh(self) -> None:
        """Copy what differs from the project, and remove what it no longer has."""
        _synchronize(self.project.root, self.root)

    @contextmanager
    def mutate(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant for the duration of a block."""
        path = self.root / mutant.file
        before = path.stat()
        source = path.read_bytes()
        path.write_bytes(mutant.apply(source))
        # Compiled files are found by size and whole second, so that every mutant needs a second of its own.
        self._second = max(self._second + 1, int(time.time()))
        os.utime(path, (self._second, self._second))
        try:
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @contextmanager
    def environment(self, *, compiles: bool = False) -> Iterator[dict[str, str]]:
        """Provide the environment of a process that imports the sources of this copy.

        Args:
            compiles: Keep its compiled kernels from other processes.
        """
        # Sockets in this folder need a short name.
        temporary = Path(tempfile.mkdtemp(prefix="mutants-"))
        kernels = temporary / "numba" if compiles else self.project.store / "numba" / str(self.number)
        paths = [str(self.root / self.project.package.partition("/")[0]), str(ROOT), os.environ.get("PYTHONPATH", "")]
        try:
            yield {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                "NUMBA_CACHE_DIR": str(kernels),
                "TMPDIR": str(temporary),
                "OPENBLAS_NUM_THREADS": "1",
                "COVERAGE_CORE": "ctrace",
            }
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _synchronize(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    names = set()
    for path in source.iterdir():
        if any(fnmatch(path.name, each) for each in IGNORED):
            continue
        names.add(path.name)
        copy = target / path.name
        if path.is_dir():
            _synchronize(path, copy)
        elif not copy.exists() or _stamp(copy) != _stamp(path):
            shutil.copy2(path, copy)
    for path in target.iterdir():
        if path.name not in names and path.name != "__pycache__":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
