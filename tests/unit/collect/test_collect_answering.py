"""Answers that are made once for all who ask, few at once, and kept within bounds."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hush.collect.server import answering
from hush.collect.server.answering import Answers
from tests.waiting import wait_until_async


class Works:
    """Counts what is made, and how many are made at once."""

    def __init__(self, size: int = 1) -> None:
        self.size, self.times, self.most, self._now = size, 0, 0, 0
        self._lock, self.go = threading.Lock(), threading.Event()
        self.go.set()

    def __call__(self) -> bytes:
        with self._lock:
            self.times += 1
            self._now += 1
            self.most = max(self.most, self._now)
        assert self.go.wait(60)
        with self._lock:
            self._now -= 1
        return bytes(self.size)


def test_an_answer_is_made_once_until_something_changes() -> None:
    now, work = [0.0], Works()

    async def ask() -> None:
        answers = Answers(steady=lambda: now[0])
        for _ in range(3):
            assert await answers.given("a", 1, work, known=False) == b"\0"
        assert work.times == 1
        await answers.given("a", 2, work, known=False)
        await answers.given("b", 2, work, known=False)
        assert work.times == 3
        now[0] += answering.LONGEST_KEPT + 1
        await answers.given("a", 2, work, known=False)
        assert work.times == 4

    asyncio.run(ask())


def test_few_are_made_at_once_for_strangers() -> None:
    work = Works()
    work.go.clear()

    async def ask() -> None:
        answers = Answers()
        others = [asyncio.create_task(answers.given(i, 1, work, known=False)) for i in range(10)]
        await wait_until_async(lambda: work.times == answering.FOR_STRANGERS)
        mine = asyncio.create_task(answers.given("mine", 1, work, known=True))  # who has a token does not wait for them
        await wait_until_async(lambda: work.times == answering.FOR_STRANGERS + 1)
        work.go.set()
        await asyncio.gather(*others, mine)
        assert work.times == 11
        assert work.most == answering.FOR_STRANGERS + 1

    asyncio.run(ask())


def test_many_who_wait_for_the_same_have_it_when_the_first_has() -> None:
    work = Works()
    work.go.clear()

    async def ask() -> None:
        answers = Answers()
        slow = [asyncio.create_task(answers.given(i, 1, work, known=False)) for i in range(answering.FOR_STRANGERS)]
        await wait_until_async(lambda: work.times == answering.FOR_STRANGERS)
        same = [asyncio.create_task(answers.given("a", 1, again, known=False)) for _ in range(9)]
        await asyncio.sleep(0)
        work.go.set()
        await asyncio.gather(*slow, *same)

    again = Works()
    asyncio.run(ask())
    assert 1 <= again.times <= answering.FOR_STRANGERS


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST_BYTES", 100)
    monkeypatch.setattr(answering, "MOST_KEPT", 3)

    async def ask() -> None:
        answers, small, large = Answers(), Works(1), Works(60)
        for name in "abcd":
            await answers.given(name, 1, small, known=True)
        await answers.given("b", 1, small, known=True)
        assert small.times == 4
        await answers.given("a", 1, small, known=True)  # the one that went
        assert small.times == 5
        for name in "xyz":
            await answers.given(name, 1, large, known=True)
        assert answers._bytes <= 100
        assert sum(len(kept[2]) for kept in answers._kept.values()) == answers._bytes
        await answers.given("huge", 1, Works(1000), known=True)
        assert answers._bytes == 0

    asyncio.run(ask())
