"""Bodies are read whole, within limits, and what is held of them is always known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from hush.collect.refusals import Refused
from hush.collect.server.bodies import SMALL, WHOLE, Bodies

Receive = Callable[[], Awaitable[dict[str, Any]]]
MOST = 10 * SMALL


def parts(pieces: Iterable[bytes], *, end: bool = True) -> Receive:
    """What a server is given of a body that comes in pieces; one without an end breaks off."""
    given = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if end:
        given[-1]["more_body"] = False
    rest = iter([*given, {"type": "http.disconnect"}])

    async def receive() -> dict[str, Any]:
        return next(rest)

    return receive


def read(bodies: Bodies, receive: Receive, *, most: int = MOST, length: int | None = None) -> bytes:
    scope = {"headers": [] if length is None else [(b"content-length", str(length).encode())]}
    data = asyncio.run(bodies.read(scope, receive, most=most))  # type: ignore[arg-type]
    assert scope.get(WHOLE) is True
    return data


def made(*, seconds: float = 10.0, most: int = MOST) -> Bodies:
    return Bodies(seconds=seconds, most_in_flight=most)


@pytest.mark.parametrize("pieces", [[b""], [b"abc"], [b"a", b"", b"bc"], [b"", b"abc", b""], [b"a"] * 1000])
def test_what_comes_in_pieces_is_one(pieces: list[bytes]) -> None:
    bodies = made()
    whole = read(bodies, parts(pieces))
    assert whole == b"".join(pieces)
    assert bodies.held == len(whole)
    bodies.release(whole)
    assert bodies.held == 0


@pytest.mark.parametrize(
    ("receive", "length", "code"),
    [
        (parts([b"a" * 11]), None, "too-large"),
        (parts([b"a" * 10, b"a"]), None, "too-large"),
        (parts([b"a"] * 11), None, "too-large"),
        (parts([b"a"]), 11, "too-large"),
        (parts([b"a", b"b"], end=False), None, "interrupted"),
        (parts([], end=False), 5, "interrupted"),
    ],
)
def test_what_is_refused_is_not_held(receive: Receive, length: int | None, code: str) -> None:
    bodies = made()
    with pytest.raises(Refused) as caught:
        read(bodies, receive, most=10, length=length)
    assert caught.value.reason.code == code
    assert bodies.held == 0


def test_ten_bytes_are_ten_bytes() -> None:
    assert read(made(), parts([b"a" * 10]), most=10, length=10) == b"a" * 10


@pytest.mark.parametrize("length", ["x", "-1", "", "1e9"])
def test_a_length_that_is_none_is_not_believed(length: str) -> None:
    scope = {"headers": [(b"content-length", length.encode())]}
    assert asyncio.run(made().read(scope, parts([b"abc"]), most=10)) == b"abc"  # type: ignore[arg-type]


def test_what_does_not_come_in_time_is_not_held() -> None:
    first = iter([{"type": "http.request", "body": b"abc", "more_body": True}])

    async def receive() -> dict[str, Any]:
        event = next(first, None)
        if event is None:
            await asyncio.Event().wait()  # which is never set
        assert event is not None
        return event

    bodies = made(seconds=0.05)
    with pytest.raises(Refused) as caught:
        read(bodies, receive)
    assert caught.value.reason.code == "slow"
    assert bodies.held == 0


def test_all_together_are_bounded_and_a_quarter_is_for_small_ones() -> None:
    bodies = made(most=8 * SMALL)
    large = read(bodies, parts([b"a" * SMALL] * 6))
    with pytest.raises(Refused) as caught:
        read(bodies, parts([b"a" * SMALL, b"a"]))
    assert caught.value.reason.code == "busy"
    assert bodies.held == 6 * SMALL
    small = [read(bodies, parts([b"a" * SMALL])) for _ in range(2)]
    assert bodies.held == 8 * SMALL
    with pytest.raises(Refused) as caught:
        read(bodies, parts([b"a"]))
    assert caught.value.reason.code == "busy"
    for each in (*small, large):
        bodies.release(each)
    assert bodies.held == 0
