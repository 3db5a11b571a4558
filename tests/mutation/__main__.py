"""Run the steps of mutation testing: draw, cover, run, report."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import SimpleQueue
from typing import Any

from tests.mutation.covering import CoverageMap, CoverageStore, digest_tests, trace_folder
from tests.mutation.drawing import draw_mutants, load_drawn, store_drawn
from tests.mutation.operators import Mutant
from tests.mutation.project import Copy, Project
from tests.mutation.reporting import read_equivalents, render_report
from tests.mutation.running import Limits, Result, ResultStore, Runner, is_decided

STEPS = ("draw", "cover", "run", "report")


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="draw, cover, run, report (default: all of them)")
    parser.add_argument("--seed", type=int, default=0, help="draws the mutants (default: 0)")
    parser.add_argument("--count", type=int, default=84, help="how many mutants (default: 84)")
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 2, 3], help="seeds of `make test` (1 2 3)")
    parser.add_argument("--packages", nargs="+", help="only mutants of these packages")
    parser.add_argument("--tests", nargs="+", default=[], help="trace only test files whose names begin so")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes run tests (default: 2)")
    parser.add_argument("--limit-seconds", type=float, help="begin nothing after so many seconds; run again to go on")
    parsed = parser.parse_args(arguments)
    if unknown := set(parsed.steps) - set(STEPS):
        parser.error(f"unknown step {sorted(unknown)[0]!r}; choose from {', '.join(STEPS)}")
    parsed.steps = parsed.steps or list(STEPS)
    return parsed


def each_in_copies(copies: list[Any], tasks: Iterable[Any], run: Callable[[Any, Any], None]) -> None:
    """Run tasks in as many threads as there are copies, each task with a copy of its own."""
    free: SimpleQueue[Any] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def run_one(task: Any) -> None:
        copy = free.get()
        try:
            run(copy, task)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for _ in pool.map(run_one, tasks):
            pass


def draw(project: Project, options: argparse.Namespace) -> None:
    """Draw, store and print mutants."""
    drawn = draw_mutants(project, seed=options.seed, count=options.count)
    store_drawn(project, drawn, seed=options.seed, count=options.count)
    sources = project.sources()
    for package, mutants in drawn.items():
        for each in mutants:
            print(f"{package}: {each.file}:{each.line}: {each.key}, {each.operator}: ", end="")
            print(each.difference(sources[each.file]))
    total = Counter(each.operator for mutants in drawn.values() for each in mutants)
    print(f"draw: {total.total()} mutants of {len(drawn)} packages, without {', '.join(project.excluded)}: ", end="")
    print(", ".join(f"{count} {name}" for name, count in total.most_common()))


def make_copies(project: Project, count: int) -> list[Copy]:
    """Make copies of the project, or refresh those of an earlier run."""
    copies = [Copy(project, number) for number in range(count)]
    for copy in copies:
        copy.refresh()
    return copies


def cover(project: Project, options: argparse.Namespace, deadline: float | None) -> None:
    """Trace the cases that samples contain of the test files that have changed, or whose sources have."""
    store = CoverageStore(project, "sample", options.samples)
    trace(store, store.test_files(tuple(options.tests)), options.jobs, deadline)


def trace(store: CoverageStore, files: list[str], jobs: int, deadline: float | None) -> None:
    """Trace test files that are not current, the largest folders first."""
    store.folder.mkdir(parents=True, exist_ok=True)
    stale = [file for file in files if not store.is_current(file)]
    print(f"cover: {len(stale)} test files to trace ({store.stage})", flush=True)
    folders = [list(files) for _, files in groupby(stale, key=lambda file: file.rpartition("/")[0])]
    folders.sort(key=len, reverse=True)
    copies = make_copies(store.project, jobs)
    each_in_copies(copies, folders, lambda copy, files: trace_folder(store, copy, files, deadline))


def run(project: Project, options: argparse.Namespace, limits: Limits, deadline: float | None) -> None:
    """Run the tests of samples on mutants, and on the survivors the other tests of `make nightly`."""
    drawn = select_packages(load_drawn(project), options.packages)
    equivalents = read_equivalents(project)
    mutants = [each for several in drawn.values() for each in several if each.key not in equivalents]
    source, store = project.digest(), ResultStore(project)
    coverage = read_coverage(project, options.samples)
    results = store.read(source)

    def decide(runner: Runner, mutant: Mutant) -> None:
        suite = runner.coverage.suite(mutant)
        if runner.is_late() or is_decided(
            results.get(mutant.key), options.samples, digest_tests(project, suite.sampled)
        ):
            return
        add(store, mutant, runner.decide(mutant, suite, source))

    runners = [Runner(copy, coverage, limits, deadline) for copy in make_copies(project, options.jobs)]
    each_in_copies(runners, mutants, decide)

    results = store.read(source)
    survivors = [each for each in mutants if each.key in results and not results[each.key].nightly]
    print(f"run: {len(survivors)} mutants survive the samples", flush=True)
    trace(CoverageStore(project, "rest", options.samples), coverage.files_for(survivors), options.jobs, deadline)
    coverage = read_coverage(project, options.samples)

    def decide_others(runner: Runner, mutant: Mutant) -> None:
        suite, result = coverage.suite(mutant), results[mutant.key]
        if not runner.is_late() and result.others != digest_tests(project, suite.others):
            add(store, mutant, runner.decide_others(mutant, suite, result))

    runners = [Runner(copy, coverage, limits, deadline) for copy in make_copies(project, options.jobs)]
    each_in_copies(runners, survivors, decide_others)


def read_coverage(project: Project, seeds: list[int]) -> CoverageMap:
    """Read what is traced, and print what is wrong with it."""
    coverage = CoverageMap(project, seeds)
    if coverage.untraced:
        print(f"run: {len(coverage.untraced)} test files are not traced or have changed; `cover` traces them")
    if coverage.failed:
        print(f"run: {len(coverage.failed)} tests failed when they were traced and kill nothing, e.g. ", end="")
        print(coverage.failed[0])
    return coverage


def add(store: ResultStore, mutant: Mutant, result: Result | None) -> None:
    """Store and print a result, if there was time for one."""
    if result is not None:
        store.add(result)
        verdict = f"{result.reason} in {result.killers[0]}" if result.nightly else "survived"
        seeds = "".join("+" if each else "-" for each in result.seeds.values())
        print(f"run: {mutant.file}:{mutant.line}: {mutant.key} [{seeds}] {verdict}, {result.seconds:.0f} s", flush=True)


def select_packages(drawn: dict[str, list[Mutant]], packages: list[str] | None) -> dict[str, list[Mutant]]:
    """Keep the mutants of some packages."""
    return {name: each for name, each in drawn.items() if packages is None or name in packages}


def report(project: Project, options: argparse.Namespace) -> bool:
    """Print the report; return whether the shares suffice."""
    drawn = select_packages(load_drawn(project), options.packages)
    results = ResultStore(project).read(project.digest())
    text, enough = render_report(drawn, results, read_equivalents(project), options.samples, project.sources())
    print(text)
    return enough


def main(arguments: list[str] | None = None, project: Project | None = None, limits: Limits | None = None) -> int:
    """Run the steps; return 1 if the report shows that tests kill too little."""
    options = parse_arguments(arguments)
    project = project or Project()
    deadline = None if options.limit_seconds is None else time.time() + options.limit_seconds
    if "draw" in options.steps:
        draw(project, options)
    if "cover" in options.steps:
        cover(project, options, deadline)
    if "run" in options.steps:
        run(project, options, limits or Limits(), deadline)
    return 0 if "report" not in options.steps or report(project, options) else 1


if __name__ == "__main__":
    sys.exit(main())
