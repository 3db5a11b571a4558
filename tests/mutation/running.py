"""Run the tests that cover a mutant until one fails, and store which runs of `make test` and `make nightly` kill it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock

from tests.mutation.covering import CoverageMap, Suite, digest_tests
from tests.mutation.operators import Mutant
from tests.mutation.project import Copy, Project

FIRST_CHUNK = 50
CHUNK = 400
"""How many tests a process runs."""

MIN_SECONDS = 60.0
"""The least time of a test after which it counts as hanging; and of collecting, five times that."""

FACTOR = 5.0
"""A test hangs after so many times its stored duration."""

COMPILE_SECONDS = 180.0
"""Added where kernels have to be compiled."""

MAX_MEMORY = 8 * 2**30
MAX_FILE = 4 * 2**30
"""Bytes that a process may take, since a mutant may ask for any number."""


@dataclass(frozen=True)
class Limits:
    """How long processes may take."""

    test: float = MIN_SECONDS
    collection: float = 5 * MIN_SECONDS


@dataclass(frozen=True)
class Outcome:
    """What happened to a process: the tests that killed the mutant and how, or that all passed."""

    killers: tuple[str, ...] = ()
    reason: str = ""
    """failed, timeout, crashed, collection or startup; "" if all passed."""


@dataclass
class Result:
    """Which runs kill a mutant."""

    key: str
    source: str
    """A digest of all sources."""
    sampled: str
    """A digest of the tests that cover the mutant and that a sample contains, and of their files."""
    seeds: dict[str, bool]
    """Whether `make test` kills it, by the seed of its sample."""
    nightly: bool
    covering: int
    """How many tests cover it."""
    others: str = ""
    """A digest of the other tests of `make nightly`, if they ran, and of their files."""
    file: str = ""
    line: int = 0
    start: int = 0
    original: str = ""
    replacement: str = ""
    killers: list[str] = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0


class ResultStore:
    """The results of all runs, one a line; the last one of a mutant counts."""

    def __init__(self, project: Project) -> None:
        self.path = project.store / "results.jsonl"
        self.lock = Lock()

    def add(self, result: Result) -> None:
        """Append a result."""
        with self.lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")

    def read(self, source: str) -> dict[str, Result]:
        """Read the results of the sources with a digest, by the key of the mutant."""
        if not self.path.exists():
            return {}
        rows = [Result(**json.loads(line)) for line in self.path.read_text("utf-8").splitlines()]
        return {row.key: row for row in rows if row.source == source}


def is_decided(result: Result | None, seeds: Iterable[int], sampled: str) -> bool:
    """Return whether a stored result still holds: tests that failed still fail, but new ones may kill a survivor."""
    if result is None or not {str(seed) for seed in seeds} <= set(result.seeds):
        return False
    return all(result.seeds.values()) or result.sampled == sampled


def order_tests(
    tests: Iterable[str], seconds: dict[str, float], seeds: Mapping[str, frozenset[int]] | None = None
) -> list[str]:
    """Order tests: those of most samples first, then one case of each function before a second, then the fastest."""
    seeds = seeds or {}

    def order(test: str) -> tuple[float, ...]:
        return (-len(seeds.get(test, ())), seconds.get(test, 0.0))

    functions: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: (*order(test), test)):
        functions[test.partition("[")[0]].append(test)
    rank = {test: i for cases in functions.values() for i, test in enumerate(cases)}
    return sorted(rank, key=lambda test: (order(test)[0], rank[test], *order(test)[1:], test))


def group_by_file(tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Order the tests of one process by file, the fastest file first, so that shared fixtures are set up once."""
    files: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        files[test.partition("::")[0]].append(test)
    order = sorted(files.values(), key=lambda each: sum(seconds.get(test, 0.0) for test in each))
    return [test for each in order for test in each]


