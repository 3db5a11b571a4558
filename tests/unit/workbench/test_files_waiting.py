"""Files that are sent and that no page takes: all of them together are bounded."""

from __future__ import annotations

import asyncio

import httpx
import pytest

pytest.importorskip("nicegui")

from starlette.applications import Starlette
from starlette.routing import Route

from hush.workbench.controls import files
from hush.workbench.guard.gate import WorkbenchGate
from hush.workbench.guard.hosts import Hosts
from hush.workbench.guard.sessions import COOKIE, Sessions


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> dict[str, files._Slot]:
    monkeypatch.setattr(files, "MOST_WAITING", 2500)
    made: dict[str, files._Slot] = {}
    monkeypatch.setattr(files, "_SLOTS", made)
    return made


def test_files_that_no_page_takes_are_bounded_together(slots: dict[str, files._Slot]) -> None:
    sessions = Sessions(1000.0)
    session = sessions.new()
    slots.update({name: files._Slot(session, 1000) for name in "abcd"})
    app = Starlette(routes=[Route(f"{files.PATH}{{slot}}", files.take, methods=["POST"])])
    gate = WorkbenchGate(app, Hosts("127.0.0.1"), sessions, most_upload=1000)
    headers = {"Origin": "http://127.0.0.1:8480", "Cookie": f"{COOKIE}={session.id}"}

    async def sent(slot: str) -> int:
        transport = httpx.ASGITransport(gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8480") as client:
            return (await client.post(f"{files.PATH}{slot}", content=b"x" * 1000, headers=headers)).status_code

    assert [asyncio.run(sent(slot)) for slot in "aabc"] == [200, 200, 200, 503]
    assert slots["c"].waiting == 0
    slots["a"].came = None
    assert asyncio.run(sent("c")) == 200
