"""Record which tests execute which lines, and find the tests that cover a mutant.

Tests are traced in two stages, since most mutants need only the first: the cases that samples of `make test` contain,
and for mutants that survive these, the other cases of `make nightly`.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args

from coverage import CoverageData

from tests.mutation.drawing import load_drawn
from tests.mutation.operators import Mutant
from tests.mutation.project import KERNELS, Copy, Project
from tests.sampling import Case, choose_cases
from tests.tiers import tier_of

Stage = Literal["sample", "rest"]
"""The cases that samples contain, or the others."""


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:16]


def draw_samples(path: Path, tests: Mapping[str, Sequence[Case]], seeds: Iterable[int]) -> dict[int, set[str]]:
    """Draw the cases of a test file that `make test` runs, by the seed of its sample: none of a nightly file."""
    nightly = tier_of(path) == "nightly"
    return {seed: set() if nightly else choose_cases(tests, "sample", seed) for seed in seeds}


class SourceIndex:
    """Finds names in the sources, for statements whose lines are not traced."""

    def __init__(self, project: Project) -> None:
        self.sources = project.sources()

    def function(self, mutant: Mutant) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around a mutant."""
        around = None
        for node in ast.walk(ast.parse(self.sources[mutant.file])):  # outer ones first
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                around = node if node.lineno <= mutant.line <= (node.end_lineno or node.lineno) else around
        return around

    def is_kernel(self, file: str) -> bool:
        """Return whether numba compiles functions of a file, whose lines are then not traced."""
        return any(each.encode() in self.sources[file] for each in KERNELS)

    def names(self, mutant: Mutant) -> set[str]:
        """Return the names by which other code uses a statement that is not traced."""
        top = mutant.scope.partition(".")[0]
        names = {top} if top else set()
        for node in ast.walk(ast.parse(self.sources[mutant.file])):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno == mutant.statement[0]:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        return names

    def needs_names(self, mutant: Mutant) -> bool:
        """Return whether no test executes a mutant's line: a kernel's, or one that runs when a module is imported."""
        return self.is_kernel(mutant.file) or self.function(mutant) is None

    def mentions(self, file: str, names: set[str]) -> Iterator[tuple[str, int, str]]:
        """Yield where names of a file are mentioned: the file, the line, and the definition or constant around it."""
        stem = Path(file).parent.name if file.endswith("__init__.py") else Path(file).stem
        for name in names:
            for other, line, user in self._mentions.get(name, ()):
                if other == file or stem.encode() in self.sources[other]:
                    yield other, line, user

    def files_to_trace(self, mutants: Iterable[Mutant]) -> set[str]:
        """Return the sources whose lines tell which tests cover mutants."""
        mutants = list(mutants)
        files = {each.file for each in mutants}
        left = [(each.file, name) for each in mutants if self.needs_names(each) for name in self.names(each)]
        seen = set(left)
        while left:
            file, name = left.pop()
            for other, _, user in self.mentions(file, {name}):
                files.add(other)
                if user and self.is_kernel(other) and (other, user) not in seen:
                    seen.add((other, user))
                    left.append((other, user))
        return files

    @cached_property
    def _mentions(self) -> dict[str, set[tuple[str, int, str]]]:
        found: dict[str, set[tuple[str, int, str]]] = defaultdict(set)
        for file, source in self.sources.items():
            for statement in ast.parse(source).body:
                user = getattr(statement, "name", "")
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                    user = target.id if isinstance(target, ast.Name) else ""
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        found[node.id].add((file, node.lineno, user))
                    elif isinstance(node, ast.Attribute):
                        found[node.attr].add((file, node.lineno, user))
        return found


