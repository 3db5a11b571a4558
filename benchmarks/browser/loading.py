"""How long the module takes until it can be used, and how large it is."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks import report
from benchmarks.browser.engines import Chromium, Node, client

LIMIT = 20.0  # milliseconds
MOST = 12_288  # bytes, gzipped


def table(node: Node, chromium: Chromium, url: str, turns: int) -> report.Table:
    """In Node from a file; in Chromium from a collector, on a first visit and on a second."""
    files = [node.call("load.js", "loaded", "./hush.js") for _ in range(turns)]
    fresh, again = [], []
    for _ in range(turns):
        with chromium.visitor() as visitor:
            fresh.append(visitor.call("load.js", "loaded", url))
            again.append(visitor.call("load.js", "loaded", url))
    with chromium.visitor() as visitor:  # nothing of it is timed: who looks at the network slows it down
        asked = [visitor.fetched_again("load.js", "loaded", url) for _ in range(2)]
    assert asked == [True, False], f"the second visit must find the module in its cache: {asked}"
    made = report.Table(
        "The client for web pages: loading the module",
        ("where", "median", "slowest", "of it the fetch", "required"),
        note="From `import()` to a module that was evaluated, in fresh processes, or pages of visitors with an empty "
        f"cache and no connection yet: {turns} of each. The collector, on the same machine, sends the module as it is; "
        "a second visit takes it from the browser's cache and asks nobody, which was seen in the browser's log.",
    )
    for where, found in (
        (f"{node.name}, a file", files),
        (f"{chromium.name}, from a collector", fresh),
        (f"{chromium.name}, cached", again),
    ):
        _add(made, where, found)
    return made


def _add(made: report.Table, where: str, found: list[dict[str, float]]) -> None:
    times = [each["time"] for each in found]
    median, fetched = statistics.median(times), statistics.median(each["fetched"] for each in found)
    cells = (f"{median:.1f} ms", f"{max(times):.1f} ms", f"{fetched:.1f} ms" if fetched else "–", f"< {LIMIT:g} ms")
    late = f"{median:.1f} ms" if median >= LIMIT else ""
    made.add(where, *cells, missed=late, where=where, milliseconds=times)


def sizes(node: Node) -> report.Table:
    """Of all modules that a collector serves."""
    made = report.Table(
        "The client for web pages: sizes",
        ("module", "bytes", "gzipped", "required"),
        note="As collectors have them; gzipped by Node's zlib at level 9, as the build does it.",
    )
    names = [script.name for script in client()]
    found: list[dict[str, Any]] = node.call("sizes.js", "sizes", names)
    for name, size in zip(names, found, strict=True):
        large = f"{size['gzipped']:,} bytes" if size["gzipped"] > MOST else ""
        made.add(f"`{name}`", f"{size['bytes']:,}", f"{size['gzipped']:,}", f"≤ {MOST:,}", missed=large, **size)
    return made
