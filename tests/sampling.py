"""Draw the cases of each test that a run executes, and report what was drawn.

    pytest --cases sample             # the sample of `make test`, by a seed from git's tree
    pytest --cases sample --seed 7    # the sample of another run
    pytest --cases 3                  # three cases of each test: the first, the last, one between
    pytest --cases all                # the default

A sample always includes the first and the last case of a test, one case of each family of mechanisms, and one of each
value of a parameter that has few. Of the other cases it takes one in `SHARE`, by the seed, so that successive commits
cover them all. Golden tests, the examples of the docs and the museum of bugs always run all their cases.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hush.mechanisms import registry
from hush.mechanisms.collected import Collected

ROOT = Path(__file__).resolve().parents[1]
SHARE = 12
"""One in so many of the cases that nothing else selects is drawn."""

MAX_VALUES = 3
"""A parameter with at most this many different values is sampled at each of them."""

WHOLE = ("tests/golden/", "tests/docs/", "tests/conformance/test_museum.py")
"""Tests that always run all their cases."""

EVERY_MECHANISM = ("tests/conformance/", "tests/statistical/test_sampler.py")
"""Tests of which a sample includes every mechanism, not one of each family."""

SLOWEST_FILES = 10


@dataclass(frozen=True)
class Case:
    """One case of a parametrized test: its name and the groups that a sample must represent."""

    id: str
    groups: frozenset[Hashable] = field(default_factory=frozenset)


def spread(cases: int, count: int) -> set[int]:
    """Return the positions of `count` cases: the first, the last, and evenly between them."""
    if not 0 < count < cases:
        return set(range(cases))
    return {round(i * (cases - 1) / max(count - 1, 1)) for i in range(count)}


def draw(cases: Sequence[Case], seed: int) -> set[str]:
    """Draw the cases of one test.

    Args:
        cases: All of its cases, in order.
        seed: Selects among cases that are not fixed.
    """
    order = {case.id: _draw_number(seed, case.id) for case in cases}
    drawn = {cases[0].id, cases[-1].id}
    drawn |= {id for id, number in order.items() if number % SHARE == 0}
    seen = {group for case in cases if case.id in drawn for group in case.groups}
    for case in sorted(cases, key=lambda each: order[each.id]):
        if not case.groups <= seen:
            drawn.add(case.id)
            seen |= case.groups
    return drawn


def _draw_number(seed: int, id: str) -> int:
    return int.from_bytes(sha256(f"{seed} {id}".encode()).digest()[:8], "big")


def family(value: Any) -> str | None:
    """Return the family of a mechanism, a class of mechanisms, a spec or a registered name; None of anything else."""
    if isinstance(value, str):
        value = _registered().get(value)
    cls = value if isinstance(value, type) else type(getattr(value, "mechanism", value))
    return _source_family(cls) if issubclass(cls, Collected) else None


@cache
def _registered() -> dict[str, type[Any]]:
    return registry.registry(None)


@cache
def _source_family(cls: type[Any]) -> str:
    """Name the module or folder that defines a class; its `__module__` is the public one."""
    for each in (each for base in cls.__mro__ for each in vars(base).values()):
        code = getattr(getattr(each, "fget", each), "__code__", None)
        parts = Path(code.co_filename).parts if code else ()
        if "hush" in parts:
            inside = parts[len(parts) - parts[::-1].index("hush") :]
            return "/".join(inside[:2]).removesuffix(".py")
    return cls.__name__


def cases_of(items: Iterable[pytest.Item]) -> dict[str, list[Case]]:
    """List the cases of every test, by the name of its function."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    return {name: _grouped(cases) for name, cases in tests.items()}


