"""Take the pictures of the workbench: python docs/screenshots.py [pages...], or `make screenshots`.

A real collector with real reports, a real workbench before it, and a real browser; each page as it is after its first
use, in light, in dark and at a phone's width, into docs/images. Everything is random where it would be random, but for
seeds that pages show themselves.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from filling import ANSWERS, SHARES, Crowd
from PIL import Image

IMAGES = Path(__file__).parent / "images"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
KINDS: dict[str, dict[str, Any]] = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "device_scale_factor": 2},
}
MOST = {"light": 1500, "dark": 1500, "phone": 1600}
"""Pixels of a picture's height: a longer page is cut."""
LONG = 120_000  # milliseconds


def main(wanted: list[str]) -> None:
    """Take them."""
    from playwright.sync_api import sync_playwright

    executable = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if executable is None:
        sys.exit("screenshots: there is no Chromium; on Debian: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        collector = stack.enter_context(started(folder, "serve", "--no-access-log"))
        crowd = Crowd(collector["url"], collector["admin_token"])
        bench = stack.enter_context(started(folder, "workbench", "--collector", collector["url"]))
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=executable, args=["--no-sandbox"]
        )
        stack.callback(browser.close)
        for kind, settings in KINDS.items():
            context = browser.new_context(**settings, reduced_motion="reduce")
            context.set_default_timeout(LONG)
            _sign_in(context, bench["url"], collector["admin_token"])
            for name, (path, act) in pages(context, bench["url"], crowd).items():
                if not wanted or name in wanted:
                    take(context, bench["url"] + path, act, name, kind)
            context.close()


@contextmanager
def started(folder: Path, command: str, *options: str) -> Iterator[dict[str, Any]]:
    """`hush serve` or `hush workbench` in a process of its own, and what it says when it is ready."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HUSH_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "hush", command, "--port", "0", "--json", *options],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdout.close()


def pages(context: Any, url: str, crowd: Crowd) -> dict[str, tuple[str, Callable[[Any], None]]]:
    """Every page of the navigation, the start page and one collection: where each is, and what is done there."""
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("nav.places a", state="attached")
    listed = [each.get_attribute("href") for each in page.locator("nav.places a").all()]
    page.close()
    found = {"start": ("/", _nothing)} | {path.strip("/"): (path, ACTS.get(path, _nothing)) for path in listed}
    return found | {"collection": (f"/collection?id={crowd.id}", partial(_counted, crowd))}


def take(context: Any, address: str, act: Callable[[Any], None], name: str, kind: str) -> None:
    """Open a page, do what is to be done, and keep its picture."""
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("h1")
    page.wait_for_function("window.socket && window.socket.connected")
    act(page)
    page.evaluate("scrollTo(0, 0); document.activeElement?.blur()")
    page.wait_for_timeout(1500)
    size = page.viewport_size
    height = min(MOST[kind], page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": size["width"], "height": max(height, size["height"])})
    page.wait_for_timeout(500)
    kept(page.screenshot(), IMAGES / f"workbench-{name}-{kind}.png")
    page.close()


def kept(picture: bytes, path: Path) -> None:
    """Write a picture in 256 colours, which is what a page needs and a third of the bytes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(IMAGES.parent)}: {path.stat().st_size / 1024:.0f} KB")


def _sign_in(context: Any, url: str, token: str) -> None:
    page = context.new_page()
    page.goto(f"{url}/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{url}/")
    page.close()


def _nothing(page: Any) -> None:
    """As it opens."""


def _planned(page: Any) -> None:
    page.get_by_role("button", name="Plan it").click()
    page.locator(".answer").first.wait_for()


def _tried(page: Any) -> None:
    people = np.random.default_rng(7).choice(ANSWERS, 8_000, p=SHARES)
    content = ("place\n" + "\n".join(people)).encode()
    page.get_by_label("A table, as CSV or Parquet").set_input_files(
        {"name": "pilot.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_label("Column", exact=True).select_option(label="place")
    page.get_by_role("button", name="Download the figures").wait_for()


def _audited(page: Any) -> None:
    page.get_by_label("A bug that was shipped").check()
    page.get_by_label("Which bug?").select_option("LastNeverFake")
    page.get_by_role("button", name="Audit it").click()
    page.get_by_role("heading", name="The claim is false.").wait_for()


def _counted(crowd: Crowd, page: Any) -> None:
    """As it is while people answer."""
    said = page.locator("figcaption").first
    said.wait_for()
    for _ in range(5):
        before = said.inner_text()
        crowd.report(500)
        page.wait_for_function("before => document.querySelector('figcaption').innerText !== before", arg=before)


ACTS: dict[str, Callable[[Any], None]] = {"/plan": _planned, "/data": _tried, "/audit": _audited}
"""What is done on a page before its picture is taken."""


if __name__ == "__main__":
    main(sys.argv[1:])
