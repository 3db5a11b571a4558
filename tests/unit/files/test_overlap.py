"""Work that overlaps gives what work in turn gives, and stops when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from hush.files.overlap import ahead, behind


@pytest.fixture(params=["1", "2"], autouse=True)
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("HUSH_THREADS", request.param)
    return int(request.param)


class Source:
    """Numbers, of which it is known how many were made, where, and whether somebody closed it."""

    def __init__(self, n: int, fails: bool = False) -> None:
        self.n, self.fails, self.made, self.closed = n, fails, 0, False
        self.by: set[int] = set()

    def __iter__(self) -> Iterator[int]:
        try:
            for i in range(self.n):
                self.made += 1
                self.by.add(threading.get_ident())
                yield i
            if self.fails:
                raise ValueError("no more")
        finally:
            self.closed = True


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_the_same_items_in_the_same_order(n: int, threads: int) -> None:
    source = Source(n)
    assert list(ahead(source)) == list(range(n))
    assert source.closed
    assert (threading.get_ident() in source.by) == (threads == 1 and n > 0)


def test_few_items_wait() -> None:
    source, seen = Source(100), 0
    with closing(ahead(source, depth=3)) as items:
        for _ in items:
            seen += 1
            assert source.made <= seen + 3


def test_whoever_stops_early_stops_the_source() -> None:
    source = Source(100)
    with closing(ahead(source)) as items:
        assert next(items) == 0
    assert source.closed
    assert source.made <= 4


def test_a_failure_comes_in_its_place() -> None:
    items = ahead(Source(5, fails=True))
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="no more"):
        next(items)


def test_all_work_is_done_in_order() -> None:
    done: list[tuple[int, str]] = []
    with behind(lambda i, word: done.append((i, word))) as put:
        for i in range(100):
            put(i, "x")
    assert done == [(i, "x") for i in range(100)]


def handed(work: Callable[[int], None], last: BaseException | None = None) -> int:
    """How many of a hundred pieces of work were handed over before something was told; nothing but errors ends it."""
    n = 0
    try:
        with behind(work) as put:
            for i in range(100):
                put(i)
                n += 1
            if last is not None:
                raise last
    except (ValueError, KeyboardInterrupt):
        return n
    raise AssertionError("nothing was told")


@pytest.mark.parametrize("at", [0, 50, 99])
def test_a_failure_of_work_is_told(at: int) -> None:
    def work(i: int) -> None:
        if i == at:
            raise ValueError("disk full")

    assert at <= handed(work) <= at + 3


def test_work_that_waits_is_dropped_where_its_giver_fails() -> None:
    done: list[int] = []
    assert handed(done.append, KeyboardInterrupt()) == 100
    assert done == list(range(len(done)))
    assert len(done) >= 98
