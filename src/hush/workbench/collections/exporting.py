"""The reports of a collection, passed on as they come: the workbench keeps none of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx

from hush.collect.remote import NoCollector, refusal
from hush.errors import message

_CONNECT, _READ = 5.0, 900.0  # seconds; a collector writes and shuffles all of a file before it sends the first byte


class ExportStream:
    """A file on its way from the collector.

    Args:
        http: What carries it, which is closed in the end.
        answer: The answer, whose head is there.
    """

    def __init__(self, http: httpx.AsyncClient, answer: httpx.Response) -> None:
        self._http, self._answer = http, answer

    @property
    def size(self) -> str | None:
        """How many bytes it has, where the collector says so."""
        return self._answer.headers.get("content-length")

    @property
    def kind(self) -> str:
        """Its media type."""
        return str(self._answer.headers.get("content-type", "application/octet-stream"))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Its bytes; nothing is held once they have gone, or nobody wants them any more."""
        try:
            async for some in self._answer.aiter_raw():
                yield some
        finally:
            await self.close()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._answer.aclose()
        await self._http.aclose()


async def export(
    url: str, token: str, id: str, *, what: str = "export", transport: httpx.AsyncBaseTransport | None = None
) -> ExportStream:
    """Ask for all reports of a collection, as Parquet, or for what they add up to.

    Args:
        url: Of the collector.
        token: What lets in: an administrator's, for reports.
        id: Of the collection.
        what: "export", or "aggregate".
        transport: What carries requests, for tests.

    Raises:
        HushError: If the collector refuses, or nothing answers.
    """
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    http = httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=httpx.Timeout(_CONNECT, read=_READ),
        transport=transport,
        trust_env=url.startswith("https:"),
    )
    try:
        request = http.build_request("GET", f"/v1/collections/{quote(id, safe='')}/{what}")
        answer = await http.send(request, stream=True)
        if not answer.is_success:
            await answer.aread()
            raise refusal(answer, url)
        return ExportStream(http, answer)
    except httpx.HTTPError:
        await http.aclose()
        remedy = "start one with `hush serve`"
        raise NoCollector(message("server", "must be a collector that answers", url, remedy)) from None
    except BaseException:
        await http.aclose()
        raise
