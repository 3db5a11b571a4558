"""A pytest plugin that runs a list of tests in its order and logs each as it starts and ends.

The environment variable `MUTATION_PLAN` names a JSON file with `tests`, `brief` (whether experiments are repeated as
seldom as in `make test`) and `log`. Where a mutant changes the cases of a function, so that a listed one does not
exist, all cases of the function run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


class Selector:
    """Selects tests, and writes what happens to a file that can be read after a crash."""

    def __init__(self, tests: list[str], log: Path) -> None:
        self.positions = {id: i for i, id in enumerate(tests)}
        self.log = log.open("a", encoding="utf-8")

    def write(self, event: str, name: str = "") -> None:
        self.log.write(json.dumps([event, name]) + "\n")
        self.log.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select and order the tests."""
        missing = set(self.positions) - {item.nodeid for item in items}
        functions = {id.partition("[")[0]: self.positions[id] for id in sorted(missing)}
        order = []
        for item in items:
            position = self.positions.get(item.nodeid, functions.get(item.nodeid.partition("[")[0]))
            if position is not None:
                order.append((position, item))
        chosen = [item for _, item in sorted(order, key=lambda each: each[0])]
        identities = {id(item) for item in chosen}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in identities])
        items[:] = chosen
        self.write("collected")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Log a test as it starts and ends."""
        self.write("start", item.nodeid)
        result = yield
        self.write("end", item.nodeid)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Log a failure."""
        if report.failed:
            self.write("failed", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Log a file that cannot be collected."""
        if report.failed:
            self.write("broken", report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Start to select."""
    plan = json.loads(Path(os.environ.pop("MUTATION_PLAN")).read_text("utf-8"))
    config.option.brief = plan["brief"]
    config.pluginmanager.register(Selector(plan["tests"], Path(plan["log"])), "mutation-selection")
