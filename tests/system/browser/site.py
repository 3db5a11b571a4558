"""A web site of the tests' own, whose pages load the client from a collector; and what they run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import hush
from tests.javascript import CLIENT

ROOT = CLIENT.parents[1]
_TYPES = {".js": "text/javascript", ".json": "application/json"}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>
<script type="module">
window.hush = await import("{script}");
window.ready = true;
</script></html>"""


@dataclass
class Site:
    """A web site.

    Args:
        port: Where it is.
        collector: Where its pages load the client from.
    """

    port: int
    collector: str

    @property
    def url(self) -> str:
        """A page of this machine, which a browser takes for secure."""
        return f"http://localhost:{self.port}/"

    @property
    def plain(self) -> str:
        """The same under the name of another machine, without TLS."""
        return f"http://plain.example:{self.port}/"

    def visit(self, context: Any, url: str | None = None) -> Any:
        """A page with the client."""
        page = context.new_page()
        page.goto(url or self.url)
        page.wait_for_function("window.ready")
        return page


def script(collector: str) -> str:
    """The address of the client."""
    return f"{collector}/client/{hush.__version__}/hush.js"


def _file(path: str) -> Path | None:
    """A file of the client or of the golden ones, where an address is of one."""
    found = (ROOT / path.lstrip("/")).resolve()
    allowed = found.is_file() and any(found.is_relative_to(each) for each in (CLIENT, ROOT / "tests" / "golden"))
    return found if allowed else None


@contextmanager
def serving(collector: str) -> Iterator[Site]:
    """The site, while it is there."""
    content = PAGE.replace("{script}", script(collector)).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            file = _file(self.path)
            told = b"<!doctype html>" if self.path == "/empty" else content if file is None else file.read_bytes()
            self.send_response(200)
            self.send_header("content-type", "text/html" if file is None else _TYPES[file.suffix])
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Site(made.server_port, collector)
        finally:
            made.shutdown()
            thread.join()


def joined(page: Any, url: str, **options: Any) -> dict[str, Any]:
    """Join a collection in a page; it stays there as `collection`."""
    told: dict[str, Any] = page.evaluate(
        """async ([url, options]) => {
            window.collection = await hush.join(url, options);
            const { id, name, status, period, hash, labels, loss } = collection;
            return { id, name, status, period, hash, labels: labels ?? null, loss };
        }""",
        [url, options],
    )
    return told


def answered(page: Any, value: Any) -> dict[str, Any]:
    """Answer in a page; the receipt, with the envelope in hex."""
    told: dict[str, Any] = page.evaluate(
        """async (value) => {
            const { envelope, ...receipt } = await collection.answer(value);
            const hex = envelope && Array.from(envelope, (byte) => byte.toString(16).padStart(2, "0")).join("");
            return { ...receipt, envelope: hex ?? null };
        }""",
        value,
    )
    return told


def refused(page: Any, what: str, *arguments: Any) -> str:
    """What a page is told when something is refused: the message of the error."""
    told: str = page.evaluate(
        f"async (given) => {{ try {{ await ({what}); }} catch (error) {{ return error.message; }} return ''; }}",
        list(arguments),
    )
    return told


def kept(page: Any) -> dict[str, Any]:
    """All that the client has stored."""
    told: dict[str, Any] = page.evaluate(
        """() => new Promise((resolve) => {
            indexedDB.open("hush").onsuccess = ({ target: { result: db } }) => {
                const asked = db.transaction("hush").objectStore("hush").get("hush");
                asked.onsuccess = () => { db.close(); resolve(asked.result); };
            };
        })"""
    )
    return told
