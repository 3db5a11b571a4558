"""Run only some cases of each test: `-p tests.cases --cases N` keeps N of them, from the first to the last.

Where a test has a case for each of 35 mechanisms, three of them find most slips while one works, and one finds what a
library does not have. Golden tests keep all their cases: they go through every mechanism and every kernel.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

WHOLE = "tests/golden/"


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many cases."""
    parser.addoption("--cases", type=int, default=0, help="so many cases of each test, spread evenly; 0 for all")


def spread(cases: int, most: int) -> set[int]:
    """Places of those that are kept: the first, the last, and as many between them."""
    if not 0 < most < cases:
        return set(range(cases))
    return {round(i * (cases - 1) / max(most - 1, 1)) for i in range(most)}


def kept(names: list[str], most: int) -> set[str]:
    """The cases that are kept, by their names."""
    tests: dict[str, list[str]] = defaultdict(list)
    for name in names:
        tests[name.partition("[")[0]].append(name)
    found = set()
    for test, cases in tests.items():
        found |= {cases[i] for i in spread(len(cases), 0 if test.startswith(WHOLE) else most)}
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the others out, and say how many."""
    staying = kept([item.nodeid for item in items], config.getoption("--cases"))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in staying])
    items[:] = [item for item in items if item.nodeid in staying]
