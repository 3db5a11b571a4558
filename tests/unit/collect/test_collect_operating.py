"""The operator's page has every measure that there is and every reason, and none besides."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from hush.collect.refusals import REASONS
from tests import collectors, relays

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operating.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows of all tables whose first column is called so."""
    tables = re.findall(rf"^\| {heading} \|.*\n\|[-:| ]+\|\n((?:\|.*\n)+)", PAGE, re.M)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for table in tables for line in table.splitlines()]


def measured(url: str) -> set[str]:
    """What a server measures, under the names by which it is asked for; when each began stands beside it."""
    every = [each for each in families(httpx.get(f"{url}/metrics").text) if not each.name.endswith("_created")]
    return {each.name + ("_total" if each.type == "counter" else "") for each in every}


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All measures of a collector and of a relay before it."""
    folder = tmp_path_factory.mktemp("operating")
    with collectors.in_thread(folder) as served:
        one = collectors.opened(served, relayed_only=True)
        with relays.in_thread(folder, served, [one.id]) as relayed:
            return measured(served.url) | measured(relayed.url)


def test_every_measure_has_a_row(there: set[str]) -> None:
    listed = [re.match(r"`(\w+)`", cells[0]) for cells in rows("measure")]
    names = [found[1] for found in listed if found]
    assert len(names) == len(listed) == len({*names})
    assert {*names} == there


def test_every_reason_has_a_row_in_the_order_of_the_table() -> None:
    found = rows("reason")
    assert [(cells[0], cells[1]) for cells in found] == [
        (f"`{each.code}`", str(each.status)) for each in REASONS.values()
    ]
    assert all(len(cells) == 4 and all(cells) for cells in found)


def test_nothing_else_is_called_a_measure(there: set[str]) -> None:
    assert {*re.findall(r"\bhush_[a-z_]+\b", PAGE)} - {"hush_restored"} <= there
