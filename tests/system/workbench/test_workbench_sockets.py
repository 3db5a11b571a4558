"""A socket speaks for a page of its own session alone, over every transport and with every message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.system.workbench.running import RunningWorkbench

pytestmark = pytest.mark.nightly

pytest.importorskip("nicegui")

PATH = "/_nicegui_ws/socket.io/"


class Talker:
    """One browser that talks to a workbench without sockets, by polling."""

    def __init__(self, workbench: RunningWorkbench) -> None:
        self.http = httpx.Client(base_url=workbench.url, headers={"Origin": workbench.url}, timeout=10)
        self._asked: dict[str, str] = {}

    def page(self) -> str:
        """Open a page; its number."""
        found = re.search(r"client_id.{1,6}?([0-9a-f-]{36})", self.http.get("/").text)
        assert found is not None
        return found[1]

    def connect(self, **query: str) -> str:
        """Connect; what is answered."""
        self._asked = {"EIO": "4", "transport": "polling", **query}
        self._asked["sid"] = json.loads(self.http.get(PATH, params=self._asked).text[1:])["sid"]
        return self.say("40")

    def say(self, words: str) -> str:
        """Say something; what comes next."""
        self.tell(words)
        return self.http.get(PATH, params=self._asked).text

    def tell(self, words: str) -> None:
        """Say something to which there is no answer."""
        assert self.http.post(PATH, params=self._asked, content=words).status_code == 200

    def ask(self, name: str, told: Any) -> str:
        """Send an event that is answered."""
        return self.say("427" + json.dumps([name, told]))


@contextmanager
def talkers(workbench: RunningWorkbench) -> Iterator[tuple[Talker, Talker]]:
    both = Talker(workbench), Talker(workbench)
    try:
        yield both
    finally:
        for each in both:
            each.http.close()


def hands(page: str) -> dict[str, str]:
    """What a page says of itself when it connects."""
    return {"client_id": page, "tab_id": "t", "document_id": "d", "next_message_id": "0"}


def test_nobody_takes_over_the_page_of_another_session(workbench: RunningWorkbench) -> None:
    with talkers(workbench) as (owner, other):
        page = owner.page()
        assert '44{"message"' in other.connect(implicit_handshake="true", **hands(page)), "without a cookie"
        other.page()
        assert "Implicit handshake failed" in other.connect(implicit_handshake="true", **hands(page))
        assert other.connect().startswith("40")
        assert other.ask("handshake", hands(page)) == "437[false]"
        assert other.ask("handshake", {}) == "437[false]"
        assert owner.connect(implicit_handshake="true", **hands(page)).startswith("40")


def test_nobody_speaks_for_the_page_of_another(workbench: RunningWorkbench) -> None:
    with talkers(workbench) as (owner, other):
        page, own = owner.page(), other.page()
        assert owner.connect(implicit_handshake="true", **hands(page)).startswith("40")
        assert other.connect(implicit_handshake="true", **hands(own)).startswith("40")
        for whose, words in ((page, "forged words"), (own, "honest words")):
            other.tell("42" + json.dumps(["log", {"client_id": whose, "level": "error", "message": words}]))
        assert other.ask("handshake", hands(own)).endswith("437[false]"), "all that came before has been heard"
        assert "honest words" in workbench.logged()
        assert "forged words" not in workbench.logged()
