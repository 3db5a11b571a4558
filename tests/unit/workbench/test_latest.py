"""Only the newest question counts."""

from __future__ import annotations

import asyncio
import threading

from hush.workbench.latest import Latest


def test_what_was_asked_before_the_newest_is_left_out() -> None:
    done: list[int] = []
    started, released = threading.Event(), threading.Event()

    def first() -> int:
        started.set()
        assert released.wait(10)
        done.append(1)
        return 1

    def other(number: int) -> int:
        done.append(number)
        return number

    async def all_of_them() -> list[int | None]:
        latest: Latest[int] = Latest()
        slow = asyncio.create_task(latest.of(first))
        assert await asyncio.to_thread(started.wait, 10)
        overtaken, newest = (asyncio.create_task(latest.of(lambda n=n: other(n))) for n in (2, 3))  # type: ignore[misc]
        await asyncio.sleep(0)
        released.set()
        return list(await asyncio.gather(slow, overtaken, newest))

    assert asyncio.run(all_of_them()) == [None, None, 3]
    assert done == [1, 3]


def test_what_is_dropped_counts_no_more() -> None:
    released = threading.Event()

    async def dropped() -> tuple[int | None, int | None]:
        latest: Latest[int] = Latest()
        slow = asyncio.create_task(latest.of(lambda: int(released.wait(10))))
        await asyncio.sleep(0)
        latest.drop()
        released.set()
        return await slow, await latest.of(lambda: 5)

    assert asyncio.run(dropped()) == (None, 5)
