"""The collector, asked from a page: over its public interface alone, in a thread, so that no page waits for another.

    found = await visit.collector.ask(lambda it: it.estimate(id, level=0.95))

`it` is a `hush.collect.remote.Remote`, which has all that can be asked. What a collector refuses is a `HushError` that
says so in words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from hush.workbench.guard.sessions import Role

if TYPE_CHECKING:
    from hush.collect.remote import Remote

T = TypeVar("T")
_SECONDS = 15.0  # a page that waits longer says so instead
_THREADS = ThreadPoolExecutor(16, "hush-collector")
"""Threads of their own: a collector that does not answer keeps nothing else waiting."""


class CollectorLink:
    """A collector at an address, asked with one token.

    Args:
        url: Where it is.
        token: What lets in; "" for what anyone may see.
        plaintext: Whether the token may go to another machine without TLS.
    """

    def __init__(self, url: str, token: str = "", *, plaintext: bool = False) -> None:
        self.url, self._token, self._plaintext = url, token, plaintext

    async def ask(self, deed: Callable[[Remote], T]) -> T:
        """Do something with the collector, and return what came of it."""
        return await asyncio.get_running_loop().run_in_executor(_THREADS, self.ask_now, deed)

    def ask_now(self, deed: Callable[[Remote], T]) -> T:
        """The same, in this thread."""
        from hush.collect.remote import Remote

        with Remote(self.url, self._token, plaintext=self._plaintext, seconds=_SECONDS) as remote:
            return deed(remote)

    async def role(self) -> Role:
        """What the token may do there: an administrator's sees tokens, a reader's collections.

        Raises:
            HushError: If it is neither, or nothing answers.
        """
        from hush.collect.refusals import Refused

        def looked(it: Remote) -> Role:
            it.list()
            try:
                it.tokens()
            except Refused:
                return "reader"
            return "admin"

        return await self.ask(looked)