class Runner:
    """Runs mutants in one copy of the project."""

    def __init__(self, copy: Copy, coverage: CoverageMap, limits: Limits, deadline: float | None) -> None:
        self.copy, self.coverage, self.limits, self.deadline = copy, coverage, limits, deadline
        self.log = copy.project.store / "logs"
        self.log.mkdir(parents=True, exist_ok=True)
        self.unsound: set[str] = set()
        self.sound: set[str] = set()
        """Tests that fail or pass alone in the copy without a mutant."""

    def decide(self, mutant: Mutant, suite: Suite, source: str) -> Result | None:
        """Find out which samples of `make test` kill a mutant; None if the time is over before that is known."""
        begin = time.monotonic()
        killed: set[int] = set()
        killers: dict[str, str] = {}
        left, size = order_tests(suite.sampled, self.coverage.seconds, suite.sampled), FIRST_CHUNK
        while left := [test for test in left if test not in self.unsound and suite.sampled[test] - killed]:
            if self.is_late():
                return None
            chunk = group_by_file(left[:size], self.coverage.seconds)
            outcome = self.run(mutant, chunk, brief=True)
            size = CHUNK
            if not outcome.killers:
                left = [test for test in left if test not in set(chunk)]
            elif self._is_sound(outcome.killers[0]):
                killers[outcome.killers[0]] = outcome.reason
                every = suite.sampled if outcome.reason == "startup" else outcome.killers
                killed |= {seed for test in every for seed in suite.sampled[test]}
                left = [test for test in left if test not in outcome.killers]
        return Result(
            key=mutant.key,
            source=source,
            sampled=digest_tests(self.copy.project, suite.sampled),
            seeds={str(seed): seed in killed for seed in self.coverage.samples},
            nightly=bool(killed),
            covering=len(suite.sampled),
            file=mutant.file,
            line=mutant.line,
            start=mutant.start,
            original=mutant.original,
            replacement=mutant.replacement,
            killers=list(killers),
            reason=next(iter(killers.values()), ""),
            seconds=round(time.monotonic() - begin, 1),
        )

    def decide_others(self, mutant: Mutant, suite: Suite, result: Result) -> Result | None:
        """Find out whether the other tests of `make nightly` kill a mutant that survives the samples."""
        begin = time.monotonic()
        left = order_tests(suite.others, self.coverage.seconds)
        killers: tuple[str, ...] = ()
        reason = ""
        while not killers and (left := [test for test in left if test not in self.unsound]):
            if self.is_late():
                return None
            chunk = group_by_file(left[:CHUNK], self.coverage.seconds)
            outcome = self.run(mutant, chunk, brief=False)
            if not outcome.killers:
                left = [test for test in left if test not in set(chunk)]
            elif self._is_sound(outcome.killers[0]):
                killers, reason = outcome.killers[:1], outcome.reason
        return replace(
            result,
            others=digest_tests(self.copy.project, suite.others),
            nightly=bool(killers),
            covering=len(suite.sampled) + len(suite.others),
            killers=list(killers),
            reason=reason,
            seconds=round(result.seconds + time.monotonic() - begin, 1),
        )

    def is_late(self) -> bool:
        """Return whether the time is over."""
        return self.deadline is not None and time.time() > self.deadline

    def run(self, mutant: Mutant, tests: list[str], *, brief: bool) -> Outcome:
        """Run tests on a mutant until one fails."""
        compiles = self.coverage.is_kernel(mutant.file)
        with self.copy.mutate(mutant):
            return self._run(tests, mutant.key, compiles=compiles, brief=brief)

    def _is_sound(self, test: str) -> bool:
        """Return whether a test passes in the copy without a mutant, so that its failure means something."""
        if test not in self.sound | self.unsound:
            passes = not self._run([test], f"sound-{self.copy.number}", compiles=False, brief=True).reason
            (self.sound if passes else self.unsound).add(test)
            if not passes:
                print(f"run: {test} fails without a mutant; it is left out", flush=True)
        return test in self.sound

    def _run(self, tests: list[str], name: str, *, compiles: bool, brief: bool) -> Outcome:
        plan, log = self.log / f"{name}.plan.json", self.log / f"{name}.log"
        log.write_text("", encoding="utf-8")
        plan.write_text(json.dumps({"tests": tests, "brief": brief, "log": str(log)}), encoding="utf-8")
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "tests.mutation.selection_plugin", *files]
        with (
            self.copy.environment(compiles=compiles) as environment,
            (self.log / f"{name}.txt").open("wb") as output,
        ):
            environment["MUTATION_PLAN"] = str(plan)
            process = subprocess.Popen(
                command,
                cwd=self.copy.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            _limit_resources(process.pid)
            hangs = not self._wait(process, log, compiles=compiles)
        return read_outcome(_events(log), process.returncode, tests, hangs=hangs)

    def _wait(self, process: subprocess.Popen[bytes], log: Path, *, compiles: bool) -> bool:
        """Wait until a process ends; end it and return False if one of its tests hangs."""
        more = COMPILE_SECONDS if compiles else 0.0
        size, since = 0, time.monotonic()
        allowed = self.limits.collection + more
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.1)
                    return True
                if log.stat().st_size != size:
                    size, since = log.stat().st_size, time.monotonic()
                    events = _events(log)
                    started = [test for event, test in events if event == "start"]
                    if started:
                        seconds = self.coverage.seconds.get(started[-1], 0.0)
                        allowed = max(self.limits.test, FACTOR * seconds) + more
                if time.monotonic() - since > allowed:
                    return False
        finally:
            _end_group(process)


def _limit_resources(process: int) -> None:
    """Limit what a mutant may take, where the system allows that from outside."""
    if hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
            resource.prlimit(process, resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
            resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started and left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _events(log: Path) -> list[list[str]]:
    lines = log.read_text("utf-8").split("\n")[:-1]  # the last one may not be complete
    return [json.loads(line) for line in lines]


def read_outcome(events: list[list[str]], code: int, tests: list[str], *, hangs: bool) -> Outcome:
    """Find the listed tests that killed a mutant in the log of a process.

    Args:
        events: The log.
        code: The code that the process ended with.
        tests: The listed tests.
        hangs: Whether it was ended since it took too long.
    """
    if not hangs and code == 0:
        return Outcome()
    names: dict[str, list[str]] = defaultdict(list)
    for event, name in events:
        names[event].append(name)
    if failed := names["failed"]:
        return Outcome(_listed(failed[0], tests), "failed")
    if names["start"] and len(names["start"]) > len(names["end"]):
        return Outcome(_listed(names["start"][-1], tests), "timeout" if hangs else "crashed")
    if broken := names["broken"]:
        return Outcome(tuple(test for test in tests if test.startswith(tuple(broken))), "collection")
    if not names["collected"]:
        return Outcome(tuple(tests), "startup")
    if hangs or code not in (5,):  # 5: the mutant removed the tests
        last = names["end"][-1] if names["end"] else tests[0]
        return Outcome(_listed(last, tests), "timeout" if hangs else "crashed")
    return Outcome()


def _listed(test: str, tests: list[str]) -> tuple[str, ...]:
    """Return the listed tests that a test stands for: itself, or those of its function whose cases have changed."""
    if test in tests:
        return (test,)
    return tuple(each for each in tests if each.partition("[")[0] == test.partition("[")[0])
