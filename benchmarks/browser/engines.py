"""Where the client runs: Node, a fresh process for each call, and Chromium, a fresh context and page for each.

A folder has the modules, and the client as collectors serve it. Node reads them from there; Chromium fetches them from
a server on this machine whose headers isolate the page, so that its clock has steps of 5 µs, and not of 100.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_CALL = "async ([module, name, given]) => (await import(`/${module}`))[name](...given)"


def missing() -> str:
    """What to install, where something is missing."""
    if shutil.which("node") is None:
        return "Node is not installed; run: apt-get install nodejs"
    if _chromium() is None:
        return "Chromium is not installed; run: apt-get install chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed; run: pip install playwright"
    return ""


def _chromium() -> str | None:
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def modules() -> Iterator[Path]:
    """A folder with what is measured and what measures."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for source in HERE.glob("*.js"):
            shutil.copy(source, folder)
        for script in client():
            (folder / script.name).write_bytes(script.read_bytes())
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "index.html").write_text('<!doctype html><html lang="en"><title>A page</title></html>')
        yield folder


def client() -> list[Any]:
    """The modules that a collector serves."""
    found = files("hush.collect").joinpath("pages").iterdir()
    return sorted((each for each in found if each.name.endswith(".js")), key=lambda each: each.name)


@dataclass(frozen=True)
class Node:
    """Node, as it is on the path."""

    folder: Path

    @property
    def name(self) -> str:
        """Its name and version."""
        return "Node " + subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout[1:-1]

    def call(self, module: str, function: str, *given: Any) -> Any:
        """What a function of a module gives, in a process of its own."""
        command = ["node", str(self.folder / "call.js"), module, function]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            raise RuntimeError(f"{function} failed in Node: {done.stderr}")
        return json.loads(done.stdout)


@dataclass(frozen=True)
class Chromium:
    """A headless Chromium, and where its pages are."""

    browser: Any
    url: str

    @property
    def name(self) -> str:
        """Its name and version."""
        return f"Chromium {self.browser.version}"

    def call(self, module: str, function: str, *given: Any) -> Any:
        """What a function of a module gives, in a page that nobody has visited before."""
        with self.visitor() as visitor:
            return visitor.call(module, function, *given)

    @contextmanager
    def visitor(self) -> Iterator[Visitor]:
        """Somebody with a cache of their own, empty at first."""
        context = self.browser.new_context()
        try:
            yield Visitor(context, self.url)
        finally:
            context.close()


@dataclass(frozen=True)
class Visitor:
    """A browser's context."""

    context: Any
    url: str

    def call(self, module: str, function: str, *given: Any) -> Any:
        """What a function of a module gives, in a new page."""
        page = self.context.new_page()
        try:
            page.goto(self.url)
            assert page.evaluate("crossOriginIsolated"), "the page's clock is coarse"
            return page.evaluate(_CALL, [module, function, list(given)])
        finally:
            page.close()

    def fetched_again(self, module: str, function: str, address: str) -> bool:
        """Whether a call fetches an address from its server, and not from the cache."""
        page = self.context.new_page()
        seen: list[bool] = []
        try:
            network = self.context.new_cdp_session(page)
            network.on(
                "Network.responseReceived",
                lambda event: (
                    event["response"]["url"] == address
                    and seen.append(not event["response"].get("fromDiskCache", False))
                ),
            )
            network.on("Network.requestServedFromCache", lambda _: seen.append(False))
            network.send("Network.enable")
            page.goto(self.url)
            page.evaluate(_CALL, [module, function, [address]])
        finally:
            page.close()
        return all(seen)


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """A browser, while it is there."""
    from playwright.sync_api import sync_playwright

    with site(folder) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=list(_SWITCHES))
        try:
            yield Chromium(browser, url)
        finally:
            browser.close()


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}  # noqa: RUF012

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The folder's files as a web site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: _Handler(*given, directory=str(folder))) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://localhost:{made.server_port}/"
        finally:
            made.shutdown()
            thread.join()