class CoverageStore:
    """The stored lines of every test file in a stage: NAME.json about its tests, NAME.coverage with their lines."""

    def __init__(self, project: Project, stage: Stage, seeds: Iterable[int], index: SourceIndex | None = None) -> None:
        self.project, self.stage, self.seeds = project, stage, sorted(seeds)
        self.folder = project.store / "coverage" / stage
        self.index = index or SourceIndex(project)
        drawn = load_drawn(project)
        self.traced = self.index.files_to_trace(each for several in drawn.values() for each in several)
        """The sources whose lines are recorded: those that decide about the drawn mutants."""

    def test_files(self, beginnings: tuple[str, ...] = ()) -> list[str]:
        """List the test files of the stage: without nightly ones in that of samples."""
        files = self.project.test_files(beginnings)
        if self.stage == "rest":
            return files
        return [file for file in files if tier_of(self.project.root / file) != "nightly"]

    def path(self, file: str) -> Path:
        """Return the path of a test file's JSON."""
        return self.folder / (file.removesuffix(".py").replace("/", ".") + ".json")

    def read(self, file: str) -> dict[str, Any] | None:
        """Read what is stored of a test file; None if it was never traced."""
        path = self.path(file)
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    @contextmanager
    def _data(self, file: str) -> Iterator[CoverageData]:
        path = self.path(file).with_suffix(".coverage")
        data = CoverageData(str(path) if path.exists() else None, no_disk=not path.exists())
        data.read()
        try:
            yield data
        finally:
            data.close()

    def measured(self, file: str) -> set[str]:
        """Return the sources that a test file executed or imported."""
        with self._data(file) as data:
            return data.measured_files()

    def lines(self, file: str, source: str) -> dict[int, list[str]]:
        """Read the contexts in which the tests of a file executed each line of a source."""
        with self._data(file) as data:
            return data.contexts_by_lineno(source)

    def is_current(self, file: str) -> bool:
        """Return whether neither a test file nor a source that it executes has changed since it was traced."""
        known = self.read(file)
        if known is None or "digests" not in known or not self.traced <= set(known["traced"]):
            return False
        if known["seeds"] != self.seeds:
            return False
        return all(
            (self.project.root / name).exists() and _digest(self.project.root / name) == digest
            for name, digest in known["digests"].items()
        )

    def seal(self, file: str, copy: Copy) -> None:
        """Store the digests of a test file and of the sources that it executes."""
        executed = [
            source for source in self.measured(file) if any(any(each) for each in self.lines(file, source).values())
        ]
        known = self.read(file)
        assert known is not None
        known["digests"] = {name: _digest(copy.root / name) for name in (file, *executed)}
        known["traced"], known["seeds"] = sorted(self.traced), self.seeds
        self.path(file).write_text(json.dumps(known), encoding="utf-8")


def trace_folder(store: CoverageStore, copy: Copy, files: list[str], deadline: float | None) -> None:
    """Trace test files of one folder, in one process unless one of them ends it.

    Args:
        store: Receives the lines.
        copy: Where the tests run.
        files: The test files.
        deadline: The time after which no file is begun.
    """
    left = files
    while left and (deadline is None or time.time() < deadline):
        print(f"cover: {left[0].rpartition('/')[0]}, {len(left)} files", flush=True)
        for file in left:
            store.path(file).unlink(missing_ok=True)
        _trace(store, copy, left, deadline)
        done = [file for file in left if store.path(file).exists()]
        for file in done:
            store.seal(file, copy)
        left = [file for file in left if file not in done]
        if left and (deadline is None or time.time() < deadline):
            print(f"cover: {left[0]} ended the process, see {_log(store, copy)}; it covers nothing", flush=True)
            left = left[1:]


def _log(store: CoverageStore, copy: Copy) -> Path:
    return store.folder / f"pytest-{copy.number}.txt"


def _trace(store: CoverageStore, copy: Copy, files: list[str], deadline: float | None) -> None:
    plan = store.folder / f"plan-{copy.number}.json"
    paths = {file: str(store.path(file)) for file in files}
    content = {"package": copy.project.package, "sources": sorted(store.traced), "files": paths, "deadline": deadline}
    content |= {"seeds": store.seeds, "stage": store.stage}
    plan.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.mutation.coverage_plugin"]
    command += ["-q", "--continue-on-collection-errors", *files]
    with copy.environment() as environment, _log(store, copy).open("wb") as log:
        environment["MUTATION_PLAN"] = str(plan)
        subprocess.run(command, cwd=copy.root, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)


@dataclass(frozen=True)
class Suite:
    """The tests that cover a mutant."""

    sampled: dict[str, frozenset[int]]
    """Those that a sample of `make test` contains, with the seeds of these samples."""
    others: frozenset[str]
    """Those that only `make nightly` runs, of the mutant's package."""


def digest_tests(project: Project, tests: Iterable[str]) -> str:
    """Return a digest of tests and of the files that they are in."""
    tests = sorted(tests)
    files = sorted({test.partition("::")[0] for test in tests})
    text = [*tests, *(_digest(project.root / file) for file in files)]
    return sha256("\n".join(text).encode()).hexdigest()[:16]


