"""A pytest plugin that records which lines every test executes, one file of tests after another.

The environment variable `MUTATION_PLAN` names a JSON file with `package` (the folder of sources), `sources` (the files
whose lines are recorded), `files` (those of the tests, mapped to where each is stored), `seeds` and `stage` (record the
cases that samples by these seeds contain, or the others) and `deadline` (a time after which no file is begun).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import coverage
import pytest

WARNINGS = ("no-data-collected", "module-not-imported", "module-not-measured", "couldnt-parse", "trace-changed")
"""Coverage's own warnings, which tests would take for failures."""


class LineRecorder:
    """Switches the context of coverage to the running test, and stores the lines of a test file when it ends."""

    def __init__(
        self,
        package: str,
        sources: list[str],
        files: dict[str, str],
        seeds: list[int],
        stage: str,
        deadline: float | None,
    ) -> None:
        self.package, self.sources, self.files, self.deadline = package, sources, files, deadline
        self.seeds, self.stage = seeds, stage
        self.file, self.function = "", ""
        self.coverage = self._start("")
        self.context = ""
        self.cases: dict[str, Any] = {}
        self.shared: dict[str, dict[str, list[str]]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self.caches: tuple[int, list[Any]] = (0, [])

    def _start(self, file: str) -> coverage.Coverage:
        data = f"{self.files[file]}.part" if file else None
        recorder = coverage.Coverage(data_file=data, config_file=False, include=self.sources, messages=False)
        recorder.set_option("run:relative_files", True)
        recorder.set_option("run:disable_warnings", list(WARNINGS))
        recorder.start()
        return recorder

    @contextmanager
    def _in_context(self, name: str) -> Iterator[None]:
        before, self.context = self.context, name
        self.coverage.switch_context(name)
        try:
            yield
        finally:
            self.context = before
            self.coverage.switch_context(before)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Note the cases of every test, leave out those of the other stage, and note who uses a shared fixture."""
        from tests.mutation.covering import draw_samples
        from tests.sampling import cases_of  # a plugin itself, which pytest has to import first

        tests = cases_of(items)
        for function, cases in tests.items():
            self.cases.setdefault(function.partition("::")[0], {})[function] = [
                [case.id, sorted(json.dumps(group) for group in case.groups)] for case in cases
            ]
        paths = {item.nodeid.partition("[")[0]: item.path for item in items}
        drawn: set[str] = set()
        for function, cases in tests.items():
            drawn = drawn.union(*draw_samples(paths[function], {function: cases}, self.seeds).values())
        chosen = [item for item in items if (item.nodeid in drawn) == (self.stage == "sample")]
        kept = {id(item) for item in chosen}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = chosen
        for item in items:
            file = item.nodeid.partition("::")[0]
            for context in _shared_fixtures(item):
                self.shared.setdefault(file, {}).setdefault(context, []).append(item.nodeid)
        for file in self.files.keys() - {item.nodeid.partition("::")[0] for item in items}:
            self._store(file)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        """Run a test in its context."""
        file, function = item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]
        if file != self.file:
            self.coverage.stop()
            self.file, self.coverage = file, self._start(file)
        if function != self.function:
            self.function = function
            self._clear_caches()
        with self._in_context(item.nodeid):
            result = yield
        if nextitem is None or nextitem.nodeid.partition("::")[0] != file:
            self.coverage.stop()
            self.coverage.save()
            self.coverage.get_data().close()
            self._store(file)
            if self.deadline is not None and time.time() > self.deadline:
                item.session.shouldstop = "the time is over"
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Record what a shared fixture executes for all tests that use it."""
        if fixturedef.scope == "function" or not self.file:
            return (yield)
        with self._in_context(_context_of(fixturedef)):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test took, and whether it passed."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.outcome != "passed":
            self.failed[report.nodeid] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be collected."""
        if report.failed:
            self.failed[report.nodeid] = "failed"

    def _store(self, file: str) -> None:
        """Write what is known of a test file, last of all, so that an interrupted one is traced again."""
        store = Path(self.files[file])
        with suppress(FileNotFoundError):
            store.with_suffix(store.suffix + ".part").replace(store.with_suffix(".coverage"))
        cases = self.cases.get(file, {})
        ids = {id for each in cases.values() for id, _ in each}
        content = {
            "cases": cases,
            "shared": self.shared.get(file, {}),
            "seconds": {id: round(each, 4) for id, each in self.seconds.items() if id in ids},
            "failed": {id: each for id, each in self.failed.items() if id in {file, *ids}},
        }
        part = store.with_suffix(".new")
        part.write_text(json.dumps(content), encoding="utf-8")
        part.replace(store)

    def _clear_caches(self) -> None:
        """Empty the caches of the package, so that a test executes what an earlier one would have cached for it."""
        modules = [module for name, module in list(sys.modules.items()) if self._is_ours(name, module)]
        if self.caches[0] != len(modules):
            self.caches = (len(modules), list({id(each): each for m in modules for each in _caches(m)}.values()))
        for each in self.caches[1]:
            each.cache_clear()

    def _is_ours(self, name: str, module: ModuleType | None) -> bool:
        return module is not None and name.partition(".")[0] == Path(self.package).name


def _caches(module: ModuleType) -> Iterator[Any]:
    values = list(vars(module).values())
    values += [each for value in values if isinstance(value, type) for each in list(vars(value).values())]
    for value in values:
        function = getattr(value, "__func__", value) if isinstance(value, (staticmethod, classmethod)) else value
        if type(function).__name__ == "_lru_cache_wrapper":
            yield function


def _context_of(fixturedef: Any) -> str:
    return f"fixture {fixturedef.baseid}::{fixturedef.argname}"


def _shared_fixtures(item: pytest.Item) -> set[str]:
    info = getattr(item, "_fixtureinfo", None)
    definitions = [each for several in info.name2fixturedefs.values() for each in several] if info else []
    return {_context_of(each) for each in definitions if each.scope != "function"}


def pytest_configure(config: pytest.Config) -> None:
    """Start to record."""
    plan = json.loads(Path(os.environ.pop("MUTATION_PLAN")).read_text("utf-8"))
    config.option.brief = plan["stage"] == "sample"
    config.pluginmanager.register(LineRecorder(**plan), "mutation-lines")
