"""The workbench in a real browser: until a page can be used, ten at once, and memory after many.

Cold is a browser that knows nothing; warm, one that has been there before. A page can be used when its heading is
there and its socket is open. Everything is on this machine, as it is for who starts `hush workbench`.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import report, timing, workbench_explore

COLD, WARM = 3.0, 2.0  # seconds
AT_ONCE, RESPONSE = 10, 1.0  # browsers; seconds until the server answers while all of them open a page
FEWER, MORE, GROWTH = 200, 1000, 1.1  # page opens; what memory may grow by, as a factor
_READY = "document.querySelector('h1') && window.socket && window.socket.connected"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(quick: bool) -> list[report.Table]:
    """All tables."""
    from playwright.sync_api import sync_playwright

    executable = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if executable is None:
        sys.exit("benchmarks: there is no Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as made:
        browser = made.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            return [_interactive(browser, 2 if quick else 7), _many(browser, quick), workbench_explore.live(quick)]
        finally:
            browser.close()


@contextmanager
def started() -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    """A workbench in a process of its own: the process, its address, and the seconds until it was there."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hush", "workbench", "--port", "0", "--json"]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            yield process, told["url"], time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def opened(page: Any, address: str) -> float:
    """Seconds until a page can be used."""
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(_READY, timeout=60_000)
    return time.perf_counter() - began


def paths(browser: Any, url: str) -> list[str]:
    """The pages of the navigation."""
    context = browser.new_context()
    page = context.new_page()
    opened(page, url)
    found = [each.get_attribute("href") for each in page.locator("nav[aria-label='Pages'] a").all()]
    context.close()
    return ["/", *found]


def _interactive(browser: Any, turns: int) -> report.Table:
    table = report.Table(
        "Until a page can be used",
        ("page", "cold", "warm", "required"),
        note="Seconds from the address to a heading and an open socket; the longest cold one, the median of warm ones.",
    )
    with started() as (_, url, start):
        table.add("`hush workbench` listens", f"{start:.2f} s", "", "", start=start)
        for path in report.progress(paths(browser, url), "pages"):
            cold, warm = [], []
            for _ in range(max(2, turns // 2)):
                context = browser.new_context()
                page = context.new_page()
                cold.append(opened(page, url + path))
                warm += [opened(page, url + path) for _ in range(turns)]
                context.close()
            slow, usual = max(cold), statistics.median(warm)
            late = f"cold {slow:.2f} s" if slow >= COLD else f"warm {usual:.2f} s" if usual >= WARM else ""
            due = f"cold < {COLD:g} s, warm < {WARM:g} s"
            table.add(f"`{path}`", f"{slow:.2f} s", f"{usual:.2f} s", due, missed=late, cold=slow, warm=usual)
    return table


def _many(browser: Any, quick: bool) -> report.Table:
    table = report.Table(
        "Many pages",
        ("what", "measured", "required"),
        note="Memory is the process's own (anonymous pages), fifteen seconds after the last page was left.",
    )
    fewer, more = (40, 120) if quick else (FEWER, MORE)
    with started() as (process, url, _):
        every = paths(browser, url)
        slowest, took = _at_once(browser, url, every)
        missed = f"{slowest:.2f} s" if slowest >= RESPONSE else ""
        name = f"the server's slowest answer while {AT_ONCE} browsers open a page at once"
        table.add(name, f"{slowest:.2f} s", f"< {RESPONSE:g} s", missed=missed, slowest=slowest)
        table.add(f"until all {AT_ONCE} can be used, the browsers' own work included", f"{took:.2f} s", "", took=took)
        held = [_after(browser, process.pid, url, every, number) for number in (fewer, more - fewer)]
        grown = held[1] / held[0]
        missed = f"{grown:.2f} times" if grown > GROWTH else ""
        for number, size in zip((fewer, more), held, strict=True):
            due = "" if number == fewer else f"at most {GROWTH:g} times as much"
            table.add(f"memory after {number:,} page opens", f"{size / 1e6:.0f} MB", due, missed=missed if due else "")
    return table


def _at_once(browser: Any, url: str, every: list[str]) -> tuple[float, float]:
    """Open pages at once, and ask the server all the while: its slowest answer, and the seconds until all are there."""
    import httpx

    slowest, ended = [0.0], threading.Event()

    def asking() -> None:
        with httpx.Client(base_url=url, timeout=60) as http:
            while not ended.is_set():
                slowest.append(timing.seconds(lambda: http.get("/healthz").raise_for_status()))
                time.sleep(0.02)

    thread = threading.Thread(target=asking)
    thread.start()
    contexts = [browser.new_context() for _ in range(AT_ONCE)]
    pages = [each.new_page() for each in contexts]
    began = time.perf_counter()
    for i, page in enumerate(pages):
        page.goto(url + every[i % len(every)], wait_until="commit")
    for page in pages:
        page.wait_for_function(_READY, timeout=60_000)
    took = time.perf_counter() - began
    ended.set()
    thread.join()
    for each in contexts:
        each.close()
    return max(slowest), took


def _after(browser: Any, pid: int, url: str, every: list[str], number: int) -> float:
    """Bytes that the process holds after so many further page opens, once they are all forgotten."""
    context = browser.new_context()
    page = context.new_page()
    for i in report.progress(range(number), "opens"):
        opened(page, url + every[i % len(every)])
    context.close()
    time.sleep(15)
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    line = next(each for each in text.splitlines() if each.startswith("Anonymous:"))
    return float(line.split()[1]) * 1024