class CoverageMap:
    """Finds the tests that cover a mutant, from the stored lines of all test files."""

    def __init__(self, project: Project, seeds: Iterable[int]) -> None:
        self.project = project
        self.index = SourceIndex(project)
        seeds = list(seeds)
        self.stores = [CoverageStore(project, stage, seeds, self.index) for stage in get_args(Stage)]
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        """Tests that failed or files that were not collected when they were traced: they kill nothing."""
        self._lock = Lock()
        self._lines = lru_cache(64)(self._read_lines)
        self.samples: dict[int, set[str]] = {seed: set() for seed in seeds}
        self.untraced: list[str] = []
        """Test files of the first stage that have to be traced, or traced again."""
        self._users: dict[str, set[str]] = defaultdict(set)
        self._testers: dict[str, list[tuple[CoverageStore, str]]] = defaultdict(list)
        """The test files that execute each source, in each stage."""
        for store in self.stores:
            for file in store.test_files():
                if store.stage == "sample" and not store.is_current(file):
                    self.untraced.append(file)
                known = store.read(file)
                if known is not None:
                    self._read(file, known)
                    for source in known.get("digests", ()):
                        self._testers[source].append((store, file))

    def testers(self, source: str) -> set[str]:
        """Return the test files that execute a source."""
        return {file for _, file in self._testers[source]}

    def _read(self, file: str, known: dict[str, Any]) -> None:
        cases = {
            function: [Case(id, frozenset(groups)) for id, groups in each] for function, each in known["cases"].items()
        }
        for seed, sample in draw_samples(self.project.root / file, cases, self.samples).items():
            self.samples[seed] |= sample
        for context, users in known["shared"].items():
            self._users[context].update(users)
        self.failed += [id for id, outcome in known["failed"].items() if outcome == "failed"]
        self.seconds.update({id: each for id, each in known["seconds"].items() if id not in known["failed"]})

    def _tests(self, context: str) -> set[str]:
        """Return the tests that a context stands for, of those that passed when they were traced."""
        users = self._users.get(context, set()) if context.startswith("fixture ") else {context}
        return {test for test in users if test in self.seconds}

    def lines(self, source: str) -> dict[int, set[str]]:
        """Return the tests that execute each line of a source."""
        with self._lock:
            return self._lines(source)

    def _read_lines(self, source: str) -> dict[int, set[str]]:
        found: dict[int, set[str]] = defaultdict(set)
        for store, file in self._testers[source]:
            for line, contexts in store.lines(file, source).items():
                for context in contexts:
                    found[line] |= self._tests(context)
        return found

    def suite(self, mutant: Mutant) -> Suite:
        """Return the tests that cover a mutant."""
        package = self.project.package_of(mutant.file)
        seeds = {
            test: frozenset(seed for seed, sample in self.samples.items() if test in sample)
            for test in self.covering(mutant)
        }
        others = frozenset(test for test, each in seeds.items() if not each and self.project.belongs(test, package))
        return Suite({test: each for test, each in seeds.items() if each}, others)

    def files_for(self, mutants: Iterable[Mutant]) -> list[str]:
        """List the test files whose other cases may kill mutants that survive the samples.

        They belong to a mutant's package, and are nightly or execute a source that tells what covers the mutant.
        """
        files: set[str] = set()
        for mutant in mutants:
            package = self.project.package_of(mutant.file)
            executing = set().union(*(self.testers(source) for source in self.index.files_to_trace([mutant])))
            files |= {
                file
                for file in self.project.test_files()
                if self.project.belongs(file, package)
                and (file in executing or tier_of(self.project.root / file) == "nightly")
            }
        return sorted(files)

    def covering(self, mutant: Mutant) -> set[str]:
        """Return all tests that cover a mutant."""
        lines = self.lines(mutant.file)
        first, last = mutant.statement
        tests = lines.get(mutant.line) or _union(lines, first, last)
        if tests:
            return set(tests)
        function = self.index.function(mutant)
        if function is not None:
            start, end = function.body[0].lineno, function.end_lineno or function.lineno
            if tests := _union(lines, start, end):  # a default is computed when the module is imported
                return tests if mutant.line < start else set()
        if not self.index.needs_names(mutant):
            return set()
        return self._mentioning(mutant.file, self.index.names(mutant), set())

    def is_kernel(self, file: str) -> bool:
        """Return whether numba compiles functions of a file."""
        return self.index.is_kernel(file)

    def _mentioning(self, file: str, names: set[str], seen: set[tuple[str, str]]) -> set[str]:
        """Return the tests that cover a line that mentions a name of a file, through other kernels, too."""
        names = {name for name in names if (file, name) not in seen}
        seen |= {(file, name) for name in names}
        tests: set[str] = set()
        for other, line, user in self.index.mentions(file, names):
            covered = self.lines(other).get(line, set())
            tests |= covered
            if user and not covered and self.index.is_kernel(other):
                tests |= self._mentioning(other, {user}, seen)
        return tests


def _union(lines: dict[int, set[str]], first: int, last: int) -> set[str]:
    return {test for line in range(first, last + 1) for test in lines.get(line, ())}