def _grouped(items: list[pytest.Item]) -> list[Case]:
    if len(items) == 1:
        return [Case(items[0].nodeid)]
    parameters = [getattr(getattr(item, "callspec", None), "params", {}) for item in items]
    values: dict[str, set[str]] = defaultdict(set)
    for each in parameters:
        for name, value in each.items():
            values[name].add(repr(value))
    found = []
    for item, each in zip(items, parameters, strict=True):
        groups: set[Hashable] = set()
        for name, value in each.items():
            if len(values[name]) <= MAX_VALUES:
                groups.add((name, repr(value)))
            elif of := family(value):
                every = item.nodeid.startswith(EVERY_MECHANISM)
                groups.add((name, repr(value) if every else of))
        found.append(Case(item.nodeid, frozenset(groups)))
    return found


def choose(items: Sequence[pytest.Item], cases: str, seed: int) -> set[str]:
    """Choose the cases that a run executes.

    Args:
        items: Everything that was collected.
        cases: "all", "sample", or a count for each test.
        seed: The seed of a sample.
    """
    return choose_cases(cases_of(items), cases, seed)


def choose_cases(tests: Mapping[str, Sequence[Case]], cases: str, seed: int) -> set[str]:
    """Choose the cases of tests by the names of their functions, as `choose` does."""
    chosen = set()
    for name, each in tests.items():
        if cases == "all" or name.startswith(WHOLE):
            chosen |= {case.id for case in each}
        elif cases == "sample":
            chosen |= draw(each, seed)
        else:
            chosen |= {each[i].id for i in spread(len(each), int(cases))}
    return chosen


def tree_seed(root: Path = ROOT) -> int:
    """Derive a seed from the tree that git has checked out; 0 without git."""
    try:
        command = ["git", "rev-parse", "--verify", "HEAD^{tree}"]
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(found.stdout[:8], 16)


def _count(text: str) -> str:
    if text in ("all", "sample") or (text.isdecimal() and int(text) > 0):
        return text
    raise pytest.UsageError(f"--cases must be all, sample or a positive count, got {text!r}; try --cases sample")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose cases."""
    group = parser.getgroup("hush", "tiers and samples")
    group.addoption("--cases", type=_count, default="all", help="all, sample, or so many cases of each test")
    group.addoption("--seed", type=int, help="the seed of a sample (default: from git's tree)")


def pytest_configure(config: pytest.Config) -> None:
    """Settle the seed before processes are started, so that all draw the same sample, and register the summary."""
    if config.option.seed is None:
        config.option.seed = tree_seed()
    config.pluginmanager.register(Summary(config), "hush-summary")


class Summary:
    """Collects what was drawn and how long files took, and prints both at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: Counter[str] = Counter()
        self.drawn = (0, 0, 0)
        """Cases run, cases collected, and functions."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what was not drawn."""
        chosen = choose(items, config.option.cases, config.option.seed)
        functions = len({item.nodeid.partition("[")[0] for item in items})
        self.drawn = (len(chosen), len(items), functions)
        if hasattr(config, "workeroutput"):
            config.workeroutput["drawn"] = self.drawn
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]

    @pytest.hookimpl(optionalhook=True)  # of xdist
    def pytest_testnodedown(self, node: Any) -> None:
        """Receive what a process has drawn."""
        self.drawn = getattr(node, "workeroutput", {}).get("drawn", self.drawn)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a file."""
        self.seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the slowest files and what was sampled."""
        options = self.config.option
        if hasattr(self.config, "workerinput") or (options.tier == "nightly" and options.cases == "all"):
            return
        terminalreporter.section("slowest files")
        for file, seconds in self.seconds.most_common(SLOWEST_FILES):
            terminalreporter.write_line(f"{seconds:7.1f} s  {file}")
        run, collected, functions = self.drawn
        terminalreporter.section("sample")
        terminalreporter.write_line(
            f"{run} of {collected} cases of {functions} tests (--cases {options.cases}, --tier {options.tier})"
        )
        if options.cases == "sample":
            again = f"`make test SEED={options.seed}` draws the same cases, `make test CASES=all` runs all"
            terminalreporter.write_line(f"seed {options.seed}: {again}")
