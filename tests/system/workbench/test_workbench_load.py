"""Many pages: ten browsers at once can be used, and memory after many page opens is that after few."""

from __future__ import annotations

import re
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.system.workbench.running import RunningWorkbench, opened, ready, running

pytestmark = pytest.mark.nightly

pytest.importorskip("nicegui")

FORGOTTEN = 11.5  # seconds after which a page that was left is forgotten


def left(client: httpx.Client, url: str, path: str) -> None:
    """Open a page as a browser does, its socket included, and leave it."""
    from websockets.sync.client import connect

    answer = client.get(path)
    assert answer.status_code == 200
    found = re.search(r"client_id\W+([0-9a-f-]{36})", answer.text)
    assert found is not None
    asked = f"EIO=4&transport=websocket&client_id={found[1]}&document_id={uuid.uuid4()}&tab_id={uuid.uuid4()}"
    cookie = {"Cookie": f"hush-session={client.cookies['hush-session']}"}
    address = f"{url.replace('http', 'ws')}/_nicegui_ws/socket.io/?{asked}&next_message_id=0&implicit_handshake=true"
    with connect(address, additional_headers=cookie, origin=url) as socket:  # type: ignore[arg-type]
        socket.recv()
        socket.send("40")
        assert str(socket.recv()).startswith("40")


def test_pages_that_were_left_are_forgotten(tmp_path: Path) -> None:
    """`python -m benchmarks workbench` measures bytes, after a thousand page opens."""
    with (
        running(tmp_path, pages="tests.system.workbench.examples") as made,
        httpx.Client(base_url=made.url, timeout=60) as client,
    ):
        shown = re.search(r"String.raw`(.*?)`", client.get("/").text, re.S)
        assert shown is not None
        paths = sorted(set(re.findall(r'"href":"(/[a-z-]+)"', shown[1])) - {"/broken", "/refused"})
        assert "/example" in paths
        counts = []
        for turns in (1, 4):
            for path in paths * turns:
                left(client, made.url, path)
            time.sleep(FORGOTTEN)
            counts.append(client.get("/counted").json())
        assert counts[1]["clients"] <= counts[0]["clients"], counts
        assert counts[1]["elements"] <= counts[0]["elements"], counts
        assert counts[1]["slots"] == counts[0]["slots"], counts
        assert counts[1]["tasks"] <= counts[0]["tasks"] + 3, counts


def test_ten_browsers_at_once_can_be_used_while_the_server_answers_others(
    workbench: RunningWorkbench, browser: Any
) -> None:
    """`python -m benchmarks workbench` measures how soon it answers."""
    answers: list[int] = []
    ended = threading.Event()

    def asking() -> None:
        with httpx.Client(base_url=workbench.url, timeout=60) as client:
            while not ended.is_set():
                answers.append(client.get("/healthz").status_code)
                time.sleep(0.02)

    first = browser.new_context()
    paths = [each.get_attribute("href") for each in opened(first, workbench.url).page.locator("nav.places a").all()]
    thread = threading.Thread(target=asking)
    thread.start()
    contexts = [browser.new_context() for _ in range(10)]
    try:
        pages = [each.new_page() for each in contexts]
        for i, page in enumerate(pages):
            page.goto(f"{workbench.url}{paths[i % len(paths)]}", wait_until="commit")
        for page in pages:
            ready(page)
    finally:
        ended.set()
        thread.join()
        for each in (first, *contexts):
            each.close()
    assert set(answers) == {200}
    assert len(answers) > 20
