"""Estimates as they change: the collector's server-sent events, read for as long as somebody looks.

What goes wrong is told as a trouble, and tried again by itself: a collector that stops and comes back is found again.
Where no more listeners are admitted, the estimate is asked for now and then instead.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from hush.collect.remote import NoCollector, SlowCollector, refusal
from hush.errors import HushError, message
from hush.workbench.collections.troubles import LATER, Trouble, trouble

_CONNECT, _SILENCE = 5.0, 45.0  # seconds; a collector says every 15 that it is still there
_MOST_EVENT = 64 << 20  # bytes of one event: an estimate of a large domain
_FIRST = 1.0
_BUSY = "busy"


async def watch(
    url: str, token: str, id: str, *, transport: httpx.AsyncBaseTransport | None = None, first: float = _FIRST
) -> AsyncIterator[dict[str, Any] | Trouble]:
    """What is estimated, now and whenever it changed, or what keeps it from being known; without an end.

    Args:
        url: Of the collector.
        token: What lets in.
        id: Of the collection.
        transport: What carries requests, for tests.
        first: Seconds before the first further try; each further one waits twice as long, up to what the trouble says.
    """
    pause = first
    headers = {"Accept": "text/event-stream", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx.Timeout(_CONNECT, read=_SILENCE)
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=timeout, transport=transport, trust_env=url.startswith("https:")
    ) as http:
        while True:
            try:
                async with _answered(http, f"/v1/collections/{quote(id, safe='')}/live", url) as answer:
                    async for told in _events(answer):
                        pause = first
                        yield told
                # It ended in order: the token did, or the server. The next try tells which.
            except HushError as error:
                met = trouble(error, url)
                if getattr(getattr(error, "reason", None), "code", "") == _BUSY:
                    async for told in _once(http, id, url):
                        yield told
                yield met
                await asyncio.sleep(min(pause, met.again or LATER))
                pause = min(2 * pause, 60.0)
            else:
                await asyncio.sleep(first)


@asynccontextmanager
async def _answered(http: httpx.AsyncClient, path: str, url: str) -> AsyncIterator[httpx.Response]:
    """An answer that is no refusal; what goes wrong on the way, or while it is read, is told as of a collector."""
    try:
        async with http.stream("GET", path) as answer:
            if not answer.is_success:
                await answer.aread()
                raise refusal(answer, url)
            yield answer
    except httpx.TimeoutException:
        rule = "must be a collector that answers in time"
        raise SlowCollector(message("server", rule, url, "try again in a while")) from None
    except httpx.HTTPError:
        rule = "must be a collector that answers"
        raise NoCollector(message("server", rule, url, "start one with `hush serve`")) from None


async def _once(http: httpx.AsyncClient, id: str, url: str) -> AsyncIterator[dict[str, Any]]:
    """The estimate as it is now, where it can be had."""
    try:
        async with _answered(http, f"/v1/collections/{quote(id, safe='')}/estimate", url) as answer:
            told = json.loads(await answer.aread())
    except (HushError, ValueError):
        return
    if isinstance(told, dict):
        yield told


async def _events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The estimates of a stream of events; comments and other events are passed over."""
    name, data, size = "", list[str](), 0
    async for line in answer.aiter_lines():
        if not line:
            if name == "estimate" and data:
                told = _plain("\n".join(data))
                if told is not None:
                    yield told
            name, data, size = "", [], 0
            continue
        entry, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if entry == "event":
            name = value
        elif entry == "data" and (size := size + len(value)) <= _MOST_EVENT:
            data.append(value)


def _plain(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
