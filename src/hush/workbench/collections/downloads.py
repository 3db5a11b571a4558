"""What can be taken away from a collection: the estimate as JSON or CSV, the sums, and for admins the reports."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hush.workbench.cells import safe_cell

_MEASURES = ("label", "frequency", "stderr", "lower", "upper", "method", "count")


def filename(view: Mapping[str, Any], ending: str) -> str:
    """A name for a file that people find again.

    >>> filename({"name": "Outings, spring", "id": "3f2b8c1d9e0a4756"}, "csv")
    'outings-spring-3f2b8c1d.csv'
    """
    words = re.sub(r"[^a-z0-9]+", "-", str(view["name"]).lower()).strip("-")[:60]
    return f"{words}-{str(view['id'])[:8]}.{ending}" if words else f"{str(view['id'])[:8]}.{ending}"


def as_json(told: Mapping[str, Any]) -> bytes:
    """The estimate as `hush estimate --json` writes it."""
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()


def as_csv(told: Mapping[str, Any]) -> bytes:
    """One line a value, of each period and attribute where there are several."""
    rows = list(_rows(told))
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(_MEASURES)
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue().encode()


def _rows(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for group in told.get("groups", [told]):
        lead = {"period": group["group"], "n": group["n"]} if "groups" in told else {}
        for part in group.get("attributes") or [group]:
            named = {"attribute": part["attribute"]} if "attribute" in part else {}
            found = part.get("estimate")
            for row in [found] if isinstance(found, Mapping) else found or []:
                yield {**lead, **named, **row}
