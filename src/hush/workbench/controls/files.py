"""Files in: the browser's own input. What is sent is bounded, stays in memory, and is forgotten with the page."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from hush.workbench import prose

PATH = "/upload/"
_SEND = """async (e) => {
    const file = e.target.files[0];
    if (!file) return;
    if (file.size > %d) { emit({problem: "large"}); e.target.value = ""; return; }
    emit({sending: file.name});
    try {
        const answer = await fetch("%s%s", {
            method: "POST", body: file, headers: {"X-File-Name": encodeURIComponent(file.name)},
        });
        emit(answer.ok ? {sent: file.name} : {problem: ({413: "large", 503: "busy"})[answer.status] ?? "refused"});
    } catch (error) { emit({problem: "lost"}); }
}"""
_WORDS = {
    "large": "This file is too large: at most {most} can be taken.",
    "busy": "Too many files are on their way at the moment. Try once more in a while.",
    "refused": "The workbench did not take the file. Reload the page, and try once more.",
    "lost": "The file did not arrive. Try once more.",
}


@dataclass(frozen=True)
class Upload:
    """A file that somebody chose."""

    name: str
    content: bytes = field(repr=False)


@dataclass
class _Slot:
    """Where a file may be sent to: by one page, of one session."""

    session: Any
    most: int
    came: Upload | None = None
    arriving: int = 0

    @property
    def waiting(self) -> int:
        """Bytes that lie here, and that no page has taken yet."""
        return self.arriving + (0 if self.came is None else len(self.came.content))


MOST_WAITING = 1 << 28
"""Bytes of all files together that no page has taken yet, or one file, if that may be longer."""
_SLOTS: dict[str, _Slot] = {}


def file(
    label: str,
    *,
    on_file: Callable[[Upload], Any],
    accept: str = "",
    help: str = "",
    most: int | None = None,
) -> ui.element:
    """A field for a file.

    Args:
        label: What it asks for.
        on_file: Called with what was sent; it may be a coroutine function.
        accept: What the browser offers: ".csv,.parquet".
        help: Below it.
        most: Bytes at most, if fewer than the workbench takes anyway.
    """
    client = ui.context.client
    state = client.request.scope["state"]
    most = min(most or state["most_upload"], state["most_upload"])
    id, slot = secrets.token_urlsafe(18), _Slot(state["session"], most)
    _SLOTS[id] = slot
    client.on_delete(lambda: _SLOTS.pop(id, None))
    with ui.element("div").classes("field") as made:
        named = prose.text("label", label)
        chosen = ui.element("input").props('type="file"')
        helping = prose.text("div", help or f"At most {_size(most)}. It stays in memory, and is forgotten.", "help")
        wrong = prose.text("div", "", "wrong").props('aria-live="polite"')
    named.props["for"] = chosen.html_id
    chosen.props["aria-describedby"] = f"{helping.html_id} {wrong.html_id}"
    if accept:
        chosen.props["accept"] = accept

    async def heard(event: GenericEventArguments) -> None:
        if problem := event.args.get("problem"):
            wrong.text = _WORDS[problem].format(most=_size(most))
        elif "sending" in event.args:
            wrong.text = ""
        elif slot.came is not None:
            upload, slot.came = slot.came, None
            result = on_file(upload)
            if asyncio.iscoroutine(result):
                await result

    chosen.on("change", heard, js_handler=_SEND % (most, PATH, id))
    return made


async def take(request: Request) -> Response:
    """The route that files are sent to."""
    slot = _SLOTS.get(request.path_params["slot"])
    session = request.scope["state"].get("session")
    if slot is None or session is None or slot.session.id != session.id:
        return JSONResponse({"problem": "no page waits for a file here"}, 403)
    if slot.arriving:
        return JSONResponse({"problem": "another file is on its way here"}, 503)
    slot.came, slot.arriving, parts, length = None, 1, [], 0
    try:
        async for part in request.stream():
            length += len(part)
            if length > slot.most:
                return JSONResponse({"problem": "too large"}, 413)
            slot.arriving = max(1, length)
            if sum(each.waiting for each in _SLOTS.values()) > max(MOST_WAITING, slot.most):
                return JSONResponse({"problem": "too many files are on their way"}, 503)
            parts.append(part)
    except ClientDisconnect:
        return JSONResponse({"problem": "interrupted, or too large"}, 413)
    finally:
        slot.arriving = 0
    name = unquote(request.headers.get("x-file-name", "file"))[:255]
    slot.came = Upload(name.replace("\\", "/").rsplit("/", 1)[-1], b"".join(parts))
    return JSONResponse({"bytes": length})


def _size(count: int) -> str:
    """A number of bytes in words.

    >>> _size(1 << 26), _size(2048)
    ('64 MB', '2 KB')
    """
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} KB"
