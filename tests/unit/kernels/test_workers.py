"""Threads do tasks in order, lazily; and a generator is told where it will stand."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import hush
from hush.kernels.workers import THREADS, in_turn
from hush.longitudinal import LOSUE
from hush.multidim import SMP
from hush.randomness import CHUNK, chunk_keys, standing


@pytest.mark.parametrize("number", ["1", "3"])
def test_results_come_in_order(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_THREADS", number)

    ended = [threading.Event() for _ in range(40)]

    def late_first(i: int) -> int:
        if number == "3" and i % 2 == 0:
            assert ended[i + 1].wait(60)
        ended[i].set()
        return i * i

    assert list(THREADS.map(late_first, range(40))) == [i * i for i in range(40)]
    assert list(THREADS.map(late_first, [])) == []
    assert list(in_turn(THREADS, lambda i: i * i, iter([3]))) == [9]


def test_tasks_are_asked_for_as_they_are_needed_by_the_thread_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_THREADS", "2")
    asked: list[int] = []

    def tasks() -> Iterator[int]:
        for i in range(1000):
            assert threading.current_thread() is threading.main_thread()
            asked.append(i)
            yield i

    found = THREADS.map(lambda i: i, tasks())
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    found.close()  # type: ignore[attr-defined]
    assert len(asked) < 20


def test_an_error_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH_THREADS", "2")
    with pytest.raises(ZeroDivisionError):
        list(THREADS.map(lambda i: 1 // (i - 5), range(100)))


@pytest.mark.parametrize("n", [1, CHUNK, 3 * CHUNK + 5])
def test_a_run_draws_as_many_keys_as_it_says(n: int) -> None:
    """What `standing` skips for a run is what the run draws, for every kind that makes real reports."""
    kinds = [
        (SMP(sizes=(2, 3), epsilon=1.0), np.zeros((n, 2), np.int64), -(-n // CHUNK)),
        (hush.Duchi(low=0.0, high=1.0, epsilon=1.0), np.zeros(n), -(-n // CHUNK)),
    ]
    over_time = LOSUE(k=3, epsilon_permanent=2.0, epsilon_report=1.0)
    kinds.append((over_time, np.zeros((n, 2), np.int64), over_time.keys_of(n, 2)))
    for m, people, keys in kinds:
        one, other = hush.seeded(7), hush.seeded(7)
        m.simulate(people, rng=one)
        chunk_keys(other, keys)
        assert one.bytes(32) == other.bytes(32), m.name()


def test_a_generator_is_told_where_it_will_stand() -> None:
    rng = hush.seeded(7)
    for start in standing(hush.seeded(7), 5, 3):
        assert chunk_keys(start, 3) == chunk_keys(rng, 3)
